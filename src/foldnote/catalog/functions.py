"""Tools as Python functions: names, signatures and docstrings, derived from the schemas of their settings.

Nothing is validated here, and neither models nor compiled schemas are needed, so completing a tool's name is
fast.
"""

from __future__ import annotations

import keyword
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from inspect import Parameter
from textwrap import TextWrapper
from typing import Any, Final, Literal

from foldnote.text import format_number

_NOTES: Final = "x-foldnote"
_TYPES: Final[Mapping[str, Any]] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "object": dict[str, Any],
    "null": None,
}
_GROUPS: Final = ("required", "common", "advanced")
_WIDTH: Final = 88


def find_python_name(name: str) -> str:
    """Convert ``name`` to a Python name: hyphens become underscores; a keyword gets an underscore appended.

    The name is NFKC-normalised, as Python does with names in code before looking them up.
    """
    plain = unicodedata.normalize("NFKC", name)
    letters = "".join(each if f"_{each}".isidentifier() else "_" for each in plain)
    start = "" if letters.isidentifier() else "_"
    return f"{start}{letters}{'_' if keyword.iskeyword(letters) else ''}"


@dataclass(frozen=True)
class SettingArgument:
    """A setting as a keyword argument."""

    setting: str
    """Name of the setting in the schema."""
    name: str
    """Name of the argument in Python."""
    schema: Mapping[str, Any]
    is_needed: bool
    """Whether a call must pass it: it is required and has no default."""

    @property
    def parameter(self) -> Parameter:
        """Name, type and default; an optional setting without a default has None, which omits it."""
        annotation = find_annotation(self.schema)
        if self.is_needed:
            return Parameter(self.name, Parameter.KEYWORD_ONLY, annotation=annotation)
        default = None if _is_secret(self.schema) else self.schema.get("default")
        if default is None and annotation is not Any:
            annotation = annotation | None
        return Parameter(self.name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)

    @property
    def takes_none(self) -> bool:
        """Whether null is a value of the setting; if not, None omits it."""
        kinds = self.schema.get("type")
        return "null" in (kinds if isinstance(kinds, list) else [kinds]) or None in _list_options(self.schema)

    def describe(self) -> str:
        """Return the title, description, options, unit, range, default and condition, in one paragraph."""
        title, text = (str(self.schema.get(key) or "").rstrip(".") for key in ("title", "description"))
        is_name = title.replace(" ", "").lower() == self.setting.lower()
        told = ("" if is_name and text else title, text, *self._list_facts())
        return " ".join(f"{each}." for each in told if each)

    def _list_facts(self) -> Iterator[str]:
        field, notes = self.schema, _read_notes(self.schema)
        if options := _list_options(field):
            yield f"Options: {', '.join(map(repr, options))}"
        if unit := notes.get("unit"):
            yield f"Unit: {unit}"
        if field.get("type") in ("integer", "number") and (limits := _describe_range(field)):
            yield f"Range: {limits}"
        if notes.get("role") in ("file", "files") or field.get("format") == "binary":
            kinds = ", ".join(f".{str(each).lstrip('.')}" for each in notes.get("extensions") or ())
            yield f"File{f' ({kinds})' if kinds else ''}: fn.upload(path), fn.uploaded(name), fn.inline(text)"
        if field.get("default") is not None and not _is_secret(field):
            yield f"Default: {field['default']!r}"
        conditions = notes.get("appliesWhen")
        for name, values in conditions.items() if isinstance(conditions, Mapping) else ():
            listed = values if isinstance(values, list) else [values]
            yield f"Applies if {name} is {' or '.join(map(repr, listed))}"
        if self.is_needed:
            yield "Required"


