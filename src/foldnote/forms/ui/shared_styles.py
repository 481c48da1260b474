"""The layout and style models that all fields of one form share, so that a field costs one model.

Each form has its own, so that closing one form's widgets does not break another's.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Final

import ipywidgets as widgets

from foldnote.forms.ui import compact_widgets

_MAX_EAGER_FIELDS: Final = 200


def set_class(widget: widgets.DOMWidget, name: str, is_on: bool) -> None:
    """Add or remove a CSS class of ``widget``."""
    (widget.add_class if is_on else widget.remove_class)(name)


class SharedStyles:
    """The shared models of one form, and functions that build plain widgets with them."""

    def __init__(self) -> None:
        self.eager_fields_left = _MAX_EAGER_FIELDS
        """Number of fields that may still be built before they are opened."""
        self._hidden_box: widgets.Box | None = None
        self.layout = compact_widgets.Layout()
        self.text = compact_widgets.CompactTextStyle()
        self.html_style = compact_widgets.CompactHTMLStyle()
        self.button_style = compact_widgets.CompactButtonStyle()

    @cached_property
    def description(self) -> widgets.Widget:
        """The style of drop-down lists."""
        from foldnote.forms.ui.choice_widgets import CompactDescriptionStyle

        return CompactDescriptionStyle()

    @cached_property
    def checkbox(self) -> widgets.Widget:
        """The style of checkboxes."""
        from foldnote.forms.ui.rare_widgets import CompactCheckboxStyle

        return CompactCheckboxStyle()

    @property
    def hidden_box(self) -> widgets.Box:
        """An empty, hidden box, the widget of all fields that are not built."""
        if self._hidden_box is None:
            self._hidden_box = self.box([], "foldnote-hidden")
        return self._hidden_box

    def html(self, value: str, *classes: str) -> widgets.HTML:
        """Return an HTML widget with these CSS classes."""
        return compact_widgets.HTML(value, layout=self.layout, style=self.html_style, _dom_classes=classes)

    def box(self, children: list[widgets.Widget], *classes: str) -> widgets.Box:
        """Return a container, laid out by the style sheet through its CSS classes."""
        return compact_widgets.Box(children, layout=self.layout, _dom_classes=classes)

    def button(self, description: str, *classes: str, **options: Any) -> widgets.Button:
        """Return a button with these CSS classes."""
        return compact_widgets.Button(
            description=description,
            layout=self.layout,
            style=self.button_style,
            _dom_classes=classes,
            **options,
        )
