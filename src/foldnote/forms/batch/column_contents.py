"""Recognise what a table column contains from a sample of its cells: antibody chains, proteins, molecules."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from foldnote.forms.biology.domains import find_kinds

Contents = Literal["heavy", "light", "protein", "smiles", ""]
_SAMPLE = 40
_SHARE = 0.6
"""Share of the sampled cells that must agree; the others may contain errors or be misplaced."""
_SHORTEST = 15
"""Minimum number of residues for letters to count as a sequence."""
_BLOCK = 8
"""Minimum number of letters per block of a sequence written in blocks; words of a text are shorter."""
_AMINO_ACIDS = frozenset("ACDEFGHIKLMNPQRSTVWYX*-")
_NUCLEOTIDES = frozenset("ACGTUN-")
_BRACKET_ATOM = re.compile(r"\[[^\[\]\s]{1,20}\]")
_SMILES = re.compile(r"(?:Cl|Br|[BCNOPSFIbcnops*]|[0-9%()=#\-/\\.+:$~])+")
_BONDED = re.compile(r"[=#(\[]|[cnos]\d")


def describe_column(cells: Sequence[str]) -> Contents:
    """Describe what most cells of a column contain.

    ``heavy`` and ``light`` are variable domains of antibodies; ``protein`` is any
    other sequence of at least 15 amino acids; ``smiles`` are molecules; empty if it is none of these.
    """
    filled = [cell for cell in cells if cell]
    step = max(1, len(filled) // _SAMPLE)
    sample = filled[::step][:_SAMPLE]
    if not sample:
        return ""
    if _is_most([is_protein(cell) for cell in sample]):
        chain_kinds = [find_kinds("".join(cell.split()).upper()) for cell in sample]
        if _is_most([kinds == ["heavy"] for kinds in chain_kinds]):
            return "heavy"
        return "light" if _is_most([kinds == ["light"] for kinds in chain_kinds]) else "protein"
    is_smiles = _is_most([_is_smiles(cell) for cell in sample])
    has_bonds = sum(bool(_BONDED.search(cell)) for cell in sample) >= len(sample) / 2
    return "smiles" if is_smiles and has_bonds else ""


def is_protein(cell: str) -> bool:
    """Return whether a text is an amino-acid sequence, possibly with a typo, and not nucleotides."""
    blocks = cell.split()
    letters = "".join(blocks).upper()
    if len(letters) < _SHORTEST or any(len(block) < _BLOCK for block in blocks[:-1]):
        return False
    fitting = sum(letter in _AMINO_ACIDS for letter in letters)
    return fitting >= 0.95 * len(letters) and not set(letters) <= _NUCLEOTIDES


def _is_smiles(cell: str) -> bool:
    plain = _BRACKET_ATOM.sub("C", cell)
    return bool(_SMILES.fullmatch(plain)) and any(letter.isalpha() for letter in plain)


def _is_most(facts: Sequence[bool]) -> bool:
    return sum(facts) >= _SHARE * len(facts)
