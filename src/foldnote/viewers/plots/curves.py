"""Plot columns of a table as curves over another column, such as charges by pH."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from foldnote.errors import ArgumentError
from foldnote.viewers.plots.drawing import DASHES, Axis, Border, Curve, Drawing, Mark
from foldnote.viewers.plots.plot import Plot
from foldnote.viewers.scene import palette

Bars = dict[str, list[tuple[float, float, float]]]
"""For a column, the position and both ends of each error bar."""


def plot_curves(
    frame: pd.DataFrame,
    x: str,
    columns: Mapping[str, str],
    title: str,
    *,
    labels: tuple[str, str],
    place: float | None = None,
    errors: Mapping[str, str] | None = None,
) -> Plot:
    """Plot columns of a table as curves over the column ``x``.

    Args:
        frame: one row per position, sorted by ``x``.
        x: column of positions.
        columns: the columns to plot, each with its name in the legend.
        title: heading.
        labels: labels of the horizontal and the vertical axis, with units.
        place: position on the horizontal axis at which a dashed line is drawn; None for no line.
        errors: for a column, the column with its errors, drawn as vertical bars of ± the error.

    Returns:
        The plot. Its data has the columns ``x`` and ``columns`` as float64, without rows that lack ``x``.

    Raises:
        ArgumentError: a column is missing, or the columns have no numbers.
    """
    if missing := [name for name in (x, *columns) if name not in frame.columns]:
        raise ArgumentError(f"The table has no column {', '.join(missing)}.")
    data = frame[[x, *columns]].apply(pd.to_numeric, errors="coerce").astype(float).dropna(subset=[x])
    bars = _read_bars(frame.loc[data.index], data, errors or {})
    values = data[list(columns)]
    if not values.notna().any(axis=None):
        raise ArgumentError(f"The columns {', '.join(columns)} have no numbers.")
    ends = [float(values.min(axis=None)), float(values.max(axis=None))]
    ends += [end for column_bars in bars.values() for _, *pair in column_bars for end in pair]
    low, high = min(ends), max(ends)
    margin = (high - low) * 0.06 or max(abs(high) * 0.06, 0.5)
    borders = [Border("y", 0.0)] if low < 0 < high else []
    if place is not None:
        borders.append(Border("x", place))
    drawing = Drawing(
        Axis(labels[0], float(data[x].min()), float(data[x].max())),
        Axis(labels[1], low - margin, high + margin),
        [*borders, *_draw_curves(data, x, columns, bars)],
    )
    return Plot(title, _describe(data, x, columns), data.reset_index(drop=True), drawing)


def _draw_curves(data: pd.DataFrame, x: str, columns: Mapping[str, str], bars: Bars) -> list[Mark]:
    """Return a curve for each column in its colour and dash, then its bars in the same colour."""
    positions = data[x].tolist()
    curves = [
        Curve(
            positions,
            data[column].tolist(),
            palette.chain_color(index),
            dash=DASHES[index % len(DASHES)],
            name=name if len(columns) > 1 else "",
            is_listed=True,
        )
        for index, (column, name) in enumerate(columns.items())
    ]
    drawn_bars = [
        Curve([position, position], [bottom, top], palette.chain_color(index), width=1.0)
        for index, column in enumerate(columns)
        for position, bottom, top in bars.get(column, ())
    ]
    return [*reversed(curves), *drawn_bars]  # the last mark is the first in the legend


def _read_bars(frame: pd.DataFrame, data: pd.DataFrame, errors: Mapping[str, str]) -> Bars:
    """Read the error bars of the columns that have errors."""
    bars: Bars = {}
    for column, name in errors.items():
        if name not in frame.columns:
            continue
        error = pd.to_numeric(frame[name], errors="coerce")
        rows = pd.DataFrame(
            {"at": data.iloc[:, 0], "low": data[column] - error, "high": data[column] + error}
        )
        bars[column] = [(float(a), float(b), float(c)) for a, b, c in rows.dropna().itertuples(index=False)]
    return bars


def _describe(data: pd.DataFrame, x: str, columns: Mapping[str, str]) -> str:
    """Describe the ends of each curve in words."""
    parts = []
    for column, name in columns.items():
        present = data.dropna(subset=[column])
        if len(present):
            first, last = present.iloc[0], present.iloc[-1]
            parts.append(f"{name}: {first[column]:.4g} at {first[x]:g}, {last[column]:.4g} at {last[x]:g}")
    return "; ".join(parts) + "."
