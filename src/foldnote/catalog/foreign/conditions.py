"""Translate the ``conditionals`` of another service's parameter to a JSON Schema of the settings object.

The conditionals say when a parameter applies. Each is one of seven checks of another setting, the rows of
`_CHECKS`, and all must hold. Values are compared both as JSON and as text, because catalogs write ``"true"``
and ``"3"`` for booleans and numbers. A missing setting has its default.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from foldnote.catalog.keywords import fits

_SPECIAL = re.compile(r"[\\^$.*+?()\[\]{}|]")
_EMPTY: Final[tuple[Any, ...]] = (None, "", [], {})
_NOT_NULL: Final = {"not": {"type": "null"}}


class UntranslatableError(Exception):
    """A check that cannot be expressed as a JSON Schema."""


@dataclass(frozen=True)
class _Check:
    """One of the seven checks.

    Attributes:
        value_schema: makes the schema for the other setting's value from the row's ``otherSettingValue``.
        holds_when_absent: whether the check holds for a missing setting without a default.
    """

    value_schema: Callable[[Any], dict[str, Any]]
    holds_when_absent: bool = False


def translate_conditions(rows: Sequence[Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """Translate conditionals to a schema that the settings object satisfies if and only if all of them hold.

    Args:
        rows: objects with ``otherSettingName``, ``checkType`` and ``otherSettingValue``.
        fields: schema of each setting by name, for defaults and options.

    Raises:
        UntranslatableError: a row is not such an object or has an unknown check.
    """
    parts = [_translate(row, fields) for row in rows]
    return parts[0] if len(parts) == 1 else {"allOf": parts}


def _translate(row: Any, fields: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(row, Mapping):
        raise UntranslatableError
    given = {str(key)[:1].lower() + str(key)[1:]: value for key, value in row.items()}
    name = given.get("otherSettingName")
    word = re.sub(r"[^a-z]", "", str(given.get("checkType")).lower())
    if not isinstance(name, str) or not name or word not in _CHECKS:
        raise UntranslatableError
    value = given.get("otherSettingValue")
    word, value = _normalize_check(word, value)
    check, other = _CHECKS[word], fields.get(name)
    value_schema = _narrow(
        word, check.value_schema(value), value, other if isinstance(other, Mapping) else {}
    )
    condition: dict[str, Any] = {"properties": {name: value_schema}}
    if not _holds_when_absent(check, value_schema, other):
        condition["required"] = [name]
    return condition


def _normalize_check(word: str, value: Any) -> tuple[str, Any]:
    """Rewrite a negated check as its opposite, and comparison with null as a check for absence."""
    opposites = {"exists": "isabsent", "notempty": "isempty"}
    if word in opposites and value in (False, "false"):
        return opposites[word], None
    if value is None and word in ("equals", "notequals"):
        return ("isabsent" if word == "equals" else "exists"), None
    return word, value


def _holds_when_absent(check: _Check, value_schema: Mapping[str, Any], other: Any) -> bool:
    if isinstance(other, Mapping) and "default" in other:
        return fits(other["default"], value_schema)
    return check.holds_when_absent


def _narrow(word: str, value_schema: dict[str, Any], value: Any, other: Mapping[str, Any]) -> dict[str, Any]:
    """For options that are numbers written as text, list those on the required side of the limit."""
    options = _list_options(other)
    if word not in ("greaterthan", "lessthan") or not options:
        return value_schema
    limit = _read_number(value)
    numbers = [(option, _parse_number(option)) for option in options]
    if limit is None or not any(isinstance(option, str) and found is not None for option, found in numbers):
        return value_schema
    is_more = word == "greaterthan"
    return {
        "enum": [
            option
            for option, found in numbers
            if found is not None and (found > limit if is_more else found < limit)
        ]
    }


def _list_options(schema: Mapping[str, Any]) -> list[Any]:
    if isinstance(schema.get("enum"), list):
        return list(schema["enum"])
    labelled = schema.get("oneOf")
    rows = labelled if isinstance(labelled, list) else []
    return [row["const"] for row in rows if isinstance(row, Mapping) and "const" in row]


def _match_equal(value: Any) -> dict[str, Any]:
    return {"enum": _spellings(value)}


def _match_included(value: Any) -> dict[str, Any]:
    """Match a list or text that contains the value or, if the value is a list, any of its items."""
    if isinstance(value, list):
        if not value:
            raise UntranslatableError
        spellings = [spelling for item in value for spelling in _spellings(item)]
        options = {"enum": _distinct(spellings)}
        return {"anyOf": [options, {"type": "array", "contains": options}]}
    if value is None or isinstance(value, dict):
        raise UntranslatableError
    text = value if isinstance(value, str) else json.dumps(value)
    return {
        "anyOf": [
            {"enum": _spellings(value)},
            {"type": "array", "contains": {"enum": _spellings(value)}},
            {"type": "string", "pattern": _SPECIAL.sub(lambda found: f"\\{found.group()}", text)},
        ]
    }


def _bound(keyword: str) -> Callable[[Any], dict[str, Any]]:
    def translate(value: Any) -> dict[str, Any]:
        limit = _read_number(value)
        if limit is None:
            raise UntranslatableError
        return {"type": "number", keyword: limit}

    return translate


_CHECKS: Final[Mapping[str, _Check]] = {
    "equals": _Check(_match_equal),
    "notequals": _Check(lambda value: {"not": _match_equal(value)}, holds_when_absent=True),
    "includes": _Check(_match_included),
    "greaterthan": _Check(_bound("exclusiveMinimum")),
    "lessthan": _Check(_bound("exclusiveMaximum")),
    "exists": _Check(lambda _: dict(_NOT_NULL)),
    "notempty": _Check(lambda _: {"not": {"enum": list(_EMPTY)}}),
    # produced by `_normalize_check` only
    "isabsent": _Check(lambda _: {"type": "null"}, holds_when_absent=True),
    "isempty": _Check(lambda _: {"enum": list(_EMPTY)}, holds_when_absent=True),
}


def _spellings(value: Any) -> list[Any]:
    """Return the value and its equivalent as text, or as parsed from text."""
    if isinstance(value, str):
        read = _read_scalar(value)
        return [value] if read is None else [value, read]
    if isinstance(value, int | float):
        return [value, json.dumps(value)]
    return [value]


def _read_scalar(text: str) -> Any:
    """Parse a boolean or number; None for other text."""
    if text.strip().lower() in ("true", "false"):
        return text.strip().lower() == "true"
    return _parse_number(text)


def _parse_number(value: Any) -> int | float | None:
    if isinstance(value, str):
        try:
            found = json.loads(value)
        except (ValueError, RecursionError):
            return None
        return _read_number(found) if not isinstance(found, str) else None
    return _read_number(value)


def _read_number(value: Any) -> int | float | None:
    if isinstance(value, str):
        return _parse_number(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if value == value and abs(value) < 1e300 else None


def _distinct(values: Sequence[Any]) -> list[Any]:
    found: list[Any] = []
    for value in values:
        if not any(type(value) is type(other) and value == other for other in found):
            found.append(value)
    return found
