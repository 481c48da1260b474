"""Edit, duplicate and remove single rows of a batch.

The row is chosen by its number, or with the buttons in the table if the page runs the form's script.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

import ipywidgets as widgets

from foldnote.forms.schema.spec import FieldSpec
from foldnote.forms.ui import compact_widgets
from foldnote.forms.ui.label import LabelParts, Notice, write_label
from foldnote.forms.ui.shared_styles import SharedStyles, set_class

Act = Callable[[str, int], object]
"""Called with ``edit``, ``duplicate`` or ``remove`` and a row's index."""


class RowEditor:
    """A row's number with buttons, and the fields of the row that is being edited."""

    def __init__(
        self, styles: SharedStyles, on_act: Act, on_save: Callable[[int, Mapping[str, str]], object]
    ) -> None:
        self._styles = styles
        self._on_act = on_act
        self._on_save = on_save
        self._index = 0
        self._original: dict[str, str] = {}
        self._boxes: dict[str, Any] = {}
        self._number = compact_widgets.Text(
            value="1",
            description="Row",
            layout=styles.layout,
            style=styles.text,
            _dom_classes=("foldnote-field", "foldnote-row-number"),
        )
        buttons = [self._make_button(label) for label in ("Edit", "Duplicate", "Remove")]
        self.chooser: widgets.Box = styles.box([self._number, *buttons], "foldnote-row-chooser")
        self.widget: widgets.Box = styles.box([], "foldnote-row-editor", "foldnote-hidden")

    def _make_button(self, label: str) -> widgets.Button:
        button = self._styles.button(f"{label} row", "foldnote-second")
        button.on_click(lambda _button: self._act(label.lower()))
        return button

    def _act(self, act: str) -> None:
        text = str(self._number.value).strip()
        if text.isdigit():
            self._on_act(act, int(text) - 1)

    def open(self, index: int, fields: Sequence[tuple[FieldSpec, Any]]) -> None:
        """Show the values of a row, by index, for editing."""
        self.close()
        self._index = index
        self._original = {spec.name: write_value(value) for spec, value in fields}
        self._boxes = {spec.name: self._make_box(spec) for spec, _ in fields}
        heading = self._styles.html(
            f'<div class="fn-group" role="heading" aria-level="4">Row {index + 1}</div>', "foldnote-part"
        )
        save = self._styles.button("Save row", "foldnote-submit")
        save.on_click(lambda _button: self._save())
        cancel = self._styles.button("Cancel", "foldnote-second")
        cancel.on_click(lambda _button: self.close())
        buttons = self._styles.box([save, cancel], "foldnote-actions")
        self.widget.children = (heading, *self._boxes.values(), buttons)
        set_class(self.widget, "foldnote-hidden", False)
        next(iter(self._boxes.values()), save).focus()

    def _make_box(self, spec: FieldSpec) -> Any:
        kind = compact_widgets.Textarea if spec.role in ("sequence", "sequences") else compact_widgets.Text
        return kind(
            value=self._original[spec.name],
            placeholder="as in the form",
            description=write_label(LabelParts(escape(spec.title), "", "", "", escape(spec.name)), Notice()),
            description_allow_html=True,
            layout=self._styles.layout,
            style=self._styles.text,
            _dom_classes=("foldnote-field", "foldnote-lines", "foldnote-wide"),
        )

    def _save(self) -> None:
        texts = {name: str(box.value).strip() for name, box in self._boxes.items()}
        changed = {name: text for name, text in texts.items() if text != self._original[name]}
        index = self._index
        self.close()
        self._on_save(index, changed)

    def close(self) -> None:
        """Discard the fields."""
        set_class(self.widget, "foldnote-hidden", True)
        old, self.widget.children, self._boxes = self.widget.children, (), {}
        for widget in old:
            widget.close()


def write_value(value: Any) -> str:
    """Return the text of a value, as it would be typed into a cell."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)
