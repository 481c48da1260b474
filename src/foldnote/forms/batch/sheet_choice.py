"""A drop-down list for the sheet of a workbook from which the rows of a batch are read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import ipywidgets as widgets

from foldnote.forms.ui import choice_widgets
from foldnote.forms.ui.label import LabelParts, Notice, write_label
from foldnote.forms.ui.shared_styles import SharedStyles, set_class


class SheetChoice:
    """The list, shown while the batch contains only the rows of one workbook with several sheets."""

    def __init__(self, styles: SharedStyles, on_choice: Callable[[str], object]) -> None:
        """Build an empty box; ``on_choice`` is called with the sheet that a person chose."""
        self._styles = styles
        self._on_choice = on_choice
        self._list: Any = None
        self._is_showing = False
        self.widget: widgets.Box = styles.box([], "foldnote-policy", "foldnote-hidden")

    def show(self, sheets: tuple[str, ...], current: str) -> None:
        """Show the sheets with the current one selected; fewer than two sheets hide the list."""
        set_class(self.widget, "foldnote-hidden", len(sheets) < 2)
        if len(sheets) < 2:
            return
        if self._list is None:
            self._list = choice_widgets.Dropdown(
                description=write_label(LabelParts("Sheet of the workbook", "", "", ""), Notice()),
                description_allow_html=True,
                layout=self._styles.layout,
                style=self._styles.description,
                _dom_classes=("foldnote-field", "foldnote-choice"),
            )
            self._list.observe(self._choose, "value")
            self.widget.children = (self._list,)
        self._is_showing = True
        try:
            if self._list.options != sheets:
                self._list.options = sheets
            self._list.value = current
        finally:
            self._is_showing = False

    def _choose(self, change: Mapping[str, Any]) -> None:
        if not self._is_showing:
            self._on_choice(change["new"])
