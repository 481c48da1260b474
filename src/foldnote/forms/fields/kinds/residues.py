"""Fields for residues of the structure given in another field of the form.

Ranges may be typed; residue numbers separated by spaces are sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import ipywidgets as widgets

from foldnote.forms.fields.field import Reading
from foldnote.forms.fields.kinds.chain import outline_for
from foldnote.forms.fields.kinds.listing import MappingField
from foldnote.forms.fields.kinds.text import TextField
from foldnote.forms.schema.spec import MISSING
from foldnote.forms.ui.checkbox_list import CheckboxList
from foldnote.forms.wording import begin_sentence
from foldnote.text import count

if TYPE_CHECKING:
    from foldnote.forms.files.structure_outline import ChainRegion, Outline, OutlineChain

_SHOWN_LETTERS: Final = 30


class ResiduesField(TextField):
    """Residues of one chain."""

    width = "broad"

    def hint(self) -> str:
        """Return the placeholder text."""
        return "e.g. 26-33 52A"

    def describe(self, value: Any) -> Reading:
        """Return the residues, ranges expanded; an error for one that the structure lacks."""
        if not isinstance(value, str) or not value.strip() or ":" in value:
            return Reading(value)
        from foldnote.forms.biology.residue_text import read_residues  # deferred: often not needed

        outline, chain = outline_for(self), self._chain()
        parsed = read_residues(value, chain, outline.name if outline else "")
        if parsed.fault:
            return Reading(value, (parsed.fault,))
        return Reading(" ".join(parsed.residues), readout=describe_residues(parsed.residues, chain))

    def keep(self, value: Any) -> Any:
        """Return the value with ranges expanded, as for typed text."""
        reading = self.describe(value)
        return value if reading.errors else reading.value

    def express(self, reading: Reading, problems: Any) -> None:
        """Show the chain's numbering as the placeholder."""
        chain = self._chain()
        self.widget.placeholder = (
            f"{chain.extent}, e.g. {chain.residues[0]}-{chain.residues[-1]}"
            if (chain is not None)
            else self.hint()
        )
        super().express(reading, problems)

    def _chain(self) -> OutlineChain | None:
        """Return the chain in the field that the note ``chain`` names, else the structure's only chain."""
        outline, name = outline_for(self), self.spec.notes.get("chain")
        if outline is None:
            return None
        if isinstance(name, str):
            current = self.host.raw_value(name)
            return outline.find(current) if isinstance(current, str) else None
        return outline.chains[0] if len(outline.chains) == 1 else None


