"""Messages for JSON Schema's standard errors: what is wrong with a value, and what would be valid.

There is one row per keyword. Messages of foldnote's own rules are in `foldnote.catalog.checks`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final

from foldnote.catalog.checks.row import shorten
from foldnote.catalog.json_values import MAX_LEVELS, NOT_FINITE, TOO_DEEP, TOO_LARGE, InvalidPart
from foldnote.text import count, format_number

if TYPE_CHECKING:
    from foldnote.catalog.keywords import SchemaFault

_KINDS: Final = {
    "string": "text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object of names and values",
    "null": "null",
}
_SHOWN_OPTIONS = 24


def describe_fault(fault: SchemaFault, unit: str = "") -> tuple[str, str]:
    """Return the message and the code for a keyword that a value violates.

    Args:
        fault: the violation.
        unit: the field's unit, for bounds.
    """
    rule = _WORDINGS.get(fault.keyword)
    if rule:
        return rule(fault.instance, fault.expected, f" {unit}" if unit else "")
    return f"{shorten(fault.instance)} does not fit: {shorten(fault.message, 160)}.", "invalid"


def describe_invalid_part(invalid: InvalidPart) -> tuple[str, str]:
    """Return the message and the code for a part of a value that cannot be sent."""
    if invalid.reason == NOT_FINITE:
        return "Numbers must be finite: NaN and infinity cannot be used.", NOT_FINITE
    if invalid.reason == TOO_DEEP:
        return f"This is nested too deeply or has too many parts. Use at most {MAX_LEVELS} levels.", TOO_DEEP
    if isinstance(invalid.part, dict):
        return "The names in an object must be text. Put them in quotation marks.", "wrong_type"
    kind = name_kind(invalid.part)
    return f"This is {kind}, which cannot be sent. Use text, numbers, true, false or lists.", "wrong_type"


def describe_unknown(name: str, known: Iterable[str]) -> str:
    """Return the message for a setting that the tool does not have."""
    names = list(known)
    near = find_near(name[:100], names)
    if near:
        return f"There is no setting {shorten(name)}. Did you mean {near[0]}?"
    listed = f" The settings are: {', '.join(names)}." if names else ""
    return f"There is no setting {shorten(name)}.{listed}"


def find_near(name: str, known: Iterable[str], limit: int = 1) -> tuple[str, ...]:
    """Return known names similar to ``name``: equal except for case and underscores, else in spelling."""
    names = list(known)
    same = [other for other in names if _fold(other) == _fold(name)]
    if same:
        return tuple(same[:limit])
    folded = {_fold(other): other for other in names}
    import difflib  # deferred: needed only for misspelt names

    near = difflib.get_close_matches(_fold(name[:80]), list(folded), n=limit, cutoff=0.6)
    return tuple(folded[other] for other in near)


def name_kind(value: object) -> str:
    """Return the description of a value's JSON type, such as ``an object``."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, str):
        return "text"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, list):
        return "a list"
    return "an object" if isinstance(value, dict) else f"a Python {type(value).__name__[:40]}"


def _fold(name: str) -> str:
    return name.replace("_", "").replace("-", "").replace(" ", "").lower()


def _describe_type(value: Any, wanted: Any, _unit: str) -> tuple[str, str]:
    kinds = [wanted] if isinstance(wanted, str) else list(wanted)
    needed = " or ".join(_KINDS.get(kind, str(kind)) for kind in kinds)
    return f"This must be {needed}, not {name_kind(value)}.{_hint_type(value, kinds)}", "wrong_type"


