"""The field for a sequence, raw or FASTA: a readout of what was read, and the first invalid letter."""

from __future__ import annotations

from itertools import count as counting
from string import ascii_uppercase
from typing import Any

import ipywidgets as widgets

from foldnote.catalog.sequences import (
    Fault,
    clean_sequence,
    count_sequence_faults,
    find_sequence_faults,
    is_of_nucleotides,
)
from foldnote.forms.biology.domains import find_domains, find_kinds
from foldnote.forms.biology.motifs import translate
from foldnote.forms.biology.paired_chains import describe_domains, order_chains, shade_cdrs
from foldnote.forms.biology.plausibility import (
    SWAP,
    TRANSLATE,
    find_doubts,
    find_liabilities,
    find_partner,
    is_nucleotide,
    wanted_kind,
)
from foldnote.forms.biology.sequence_text import SequenceText, read_sequence
from foldnote.forms.fields.field import Field, Reading
from foldnote.forms.schema.spec import MISSING
from foldnote.forms.ui.label import Caution, Excerpt
from foldnote.text import count

_AROUND = 14
_JUDGED = 4
"""Chains whose sequences are judged."""
_MAX_CAUTIONS = 6
SHARE = "share"
"""What the button beside two FASTA records does."""


class SequenceField(Field):
    """One sequence, or several chains where the schema's ``chains`` note allows them."""

    width = "wide"

    def build(self) -> widgets.DOMWidget:
        """A monospaced box that grows with its text, and takes files that are dropped on it."""
        line = self.make_line(self._hint(), "sequence", "letters", "drop", rows=3)
        line.add_class(self.mark)
        return line

    def take_text(self, text: str) -> None:
        """Take the contents of a file that a person dropped, as if they were pasted."""
        self.control.value = text

    def parse(self) -> Reading:
        """The cleaned chains, a readout of their lengths, and an error for the first invalid letter."""
        return self._judge(read_sequence(self.control.value, self._separator))

    def describe(self, value: Any) -> Reading:
        """Check a value set by code like a typed one."""
        if not isinstance(value, str):
            return Reading(value)
        read = self._judge(read_sequence(value, self._separator))
        return read if read.value is not MISSING else read._replace(value=value)

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

    def act(self, name: str) -> None:
        """Swap both chains of an antibody, translate a reading frame, or share two FASTA records out."""
        acts = {SWAP: self._swap, TRANSLATE: self._translate, SHARE: self._share}
        if name in acts:
            self.host.fill(acts[name]())

    def _swap(self) -> dict[str, Any]:
        partner = find_partner(self.spec)
        own, other = self.read().value, self.host.raw_value(partner)
        return {
            name: None if value is MISSING else value
            for name, value in ((self.spec.name, other), (partner, own))
        }

    def _translate(self) -> dict[str, Any]:
        chains = self._read_text().chains
        proteins = [translate(chain) if is_nucleotide(chain) else chain for chain in chains]
        kept = [protein or chain for protein, chain in zip(proteins, chains, strict=True)]
        return {self.spec.name: (self._separator or "").join(kept)}

    def _share(self) -> dict[str, Any]:
        text, partner = self._read_text(), find_partner(self.spec)
        order = order_chains(text)
        if not partner or order is None:
            return {}
        heavy, light = (text.chains[place] for place in order)
        own, other = (heavy, light) if wanted_kind(self.spec.name) == "heavy" else (light, heavy)
        return {self.spec.name: own, partner: other}

    def _read_text(self) -> SequenceText:
        return read_sequence(self.control.value, self._separator)

    def _judge(self, text: SequenceText) -> Reading:
        if not any(text.chains):
            return Reading("" if isinstance(self.spec.default, str) else self.blank)
        separator = self._separator
        if separator is None and len(text.chains) > 1:
            return Reading(
                errors=(_explain_chains(len(text.chains)),),
                readout=_describe_chains(text, self._noun),
                cautions=self._offer_both(text),
            )
        value = (separator or "").join(text.chains)
        alphabet = str(self.spec.notes.get("alphabet") or "amino-acid")
        faults = find_sequence_faults(value, alphabet, separator)
        readout = "; ".join([_describe_chains(text, self._noun), *text.notes])
        if faults:
            first = faults[0]
            excerpt = _cut_excerpt(text.chains[first.chain], first.position)
            more = count_sequence_faults(value, alphabet, separator) - 1
            return Reading(
                value,
                (_describe_fault(first, text, more),),
                excerpt,
                readout,
                cautions=self._find_cautions(text, is_valid=False),
            )
        if is_of_nucleotides(alphabet):
            return Reading(value, readout=readout)
        domains = describe_domains(text, _names(text), is_expected=bool(wanted_kind(self.spec.name)))
        return Reading(
            value,
            readout="; ".join([readout, *domains]),
            cautions=self._find_cautions(text),
            strips=shade_cdrs(text, _names(text)),
        )

    def _find_cautions(self, text: SequenceText, *, is_valid: bool = True) -> tuple[Caution, ...]:
        """The cautions on the first chains; of several chains, with their names."""
        found = [
            (name, caution)
            for name, chain in zip(_names(text)[:_JUDGED], text.chains[:_JUDGED], strict=True)
            for caution in (*find_doubts(chain, self.spec), *(find_liabilities(chain) if is_valid else ()))
        ]
        if len(text.chains) > 1:
            found = [(name, caution._replace(text=f"{name}: {caution.text}")) for name, caution in found]
        return tuple(caution for _, caution in found[:_MAX_CAUTIONS])

    def express(self, read: Reading, problems: Any) -> None:
        """Show the reading; swapping is offered where it helps, which the field of the other chain says."""
        if any(caution.act == SWAP for caution in read.cautions) and not self._can_swap():
            plain = tuple(Caution(each.text) if each.act == SWAP else each for each in read.cautions)
            read = read._replace(cautions=plain)
        if read.strips and not read.errors:
            read = read._replace(readout="; ".join([read.readout, *self._tell_germlines(str(read.value))]))
        super().express(read, problems)

    def _tell_germlines(self, value: str) -> list[str]:
        """Species and germlines of the first chains with a variable domain, as far as they are known."""
        text = read_sequence(value, self._separator)
        found = [
            (name, self.host.germline_of(chain))
            for name, chain in zip(_names(text)[:_JUDGED], text.chains[:_JUDGED], strict=True)
            if find_domains(chain)
        ]
        return [words if len(text.chains) == 1 else f"{name}: {words}" for name, words in found if words]

    def _can_swap(self) -> bool:
        partner, own = find_partner(self.spec), self.read().value
        other = self.host.raw_value(partner) if partner else MISSING
        kinds = [
            find_kinds(clean_sequence(value)) if isinstance(value, str) else [] for value in (own, other)
        ]
        return bool(partner) and kinds[0] != kinds[1]

    def _offer_both(self, text: SequenceText) -> tuple[Caution, ...]:
        """The offer to share two records out to the fields of both chains of an antibody."""
        order = order_chains(text) if find_partner(self.spec) else None
        if order is None:
            return ()
        names = text.names if len(text.names) == len(text.chains) else _names(text)
        heavy, light = (f"“{names[place][:24] or ascii_uppercase[place]}”" for place in order)
        said = f"{heavy} can be the heavy chain and {light} the light chain"
        return (Caution(said, SHARE, "Fill in both fields"),)

    @property
    def _noun(self) -> str:
        return "base" if is_of_nucleotides(self.spec.notes.get("alphabet")) else "residue"


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
