"""Parse residue numbers as typed: ``26 27 52A``, ``26-33``, separated by commas, semicolons or spaces.

Ranges are expanded with the residues of the structure if it is known.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from foldnote.catalog.contents import read_residue_number
from foldnote.forms.files.structure_outline import OutlineChain

_RANGE: Final = re.compile(r"(-?\d{1,5}[A-Za-z]?)-(-?\d{1,5}[A-Za-z]?)")
_LOOSE_DASH: Final = re.compile("(?<=[0-9A-Za-z])(?: +- +|\\s*(?:\u2013|\\.\\.)\\s*)(?=-?[0-9])")
"""Other spellings of a range's hyphen: an en dash, two dots, a hyphen with spaces around it."""
_RESIDUE: Final = re.compile(r"-?\d{1,5}[A-Za-z]?")
_LONGEST: Final = 5000


class ResidueText(NamedTuple):
    """The residues that a text names, or why it is not valid."""

    residues: tuple[str, ...] = ()
    """Residue numbers with insertion codes."""
    fault: str = ""
    """Error message; empty for a valid text."""


def read_residues(text: str, chain: OutlineChain | None = None, structure: str = "") -> ResidueText:
    """Return the residues that ``text`` names, each once, in the order of the text.

    Args:
        text: numbers and ranges.
        chain: the chain that must contain them; without one, ranges contain all integers.
        structure: name of the structure, for messages.
    """
    residues: dict[str, None] = {}
    for entry in re.sub("[,;]", " ", _LOOSE_DASH.sub("-", text)).split():
        span = _RANGE.fullmatch(entry)
        if span is not None:
            part = _expand(span[1], span[2], chain, structure)
        elif _RESIDUE.fullmatch(entry):
            part = _find(entry, chain, structure)
        else:
            return ResidueText(
                fault=f"{entry[:20]!r} is not a residue number. Write 26 27 52A, or a range: 26-33."
            )
        if part.fault:
            return part
        residues.update(dict.fromkeys(part.residues))
    return ResidueText(tuple(residues))


def letters_of(residues: tuple[str, ...], chain: OutlineChain) -> str:
    """Return the one-letter codes of ``residues``; ``?`` for one that the chain lacks."""
    letters = dict(zip(chain.residues, chain.letters, strict=True))
    return "".join(letters.get(residue, "?") for residue in residues)


def _find(residue: str, chain: OutlineChain | None, structure: str) -> ResidueText:
    if chain is not None and residue not in chain.residues:
        return ResidueText(
            fault=f"{_name(chain, structure)} has no residue {residue}. It has {chain.extent}."
        )
    return ResidueText((residue,))


def _expand(first: str, last: str, chain: OutlineChain | None, structure: str) -> ResidueText:
    start, end = read_residue_number(first), read_residue_number(last)
    if end < start:
        return ResidueText(fault=f"{first}-{last} is in descending order: write the smaller number first.")
    if chain is None:
        if not (first + last).replace("-", "").isdigit() or end - start > _LONGEST:
            return ResidueText(fault=f"{first}-{last} can be expanded only if the structure is known.")
        return ResidueText(tuple(str(number) for number in range(start, end + 1)))
    numbered = list(chain.residues)
    if first in numbered and last in numbered:
        span = numbered[numbered.index(first) : numbered.index(last) + 1]
    else:
        span = [residue for residue in numbered if start <= read_residue_number(residue) <= end]
    numbers = [read_residue_number(residue) for residue in numbered]
    if not span or start < min(numbers) or end > max(numbers):
        return ResidueText(
            fault=f"{_name(chain, structure)} has no residues {first}-{last}. It has {chain.extent}."
        )
    return ResidueText(tuple(span))


def _name(chain: OutlineChain, structure: str) -> str:
    return f"Chain {chain.name}{f' of {structure}' if structure else ''}"
