"""The sheet of a workbook whose rows a form's batch has, as a drop-down list."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import ipywidgets as widgets

from foldnote.forms.ui import choice_widgets
from foldnote.forms.ui.label import LabelParts, Notice, write_label
from foldnote.forms.ui.shared_styles import Looks, set_class


class SheetChoice:
    """The list, shown for a workbook of several sheets as long as its rows are all that the batch has."""

    def __init__(self, looks: Looks, on_choice: Callable[[str], object]) -> None:
        """Build an empty box; ``on_choice`` is called with the sheet that a person chose."""
        self._looks = looks
        self._on_choice = on_choice
        self._list: Any = None
        self._is_showing = False
        self.widget: widgets.Box = looks.box([], "foldnote-policy", "foldnote-hidden")

    def show(self, sheets: tuple[str, ...], chosen: str) -> None:
        """Show the sheets with the one that was read; fewer than two hide the list."""
        set_class(self.widget, "foldnote-hidden", len(sheets) < 2)
        if len(sheets) < 2:
            return
        if self._list is None:
            self._list = choice_widgets.Dropdown(
                description=write_label(LabelParts("Sheet of the workbook", "", "", ""), Notice()),
                description_allow_html=True,
                layout=self._looks.layout,
                style=self._looks.description,
                _dom_classes=("foldnote-field", "foldnote-choice"),
            )
            self._list.observe(self._choose, "value")
            self.widget.children = (self._list,)
        self._is_showing = True
        try:
            if self._list.options != sheets:
                self._list.options = sheets
            self._list.value = chosen
        finally:
            self._is_showing = False

    def _choose(self, change: Mapping[str, Any]) -> None:
        if not self._is_showing:
            self._on_choice(change["new"])
