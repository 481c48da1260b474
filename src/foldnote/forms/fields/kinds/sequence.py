"""The field for a sequence, raw or FASTA: a readout of the parsed text, and the first invalid letter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import ipywidgets as widgets

from foldnote.forms.fields.field import Field, Reading
from foldnote.forms.schema.spec import MISSING

if TYPE_CHECKING:
    from foldnote.forms.biology.sequence_text import SequenceText

_SCHEME: Final = "scheme"
"""Name of the setting with the numbering scheme, as in the tool ``anarci``."""


class SequenceField(Field):
    """One sequence, or several chains where the schema's ``chains`` note allows them."""

    width = "wide"

    def build(self) -> widgets.DOMWidget:
        """Return a monospaced box that grows with its text, and accepts dropped files."""
        line = self.make_line(self._hint(), "sequence", "letters", "drop", rows=3)
        line.add_class(self.mark)
        return line

    def take_text(self, text: str) -> None:
        """Insert the contents of a dropped file as if they were pasted."""
        self.control.value = text

    def parse(self) -> Reading:
        """Return the cleaned chains, a readout of their lengths, and an error for an invalid letter."""
        return self._read_typed(self.control.value)

    def describe(self, value: Any) -> Reading:
        """Check a value set by code like a typed one."""
        if not isinstance(value, str):
            return Reading(value)
        reading = self._read_typed(value)
        return reading if reading.value is not MISSING else reading._replace(value=value)

    def keep(self, value: Any) -> Any:
        """Return the value cleaned like typed text: without white space and FASTA headers, in capitals."""
        if not isinstance(value, str) or not value.strip():
            return value
        reading = self._read_typed(value)
        return value if reading.value is MISSING else reading.value

    def render(self, value: Any) -> None:
        """Show the text unchanged."""
        self.control.value = "" if value is MISSING else str(value)

    @property
    def _chains(self) -> dict[str, Any] | None:
        chains = self.spec.notes.get("chains")
        return dict(chains) if isinstance(chains, dict) else {} if self.spec.role == "sequences" else None

    @property
    def _separator(self) -> str | None:
        return None if self._chains is None else str(self._chains.get("separator") or ":")

    @property
    def _scheme(self) -> str:
        """The numbering scheme that the form has chosen; IMGT without such a field."""
        siblings = self.spec.root.get("properties")
        chosen = self.host.raw_value(_SCHEME) if isinstance(siblings, dict) and _SCHEME in siblings else None
        return chosen if isinstance(chosen, str) else "imgt"

    def _hint(self) -> str:
        if self._chains is None:
            return "Paste a sequence, raw or FASTA"
        return f"Paste one sequence or several: FASTA records, or chains separated by “{self._separator}”"

    def act(self, name: str) -> None:
        """Swap both chains of an antibody, translate a reading frame, or distribute two FASTA records."""
        from foldnote.forms.biology.plausibility import SWAP, TRANSLATE
        from foldnote.forms.fields.kinds.sequence_reading import SHARE

        acts = {SWAP: self._swap, TRANSLATE: self._translate, SHARE: self._distribute}
        if name in acts:
            self.host.fill(acts[name]())

    def _swap(self) -> dict[str, Any]:
        from foldnote.forms.biology.plausibility import find_partner

        partner = find_partner(self.spec)
        own, other = self.read().value, self.host.raw_value(partner)
        return {
            name: None if value is MISSING else value
            for name, value in ((self.spec.name, other), (partner, own))
        }

    def _translate(self) -> dict[str, Any]:
        from foldnote.forms.biology.motifs import translate
        from foldnote.forms.biology.plausibility import is_nucleotide

        chains = self._read_text(self.control.value).chains
        proteins = [translate(chain) if is_nucleotide(chain) else chain for chain in chains]
        translated = [protein or chain for protein, chain in zip(proteins, chains, strict=True)]
        return {self.spec.name: (self._separator or "").join(translated)}

    def _distribute(self) -> dict[str, Any]:
        from foldnote.forms.biology.paired_chains import order_chains
        from foldnote.forms.biology.plausibility import expected_kind, find_partner

        text, partner = self._read_text(self.control.value), find_partner(self.spec)
        order = order_chains(text)
        if not partner or order is None:
            return {}
        heavy, light = (text.chains[index] for index in order)
        own, other = (heavy, light) if expected_kind(self.spec.name) == "heavy" else (light, heavy)
        return {self.spec.name: own, partner: other}

    def _read_text(self, text: str) -> SequenceText:
        from foldnote.forms.biology.sequence_text import read_sequence

        return read_sequence(text, self._separator)

    def _read_typed(self, typed: str) -> Reading:
        empty = Reading("" if isinstance(self.spec.default, str) else self.blank)
        if not typed.strip():
            return empty
        from foldnote.forms.fields.kinds.sequence_reading import read_chains

        text = self._read_text(typed)
        if not any(text.chains):
            return empty
        return read_chains(self.spec, text, self._separator, self._scheme)

    def express(self, reading: Reading, problems: Any) -> None:
        """Show the reading; swapping is offered if the field of the other chain shows that it helps."""
        if reading.cautions or reading.strips:
            from foldnote.forms.fields.kinds.sequence_reading import name_domains, without_swap

            if not self._can_swap(reading):
                reading = without_swap(reading)
            if reading.strips and not reading.errors:
                text = self._read_text(str(reading.value))
                told = name_domains(text, self.host.germline_of)
                reading = reading._replace(readout="; ".join([reading.readout, *told]))
        super().express(reading, problems)

    def _can_swap(self, reading: Reading) -> bool:
        from foldnote.forms.biology.plausibility import SWAP, find_partner
        from foldnote.forms.fields.kinds.sequence_reading import are_unlike

        if not any(caution.act == SWAP for caution in reading.cautions):
            return True
        partner = find_partner(self.spec)
        return bool(partner) and are_unlike(self.read().value, self.host.raw_value(partner))
