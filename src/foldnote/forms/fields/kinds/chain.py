"""Fields for chains of the structure given in another field of the form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import ipywidgets as widgets

from foldnote.forms.fields.field import Field, Reading
from foldnote.forms.fields.kinds.listing import WordsField
from foldnote.forms.fields.kinds.offered import FileChoiceField, FileChoices
from foldnote.forms.schema.spec import MISSING
from foldnote.forms.ui.checkbox_list import CheckboxList
from foldnote.forms.wording import begin_sentence
from foldnote.text import count

if TYPE_CHECKING:
    from foldnote.forms.files.structure_outline import Outline, OutlineChain

_MAX_TICKS: Final = 24
_SHOWN_LETTERS: Final = 24


def outline_for(field: Field) -> Outline | None:
    """Return the structure in the field that the note ``of`` names; None while it has no known chain."""
    name = field.spec.notes.get("of")
    if not isinstance(name, str):
        return None
    value = field.host.raw_value(name)
    if value in (MISSING, None, ""):
        return None
    from foldnote.forms.files.structure_outline import find_outline  # deferred: often not needed

    outline = find_outline(value, field.host.known_uploads())
    return outline if outline is not None and outline.chains else None


def describe_chain(chain: OutlineChain) -> str:
    """Return the first residues of a polymer chain, and the scheme that numbers its CDRs."""
    ellipsis = "…" if len(chain.letters) > _SHOWN_LETTERS else ""
    start = f"begins {chain.letters[:_SHOWN_LETTERS]}{ellipsis}" if chain.is_polymer else ""
    cdrs = f"{chain.stretches[0].numbering} numbering" if chain.stretches else ""
    return ", ".join(filter(None, (start, cdrs)))


class ChainField(FileChoiceField):
    """One chain, offered with its kind and length."""

    noun = "chain"

    def hint(self) -> str:
        """Return the placeholder text."""
        return "chain id, e.g. H" if self.spec.notes.get("of") else super().hint()

    def find_choices(self) -> FileChoices | None:
        """Return the chains of the structure."""
        outline = outline_for(self)
        if outline is None:
            return None
        chains = outline.chains
        return FileChoices(
            outline.name,
            tuple(chain.name for chain in chains),
            tuple(chain.label for chain in chains),
            tuple(map(describe_chain, chains)),
        )


class ChainsField(WordsField):
    """Several chains: a text line, and a checkbox for each chain of the structure."""

    width = "broad"

    def build(self) -> widgets.DOMWidget:
        """Return the line; checkboxes are added once a structure is known."""
        self.ticks = CheckboxList[str](
            self.make_line("e.g. H, L", "path", "words"), self.host.styles, self._tick
        )
        return self.ticks.widget

    def describe(self, value: Any) -> Reading:
        """Return the number of chains, residues and pairs; an error for a chain that the structure lacks."""
        outline = outline_for(self)
        if not isinstance(value, list) or not value or outline is None:
            return super().describe(value)
        names = [name for entry in value for name in str(entry).split()]
        chains = [outline.find(name) for name in names]
        for name, chain in zip(names, chains, strict=True):
            if chain is None:
                known = ", ".join(chain.name for chain in outline.chains) or "none"
                fault = f"{begin_sentence(outline.name)} has no chain {name[:20]!r}. It has: {known}."
                return Reading(value, (fault,))
        total = sum(len(chain.residues) for chain in chains if chain is not None)
        pairs = [str(entry) for entry in value if " " in str(entry)]
        paired = f", {count(len(pairs), 'pair')}: {', '.join(pairs)}" if pairs else ""
        return Reading(value, readout=f"{count(len(chains), 'chain')}, {count(total, 'residue')}{paired}")

    def express(self, reading: Reading, problems: Any) -> None:
        """Update the checkboxes, then show readout and errors."""
        self._offer(reading.value)
        super().express(reading, problems)

    def _offer(self, value: Any) -> None:
        outline = outline_for(self)
        chains = [chain for chain in outline.chains if chain.is_polymer] if outline else []
        selected = (
            {name for entry in value for name in str(entry).split()} if isinstance(value, list) else set()
        )
        self.ticks.show([(chain.name, chain.label) for chain in chains[:_MAX_TICKS]], selected)

    def _tick(self, name: str, is_on: bool) -> None:
        current = self.read().value
        entries = [str(entry) for entry in current] if isinstance(current, list) else []
        if is_on:
            entries.append(name)
        else:
            shortened = [" ".join(part for part in entry.split() if part != name) for entry in entries]
            entries = [entry for entry in shortened if entry]
        with self.writing():
            self.render(entries or MISSING)
        self.changed()
