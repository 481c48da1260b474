"""Structural alignment: pair the residues of two chains by their Cα coordinates alone.

The alignment maximizes the TM-score with the method of TM-align (Zhang and Skolnick, Nucleic Acids Res. 33,
2302, 2005): superpose, pair residues in sequence order by dynamic programming over the TM-score terms, and
repeat until the pairs no longer change. The implementation is independent of that program; it starts from
gapless threading, superposed fragments, secondary structure and, if given, a sequence alignment. Very long
chains are searched with a subset of residues, then refined with all of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foldnote.results.comparison.fitting import TmFit, find_rotations, find_scale, find_tm_fit, fit
from foldnote.results.core.numeric import Floats
from foldnote.results.structure.secondary import assign_secondary

Rows = NDArray[np.intp]
Pairs = tuple[Rows, Rows]
Transform = tuple[Floats, Floats]

_GAP_PENALTIES = (0.6, 0.0)
"""Cost of opening a gap, in units of the score of a perfect pair; extending a gap is free."""
_SECONDARY_GAP_PENALTY = 1.0
_MAX_ROUNDS = 20
_QUICK_STARTS = 4
_FRAGMENT = 20
_FRAGMENT_STARTS = 36
_MAX_FRAGMENT_FITS = 800
_MAX_OFFSETS = 400
_FULL_STARTS = 40
_PAIRED_STARTS = 60
_REFINED_STARTS = 8
_POLISHED_STARTS = 3
_MAX_LENGTH = 1_500
"""Longer chains (geometric mean of the numbers of residues) are first searched with every k-th residue."""
_BATCH_SIZE = 2_000_000
"""Number of distances computed at a time, to limit memory."""


@dataclass(frozen=True, eq=False)
class StructuralAlignment:
    """Paired residues of two chains in sequence order, and their superposition.

    Attributes:
        rows: indices in the fixed chain, intp, shape (k,), ascending.
        mobile_rows: indices of their partners in the mobile chain, intp, shape (k,), ascending.
        fit: TM-score normalized by the shorter chain, with its rotation and translation.
    """

    rows: Rows
    mobile_rows: Rows
    fit: TmFit


def align_traces(fixed: Floats, mobile: Floats, known: Iterable[Pairs] = ()) -> StructuralAlignment:
    """Align two chains by structure.

    Args:
        fixed: Cα coordinates of one chain in sequence order, float64, shape (n, 3) with n ≥ 3, Å.
        mobile: Cα coordinates of the other chain, float64, shape (m, 3) with m ≥ 3, Å.
        known: additional alignments to start from, such as one by sequence.

    Returns:
        The best alignment found, without pairs further apart than TM-align's limit d8.
    """
    search = _Search(fixed, mobile)
    step = math.ceil(math.sqrt(len(fixed) * len(mobile)) / _MAX_LENGTH)
    pairs = [alignment for alignment in known if len(alignment[0]) >= 3]
    return search.run(pairs) if step == 1 else search.run_coarsely(pairs, step)


def pair_superposed(fixed: Floats, moved: Floats, length: int) -> tuple[Rows, Rows, float]:
    """Pair the residues of two superposed chains without moving them.

    Args:
        fixed: Cα coordinates, shape (n, 3), Å.
        moved: Cα coordinates of the superposed chain, shape (m, 3), Å.
        length: number of residues that the score of all chains is normalized by.

    Returns:
        Indices of the paired residues in both chains, and the sum of their TM-score terms.
    """
    scale = find_scale(length)
    rows, moved_rows = _pair_points(fixed, moved, scale, _GAP_PENALTIES[0])
    squares = np.sum((fixed[rows] - moved[moved_rows]) ** 2, axis=1)
    near = squares <= _find_limit(length) ** 2
    return rows[near], moved_rows[near], float(np.sum(1 / (1 + squares[near] / scale**2)))


def pair_in_order(scores: Floats, gap_penalty: float) -> Pairs:
    """Pair rows with columns, both ascending, for the maximum sum of scores minus gap penalties.

    Needleman and Wunsch's recursion with a constant penalty per gap, independent of its length, and free end
    gaps.

    Args:
        scores: score of pairing each row with each column, shape (n, m), non-negative.
        gap_penalty: cost of each gap between two pairs.

    Returns:
        Row and column indices of the pairs.
    """
    if scores.shape[0] > scores.shape[1]:
        columns, rows = pair_in_order(scores.T, gap_penalty)
        return rows, columns
    return _pair_blocks([scores], scores.shape[0], scores.shape[1], gap_penalty)


def _pair_points(fixed: Floats, moved: Floats, wide: float, gap_penalty: float) -> Pairs:
    """Call :func:`pair_in_order` with scores ``1 / (1 + (d / wide)²)`` of distances d, in blocks of rows."""
    if len(fixed) > len(moved):
        moved_rows, rows = _pair_points(moved, fixed, wide, gap_penalty)
        return rows, moved_rows
    step = max(1, _BATCH_SIZE // len(moved))
    blocks = (
        1 / (1 + _measure_squares(fixed[first : first + step], moved) / wide**2)
        for first in range(0, len(fixed), step)
    )
    return _pair_blocks(blocks, len(fixed), len(moved), gap_penalty)


_DIAGONAL, _FROM_ABOVE, _OPENS_ABOVE, _OPENS_LEFT = 1, 2, 4, 8


def _pair_blocks(blocks: Iterable[Floats], n: int, m: int, gap_penalty: float) -> Pairs:
    """Compute :func:`pair_in_order` in blocks of rows, with one byte per cell for the traceback."""
    moves = np.zeros((n + 1, m + 1), dtype=np.uint8)
    best, above, paired = np.zeros(m + 1), np.full(m + 1, -np.inf), np.empty(m)
    end, most = (0, 0), -np.inf
    for i, scores in enumerate((row for block in blocks for row in block), 1):
        np.add(best[:-1], scores, out=paired)
        opened = best - gap_penalty
        move = moves[i]
        move[:] = (opened >= above).view(np.uint8) * np.uint8(_OPENS_ABOVE)
        np.maximum(above, opened, out=above)
        before = np.maximum(paired, above[1:])
        opened_left = before[:-1] - gap_penalty
        left = np.maximum.accumulate(opened_left)
        best[1:] = before
        np.maximum(before[1:], left, out=best[2:])
        move[1:] |= (paired == best[1:]).view(np.uint8)
        move[1:] |= (above[1:] == best[1:]).view(np.uint8) * np.uint8(_FROM_ABOVE)
        move[2:] |= (opened_left == left).view(np.uint8) * np.uint8(_OPENS_LEFT)
        top = int(paired.argmax())
        if paired[top] > most:
            end, most = (i, top + 1), float(paired[top])
    return _trace_back(moves, *end)


def _trace_back(moves: NDArray[np.uint8], i: int, j: int) -> Pairs:
    rows, columns = [], []
    while i > 0 and j > 0:
        move = moves[i, j]
        if move & _DIAGONAL:
            i, j = i - 1, j - 1
            rows.append(i)
            columns.append(j)
        elif move & _FROM_ABOVE:
            i = int(np.flatnonzero(moves[: i + 1, j] & _OPENS_ABOVE)[-1]) - 1
        else:
            j = int(np.flatnonzero(moves[i, : j + 1] & _OPENS_LEFT)[-1]) - 1
    return np.array(rows[::-1], dtype=np.intp), np.array(columns[::-1], dtype=np.intp)


class _Search:
    """The search for the structural alignment of two chains."""

    def __init__(self, fixed: Floats, mobile: Floats, step: int = 1) -> None:
        """Store the chains, which hold every ``step``-th residue."""
        self.fixed = fixed
        self.mobile = mobile
        self.length = min(len(fixed), len(mobile))
        self.scale = find_scale(self.length * step)
        self.wide = self.scale + 0.8

    def run(self, known: Sequence[Pairs]) -> StructuralAlignment:
        starts = [*self._superpose_ungapped(), *self._superpose_fragments()]
        starts = [*(self._fit(pairs) for pairs in known), *self._superpose_secondary(), *self._choose(starts)]
        candidates = [self._pair(start, _GAP_PENALTIES[0]) for start in starts]
        candidates = [self._refine(candidate) for candidate in _sort(candidates)[:_REFINED_STARTS]]
        return _sort([self._polish(candidate) for candidate in _sort(candidates)[:_POLISHED_STARTS]])[0]

    def run_coarsely(self, known: Sequence[Pairs], step: int) -> StructuralAlignment:
        """Search with every ``step``-th residue, then refine with all residues."""
        coarse = _Search(self.fixed[::step], self.mobile[::step], step).run([])
        shifted = [self._shift(coarse, step, shift) for shift in range(1 - step, step)]
        usable = [pairs for pairs in [*known, *shifted] if len(pairs[0]) >= 3]
        fits = [self._fit_closely(pairs, _QUICK_STARTS) for pairs in usable]
        best = sorted(fits, key=lambda fit: -fit.score)[:_POLISHED_STARTS]
        candidates = [
            self._refine(self._pair((fit.rotation, fit.translation), _GAP_PENALTIES[0])) for fit in best
        ]
        return self._polish(_sort(candidates)[0])

    def _shift(self, coarse: StructuralAlignment, step: int, shift: int) -> Pairs:
        """Convert coarse pairs to pairs of the full chains, with partners ``shift`` residues further on."""
        rows, mobile_rows = coarse.rows * step, coarse.mobile_rows * step + shift
        is_inside = (mobile_rows >= 0) & (mobile_rows < len(self.mobile))
        return rows[is_inside], mobile_rows[is_inside]

    def _fit(self, pairs: Pairs, starts: int = _QUICK_STARTS) -> Transform:
        closest = self._fit_closely(pairs, starts)
        return closest.rotation, closest.translation

    def _fit_closely(self, pairs: Pairs, starts: int) -> TmFit:
        rows, mobile_rows = pairs
        shortest = 0 if starts == _FULL_STARTS else len(rows) // 4
        return find_tm_fit(
            self.mobile[mobile_rows], self.fixed[rows], self.length, starts=starts, shortest=shortest
        )

    def _pair(self, start: Transform, gap_penalty: float) -> StructuralAlignment:
        """Return the best pairs under a superposition, scored without fitting again."""
        moved = self.mobile @ start[0].T + start[1]
        rows, mobile_rows = _pair_points(self.fixed, moved, self.wide, gap_penalty)
        squares = np.sum((self.fixed[rows] - moved[mobile_rows]) ** 2, axis=1)
        score = float(np.sum(1 / (1 + squares / self.wide**2))) / self.length
        return StructuralAlignment(rows, mobile_rows, TmFit(score, *start))

    def _refine(self, start: StructuralAlignment) -> StructuralAlignment:
        """Superpose and pair alternately until the pairs no longer change."""
        best: StructuralAlignment | None = None
        for gap_penalty in _GAP_PENALTIES:
            pairs = (start.rows, start.mobile_rows) if best is None else (best.rows, best.mobile_rows)
            for _ in range(_MAX_ROUNDS):
                alignment = StructuralAlignment(*pairs, self._fit_closely(pairs, _QUICK_STARTS))
                if best is None or alignment.fit.score > best.fit.score:
                    best = alignment
                paired = self._pair((alignment.fit.rotation, alignment.fit.translation), gap_penalty)
                last, pairs = pairs, (paired.rows, paired.mobile_rows)
                if np.array_equal(pairs[0], last[0]) and np.array_equal(pairs[1], last[1]):
                    break
        assert best is not None
        return best

    def _polish(self, alignment: StructuralAlignment) -> StructuralAlignment:
        """Superpose with the full search and leave out pairs that are too far apart."""
        fit = self._fit_closely((alignment.rows, alignment.mobile_rows), _FULL_STARTS)
        moved = self.mobile @ fit.rotation.T + fit.translation
        distances = np.linalg.norm(moved[alignment.mobile_rows] - self.fixed[alignment.rows], axis=1)
        near = distances <= max(
            _find_limit(self.length), float(np.sort(distances)[min(2, len(distances) - 1)])
        )
        return StructuralAlignment(alignment.rows[near], alignment.mobile_rows[near], fit)

    def _choose(self, starts: Sequence[Transform]) -> list[Transform]:
        """Choose the starts that bring most residues close to any residue of the other chain."""
        some = self.fixed[:: max(1, len(self.fixed) // 100)]
        rotations, translations = (np.array(points) for points in zip(*starts, strict=True))
        scores = []
        batch = max(1, _BATCH_SIZE // (len(some) * len(self.mobile)))
        for first in range(0, len(starts), batch):
            own = slice(first, first + batch)
            moved = self.mobile @ np.swapaxes(rotations[own], 1, 2) + translations[own, None, :]
            nearest = np.array([_measure_squares(some, points).min(axis=1) for points in moved])
            scores += list(np.sum(1 / (1 + nearest / self.scale**2), axis=1))
        return [starts[i] for i in np.argsort(scores)[::-1][:_PAIRED_STARTS]]

    def _superpose_secondary(self) -> list[Transform]:
        letters, others = assign_secondary(self.fixed), assign_secondary(self.mobile)
        pairs = pair_in_order(
            (letters[:, None] == others[None, :]).astype(np.float64), _SECONDARY_GAP_PENALTY
        )
        return [self._fit(pairs)] if len(pairs[0]) >= 3 else []

    def _superpose_ungapped(self) -> list[Transform]:
        """Superpose the chains without gaps at a range of offsets, and again with the close pairs only."""
        n, m = len(self.fixed), len(self.mobile)
        least = max(3, self.length // 2)
        transforms = []
        for offset in range(least - m, n - least + 1, max(1, (n + m) // _MAX_OFFSETS)):
            first, last = max(0, offset), min(n, m + offset)
            targets, points = self.fixed[first:last], self.mobile[first - offset : last - offset]
            transform = fit(points, targets)
            squares = np.sum((points @ transform[0].T + transform[1] - targets) ** 2, axis=1)
            near = squares <= max(8.0**2, float(np.partition(squares, 2)[2]))
            transforms.append(fit(points[near], targets[near]))
        return transforms

    def _superpose_fragments(self) -> list[Transform]:
        """Superpose fragments of one chain on those of the other; return the fits with the lowest RMSD."""
        size = min(_FRAGMENT, max(3, self.length // 2))
        pieces, others = _cut(self.fixed, size), _cut(self.mobile, size)
        centroids, other_centroids = pieces.mean(axis=1), others.mean(axis=1)
        pieces, others = pieces - centroids[:, None], others - other_centroids[:, None]
        covariances = np.einsum("bwi,awj->abij", others, pieces).reshape(-1, 3, 3)
        rotations = find_rotations(covariances).reshape(len(pieces), len(others), 3, 3)
        traces = np.einsum("abij,abji->ab", rotations, covariances.reshape(rotations.shape))
        norms = np.sum(pieces**2, axis=(1, 2))[:, None] + np.sum(others**2, axis=(1, 2))[None]
        squares = np.maximum(norms - 2 * traces, 0) / size
        order = np.argsort(squares, axis=None)[:_MAX_FRAGMENT_FITS]
        rows, columns = np.unravel_index(order, squares.shape)
        return [
            (rotations[a, b], centroids[a] - rotations[a, b] @ other_centroids[b])
            for a, b in zip(rows, columns, strict=True)
        ]


def _sort(alignments: Iterable[StructuralAlignment]) -> list[StructuralAlignment]:
    return sorted(alignments, key=lambda alignment: -alignment.fit.score)


def _measure_squares(fixed: Floats, moved: Floats) -> Floats:
    norms = np.sum(fixed**2, axis=1)[:, None] + np.sum(moved**2, axis=1)[None]
    return np.asarray(np.maximum(norms - 2 * fixed @ moved.T, 0))


def _find_limit(length: int) -> float:
    """Return TM-align's maximum pair distance d8 (Å) for a protein of ``length`` residues."""
    return 1.5 * float(length**0.3) + 3.5


def _cut(trace: Floats, size: int) -> Floats:
    """Cut evenly spaced fragments from a chain, shape (f, size, 3)."""
    count = len(trace) - size + 1
    starts = np.unique(np.linspace(0, count - 1, min(count, _FRAGMENT_STARTS)).astype(int))
    return trace[starts[:, None] + np.arange(size)]
