"""Plot a matrix as a heat map."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

import numpy as np
import pandas as pd

from foldnote.errors import ArgumentError
from foldnote.viewers.plots.drawing import MAX_PIXELS, Axis, Drawing, Mark, Raster, find_ticks
from foldnote.viewers.plots.plot import Plot
from foldnote.viewers.scene import palette

_MAX_NAMES = 24
_WIDTH_PX, _LETTER_PX, _GAP_PX = 446, 6.5, 6
"""Width of the matrix, width of a letter and minimum space between two names."""


def plot_matrix(
    matrix: pd.DataFrame,
    title: str,
    label: str,
    low: float = 0.0,
    high: float | None = None,
    *,
    is_signed: bool = False,
) -> Plot:
    """Plot a matrix as a heat map, first row at the top.

    The plot's data is the given matrix, of shape (rows, columns). In a cell, rows and columns beyond 400 are
    drawn as means of neighbours; matplotlib draws all of them.

    Args:
        matrix: numbers; the names of its index and columns are the labels of the axes.
        title: heading of the plot.
        label: the quantity with its unit.
        low: the value of the first colour.
        high: the value of the last colour, also used for larger values; the largest value if None.
        is_signed: whether the sign matters: zero is then in the middle of diverging colours with symmetric
            limits, and ``low`` and ``high`` are ignored.

    Raises:
        ArgumentError: the matrix has no finite values, or values that are not numbers.
    """
    try:
        values = matrix.to_numpy(dtype=float)
    except (TypeError, ValueError) as exc:
        raise ArgumentError(f"The matrix has values that are not numbers: {exc}.") from exc
    finite = np.where(np.isfinite(values), values, np.nan)
    if np.isnan(finite).all():
        raise ArgumentError("The matrix has no numbers.")
    top, colors = float(np.nanmax(finite)) if high is None else high, palette.SEQUENTIAL
    if is_signed:
        top, colors = float(np.nanmax(np.abs(finite))), palette.DIVERGING
        low = -top
    has_more = bool(np.nanmax(values) > top)  # infinite values included
    marks: list[Mark] = [Raster(values, low, max(top, low + 1e-9), colors, label, has_more)]
    rows, columns = values.shape
    x = _make_axis(matrix.columns, columns)
    y = _make_axis(matrix.index, rows, is_downward=True)
    row, column = divmod(int(np.nanargmax(finite)), columns)
    description = (
        f"{rows:,} × {columns:,} values; the highest, {values[row, column]:.3g}, is at {y.label.lower()}"
        f" {matrix.index[row]} and {x.label.lower()} {matrix.columns[column]}."
    )
    if max(values.shape) > MAX_PIXELS:
        description += " In a cell of the notebook each pixel is the mean of neighbouring values."
    return Plot(title, description, matrix, Drawing(x, y, marks, 570, 376))


def _make_axis(names: pd.Index, size: int, *, is_downward: bool = False) -> Axis:
    """Return an axis of cells: all are named if there is space, else every second, third, or about five."""
    label = str(names.name or ("Row" if is_downward else "Column"))
    positions: Sequence[int] = range(size)
    if size > _MAX_NAMES:
        positions = sorted({min(max(int(tick), 0), size - 1) for tick in find_ticks(0, size - 1)})
    elif not is_downward:
        longest = max(len(str(name)) for name in names)
        positions = range(0, size, ceil((longest * _LETTER_PX + _GAP_PX) * size / _WIDTH_PX))
    ticks, tick_names = (
        [position + 0.5 for position in positions],
        [str(names[position]) for position in positions],
    )
    return Axis(label, size, 0, ticks, tick_names) if is_downward else Axis(label, 0, size, ticks, tick_names)
