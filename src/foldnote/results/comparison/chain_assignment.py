"""Which chain of one structure is superposed on which chain of another."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from foldnote.results.comparison.fitting import TmFit, find_tm_fit, fit, measure_rmsd
from foldnote.results.comparison.pairing import (
    PairChains,
    PairedSegment,
    Pairing,
    pair_by_sequence,
    pair_chains,
)
from foldnote.results.comparison.structural_alignment import align_traces, pair_superposed
from foldnote.results.comparison.traces import CentralAtoms
from foldnote.results.core.numeric import Floats

_MOST_TRIALS = 120
_MOST_ALIGNED = 12
_MOST_SEEDS = 3
_MOST_ROUNDS = 5
_COPY_IDENTITY = 0.9
_SAME_RMSD_A = 0.1
_NEAR_A = 10.0
"""Distance at which the middles of two superposed chains count as half as near as at none."""
_LARGEST_PRODUCT = 100_000
_LEAST_SHARE = 0.25
"""A chain is left alone where the mean term of the TM-score, over the shorter chain, is below this."""


def assign_chains(
    fixed: Sequence[CentralAtoms], mobile: Sequence[CentralAtoms], pair: PairChains
) -> list[Pairing]:
    """One partner for each chain that has one: the most similar, and among copies those that fit best.

    Args:
        fixed: chains of the fixed structure.
        mobile: chains of the other.
        pair: pairs the residues of two chains, or finds them unrelated.
    """
    matched = _match_groups(_group(fixed), _group(mobile), pair)
    candidates = [pairing for pairings in matched for pairing in pairings]
    chosen: Sequence[Pairing] = candidates
    if any(len(pairings) > 1 for pairings in matched):
        chosen = _choose_trial([_choose_copies(candidates, seed) for seed in candidates[:_MOST_TRIALS]])
    return sorted(chosen, key=lambda pairing: list(fixed).index(pairing.fixed))


def assign_chains_by_structure(
    fixed: Sequence[CentralAtoms], mobile: Sequence[CentralAtoms]
) -> list[Pairing]:
    """Protein chains paired by structural alignment; of complexes under one superposition of all chains.

    The superposition of a complex starts from the alignments of single chains and from that of all chains as
    one in the order of the files.
    """
    ours = [trace for trace in fixed if trace.kind == "protein" and len(trace) >= 3]
    theirs = [trace for trace in mobile if trace.kind == "protein" and len(trace) >= 3]
    if not ours or not theirs:
        return []
    if len(ours) == len(theirs) == 1:
        known = pair_chains(ours[0], theirs[0]) or Pairing(ours[0], theirs[0], ())
        return [_make(ours[0], theirs[0], *_align(known)[:2])]
    length = min(sum(map(len, ours)), sum(map(len, theirs)))
    aligned = [(known, *_align(known)) for known in _choose_seeds(_take_first(ours), _take_first(theirs))]
    aligned.sort(key=lambda each: -each[3].score)
    seeds = [each[3] for each in aligned[:_MOST_SEEDS]]
    seeds += _superpose_copies(ours, theirs, [_make(k.fixed, k.mobile, *rows) for k, *rows, _ in aligned])
    if sum(map(len, ours)) * sum(map(len, theirs)) <= _LARGEST_PRODUCT:
        everything = (np.concatenate([trace.points for trace in traces]) for traces in (ours, theirs))
        seeds.append(align_traces(*everything).fit)
    trials = [_grow(ours, theirs, seed, length) for seed in seeds]
    return max((trial for trial in trials if trial), key=lambda trial: _fit(trial, length).score, default=[])


def _superpose_copies(
    ours: Sequence[CentralAtoms], theirs: Sequence[CentralAtoms], aligned: Sequence[Pairing]
) -> list[TmFit]:
    """Superpositions by other copies of aligned chains: the few that bring most chains near to another."""
    seeds: list[TmFit] = []
    for found in aligned:
        for a, b in _list_copies(ours, theirs, found):
            if (a, b) != (found.fixed, found.mobile) and len(seeds) < _MOST_TRIALS:
                points, targets = b.points[found.mobile_rows], a.points[found.rows]
                seeds.append(find_tm_fit(points, targets, min(len(a), len(b)), starts=4, shortest=20))
    middles, others = (np.array([trace.points.mean(axis=0) for trace in traces]) for traces in (ours, theirs))

    def count_near(seed: TmFit) -> float:
        moved = others @ seed.rotation.T + seed.translation
        squares = np.sum((middles[:, None] - moved[None]) ** 2, axis=2)
        return float(np.sum(1 / (1 + squares.min(axis=int(len(middles) < len(others))) / _NEAR_A**2)))

    return sorted(seeds, key=lambda seed: -count_near(seed))[:_MOST_SEEDS]


def _list_copies(
    ours: Sequence[CentralAtoms], theirs: Sequence[CentralAtoms], found: Pairing
) -> list[tuple[CentralAtoms, CentralAtoms]]:
    """The aligned chain of the structure with fewer copies beside every copy of the other."""
    own = [trace for trace in ours if trace.letters == found.fixed.letters]
    other = [trace for trace in theirs if trace.letters == found.mobile.letters]
    if len(own) < len(other):
        return [(found.fixed, trace) for trace in other]
    return [(trace, found.mobile) for trace in own]


def gather(pairings: Sequence[Pairing]) -> tuple[Floats, Floats]:
    """The paired points of the fixed and of the mobile structure, both of shape (n, 3), Å."""
    return (
        np.concatenate([np.empty((0, 3)), *(p.fixed.points[p.rows] for p in pairings)]),
        np.concatenate([np.empty((0, 3)), *(p.mobile.points[p.mobile_rows] for p in pairings)]),
    )


def _group(traces: Sequence[CentralAtoms]) -> list[list[CentralAtoms]]:
    """Chains by sequence; copies of one sequence may lack different residues."""
    groups: list[list[CentralAtoms]] = []
    for trace in traces:
        group = next((group for group in groups if _is_copy(trace, group[0])), None)
        if group is None:
            groups.append([trace])
        else:
            group.append(trace)
    return groups


def _is_copy(first: CentralAtoms, second: CentralAtoms) -> bool:
    if first.kind != second.kind or first.letters == second.letters:
        return first.kind == second.kind
    pairing = pair_by_sequence(first, second)
    return pairing is not None and pairing.equal >= _COPY_IDENTITY * max(len(first), len(second))


def _take_first(traces: Sequence[CentralAtoms]) -> list[CentralAtoms]:
    """The first of each group of equal chains."""
    return [members[0] for members in _group(traces)]


def _match_groups(
    ours: Sequence[Sequence[CentralAtoms]], theirs: Sequence[Sequence[CentralAtoms]], pair: PairChains
) -> list[list[Pairing]]:
    """For each group and its most similar partner, the pairings of all chains of the one with the other's."""
    firsts = [found for a in ours for b in theirs if (found := pair(a[0], b[0])) is not None]
    firsts.sort(key=lambda p: (p.equal, p.fixed.chain == p.mobile.chain), reverse=True)
    ours_by_first = {id(group[0]): group for group in ours}
    theirs_by_first = {id(group[0]): group for group in theirs}
    return [
        [
            found
            for a in ours_by_first[id(first.fixed)]
            for b in theirs_by_first[id(first.mobile)]
            if (found := pair(a, b)) is not None
        ]
        for first in _keep_disjoint(firsts)
    ]


