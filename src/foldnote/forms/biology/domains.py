"""Variable domains of antibodies and T-cell receptors in a sequence that is being typed, by immunum.

immunum is a small library without a model: it numbers a domain locally in about a millisecond. It is
installed with the extra ``numbering``. Without it, no domain is described, and heavy and light chains are
distinguished by the J region of the variable domain, W-G-X-G or F-G-X-G after the second cysteine (Lefranc et
al. 2003, Dev. Comp. Immunol. 27:55-77).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any, Final, NamedTuple

_NAMES: Final = {
    "H": "heavy-chain domain",
    "K": "kappa light-chain domain",
    "L": "lambda light-chain domain",
    "A": "TCR alpha-chain domain",
    "B": "TCR beta-chain domain",
    "G": "TCR gamma-chain domain",
    "D": "TCR delta-chain domain",
}
_SCHEME: Final = "imgt"
_SHORTEST: Final = 60
"""Minimum number of residues that identify a variable domain."""
LONGEST_SEARCHED: Final = 2_000
"""Maximum number of residues of a chain that is searched; a longer chain would delay typing."""
_LEAST_CONFIDENCE: Final = 0.6
_MAX_DOMAINS: Final = 2
"""Maximum number of variable domains; a single-chain Fv has two."""
_DEFINITIONS: Final = {
    "imgt": "IMGT",
    "kabat": "Kabat",
    "chothia": "Chothia",
    "martin": "Chothia",
    "aho": "North",
}
"""Definition of CDRs that goes with each numbering scheme, as in the results of the tool ``anarci``."""
_BOUNDS: Final = {
    "IMGT": ((27, 38), (56, 65), (105, 117)),
    "Kabat H": ((31, 35), (50, 65), (95, 102)),
    "Kabat L": ((24, 34), (50, 56), (89, 97)),
    "Chothia H": ((26, 32), (52, 56), (95, 102)),
    "Chothia L": ((24, 34), (50, 56), (89, 97)),
    "North H": ((24, 42), (57, 69), (107, 138)),
    "North L": ((24, 42), (57, 72), (107, 138)),
}
"""First and last position of CDR1 to CDR3 by a definition, for all chains or for heavy and light ones.

IMGT: Lefranc et al. 2003, Dev. Comp. Immunol. 27:55-77. Kabat: Kabat et al. 1991, Sequences of Proteins of
Immunological Interest. Chothia: Chothia and Lesk 1987, J. Mol. Biol. 196:901-917, with the insertions of
Al-Lazikani et al. 1997, J. Mol. Biol. 273:927-948. North: North et al. 2011, J. Mol. Biol. 406:228-256.
The engines have the same bounds in ``antibody_regions``, which their own environments import.
"""
_CYSTEINES: Final = ("23", "104")
"""Positions of the two cysteines of the domain's disulfide bond."""
_NO_LETTER: Final = re.compile("[^A-Z]")
_HEAVY: Final = re.compile(r"C[A-Z]{2,45}WG[A-Z]GT")
_LIGHT: Final = re.compile(r"C[A-Z]{2,30}FG[A-Z]GT")


class Cdrs(NamedTuple):
    """The CDRs of a domain by one definition; 0-based indices in the chain, ends are exclusive."""

    definition: str
    """IMGT, Kabat, Chothia or North."""
    spans: dict[str, tuple[int, int]]
    """Start and end of each CDR that is present, by its name: ``CDR-H1``."""

    def name_at(self, index: int) -> str:
        """Return the name of the CDR at an index of the chain; empty outside of CDRs."""
        names = (name for name, (start, end) in self.spans.items() if start <= index < end)
        return next(names, "")


