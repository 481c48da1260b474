"""A tool's settings as a flat list, for clients of catalogs in that format.

The tool's JSON Schema is authoritative; the list omits what it cannot express (patterns, alternatives).
Nothing is validated here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from foldnote.models.wire import WireModel

HINTS = "x-foldnote"
_SAME_WORDS = ("default", "minimum", "maximum", "maxLength")


class Conditional(WireModel):
    """A condition on another setting; a parameter applies when all of its conditions hold."""

    other_setting_name: str
    check_type: str
    """Always `includes`: the other setting is one of the values."""
    other_setting_value: list[Any]


class Parameter(WireModel):
    """One setting of a tool."""

    name: str
    display_name: str
    type: str
    """`string`, `number`, `integer`, `boolean`, `array`, `object`, `file` or `files`."""
    required: bool
    description: str
    default: Any = None
    """Absent if there is none."""
    options: list[Any] | None = None
    """Allowed values; absent if they are not listed."""
    extensions: list[str] | None = None
    """Allowed extensions of a file, without the dot."""
    minimum: float | None = None
    maximum: float | None = None
    max_length: int | None = None
    conditionals: list[Conditional] | None = None
    """When it applies; absent if it always does."""


def list_parameters(schema: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return one row per setting, in the order of the schema, without absent properties."""
    required = schema.get("required", [])
    fields = schema.get("properties", {})
    return [
        _parameter(name, field, is_required=name in required)
        for name, field in fields.items()
        if isinstance(field, Mapping)
    ]


def _parameter(name: str, field: Mapping[str, Any], *, is_required: bool) -> dict[str, Any]:
    hints = field.get(HINTS, {})
    row: dict[str, Any] = {
        "name": name,
        "displayName": field.get("title", name),
        "type": _type_of(field, hints),
        "required": is_required,
        "description": field.get("description", ""),
    }
    row |= {keyword: field[keyword] for keyword in _SAME_WORDS if keyword in field}
    if options := _options_of(field):
        row["options"] = options
    if extensions := hints.get("extensions"):
        row["extensions"] = extensions
    if conditions := hints.get("appliesWhen"):
        row["conditionals"] = [
            {"otherSettingName": other, "checkType": "includes", "otherSettingValue": values}
            for other, values in conditions.items()
        ]
    return row


def _type_of(field: Mapping[str, Any], hints: Mapping[str, Any]) -> str:
    if hints.get("role") in ("file", "files"):
        return str(hints["role"])
    if field.get("format") == "binary":
        return "file"
    kind = field.get("type", "string")
    kinds = [name for name in kind if name != "null"] if isinstance(kind, list) else [kind]
    return str(kinds[0]) if kinds else "string"


def _options_of(field: Mapping[str, Any]) -> list[Any]:
    if isinstance(field.get("enum"), list):
        return list(field["enum"])
    rows = field.get("oneOf", [])
    constants = [row["const"] for row in rows if isinstance(row, Mapping) and "const" in row]
    return constants if len(constants) == len(rows) else []