def _choose_copies(candidates: Sequence[Pairing], seed: Pairing) -> list[Pairing]:
    """Of the pairings of copies those that are nearest when the chains of one are superposed."""
    targets, points = gather([seed])
    rotation, translation = fit(points, targets)

    def measure(pairing: Pairing) -> float:
        own_targets, own_points = gather([pairing])
        return float(np.mean(np.sum((own_points @ rotation.T + translation - own_targets) ** 2, axis=1)))

    return _keep_disjoint(sorted(candidates, key=measure))


def _keep_disjoint(pairings: Sequence[Pairing]) -> list[Pairing]:
    """The pairings in order whose chains no earlier one has."""
    found: list[Pairing] = []
    for pairing in pairings:
        if all(one.fixed is not pairing.fixed and one.mobile is not pairing.mobile for one in found):
            found.append(pairing)
    return found


def _choose_trial(trials: Sequence[Sequence[Pairing]]) -> Sequence[Pairing]:
    """The pairings of least RMSD; of those that are as good, the one that pairs chains of the same name."""
    rmsds = [measure_rmsd(*reversed(gather(trial))) for trial in trials]
    good = [i for i, rmsd in enumerate(rmsds) if rmsd <= min(rmsds) + _SAME_RMSD_A]
    names = [sum(p.fixed.chain == p.mobile.chain for p in trial) for trial in trials]
    return trials[max(good, key=lambda i: (names[i], -rmsds[i]))]


