"""ipywidgets whose state omits the front end's defaults, so that forms stay small.

A plain ipywidgets model spends two thirds of its first message on names and nulls that are the defaults of
its front-end class as well. A form has many models, so these leave them out; nothing else is changed, and
later messages are ipywidgets' own.
"""

# mypy: disable-error-code="misc"
# ipywidgets has no types, so every subclass of its classes is one of Any

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import ipywidgets as widgets
from ipywidgets.widgets.widget_bool import CheckboxStyle
from ipywidgets.widgets.widget_button import ButtonStyle
from ipywidgets.widgets.widget_description import DescriptionStyle
from ipywidgets.widgets.widget_string import HTMLStyle, TextStyle

Keys = str | Iterable[str] | None
"""Which parts of a state are asked for; None for the whole."""

_ASSUMED: Final = {
    "_view_count": (None,),
    "_view_module": ("@jupyter-widgets/controls", "@jupyter-widgets/base"),
    "box_style": ("",),
    "button_style": ("",),
    "continuous_update": (True,),
    "description": ("",),
    "description_allow_html": (False,),
    "disabled": (False,),
    "icon": ("",),
    "tabbable": (None,),
    "tooltip": (None,),
}
"""Values that @jupyter-widgets/base 2 and /controls 2 give these names themselves."""
_OF_CLASS: Final = ("_view_name", "_view_module_version")


class CompactWidget(widgets.Widget):
    """A widget whose whole state leaves out what every front end fills in."""

    def get_state(
        self, key: str | Iterable[str] | None = None, drop_defaults: bool = False
    ) -> dict[str, Any]:
        """As ipywidgets has it; the whole state without what is assumed."""
        state: dict[str, Any] = super().get_state(key, drop_defaults)
        if key is not None:
            return state
        known = self.traits()
        return {
            name: value
            for name, value in state.items()
            if not (name in _ASSUMED and value in _ASSUMED[name])
            and not (name in _OF_CLASS and value == known[name].default_value)
        }


class _CompactStyle(CompactWidget):
    """A style or a layout: everything that is not set is assumed."""

    def get_state(
        self, key: str | Iterable[str] | None = None, drop_defaults: bool = False
    ) -> dict[str, Any]:
        """As ipywidgets has it; the whole state without nulls."""
        state = super().get_state(key, drop_defaults)
        return state if key is not None else {name: item for name, item in state.items() if item is not None}


class Text(CompactWidget, widgets.Text):
    """One line of text."""


class Password(CompactWidget, widgets.Password):
    """One line that is shown as dots."""


class Textarea(CompactWidget, widgets.Textarea):
    """Several lines of text."""


class Combobox(CompactWidget, widgets.Combobox):
    """One line of text with suggestions."""


class Dropdown(CompactWidget, widgets.Dropdown):
    """One of several, in a list that opens."""


class SelectMultiple(CompactWidget, widgets.SelectMultiple):
    """Some of many."""


class Checkbox(CompactWidget, widgets.Checkbox):
    """Yes or no."""


class HTML(CompactWidget, widgets.HTML):
    """A piece of HTML."""


class Box(CompactWidget, widgets.Box):
    """What holds others."""


class Button(CompactWidget, widgets.Button):
    """A button."""


class Layout(_CompactStyle, widgets.Layout):
    """The layout that all of a form share."""


class CompactDescriptionStyle(_CompactStyle, DescriptionStyle):
    """The style of what has a description."""


class CompactTextStyle(_CompactStyle, TextStyle):
    """The style of lines of text."""


class CompactCheckboxStyle(_CompactStyle, CheckboxStyle):
    """The style of boxes to tick."""


class CompactHTMLStyle(_CompactStyle, HTMLStyle):
    """The style of pieces of HTML."""


class CompactButtonStyle(_CompactStyle, ButtonStyle):
    """The style of buttons."""
