"""Least-squares fit of paired points, and the TM-score of a set of pairs.

The fit is that of Kabsch, Acta Cryst. A32, 922 (1976). It is implemented here because the TM-score search and
the structural alignment need many fits at once, and because gemmi's ``superpose_positions`` does not
superpose collinear points; otherwise both give the same RMSD (tested to 1e-6). The TM-score is that of Zhang
and Skolnick, Proteins 57, 702 (2004): the maximum over rotations and translations. The search follows that
paper: fragments of the pairs are fitted, then fitted again with the pairs that are close. In addition,
because the scale d0 is only 0.5 Å for a peptide, the score is climbed to its maximum: a fit in which each
pair has the weight (1 + d²/d0²)⁻² never lowers it (Hunter and Lange, Am. Stat. 58, 30 (2004)). It is
implemented here because tmtools is GPL and biotite chooses the pairs itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from foldnote.results.core.numeric import Floats

_MIN_FRAGMENT = 4
_MAX_STARTS = 40
_MAX_ROUNDS = 20
_FEW_PAIRS = 8
"""Maximum number of pairs for which the climb also starts from every two and every three pairs."""
_FRAGMENTS = (2, 3, 4, 5, 6)
"""Lengths of the fragments from which to climb; in proteins of more than 40 residues only the second."""
_REST_WEIGHT = 0.002
"""Weight of the other pairs in a start, which fixes the rotation of two pairs about their axis."""
_CLIMBS = ((3, 20), (6, 8), (10, 1))
"""Iterations of each stage of a climb, and the number of best climbs that continue."""
_BATCH_SIZE = 1_000_000
"""Number of distances computed at a time, to limit memory."""


def fit(points: Floats, targets: Floats) -> tuple[Floats, Floats]:
    """Find the rotation and translation that minimize the RMSD of ``points`` to ``targets``.

    Args:
        points: float64, shape (n, 3).
        targets: float64, shape (n, 3), in the same unit.

    Returns:
        Rotation (3, 3) and translation (3,); a point x moves to ``rotation @ x + translation``.
    """
    centroid, target_centroid = points.mean(axis=0), targets.mean(axis=0)
    rotation = find_rotations(((points - centroid).T @ (targets - target_centroid))[None])[0]
    return rotation, target_centroid - rotation @ centroid


def measure_rmsd(points: Floats, targets: Floats) -> float:
    """Return the RMSD of two sets of paired points (n, 3) after the best fit, in their unit."""
    rotation, translation = fit(points, targets)
    moved = points @ rotation.T + translation
    return float(np.sqrt(np.mean(np.sum((moved - targets) ** 2, axis=1))))


def find_scale(length: int) -> float:
    """Return the TM-score's distance scale d0 (Å) for a protein of ``length`` residues; at least 0.5 Å."""
    return max(0.5, 1.24 * float(np.cbrt(max(length, 15) - 15)) - 1.8)


@dataclass(frozen=True, eq=False)
class TmFit:
    """The superposition with the highest TM-score found.

    Attributes:
        score: TM-score, 0 to 1.
        rotation: shape (3, 3).
        translation: shape (3,), Å.
    """

    score: float
    rotation: Floats
    translation: Floats


def find_tm_score(points: Floats, targets: Floats, length: int) -> float:
    """Return the TM-score of paired residues, 0 to 1; the arguments are those of :func:`find_tm_fit`.

    The search is more thorough than there. The result is the score of a superposition, so it never exceeds
    the maximum; short peptides and moved domains have many local maxima.
    """
    quick, scale = find_tm_fit(points, targets, length), find_scale(length)
    best = points @ quick.rotation.T + quick.translation
    weights = _rate(np.sum((best - targets) ** 2, axis=1)[None], scale) ** 2
    starts = np.concatenate([weights, _list_starts(len(points))])
    points, targets = points - points.mean(axis=0), targets - targets.mean(axis=0)
    for rounds, count in _CLIMBS:
        sums, starts = _climb(points, targets, starts, scale, rounds)
        starts = starts[np.argsort(-sums)[:count]]
    return max(quick.score, float(sums.max()) / length)


def find_tm_fit(
    points: Floats, targets: Floats, length: int, *, starts: int = _MAX_STARTS, shortest: int = 0
) -> TmFit:
    """Search for the superposition of paired residues with the highest TM-score.

    Args:
        points: Cα of the mobile residues, shape (n, 3), Å.
        targets: Cα of their partners, shape (n, 3), Å.
        length: number of residues that the score is normalized by.
        starts: approximate number of starting fragments of each size.
        shortest: size of the shortest starting fragments; values below four count as four.

    Returns:
        The fit; its score is 1 if all ``length`` residues are paired and superpose exactly.
    """
    scale = find_scale(length)
    origin, target_origin = points.mean(axis=0), targets.mean(axis=0)
    fits = (
        _refine_starts(points - origin, targets - target_origin, selected, scale)
        for selected in _choose_fragments(len(points), starts, max(_MIN_FRAGMENT, shortest))
    )
    best, rotation, translation = max(fits, key=lambda candidate: candidate[0])
    return TmFit(best / length, rotation, target_origin + translation - rotation @ origin)


