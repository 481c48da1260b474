"""The example of a tool, or of a schema, filled into its form on request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import ipywidgets as widgets

from foldnote.forms.fields.field import is_same
from foldnote.forms.schema.resolution import resolve
from foldnote.forms.submission.filled_form import FilledForm
from foldnote.forms.submission.verdicts import Verdicts

if TYPE_CHECKING:
    from foldnote.catalog.described_tool import DescribedTool

_LOAD: Final = "Load example"
_REPLACE: Final = "Replace your settings with the example"


class ExampleButton:
    """Fills a form with the example of its tool; a second press confirms that settings are replaced."""

    def __init__(self, form: FilledForm, verdicts: Verdicts, button: widgets.Button) -> None:
        self._form = form
        self._verdicts = verdicts
        self._button = button
        self._settings = find_example(form.described)
        self._settings_to_replace: dict[str, Any] | None = None
        if self._settings:
            button.remove_class("foldnote-hidden")
            button.on_click(lambda _button: verdicts.guard(self.press))

    def press(self) -> None:
        """Load the example, or ask first if it would replace a person's settings."""
        form = self._form
        is_edited = any(field.is_touched for field in form.section.fields)
        settings = form.value
        if is_edited and not (
            self._settings_to_replace is not None and is_same(self._settings_to_replace, settings)
        ):
            self._settings_to_replace = settings
            self._button.description = _REPLACE
            return
        self._settings_to_replace = None
        self._button.description = _LOAD
        form.reset()
        form.set(self._settings)
        for field in form.section.fields:
            field.is_touched = False  # a second press replaces no settings made by a person
        self._verdicts.show_status("This is the example of the tool. Nothing was submitted.", "")

    def drop_question(self, settings: Mapping[str, Any]) -> None:
        """Ask again if the settings have changed since the question."""
        if self._settings_to_replace is not None and not is_same(self._settings_to_replace, dict(settings)):
            self._settings_to_replace = None
            self._button.description = _LOAD


def find_example(tool: DescribedTool) -> dict[str, Any]:
    """Return the settings of the tool's example job, else the examples in its schema; empty without any.

    From a schema, the first of its ``examples`` is taken if it is an object; else the first example of each
    property, if every required property has one or a default.
    """
    settings = (tool.example_job or {}).get("settings")
    if isinstance(settings, Mapping) and settings:
        return dict(settings)
    schema = resolve(tool.settings_schema, tool.settings_schema)
    form_examples = schema.get("examples")
    if isinstance(form_examples, list) and form_examples and isinstance(form_examples[0], Mapping):
        return dict(form_examples[0])
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return {}
    parts = {name: resolve(part, tool.settings_schema) for name, part in properties.items()}
    examples = {
        name: part["examples"][0]
        for name, part in parts.items()
        if isinstance(part.get("examples"), list) and part["examples"]
    }
    required = schema.get("required") or ()
    is_incomplete = any(name not in examples and "default" not in parts.get(name, {}) for name in required)
    return {} if is_incomplete else examples
