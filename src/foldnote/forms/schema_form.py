"""A form for any JSON Schema, which validates values and writes code but submits nothing.

The schema may come from a file, a pydantic model's ``model_json_schema()`` or another program. A schema of
anything but an object becomes a form with one field.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from foldnote.catalog.described_tool import PlainTool
from foldnote.catalog.keywords import find_schema_fault
from foldnote.errors import ArgumentError, FoldnoteError
from foldnote.forms.fields.field import is_same
from foldnote.forms.form import Form
from foldnote.forms.schema.resolution import resolve, says_object
from foldnote.forms.schema.secrecy import omit_secrets
from foldnote.forms.schema.spec import MISSING

_ONLY = "value"
_MOVED = ("$defs", "definitions")


class SchemaForm(Form):
    """Any JSON Schema as a form in a notebook cell."""

    _has_job = False
    _resets_by_none = False

    def __init__(self, schema: Mapping[str, Any] | str | Path, value: Any = None) -> None:
        """Build the widgets and check the values.

        Args:
            schema: a JSON Schema (draft 2020-12; differing keywords of older drafts are ignored), or the path
                of a file with one.
            value: initial value; by default the schema's defaults.

        Raises:
            ArgumentError: the file cannot be read or does not contain a JSON object, or the schema violates
                JSON Schema in a way that prevents a form.
        """
        self.schema: dict[str, Any] = read_schema(schema)
        try:
            plain = resolve(self.schema, self.schema)
            self.is_of_object = is_object(plain)
            super().__init__(_make_tool(self.schema, plain, is_object=self.is_of_object))
        except (AttributeError, TypeError, ValueError) as error:
            fault = find_schema_fault(self.schema)
            if isinstance(error, FoldnoteError) or not fault:
                raise
            raise ArgumentError(f"This is not a valid JSON Schema: {fault:.200}.") from error
        if value is not None:
            self.set_value(value)

    @property
    def data(self) -> Any:
        """The form's value; None if a form with one field is empty."""
        return self.value if self.is_of_object else self.value.get(_ONLY)

    def set_value(self, value: Any) -> None:
        """Hold exactly ``value``: fields that an object does not name are cleared."""
        self.section.write(dict(value) if self.is_of_object else {_ONLY: value})
        self.refresh()

    def json(self) -> str:
        """Return the values as JSON; secrets are left out."""
        return json.dumps(self._public_data(), indent=2, ensure_ascii=False, default=str)

    def _public_data(self) -> Any:
        public = omit_secrets(self.schema, self.data)
        return None if public is MISSING else public

    def _take_unknown(self, values: Mapping[str, Any]) -> None:
        """Keep names that the schema does not declare; validation reports them if they are forbidden."""
        if values:
            self.section.keep_extra(values)

    def code(self) -> str:
        """Return the values as Python code for a cell; a comment says when secrets are left out."""
        from foldnote.forms.view.code import write_value

        public = self._public_data()
        comment = "" if is_same(public, self.data) else "  # secrets are left out"
        return f"settings = {write_value(public)}{comment}"


def read_schema(source: Mapping[str, Any] | str | Path) -> dict[str, Any]:
    """Return the schema itself, or the one in a file.

    Raises:
        ArgumentError: the file cannot be read or does not contain a JSON object.
    """
    if isinstance(source, Mapping):
        return dict(source)
    try:
        schema = json.loads(Path(source).expanduser().read_text(encoding="utf-8"))
    except OSError as error:
        raise ArgumentError(f"The schema {str(source)!r} could not be read: {error.strerror}.") from error
    except ValueError as error:
        raise ArgumentError(f"The schema {str(source)!r} is not valid JSON: {error}.") from error
    if not isinstance(schema, dict):
        raise ArgumentError(f"The file {str(source)!r} is not a JSON Schema: a JSON object was expected.")
    return schema


def is_object(plain: Mapping[str, Any]) -> bool:
    """Return whether the schema's values are objects, whose properties become fields."""
    if says_object(plain):
        return True
    options = [option for keyword in ("oneOf", "anyOf", "allOf") for option in plain.get(keyword) or ()]
    objects = [isinstance(option, Mapping) and says_object(resolve(option, plain)) for option in options]
    return bool(objects) and all(objects) and "type" not in plain


def _make_tool(schema: dict[str, Any], plain: Mapping[str, Any], *, is_object: bool) -> PlainTool:
    title, description = str(plain.get("title") or "Settings"), str(plain.get("description") or "")
    if not is_object:
        moved = {key: schema[key] for key in _MOVED if key in schema}
        child = {"title": "Value", **schema}
        schema = {"type": "object", "properties": {_ONLY: child}, "required": [_ONLY], **moved}
    return PlainTool("settings", title, description, schema)