class Domain(NamedTuple):
    """A variable domain in a chain; positions are 0-based indices in the chain, ends are exclusive."""

    kind: str
    """H, K or L of antibodies; A, B, G or D of T-cell receptors."""
    start: int
    letters: str
    """The residues of the domain."""
    numbers: tuple[str, ...]
    """IMGT number of each residue, with insertion code."""

    def __str__(self) -> str:
        return _NAMES[self.kind]

    @property
    def end(self) -> int:
        """Index after the last residue."""
        return self.start + len(self.letters)

    @property
    def chain(self) -> str:
        """``heavy`` or ``light`` of an antibody; empty for T-cell receptors."""
        return {"H": "heavy", "K": "light", "L": "light"}.get(self.kind, "")

    def find_cdrs(self, scheme: str = _SCHEME) -> Cdrs:
        """Return the CDRs by the definition of a numbering scheme.

        They are IMGT's if the scheme is unknown here or does not number this domain, such as a T-cell
        receptor's.
        """
        numbers = _renumber(self.letters, self.kind, scheme) if self.chain and scheme != _SCHEME else None
        definition = _DEFINITIONS[scheme if numbers else _SCHEME]
        letter = "L" if self.kind == "K" else self.kind
        bounds = _BOUNDS.get(definition) or _BOUNDS[f"{definition} {letter}"]
        places = [_drop_insertion_code(name) for name in numbers or self.numbers]
        spans = {}
        for number, (first, last) in enumerate(bounds, start=1):
            indices = [index for index, place in enumerate(places) if first <= place <= last]
            if indices:
                spans[f"CDR-{letter}{number}"] = self.start + indices[0], self.start + indices[-1] + 1
        return Cdrs(definition, spans)

    @property
    def is_whole(self) -> bool:
        """Whether the domain continues after its third CDR."""
        return bool(self.numbers) and _drop_insertion_code(self.numbers[-1]) > _BOUNDS["IMGT"][-1][-1]

    def list_bonded_cysteines(self) -> list[int]:
        """Return the chain indices of the domain's two conserved bonded cysteines, as far as present."""
        residues = zip(self.letters, self.numbers, strict=True)
        return [
            self.start + index
            for index, (letter, name) in enumerate(residues)
            if letter == "C" and name in _CYSTEINES
        ]


def _drop_insertion_code(number: str) -> int:
    return int(number.rstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ"))


def has_numbering() -> bool:
    """Return whether immunum is installed."""
    return _annotator(_SCHEME) is not None


@lru_cache(maxsize=1024)
def find_domains(chain: str) -> tuple[Domain, ...]:
    """Return the variable domains of a chain of amino acids in order, at most two; none without immunum."""
    annotator = _annotator(_SCHEME)
    if annotator is None or len(chain) > LONGEST_SEARCHED:
        return ()
    return tuple(sorted(_search(annotator, chain, 0), key=lambda domain: domain.start))[:_MAX_DOMAINS]


def find_kinds(chain: str) -> list[str]:
    """Return ``heavy`` and ``light`` for the variable domains in a chain, which may contain typos.

    A single-chain Fv has both.
    """
    if has_numbering():
        letters = _NO_LETTER.sub("X", chain)
        return sorted({domain.chain for domain in find_domains(letters)} - {""})
    return [kind for kind, mark in (("heavy", _HEAVY), ("light", _LIGHT)) if mark.search(chain)]


def _search(annotator: Any, chain: str, start: int) -> Iterator[Domain]:
    """Yield the domains of the part of a chain that begins at ``start``, best first."""
    if len(chain) < _SHORTEST:
        return
    numbering = annotator.number(chain)
    if numbering.chain not in _NAMES or numbering.confidence < _LEAST_CONFIDENCE:
        return
    begin, end = numbering.query_start, numbering.query_end + 1
    if end - begin < _SHORTEST:
        return
    numbers = tuple(numbering.numbering)
    if len(numbers) == end - begin:
        yield Domain(numbering.chain, start + begin, chain[begin:end], numbers)
    yield from _search(annotator, chain[:begin], start)
    yield from _search(annotator, chain[end:], start + end)


@lru_cache(maxsize=1024)
def _renumber(letters: str, kind: str, scheme: str) -> tuple[str, ...] | None:
    """Return the number of each residue of an antibody's domain in a scheme; None if that fails."""
    annotator = _annotator(scheme) if scheme in _DEFINITIONS else None
    if annotator is None:
        return None
    numbering = annotator.number(letters)
    numbers = tuple(numbering.numbering or ())
    return numbers if (numbering.chain, len(numbers)) == (kind, len(letters)) else None


@cache
def _annotator(scheme: str) -> Any | None:
    try:
        import immunum
    except ImportError:
        return None
    chains = _NAMES if scheme == _SCHEME else ("H", "K", "L")
    return immunum.Annotator(chains=list(chains), scheme=scheme)
