"""Pair the residues of two chains of Cα atoms for the maximum TM-score, as in the paper of TM-align.

The TM-score and its search are those of Zhang and Skolnick (Proteins 57, 702, 2004; Nucleic Acids Res. 33,
2302, 2005). This is an independent implementation: biotite provides the first pairs, with its structural
alphabets, and the alignment of residues by a score matrix.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

Points = NDArray[np.float64]
Rows = NDArray[np.intp]

GAP_PENALTIES = (0.6, 0.0)
"""Penalty for opening a gap, in units of the score of a perfect pair; extending one costs nothing."""
SCALE = 1000
"""Scale of scores: biotite aligns with whole numbers."""
MAX_ROUNDS = 20
QUICK_STARTS, FULL_STARTS = 6, 60
FRAGMENT = 20
MAX_FRAGMENTS = 40
MAX_OFFSETS = 300
PAIRED, REFINED, POLISHED = 60, 12, 4
FEWEST = 3
"""Minimum number of pairs for a superposition."""


@dataclass(frozen=True)
class Motion:
    """A rotation (3, 3) followed by a shift in Å."""

    rotation: Points
    shift: Points

    def move(self, points: Points) -> Points:
        """Return the points, shape (n, 3), in the other frame."""
        moved: Points = points @ self.rotation.T + self.shift
        return moved


@dataclass(frozen=True)
class TracePairing:
    """Pairs of residues in order, with their superposition and the TM-score by the shorter chain."""

    rows: Rows
    mobile_rows: Rows
    motion: Motion
    score: float


def find_scale(length: int) -> float:
    """Return d0 of the TM-score in Å, at least 0.5."""
    return max(1.24 * max(length - 15, 0) ** (1 / 3) - 1.8, 0.5)


def find_limit(length: int) -> float:
    """Return TM-align's distance limit d8 of a pair, in Å."""
    return float(1.5 * length**0.3 + 3.5)


def superpose(points: Points, targets: Points) -> Motion:
    """Return the motion of ``points`` with the minimum RMSD from ``targets`` (Kabsch)."""
    rotations, shifts = superpose_many(points, targets, np.ones((1, len(points))))
    return Motion(rotations[0], shifts[0])


def superpose_many(points: Points, targets: Points, weights: Points) -> tuple[Points, Points]:
    """Return one motion for each row of ``weights``, shape (k, n): rotations (k, 3, 3), shifts (k, 3)."""
    total = weights.sum(axis=1, keepdims=True)
    middles, ends = weights @ points / total, weights @ targets / total
    covariance = np.einsum("kn,ni,nj->kij", weights, points, targets, optimize=True)
    covariance -= total[:, :, None] * middles[:, :, None] * ends[:, None, :]
    u, _, vt = np.linalg.svd(covariance)
    u[:, :, 2] *= np.sign(np.linalg.det(u @ vt))[:, None]
    rotations = np.swapaxes(u @ vt, 1, 2)
    return rotations, ends - np.einsum("kij,kj->ki", rotations, middles)


def find_motion(points: Points, targets: Points, length: int, starts: int) -> tuple[Motion, float]:
    """Return the superposition of given pairs with the maximum TM-score by ``length``, and that score.

    The search starts from fragments of the pairs and superposes near pairs again, until they do not change.
    """
    scale = find_scale(length)
    near = min(max(scale, 4.5), 8.0)
    weights = cut_fragments(len(points), starts)
    best, most = None, -1.0
    for limit in (near, near + 1):
        kept = weights
        for _ in range(MAX_ROUNDS):
            rotations, shifts = superpose_many(points, targets, kept)
            moved = np.einsum("kij,nj->kni", rotations, points) + shifts[:, None, :]
            squares = np.sum((moved - targets) ** 2, axis=2)
            scores = np.sum(1 / (1 + squares / scale**2), axis=1)
            top = int(scores.argmax())
            if scores[top] > most:
                best, most = Motion(rotations[top], shifts[top]), float(scores[top])
            fewest = np.partition(squares, FEWEST - 1, axis=1)[:, FEWEST - 1 : FEWEST]
            chosen = (squares <= np.maximum(limit**2, fewest)).astype(float)
            if np.array_equal(chosen, kept):
                break
            kept = chosen
    assert best is not None
    return best, most / length


