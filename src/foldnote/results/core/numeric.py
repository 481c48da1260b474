"""Numeric arrays from JSON, the scale of pLDDT values, and the pairs of points that are close."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
_BLOCK = 500_000
"""Number of distances computed at a time, about, to limit memory."""
_MAX_CELLS = 1 << 20
"""Cells of a grid along an axis, at most, so that a number of 64 bits counts all of them."""
_LARGER = 1 + 1e-6
"""Cells are larger than the cutoff, so that no rounding puts two close points into cells that are not beside
each other."""


def scale_to_hundred(values: Floats) -> Floats | None:
    """Values of a pLDDT on the scale 0 to 100; values of at most 1 are scaled. None if they cannot be one.

    Args:
        values: shape (n,), may contain NaN.
    """
    known = values[np.isfinite(values)]
    if len(known) == 0 or known.max() <= 0 or known.min() < 0 or known.max() > 100.01:
        return None
    return values * 100 if known.max() <= 1 else values


def as_floats(values: object) -> Floats | None:
    """A list of numbers as an array of shape (n,), with NaN for None; None for anything else."""
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
    """A nested list of numbers as a float32 matrix, leading axes of length 1 removed; None for others."""
    if not isinstance(values, list) or not values or not isinstance(values[0], list):
        return None
    try:
        matrix = np.array(values, dtype=np.float32)
    except (ValueError, TypeError, OverflowError):
        return None
    while matrix.ndim > 2 and matrix.shape[0] == 1:
        matrix = matrix[0]
    return matrix if matrix.ndim == 2 else None


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
    near = _list_inside(points, others, cutoff)
    far = _list_inside(others, points, cutoff)
    if not len(near) or not len(far):
        return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
    order, starts, counts = _list_candidates(points[near], others[far], cutoff)
    totals = np.cumsum(counts.sum(axis=1))
    ends = np.searchsorted(totals, np.arange(_BLOCK, totals[-1] + _BLOCK, _BLOCK))
    found: list[tuple[Rows, Rows, Floats]] = []
    for block in np.split(np.arange(len(far)), np.unique(ends)):
        sizes = counts[block].ravel()
        places = np.arange(sizes.sum()) + np.repeat(starts[block].ravel() - np.cumsum(sizes) + sizes, sizes)
        rows, columns = near[order[places]], np.repeat(far[block], counts[block].sum(axis=1))
        distances = np.linalg.norm(others[columns] - points[rows], axis=1)
        kept = np.flatnonzero(distances <= cutoff)
        kept = kept[np.lexsort((rows[kept], columns[kept]))]
        found.append((rows[kept], columns[kept], distances[kept]))
    first, second, apart = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return first, second, apart


def _list_candidates(points: Floats, others: Floats, cutoff: float) -> tuple[Rows, Rows, Rows]:
    """For each other point, those points that are in its cell of a grid or in one beside it.

    Returns:
        An order of ``points`` in which the candidates are nine runs, and for each run its first position and
        its length, both of shape (m, 9).
    """
    low = np.minimum(points.min(axis=0), others.min(axis=0))
    span = np.maximum(points.max(axis=0), others.max(axis=0)) - low
    size = max(cutoff * _LARGER, float(span.max()) / _MAX_CELLS)
    keys = [_number_cells(np.floor((each - low) / size).astype(np.int64)) for each in (points, others)]
    order = np.argsort(keys[0], kind="stable")
    steps = _number_cells(np.array([(x, y, 0) for x in (-1, 0, 1) for y in (-1, 0, 1)]))
    middle = keys[1][:, None] + steps
    starts = np.searchsorted(keys[0][order], middle - 1)
    return order, starts, np.searchsorted(keys[0][order], middle + 1, "right") - starts


def _number_cells(cells: Rows) -> Rows:
    """One number for each cell (x, y, z), in which cells along z follow each other."""
    row = _MAX_CELLS + 3  # an empty cell on either side, so that no row's end is beside the next one's start
    return (cells[:, 0] * row + cells[:, 1]) * row + cells[:, 2]


def _list_inside(points: Floats, others: Floats, margin: float) -> Rows:
    """Rows of the points within the box around the others, ``margin`` larger; of finite points only."""
    known = others[np.isfinite(others).all(axis=1)]
    if not len(points) or not len(known):
        return np.empty(0, np.int64)
    low, high = known.min(axis=0) - margin, known.max(axis=0) + margin
    is_inside = ((points >= low) & (points <= high)).all(axis=1)
    return np.flatnonzero(is_inside & np.isfinite(points).all(axis=1))
