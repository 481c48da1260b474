"""Plots of predictions and batches: pLDDT, predicted aligned error, MSA coverage, scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from foldnote.errors import ArgumentError
from foldnote.results import (
    Alignment,
    Model,
    Pae,
    find_metric,
    list_chain_starts,
    list_plddt,
    make_coverage,
    make_distribution,
)
from foldnote.text import count
from foldnote.viewers.plots.drawing import (
    DASH_SHAPE,
    DASHES,
    SHAPES,
    TEXT_COLOR,
    WEDGE_SHAPE,
    Axis,
    Band,
    Bars,
    Border,
    Curve,
    Dots,
    Drawing,
    Mark,
    Raster,
    find_whole_ticks,
)
from foldnote.viewers.plots.plot import Plot
from foldnote.viewers.plots.residue_axis import number_axis
from foldnote.viewers.scene import palette
from foldnote.viewers.scene.coloring import CONFIDENCE_BANDS

_MAX_LINES = 5
_PAE_TOP_A = 30.0
_PAE_COLORS = ("#00441b", "#238b45", "#74c476", "#c7e9c0", "#f7fcf5")
"""Dark for low error to pale for high error, as in the AlphaFold database."""
_IDENTITY_COLORS = ("#fdcc8a", "#f08a6b", "#7f7fc4", "#3a62bd")
"""Darker for higher identity, so that the order is also clear in greyscale."""


def plot_plddt(models: Sequence[Model]) -> Plot | None:
    """Plot the pLDDT of each residue, one line for each of the first five models; None without pLDDT.

    The plot's data are the rows of :func:`foldnote.results.list_plddt`.
    """
    data = list_plddt(models)
    if data.empty:
        return None
    groups = list(data.groupby(["prediction", "rank", "model"], sort=False))[:_MAX_LINES]
    ranked = {(model.prediction, model.rank, model.name) for model in models if model.ranked_by}
    names = [f"rank {key[1]}" if key in ranked else str(key[2]) for key, _ in groups]
    starts = list_chain_starts(groups[0][1])
    edges = (100.0, 90.0, 70.0, 50.0, 0.0)
    marks: list[Mark] = [
        Band(edges[index + 1], edges[index], color) for index, (_, color, _) in enumerate(CONFIDENCE_BANDS)
    ]
    marks += [Border("x", float(start) - 0.5) for start in starts["position"].iloc[1:]]
    marks += [
        Curve(
            rows["position"].tolist(),
            rows["plddt"].tolist(),
            palette.chain_color(index) if index else TEXT_COLOR,
            1.2 if index else 1.8,
            DASHES[index],
            names[index],
        )
        for index, (_, rows) in reversed(list(enumerate(groups)))
    ]
    x = _make_residue_axis([rows for _, rows in groups], starts)
    drawing = Drawing(x, Axis("pLDDT (0 to 100)", 0, 100, (0, 50, 70, 90, 100)), marks)
    return Plot(
        "Confidence along the chain (pLDDT)",
        _describe_plddt(groups, names, is_ranked=bool(ranked)),
        data,
        drawing,
    )


def plot_pae(pae: Pae, title: str = "Predicted aligned error") -> Plot:
    """Plot the predicted aligned error as a matrix with chain borders.

    The plot's data: one row for each pair of chains, ``aligned`` and ``scored`` str, ``mean`` float64 in Å.
    """
    middles, names = _find_middles(pae)
    means = pae.by_chain()
    data = pd.DataFrame(columns=["aligned", "scored", "mean"])
    if means.index.is_unique:
        data = pd.DataFrame(means.reset_index().melt("aligned", var_name="scored", value_name="mean"))
    size = len(pae)
    marks: list[Mark] = [shade_pae(pae)]
    marks += [mark for border in pae.borders for mark in (Border("x", border), Border("y", border))]
    x = Axis("Scored residue", 0, size, middles, names)
    y = Axis("Aligned residue", size, 0, middles, names)
    if pae.tokens is not None and len(pae.chains) == 1:
        x, y = (number_axis(axis, pae.tokens["number"].tolist(), 0.5) or axis for axis in (x, y))
    drawing = Drawing(x, y, marks, 450, 376)
    return Plot(f"{title} (Å)", _describe_pae(pae, data), data, drawing)


def shade_pae(pae: Pae) -> Raster:
    """Return the matrix of predicted aligned errors (Å) as a mark, for drawings with further marks."""
    return Raster(pae.matrix, 0.0, _PAE_TOP_A, _PAE_COLORS, "Predicted aligned error (Å)", has_more=True)


def plot_coverage(alignment: Alignment) -> Plot:
    """Plot how many sequences of an alignment cover each column, and their identity to the query.

    The plot's data are the ``columns`` of :func:`foldnote.results.make_coverage`.

    Raises:
        UnreadableFileError: the sequences differ in length.
    """
    coverage = make_coverage(alignment)
    columns = coverage.columns
    depths = columns["sequences"]
    minimum, maximum = int(depths.min()), int(depths.max())
    covering = (
        f"{maximum:,} of them cover each column"
        if minimum == maximum
        else f"{minimum:,} to {maximum:,} of them cover a column (median {depths.median():,.0f})"
    )
    description = (
        f"{count(coverage.depth, 'sequence')} over {count(len(columns), 'column')}; {covering}. "
        "Rows are sequences, the most similar to the query at the top; the line counts those at each column."
    )
    marks: list[Mark] = [
        Raster(100 * coverage.rows, 0.0, 100.0, _IDENTITY_COLORS, "Identity to the query (%)"),
        Curve(columns["position"].tolist(), depths.tolist(), width=2),
        *(Border("x", float(border) + 0.5) for border in coverage.borders),
    ]
    x = Axis("Column of the alignment", 0.5, len(columns) + 0.5)
    depth = max(coverage.depth, 1)
    drawing = Drawing(x, Axis("Sequences", 0, depth, find_whole_ticks(depth)), marks, 610)
    return Plot(f"Alignment {alignment.name}", description, columns, drawing)


def plot_distribution(frame: pd.DataFrame, name: str) -> Plot:
    """Plot a histogram of one column.

    The plot's data: one row per bin, ``low`` and ``high`` float64, ``rows`` int64.

    Raises:
        FoldnoteError: there is no such column, or it holds no numbers.
    """
    distribution = make_distribution(frame, name)
    data = pd.DataFrame(
        {"low": distribution.edges[:-1], "high": distribution.edges[1:], "rows": distribution.counts}
    )
    better = {True: "; higher is better", False: "; lower is better", None: ""}[distribution.higher_is_better]
    numbers = pd.to_numeric(frame[name], errors="coerce")
    numbers = numbers[np.isfinite(numbers)]
    maximum = float(max(int(distribution.counts.max()), 1))
    description = (
        f"{distribution.label}: {count(int(distribution.counts.sum()), 'value')} "
        f"from {numbers.min():.4g} to {numbers.max():.4g}, median {numbers.median():.4g}{better}."
        + (f" {count(distribution.missing, 'row')} without a value." if distribution.missing else "")
    )
    titles = [
        f"{low:.4g} to {high:.4g}: {count(rows, 'row')}" for low, high, rows in data.itertuples(index=False)
    ]
    drawing = Drawing(
        Axis(distribution.label, float(distribution.edges[0]), float(distribution.edges[-1])),
        Axis("Rows", 0, maximum, find_whole_ticks(maximum)),
        [Bars(distribution.edges.tolist(), distribution.counts.tolist(), palette.CHAINS[0], titles)],
    )
    return Plot(distribution.label, description, data, drawing)


def plot_scatter(frame: pd.DataFrame, x: str, y: str, label: str | None = None) -> Plot:
    """Plot two columns of a table against each other.

    The plot's data: the rows with values in both, with the columns ``x``, ``y`` and, if given, ``label``.

    Args:
        frame: any table.
        x: the column of the horizontal axis.
        y: the column of the vertical axis.
        label: the column with the tooltips; by default the index.

    Raises:
        ArgumentError: a column is missing, or no row has numbers in both.
    """
    data = _find_points(frame, [x, y, *([label] if label else [])])
    xs, ys = (data[name].astype(float) for name in (x, y))
    left_out = len(frame) - len(data)
    description = (
        f"{count(len(data), 'row')}: {_name_metric(y)} against {_name_metric(x)}; "
        f"Spearman's rank correlation {_correlate(xs, ys)}."
        + (f" {count(left_out, 'row')} without a number in both." if left_out else "")
    )
    names = (data[label] if label else data.index.to_series()).astype(str)
    titles = [f"{n}: {a:.4g}, {b:.4g}" for n, a, b in zip(names, xs, ys, strict=True)]
    dots = Dots(xs.tolist(), ys.tolist(), palette.CHAINS[0], titles)
    drawing = Drawing(_span(_name_metric(x), xs), _span(_name_metric(y), ys), [dots], 460, 340)
    return Plot(f"{_name_metric(y)} against {_name_metric(x)}", description, data, drawing)


def plot_groups(frame: pd.DataFrame, x: str, y: str, group: str, label: str) -> Plot:
    """Plot two columns of a table against each other, with the dots coloured by a third.

    The plot's data: the rows that have both, with the columns ``x``, ``y``, ``group`` and ``label``. The
    seven largest groups have their own colours and shapes; rows without a group are grey.

    Args:
        frame: any table.
        x: the column of the horizontal axis.
        y: the column of the vertical axis.
        group: the column that names the group of a row, empty for none.
        label: the column with the tooltips.

    Raises:
        ArgumentError: a column is missing, or no row has numbers in both.
    """
    data = _find_points(frame, [x, y, group, label])
    names = data[group].map(_name_group)
    sizes = names[names != ""].value_counts(sort=False)
    largest = list(sizes.sort_values(ascending=False, kind="stable").index[: len(palette.CHAINS)])
    others = [name for name in sizes.index if name not in largest]
    parts = [("in none", palette.UNKNOWN, DASH_SHAPE, names == "")]
    parts += [(count(len(others), f"other {group}"), TEXT_COLOR, WEDGE_SHAPE, names.isin(others))]
    parts += [
        (f"{group} {name}", palette.CHAINS[index], SHAPES[index], names == name)
        for index, name in reversed(list(enumerate(largest)))
    ]
    marks = [
        Dots(
            rows[x].astype(float).tolist(),
            rows[y].astype(float).tolist(),
            color,
            [f"{row}, {name}" for row in rows[label].astype(str)],
            name,
            shape,
        )
        for name, color, shape, selected in parts
        for rows in [data[selected]]
        if len(rows)
    ]
    description = (
        f"{count(len(data), 'row')} in {count(len(sizes), group)}, {int((names == '').sum()):,} in none:"
        f" {_name_metric(y)} against {_name_metric(x)}."
    )
    x_axis, y_axis = (_span(_name_metric(name), data[name].astype(float)) for name in (x, y))
    return Plot(f"Rows by {group}", description, data, Drawing(x_axis, y_axis, marks, 570, 360))


def _name_group(value: str | float | None) -> str:
    """Return a group's name; integers without decimals, "" for a missing one."""
    if pd.isna(value):
        return ""
    return f"{value:g}" if isinstance(value, float) else str(value)


