"""Widgets with a program of their own in the page, which hear the kernel even if that is loaded late."""

from __future__ import annotations

import re
import uuid
from functools import cache
from importlib.resources import files

import anywidget
import traitlets


class LiveWidget(anywidget.AnyWidget):
    """An anywidget whose module is made by :func:`write_module`."""

    _own_id = traitlets.Unicode().tag(sync=True)

    def __init__(self, **traits: object) -> None:
        """Make the widget with these ``traits``."""
        own_id = uuid.uuid4().hex
        super().__init__(model_id=own_id, _own_id=own_id, **traits)


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