def cut_fragments(count: int, starts: int) -> Points:
    """Return fragments of ``count`` pairs as rows of ones and zeros: all pairs, halves, quarters etc."""
    rows = []
    size = count
    while size >= max(FEWEST, 4 if count > 4 else FEWEST) or size == count:
        places = np.unique(np.linspace(0, count - size, min(count - size + 1, starts)).astype(int))
        for place in places:
            row = np.zeros(count)
            row[place : place + size] = 1
            rows.append(row)
        size //= 2
        if starts == QUICK_STARTS and size < count // 4:
            break
    return np.array(rows)


def pair_residues(scores: Points, gap_penalty: float) -> tuple[Rows, Rows]:
    """Return the pairs in order with the maximum sum of ``scores`` (n, m) minus gap penalties."""
    from biotite.sequence import PurePositionalSequence
    from biotite.sequence.align import SubstitutionMatrix, align_optimal, remove_gaps

    first, second = PurePositionalSequence(scores.shape[0]), PurePositionalSequence(scores.shape[1])
    whole = (SCALE * scores).astype(np.int32)
    matrix = SubstitutionMatrix(first.alphabet, second.alphabet, whole)
    penalty = (-round(SCALE * gap_penalty), 0)
    found = align_optimal(first, second, matrix, penalty, terminal_penalty=False, max_number=1)[0]
    trace = remove_gaps(found).trace
    return trace[:, 0], trace[:, 1]


