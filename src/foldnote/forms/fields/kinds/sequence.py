"""The field for a sequence, raw or FASTA: a readout of what was read, and the first invalid letter."""

from __future__ import annotations

from itertools import count as counting
from string import ascii_uppercase
from typing import Any

import ipywidgets as widgets

from foldnote.catalog.sequences import Fault, count_sequence_faults, find_sequence_faults
from foldnote.forms.biology.domains import find_domains
from foldnote.forms.biology.plausibility import find_caution
from foldnote.forms.biology.sequence_text import SequenceText, read_sequence
from foldnote.forms.fields.field import Field, Reading
from foldnote.forms.schema.spec import MISSING
from foldnote.forms.ui.label import Excerpt
from foldnote.text import count

_AROUND = 14
_NUMBERED = 4
"""Chains whose variable domains are described."""


class SequenceField(Field):
    """One sequence, or several chains where the schema's ``chains`` note allows them."""

    width = "wide"

    def build(self) -> widgets.DOMWidget:
        """A monospaced box that grows with its text."""
        return self.make_line(self._hint(), "sequence", rows=3)

    def parse(self) -> Reading:
        """The cleaned chains, a readout of their lengths, and an error for the first invalid letter."""
        return self._judge(read_sequence(self.control.value, self._separator))

    def describe(self, value: Any) -> Reading:
        """Check a value set by code like a typed one."""
        if not isinstance(value, str):
            return Reading(value)
        read = self._judge(read_sequence(value, self._separator))
        return Reading(
            value if read.value is MISSING else read.value, read.errors, read.excerpt, read.readout
        )

    def keep(self, value: Any) -> Any:
        """The value cleaned like typed text: without white space and FASTA headers, in capitals."""
        if not isinstance(value, str) or not value.strip():
            return value
        read = self._judge(read_sequence(value, self._separator))
        return value if read.value is MISSING else read.value

    def render(self, value: Any) -> None:
        """Show the text unchanged."""
        self.control.value = "" if value is MISSING else str(value)

    @property
    def _chains(self) -> dict[str, Any] | None:
        found = self.spec.notes.get("chains")
        return dict(found) if isinstance(found, dict) else {} if self.spec.role == "sequences" else None

    @property
    def _separator(self) -> str | None:
        return None if self._chains is None else str(self._chains.get("separator") or ":")

    def _hint(self) -> str:
        if self._chains is None:
            return "Paste a sequence, raw or FASTA"
        return f"Paste one sequence or several: FASTA records, or chains separated by “{self._separator}”"

    def _judge(self, text: SequenceText) -> Reading:
        if not any(text.chains):
            return Reading("" if isinstance(self.spec.default, str) else self.blank)
        separator = self._separator
        if separator is None and len(text.chains) > 1:
            return Reading(
                errors=(_explain_chains(len(text.chains)),), readout=_describe_chains(text, self._noun)
            )
        value = (separator or "").join(text.chains)
        alphabet = str(self.spec.notes.get("alphabet") or "amino-acid")
        faults = find_sequence_faults(value, alphabet, separator)
        cautions = [find_caution(chain, self.spec) for chain in text.chains]
        warnings = [
            caution if len(cautions) == 1 else f"{name}: {caution}"
            for name, caution in zip(_names(text), cautions, strict=True)
            if caution
        ]
        readout = "; ".join([_describe_chains(text, self._noun), *text.notes, *warnings[:2]])
        if not faults:
            domains = self._describe_domains(text) if alphabet != "nucleotide" else []
            return Reading(value, readout="; ".join([readout, *domains]))
        first = faults[0]
        excerpt = _cut_excerpt(text.chains[first.chain], first.position)
        more = count_sequence_faults(value, alphabet, separator) - 1
        return Reading(value, (_describe_fault(first, text, more),), excerpt, readout)

    def _describe_domains(self, text: SequenceText) -> list[str]:
        """The variable domains of the first chains; of several chains, with their names."""
        found = [
            (name, domain)
            for name, chain in zip(_names(text)[:_NUMBERED], text.chains[:_NUMBERED], strict=True)
            for domain in find_domains(chain)
        ]
        return [str(domain) if len(text.chains) == 1 else f"{name}: {domain}" for name, domain in found]

    @property
    def _noun(self) -> str:
        return "base" if self.spec.notes.get("alphabet") == "nucleotide" else "residue"


def _explain_chains(number: int) -> str:
    return f"These are {number} FASTA records; this field takes one chain. Keep one of them."


def _describe_fault(fault: Fault, text: SequenceText, more: int) -> str:
    """The first fault with its position, and the number of further ones."""
    chain = f"Chain {_names(text)[fault.chain]}, position" if len(text.chains) > 1 else "Position"
    rest = f" {count(more, 'more letter')} to correct." if more else ""
    return f"{chain} {fault.position}: {fault.message.rstrip('.')}.{rest}"


def _describe_chains(text: SequenceText, noun: str) -> str:
    """The chains with their lengths: ``2 chains, 227 residues: A 120, B 107``."""
    total = count(sum(map(len, text.chains)), noun)
    if len(text.chains) == 1:
        return total
    parts = [f"{name} {len(chain)}" for name, chain in zip(_names(text), text.chains, strict=True)]
    shown = ", ".join(parts[:8]) + (" …" if len(parts) > 8 else "")
    return f"{len(parts)} chains, {total}: {shown}"


def _names(text: SequenceText) -> tuple[str, ...]:
    """The first words of the FASTA headers if they are distinct, else A to Z, AA, AB and so on."""
    firsts = tuple(name.split()[0][:16] if name else "" for name in text.names)
    if firsts and all(firsts) and len(set(firsts)) == len(firsts):
        return firsts
    letters = (
        (ascii_uppercase[index // 26 - 1] if index >= 26 else "") + ascii_uppercase[index % 26]
        for index in counting()
    )
    return tuple(name for name, _ in zip(letters, text.chains, strict=False))


def _cut_excerpt(chain: str, position: int) -> Excerpt:
    """The letters around the 1-based ``position``."""
    index = min(max(position - 1, 0), max(len(chain) - 1, 0))
    start, end = max(0, index - _AROUND), index + 1 + _AROUND
    before = ("…" if start else "") + chain[start:index]
    after = chain[index + 1 : end] + ("…" if end < len(chain) else "")
    return Excerpt(before, chain[index : index + 1] or " ", after)
