"""ipywidgets whose state omits the front end's defaults, so that forms stay small.

Two thirds of the first message of an ipywidgets model are names and nulls that its front-end class has as
defaults. These classes leave them out of that message; later messages are unchanged.

JupyterLab sends the messages of widgets to a subshell of the kernel, which handles them in a thread of its
own while cells and their tasks run in the main thread. Whatever changes or shows a form therefore holds
`form_lock`.
"""

# mypy: disable-error-code="misc"
# ipywidgets has no types, so every subclass of its classes is one of Any

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, Final, ParamSpec, TypeVar

import ipywidgets as widgets
from ipywidgets.widgets.widget_button import ButtonStyle
from ipywidgets.widgets.widget_string import HTMLStyle, TextStyle

form_lock: Final = threading.RLock()
"""Held while a form is read and shown, or changed: one lock for all forms of the kernel."""
_P = ParamSpec("_P")
_R = TypeVar("_R")

Keys = str | Iterable[str] | None
"""Requested keys of a state; None for all."""

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
"""Defaults of these names in @jupyter-widgets/base 2 and /controls 2."""
_OF_CLASS: Final = ("_view_name", "_view_module_version")


def locked(method: Callable[_P, _R]) -> Callable[_P, _R]:
    """Let the method run with `form_lock` held."""

    @wraps(method)
    def run(*args: _P.args, **named: _P.kwargs) -> _R:
        with form_lock:
            return method(*args, **named)

    return run


class CompactWidget(widgets.Widget):
    """A widget whose full state omits the front end's defaults."""

    def get_state(
        self, key: str | Iterable[str] | None = None, drop_defaults: bool = False
    ) -> dict[str, Any]:
        """The state for ``key``; with None the full state without the front end's defaults."""
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

    @locked
    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Take over what a person changed in the front end; observers run with `form_lock` held."""
        super().set_state(sync_data)


class CompactStyle(CompactWidget):
    """A style or layout, whose unset traits are omitted."""

    def get_state(
        self, key: str | Iterable[str] | None = None, drop_defaults: bool = False
    ) -> dict[str, Any]:
        """The state for ``key``; with None the full state without nulls."""
        state = super().get_state(key, drop_defaults)
        return state if key is not None else {name: item for name, item in state.items() if item is not None}


class Text(CompactWidget, widgets.Text):
    """One line of text."""


class Textarea(CompactWidget, widgets.Textarea):
    """Several lines of text."""


class HTML(CompactWidget, widgets.HTML):
    """A piece of HTML."""


class Box(CompactWidget, widgets.Box):
    """A container."""


class Button(CompactWidget, widgets.Button):
    """A button."""

    @locked
    def click(self) -> None:
        """Call the handlers of a click with `form_lock` held."""
        super().click()


class Layout(CompactStyle, widgets.Layout):
    """The layout that all widgets of a form share."""


class CompactTextStyle(CompactStyle, TextStyle):
    """The style of text boxes."""


class CompactHTMLStyle(CompactStyle, HTMLStyle):
    """The style of HTML widgets."""


class CompactButtonStyle(CompactStyle, ButtonStyle):
    """The style of buttons."""
