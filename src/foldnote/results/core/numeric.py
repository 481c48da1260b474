"""Numeric arrays from JSON, and the scale of pLDDT values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


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
