"""A form over any JSON Schema: values, verdicts and code, and nothing to submit.

The schema may come from anywhere: a file, a pydantic model's ``model_json_schema()``, another program. One
whose value is not an object becomes a form of one field.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from foldnote.errors import ArgumentError
from foldnote.forms.fields.field import is_same
from foldnote.forms.form import Form
from foldnote.forms.schema.resolution import resolve, says_object
from foldnote.forms.schema.secrecy import leave_out_secrets
from foldnote.forms.schema.spec import MISSING
from foldnote.models.tool import Tool

_ONLY = "value"
_MOVED = ("$defs", "definitions")


class SchemaForm(Form):
    """Any JSON Schema as a form in a notebook cell."""

    _has_job = False
    _resets_by_none = False

    def __init__(self, schema: Mapping[str, Any] | str | Path, value: Any = None) -> None:
        """Build the widgets and check the values.

        Args:
            schema: a JSON Schema (draft 2020-12; what older drafts say otherwise is left alone), or the path
                of a file that holds one.
            value: what the form begins with; by default the schema's defaults.

        Raises:
            ArgumentError: the file cannot be read, or holds no schema.
        """
        self.schema: dict[str, Any] = read_schema(schema)
        plain = resolve(self.schema, self.schema)
        self.is_of_object = is_object(plain)
        super().__init__(_make_tool(self.schema, plain, is_object=self.is_of_object))
        if value is not None:
            self.set_value(value)

    @property
    def data(self) -> Any:
        """The value that the schema describes; None where a form of one field is empty."""
        return self.value if self.is_of_object else self.value.get(_ONLY)

    def set_value(self, value: Any) -> None:
        """Hold exactly ``value``: what an object does not name is not there."""
        self.section.write(dict(value) if self.is_of_object else {_ONLY: value})
        self.refresh()

    def json(self) -> str:
        """The values as JSON; secrets are left out."""
        return json.dumps(self._told_data(), indent=2, ensure_ascii=False, default=str)

    def _told_data(self) -> Any:
        shown = leave_out_secrets(self.schema, self.data)
        return None if shown is MISSING else shown

    def _take_unknown(self, given: Mapping[str, Any]) -> None:
        """Keep names that the schema does not know; if they are mistakes, the verdict says so."""
        if given:
            self.section.keep_extra(given)

    def code(self) -> str:
        """The values as Python that can be pasted into a cell; secrets are left out, which a comment says."""
        from foldnote.forms.view.code import write_value

        shown = self._told_data()
        told = "" if is_same(shown, self.data) else "  # secrets are not written down here"
        return f"settings = {write_value(shown)}{told}"


def read_schema(source: Mapping[str, Any] | str | Path) -> dict[str, Any]:
    """The schema itself, or the one that a file holds.

    Raises:
        ArgumentError: the file cannot be read, or holds no schema.
    """
    if isinstance(source, Mapping):
        return dict(source)
    try:
        read = json.loads(Path(source).expanduser().read_text(encoding="utf-8"))
    except OSError as error:
        raise ArgumentError(f"The schema {str(source)!r} could not be read: {error.strerror}.") from error
    except ValueError as error:
        raise ArgumentError(f"The schema {str(source)!r} is not valid JSON: {error}.") from error
    if not isinstance(read, dict):
        raise ArgumentError(f"The file {str(source)!r} does not hold a JSON Schema: an object was expected.")
    return read


def is_object(plain: Mapping[str, Any]) -> bool:
    """Whether the schema's values are objects, so that its names become fields."""
    if says_object(plain):
        return True
    options = [option for word in ("oneOf", "anyOf", "allOf") for option in plain.get(word) or ()]
    objects = [isinstance(option, Mapping) and says_object(resolve(option, plain)) for option in options]
    return bool(objects) and all(objects) and "type" not in plain


def _make_tool(schema: dict[str, Any], plain: Mapping[str, Any], *, is_object: bool) -> Tool:
    title, about = str(plain.get("title") or "Settings"), str(plain.get("description") or "")
    if not is_object:
        moved = {key: schema[key] for key in _MOVED if key in schema}
        child = {"title": "Value", **schema}
        schema = {"type": "object", "properties": {_ONLY: child}, "required": [_ONLY], **moved}
    return Tool(type="settings", display_name=title, description=about, settings_schema=schema)
