"""Pair the residues of two chains by residue number if they share a numbering, else by sequence alignment.

Chains related by neither are not paired. Two chains are considered related if the E-value of their alignment
is at most 0.001, by the statistics of Karlin and Altschul, Proc. Natl. Acad. Sci. USA 87, 2264 (1990): of
proteins with blastp's parameters for BLOSUM62 and gap costs of 11 and 1, of nucleic acids with blastn's for
scores of 2 and -3 and gap costs of 5 and 2, in which U counts as T. Equal sequences are always related.
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

_MIN_PAIRS = 3
_CHANCE = {"protein": 0.06, "nucleic": 0.25}
"""Expected share of identical residues in a random pairing without gaps."""
_LAMBDA_K = {"protein": (0.267, 0.041), "nucleic": (0.625, 0.41)}
_MAX_EXPECTED = 1e-3
_GAP_OPEN_EXTEND = {"protein": (11, 1), "nucleic": (5, 2)}
_MATCH, _MISMATCH = 2, -3
_TOLERANCE = 0.05
_BACKBONE_SHARE = 0.9


@dataclass(frozen=True, eq=False)
class PairedSegment:
    """Residues paired by one method.

    Attributes:
        rows: 0-based indices in the fixed chain, ascending.
        mobile_rows: indices of their partners in the mobile chain, ascending.
        method: how they were paired.
    """

    rows: list[int]
    mobile_rows: list[int]
    method: Method


@dataclass(frozen=True, eq=False)
class Pairing:
    """Two chains and their paired residues."""

    fixed: CentralAtoms
    mobile: CentralAtoms
    segments: tuple[PairedSegment, ...]

    @property
    def rows(self) -> list[int]:
        """Indices in the fixed chain, ascending."""
        return [row for segment in self.segments for row in segment.rows]

    @property
    def mobile_rows(self) -> list[int]:
        """Indices of their partners in the mobile chain, ascending."""
        return [row for segment in self.segments for row in segment.mobile_rows]

    @property
    def equal(self) -> int:
        """Number of pairs with identical residues."""
        pairs = zip(self.rows, self.mobile_rows, strict=True)
        return sum(self.fixed.letters[i] == self.mobile.letters[j] for i, j in pairs)


PairChains = Callable[[CentralAtoms, CentralAtoms], Pairing | None]


def pair_chains(fixed: CentralAtoms, mobile: CentralAtoms) -> Pairing | None:
    """Pair by residue number if the chains share a numbering, else by sequence; None if unrelated.

    Antibody variable domains are paired by number if both follow one scheme. Other chains, and the remainder
    of an antibody chain, are paired by number if that gives about as many identical residues as the sequence
    alignment.
    """
    domain, other = find_numbered_domain(fixed), find_numbered_domain(mobile)
    if domain is None or other is None or not share_numbering(domain, other):
        return _pair_by_evidence(fixed, mobile)
    variable = pair_by_number(fixed.cut(0, domain.length), mobile.cut(0, other.length))
    remainder = _pair_by_evidence(
        fixed.cut(domain.length, len(fixed)), mobile.cut(other.length, len(mobile)), is_part=True
    )
    parts = [(variable, 0, 0), (remainder, domain.length, other.length)]
    segments = tuple(
        PairedSegment([i + a for i in segment.rows], [j + b for j in segment.mobile_rows], segment.method)
        for part, a, b in parts
        if part is not None
        for segment in part.segments
    )
    return Pairing(fixed, mobile, segments) if segments else None


def pair_by_number(fixed: CentralAtoms, mobile: CentralAtoms) -> Pairing | None:
    """Pair residues with equal number and insertion code.

    None if there are fewer than three pairs, numbers repeat within a chain, or the order differs.
    """
    if fixed.kind != mobile.kind:
        return None
    indices = {number: index for index, number in enumerate(mobile.numbers)}
    if len(indices) < len(mobile) or len(set(fixed.numbers)) < len(fixed):
        return None
    pairs = [(i, indices[number]) for i, number in enumerate(fixed.numbers) if number in indices]
    if len(pairs) < _MIN_PAIRS or any(b[1] < a[1] for a, b in pairwise(pairs)):
        return None
    return _make_pairing(fixed, mobile, pairs, "residue numbers")


def pair_by_sequence(fixed: CentralAtoms, mobile: CentralAtoms) -> Pairing | None:
    """Pair residues by global sequence alignment; None unless the similarity is significant."""
    pairing = _align(fixed, mobile)
    return pairing if pairing is not None and _is_similar_sequence(pairing) else None


def _pair_by_evidence(fixed: CentralAtoms, mobile: CentralAtoms, *, is_part: bool = False) -> Pairing | None:
    by_number = pair_by_number(fixed, mobile)
    if by_number is not None and not is_part and _is_backbone_design(fixed, mobile):
        return by_number
    aligned = _align(fixed, mobile)
    if by_number is not None and _is_above_chance(by_number):
        different = 0 if aligned is None else len(aligned.rows) - aligned.equal
        best = 0 if aligned is None else aligned.equal
        if by_number.equal >= best - 1 - _TOLERANCE * different:
            return by_number
    return aligned if aligned is not None and _is_similar_sequence(aligned) else None


def _make_pairing(
    fixed: CentralAtoms, mobile: CentralAtoms, pairs: list[tuple[int, int]], method: Method
) -> Pairing:
    return Pairing(fixed, mobile, (PairedSegment([i for i, _ in pairs], [j for _, j in pairs], method),))


def _is_backbone_design(fixed: CentralAtoms, mobile: CentralAtoms) -> bool:
    """Return whether two chains have the same numbers and one is a designed backbone without a sequence."""
    shares = (max(map(trace.letters.count, "AGX")) / len(trace) for trace in (fixed, mobile))
    return fixed.numbers == mobile.numbers and max(shares) >= _BACKBONE_SHARE


def _is_above_chance(pairing: Pairing) -> bool:
    """Return whether the identical pairs exceed the random expectation by four standard deviations."""
    count, share = len(pairing.rows), _CHANCE[pairing.fixed.kind]
    return pairing.equal > share * count + 4 * math.sqrt(share * (1 - share) * count)


def _is_similar_sequence(pairing: Pairing) -> bool:
    if len(pairing.rows) < _MIN_PAIRS:
        return False
    if pairing.fixed.letters == pairing.mobile.letters:
        return True
    scale, share = _LAMBDA_K[pairing.fixed.kind]
    sizes = math.log(share * len(pairing.fixed) * len(pairing.mobile))
    return sizes - scale * _score_best_segment(pairing) <= math.log(_MAX_EXPECTED)


def _score_best_segment(pairing: Pairing) -> int:
    """Return the score of the best-scoring local segment of an alignment, including gap costs."""
    opening, extension = _GAP_OPEN_EXTEND[pairing.fixed.kind]
    matrix = _read_blosum() if pairing.fixed.kind == "protein" else _score_bases()
    best = score = 0
    last = None
    for i, j in zip(pairing.rows, pairing.mobile_rows, strict=True):
        if last is not None and (gap := (i - last[0] - 1) + (j - last[1] - 1)):
            score = max(0, score - opening - extension * gap)
        score = max(0, score + matrix[pairing.fixed.letters[i], pairing.mobile.letters[j]])
        best, last = max(best, score), (i, j)
    return best


@cache
def _score_bases() -> dict[tuple[str, str], int]:
    """Return the scores of two nucleotides by their letters; mismatch unless A, C, G, T or U."""
    matrix: dict[tuple[str, str], int] = defaultdict(lambda: _MISMATCH)
    return matrix | dict.fromkeys([("A", "A"), ("C", "C"), ("G", "G"), *product("TU", "TU")], _MATCH)


@cache
def _read_blosum() -> dict[tuple[str, str], int]:
    """Return gemmi's BLOSUM62 by one-letter codes; 0 for non-standard residues."""
    scoring = gemmi.AlignmentScoring("b")
    standard = "ARNDCQEGHILKMFPSTWYV"
    matrix: dict[tuple[str, str], int] = defaultdict(int)
    for a, b in product(standard, standard):
        matrix[a, b] = gemmi.align_string_sequences(_name_residues(a), _name_residues(b), [], scoring).score
    return matrix