def _choose_seeds(ours: Sequence[CentralAtoms], theirs: Sequence[CentralAtoms]) -> list[Pairing]:
    """Pairs of chains to align: the most similar ones where some are related; else all, the longest first."""
    related = [found for a, b in product(ours, theirs) if (found := pair_chains(a, b)) is not None]
    if related:
        return _keep_disjoint(sorted(related, key=lambda pairing: -pairing.equal))[:_MOST_ALIGNED]
    every = [Pairing(a, b, ()) for a, b in product(ours, theirs)]
    return sorted(every, key=lambda p: -min(len(p.fixed), len(p.mobile)))[:_MOST_ALIGNED]


def _align(known: Pairing) -> tuple[list[int], list[int], TmFit]:
    """The structural alignment of two chains, which starts from what is known besides."""
    pairs = (np.array(known.rows, dtype=np.intp), np.array(known.mobile_rows, dtype=np.intp))
    found = align_traces(known.fixed.points, known.mobile.points, [pairs])
    return found.rows.tolist(), found.mobile_rows.tolist(), found.fit


def _make(fixed: CentralAtoms, mobile: CentralAtoms, rows: list[int], mobile_rows: list[int]) -> Pairing:
    return Pairing(fixed, mobile, (PairedSegment(rows, mobile_rows, "structure"),))


def _fit(pairings: Sequence[Pairing], length: int) -> TmFit:
    targets, points = gather(pairings)
    return find_tm_fit(points, targets, length, starts=8)


def _grow(
    ours: Sequence[CentralAtoms], theirs: Sequence[CentralAtoms], start: TmFit, length: int
) -> list[Pairing]:
    """The chains that fit under a superposition, then under that of all of them, as long as it improves."""
    best: list[Pairing] = []
    best_score = 0.0
    for _ in range(_MOST_ROUNDS):
        grown = _pair_under(ours, theirs, start, length)
        if not grown:
            break
        start = _fit(grown, length)
        if start.score <= best_score:
            break
        best, best_score = grown, start.score
    return best


def _pair_under(
    ours: Sequence[CentralAtoms], theirs: Sequence[CentralAtoms], start: TmFit, length: int
) -> list[Pairing]:
    """Each chain with the one that lies best on it under a superposition, as far as enough does."""
    tried = []
    placed = [(b, b.points @ start.rotation.T + start.translation) for b in theirs]
    for a, (b, moved) in product(ours, placed):
        if not _can_touch(a.points, moved):
            continue
        rows, mobile_rows, total = pair_superposed(a.points, moved, length)
        if len(rows) >= 3 and total >= _LEAST_SHARE * min(len(a), len(b)):
            tried.append((total, _make(a, b, rows.tolist(), mobile_rows.tolist())))
    tried.sort(key=lambda each: -each[0])
    return _keep_disjoint([pairing for _, pairing in tried])


def _can_touch(points: Floats, others: Floats) -> bool:
    """Whether the spheres around two chains overlap or nearly do."""
    middle, other = points.mean(axis=0), others.mean(axis=0)
    reach = np.linalg.norm(points - middle, axis=1).max() + np.linalg.norm(others - other, axis=1).max()
    return bool(np.linalg.norm(middle - other) <= reach + _NEAR_A)
