"""Decide which chain of one structure is superposed on which chain of another."""

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

_MAX_TRIALS = 120
_MAX_ALIGNED = 12
_MAX_SEEDS = 3
_MAX_ROUNDS = 5
_COPY_IDENTITY = 0.9
_SAME_RMSD_A = 0.1
_HALF_DISTANCE_A = 10.0
"""Distance between the centroids of two superposed chains at which their proximity score is one half."""
_MAX_JOINED_SIZE = 100_000
_MIN_SHARE = 0.25
"""Chains are not paired if the mean TM-score term over the shorter chain is below this."""


def assign_chains(
    fixed: Sequence[CentralAtoms], mobile: Sequence[CentralAtoms], pair: PairChains
) -> list[Pairing]:
    """Pair each chain with the most similar one; among identical copies, choose those that fit best.

    Args:
        fixed: chains of the fixed structure.
        mobile: chains of the mobile structure.
        pair: pairs the residues of two chains; returns None if they are unrelated.

    Returns:
        Pairings in the order of ``fixed``; unrelated chains are left out.
    """
    matched = _match_groups(_group_copies(fixed), _group_copies(mobile), pair)
    candidates = [pairing for pairings in matched for pairing in pairings]
    assigned: Sequence[Pairing] = candidates
    if any(len(pairings) > 1 for pairings in matched):
        assigned = _choose_trial([_choose_copies(candidates, seed) for seed in candidates[:_MAX_TRIALS]])
    return sorted(assigned, key=lambda pairing: list(fixed).index(pairing.fixed))


def assign_chains_by_structure(
    fixed: Sequence[CentralAtoms], mobile: Sequence[CentralAtoms]
) -> list[Pairing]:
    """Pair protein chains by structural alignment, those of a complex under one common superposition.

    The superposition of a complex is searched for from the alignments of single chains and from the alignment
    of all chains, joined in file order.

    Returns:
        The pairings with the highest TM-score; empty if either structure has no protein of three residues.
    """
    fixed = [trace for trace in fixed if trace.kind == "protein" and len(trace) >= 3]
    mobile = [trace for trace in mobile if trace.kind == "protein" and len(trace) >= 3]
    if not fixed or not mobile:
        return []
    if len(fixed) == len(mobile) == 1:
        by_sequence = pair_chains(fixed[0], mobile[0]) or Pairing(fixed[0], mobile[0], ())
        return [_make_pairing(fixed[0], mobile[0], *_align(by_sequence)[:2])]
    length = min(sum(map(len, fixed)), sum(map(len, mobile)))
    aligned = [
        (by_sequence, *_align(by_sequence))
        for by_sequence in _choose_seeds(_take_representatives(fixed), _take_representatives(mobile))
    ]
    aligned.sort(key=lambda each: -each[3].score)
    seeds = [each[3] for each in aligned[:_MAX_SEEDS]]
    seeds += _superpose_copies(
        fixed, mobile, [_make_pairing(k.fixed, k.mobile, *rows) for k, *rows, _ in aligned]
    )
    if sum(map(len, fixed)) * sum(map(len, mobile)) <= _MAX_JOINED_SIZE:
        everything = (np.concatenate([trace.points for trace in traces]) for traces in (fixed, mobile))
        seeds.append(align_traces(*everything).fit)
    trials = [_grow(fixed, mobile, seed, length) for seed in seeds]
    return max((trial for trial in trials if trial), key=lambda trial: _fit(trial, length).score, default=[])


def _superpose_copies(
    fixed: Sequence[CentralAtoms], mobile: Sequence[CentralAtoms], aligned: Sequence[Pairing]
) -> list[TmFit]:
    """Superpose other copies of the aligned chains; return those that bring the most chains together."""
    seeds: list[TmFit] = []
    for pairing in aligned:
        for a, b in _list_copies(fixed, mobile, pairing):
            if (a, b) != (pairing.fixed, pairing.mobile) and len(seeds) < _MAX_TRIALS:
                points, targets = b.points[pairing.mobile_rows], a.points[pairing.rows]
                seeds.append(find_tm_fit(points, targets, min(len(a), len(b)), starts=4, shortest=20))
    centroids, others = (
        np.array([trace.points.mean(axis=0) for trace in traces]) for traces in (fixed, mobile)
    )

    def score_proximity(seed: TmFit) -> float:
        moved = others @ seed.rotation.T + seed.translation
        squares = np.sum((centroids[:, None] - moved[None]) ** 2, axis=2)
        return float(
            np.sum(1 / (1 + squares.min(axis=int(len(centroids) < len(others))) / _HALF_DISTANCE_A**2))
        )

    return sorted(seeds, key=lambda seed: -score_proximity(seed))[:_MAX_SEEDS]


