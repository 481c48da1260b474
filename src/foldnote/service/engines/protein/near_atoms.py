"""Pairs of points that are near each other, without a matrix of all distances; NumPy only."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

CHUNK = 256
"""Points that are compared at a time with those near them along one axis."""


def find_near(
    points: NDArray[np.float64], reach: float
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield indices of points and of others at most ``reach`` away, in batches; pairs in both orders.

    Args:
        points: shape (n, 3), in the unit of ``reach``.
        reach: largest distance.
    """
    order = np.argsort(points[:, 0], kind="stable")
    across = points[order, 0]
    for start in range(0, len(order), CHUNK):
        own = order[start : start + CHUNK]
        low = np.searchsorted(across, points[own[0], 0] - reach, "left")
        high = np.searchsorted(across, points[own[-1], 0] + reach, "right")
        others = order[low:high]
        squares = np.zeros((len(own), len(others)))
        for axis in range(3):
            squares += (points[own, axis][:, None] - points[others, axis][None]) ** 2
        rows, columns = np.nonzero(squares <= reach**2)
        is_pair = own[rows] != others[columns]
        yield own[rows[is_pair]], others[columns[is_pair]]
