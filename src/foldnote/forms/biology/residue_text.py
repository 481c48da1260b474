"""Residue numbers as people write them: ``26 27 52A``, ``26-33``, with commas or spaces.

Tools take numbers with spaces between them; ranges are written out, by the structure where it is known.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from foldnote.forms.files.structure_outline import OutlineChain, number_of

_RANGE: Final = re.compile(r"(-?\d{1,5}[A-Za-z]?)-(-?\d{1,5}[A-Za-z]?)")
_LOOSE_DASH: Final = re.compile("(?<=[0-9A-Za-z])(?: +- +|\\s*(?:\u2013|\\.\\.)\\s*)(?=-?[0-9])")
"""What people write for the hyphen of a range: an en dash, two dots, a hyphen with spaces around it."""
_RESIDUE: Final = re.compile(r"-?\d{1,5}[A-Za-z]?")
_LONGEST: Final = 5000


@dataclass(frozen=True, slots=True)
class ResidueText:
    """What was read from a text."""

    residues: tuple[str, ...] = ()
    fault: str = ""
    """Why the text names no residues, as a sentence; empty where it does."""


def read_residues(text: str, chain: OutlineChain | None = None, place: str = "") -> ResidueText:
    """The residues that ``text`` names, each once, in the order in which they are written.

    Args:
        text: numbers and ranges.
        chain: the chain that must have them; without one ranges count by one.
        place: how a sentence calls the structure.
    """
    found: dict[str, None] = {}
    for word in _LOOSE_DASH.sub("-", text).replace(",", " ").split():
        span = _RANGE.fullmatch(word)
        if span is not None:
            part = _expand(span[1], span[2], chain, place)
        elif _RESIDUE.fullmatch(word):
            part = _find(word, chain, place)
        else:
            return ResidueText(
                fault=f"{word[:20]!r} is not a residue number. Write 26 27 52A, or a range: 26-33."
            )
        if part.fault:
            return part
        found.update(dict.fromkeys(part.residues))
    return ResidueText(tuple(found))


def letters_of(residues: tuple[str, ...], chain: OutlineChain) -> str:
    """The one-letter codes of ``residues``."""
    letters = dict(zip(chain.residues, chain.letters, strict=True))
    return "".join(letters.get(residue, "?") for residue in residues)


def _find(residue: str, chain: OutlineChain | None, place: str) -> ResidueText:
    if chain is not None and residue not in chain.residues:
        return ResidueText(fault=f"{_name(chain, place)} has no residue {residue}. It has {chain.extent}.")
    return ResidueText((residue,))


def _expand(first: str, last: str, chain: OutlineChain | None, place: str) -> ResidueText:
    start, end = number_of(first), number_of(last)
    if end < start:
        return ResidueText(fault=f"{first}-{last} is in descending order: write the smaller number first.")
    if chain is None:
        if not (first + last).replace("-", "").isdigit() or end - start > _LONGEST:
            return ResidueText(fault=f"{first}-{last} can be written out only where the structure is known.")
        return ResidueText(tuple(str(number) for number in range(start, end + 1)))
    known = list(chain.residues)
    if first in known and last in known:
        span = known[known.index(first) : known.index(last) + 1]
    else:
        span = [residue for residue in known if start <= number_of(residue) <= end]
    numbers = [number_of(residue) for residue in known]
    if not span or start < min(numbers) or end > max(numbers):
        return ResidueText(
            fault=f"{_name(chain, place)} has no residues {first}-{last}. It has {chain.extent}."
        )
    return ResidueText(tuple(span))


def _name(chain: OutlineChain, place: str) -> str:
    return f"Chain {chain.name}{f' of {place}' if place else ''}"