def _list_copies(
    fixed: Sequence[CentralAtoms], mobile: Sequence[CentralAtoms], pairing: Pairing
) -> list[tuple[CentralAtoms, CentralAtoms]]:
    """Pair the aligned chain of the structure with fewer copies with every copy in the other one."""
    fixed_copies = [trace for trace in fixed if trace.letters == pairing.fixed.letters]
    mobile_copies = [trace for trace in mobile if trace.letters == pairing.mobile.letters]
    if len(fixed_copies) < len(mobile_copies):
        return [(pairing.fixed, trace) for trace in mobile_copies]
    return [(trace, pairing.mobile) for trace in fixed_copies]


def gather(pairings: Sequence[Pairing]) -> tuple[Floats, Floats]:
    """Concatenate the paired points of the fixed and of the mobile structure, each of shape (n, 3), Å."""
    return (
        np.concatenate([np.empty((0, 3)), *(p.fixed.points[p.rows] for p in pairings)]),
        np.concatenate([np.empty((0, 3)), *(p.mobile.points[p.mobile_rows] for p in pairings)]),
    )


def _group_copies(traces: Sequence[CentralAtoms]) -> list[list[CentralAtoms]]:
    """Group chains by sequence; copies may lack different residues."""
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


def _take_representatives(traces: Sequence[CentralAtoms]) -> list[CentralAtoms]:
    """Return the first chain of each group of copies."""
    return [members[0] for members in _group_copies(traces)]


def _match_groups(
    fixed: Sequence[Sequence[CentralAtoms]], mobile: Sequence[Sequence[CentralAtoms]], pair: PairChains
) -> list[list[Pairing]]:
    """Match each group with the most similar one; return the pairings of all their chains, per match.

    Copies that lack many different residues may form separate groups; remaining groups join the most similar
    match that has fewer chains on their side.
    """
    firsts = [pairing for a in fixed for b in mobile if (pairing := pair(a[0], b[0])) is not None]
    firsts.sort(key=lambda p: (p.equal, p.fixed.chain == p.mobile.chain), reverse=True)
    own = {id(group[0]): list(group) for group in fixed}
    others = {id(group[0]): list(group) for group in mobile}
    matches = [(own.pop(id(p.fixed)), others.pop(id(p.mobile))) for p in _keep_disjoint(firsts)]
    for first in firsts:
        for ours, theirs in matches:
            if first.mobile in theirs and len(ours) < len(theirs):
                ours += own.pop(id(first.fixed), [])
            if first.fixed in ours and len(theirs) < len(ours):
                theirs += others.pop(id(first.mobile), [])
    return [
        [pairing for a in ours for b in theirs if (pairing := pair(a, b)) is not None]
        for ours, theirs in matches
    ]


def _choose_copies(candidates: Sequence[Pairing], seed: Pairing) -> list[Pairing]:
    """Choose the pairings whose chains are closest when the chains of ``seed`` are superposed."""
    targets, points = gather([seed])
    rotation, translation = fit(points, targets)

    def measure(pairing: Pairing) -> float:
        own_targets, own_points = gather([pairing])
        return float(np.mean(np.sum((own_points @ rotation.T + translation - own_targets) ** 2, axis=1)))

    return _keep_disjoint(sorted(candidates, key=measure))


def _keep_disjoint(pairings: Sequence[Pairing]) -> list[Pairing]:
    """Keep the pairings whose chains do not occur in an earlier one."""
    disjoint: list[Pairing] = []
    for pairing in pairings:
        if all(kept.fixed is not pairing.fixed and kept.mobile is not pairing.mobile for kept in disjoint):
            disjoint.append(pairing)
    return disjoint


