"""Controls that only some forms need, like those of `compact_widgets`; creating a class takes time."""

# mypy: disable-error-code="misc"
# ipywidgets has no types, so every subclass of its classes is a subclass of Any

from __future__ import annotations

import ipywidgets as widgets
from ipywidgets.widgets.widget_description import DescriptionStyle

from foldnote.forms.ui.compact_widgets import CompactStyle, CompactWidget


class Combobox(CompactWidget, widgets.Combobox):
    """One line of text with suggestions."""


class Dropdown(CompactWidget, widgets.Dropdown):
    """A drop-down list."""


class CompactDescriptionStyle(CompactStyle, DescriptionStyle):
    """The style of widgets with a description."""
