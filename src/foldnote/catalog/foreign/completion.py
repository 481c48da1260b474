"""Complete a foreign catalog from the bundled one; what the service states itself always wins.

Fields that the service lists are completed, fields that it does not list are not added. What was filled in is
returned, so that our words are not taken for the service's.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, Final

from foldnote.catalog.keywords import fits, is_schema
from foldnote.catalog.prepared_schema import NOTES

_OPTIONS: Final = ("enum", "const", "oneOf", "anyOf")
_LIMITS: Final = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength",
                  "maxLength", "pattern", "minItems", "maxItems", "uniqueItems")  # fmt: skip
_WORDS: Final = ("title", "description")
_NOTES: Final = ("unit", "role", "extensions", "alphabet", "chains", "columns", "group", "check")
_REFERRING: Final = ("of", "appliesWhen", "pairWhen")
"""Notes that name other fields."""


def fill_fields(schema: dict[str, Any], bundled: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Complete the fields of ``schema`` in place; gives what was filled in, by field."""
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
    if _agree(field, bundled):
        _fill_rules(field, bundled)
        _fill_notes(field, bundled, names)
    if not is_schema(field):
        field.clear()
        field.update(before)
    told = [key for key in field if key != NOTES and field.get(key) != before.get(key)]
    old, new = before.get(NOTES) or {}, field.get(NOTES) or {}
    return (*told, *(key for key in new if new[key] != old.get(key)))


def _agree(field: Mapping[str, Any], bundled: Mapping[str, Any]) -> bool:
    """Whether both mean the same kind of value; a foreign field without a type means ours."""
    ours, theirs = bundled.get("type"), field.get("type")
    if theirs is None:
        options = field.get("enum")
        return "$ref" not in field and (options is None or _fits_all(options, {"type": ours}))
    return theirs == ours or {str(theirs), str(ours)} == {"number", "integer"}


def _fill_rules(field: dict[str, Any], bundled: Mapping[str, Any]) -> None:
    _fill(field, bundled, ("type", "format"))
    if field.get("type") == "array":
        _fill(field, bundled, ("items",))
    if not any(key in field for key in (*_OPTIONS, *_LIMITS)):  # limits of both are not to be mixed
        rules = {key: bundled[key] for key in (*_OPTIONS, *_LIMITS) if key in bundled}
        if "default" not in field or _fits_all([field["default"]], rules):
            field.update(copy.deepcopy(rules))
    if "default" in bundled and "default" not in field and _fits_all([bundled["default"]], field):
        field["default"] = copy.deepcopy(bundled["default"])


def _fill_notes(field: dict[str, Any], bundled: Mapping[str, Any], names: frozenset[str]) -> None:
    ours, theirs = bundled.get(NOTES) or {}, field.get(NOTES)
    notes = dict(theirs) if isinstance(theirs, Mapping) else {}
    keys = [*_NOTES]
    if "of" in ours and ours["of"] not in names:
        keys.remove("check")  # it would look at a field that is not there
    keys += [key for key in _REFERRING if _named(ours.get(key)) <= names]
    if "appliesIf" in notes:
        keys = [key for key in keys if key != "appliesWhen"]
    for key in keys:
        if key in ours and key not in notes:
            notes[key] = copy.deepcopy(ours[key])
    if notes:
        field[NOTES] = notes


def _named(note: Any) -> frozenset[str]:
    if isinstance(note, str):
        return frozenset({note})
    return frozenset(note) if isinstance(note, Mapping) else frozenset()


def _fill(field: dict[str, Any], bundled: Mapping[str, Any], keys: tuple[str, ...]) -> None:
    for key in keys:
        if key in bundled and key not in field:
            field[key] = copy.deepcopy(bundled[key])


def _fits_all(values: Any, schema: Mapping[str, Any]) -> bool:
    return all(fits(value, schema) for value in values)
