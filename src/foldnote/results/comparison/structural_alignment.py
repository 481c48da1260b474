"""Structural alignment: pair the residues of two chains by their Cα coordinates alone.

The alignment maximizes the TM-score, as TM-align does (Zhang and Skolnick, Nucleic Acids Res. 33, 2302,
2005): superpose, pair residues in sequence order by dynamic programming over the TM-score's terms, and
repeat until the pairs stay. It is a search of its own, not that program: it starts from gapless threadings,
superposed fragments, secondary structure and, where there is one, an alignment of the sequences. Very long
chains are searched with some of their residues, then refined with all.
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
"""Of opening a gap, in units of the score of a perfect pair; extending one costs nothing."""
_SECONDARY_GAP_PENALTY = 1.0
_MOST_ROUNDS = 20
_QUICK_STARTS = 4
_FRAGMENT = 20
_FRAGMENT_STARTS = 36
_MOST_FRAGMENT_FITS = 800
_MOST_OFFSETS = 400
_FULL_STARTS = 40
_PAIRED = 60
_REFINED = 8
_POLISHED = 3
_LARGEST = 1_500
"""Chains of more residues (the geometric mean of both) are first searched with one residue of several."""
_BATCH = 2_000_000
"""Distances that are computed at a time."""


@dataclass(frozen=True, eq=False)
class StructuralAlignment:
    """Pairs of residues in order, and the superposition that they were found under.

    Attributes:
        rows: residues of the fixed chain, ascending.
        mobile_rows: their partners, ascending.
        fit: TM-score by the shorter chain, with its rotation and translation.
    """

    rows: Rows
    mobile_rows: Rows
    fit: TmFit


def align_traces(fixed: Floats, mobile: Floats, known: Iterable[Pairs] = ()) -> StructuralAlignment:
    """The structural alignment of two chains.

    Args:
        fixed: Cα coordinates of one chain in order, shape (n, 3), Å; at least three.
        mobile: those of the other, shape (m, 3), Å; at least three.
        known: alignments to start from besides the search's own, such as one by sequence.

    Returns:
        The best that was found; pairs further apart than TM-align's limit d8 are left out.
    """
    search = _Search(fixed, mobile)
    step = math.ceil(math.sqrt(len(fixed) * len(mobile)) / _LARGEST)
    pairs = [each for each in known if len(each[0]) >= 3]
    return search.run(pairs) if step == 1 else search.run_coarsely(pairs, step)


def pair_superposed(fixed: Floats, moved: Floats, length: int) -> tuple[Rows, Rows, float]:
    """The pairs of two chains as they lie: rows of both, and the sum of the TM-score's terms.

    Args:
        fixed: Cα coordinates, shape (n, 3), Å.
        moved: those of the superposed chain, shape (m, 3), Å.
        length: number of residues that the score of all chains is normalized by.
    """
    scale = find_scale(length)
    rows, moved_rows = _pair_points(fixed, moved, scale, _GAP_PENALTIES[0])
    squares = np.sum((fixed[rows] - moved[moved_rows]) ** 2, axis=1)
    near = squares <= _find_limit(length) ** 2
    return rows[near], moved_rows[near], float(np.sum(1 / (1 + squares[near] / scale**2)))


def pair_in_order(scores: Floats, gap_penalty: float) -> Pairs:
    """The pairs of rows and columns, both ascending, with the greatest sum of scores less the gaps' penalty.

    Needleman and Wunsch's recursion with a penalty for each gap whatever its length, and none at the ends.

    Args:
        scores: of pairing a row with a column, shape (n, m), not negative.
        gap_penalty: of a gap between two pairs.
    """
    if scores.shape[0] > scores.shape[1]:
        columns, rows = pair_in_order(scores.T, gap_penalty)
        return rows, columns
    return _pair_blocks([scores], scores.shape[0], scores.shape[1], gap_penalty)


def _pair_points(fixed: Floats, moved: Floats, wide: float, gap_penalty: float) -> Pairs:
    """:func:`pair_in_order` by the terms ``1 / (1 + (d / wide)²)`` of distances d, in blocks of rows."""
    if len(fixed) > len(moved):
        moved_rows, rows = _pair_points(moved, fixed, wide, gap_penalty)
        return rows, moved_rows
    step = max(1, _BATCH // len(moved))
    blocks = (
        1 / (1 + _measure_squares(fixed[first : first + step], moved) / wide**2)
        for first in range(0, len(fixed), step)
    )
    return _pair_blocks(blocks, len(fixed), len(moved), gap_penalty)


_PAIRED_HERE, _FROM_ABOVE, _OPENS_ABOVE, _OPENS_BESIDE = 1, 2, 4, 8


def _pair_blocks(blocks: Iterable[Floats], n: int, m: int, gap_penalty: float) -> Pairs:
    """:func:`pair_in_order` of scores that come in blocks of rows; keeps one byte of the way a cell."""
    ways = np.zeros((n + 1, m + 1), dtype=np.uint8)
    best, above, paired = np.zeros(m + 1), np.full(m + 1, -np.inf), np.empty(m)
    end, most = (0, 0), -np.inf
    for i, scores in enumerate((row for block in blocks for row in block), 1):
        np.add(best[:-1], scores, out=paired)
        opened = best - gap_penalty
        way = ways[i]
        way[:] = (opened >= above).view(np.uint8) * np.uint8(_OPENS_ABOVE)
        np.maximum(above, opened, out=above)
        before = np.maximum(paired, above[1:])
        opened_beside = before[:-1] - gap_penalty
        beside = np.maximum.accumulate(opened_beside)
        best[1:] = before
        np.maximum(before[1:], beside, out=best[2:])
        way[1:] |= (paired == best[1:]).view(np.uint8)
        way[1:] |= (above[1:] == best[1:]).view(np.uint8) * np.uint8(_FROM_ABOVE)
        way[2:] |= (opened_beside == beside).view(np.uint8) * np.uint8(_OPENS_BESIDE)
        top = int(paired.argmax())
        if paired[top] > most:
            end, most = (i, top + 1), float(paired[top])
    return _trace_back(ways, *end)


def _trace_back(ways: NDArray[np.uint8], i: int, j: int) -> Pairs:
    rows, columns = [], []
    while i > 0 and j > 0:
        way = ways[i, j]
        if way & _PAIRED_HERE:
            i, j = i - 1, j - 1
            rows.append(i)
            columns.append(j)
        elif way & _FROM_ABOVE:
            i = int(np.flatnonzero(ways[: i + 1, j] & _OPENS_ABOVE)[-1]) - 1
        else:
            j = int(np.flatnonzero(ways[i, : j + 1] & _OPENS_BESIDE)[-1]) - 1
    return np.array(rows[::-1], dtype=np.intp), np.array(columns[::-1], dtype=np.intp)


class _Search:
    """The search for the structural alignment of two chains."""

    def __init__(self, fixed: Floats, mobile: Floats, step: int = 1) -> None:
        """Keep the chains; ``step`` says of how many residues one is in them."""
        self.fixed = fixed
        self.mobile = mobile
        self.length = min(len(fixed), len(mobile))
        self.scale = find_scale(self.length * step)
        self.wide = self.scale + 0.8

    def run(self, known: Sequence[Pairs]) -> StructuralAlignment:
        starts = [*self._thread(), *self._superpose_fragments()]
        starts = [*(self._fit(pairs) for pairs in known), *self._superpose_secondary(), *self._choose(starts)]
        found = [self._pair(start, _GAP_PENALTIES[0]) for start in starts]
        found = [self._refine(each) for each in _sort(found)[:_REFINED]]
        return _sort([self._polish(each) for each in _sort(found)[:_POLISHED]])[0]

    def run_coarsely(self, known: Sequence[Pairs], step: int) -> StructuralAlignment:
        """The search over one of ``step`` residues, refined over all of them."""
        coarse = _Search(self.fixed[::step], self.mobile[::step], step).run([])
        shifted = [self._shift(coarse, step, shift) for shift in range(1 - step, step)]
        usable = [pairs for pairs in [*known, *shifted] if len(pairs[0]) >= 3]
        fits = [self._fit_closely(pairs, _QUICK_STARTS) for pairs in usable]
        best = sorted(fits, key=lambda fit: -fit.score)[:_POLISHED]
        found = [self._refine(self._pair((fit.rotation, fit.translation), _GAP_PENALTIES[0])) for fit in best]
        return self._polish(_sort(found)[0])

    def _shift(self, coarse: StructuralAlignment, step: int, shift: int) -> Pairs:
        """Pairs of one of ``step`` residues as pairs of all, the partners ``shift`` residues further on."""
        rows, mobile_rows = coarse.rows * step, coarse.mobile_rows * step + shift
        kept = (mobile_rows >= 0) & (mobile_rows < len(self.mobile))
        return rows[kept], mobile_rows[kept]

    def _fit(self, pairs: Pairs, starts: int = _QUICK_STARTS) -> Transform:
        found = self._fit_closely(pairs, starts)
        return found.rotation, found.translation

    def _fit_closely(self, pairs: Pairs, starts: int) -> TmFit:
        rows, mobile_rows = pairs
        shortest = 0 if starts == _FULL_STARTS else len(rows) // 4
        return find_tm_fit(
            self.mobile[mobile_rows], self.fixed[rows], self.length, starts=starts, shortest=shortest
        )

    def _pair(self, start: Transform, gap_penalty: float) -> StructuralAlignment:
        """The best pairs under a superposition, with that superposition's own score."""
        moved = self.mobile @ start[0].T + start[1]
        rows, mobile_rows = _pair_points(self.fixed, moved, self.wide, gap_penalty)
        squares = np.sum((self.fixed[rows] - moved[mobile_rows]) ** 2, axis=1)
        score = float(np.sum(1 / (1 + squares / self.wide**2))) / self.length
        return StructuralAlignment(rows, mobile_rows, TmFit(score, *start))

    def _refine(self, start: StructuralAlignment) -> StructuralAlignment:
        """Pair and superpose in turn until the pairs stay."""
        best: StructuralAlignment | None = None
        for gap_penalty in _GAP_PENALTIES:
            pairs = (start.rows, start.mobile_rows) if best is None else (best.rows, best.mobile_rows)
            for _ in range(_MOST_ROUNDS):
                found = StructuralAlignment(*pairs, self._fit_closely(pairs, _QUICK_STARTS))
                if best is None or found.fit.score > best.fit.score:
                    best = found
                paired = self._pair((found.fit.rotation, found.fit.translation), gap_penalty)
                last, pairs = pairs, (paired.rows, paired.mobile_rows)
                if np.array_equal(pairs[0], last[0]) and np.array_equal(pairs[1], last[1]):
                    break
        assert best is not None
        return best

    def _polish(self, found: StructuralAlignment) -> StructuralAlignment:
        """The same pairs without those that are far apart, superposed with the full search."""
        fit = self._fit_closely((found.rows, found.mobile_rows), _FULL_STARTS)
        moved = self.mobile @ fit.rotation.T + fit.translation
        far = np.linalg.norm(moved[found.mobile_rows] - self.fixed[found.rows], axis=1)
        near = far <= max(_find_limit(self.length), float(np.sort(far)[min(2, len(far) - 1)]))
        return StructuralAlignment(found.rows[near], found.mobile_rows[near], fit)

    def _choose(self, starts: Sequence[Transform]) -> list[Transform]:
        """The starts under which most residues come to lie near some residue of the other chain."""
        some = self.fixed[:: max(1, len(self.fixed) // 100)]
        rotations, translations = (np.array(each) for each in zip(*starts, strict=True))
        scores = []
        batch = max(1, _BATCH // (len(some) * len(self.mobile)))
        for first in range(0, len(starts), batch):
            own = slice(first, first + batch)
            moved = self.mobile @ np.swapaxes(rotations[own], 1, 2) + translations[own, None, :]
            nearest = np.array([_measure_squares(some, each).min(axis=1) for each in moved])
            scores += list(np.sum(1 / (1 + nearest / self.scale**2), axis=1))
        return [starts[i] for i in np.argsort(scores)[::-1][:_PAIRED]]

    def _superpose_secondary(self) -> list[Transform]:
        letters, others = assign_secondary(self.fixed), assign_secondary(self.mobile)
        pairs = pair_in_order(
            (letters[:, None] == others[None, :]).astype(np.float64), _SECONDARY_GAP_PENALTY
        )
        return [self._fit(pairs)] if len(pairs[0]) >= 3 else []

    def _thread(self) -> list[Transform]:
        """Superpositions of the chains at all offsets without a gap, fitted once more to what is near."""
        n, m = len(self.fixed), len(self.mobile)
        least = max(3, self.length // 2)
        found = []
        for offset in range(least - m, n - least + 1, max(1, (n + m) // _MOST_OFFSETS)):
            first, last = max(0, offset), min(n, m + offset)
            targets, points = self.fixed[first:last], self.mobile[first - offset : last - offset]
            transform = fit(points, targets)
            squares = np.sum((points @ transform[0].T + transform[1] - targets) ** 2, axis=1)
            near = squares <= max(8.0**2, float(np.partition(squares, 2)[2]))
            found.append(fit(points[near], targets[near]))
        return found

    def _superpose_fragments(self) -> list[Transform]:
        """Superpositions of one chain's fragments on the other's, as far as they are alike."""
        size = min(_FRAGMENT, max(3, self.length // 2))
        pieces, others = _cut(self.fixed, size), _cut(self.mobile, size)
        middles, other_middles = pieces.mean(axis=1), others.mean(axis=1)
        pieces, others = pieces - middles[:, None], others - other_middles[:, None]
        covariances = np.einsum("bwi,awj->abij", others, pieces).reshape(-1, 3, 3)
        rotations = find_rotations(covariances).reshape(len(pieces), len(others), 3, 3)
        traces = np.einsum("abij,abji->ab", rotations, covariances.reshape(rotations.shape))
        norms = np.sum(pieces**2, axis=(1, 2))[:, None] + np.sum(others**2, axis=(1, 2))[None]
        squares = np.maximum(norms - 2 * traces, 0) / size
        order = np.argsort(squares, axis=None)[:_MOST_FRAGMENT_FITS]
        rows, columns = np.unravel_index(order, squares.shape)
        return [
            (rotations[a, b], middles[a] - rotations[a, b] @ other_middles[b])
            for a, b in zip(rows, columns, strict=True)
        ]


def _sort(found: Iterable[StructuralAlignment]) -> list[StructuralAlignment]:
    return sorted(found, key=lambda each: -each.fit.score)


def _measure_squares(fixed: Floats, moved: Floats) -> Floats:
    norms = np.sum(fixed**2, axis=1)[:, None] + np.sum(moved**2, axis=1)[None]
    return np.asarray(np.maximum(norms - 2 * fixed @ moved.T, 0))


def _find_limit(length: int) -> float:
    """TM-align's limit d8 (Å) of the distance of a pair, for a protein of ``length`` residues."""
    return 1.5 * float(length**0.3) + 3.5


def _cut(trace: Floats, size: int) -> Floats:
    """Fragments of a chain, evenly spaced, shape (f, size, 3)."""
    count = len(trace) - size + 1
    starts = np.unique(np.linspace(0, count - 1, min(count, _FRAGMENT_STARTS)).astype(int))
    return trace[starts[:, None] + np.arange(size)]
