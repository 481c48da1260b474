"""Motifs of a protein chain that affect folding or production and are often unintended.

Positions are 0-based. Each rule names its source; none is a prediction.
"""

from __future__ import annotations

import re
from typing import Final

from foldnote.forms.biology.domains import Domain

_SEQUON: Final = re.compile(r"N(?=[^P][ST])")
"""N-X-S/T, X any residue but proline (Marshall 1972, Annu. Rev. Biochem. 41:673-702)."""
_TAG: Final = re.compile("H{6,}")
_FROM_END: Final = 30
"""Maximum residues between a His tag and the nearer end of its chain, with room for a cleavage site."""
_SIGNAL_LENGTHS: Final = range(15, 36)
_HYDROPHOBIC: Final = frozenset("ACFILMVW")
_CORE: Final = 8
_IN_CORE: Final = 6
"""Minimum number of hydrophobic residues among the eight of the core."""
_AT_MINUS_3: Final = frozenset("ACGILSTV")
_AT_MINUS_1: Final = frozenset("ACGST")
"""Small residues before the cleavage site (von Heijne 1986, Nucleic Acids Res. 14:4683-4690)."""
_LOOSE_START: Final = 2
"""Maximum offset of the first numbered residue from the first residue of the domain."""

_BASES: Final = "TCAG"
_CODE: Final = "FFLLSSSSYY**CC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"
"""The standard genetic code, codons in the order of ``_BASES`` (NCBI translation table 1)."""


def find_glycosylation_sites(chain: str) -> list[int]:
    """Return the indices of asparagines that may be N-glycosylated: N-X-S or N-X-T where X is not proline."""
    return [match.start() for match in _SEQUON.finditer(chain)]


def find_his_tag(chain: str) -> tuple[int, int] | None:
    """Find six or more histidines within 30 residues of a chain end; return start and end, or None."""
    for match in _TAG.finditer(chain):
        if min(match.start(), len(chain) - match.end()) <= _FROM_END:
            return match.span()
    return None


def find_signal_peptide(chain: str, domain: Domain) -> int:
    """Return the length in residues of a signal peptide before a variable domain; 0 if there is none.

    The part before the domain must consist of 15 to 35 residues that begin with Met, have a hydrophobic core
    and end with the small residues of a cleavage site (von Heijne 1986).
    """
    for length in range(domain.start, domain.start - _LOOSE_START - 1, -1):
        lead = chain[: max(length, 0)]
        if len(lead) not in _SIGNAL_LENGTHS or not lead.startswith("M"):
            continue
        cores = (lead[start : start + _CORE] for start in range(1, len(lead) - _CORE + 1))
        is_hydrophobic = any(sum(letter in _HYDROPHOBIC for letter in core) >= _IN_CORE for core in cores)
        if is_hydrophobic and lead[-3] in _AT_MINUS_3 and lead[-1] in _AT_MINUS_1:
            return length
    return 0


def find_odd_cysteines(domain: Domain) -> list[int]:
    """Return the chain indices of all cysteines of a complete variable domain that has an odd number.

    Empty if all can be paired: in the domain's conserved bond, and in further ones such as those of camelids.
    """
    cysteines = [domain.start + index for index, letter in enumerate(domain.letters) if letter == "C"]
    return cysteines if domain.is_whole and len(cysteines) % 2 else []


def translate(bases: str) -> str:
    """Translate DNA or RNA that is a single open reading frame from its first base; empty if it is not.

    The length must be a multiple of three, and a stop codon may only be the last codon, which is not
    translated.
    """
    dna = bases.upper().replace("U", "T")
    if not dna or len(dna) % 3 or not set(dna) <= set(_BASES):
        return ""
    digits = [_BASES.index(base) for base in dna]
    codons = zip(digits[::3], digits[1::3], digits[2::3], strict=True)
    protein = "".join(_CODE[16 * first + 4 * second + third] for first, second, third in codons)
    protein = protein.removesuffix("*")
    return "" if "*" in protein else protein