class ResidueMapField(MappingField):
    """Chains with their residues, one chain per line, and a checkbox for each recognised CDR."""

    def build(self) -> widgets.DOMWidget:
        """Return the text area; checkboxes are added once a structure is known."""
        line = self.make_line("H: 26-33 52A\nL: 50 51", "path", "lines", rows=2)
        self.ticks: CheckboxList[tuple[str, ChainRegion]] = CheckboxList(line, self.host.styles, self._tick)
        return self.ticks.widget

    def parse(self) -> Reading:
        """Return the map with its ranges expanded, or the first error."""
        reading = super().parse()
        return (
            reading if reading.errors or not isinstance(reading.value, dict) else self.describe(reading.value)
        )

    def describe(self, value: Any) -> Reading:
        """Return the residues of each chain, ranges expanded; an error for one that the structure lacks."""
        outline = outline_for(self)
        if not isinstance(value, Mapping) or not all(isinstance(text, str) for text in value.values()):
            return super().describe(value)
        if not value:
            return Reading(value, readout=_describe_extents(outline))
        from foldnote.forms.biology.residue_text import read_residues

        expanded: dict[str, str] = {}
        side_chains: list[tuple[str, str]] = []
        readouts: list[str] = []
        for name, text in value.items():
            chain = outline.find(name) if outline is not None else None
            if outline is not None and chain is None:
                known = ", ".join(chain.name for chain in outline.chains)
                fault = f"{begin_sentence(outline.name)} has no chain {name[:20]!r}. It has: {known}."
                return Reading(value, (fault,))
            parsed = read_residues(text, chain, outline.name if outline else "")
            if parsed.fault:
                return Reading(value, (f"{name}: {parsed.fault}" if chain is None else parsed.fault,))
            expanded[name] = " ".join(parsed.residues)
            readouts.append(f"{name}: {describe_residues(parsed.residues, chain)}")
            side_chains += _list_names(parsed.residues, chain)
        return self._check_rotatable(Reading(expanded, readout="; ".join(readouts)), side_chains)

    def _check_rotatable(self, reading: Reading, residues: list[tuple[str, str]]) -> Reading:
        """Return the reading with the verdict of the note ``turning`` on side chains in a known structure."""
        rule = self.spec.notes.get("turning")
        if not isinstance(rule, Mapping) or not residues:
            return reading
        from foldnote.catalog.checks.structure import count_turning_bonds, find_turning_fault

        fault = find_turning_fault(residues, rule)
        if fault:
            return Reading(reading.value, (fault,))
        bonds = count(count_turning_bonds((name for _, name in residues), rule), "bond")
        maximum = rule.get("most")
        readout = (
            f"{reading.readout}; {bonds} of the side chains can rotate, at most {maximum} with the ligand's"
        )
        return Reading(reading.value, readout=readout)

    def keep(self, value: Any) -> Any:
        """Return the value with ranges expanded, as for typed text."""
        reading = self.describe(value)
        return value if reading.errors else reading.value

    def express(self, reading: Reading, problems: Any) -> None:
        """Update the checkboxes, then show readout and errors."""
        self._offer(reading.value)
        if reading.value is MISSING and not reading.readout and not reading.errors:
            reading = Reading(MISSING, readout=_describe_extents(outline_for(self)))
        super().express(reading, problems)

    def _offer(self, value: Any) -> None:
        outline, current = outline_for(self), _split(value)
        offered = [
            ((chain.name, stretch), _label(chain, stretch))
            for chain in (outline.chains if outline else ())
            for stretch in chain.stretches
        ]
        ticked = {key for key, _ in offered if set(current.get(key[0], ())).issuperset(key[1].residues)}
        self.ticks.show(offered, ticked)

    def _tick(self, key: tuple[str, ChainRegion], is_on: bool) -> None:
        name, stretch = key
        current = _split(self.read().value)
        outside = [residue for residue in current.get(name, []) if residue not in stretch.residues]
        current[name] = [*outside, *stretch.residues] if is_on else outside
        with self.writing():
            self.render({chain: " ".join(residues) for chain, residues in current.items() if residues})
        self.changed()


def _split(value: Any) -> dict[str, list[str]]:
    return {name: str(text).split() for name, text in value.items()} if isinstance(value, Mapping) else {}


def _label(chain: OutlineChain, stretch: ChainRegion) -> str:
    """Write the label of a CDR's checkbox: ``H CDR-3 · 105 to 117 (IMGT)``."""
    span = f"{stretch.residues[0]} to {stretch.residues[-1]}"
    return f"{chain.name} {stretch.name} · {span} ({stretch.numbering})"


def describe_residues(residues: tuple[str, ...], chain: OutlineChain | None) -> str:
    """Describe residues: ``13 residues, SRWGGDGFYAMDY``."""
    if not residues:
        return ""
    from foldnote.forms.biology.residue_text import letters_of

    letters = letters_of(residues, chain) if chain is not None else ""
    start = letters if len(letters) <= _SHOWN_LETTERS else f"{letters[:_SHOWN_LETTERS]}…"
    return ", ".join(filter(None, (count(len(residues), "residue"), start)))


def _list_names(residues: tuple[str, ...], chain: OutlineChain | None) -> list[tuple[str, str]]:
    """Return a label for messages and the three-letter name of each residue of a known protein chain."""
    if chain is None or chain.kind != "protein":
        return []
    import gemmi

    from foldnote.forms.biology.residue_text import letters_of

    letters = letters_of(residues, chain)
    names = [gemmi.expand_one_letter(letter, gemmi.ResidueKind.AA) or "" for letter in letters]
    return [(f"{name} {chain.name}:{number}", name) for number, name in zip(residues, names, strict=True)]


def _describe_extents(outline: Outline | None) -> str:
    """Describe the residue numbers of each polymer chain, as numbered in the file."""
    if outline is None:
        return ""
    parts = [f"{chain.name} {chain.extent}" for chain in outline.chains if chain.is_polymer][:6]
    return f"{outline.name} has {', '.join(parts)}" if parts else ""