def _choose_trial(trials: Sequence[Sequence[Pairing]]) -> Sequence[Pairing]:
    """Choose the lowest RMSD; among equally good trials, the one with most chains of the same name paired."""
    rmsds = [measure_rmsd(*reversed(gather(trial))) for trial in trials]
    good = [i for i, rmsd in enumerate(rmsds) if rmsd <= min(rmsds) + _SAME_RMSD_A]
    names = [sum(p.fixed.chain == p.mobile.chain for p in trial) for trial in trials]
    return trials[max(good, key=lambda i: (names[i], -rmsds[i]))]


def _choose_seeds(fixed: Sequence[CentralAtoms], mobile: Sequence[CentralAtoms]) -> list[Pairing]:
    """Choose chains to align: the most similar ones if any are related, else all, longest first."""
    related = [candidate for a, b in product(fixed, mobile) if (candidate := pair_chains(a, b)) is not None]
    if related:
        return _keep_disjoint(sorted(related, key=lambda pairing: -pairing.equal))[:_MAX_ALIGNED]
    every = [Pairing(a, b, ()) for a, b in product(fixed, mobile)]
    return sorted(every, key=lambda p: -min(len(p.fixed), len(p.mobile)))[:_MAX_ALIGNED]


def _align(pairing: Pairing) -> tuple[list[int], list[int], TmFit]:
    """Align two chains by structure; the known pairs are one of the starting points."""
    pairs = (np.array(pairing.rows, dtype=np.intp), np.array(pairing.mobile_rows, dtype=np.intp))
    alignment = align_traces(pairing.fixed.points, pairing.mobile.points, [pairs])
    return alignment.rows.tolist(), alignment.mobile_rows.tolist(), alignment.fit


def _make_pairing(
    fixed: CentralAtoms, mobile: CentralAtoms, rows: list[int], mobile_rows: list[int]
) -> Pairing:
    return Pairing(fixed, mobile, (PairedSegment(rows, mobile_rows, "structure"),))


def _fit(pairings: Sequence[Pairing], length: int) -> TmFit:
    targets, points = gather(pairings)
    return find_tm_fit(points, targets, length, starts=8)


def _grow(
    fixed: Sequence[CentralAtoms], mobile: Sequence[CentralAtoms], start: TmFit, length: int
) -> list[Pairing]:
    """Pair chains under a superposition and superpose them again, as long as the TM-score improves."""
    best: list[Pairing] = []
    best_score = 0.0
    for _ in range(_MAX_ROUNDS):
        grown = _pair_under(fixed, mobile, start, length)
        if not grown:
            break
        start = _fit(grown, length)
        if start.score <= best_score:
            break
        best, best_score = grown, start.score
    return best


def _pair_under(
    fixed: Sequence[CentralAtoms], mobile: Sequence[CentralAtoms], start: TmFit, length: int
) -> list[Pairing]:
    """Pair each chain with the one that matches it best under a superposition, if they match well enough."""
    tried = []
    placed = [(b, b.points @ start.rotation.T + start.translation) for b in mobile]
    for a, (b, moved) in product(fixed, placed):
        if not _can_touch(a.points, moved):
            continue
        rows, mobile_rows, total = pair_superposed(a.points, moved, length)
        if len(rows) >= 3 and total >= _MIN_SHARE * min(len(a), len(b)):
            tried.append((total, _make_pairing(a, b, rows.tolist(), mobile_rows.tolist())))
    tried.sort(key=lambda trial: -trial[0])
    return _keep_disjoint([pairing for _, pairing in tried])


def _can_touch(points: Floats, others: Floats) -> bool:
    """Return whether the bounding spheres of two chains overlap or nearly overlap."""
    centroid, other = points.mean(axis=0), others.mean(axis=0)
    reach = np.linalg.norm(points - centroid, axis=1).max() + np.linalg.norm(others - other, axis=1).max()
    return bool(np.linalg.norm(centroid - other) <= reach + _HALF_DISTANCE_A)
