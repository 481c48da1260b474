"""Complete another service's tools from the bundled catalog; values given by the service take precedence.

Only fields that the service lists are completed; none are added. What was filled in is returned, so that it
can be told apart from what the service stated.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, Final

from foldnote.catalog.keywords import all_fit, is_schema
from foldnote.catalog.prepared_schema import NOTES

_OPTIONS: Final = ("enum", "const", "oneOf", "anyOf")
_LIMITS: Final = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength",
                  "maxLength", "pattern", "minItems", "maxItems", "uniqueItems")  # fmt: skip
_WORDS: Final = ("title", "description")
_NOTES: Final = ("unit", "role", "extensions", "alphabet", "chains", "columns", "group", "check")
_REFERRING: Final = ("of", "appliesWhen", "pairWhen")
"""Notes of ``x-foldnote`` that refer to other fields."""


def fill_fields(schema: dict[str, Any], bundled: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Complete the fields of ``schema`` in place.

    Args:
        schema: the schema of the service's settings.
        bundled: the schema of the bundled tool of the same type.

    Returns:
        The keywords and notes that were filled in, by field.
    """
    known, fields = bundled.get("properties", {}), schema.get("properties", {})
    names = frozenset(fields)
    filled = {
        name: _fill_field(field, known[name], names)
        for name, field in fields.items()
        if name in known and isinstance(field, dict)
    }
    return {name: parts for name, parts in filled.items() if parts}


def _fill_field(field: dict[str, Any], bundled: Mapping[str, Any], names: frozenset[str]) -> tuple[str, ...]:
    before = copy.deepcopy(field)
    _fill(field, bundled, _WORDS)
    if _have_same_type(field, bundled):
        _fill_rules(field, bundled)
        _fill_notes(field, bundled, names)
    if not is_schema(field):
        field.clear()
        field.update(before)
    added = [key for key in field if key != NOTES and field.get(key) != before.get(key)]
    old, new = before.get(NOTES) or {}, field.get(NOTES) or {}
    return (*added, *(key for key in new if new[key] != old.get(key)))


def _have_same_type(field: Mapping[str, Any], bundled: Mapping[str, Any]) -> bool:
    """Return whether both fields have the same type; a missing type is assumed to be the bundled one."""
    known, own = bundled.get("type"), field.get("type")
    if own is None:
        options = field.get("enum")
        return "$ref" not in field and (options is None or all_fit(options, {"type": known}))
    return own == known or {str(own), str(known)} == {"number", "integer"}


def _fill_rules(field: dict[str, Any], bundled: Mapping[str, Any]) -> None:
    _fill(field, bundled, ("type", "format"))
    if field.get("type") == "array":
        _fill(field, bundled, ("items",))
    if not any(key in field for key in (*_OPTIONS, *_LIMITS)):  # limits from both must not be mixed
        rules = {key: bundled[key] for key in (*_OPTIONS, *_LIMITS) if key in bundled}
        if "default" not in field or all_fit([field["default"]], rules):
            field.update(copy.deepcopy(rules))
    if "default" in bundled and "default" not in field and all_fit([bundled["default"]], field):
        field["default"] = copy.deepcopy(bundled["default"])


def _fill_notes(field: dict[str, Any], bundled: Mapping[str, Any], names: frozenset[str]) -> None:
    known, own = bundled.get(NOTES) or {}, field.get(NOTES)
    notes = dict(own) if isinstance(own, Mapping) else {}
    keys = [*_NOTES]
    if "of" in known and known["of"] not in names:
        keys.remove("check")  # it would refer to a missing field
    keys += [key for key in _REFERRING if _list_names(known.get(key)) <= names]
    if "appliesIf" in notes:
        keys = [key for key in keys if key != "appliesWhen"]
    for key in keys:
        if key in known and key not in notes:
            notes[key] = copy.deepcopy(known[key])
    if notes:
        field[NOTES] = notes


def _list_names(note: Any) -> frozenset[str]:
    if isinstance(note, str):
        return frozenset({note})
    return frozenset(note) if isinstance(note, Mapping) else frozenset()


def _fill(field: dict[str, Any], bundled: Mapping[str, Any], keys: tuple[str, ...]) -> None:
    for key in keys:
        if key in bundled and key not in field:
            field[key] = copy.deepcopy(bundled[key])
