"""Least-squares fit of paired points, and the TM-score of a pairing.

The fit is that of Kabsch, Acta Cryst. A32, 922 (1976). It is our own code because the search for the TM-score
and the structural alignment need many fits at once, and because gemmi's ``superpose_positions`` leaves points
on a line unsuperposed; elsewhere both give the same RMSD (tested to 1e-6). The TM-score is that of Zhang and
Skolnick, Proteins 57, 702 (2004): the greatest value over rotations and translations, searched for from
fragments of the pairing. It is our own because tmtools is GPL and biotite pairs the residues itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foldnote.results.core.numeric import Floats

_SHORTEST_FRAGMENT = 4
_MOST_STARTS = 40
_MOST_ROUNDS = 20
_LARGEST_BATCH = 1_000_000
"""Distances that are computed at a time."""


def fit(points: Floats, targets: Floats) -> tuple[Floats, Floats]:
    """Rotation (3, 3) and translation (3,) that bring ``points`` nearest to ``targets``.

    Both of shape (n, 3).
    """
    middle, target_middle = points.mean(axis=0), targets.mean(axis=0)
    rotation = find_rotations(((points - middle).T @ (targets - target_middle))[None])[0]
    return rotation, target_middle - rotation @ middle


def measure_rmsd(points: Floats, targets: Floats) -> float:
    """Root mean square distance after the best fit, in the points' unit."""
    rotation, translation = fit(points, targets)
    moved = points @ rotation.T + translation
    return float(np.sqrt(np.mean(np.sum((moved - targets) ** 2, axis=1))))


def find_scale(length: int) -> float:
    """The distance d0 (Å) of a protein of ``length`` residues; at least 0.5 Å, as for short ones."""
    return max(0.5, 1.24 * float(np.cbrt(max(length, 15) - 15)) - 1.8)


@dataclass(frozen=True, eq=False)
class TmFit:
    """The superposition that gives the TM-score of a pairing.

    Attributes:
        score: TM-score, 0 to 1.
        rotation: shape (3, 3).
        translation: shape (3,), Å.
    """

    score: float
    rotation: Floats
    translation: Floats


def find_tm_score(points: Floats, targets: Floats, length: int) -> float:
    """The TM-score of a pairing: see :func:`find_tm_fit`."""
    return find_tm_fit(points, targets, length).score


def find_tm_fit(
    points: Floats, targets: Floats, length: int, *, starts: int = _MOST_STARTS, shortest: int = 0
) -> TmFit:
    """The superposition of a pairing with the greatest TM-score, as far as the search finds it.

    Args:
        points: Cα of the mobile residues, shape (n, 3), Å.
        targets: Cα of their partners, shape (n, 3), Å.
        length: number of residues of the structure that the score is normalized by.
        starts: about how many fragments of one size the search begins with.
        shortest: size of the shortest of them; at least four.

    Returns:
        The fit; its score is 1 when all residues of the structure are paired and superpose exactly.
    """
    scale = find_scale(length)
    origin, target_origin = points.mean(axis=0), targets.mean(axis=0)
    fits = (
        _climb(points - origin, targets - target_origin, chosen, scale)
        for chosen in _choose_fragments(len(points), starts, max(_SHORTEST_FRAGMENT, shortest))
    )
    best, rotation, translation = max(fits, key=lambda found: found[0])
    return TmFit(best / length, rotation, target_origin + translation - rotation @ origin)


def fit_many(points: Floats, targets: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Rotations (s, 3, 3) and translations (s, 3) of s weighted least-squares fits of the same pairing.

    Args:
        points: shape (n, 3); the fits are exact to rounding where its mean is near the origin.
        targets: shape (n, 3), likewise.
        weights: shape (s, n), not negative, each row with a sum above 0.
    """
    shares = weights / weights.sum(axis=1, keepdims=True)
    middles, target_middles = shares @ points, shares @ targets
    products = (points[:, :, None] * targets[:, None, :]).reshape(len(points), 9)
    covariances = (shares @ products).reshape(-1, 3, 3) - middles[:, :, None] * target_middles[:, None, :]
    rotations = find_rotations(covariances)
    return rotations, target_middles - np.einsum("sij,sj->si", rotations, middles)


def find_rotations(covariances: Floats) -> Floats:
    """The rotations (s, 3, 3) that fit best, of covariances (s, 3, 3) of points (rows) and targets."""
    left, _, right = np.linalg.svd(covariances)
    signs = np.where(np.linalg.det(left) * np.linalg.det(right) < 0, -1.0, 1.0)
    right[:, 2, :] *= signs[:, None]
    return np.asarray(np.swapaxes(right, 1, 2) @ np.swapaxes(left, 1, 2))


def _choose_fragments(count: int, starts: int, shortest: int) -> Iterator[NDArray[np.bool_]]:
    """The fragments that the search begins with, (s, count): the whole, halves, and so on; in batches."""
    places = np.arange(count)
    batch = max(1, _LARGEST_BATCH // max(count, 1))
    fragments = np.array(_list_fragments(count, starts, shortest))
    for first in range(0, len(fragments), batch):
        begin, size = fragments[first : first + batch].T[:, :, None]
        yield (places >= begin) & (places < begin + size)


def _list_fragments(count: int, starts: int, shortest: int) -> list[tuple[int, int]]:
    found = []
    size = count
    while True:
        step = max(1, (count - size) // starts)
        found += [(start, size) for start in range(0, count - size + 1, step)]
        if size <= shortest:
            return found
        size = max(shortest, size // 2)


def _climb(
    points: Floats, targets: Floats, chosen: NDArray[np.bool_], scale: float
) -> tuple[float, Floats, Floats]:
    """The best sum and its fit from many starts: fit what is chosen, choose what is near, until it stays."""
    reach = float(np.clip(scale, 4.5, 8.0))
    best, rotation, translation = -1.0, np.eye(3), np.zeros(3)
    few = min(3, len(points)) - 1
    for _ in range(_MOST_ROUNDS):
        rotations, translations = fit_many(points, targets, chosen.astype(np.float64))
        moved = points @ np.swapaxes(rotations, 1, 2) + translations[:, None, :]
        squares = np.sum((moved - targets) ** 2, axis=2)
        sums = np.sum(1 / (1 + squares / scale**2), axis=1)
        top = int(np.argmax(sums))
        if sums[top] > best:
            best, rotation, translation = float(sums[top]), rotations[top], translations[top]
        limits = np.maximum(reach**2, np.partition(squares, few, axis=1)[:, few])
        near = squares <= limits[:, None]
        changed = (near != chosen).any(axis=1)
        if not changed.any():
            break
        chosen = near[changed]
    return best, rotation, translation
