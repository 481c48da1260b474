"""Widgets with their own JavaScript, which receive messages even if the JavaScript is loaded late.

A program that executes notebooks saves the state of all widgets in the notebook, although pages made from it
show the HTML of the outputs. For such programs the state is emptied once the output is made.
"""

from __future__ import annotations

import re
import uuid
from functools import cache
from importlib.resources import files
from typing import Any

import anywidget
import traitlets

from foldnote.kernel import FrontEnd, find_front_end


class LiveWidget(anywidget.AnyWidget):
    """An anywidget whose JavaScript module :func:`write_module` writes."""

    _own_id = traitlets.Unicode().tag(sync=True)
    _is_forgotten = False

    def __init__(self, **traits: object) -> None:
        """Create the widget with these ``traits``."""
        own_id = uuid.uuid4().hex
        super().__init__(model_id=own_id, _own_id=own_id, **traits)

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = super()._repr_mimebundle_(**kwargs)
        self.forget()
        return bundle

    def forget(self) -> None:
        """Empty the saved state of the widget if a program executes the notebook; the widget stays usable."""
        if self._is_forgotten or find_front_end() is not FrontEnd.NONE:
            return
        own = set(self.traits(sync=True)) - set(anywidget.AnyWidget.class_trait_names())
        values = {name: getattr(self, name) for name in own if name not in ("_own_id", "_anywidget_id")}
        empty = {
            name: type(value)() for name, value in values.items() if isinstance(value, str | list | dict)
        }
        self.comm.send({"method": "update", "state": empty, "buffer_paths": []})
        self._is_forgotten = True

    def send_state(self, key: Any = None) -> None:
        """Send changes to the page; do nothing after :meth:`forget`."""
        if not self._is_forgotten:
            super().send_state(key)


def write_module(program: str) -> str:
    """Return the JavaScript module of a widget.

    Args:
        program: JavaScript that defines the function ``render({ model, el })``, which draws a view of the
            widget and returns, or resolves to, its cleanup function.
    """
    return f"{program}\n{_read_frame()}"


@cache
def _read_frame() -> str:
    text = files("foldnote").joinpath("live_widget.js").read_text(encoding="utf-8")
    return re.sub(r"(?m)^\s*(//.*)?\n", "", text)
