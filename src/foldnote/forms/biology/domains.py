"""Variable domains of antibodies and T-cell receptors in a sequence that is being typed, by immunum.

immunum is a small local program without a model: it numbers a domain in about a millisecond, and nothing is
sent anywhere. It comes with the extra ``numbering``; without it no domain is described.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any, Final, NamedTuple

from foldnote.text import join_words

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
"""Residues of a variable domain that are enough to tell it from other proteins."""
_LONGEST: Final = 2_000
"""Residues of a chain that is searched; a longer one would hold up typing."""
_LEAST_CONFIDENCE: Final = 0.6
_MAX_DOMAINS: Final = 2
"""A single-chain Fv has two."""
_REGIONS: Final = ("cdr1", "cdr2", "cdr3")


class Domain(NamedTuple):
    """A variable domain.

    Attributes:
        kind: H, K or L of antibodies; A, B, G or D of T-cell receptors.
        cdrs: CDR1 to CDR3 by IMGT's definition; empty where the domain ends before.
    """

    kind: str
    cdrs: tuple[str, ...]

    def __str__(self) -> str:
        found = [f"CDR{number} {cdr}" for number, cdr in enumerate(self.cdrs, 1) if cdr]
        return f"{_NAMES[self.kind]}, by IMGT {join_words(found, 'and')}"


@lru_cache(maxsize=64)
def find_domains(chain: str) -> tuple[Domain, ...]:
    """The variable domains of a chain of amino acids in order, at most two; none without immunum."""
    annotator = _annotator()
    if annotator is None or len(chain) > _LONGEST:
        return ()
    return tuple(domain for _, domain in sorted(_search(annotator, chain, 0)))[:_MAX_DOMAINS]


def _search(annotator: Any, chain: str, start: int) -> Iterator[tuple[int, Domain]]:
    """Where each domain of a chain begins, the best first; ``start`` is where the chain itself begins."""
    if len(chain) < _SHORTEST:
        return
    found = annotator.number(chain)
    if found.chain not in _NAMES or found.confidence < _LEAST_CONFIDENCE:
        return
    begin, end = found.query_start, found.query_end + 1
    if end - begin < _SHORTEST:
        return
    regions = annotator.segment(chain).as_dict()
    yield start + begin, Domain(found.chain, tuple(regions[name] or "" for name in _REGIONS))
    yield from _search(annotator, chain[:begin], start)
    yield from _search(annotator, chain[end:], start + end)


@cache
def _annotator() -> Any | None:
    try:
        import immunum
    except ImportError:
        return None
    return immunum.Annotator(chains=list(_NAMES), scheme=_SCHEME)