def read_arguments(schema: Mapping[str, Any], taken: Collection[str] = ()) -> tuple[SettingArgument, ...]:
    """Return the settings of a schema as arguments: needed ones first, then in the order of a form.

    Args:
        schema: JSON Schema of the settings object.
        taken: names of other arguments; an underscore is appended to a setting with such a name, and to one
            whose Python name is that of another setting.
    """
    properties, listed = schema.get("properties"), schema.get("required")
    required = listed if isinstance(listed, list) else []
    fields = {
        name: field
        for name, field in (properties if isinstance(properties, Mapping) else {}).items()
        if isinstance(field, Mapping)
    }
    names: dict[str, str] = {}
    for name in sorted(fields, key=lambda each: find_python_name(each) != each or each in taken):
        names[name] = avoid(find_python_name(name), {*taken, *names.values()})
    found = [
        SettingArgument(name, names[name], field, name in required and "default" not in field)
        for name, field in fields.items()
    ]
    return tuple(sorted(found, key=_rank))


def find_annotation(field: Mapping[str, Any]) -> Any:
    """Return the Python type of a setting's values; ``Any`` if its schema does not specify it."""
    options = _list_options(field)
    if options and all(isinstance(each, str | int | bool | None) for each in options):
        return Literal[tuple(options)]
    kinds = field.get("type")
    if isinstance(kinds, list):
        return _join(find_annotation({**field, "type": kind}) for kind in kinds)
    if kinds == "array":
        items = field.get("items")
        return list[find_annotation(items) if isinstance(items, Mapping) else Any]  # type: ignore[misc]
    if kinds == "object" and isinstance(values := field.get("additionalProperties"), Mapping):
        return dict[str, find_annotation(values)]  # type: ignore[misc]
    return _TYPES.get(kinds, Any) if isinstance(kinds, str) else Any


def write_docstring(head: Iterable[str], arguments: Mapping[str, str], tail: Iterable[str]) -> str:
    """Write a docstring: paragraphs, a section ``Args`` with one entry per argument, and more paragraphs."""
    entry = TextWrapper(_WIDTH, initial_indent="    ", subsequent_indent="        ", break_long_words=False,
                        break_on_hyphens=False)  # fmt: skip
    listed = "\n".join(["Args:", *(entry.fill(f"{name}: {text}") for name, text in arguments.items())])
    whole = TextWrapper(_WIDTH, break_long_words=False, break_on_hyphens=False)
    return "\n\n".join([*map(whole.fill, head), listed, *map(whole.fill, tail)])


def _join(kinds: Iterable[Any]) -> Any:
    joined: Any = None
    for position, kind in enumerate(kinds):
        if kind is Any:
            return Any
        joined = kind if position == 0 else joined | kind
    return joined


def avoid(name: str, taken: Collection[str]) -> str:
    """Append underscores to ``name`` until it is not taken."""
    while name in taken:
        name = f"{name}_"
    return name


def _rank(each: SettingArgument) -> tuple[bool, int, float]:
    notes = _read_notes(each.schema)
    group, order = notes.get("group"), notes.get("order")
    place = _GROUPS.index(group) if group in _GROUPS else 1
    return not each.is_needed, place, order if isinstance(order, int | float) else 1e6


def _read_notes(field: Mapping[str, Any]) -> Mapping[str, Any]:
    found = field.get(_NOTES)
    return found if isinstance(found, Mapping) else {}


def _is_secret(field: Mapping[str, Any]) -> bool:
    return field.get("format") == "password" or bool(field.get("writeOnly"))


def _list_options(field: Mapping[str, Any]) -> list[Any]:
    if isinstance(field.get("enum"), list):
        return list(field["enum"])
    rows = field.get("oneOf")
    if isinstance(rows, list) and all(isinstance(row, Mapping) and "const" in row for row in rows):
        return [row["const"] for row in rows]
    return []


def _describe_range(field: Mapping[str, Any]) -> str:
    least, most = field.get("minimum"), field.get("maximum")
    above, below = field.get("exclusiveMinimum"), field.get("exclusiveMaximum")
    if least is not None and most is not None:
        return f"{format_number(least)} to {format_number(most)}"
    bounds = {"at least": least, "more than": above, "at most": most, "less than": below}
    return ", ".join(f"{word} {format_number(bound)}" for word, bound in bounds.items() if bound is not None)