def _find_points(frame: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Return the wanted columns of the rows that have numbers in the first two."""
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        raise ArgumentError(
            f"The table has no column {', '.join(missing)}; it has {', '.join(map(str, frame.columns))}."
        )
    numbers = frame[list(dict.fromkeys(columns[:2]))].apply(pd.to_numeric, errors="coerce")
    data: pd.DataFrame = frame.loc[np.isfinite(numbers).all(axis=1), list(dict.fromkeys(columns))]
    if data.empty:
        raise ArgumentError(f"No row has a number in both {columns[0]!r} and {columns[1]!r}.")
    return data


def _make_residue_axis(models: Sequence[pd.DataFrame], starts: pd.DataFrame) -> Axis:
    """Return an axis with residue numbers or, for several chains, with centred chain names.

    Positions count the residues from 1 if their numbers have insertion codes or differ between the models.
    """
    longest = max(models, key=len)
    length, numbers = len(longest), longest["number"].tolist()
    if len(starts) < 2:
        plain = Axis("Residue", 1, max(length, 2))
        is_common = all(rows["number"].tolist() == numbers[: len(rows)] for rows in models)
        numbered = number_axis(plain, numbers) if is_common else None
        return numbered or replace(plain, label="Position in the chain")
    positions = [float(position) for position in starts["position"]]
    ends = [*positions[1:], length + 1.0]
    middles = [(a + b - 1) / 2 for a, b in zip(positions, ends, strict=True)]
    return Axis(
        "Residues, chain by chain", 1, max(length, 2), middles, [str(name) for name in starts["chain"]]
    )


def _describe_plddt(
    groups: Sequence[tuple[tuple[object, ...], pd.DataFrame]], names: Sequence[str], *, is_ranked: bool
) -> str:
    parts = [f"{name} {rows['plddt'].mean():.1f}" for name, (_, rows) in zip(names, groups, strict=True)]
    first = "the best model" if is_ranked else names[0]
    best = groups[0][1]["plddt"]
    low = float((best < 70).mean())
    if len(parts) == 1:
        return f"Mean pLDDT {best.mean():.1f}; {low:.0%} of the residues are below 70."
    lines = ", ".join(parts)
    return (
        f"Mean pLDDT: {lines}. In {first} {low:.0%} of the residues are below 70. The solid line is {first}."
    )


def _find_middles(pae: Pae) -> tuple[list[float], list[str]]:
    if len(pae.chains) < 2:
        return [], []
    ends = [*pae.borders, len(pae)]
    names = _drop_crowded(
        list(pae.chains), [float(start) for start in pae.starts], [float(e) for e in ends], len(pae)
    )
    return [(a + b) / 2 for a, b in zip(pae.starts, ends, strict=True)], names


def _drop_crowded(names: list[str], starts: list[float], ends: list[float], length: int) -> list[str]:
    """Return the chain names, empty for chains too short to be labelled."""
    return [n if b - a > 0.03 * length else "" for n, a, b in zip(names, starts, ends, strict=True)]


def _describe_pae(pae: Pae, data: pd.DataFrame) -> str:
    errors = pae.matrix[np.isfinite(pae.matrix)]
    mean = f"mean {errors.mean():.1f} Å" if len(errors) else "no value"
    text = f"{len(pae)} × {len(pae)} tokens; {mean}."
    between = data[data["aligned"] != data["scored"]]
    if between.empty:
        return text
    best = between.sort_values("mean").iloc[0]
    pair = f"{best['aligned']} to {best['scored']}"
    return f"{text} Between chains the lowest mean is {best['mean']:.1f} Å ({pair})."


def _name_metric(name: str) -> str:
    metric = find_metric(name)
    return (
        f"{metric.label} ({metric.unit})"
        if metric and metric.unit
        else (metric.label if metric else str(name))
    )


def _span(label: str, values: pd.Series) -> Axis:
    low, high = float(values.min()), float(values.max())
    margin = (high - low) * 0.06 or max(abs(high) * 0.06, 0.5)
    return Axis(label, low - margin, high + margin)


def _correlate(xs: pd.Series, ys: pd.Series) -> str:
    value = xs.rank().corr(ys.rank()) if len(xs) > 2 else np.nan
    return f"{value:.2f}" if np.isfinite(value) else "not defined"