def _align(fixed: CentralAtoms, mobile: CentralAtoms) -> Pairing | None:
    """Align globally with affine gaps: BLOSUM62 for proteins, match and mismatch for nucleic acids."""
    if fixed.kind != mobile.kind or not len(fixed) or not len(mobile):
        return None
    if fixed.letters == mobile.letters:
        return _make_pairing(fixed, mobile, [(i, i) for i in range(len(fixed))], "sequence")
    if fixed.kind == "protein":
        # gemmi's matrix is keyed by three-letter names; one-letter codes would score as unknown residues.
        names, mobile_names = _name_residues(fixed.letters), _name_residues(mobile.letters)
        scoring = gemmi.AlignmentScoring("b")
    else:
        names, mobile_names = (list(trace.letters.replace("U", "T")) for trace in (fixed, mobile))
        scoring = gemmi.AlignmentScoring()
        scoring.match, scoring.mismatch = _MATCH, _MISMATCH
    opening, extension = _GAP_OPEN_EXTEND[fixed.kind]
    scoring.gapo, scoring.gape = -opening, -extension
    aligned = gemmi.align_string_sequences(names, mobile_names, [], scoring)
    fixed_row, mobile_row = aligned.add_gaps(fixed.letters, 1), aligned.add_gaps(mobile.letters, 2)
    pairs = []
    i = j = 0
    for upper, lower in zip(fixed_row, mobile_row, strict=True):
        if upper != "-" and lower != "-":
            pairs.append((i, j))
        i += upper != "-"
        j += lower != "-"
    return _make_pairing(fixed, mobile, pairs, "sequence")


def _name_residues(letters: str) -> list[str]:
    return gemmi.expand_one_letter_sequence(letters.replace("J", "X"), gemmi.ResidueKind.AA)
