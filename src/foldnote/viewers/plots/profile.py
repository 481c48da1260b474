"""Plot a value of each residue along the chains."""

from __future__ import annotations

import pandas as pd

from foldnote.errors import ArgumentError
from foldnote.results import find_metric
from foldnote.text import count
from foldnote.viewers.plots.drawing import TEXT_COLOR, Axis, Border, Curve, Dots, Drawing, Mark
from foldnote.viewers.plots.plot import Plot
from foldnote.viewers.plots.residue_axis import number_axis
from foldnote.viewers.scene import palette

_MAX_DOTS = 300
"""Maximum number of residues for which dots with tooltips are drawn."""
_CHAIN_SHARE = 0.03
"""Minimum share of all residues for a chain to be wide enough for its name."""


def plot_profile(frame: pd.DataFrame, column: str, title: str, level: float | None = None) -> Plot:
    """Plot a column of a table of residues along the chains.

    Args:
        frame: one row per residue in file order, with ``chain``, ``number`` and the column.
        column: the column to plot.
        title: heading.
        level: value at which a dashed line is drawn, such as a threshold; None for no line.

    Returns:
        The plot. Its data has one row per residue: ``position`` int64 (1-based, over all chains), ``chain``
        and ``number`` str, and the column as float64.

    Raises:
        ArgumentError: a column is missing, or the column has no numbers.
    """
    missing = [name for name in ("chain", "number", column) if name not in frame.columns]
    if missing:
        raise ArgumentError(f"The table has no column {', '.join(missing)}.")
    values = pd.to_numeric(frame[column], errors="coerce")
    if not values.notna().any():
        raise ArgumentError(f"The column {column!r} has no numbers.")
    data = pd.DataFrame(
        {
            "position": range(1, len(frame) + 1),
            "chain": frame["chain"].astype(str).to_numpy(),
            "number": frame["number"].astype(str).to_numpy(),
            column: values.to_numpy(),
        }
    )
    low, high = float(values.min()), float(values.max())
    margin = (high - low) * 0.06 or max(abs(high) * 0.06, 0.5)
    marks: list[Mark] = [] if level is None else [Border("y", level)]
    starts = data.loc[data["chain"] != data["chain"].shift(), "position"].tolist()
    marks += [Border("x", start - 0.5) for start in starts[1:]]
    xs, ys = data["position"].tolist(), data[column].tolist()
    marks.append(Curve(xs, ys, TEXT_COLOR, 1.4))
    if len(data) <= _MAX_DOTS:
        marks.append(_make_dots(data.dropna(subset=[column]), column))
    metric = find_metric(column)
    label = (
        f"{metric.label} ({metric.unit})" if metric and metric.unit else (metric.label if metric else column)
    )
    drawing = Drawing(_make_axis(data, starts), Axis(label, low - margin, high + margin), marks)
    return Plot(title, _describe(data.dropna(subset=[column]), column, level), data, drawing)


def _make_dots(data: pd.DataFrame, column: str) -> Dots:
    titles = [
        f"{chain}:{number} {value:.4g}"
        for chain, number, value in zip(data["chain"], data["number"], data[column], strict=True)
    ]
    return Dots(data["position"].tolist(), data[column].tolist(), palette.CHAINS[0], titles)


def _make_axis(data: pd.DataFrame, starts: list[int]) -> Axis:
    """Return an axis with residue numbers or, for several chains, with centred chain names.

    Positions count the residues from 1 if their numbers have insertion codes or do not increase.
    """
    length = max(len(data), 2)
    if len(starts) < 2:
        numbered = number_axis(Axis("Residue", 1, length), data["number"].tolist())
        return numbered or Axis("Position in the file", 1, length)
    ends = [*starts[1:], len(data) + 1]
    centres = [(start + end - 1) / 2 for start, end in zip(starts, ends, strict=True)]
    names = [
        str(data["chain"].iloc[start - 1]) if end - start > _CHAIN_SHARE * length else ""
        for start, end in zip(starts, ends, strict=True)
    ]
    return Axis("Residues, chain by chain", 1, length, centres, names)


def _describe(data: pd.DataFrame, column: str, level: float | None) -> str:
    ordered = data.sort_values(column, ascending=False, kind="stable")
    ends = [
        f"{row[column]:.4g} at {row['chain']}:{row['number']}" for _, row in ordered.iloc[[0, -1]].iterrows()
    ]
    above = (
        "" if level is None else f" {count(int((data[column] > level).sum()), 'residue')} above {level:g}."
    )
    return (
        f"{count(len(data), 'residue')}; highest {ends[0]}, lowest {ends[1]}, mean {data[column].mean():.4g}."
        + above
    )
