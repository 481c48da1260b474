"""Checkboxes below a text box that show what the text selects; ticking one changes the text."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from typing import Generic, TypeVar

import ipywidgets as widgets

from foldnote.forms.ui import rare_widgets
from foldnote.forms.ui.shared_styles import SharedStyles

Key = TypeVar("Key", bound=Hashable)


class CheckboxList(Generic[Key]):
    """The checkboxes of one field; none while there are no choices."""

    def __init__(
        self, line: widgets.Widget, styles: SharedStyles, on_tick: Callable[[Key, bool], None]
    ) -> None:
        self._line = line
        self._styles = styles
        self._on_tick = on_tick
        self._offered: tuple[tuple[Key, str], ...] = ()
        self._is_marking = False
        self.boxes: dict[Key, widgets.Checkbox] = {}
        self.widget = styles.box([line], "foldnote-file")
        """The text box, and the checkboxes below it."""

    def show(self, offered: Sequence[tuple[Key, str]], ticked: Collection[Key]) -> None:
        """Show a checkbox for each (key, label) in ``offered``, those in ``ticked`` ticked."""
        if tuple(offered) != self._offered:
            self._offered = tuple(offered)
            self._build()
        self._is_marking = True
        try:
            for key, box in self.boxes.items():
                box.value = key in ticked
        finally:
            self._is_marking = False

    def _build(self) -> None:
        styles, old = self._styles, [*self.widget.children[1:], *self.boxes.values()]
        self.boxes = {
            key: rare_widgets.Checkbox(
                False,
                description=label,
                indent=False,
                layout=styles.layout,
                style=styles.checkbox,
                disabled=self._line.disabled,
            )
            for key, label in self._offered
        }
        for key, box in self.boxes.items():
            box.observe(lambda change, key=key: self._handle_tick(key, bool(change["new"])), "value")
        row = [styles.box(list(self.boxes.values()), "foldnote-ticks")] if self.boxes else []
        self.widget.children = (self._line, *row)
        for part in old:
            part.close()

    def _handle_tick(self, key: Key, is_on: bool) -> None:
        if not self._is_marking:
            self._on_tick(key, is_on)