class TraceSearch:
    """The search for the best pairs of two chains.

    Args:
        fixed: Cα atoms of one chain, shape (n, 3), Å; at least three.
        mobile: Cα atoms of the other chain.
    """

    def __init__(self, fixed: Points, mobile: Points) -> None:
        """Store the chains."""
        self.fixed, self.mobile = fixed, mobile
        self.length = min(len(fixed), len(mobile))
        self.scale = find_scale(self.length)
        self.wide = self.scale + 0.8

    def run(self, given: Iterable[Motion]) -> TracePairing:
        """Return the best pairs found from the given superpositions and from those of fragments."""
        starts = self.choose([*self.thread(), *self.superpose_fragments()])
        own = sort_pairings(self.pair(start, GAP_PENALTIES[0]) for start in starts)
        found = [self.pair(start, GAP_PENALTIES[0]) for start in given] + own[:REFINED]
        found = sort_pairings(self.refine(each) for each in found)
        return sort_pairings(self.polish(each) for each in found[:POLISHED])[0]

    def pair(self, motion: Motion, gap_penalty: float) -> TracePairing:
        """Return the best pairs under a superposition, scored without moving them."""
        terms = 1 / (1 + (cdist(self.fixed, motion.move(self.mobile)) / self.wide) ** 2)
        rows, mobile_rows = pair_residues(terms, gap_penalty)
        return TracePairing(rows, mobile_rows, motion, float(terms[rows, mobile_rows].sum()) / self.length)

    def fit(self, rows: Rows, mobile_rows: Rows, starts: int) -> TracePairing:
        """Superpose given pairs for the maximum TM-score."""
        motion, score = find_motion(self.mobile[mobile_rows], self.fixed[rows], self.length, starts)
        return TracePairing(rows, mobile_rows, motion, score)

    def refine(self, start: TracePairing) -> TracePairing:
        """Pair and superpose alternately until the pairs do not change."""
        best = start if len(start.rows) < FEWEST else self.fit(start.rows, start.mobile_rows, QUICK_STARTS)
        for gap_penalty in GAP_PENALTIES:
            motion, last = best.motion, None
            for _ in range(MAX_ROUNDS):
                paired = self.pair(motion, gap_penalty)
                if len(paired.rows) < FEWEST:
                    break
                found = self.fit(paired.rows, paired.mobile_rows, QUICK_STARTS)
                best = found if found.score > best.score else best
                if last is not None and np.array_equal(last, [*paired.rows, *paired.mobile_rows]):
                    break
                motion, last = found.motion, [*paired.rows, *paired.mobile_rows]
        return best

    def polish(self, found: TracePairing) -> TracePairing:
        """Superpose the pairs that are near enough, with the full search."""
        best = self.fit(found.rows, found.mobile_rows, FULL_STARTS)
        moved = best.motion.move(self.mobile[best.mobile_rows])
        far = np.linalg.norm(moved - self.fixed[best.rows], axis=1)
        near = far <= max(find_limit(self.length), float(np.sort(far)[min(FEWEST, len(far)) - 1]))
        return TracePairing(best.rows[near], best.mobile_rows[near], best.motion, best.score)

    def thread(self) -> list[Motion]:
        """Return gapless superpositions, at evenly spaced offsets of one chain against the other."""
        n, m = len(self.fixed), len(self.mobile)
        least = max(FEWEST, min(self.length, max(self.length // 2, 5)))
        found = []
        for offset in range(least - m, n - least + 1, max(1, (n + m) // MAX_OFFSETS)):
            first, last = max(0, offset), min(n, m + offset)
            found.append(superpose(self.mobile[first - offset : last - offset], self.fixed[first:last]))
        return found

    def superpose_fragments(self) -> list[Motion]:
        """Return the superpositions of fragments of both chains."""
        size = min(FRAGMENT, max(FEWEST, self.length // 2))
        pieces = [cut_pieces(points, size) for points in (self.fixed, self.mobile)]
        return [superpose(mobile, fixed) for fixed in pieces[0] for mobile in pieces[1]]

    def choose(self, motions: list[Motion]) -> list[Motion]:
        """Return the motions under which most residues are near a residue of the other chain."""
        some = self.mobile[:: max(1, len(self.mobile) // 60)]
        tree = cKDTree(self.fixed)
        moved = np.concatenate([motion.move(some) for motion in motions])
        near = tree.query(moved, distance_upper_bound=3 * self.wide)[0].reshape(len(motions), -1)
        scores = np.sum(1 / (1 + (near / self.wide) ** 2), axis=1)
        return [motions[place] for place in np.argsort(-scores, kind="stable")[:PAIRED]]


def cut_pieces(points: Points, size: int) -> list[Points]:
    """Return the fragments of a chain, evenly spaced."""
    places = np.linspace(0, len(points) - size, min(len(points) - size + 1, MAX_FRAGMENTS)).astype(int)
    return [points[place : place + size] for place in places]


def sort_pairings(found: Iterable[TracePairing]) -> list[TracePairing]:
    """Sort pairings by score, the highest first."""
    return sorted(found, key=lambda each: -each.score)


def start_by_alphabets(fixed: Any, mobile: Any) -> list[Motion]:
    """Return superpositions of two atom arrays by biotite's 3Di and protein blocks, if available."""
    from biotite.structure import BadStructureError, superimpose_structural_homologs

    found = []
    for alphabet in ("3di", "pb"):
        try:
            _, change, *_ = superimpose_structural_homologs(
                fixed, mobile, structural_alphabet=alphabet, max_iterations=20
            )
        except (BadStructureError, ValueError, IndexError, np.linalg.LinAlgError):
            continue  # no common pairs, such as for Cα atoms alone
        matrix = np.asarray(change.as_matrix(), dtype=np.float64).reshape(4, 4)
        found.append(Motion(matrix[:3, :3], matrix[:3, 3]))
    return found
