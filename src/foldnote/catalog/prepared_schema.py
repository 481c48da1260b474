"""A tool's schema made ready for checking: its fields in order, each with its own rules.

Preparing costs milliseconds and checking runs at every keystroke, so that what was prepared is kept, by
the identity of the schema. Foreign schemas are served too: what they say outside ``properties`` (``if``,
``dependentRequired`` …) is left to `Prepared.rest`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from foldnote.catalog.json_values import MOST_LETTERS
from foldnote.catalog.keywords import Document, Rules

if TYPE_CHECKING:
    from foldnote.models.tool import Tool

NOTES: Final = "x-foldnote"
CONDITION: Final = "appliesIf"
"""A note: the schema of a settings object in which the field applies; for what ``appliesWhen`` cannot say."""
PLAIN: Final = {
    "$schema", "$id", "$defs", "$comment", "definitions", "title", "description", "default", "examples",
    "type", "properties", "required", "additionalProperties",
}  # fmt: skip
"""What a tool's schema says that concerns no more than one field at a time."""
_KEPT = 256
_LOCK = Lock()
_CACHE: OrderedDict[int, tuple[Mapping[str, Any], Prepared]] = OrderedDict()


@dataclass(frozen=True, slots=True)
class PreparedField:
    """One field of a tool's settings."""

    name: str
    schema: Mapping[str, Any]
    required: bool
    """Whether the reference marks it so; a required field with a default may still be left out."""
    rules: Rules
    condition: Rules | None = None
    """What the other settings must satisfy for the field to apply; None for fields that say it otherwise."""
    depends_on: frozenset[str] = frozenset()
    """Names of the settings that `condition` looks at."""
    longest_text: int | None = None
    """Characters that any text in its value may have; None for fields of a schema without our notes."""

    @property
    def notes(self) -> Mapping[str, Any]:
        """What the schema says under ``x-foldnote``."""
        found = self.schema.get(NOTES)
        return found if isinstance(found, Mapping) else {}

    @property
    def is_file(self) -> bool:
        """Whether its value may be the contents of a file."""
        return self.notes.get("role") in ("file", "files")

    @property
    def has_default(self) -> bool:
        """Whether the field may be left out because the schema fills it in."""
        return "default" in self.schema

    @property
    def is_sequence(self) -> bool:
        """Whether white space and case carry no meaning in its value."""
        return self.notes.get("role") in ("sequence", "sequences")


@dataclass(frozen=True, slots=True)
class Prepared:
    """A schema's fields in the order in which people see them, and the rest of what it says."""

    fields: tuple[PreparedField, ...]
    is_closed: bool
    """Whether a key that is no field is a mistake."""
    rest: Rules | None
    """The whole schema, where it says more than `PLAIN`; None where it does not."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the fields, in order."""
        return tuple(field.name for field in self.fields)

    @property
    def properties(self) -> dict[str, Any]:
        """Each field's schema, by name."""
        return {field.name: field.schema for field in self.fields}


def prepare(tool: Tool) -> Prepared:
    """The tool's schema, ready; kept for the next call."""
    schema = tool.settings_schema
    with _LOCK:
        kept = _CACHE.get(id(schema))
        if kept and kept[0] is schema:
            _CACHE.move_to_end(id(schema))
            return kept[1]
    prepared = _prepare(schema)
    with _LOCK:
        _CACHE[id(schema)] = schema, prepared
        while len(_CACHE) > _KEPT:
            _CACHE.popitem(last=False)
    return prepared


def _prepare(schema: Mapping[str, Any]) -> Prepared:
    document = Document(schema)
    required = set(schema.get("required") or ())
    properties = schema.get("properties") or {}
    fields = [
        _prepare_field(document, name, child, is_required=name in required)
        for name, child in properties.items()
    ]
    has_rest = any(key not in PLAIN and not key.startswith("x-") for key in schema)
    is_closed = schema.get("additionalProperties") is False and "patternProperties" not in schema
    ordered = sorted(enumerate(fields), key=lambda pair: _rank(pair[1], pair[0]))
    return Prepared(tuple(field for _, field in ordered), is_closed, document.compile() if has_rest else None)


def _prepare_field(document: Document, name: str, schema: Any, *, is_required: bool) -> PreparedField:
    found = schema if isinstance(schema, Mapping) else {}
    rules = document.compile("properties", name)
    notes = found.get(NOTES)
    condition = notes.get(CONDITION) if isinstance(notes, Mapping) else None
    longest = _find_longest(found) if isinstance(notes, Mapping) and _is_ours(notes) else None
    if not isinstance(condition, Mapping):
        return PreparedField(name, found, is_required, rules, longest_text=longest)
    compiled = document.compile("properties", name, NOTES, CONDITION)
    return PreparedField(name, found, is_required, rules, compiled, list_names(condition), longest)


def _is_ours(notes: Mapping[str, Any]) -> bool:
    """Whether the field is of our own form, where every text has a longest length, or a sequence."""
    return "order" in notes or notes.get("role") in ("sequence", "sequences", "smiles")


def _find_longest(schema: Any) -> int:
    """The longest text that the schema has a bound for; `MOST_LETTERS` where it has none."""
    bounds: list[int] = []
    waiting = [schema]
    while waiting:
        each = waiting.pop()
        if isinstance(each, Mapping):
            bound = each.get("maxLength")
            bounds += [int(bound)] if isinstance(bound, int | float) else []
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each
    return max(bounds, default=MOST_LETTERS)


def list_names(condition: Any) -> frozenset[str]:
    """Names of the settings that a schema of the whole settings object looks at."""
    if isinstance(condition, list):
        return frozenset().union(*map(list_names, condition))
    if not isinstance(condition, Mapping):
        return frozenset()
    fields, required = condition.get("properties"), condition.get("required")
    names = frozenset(fields) if isinstance(fields, Mapping) else frozenset()
    if isinstance(required, list):
        names |= {name for name in required if isinstance(name, str)}
    return names.union(*map(list_names, condition.values()))


def _rank(field: PreparedField, position: int) -> tuple[float, int]:
    order = field.notes.get("order")
    return (float(order) if isinstance(order, int | float) else float("inf"), position)
