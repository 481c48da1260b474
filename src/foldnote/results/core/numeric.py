"""Plain arrays of figures: their type, and the one rule for the scale of a pLDDT."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def scale_to_hundred(values: Floats) -> Floats | None:
    """A pLDDT on the scale 0 to 100: values up to 1 are taken as 0 to 1; None when they cannot be one.

    Args:
        values: shape (n,), may hold NaN.
    """
    known = values[np.isfinite(values)]
    if len(known) == 0 or known.max() <= 0 or known.min() < 0 or known.max() > 100.01:
        return None
    return values * 100 if known.max() <= 1 else values


def as_floats(values: object) -> Floats | None:
    """A list of figures as an array of shape (n,); None when it is something else. ``null`` becomes NaN."""
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
    """A list of equally long lists of figures as float32, outer lists of one taken off; else None."""
    if not isinstance(values, list) or not values or not isinstance(values[0], list):
        return None
    try:
        matrix = np.array(values, dtype=np.float32)
    except (ValueError, TypeError, OverflowError):
        return None
    while matrix.ndim > 2 and matrix.shape[0] == 1:
        matrix = matrix[0]
    return matrix if matrix.ndim == 2 else None
