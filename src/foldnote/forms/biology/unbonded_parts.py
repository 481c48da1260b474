"""Cautions on molecules with parts that are not bonded, such as salts and mixtures.

Tools for single molecules refuse them. The others take the parts as one molecule, which is rarely intended.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from foldnote.catalog.checks.molecule import count_parts, find_smiles_fault
from foldnote.forms.ui.label import Caution
from foldnote.text import join_words

_MAX_NAMED: Final = 6
"""Number of lines that a caution names."""


def find_unbonded(smiles: str) -> Caution | None:
    """Return a caution on a valid SMILES with several parts; None for one part, or if it is not valid."""
    parts = _count_valid_parts(smiles)
    if parts < 2:
        return None
    return Caution(f"{parts} parts that are not bonded: leave out the salt, unless it is intended")


def find_unbonded_lines(molecules: Sequence[str]) -> Caution | None:
    """Return one caution on all molecules with several parts, with their line numbers; None without any."""
    lines = [str(number) for number, smiles in enumerate(molecules, 1) if _count_valid_parts(smiles) > 1]
    if not lines:
        return None
    hidden = len(lines) - _MAX_NAMED
    named = [*lines[:_MAX_NAMED], *([f"{hidden} more"] if hidden > 0 else [])]
    where = f"line {lines[0]} has" if len(lines) == 1 else f"lines {join_words(named, 'and')} have"
    advice = "leave out a salt, and give each molecule of a mixture its own line, unless this is intended"
    return Caution(f"{where} parts that are not bonded: {advice}")


def _count_valid_parts(smiles: str) -> int:
    text = smiles.strip()
    return count_parts(text) if "." in text and find_smiles_fault(text) is None else 1
