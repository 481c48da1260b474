"""Infer from residue numbers and letters whether a chain's variable domain is numbered by an antibody scheme.

The conserved cysteines and tryptophan of an immunoglobulin variable domain have fixed numbers in each scheme
(IMGT: Lefranc et al., Dev. Comp. Immunol. 27, 55, 2003; Kabat and Chothia: Al-Lazikani et al., J. Mol. Biol.
273, 927, 1997; AHo: Honegger and Plückthun, J. Mol. Biol. 309, 657, 2001). Nothing is numbered here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from foldnote.results.comparison.traces import CentralAtoms

_FEWEST = 60
"""Residues of a variable domain at the least."""


@dataclass(frozen=True)
class Scheme:
    """Numbers that residues of equal position share in all domains numbered so.

    Attributes:
        name: ``IMGT``, ``AHo`` or ``Kabat``, the last for Chothia's and Martin's, too, and with the chain.
        anchors: the conserved cysteine, tryptophan and cysteine.
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
"""Where Kabat's numbering inserts, and Chothia's or Martin's in its place."""


@dataclass(frozen=True)
class NumberedDomain:
    """A variable domain at the beginning of a chain.

    Attributes:
        scheme: how it is numbered.
        length: its residues that are present.
        numbers: their numbers.
    """

    scheme: Scheme
    length: int
    numbers: frozenset[str]


def find_numbered_domain(trace: CentralAtoms) -> NumberedDomain | None:
    """The variable domain that a chain begins with and its scheme, or None where no scheme fits."""
    for scheme in _SCHEMES:
        numbers = _list_domain(trace, scheme.last)
        letters = dict(zip(numbers, trace.letters, strict=False))
        if (
            trace.kind == "protein"
            and _FEWEST <= len(numbers) == len(letters)
            and all(letters.get(number) == letter for number, letter in scheme.anchors)
        ):
            return NumberedDomain(scheme, len(numbers), frozenset(numbers))
    return None


def share_numbering(first: NumberedDomain, second: NumberedDomain) -> bool:
    """Whether equal numbers of two domains mean equal positions."""
    if first.scheme != second.scheme:
        return False
    return not any(
        (a in first.numbers and b in second.numbers) or (b in first.numbers and a in second.numbers)
        for a, b in _ALTERNATIVES.get(first.scheme.name, ())
    )


def _list_domain(trace: CentralAtoms, last: int) -> list[str]:
    """Numbers from the chain's beginning up to ``last``, as long as they do not descend."""
    found: list[str] = []
    before = -10_000
    for number in trace.numbers:
        figure = int(re.sub(r"[^\d-]", "", number) or "0")
        if figure > last or figure < before:
            break
        found.append(number)
        before = figure
    return found
