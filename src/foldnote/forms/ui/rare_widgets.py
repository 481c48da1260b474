"""Controls that few forms have: checkboxes, lists with multiple selection, and passwords."""

# mypy: disable-error-code="misc"
# ipywidgets has no types, so every subclass of its classes is a subclass of Any

from __future__ import annotations

import ipywidgets as widgets
from ipywidgets.widgets.widget_bool import CheckboxStyle

from foldnote.forms.ui.compact_widgets import CompactStyle, CompactWidget


class Password(CompactWidget, widgets.Password):
    """One line of text that is shown as dots."""


class SelectMultiple(CompactWidget, widgets.SelectMultiple):
    """A list with multiple selection."""


class Checkbox(CompactWidget, widgets.Checkbox):
    """A checkbox."""


class CompactCheckboxStyle(CompactStyle, CheckboxStyle):
    """The style of checkboxes."""
