"""Foreign tools whose settings are a list of rows: the plain ``settings`` form and the richer ``parameters``.

A field that always applies and is required is listed in ``required``; one whose ``conditionals`` say when it
applies is required only then (``if``/``then``), and notes the condition under ``x-foldnote.appliesIf``.
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
MOST_ROWS: Final = 5_000
"""Settings of one tool that are read; the others are kept as they are."""
Untranslated = dict[str, Any]


def translate_rows(given: Any) -> tuple[dict[str, Any], Untranslated]:
    """The schema of the settings object, and by dotted path what of the rows it does not say.

    Args:
        given: a list of rows, or the rows by name.
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
                continue  # when it applies is unknown, so it is never missing
            properties[name].setdefault(NOTES, {})["appliesIf"] = condition
        if is_required and condition is None:
            required.append(name)
        elif is_required:
            rules.append({"if": condition, "then": {"required": [name]}})
    said = {"required": required, "allOf": rules}
    return schema | {keyword: value for keyword, value in said.items() if value}, untranslated


def _name_rows(given: Any) -> tuple[dict[str, dict[str, Any]], Untranslated]:
    """The rows by name, with keys that begin in lower case; what is no row, or a second of its name."""
    listed = _list_rows(given)
    rows: dict[str, dict[str, Any]] = {}
    untranslated: Untranslated = {}
    for place, row in listed:
        plain = lower_first(row) if isinstance(row, Mapping) else {}
        name = row if isinstance(row, str) else plain.get("name")
        if not isinstance(name, str) or not name or name in rows or len(rows) >= MOST_ROWS:
            untranslated[place] = row
        else:
            rows[name] = plain
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