def fit_many(points: Floats, targets: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Compute s weighted least-squares fits of the same paired points.

    Args:
        points: shape (n, 3); centre them near the origin to avoid loss of precision.
        targets: shape (n, 3); likewise.
        weights: shape (s, n), non-negative, with a positive sum in each row.

    Returns:
        Rotations (s, 3, 3) and translations (s, 3).
    """
    shares = weights / weights.sum(axis=1, keepdims=True)
    centroids, target_centroids = shares @ points, shares @ targets
    products = (points[:, :, None] * targets[:, None, :]).reshape(len(points), 9)
    covariances = (shares @ products).reshape(-1, 3, 3) - centroids[:, :, None] * target_centroids[:, None, :]
    rotations = find_rotations(covariances)
    return rotations, target_centroids - np.einsum("sij,sj->si", rotations, centroids)


def find_rotations(covariances: Floats) -> Floats:
    """Find the best-fit rotations (s, 3, 3) from covariances (s, 3, 3) of points (rows) with targets."""
    left, _, right = np.linalg.svd(covariances)
    signs = np.where(np.linalg.det(left) * np.linalg.det(right) < 0, -1.0, 1.0)
    right[:, 2, :] *= signs[:, None]
    return np.asarray(np.swapaxes(right, 1, 2) @ np.swapaxes(left, 1, 2))


def _list_starts(count: int) -> Floats:
    """Return the weights (s, count) from which to climb: short fragments, or any 2 or 3 of few pairs."""
    fragments: list[tuple[int, ...]]
    if count <= _FEW_PAIRS:
        fragments = [*combinations(range(count), 2), *combinations(range(count), 3)]
    else:
        step = max(1, count // _MAX_STARTS)
        sizes = _FRAGMENTS if count <= _MAX_STARTS else _FRAGMENTS[1:2]
        fragments = [
            tuple(range(first, first + size)) for size in sizes for first in range(0, count - size + 1, step)
        ]
    starts = np.full((len(fragments), count), _REST_WEIGHT)
    for start, pairs in zip(starts, fragments, strict=True):
        start[list(pairs)] = 1
    return starts


def _rate(squares: Floats, scale: float) -> Floats:
    """Return the TM-score's term of each squared distance."""
    return np.asarray(1 / (1 + squares / scale**2))


def _climb(
    points: Floats, targets: Floats, weights: Floats, scale: float, rounds: int
) -> tuple[Floats, Floats]:
    """Fit with weights from the previous fit; return the sums of the terms and the next weights."""
    for _ in range(rounds):
        rotations, translations = fit_many(points, targets, weights)
        moved = points @ np.swapaxes(rotations, 1, 2) + translations[:, None, :]
        terms = _rate(np.sum((moved - targets) ** 2, axis=2), scale)
        weights = terms**2
    return terms.sum(axis=1), weights


def _choose_fragments(count: int, starts: int, shortest: int) -> Iterator[NDArray[np.bool_]]:
    """Yield batches of masks (s, count) of the starting fragments: all pairs, halves, quarters, and so on."""
    indices = np.arange(count)
    batch = max(1, _BATCH_SIZE // max(count, 1))
    fragments = np.array(_list_fragments(count, starts, shortest))
    for first in range(0, len(fragments), batch):
        begin, size = fragments[first : first + batch].T[:, :, None]
        yield (indices >= begin) & (indices < begin + size)


def _list_fragments(count: int, starts: int, shortest: int) -> list[tuple[int, int]]:
    fragments = []
    size = count
    while True:
        step = max(1, (count - size) // starts)
        fragments += [(start, size) for start in range(0, count - size + 1, step)]
        if size <= shortest:
            return fragments
        size = max(shortest, size // 2)


def _refine_starts(
    points: Floats, targets: Floats, selected: NDArray[np.bool_], scale: float
) -> tuple[float, Floats, Floats]:
    """Refine starting fragments: fit the selected pairs, select the close ones, repeat until unchanged.

    Returns:
        The highest sum of TM-score terms, with its rotation and translation.
    """
    reach = float(np.clip(scale, 4.5, 8.0))
    best, rotation, translation = -1.0, np.eye(3), np.zeros(3)
    least = min(3, len(points)) - 1
    for _ in range(_MAX_ROUNDS):
        rotations, translations = fit_many(points, targets, selected.astype(np.float64))
        moved = points @ np.swapaxes(rotations, 1, 2) + translations[:, None, :]
        squares = np.sum((moved - targets) ** 2, axis=2)
        sums = _rate(squares, scale).sum(axis=1)
        top = int(np.argmax(sums))
        if sums[top] > best:
            best, rotation, translation = float(sums[top]), rotations[top], translations[top]
        limits = np.maximum(reach**2, np.partition(squares, least, axis=1)[:, least])
        is_close = squares <= limits[:, None]
        changed = (is_close != selected).any(axis=1)
        if not changed.any():
            break
        selected = is_close[changed]
    return best, rotation, translation
