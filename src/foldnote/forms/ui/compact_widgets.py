"""ipywidgets whose state omits the front end's defaults, so that forms stay small.

Two thirds of the first message of an ipywidgets model are names and nulls that its front-end class has as
defaults. These classes leave them out of that message; later messages are unchanged. Widgets created inside
`delay_opening` send their first message at the end, so that a form does not send changes of widgets that
are not yet shown.

JupyterLab sends the messages of widgets to a subshell of the kernel, which handles them in a thread of its
own while cells and their tasks run in the main thread. Code that changes or shows a form therefore holds
`form_lock`.
"""

# mypy: disable-error-code="misc"
# ipywidgets has no types, so every subclass of its classes is one of Any

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from typing import Any, Final, ParamSpec, TypeVar

import ipywidgets as widgets
from ipywidgets.widgets.widget_button import ButtonStyle
from ipywidgets.widgets.widget_string import HTMLStyle, TextStyle
from traitlets import default

form_lock: Final = threading.RLock()
"""Held while a form is read, shown or changed: one lock for all forms of the kernel."""
_P = ParamSpec("_P")
_R = TypeVar("_R")

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
"""Default values of these traits in @jupyter-widgets/base 2 and /controls 2."""
_OF_CLASS: Final = ("_view_name", "_view_module_version")


def locked(method: Callable[_P, _R]) -> Callable[_P, _R]:
    """Let the method run with `form_lock` held."""

    @wraps(method)
    def run(*args: _P.args, **options: _P.kwargs) -> _R:
        with form_lock:
            return method(*args, **options)

    return run


class _PendingWidgets(threading.local):
    """The widgets of this thread that wait for their first message, in order; None if none shall wait."""

    waiting: list[CompactWidget] | None = None


_pending: Final = _PendingWidgets()


@contextmanager
def delay_opening() -> Iterator[None]:
    """Delay the first message of new widgets, which then contains their final state."""
    if _pending.waiting is not None:
        yield
        return
    waiting = _pending.waiting = []
    try:
        yield
    finally:
        _pending.waiting = None
    for widget in waiting:
        if widget.is_waiting:
            widget.open()


def _class_of(widget: object) -> Any:
    """Return the widget's class; type checkers do not treat the class of an untyped object as hashable."""
    return type(widget)


@cache
def _list_synced(kind: Any) -> tuple[tuple[str, Callable[..., Any] | None, tuple[Any, ...]], ...]:
    """Return name, conversion to JSON (if any) and assumed values of each trait that the front end has."""
    return tuple(
        (
            name,
            trait.metadata.get("to_json"),
            (trait.default_value,) if name in _OF_CLASS else _ASSUMED.get(name, ()),
        )
        for name, trait in kind.class_traits(sync=True).items()
    )


class CompactWidget(widgets.Widget):
    """A widget whose full state omits the front end's defaults."""

    is_waiting = False
    """Whether the first message is still to be sent."""

    @default("keys")
    def _list_keys(self) -> list[str]:
        return [name for name, _, _ in _list_synced(_class_of(self))]

    def open(self) -> None:
        """Send the first message, or delay it until the widgets created together are complete."""
        waiting = _pending.waiting
        self.is_waiting = waiting is not None
        if waiting is None:
            super().open()
        else:
            waiting.append(self)

    @property
    def model_id(self) -> Any:
        """The model's id; a waiting widget is opened first, since another widget refers to it."""
        if self.is_waiting and self.comm is None:
            self.is_waiting = False
            super().open()
        return super().model_id

    def close(self) -> None:
        """Close the model, for good."""
        self.is_waiting = False
        super().close()

    def get_state(
        self, key: str | Iterable[str] | None = None, drop_defaults: bool = False
    ) -> dict[str, Any]:
        """Return the state for ``key``; with None the full state without the front end's defaults."""
        if key is not None:
            state: dict[str, Any] = super().get_state(key, drop_defaults)
            return state
        full_state = {}
        for name, convert, assumed in _list_synced(_class_of(self)):
            value = getattr(self, name)
            if value not in assumed:
                full_state[name] = value if convert is None else convert(value, self)
        return full_state

    @locked
    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Apply what a person changed in the front end; observers run with `form_lock` held."""
        super().set_state(sync_data)


class CompactStyle(CompactWidget):
    """A style or layout, whose unset traits are omitted."""

    def get_state(
        self, key: str | Iterable[str] | None = None, drop_defaults: bool = False
    ) -> dict[str, Any]:
        """Return the state for ``key``; with None the full state without nulls."""
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
