"""Which residues of two chains correspond: by residue number where both share a numbering, else by sequence.

Chains that neither numbers nor sequences relate are not paired. An alignment of two proteins must score as
well as at most one of a thousand pairs of unrelated sequences does, by the statistics of Karlin and Altschul,
Proc. Natl. Acad. Sci. USA 87, 2264 (1990), with blastp's parameters for BLOSUM62 and gap costs of 11 and 1.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise, product
from typing import Literal

import gemmi

from foldnote.results.comparison.antibody_schemes import find_numbered_domain, share_numbering
from foldnote.results.comparison.traces import CentralAtoms

Method = Literal["residue numbers", "sequence", "structure"]

_FEWEST = 3
_CHANCE = {"protein": 0.06, "nucleic": 0.25}
"""Share of equal residues in an arbitrary pairing without gaps."""
_NUCLEIC_IDENTITY = 0.6
_LAMBDA, _K = 0.267, 0.041
_MOST_EXPECTED = 1e-3
_GAP_OPEN, _GAP_EXTEND = 11, 1
_TOLERANCE = 0.05
_BACKBONE_SHARE = 0.9


@dataclass(frozen=True, eq=False)
class PairedSegment:
    """Pairs of residues that were found in one way.

    Attributes:
        rows: places in the fixed chain, ascending.
        mobile_rows: places of their partners, ascending.
        method: how they were found.
    """

    rows: list[int]
    mobile_rows: list[int]
    method: Method


@dataclass(frozen=True, eq=False)
class Pairing:
    """A chain with its partner and the residues that correspond."""

    fixed: CentralAtoms
    mobile: CentralAtoms
    stretches: tuple[PairedSegment, ...]

    @property
    def rows(self) -> list[int]:
        """Places in the fixed chain, ascending."""
        return [row for stretch in self.stretches for row in stretch.rows]

    @property
    def mobile_rows(self) -> list[int]:
        """Places of their partners, ascending."""
        return [row for stretch in self.stretches for row in stretch.mobile_rows]

    @property
    def equal(self) -> int:
        """Number of pairs with the same residue."""
        pairs = zip(self.rows, self.mobile_rows, strict=True)
        return sum(self.fixed.letters[i] == self.mobile.letters[j] for i, j in pairs)


PairChains = Callable[[CentralAtoms, CentralAtoms], Pairing | None]


def pair_chains(fixed: CentralAtoms, mobile: CentralAtoms) -> Pairing | None:
    """Pairs by residue number where the chains share a numbering, else by sequence; None if unrelated.

    A variable domain of an antibody is paired by number where both are numbered by one scheme. What follows
    it, like any other chain, is where equal numbers pair residues as alike as aligning the sequences does.
    """
    domain, other = find_numbered_domain(fixed), find_numbered_domain(mobile)
    if domain is None or other is None or not share_numbering(domain, other):
        return _pair_alike(fixed, mobile)
    variable = pair_by_number(fixed.cut(0, domain.length), mobile.cut(0, other.length))
    rest = _pair_alike(
        fixed.cut(domain.length, len(fixed)), mobile.cut(other.length, len(mobile)), is_part=True
    )
    parts = [(variable, 0, 0), (rest, domain.length, other.length)]
    stretches = tuple(
        PairedSegment([i + a for i in one.rows], [j + b for j in one.mobile_rows], one.method)
        for part, a, b in parts
        if part is not None
        for one in part.stretches
    )
    return Pairing(fixed, mobile, stretches) if stretches else None


def pair_by_number(fixed: CentralAtoms, mobile: CentralAtoms) -> Pairing | None:
    """Pairs of equal residue number and insertion code; None if fewer than three, or numbers repeat."""
    if fixed.kind != mobile.kind:
        return None
    places = {number: place for place, number in enumerate(mobile.numbers)}
    if len(places) < len(mobile) or len(set(fixed.numbers)) < len(fixed):
        return None
    pairs = [(i, places[number]) for i, number in enumerate(fixed.numbers) if number in places]
    if len(pairs) < _FEWEST or any(b[1] < a[1] for a, b in pairwise(pairs)):
        return None
    return _make(fixed, mobile, pairs, "residue numbers")


def pair_by_sequence(fixed: CentralAtoms, mobile: CentralAtoms) -> Pairing | None:
    """Pairs of an alignment of the sequences; None unless they are similar beyond doubt."""
    pairing = _align(fixed, mobile)
    return pairing if pairing is not None and _is_similar_sequence(pairing) else None


def _pair_alike(fixed: CentralAtoms, mobile: CentralAtoms, *, is_part: bool = False) -> Pairing | None:
    by_number = pair_by_number(fixed, mobile)
    if by_number is not None and not is_part and _has_backbone_alone(fixed, mobile):
        return by_number
    aligned = _align(fixed, mobile)
    if by_number is not None and _is_beyond_chance(by_number):
        different = 0 if aligned is None else len(aligned.rows) - aligned.equal
        best = 0 if aligned is None else aligned.equal
        if by_number.equal >= best - 1 - _TOLERANCE * different:
            return by_number
    return aligned if aligned is not None and _is_similar_sequence(aligned) else None


def _make(fixed: CentralAtoms, mobile: CentralAtoms, pairs: list[tuple[int, int]], method: Method) -> Pairing:
    return Pairing(fixed, mobile, (PairedSegment([i for i, _ in pairs], [j for _, j in pairs], method),))


def _has_backbone_alone(fixed: CentralAtoms, mobile: CentralAtoms) -> bool:
    """Whether two chains are numbered alike and one is a designed backbone without a sequence yet."""
    shares = (max(map(trace.letters.count, "AGX")) / len(trace) for trace in (fixed, mobile))
    return fixed.numbers == mobile.numbers and max(shares) >= _BACKBONE_SHARE


def _is_beyond_chance(pairing: Pairing) -> bool:
    """Whether more pairs are equal than chance has it, by four standard deviations."""
    count, share = len(pairing.rows), _CHANCE[pairing.fixed.kind]
    return pairing.equal > share * count + 4 * math.sqrt(share * (1 - share) * count)


def _is_similar_sequence(pairing: Pairing) -> bool:
    if len(pairing.rows) < _FEWEST:
        return False
    if pairing.fixed.kind == "nucleic":
        return pairing.equal >= _NUCLEIC_IDENTITY * min(len(pairing.fixed), len(pairing.mobile))
    sizes = math.log(_K * len(pairing.fixed) * len(pairing.mobile))
    return sizes - _LAMBDA * _score_best_segment(pairing) <= math.log(_MOST_EXPECTED)


def _score_best_segment(pairing: Pairing) -> int:
    """BLOSUM62 score of the part of an alignment that scores best, gaps between its pairs counted."""
    matrix = _read_blosum()
    best = score = 0
    last = None
    for i, j in zip(pairing.rows, pairing.mobile_rows, strict=True):
        if last is not None and (gap := (i - last[0] - 1) + (j - last[1] - 1)):
            score = max(0, score - _GAP_OPEN - _GAP_EXTEND * gap)
        score = max(0, score + matrix[pairing.fixed.letters[i], pairing.mobile.letters[j]])
        best, last = max(best, score), (i, j)
    return best


@cache
def _read_blosum() -> dict[tuple[str, str], int]:
    """BLOSUM62 of gemmi by one-letter codes; 0 for residues that it does not have."""
    scoring = gemmi.AlignmentScoring("b")
    known = "ARNDCQEGHILKMFPSTWYV"
    matrix: dict[tuple[str, str], int] = defaultdict(int)
    for a, b in product(known, known):
        matrix[a, b] = gemmi.align_string_sequences(_name_residues(a), _name_residues(b), [], scoring).score
    return matrix


def _align(fixed: CentralAtoms, mobile: CentralAtoms) -> Pairing | None:
    """The best global alignment: BLOSUM62 and affine gaps for proteins, identity for nucleic acids."""
    if fixed.kind != mobile.kind or not len(fixed) or not len(mobile):
        return None
    if fixed.letters == mobile.letters:
        return _make(fixed, mobile, [(i, i) for i in range(len(fixed))], "sequence")
    if fixed.kind == "protein":
        # gemmi's matrix has three-letter names; one-letter codes would be scored as unknown residues.
        names, others = _name_residues(fixed.letters), _name_residues(mobile.letters)
        scoring = gemmi.AlignmentScoring("b")
        scoring.gapo, scoring.gape = -_GAP_OPEN, -_GAP_EXTEND
    else:
        names, others = list(fixed.letters), list(mobile.letters)
        scoring = gemmi.AlignmentScoring()
    aligned = gemmi.align_string_sequences(names, others, [], scoring)
    above, below = aligned.add_gaps(fixed.letters, 1), aligned.add_gaps(mobile.letters, 2)
    pairs = []
    i = j = 0
    for upper, lower in zip(above, below, strict=True):
        if upper != "-" and lower != "-":
            pairs.append((i, j))
        i += upper != "-"
        j += lower != "-"
    return _make(fixed, mobile, pairs, "sequence")


def _name_residues(letters: str) -> list[str]:
    return gemmi.expand_one_letter_sequence(letters.replace("J", "X"), gemmi.ResidueKind.AA)
