"""Find the order in which the chains of one structure match those of another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial import cKDTree
from structures import TracedResidue, find_points, make_array
from tm_search import GAP_PENALTIES, Motion, TraceSearch, find_scale, start_by_alphabets

Chains = list[list[TracedResidue]]
MAX_PAIRS = 36
"""Maximum pairs of chains to superpose; larger complexes use only the chains with the most residues."""
TRIED = 4


def order_chains(fixed: Chains, mobile: Chains) -> tuple[Chains, list[Motion]]:
    """Return the mobile chains in the best matching order, and the superpositions that support it.

    Chains are superposed one by one; each superposition shows which chains coincide. The order of the file is
    tried as well.
    """
    if len(mobile) == 1:
        return mobile, []
    most = int(MAX_PAIRS**0.5)
    motions = [
        motion
        for ours in sorted(fixed, key=len, reverse=True)[:most]
        for theirs in sorted(mobile, key=len, reverse=True)[:most]
        for motion in superpose_chains(ours, theirs)
    ]
    matched = [match_chains(fixed, mobile, motion) for motion in motions]
    matched.sort(key=lambda each: -each[0])
    tried: dict[tuple[int, ...], list[Motion]] = {tuple(range(len(mobile))): []}
    for _, order, motion in matched:
        if order in tried or len(tried) <= TRIED:
            tried.setdefault(order, []).append(motion)
    best = max(tried, key=lambda order: score_order(fixed, [mobile[place] for place in order], tried[order]))
    return [mobile[place] for place in best], tried[best][:TRIED]


def superpose_chains(ours: list[TracedResidue], theirs: list[TracedResidue]) -> list[Motion]:
    """Superpose two chains with biotite or, for Cα atoms alone, with our own search."""
    found = start_by_alphabets(make_array([ours]), make_array([theirs]))[:1]
    return found or [TraceSearch(find_points(ours), find_points(theirs)).run([]).motion]


def match_chains(fixed: Chains, mobile: Chains, motion: Motion) -> tuple[float, tuple[int, ...], Motion]:
    """Return how well the chains coincide, and the order in which the mobile ones do."""
    scale = find_scale(min(sum(map(len, fixed)), sum(map(len, mobile))))
    trees = [cKDTree(find_points(chain)) for chain in fixed]
    moved = [motion.move(find_points(chain)) for chain in mobile]
    terms = np.array(
        [[np.sum(1 / (1 + (tree.query(points)[0] / scale) ** 2)) for points in moved] for tree in trees]
    )
    rows, columns = linear_sum_assignment(-terms)
    rest = [place for place in range(len(mobile)) if place not in columns]
    return float(terms[rows, columns].sum()), (*map(int, columns), *rest), motion


def score_order(fixed: Chains, mobile: Chains, motions: Sequence[Motion]) -> float:
    """Return the TM-score that an order reaches in a short search."""
    points = [find_points([residue for chain in chains for residue in chain]) for chains in (fixed, mobile)]
    search = TraceSearch(points[0], points[1])
    starts = [*motions[:2], *start_by_alphabets(make_array(fixed), make_array(mobile))[:1]]
    paired = (search.pair(start, GAP_PENALTIES[0]) for start in starts)
    return max((search.refine(each).score for each in paired), default=0.0)
