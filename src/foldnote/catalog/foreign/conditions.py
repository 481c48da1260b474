"""When a foreign parameter applies: its ``conditionals``, as one JSON Schema of the whole settings object.

Each of the seven checks looks at one other setting and is one row of `_CHECKS`. All of a parameter's checks
must hold. Values are compared as JSON has them and as text, because catalogs write ``"true"`` and ``"3"``
where the setting is a boolean or a number. A setting that is not given counts with its default.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from foldnote.catalog.keywords import fits

_SPECIAL = re.compile(r"[\\^$.*+?()\[\]{}|]")
_NOTHING: Final[tuple[Any, ...]] = (None, "", [], {})
_GIVEN: Final = {"not": {"type": "null"}}


class UntranslatableError(Exception):
    """A check that no schema says; the row is kept as it is."""


@dataclass(frozen=True)
class _Check:
    """One of the seven.

    Attributes:
        value_schema: what the other setting's value must satisfy, from the value that the row names.
        holds_when_absent: whether the check holds for a setting that is neither given nor has a default.
    """

    value_schema: Callable[[Any], dict[str, Any]]
    holds_when_absent: bool = False


def translate_conditions(rows: Sequence[Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """The schema that the settings object satisfies exactly when all of ``rows`` hold.

    Args:
        rows: objects with ``otherSettingName``, ``checkType`` and ``otherSettingValue``.
        fields: the schema of each setting, by name: its default and options count.

    Raises:
        UntranslatableError: a row is not such an object, or names an unknown check.
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
    word, value = _turn_round(word, value)
    check, other = _CHECKS[word], fields.get(name)
    wanted = _narrow(word, check.value_schema(value), value, other if isinstance(other, Mapping) else {})
    condition: dict[str, Any] = {"properties": {name: wanted}}
    if not _holds_when_left_out(check, wanted, other):
        condition["required"] = [name]
    return condition


def _turn_round(word: str, value: Any) -> tuple[str, Any]:
    """Checks for or against nothing, as the check for something and its opposite."""
    opposites = {"exists": "isabsent", "notempty": "isempty"}
    if word in opposites and value in (False, "false"):
        return opposites[word], None
    if value is None and word in ("equals", "notequals"):
        return ("isabsent" if word == "equals" else "exists"), None
    return word, value


def _holds_when_left_out(check: _Check, wanted: Mapping[str, Any], other: Any) -> bool:
    if isinstance(other, Mapping) and "default" in other:
        return fits(other["default"], wanted)
    return check.holds_when_absent


def _narrow(word: str, wanted: dict[str, Any], value: Any, other: Mapping[str, Any]) -> dict[str, Any]:
    """For options that are numbers written as text, those of them that are greater, or less."""
    options = _list_options(other)
    if word not in ("greaterthan", "lessthan") or not options:
        return wanted
    limit = _read_number(value)
    numbers = [(option, _number_in(option)) for option in options]
    if limit is None or not any(isinstance(option, str) and found is not None for option, found in numbers):
        return wanted
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


def _equal(value: Any) -> dict[str, Any]:
    return {"enum": _spellings(value)}


def _include(value: Any) -> dict[str, Any]:
    """A list that holds the value, a text that holds it, or a value that is one of several."""
    if isinstance(value, list):
        if not value:
            raise UntranslatableError
        wanted = [spelling for item in value for spelling in _spellings(item)]
        options = {"enum": _distinct(wanted)}
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
    "equals": _Check(_equal),
    "notequals": _Check(lambda value: {"not": _equal(value)}, holds_when_absent=True),
    "includes": _Check(_include),
    "greaterthan": _Check(_bound("exclusiveMinimum")),
    "lessthan": _Check(_bound("exclusiveMaximum")),
    "exists": _Check(lambda _: dict(_GIVEN)),
    "notempty": _Check(lambda _: {"not": {"enum": list(_NOTHING)}}),
    # what `_turn_round` makes of the two last with the value false
    "isabsent": _Check(lambda _: {"type": "null"}, holds_when_absent=True),
    "isempty": _Check(lambda _: {"enum": list(_NOTHING)}, holds_when_absent=True),
}


def _spellings(value: Any) -> list[Any]:
    """The value, and the same as text or read from text."""
    if isinstance(value, str):
        read = _read_scalar(value)
        return [value] if read is None else [value, read]
    if isinstance(value, int | float):
        return [value, json.dumps(value)]
    return [value]


def _read_scalar(text: str) -> Any:
    """A boolean or number that a text spells; None for any other text."""
    if text.strip().lower() in ("true", "false"):
        return text.strip().lower() == "true"
    return _number_in(text)


def _number_in(value: Any) -> int | float | None:
    if isinstance(value, str):
        try:
            found = json.loads(value)
        except (ValueError, RecursionError):
            return None
        return _read_number(found) if not isinstance(found, str) else None
    return _read_number(value)


def _read_number(value: Any) -> int | float | None:
    if isinstance(value, str):
        return _number_in(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if value == value and abs(value) < 1e300 else None


def _distinct(values: Sequence[Any]) -> list[Any]:
    found: list[Any] = []
    for value in values:
        if not any(type(value) is type(other) and value == other for other in found):
            found.append(value)
    return found
