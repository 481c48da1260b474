"""A form as its user sees it: visible widgets, buttons to press, and messages that its page sends."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import unescape
from typing import Any

import ipywidgets as widgets

from foldnote.forms import Form


def classes_of(widget: widgets.Widget) -> tuple[str, ...]:
    """Return the CSS classes that the front end gets."""
    return tuple(widget.get_state("_dom_classes")["_dom_classes"])


def model_ids() -> set[str]:
    """Return the ids of all existing widget models."""
    return set(widgets.Widget.get_manager_state()["state"])


def send(form: Form, message: Any, buffers: Sequence[memoryview] = ()) -> None:
    """Send a message of the form's page, such as a dropped file or a default to restore."""
    data = {"method": "custom", "content": message}
    form.surface.widget.comm.handle_msg({"content": {"data": data}, "buffers": list(buffers)})


class Page:
    """The visible part of a form below ``widget``."""

    def __init__(self, widget: widgets.Widget) -> None:
        self._widget = widget

    @property
    def shown(self) -> list[widgets.Widget]:
        """Return the widgets in order."""
        return list(_walk(self._widget))

    @property
    def text(self) -> str:
        """Return all visible text without its HTML."""
        parts = [part for widget in self.shown for part in _tell(widget)]
        return unescape(re.sub(r"<style>.*?</style>|<[^>]*>", " ", " ".join(parts)))

    def find(self, kind: type[widgets.Widget], label: str) -> Any:
        """Return the first control of this kind whose label, tooltip or placeholder begins with ``label``."""
        found = [widget for widget in self.shown if isinstance(widget, kind) and _is_called(widget, label)]
        assert found, f"no {kind.__name__} {label!r} is shown"
        return found[0]

    def press(self, label: str) -> None:
        """Press a button."""
        self.find(widgets.Button, label).click()


def _walk(widget: widgets.Widget) -> Iterator[widgets.Widget]:
    if "foldnote-hidden" not in classes_of(widget):
        yield widget
        for child in getattr(widget, "children", ()):
            yield from _walk(child)


def _tell(widget: widgets.Widget) -> list[str]:
    found = [getattr(widget, name, "") for name in ("description", "value")]
    return [text for text in found if isinstance(text, str)]


def _is_called(widget: widgets.Widget, label: str) -> bool:
    names = [getattr(widget, name, "") for name in ("description", "tooltip", "placeholder")]
    return any(re.sub(r"<[^>]*>", "", name).startswith(label) for name in names if isinstance(name, str))
