"""A drop-down list for each column of a batch's tables, which selects what the column is used for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import ipywidgets as widgets

from foldnote.forms.batch.column_mapping import ColumnMapping, Purpose, Target
from foldnote.forms.schema.spec import FieldSpec
from foldnote.forms.ui import choice_widgets
from foldnote.forms.ui.label import LabelParts, Notice, write_label
from foldnote.forms.ui.shared_styles import SharedStyles, set_class
from foldnote.forms.wording import in_one_line

_MAX_SHOWN = 40
_PURPOSES = (("kept with results", Purpose.KEPT), ("the job's name", Purpose.JOB_NAME))


class ColumnChoices:
    """The drop-down lists, rebuilt when the columns change."""

    def __init__(self, styles: SharedStyles, on_choice: Callable[[str, Target], object]) -> None:
        self._styles = styles
        self._on_choice = on_choice
        self._boxes: dict[str, Any] = {}
        self._is_showing = False
        self.widget: widgets.Box = styles.box([], "foldnote-columns", "foldnote-hidden")

    def show(self, mapping: ColumnMapping, specs: Sequence[FieldSpec]) -> None:
        """Show the use of each column, at most of the first forty."""
        columns = [*mapping.targets][:_MAX_SHOWN]
        set_class(self.widget, "foldnote-hidden", not columns)
        self._is_showing = True
        try:
            if columns != [*self._boxes]:
                old = self.widget.children
                self._boxes = {name: self._make(name, specs) for name in columns}
                self.widget.children = tuple(self._boxes.values())
                for widget in old:
                    widget.close()
            for name, box in self._boxes.items():
                box.value = mapping.targets[name]
                doubt = mapping.doubts.get(name, "")
                title = escape(in_one_line(name, 40))
                box.description = write_label(
                    LabelParts(title, "", _write_doubt(doubt), "", escape(name)), Notice()
                )
        finally:
            self._is_showing = False

    def _make(self, name: str, specs: Sequence[FieldSpec]) -> widgets.Dropdown:
        settings = [(spec.title, spec.name) for spec in specs if not spec.is_secret and not spec.is_read_only]
        titles = [title for title, _ in settings]
        labels = [(title if titles.count(title) == 1 else f"{title} ({key})", key) for title, key in settings]
        box = choice_widgets.Dropdown(
            options=[*_PURPOSES, *labels],
            value=Purpose.KEPT,
            description_allow_html=True,
            layout=self._styles.layout,
            style=self._styles.description,
            _dom_classes=("foldnote-field", "foldnote-choice"),
        )
        box.observe(lambda change: self._choose(name, change["new"]), "value")
        return box

    def _choose(self, name: str, target: Target) -> None:
        if not self._is_showing:
            self._on_choice(name, target)


def _write_doubt(doubt: str) -> str:
    return f'<span class="fn-caution">{escape(doubt)}</span>' if doubt else ""
