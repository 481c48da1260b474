"""A text field with choices from the file in another field: a drop-down list once that file is known.

The value is text either way, so it is kept when the other field changes.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple

import ipywidgets as widgets

from foldnote.forms.fields.field import Reading
from foldnote.forms.fields.kinds.choice import enumerate_labels
from foldnote.forms.fields.kinds.text import TextField
from foldnote.forms.schema.spec import MISSING
from foldnote.forms.ui import choice_widgets
from foldnote.forms.wording import begin_sentence, in_one_line

if TYPE_CHECKING:
    from foldnote.forms.files.table_head import TableHead


class FileChoices(NamedTuple):
    """The choices that a file offers."""

    source: str
    """Name of the file, for messages: ``target.pdb``."""
    values: tuple[str, ...]
    labels: tuple[str, ...]
    notes: tuple[str, ...]
    """Readout of each choice when it is chosen."""


class FileChoiceField(TextField):
    """One string, chosen from the contents of a file in the same form."""

    noun = "value"

    @abstractmethod
    def find_choices(self) -> FileChoices | None:
        """Return the choices; None while the file is unknown."""

    def build(self) -> widgets.DOMWidget:
        """Return a text box; the drop-down list is created once there are choices."""
        self._line = self.make_line(self.hint(), "path")
        self._list: widgets.Dropdown | None = None
        self._listed: tuple[str, ...] = ()
        return self.host.styles.box([self._line], "foldnote-file")

    def parse(self) -> Reading:
        """Return the text without surrounding white space."""
        text = self._line.value.strip()
        return self.describe(text) if text else Reading("" if self.spec.default == "" else self.blank)

    def describe(self, value: Any) -> Reading:
        """Return a readout of the choice, or an error that lists the valid ones."""
        choices = self.find_choices() if isinstance(value, str) and value.strip() else None
        if choices is None:
            return Reading(value)
        if value in choices.values:
            return Reading(value, readout=choices.notes[choices.values.index(value)])
        listed = ", ".join(choices.values[:20]) or "none"
        fault = f"{begin_sentence(choices.source)} has no {self.noun} {value[:40]!r}. It has: {listed}."
        return Reading(value, (fault,))

    def render(self, value: Any) -> None:
        """Show the value as text."""
        self._line.value = "" if value is MISSING else value if isinstance(value, str) else in_one_line(value)

    def express(self, reading: Reading, problems: Any) -> None:
        """Update the choices, then show readout and errors."""
        self._offer()
        super().express(reading, problems)

    def _offer(self) -> None:
        choices = self.find_choices()
        if choices is None or not choices.values:
            self._show(self._line)
            return
        if self._list is None:
            self._list = choice_widgets.Dropdown(style=self.host.styles.description, **self.look("path"))
            self._list.observe(self._handle_choice, "index")
        text = self._line.value.strip()
        labels = ["choose…" if self.is_required else "not set", *choices.labels]
        self._listed = ("", *choices.values)
        if text not in self._listed:
            self._listed += (text,)
            labels.append(f"{in_one_line(text, 40)} (not in {choices.source})")
        with self.writing():
            options = tuple(enumerate_labels(labels))
            if tuple(self._list.options) != options:
                self._list.options = options
            self._list.index = self._listed.index(text)
            self._list.disabled = self._line.disabled
        self._show(self._list)

    def _show(self, control: widgets.Widget) -> None:
        if self.control is not control:
            self.control = control
            self.widget.children = (control,)

    def _handle_choice(self, change: Any) -> None:
        if self._is_writing or change["new"] is None:
            return
        with self.writing():
            self._line.value = self._listed[change["new"]]
        self.changed()


class ColumnField(FileChoiceField):
    """One column by name, listed with its first cell."""

    noun = "column"

    def hint(self) -> str:
        """Return the placeholder text."""
        return "name of a column" if self.spec.notes.get("of") else super().hint()

    def find_choices(self) -> FileChoices | None:
        """Return the columns of the table."""
        table = self._table()
        if table is None:
            return None
        examples = [
            table.examples[index] if index < len(table.examples) else ""
            for index in range(len(table.columns))
        ]
        return FileChoices(
            table.name,
            table.columns,
            tuple(_label(name, example) for name, example in zip(table.columns, examples, strict=True)),
            tuple(f"first cell: {_cut(example, 40)}" if example else "" for example in examples),
        )

    def _table(self) -> TableHead | None:
        name = self.spec.notes.get("of")
        current: Any = self.host.raw_value(name) if isinstance(name, str) else MISSING
        from foldnote.forms.files.table_head import find_table  # deferred: few forms have a table

        return find_table(current, self.host.known_uploads())


def _label(name: str, example: str) -> str:
    return f"{name} · {_cut(example, 24)}" if example else name


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
