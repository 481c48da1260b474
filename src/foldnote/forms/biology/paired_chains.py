"""The chains of a pasted text as an antibody: which is heavy or light, and where their CDRs are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from foldnote.forms.biology.domains import find_domains, find_kinds, has_numbering
from foldnote.forms.biology.sequence_text import SequenceText
from foldnote.forms.ui.label import ShadedLetters
from foldnote.text import join_words

_NUMBERED: Final = 4
"""Number of chains whose variable domains are described."""
_MAX_SHADED: Final = 600
"""Maximum length of a stretch that is shown, in letters."""
_HEAVY_NAME: Final = re.compile(r"(?i)(?:^|[^a-z])(?:heavy|vh|hc|h)(?:[^a-z]|$)")
_LIGHT_NAME: Final = re.compile(r"(?i)(?:^|[^a-z])(?:light|vl|vk|lc|l|kappa|lambda)(?:[^a-z]|$)")
_INSTALL: Final = "install foldnote[numbering] to see chain type and CDRs"


def order_chains(text: SequenceText) -> tuple[int, int] | None:
    """Return the indices of the heavy and of the light chain among two; None if they are not such a pair.

    They are recognised by their variable domains, else by the names of their FASTA records, else by their
    order.
    """
    if len(text.chains) != 2 or not all(text.chains):
        return None
    kinds = [find_kinds(chain) for chain in text.chains]
    if not any(kinds) and text.names:
        kinds = [
            [kind for kind, mark in (("heavy", _HEAVY_NAME), ("light", _LIGHT_NAME)) if mark.search(name)]
            for name in text.names
        ]
    first, second = kinds
    if first == second and first:
        return None
    return (1, 0) if first == ["light"] or second == ["heavy"] else (0, 1)


def describe_domains(
    text: SequenceText, names: Sequence[str], scheme: str, *, is_expected: bool
) -> list[str]:
    """Describe the variable domains of the first chains, with chain names if there are several.

    Args:
        text: the chains.
        names: a name for each.
        scheme: numbering scheme whose definition of CDRs is named.
        is_expected: whether the field asks for an antibody, in which case a missing immunum is reported.
    """
    if is_expected and not has_numbering():
        return [_INSTALL]
    domains = [
        (name, domain)
        for name, chain in zip(names[:_NUMBERED], text.chains[:_NUMBERED], strict=True)
        for domain in find_domains(chain)
    ]
    if not domains:
        return []
    descriptions = [str(domain) if len(text.chains) == 1 else f"{name}: {domain}" for name, domain in domains]
    definitions = dict.fromkeys(domain.find_cdrs(scheme).definition for _, domain in domains)
    return [*descriptions[:-1], f"{descriptions[-1]}, CDRs by {join_words(list(definitions), 'and')}"]


def shade_cdrs(text: SequenceText, names: Sequence[str], scheme: str) -> tuple[ShadedLetters, ...]:
    """Return the variable domains of the first chains, with their CDRs by a scheme's definition as parts."""
    shaded = []
    for name, chain in zip(names[:_NUMBERED], text.chains[:_NUMBERED], strict=True):
        domains = find_domains(chain)
        if not domains or domains[-1].end - domains[0].start > _MAX_SHADED:
            continue
        start, end = domains[0].start, domains[-1].end
        parts = tuple(
            (cdr, first - start, last - start)
            for domain in domains
            for cdr, (first, last) in domain.find_cdrs(scheme).spans.items()
        )
        label = name if len(text.chains) > 1 else ""
        shaded.append(ShadedLetters(chain[start:end], start + 1, parts, label))
    return tuple(shaded)
