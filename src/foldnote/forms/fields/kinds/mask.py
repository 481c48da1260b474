"""The field for a mask: a range of residues, shown on the sequence that it masks."""

from __future__ import annotations

import re
from html import escape
from typing import Any, Final

import ipywidgets as widgets

from foldnote.catalog.sequences import clean_sequence
from foldnote.forms.fields.field import Reading
from foldnote.forms.fields.kinds.text import TextField
from foldnote.forms.schema.spec import MISSING
from foldnote.forms.ui.stylesheet import read_style
from foldnote.text import count

_RANGE: Final = re.compile(r"(\d{1,5})\s*(?:-|\u2013|\.\.|to)\s*(\d{1,5})")
_MAX_SHOWN_LENGTH: Final = 600
_BLOCK: Final = 10


class MaskField(TextField):
    """A range such as ``97-105`` (1-based, inclusive), and below it the sequence with the range marked."""

    width = "wide"
    takes_empty_text = False

    def build(self) -> widgets.DOMWidget:
        """Return a line; the sequence is shown below it once there is one."""
        self._strip: widgets.HTML | None = None
        return self.host.styles.box([self.make_line(self.hint(), "path")], "foldnote-file")

    def hint(self) -> str:
        """Return the placeholder text."""
        return "start-end, e.g. 97-105"

    def describe(self, value: Any) -> Reading:
        """Return the range as ``start-end``, with a readout of the masked residues."""
        match = _RANGE.fullmatch(value.strip()) if isinstance(value, str) else None
        if match is None:
            return Reading(value)
        first, last, sequence = int(match[1]), int(match[2]), self._sequence()
        mask = f"{first}-{last}"
        if not 1 <= first <= last <= len(sequence):
            return Reading(mask)
        masked = sequence[first - 1 : last]
        readout = f"{count(len(masked), 'residue')} of {len(sequence)} masked: {_cut(masked)}"
        return Reading(mask, readout=readout)

    def keep(self, value: Any) -> Any:
        """Return the range in its standard spelling, as for typed text."""
        return self.describe(value).value

    def express(self, reading: Reading, problems: Any) -> None:
        """Mark the range on the sequence, then show readout and errors."""
        sequence = self._sequence()
        if sequence and len(sequence) <= _MAX_SHOWN_LENGTH:
            if self._strip is None:
                self._strip = self.host.styles.html("", "foldnote-part")
                self.widget.children = (self.control, self._strip)
            html = f"<style>{read_style('science')}</style>" + draw_mask(
                sequence, reading.value if isinstance(reading.value, str) else ""
            )
            if self._strip.value != html:
                self._strip.value = html
        elif self._strip is not None:
            self.widget.children = (self.control,)
            self._strip.close()
            self._strip = None
        super().express(reading, problems)

    def _sequence(self) -> str:
        name = self.spec.notes.get("of")
        current = self.host.raw_value(name) if isinstance(name, str) else MISSING
        return clean_sequence(current) if isinstance(current, str) else ""


def draw_mask(sequence: str, text: str) -> str:
    """Return the HTML of the sequence in numbered blocks of ten, the masked letters marked."""
    match = _RANGE.fullmatch(text.strip())
    first, last = (int(match[1]), int(match[2])) if match else (0, 0)
    blocks = []
    for start in range(0, len(sequence), _BLOCK):
        letters = sequence[start : start + _BLOCK]
        low, high = max(first - 1 - start, 0), min(last - start, len(letters))
        if 0 <= low < high and last >= first:
            marked = (
                f"{escape(letters[:low])}<mark>{escape(letters[low:high])}</mark>{escape(letters[high:])}"
            )
        else:
            marked = escape(letters)
        blocks.append(f"<span>{marked}<sub>{start + len(letters)}</sub></span>")
    label = _describe_mask(sequence, first, last)
    content = "".join(blocks)
    return f'<div class="fn-strip" dir="ltr" role="img" aria-label="{label}">{content}</div>'


def _describe_mask(sequence: str, first: int, last: int) -> str:
    masked = f", of which {first} to {last} are masked" if 1 <= first <= last <= len(sequence) else ""
    return f"The sequence, {count(len(sequence), 'residue')}{masked}"


def _cut(letters: str) -> str:
    return letters if len(letters) <= 40 else f"{letters[:39]}…"
