"""Numeric arrays from JSON, the scale of pLDDT values, and pairs of close points."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
_BLOCK = 500_000
"""Approximate number of distances computed at a time, to limit memory."""
_MAX_CELLS = 1 << 20
"""Maximum number of grid cells along an axis, so that a 64-bit integer can number all cells."""
_LARGER = 1 + 1e-6
"""Ratio of cell size to cutoff, above 1 so that rounding never puts two close points into cells that are
not adjacent."""


def scale_to_hundred(values: Floats) -> Floats | None:
    """Scale pLDDT values to 0 to 100 if all are at most 1; None if they cannot be a pLDDT.

    Args:
        values: shape (n,), may contain NaN.
    """
    finite = values[np.isfinite(values)]
    if len(finite) == 0 or finite.max() <= 0 or finite.min() < 0 or finite.max() > 100.01:
        return None
    return values * 100 if finite.max() <= 1 else values


def as_floats(values: object) -> Floats | None:
    """Return a list of numbers as an array of shape (n,), with NaN for None; None for anything else."""
    if not isinstance(values, list) or not values:
        return None
    if not all(
        value is None or (isinstance(value, int | float) and not isinstance(value, bool)) for value in values
    ):
        return None
    try:
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    except (ValueError, OverflowError):
        return None


def as_matrix(values: object) -> NDArray[np.float32] | None:
    """Convert a nested list of numbers to a float32 matrix, dropping leading axes of length 1, or None."""
    if not isinstance(values, list) or not values or not isinstance(values[0], list):
        return None
    try:
        matrix = np.array(values, dtype=np.float32)
    except (ValueError, TypeError, OverflowError):
        return None
    while matrix.ndim > 2 and matrix.shape[0] == 1:
        matrix = matrix[0]
    return matrix if matrix.ndim == 2 else None


def measure_angle(first: Floats, middle: Floats, last: Floats) -> float:
    """Return the angle at ``middle`` in degrees."""
    back, forth = first - middle, last - middle
    cosine = back @ forth / max(float(np.linalg.norm(back) * np.linalg.norm(forth)), 1e-9)
    return float(np.degrees(np.arccos(np.clip(cosine, -1, 1))))


def find_close_pairs(points: Floats, others: Floats, cutoff: float) -> tuple[Rows, Rows, Floats]:
    """Find the pairs of two sets of points, shapes (n, 3) and (m, 3), at most ``cutoff`` apart.

    Only points in neighbouring cells of a grid are compared.

    Args:
        points: points; those that are not finite have no pairs.
        others: other points, likewise.
        cutoff: in the unit of the points, above 0.

    Returns:
        Rows of ``points``, rows of ``others`` and distances, ordered by the second, then by the first.
    """
    rows_inside = _list_inside(points, others, cutoff)
    others_inside = _list_inside(others, points, cutoff)
    if not len(rows_inside) or not len(others_inside):
        return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
    order, starts, counts = _list_candidates(points[rows_inside], others[others_inside], cutoff)
    totals = np.cumsum(counts.sum(axis=1))
    ends = np.searchsorted(totals, np.arange(_BLOCK, totals[-1] + _BLOCK, _BLOCK))
    blocks: list[tuple[Rows, Rows, Floats]] = []
    for block in np.split(np.arange(len(others_inside)), np.unique(ends)):
        sizes = counts[block].ravel()
        positions = np.arange(sizes.sum()) + np.repeat(
            starts[block].ravel() - np.cumsum(sizes) + sizes, sizes
        )
        rows, columns = (
            rows_inside[order[positions]],
            np.repeat(others_inside[block], counts[block].sum(axis=1)),
        )
        distances = np.linalg.norm(others[columns] - points[rows], axis=1)
        close = np.flatnonzero(distances <= cutoff)
        close = close[np.lexsort((rows[close], columns[close]))]
        blocks.append((rows[close], columns[close], distances[close]))
    first, second, separations = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    return first, second, separations


def _list_candidates(points: Floats, others: Floats, cutoff: float) -> tuple[Rows, Rows, Rows]:
    """List for each other point the points in the same or an adjacent cell of a grid.

    Returns:
        An order of ``points`` in which the candidates are nine runs, and for each run its first position and
        its length, both of shape (m, 9).
    """
    low = np.minimum(points.min(axis=0), others.min(axis=0))
    span = np.maximum(points.max(axis=0), others.max(axis=0)) - low
    size = max(cutoff * _LARGER, float(span.max()) / _MAX_CELLS)
    keys = [
        _number_cells(np.floor((coordinates - low) / size).astype(np.int64))
        for coordinates in (points, others)
    ]
    order = np.argsort(keys[0], kind="stable")
    steps = _number_cells(np.array([(x, y, 0) for x in (-1, 0, 1) for y in (-1, 0, 1)]))
    middle = keys[1][:, None] + steps
    starts = np.searchsorted(keys[0][order], middle - 1)
    return order, starts, np.searchsorted(keys[0][order], middle + 1, "right") - starts


def _number_cells(cells: Rows) -> Rows:
    """Return one number for each cell (x, y, z), in which cells along z follow each other."""
    row = _MAX_CELLS + 3  # an empty cell on either side separates the rows
    return (cells[:, 0] * row + cells[:, 1]) * row + cells[:, 2]


def _list_inside(points: Floats, others: Floats, margin: float) -> Rows:
    """Return the rows of the finite points within the bounding box of the others plus ``margin``."""
    finite = others[np.isfinite(others).all(axis=1)]
    if not len(points) or not len(finite):
        return np.empty(0, np.int64)
    low, high = finite.min(axis=0) - margin, finite.max(axis=0) + margin
    is_inside = ((points >= low) & (points <= high)).all(axis=1)
    return np.flatnonzero(is_inside & np.isfinite(points).all(axis=1))
