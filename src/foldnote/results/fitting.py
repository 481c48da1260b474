"""Least-squares fit of paired points, and the TM-score of a pairing.

The fit is that of Kabsch, Acta Cryst. A32, 922 (1976). The TM-score is that of Zhang and Skolnick, Proteins
57, 702 (2004): the greatest value over rotations and translations, searched for from fragments of the
pairing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from foldnote.results.numbers import Floats

_SHORTEST_FRAGMENT = 4
_MOST_STARTS = 40
_MOST_ROUNDS = 20


def fit(points: Floats, targets: Floats) -> tuple[Floats, Floats]:
    """Rotation (3, 3) and translation (3,) that bring ``points`` nearest to ``targets``.

    Both of shape (n, 3).
    """
    middle, target_middle = points.mean(axis=0), targets.mean(axis=0)
    left, _, right = np.linalg.svd((points - middle).T @ (targets - target_middle))
    sign = np.sign(np.linalg.det(left) * np.linalg.det(right)) or 1.0
    rotation = right.T @ np.diag([1.0, 1.0, sign]) @ left.T
    return rotation, target_middle - rotation @ middle


def measure_rmsd(points: Floats, targets: Floats) -> float:
    """Root mean square distance after the best fit, in the points' unit."""
    rotation, translation = fit(points, targets)
    moved = points @ rotation.T + translation
    return float(np.sqrt(np.mean(np.sum((moved - targets) ** 2, axis=1))))


def find_scale(length: int) -> float:
    """The distance d0 (Å) of a protein of ``length`` residues; at least 0.5 Å, as for short ones."""
    return max(0.5, 1.24 * float(np.cbrt(max(length, 15) - 15)) - 1.8)


def find_tm_score(points: Floats, targets: Floats, length: int) -> float:
    """The TM-score of a pairing.

    Args:
        points: Cα of the mobile residues, shape (n, 3), Å.
        targets: Cα of their partners, shape (n, 3), Å.
        length: number of residues of the structure that the score is for.

    Returns:
        A number from 0 to 1; 1 when all residues of the structure are paired and lie on each other.
    """
    scale = find_scale(length)
    reach = float(np.clip(scale, 4.5, 8.0))
    best = 0.0
    for start, size in _fragments(len(points)):
        chosen = np.zeros(len(points), dtype=bool)
        chosen[start : start + size] = True
        best = max(best, _climb(points, targets, chosen, scale, reach))
    return best / length


def _fragments(count: int) -> list[tuple[int, int]]:
    """Starts and sizes of the fragments that the search begins with: the whole, halves, and so on."""
    found = []
    size = count
    while True:
        step = max(1, (count - size) // _MOST_STARTS)
        found += [(start, size) for start in range(0, count - size + 1, step)]
        if size <= _SHORTEST_FRAGMENT:
            return found
        size = max(_SHORTEST_FRAGMENT, size // 2)


def _climb(points: Floats, targets: Floats, chosen: NDArray[np.bool_], scale: float, reach: float) -> float:
    """The best sum from one start: fit what is chosen, choose what is near, until the choice stays."""
    best = 0.0
    for _ in range(_MOST_ROUNDS):
        rotation, translation = fit(points[chosen], targets[chosen])
        squares = np.sum((points @ rotation.T + translation - targets) ** 2, axis=1)
        best = max(best, float(np.sum(1 / (1 + squares / scale**2))))
        near = squares < reach**2
        limit = reach
        while near.sum() < 3 and limit < 1000:
            limit += 0.5
            near = squares < limit**2
        if near.sum() < 3 or (near == chosen).all():
            break
        chosen = near
    return best
