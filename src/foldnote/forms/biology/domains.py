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
_CDRS: Final = ((27, 38), (56, 65), (105, 117))
"""First and last position of CDR1 to CDR3 in IMGT numbering."""
_CYSTEINES: Final = ("23", "104")
"""Positions of the two cysteines of the domain's disulfide bond."""
_NO_LETTER: Final = re.compile("[^A-Z]")
_HEAVY: Final = re.compile(r"C[A-Z]{2,45}WG[A-Z]GT")
_LIGHT: Final = re.compile(r"C[A-Z]{2,30}FG[A-Z]GT")


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

    @property
    def cdr_spans(self) -> dict[str, tuple[int, int]]:
        """Start and end in the chain of each CDR that is present, by its name: ``CDR-H1``."""
        letter = "L" if self.kind == "K" else self.kind
        spans = {}
        for number, (first, last) in enumerate(_CDRS, start=1):
            indices = [
                index
                for index, name in enumerate(self.numbers)
                if first <= _drop_insertion_code(name) <= last
            ]
            if indices:
                spans[f"CDR-{letter}{number}"] = self.start + indices[0], self.start + indices[-1] + 1
        return spans

    @property
    def cdrs(self) -> tuple[str, ...]:
        """Letters of CDR1 to CDR3 in the IMGT definition; empty for a missing CDR."""
        return tuple(
            "".join(
                letter
                for letter, name in zip(self.letters, self.numbers, strict=True)
                if first <= _drop_insertion_code(name) <= last
            )
            for first, last in _CDRS
        )

    @property
    def is_whole(self) -> bool:
        """Whether the domain continues after its third CDR."""
        return bool(self.numbers) and _drop_insertion_code(self.numbers[-1]) > _CDRS[-1][1]

    def find_cdr(self, index: int) -> str:
        """Return the name of the CDR at a chain index; empty outside of CDRs."""
        names = (name for name, (start, end) in self.cdr_spans.items() if start <= index < end)
        return next(names, "")

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
    return _annotator() is not None


@lru_cache(maxsize=1024)
def find_domains(chain: str) -> tuple[Domain, ...]:
    """Return the variable domains of a chain of amino acids in order, at most two; none without immunum."""
    annotator = _annotator()
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


@cache
def _annotator() -> Any | None:
    try:
        import immunum
    except ImportError:
        return None
    return immunum.Annotator(chains=list(_NAMES), scheme=_SCHEME)
