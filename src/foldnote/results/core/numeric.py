"""Numeric arrays from JSON, the scale of pLDDT values, and the pairs of points that are close."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
_BLOCK = 64
"""Number of points whose distances are computed at a time, to limit memory."""


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

    Returns:
        Rows of ``points``, rows of ``others`` and distances, ordered by the second.
    """
    near = _list_inside(points, others, cutoff)
    far = _list_inside(others, points, cutoff)
    found: list[tuple[Rows, Rows, Floats]] = []
    for begin in range(0, len(far), _BLOCK):
        block = far[begin : begin + _BLOCK]
        distances = np.linalg.norm(others[block][:, None, :] - points[near][None, :, :], axis=2)
        columns, rows = np.nonzero(distances <= cutoff)
        found.append((near[rows], block[columns], distances[columns, rows]))
    if not found:
        return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
    first, second, apart = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return first, second, apart


def _list_inside(points: Floats, others: Floats, margin: float) -> Rows:
    """Rows of the points within the box around the others, ``margin`` larger on each side."""
    if not len(points) or not len(others):
        return np.empty(0, np.int64)
    low, high = others.min(axis=0) - margin, others.max(axis=0) + margin
    return np.flatnonzero(((points >= low) & (points <= high)).all(axis=1))