def _hint_type(value: Any, kinds: list[str]) -> str:
    if isinstance(value, PurePath):
        return " Upload the file, and give what the upload returns."
    if value is None:
        return " Leave the setting out instead."
    if isinstance(value, str) and {"number", "integer"} & set(kinds) and _is_number(value):
        return f" Write {value.strip()} without quotation marks."
    if isinstance(value, str) and "boolean" in kinds and value.lower() in ("true", "false"):
        return f" Write {value.lower()} without quotation marks."
    if isinstance(value, list) and len(value) > 1 and "string" in kinds:
        return " To run one job for each item, submit a batch."
    if isinstance(value, int | float) and not isinstance(value, bool) and "string" in kinds:
        return f' Write "{value}" in quotation marks.' if abs(value) < 1e15 else ""
    if isinstance(value, float) and "integer" in kinds:
        return f" {value} has a fraction."
    return ""


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return len(text) < 30


def _describe_enum(value: Any, allowed: Any, _unit: str) -> tuple[str, str]:
    options = [str(option) for option in allowed]
    near = find_near(value, options) if isinstance(value, str) else ()
    hint = f" Did you mean {near[0]}?" if near else ""
    listed = ", ".join(options[:_SHOWN_OPTIONS]) + (", ..." if len(options) > _SHOWN_OPTIONS else "")
    return f"{shorten(value)} is not one of the options: {listed}.{hint}", "not_an_option"


def _describe_pattern(value: Any, pattern: Any, _unit: str) -> tuple[str, str]:
    return f"{shorten(value)} does not have the form {shorten(pattern, 80)}.", "wrong_form"


def _describe_union(value: Any, wanted: Any, _unit: str) -> tuple[str, str]:
    if isinstance(wanted, list) and all(
        isinstance(each, dict) and [*each] == ["required"] for each in wanted
    ):
        ways = [" with ".join(map(str, each["required"])) for each in wanted]
        return f"None of {', '.join(ways)} is given, and at least one is needed.", "invalid"
    return f"{shorten(value)} matches none of the alternatives that are allowed here.", "invalid"


def _describe_excluded(value: Any, wanted: Any, _unit: str) -> tuple[str, str]:
    if wanted == {}:
        return "This cannot be given beside the other settings. Leave it out.", "not_allowed"
    return f"The value {shorten(value)} is not allowed here.", "invalid"


def _bound(rule: str, code: str) -> Callable[[Any, Any, str], tuple[str, str]]:
    return lambda value, bound, unit: (
        f"{format_number(value)[:24]}{unit} is {rule} {format_number(bound)}{unit}.",
        code,
    )


def _count(noun: str, rule: str, code: str) -> Callable[[Any, Any, str], tuple[str, str]]:
    return lambda value, bound, _: (
        f"This has {count(len(value), noun)}; {rule} allowed is {format_number(bound)}.",
        code,
    )


_WORDINGS: Final[Mapping[str, Callable[[Any, Any, str], tuple[str, str]]]] = {
    TOO_LARGE: lambda *_: (
        "This is too large to be checked by the schema of this tool. Give less at once, or a file.",
        "too_large"),
    "type": _describe_type,
    "enum": _describe_enum,
    "const": lambda value, wanted, _: (
        f"{shorten(value)} is not allowed; the only value is {shorten(wanted)}.", "not_an_option"),
    "minimum": _bound("too small; the least is", "below_minimum"),
    "exclusiveMinimum": _bound("too small; it must be more than", "below_minimum"),
    "maximum": _bound("too large; the most is", "above_maximum"),
    "exclusiveMaximum": _bound("too large; it must be less than", "above_maximum"),
    "multipleOf": _bound("not a multiple of", "wrong_step"),
    "pattern": _describe_pattern,
    "maxLength": _count("character", "the longest", "too_long"),
    "minLength": _count("character", "the shortest", "too_short"),
    "maxItems": _count("item", "the most", "too_many"),
    "minItems": _count("item", "the fewest", "too_few"),
    "uniqueItems": lambda *_: ("An item is given twice. Give each item once.", "repeated"),
    "anyOf": _describe_union,
    "oneOf": _describe_union,
    "not": _describe_excluded,
    "minProperties": _count("name", "the fewest", "too_few"),
    "maxProperties": _count("name", "the most", "too_many"),
}  # fmt: skip
