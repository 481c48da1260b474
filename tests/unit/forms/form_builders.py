"""Tools made from a schema's properties, for tests of single fields."""

from __future__ import annotations

from typing import Any

from foldnote.forms import Form
from foldnote.models.tool import Tool


def make_tool(properties: dict[str, Any], required: tuple[str, ...] = (), **more: Any) -> Tool:
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
        **more,
    }
    return Tool(
        type="trial", display_name="Trial", description="A tool of the tests.", settings_schema=schema
    )


def make_form(
    properties: dict[str, Any],
    required: tuple[str, ...] = (),
    more: dict[str, Any] | None = None,
    **values: Any,
) -> Form:
    return Form(make_tool(properties, required, **(more or {})), None, values=values)


def label_of(form: Form, name: str) -> str:
    """Return all text at a field as HTML."""
    field = form.fields[name]
    parts = [field.widget, *getattr(field.widget, "children", ())]
    return " ".join(
        text
        for part in parts
        for text in (getattr(part, "description", ""), getattr(part, "value", ""))
        if isinstance(text, str)
    )
