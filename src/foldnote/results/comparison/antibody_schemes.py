"""Recognise the antibody numbering scheme of a chain from its residue numbers and its conserved residues.

The conserved cysteines and tryptophan of an immunoglobulin variable domain have fixed numbers in each scheme
(IMGT: Lefranc et al., Dev. Comp. Immunol. 27, 55, 2003; Kabat and Chothia: Al-Lazikani et al., J. Mol. Biol.
273, 927, 1997; AHo: Honegger and Plückthun, J. Mol. Biol. 309, 657, 2001). This module assigns no numbers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from foldnote.results.comparison.traces import CentralAtoms

_MIN_RESIDUES = 60
"""Shorter stretches are not taken for a variable domain."""


@dataclass(frozen=True)
class Scheme:
    """A numbering scheme, as far as needed to recognise it.

    Attributes:
        name: ``IMGT``, ``AHo``, ``Kabat heavy`` or ``Kabat light``; Kabat includes Chothia and Martin, whose
            conserved residues have the same numbers.
        anchors: number and letter of the conserved cysteine, tryptophan and cysteine.
        last: last number of the variable domain.
    """

    name: str
    anchors: tuple[tuple[str, str], ...]
    last: int


_SCHEMES = (
    Scheme("IMGT", (("23", "C"), ("41", "W"), ("104", "C")), 128),
    Scheme("AHo", (("23", "C"), ("43", "W"), ("106", "C")), 149),
    Scheme("Kabat heavy", (("22", "C"), ("36", "W"), ("92", "C")), 113),
    Scheme("Kabat light", (("23", "C"), ("35", "W"), ("88", "C")), 107),
)
_ALTERNATIVES = {
    "Kabat heavy": (("35A", "31A"), ("82A", "72A")),
    "Kabat light": (("27A", "30A"),),
}
"""Insertion numbers that occur in Kabat only, each with its counterpart in Chothia or Martin."""


@dataclass(frozen=True)
class NumberedDomain:
    """A variable domain at the start of a chain.

    Attributes:
        scheme: the numbering scheme.
        length: number of residues present.
        numbers: their residue numbers with insertion code.
    """

    scheme: Scheme
    length: int
    numbers: frozenset[str]


def find_numbered_domain(trace: CentralAtoms) -> NumberedDomain | None:
    """Find the variable domain at the start of a chain and its scheme; None if no scheme fits."""
    for scheme in _SCHEMES:
        numbers = _list_domain(trace, scheme.last)
        letters = dict(zip(numbers, trace.letters, strict=False))
        if (
            trace.kind == "protein"
            and _MIN_RESIDUES <= len(numbers) == len(letters)
            and all(letters.get(number) == letter for number, letter in scheme.anchors)
        ):
            return NumberedDomain(scheme, len(numbers), frozenset(numbers))
    return None


def share_numbering(first: NumberedDomain, second: NumberedDomain) -> bool:
    """Return whether residues with equal numbers in two domains are at equivalent positions."""
    if first.scheme != second.scheme:
        return False
    return not any(
        (a in first.numbers and b in second.numbers) or (b in first.numbers and a in second.numbers)
        for a, b in _ALTERNATIVES.get(first.scheme.name, ())
    )


def _list_domain(trace: CentralAtoms, last: int) -> list[str]:
    """Return the residue numbers from the start of the chain up to ``last``, ending where they decrease."""
    numbers: list[str] = []
    previous = -10_000
    for number in trace.numbers:
        value = int(re.sub(r"[^\d-]", "", number) or "0")
        if value > last or value < previous:
            break
        numbers.append(number)
        previous = value
    return numbers
