"""The layout and style models that all fields of one form share, so that a field costs one model.

They belong to one form: closing a form's widgets never breaks another's. Here is counted, too, how many
fields a form has built, since a large schema's are built as they are opened.
"""

from __future__ import annotations

from typing import Any, Final

import ipywidgets as widgets

from foldnote.forms import lean

_ROOM: Final = 200


class Looks:
    """One of each, and the few plain widgets that are made with them."""

    def __init__(self) -> None:
        self.room = _ROOM
        """How many fields more are built before somebody opens them."""
        self._nothing: widgets.Box | None = None
        self.layout = lean.Layout()
        self.description = lean.LeanDescriptionStyle()
        self.text = lean.LeanTextStyle()
        self.checkbox = lean.LeanCheckboxStyle()
        self.html_style = lean.LeanHTMLStyle()
        self.button_style = lean.LeanButtonStyle()

    @property
    def nothing(self) -> widgets.Box:
        """An empty box that stands for what is not built."""
        if self._nothing is None:
            self._nothing = self.box([], "foldnote-hidden")
        return self._nothing

    def html(self, value: str, *classes: str) -> widgets.HTML:
        """A piece of HTML."""
        return lean.HTML(value, layout=self.layout, style=self.html_style, _dom_classes=classes)

    def box(self, children: list[widgets.Widget], *classes: str) -> widgets.Box:
        """A box whose arrangement the style sheet decides."""
        return lean.Box(children, layout=self.layout, _dom_classes=classes)

    def button(self, description: str, *classes: str, **more: Any) -> widgets.Button:
        """A button."""
        return lean.Button(
            description=description, layout=self.layout, style=self.button_style, _dom_classes=classes, **more
        )
