"""Widgets with a program of their own in the page, which hear the kernel even if that is loaded late.

A program that runs notebooks keeps the state of all widgets in the notebook, though no page made of it shows
them: outputs have HTML. There the state is emptied once the output is made.
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
    """An anywidget whose module is made by :func:`write_module`."""

    _own_id = traitlets.Unicode().tag(sync=True)
    _is_forgotten = False

    def __init__(self, **traits: object) -> None:
        """Make the widget with these ``traits``."""
        own_id = uuid.uuid4().hex
        super().__init__(model_id=own_id, _own_id=own_id, **traits)

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = super()._repr_mimebundle_(**kwargs)
        self.forget()
        return bundle

    def forget(self) -> None:
        """Empty what the notebook keeps of the widget, if a program runs it; the widget itself stays."""
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
        """Send changes to the page; after :meth:`forget` nothing."""
        if not self._is_forgotten:
            super().send_state(key)


def write_module(program: str) -> str:
    """The JavaScript module of a widget.

    Args:
        program: JavaScript that defines the function ``render({ model, el })``, which draws a view of the
            widget and returns, or resolves to, what ends the view.
    """
    return f"{program}\n{_read_frame()}"


@cache
def _read_frame() -> str:
    text = files("foldnote").joinpath("live_widget.js").read_text(encoding="utf-8")
    return re.sub(r"(?m)^\s*(//.*)?\n", "", text)
