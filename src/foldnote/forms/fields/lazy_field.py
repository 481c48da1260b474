"""A field that is built when it is first shown.

It holds its value as data, and the section puts the real field in its place when somebody wants to see it.
It has no control, draws nothing and judges nothing.
"""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets

from foldnote.forms.fields.field import Field, Reading


class WaitingField(Field):
    """What a setting holds before its field is built."""

    def build(self) -> widgets.DOMWidget:
        """One empty widget that all of a form share, and that is never shown."""
        return self.host.looks.nothing

    def parse(self) -> Reading:
        """Nothing, or what an empty control means."""
        return Reading(self.blank)

    def render(self, value: Any) -> None:
        """There is nothing to show it in."""

    def set_label(self, label: str) -> None:
        """There is nothing to say it at."""

    def set_class(self, name: str, is_on: bool) -> None:
        """There is nothing to mark."""
