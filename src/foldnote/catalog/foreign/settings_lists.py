"""Convert settings given as a list of rows (``settings``, or ``parameters`` with conditions) to JSON Schema.

A required field without conditions is listed in ``required``. A field with ``conditionals`` is required only
if they hold (``if``/``then``), and has the condition under ``x-foldnote.appliesIf``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from foldnote.catalog.foreign.conditions import UntranslatableError, translate_conditions
from foldnote.catalog.foreign.fields import read_field
from foldnote.catalog.prepared_schema import NOTES
from foldnote.models.wire import lower_first

_REQUIRED_WORDS = {
    "true": True,
    "yes": True,
    "required": True,
    "false": False,
    "no": False,
    "optional": False,
}
_CONDITIONS = ("conditionals", "conditions", "conditional")
MAX_ROWS: Final = 5_000
"""Maximum number of settings read for one tool; the others are kept untranslated."""
Untranslated = dict[str, Any]


def translate_rows(given: Any) -> tuple[dict[str, Any], Untranslated]:
    """Convert rows to the schema of the settings object.

    Args:
        given: a list of rows, or an object of rows by name.

    Returns:
        The schema, and the untranslated parts by dotted path.
    """
    rows, untranslated = _name_rows(given)
    properties: dict[str, Any] = {}
    for name, row in rows.items():
        rest = {key: value for key, value in row.items() if key not in ("name", "required", *_CONDITIONS)}
        properties[name], left = read_field(rest)
        untranslated |= {f"{name}.{key}": value for key, value in left.items()}
    schema: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    required: list[str] = []
    rules: list[dict[str, Any]] = []
    for name, row in rows.items():
        is_required, condition = _read_required(name, row, untranslated), None
        conditionals = next((row[key] for key in _CONDITIONS if row.get(key)), None)
        if conditionals is not None:
            condition = _read_condition(conditionals, properties)
            if condition is None:
                untranslated[f"{name}.conditionals"] = conditionals
                continue  # the condition is unknown, so the field is not required
            properties[name].setdefault(NOTES, {})["appliesIf"] = condition
        if is_required and condition is None:
            required.append(name)
        elif is_required:
            rules.append({"if": condition, "then": {"required": [name]}})
    keywords = {"required": required, "allOf": rules}
    return schema | {keyword: value for keyword, value in keywords.items() if value}, untranslated


def _name_rows(given: Any) -> tuple[dict[str, dict[str, Any]], Untranslated]:
    """Read the rows by name, with keys starting in lower case; also return invalid and repeated rows."""
    listed = _list_rows(given)
    rows: dict[str, dict[str, Any]] = {}
    untranslated: Untranslated = {}
    for label, row in listed:
        fields = lower_first(row) if isinstance(row, Mapping) else {}
        name = row if isinstance(row, str) else fields.get("name")
        if not isinstance(name, str) or not name or name in rows or len(rows) >= MAX_ROWS:
            untranslated[label] = row
        else:
            rows[name] = fields
    return rows, untranslated


def _list_rows(given: Any) -> list[tuple[str, Any]]:
    if isinstance(given, Mapping):
        return [(str(name), {"name": name} | dict(row) if isinstance(row, Mapping) else row)
                for name, row in given.items()]  # fmt: skip
    return [(f"[{position}]", row) for position, row in enumerate(given)] if isinstance(given, list) else []


def _read_required(name: str, row: Mapping[str, Any], untranslated: Untranslated) -> bool:
    given = row.get("required")
    if given in (None, True, False):
        return bool(given)
    meant = _REQUIRED_WORDS.get(str(given).strip().lower())
    if meant is None:
        untranslated[f"{name}.required"] = given
    return bool(meant)


def _read_condition(given: Any, properties: Mapping[str, Any]) -> dict[str, Any] | None:
    try:
        return translate_conditions(given if isinstance(given, list) else [given], properties)
    except UntranslatableError:
        return None
