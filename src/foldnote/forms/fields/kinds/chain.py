"""Fields for chains of the structure that another field of the form holds."""

from __future__ import annotations

from typing import Any, Final

import ipywidgets as widgets

from foldnote.forms.fields.field import Field, Reading
from foldnote.forms.fields.kinds.listing import WordsField
from foldnote.forms.fields.kinds.offered import OfferedField, Offers
from foldnote.forms.fields.kinds.ticks import Ticks
from foldnote.forms.files.structure_outline import Outline, OutlineChain, find_outline
from foldnote.forms.schema.spec import MISSING
from foldnote.text import count

_MOST_TICKS: Final = 24
_SHOWN_LETTERS: Final = 24


def outline_for(field: Field) -> Outline | None:
    """The structure that a field refers to by its note ``of``; None while it is not known."""
    name = field.spec.notes.get("of")
    if not isinstance(name, str):
        return None
    return find_outline(field.host.raw_value(name), field.host.known_uploads())


def tell_chain(chain: OutlineChain) -> str:
    """How a chain begins, by which people know it."""
    more = "…" if len(chain.letters) > _SHOWN_LETTERS else ""
    told = f"begins {chain.letters[:_SHOWN_LETTERS]}{more}" if chain.is_polymer else ""
    cdrs = f"{chain.stretches[0].numbering} numbering" if chain.stretches else ""
    return ", ".join(filter(None, (told, cdrs)))


class ChainField(OfferedField):
    """One chain, offered with its kind and length."""

    noun = "chain"

    def hint(self) -> str:
        """What stands in the empty line."""
        return "chain id, e.g. H" if self.spec.notes.get("of") else super().hint()

    def offers(self) -> Offers | None:
        """The chains of the structure."""
        outline = outline_for(self)
        if outline is None:
            return None
        chains = outline.chains
        return Offers(
            outline.name,
            tuple(chain.name for chain in chains),
            tuple(chain.label for chain in chains),
            tuple(map(tell_chain, chains)),
        )


class ChainsField(WordsField):
    """Several chains: a line, and the chains of the structure to tick."""

    width = "broad"

    def build(self) -> widgets.DOMWidget:
        """The line; boxes to tick come with a structure."""
        self.ticks = Ticks[str](self.make_line("e.g. H, L", "path"), self.host.looks, self._tick)
        return self.ticks.widget

    def describe(self, value: Any) -> Reading:
        """Say which chains these are, and which the structure lacks."""
        outline = outline_for(self)
        if not isinstance(value, list) or not value or outline is None:
            return super().describe(value)
        names = [name for entry in value for name in str(entry).split()]
        found = [outline.find(name) for name in names]
        for name, chain in zip(names, found, strict=True):
            if chain is None:
                known = ", ".join(chain.name for chain in outline.chains) or "none"
                return Reading(value, (f"{outline.name} has no chain {name[:20]!r}. It has: {known}.",))
        total = sum(len(chain.residues) for chain in found if chain is not None)
        pairs = [str(entry) for entry in value if " " in str(entry)]
        told = f", {count(len(pairs), 'pair')}: {', '.join(pairs)}" if pairs else ""
        return Reading(value, readout=f"{count(len(found), 'chain')}, {count(total, 'residue')}{told}")

    def express(self, read: Reading, problems: Any) -> None:
        """Offer the structure's chains before anything is said."""
        self._offer(read.value)
        super().express(read, problems)

    def _offer(self, value: Any) -> None:
        outline = outline_for(self)
        chains = [chain for chain in outline.chains if chain.is_polymer] if outline else []
        named = {name for entry in value for name in str(entry).split()} if isinstance(value, list) else set()
        self.ticks.show([(chain.name, chain.label) for chain in chains[:_MOST_TICKS]], named)

    def _tick(self, name: str, is_on: bool) -> None:
        held = self.read().value
        entries = [str(entry) for entry in held] if isinstance(held, list) else []
        if is_on:
            entries.append(name)
        else:
            left = [" ".join(one for one in entry.split() if one != name) for entry in entries]
            entries = [entry for entry in left if entry]
        with self.writing():
            self.render(entries or MISSING)
        self.changed()
