"""Prepare a tool's schema for validation: its fields in display order, each with compiled rules.

Preparation takes milliseconds and validation runs at every keystroke, so prepared schemas are cached by
identity. Schemas of other services may have keywords outside ``properties`` (``if``, ``dependentRequired``,
…); these are compiled into `Prepared.rest`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from foldnote.catalog.json_values import MAX_TEXT_LENGTH
from foldnote.catalog.keywords import Document, Rules

if TYPE_CHECKING:
    from foldnote.catalog.described_tool import DescribedTool

NOTES: Final = "x-foldnote"
CONDITION: Final = "appliesIf"
"""Key under ``x-foldnote`` with a schema of the settings under which the field applies.

For conditions that ``appliesWhen`` cannot express.
"""
FIELD_KEYWORDS: Final = {
    "$schema", "$id", "$defs", "$comment", "definitions", "title", "description", "default", "examples",
    "type", "properties", "required", "additionalProperties",
}  # fmt: skip
"""Top-level keywords that never concern more than one field at a time."""
_CACHE_SIZE = 256
_LOCK = Lock()
_CACHE: OrderedDict[int, tuple[Mapping[str, Any], Prepared]] = OrderedDict()


class PreparedField(NamedTuple):
    """One field of a tool's settings."""

    name: str
    schema: Mapping[str, Any]
    required: bool
    """Whether the schema lists it as required; a required field with a default may still be omitted."""
    rules: Rules
    condition: Rules | None = None
    """What the settings must satisfy for the field to apply; None without `CONDITION`."""
    depends_on: frozenset[str] = frozenset()
    """Names of the settings that `condition` refers to."""
    max_text_length: int | None = None
    """Maximum length of any text in its value, in characters; None for fields of other services' schemas."""

    @property
    def notes(self) -> Mapping[str, Any]:
        """The schema's object ``x-foldnote``; empty if it has none."""
        found = self.schema.get(NOTES)
        return found if isinstance(found, Mapping) else {}

    @property
    def is_file(self) -> bool:
        """Whether the value may be the contents of a file."""
        return self.notes.get("role") in ("file", "files")

    @property
    def has_default(self) -> bool:
        """Whether the field may be omitted because the schema gives a default."""
        return "default" in self.schema

    @property
    def is_sequence(self) -> bool:
        """Whether the value is a biological sequence, in which white space and case are ignored."""
        return self.notes.get("role") in ("sequence", "sequences")


class Prepared(NamedTuple):
    """A schema's fields in display order, and the rules that concern several fields."""

    fields: tuple[PreparedField, ...]
    is_closed: bool
    """Whether keys other than the fields are errors."""
    rest: Rules | None
    """The complete schema if it has keywords other than `FIELD_KEYWORDS`; else None."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the fields, in order."""
        return tuple(field.name for field in self.fields)

    @property
    def properties(self) -> dict[str, Any]:
        """Each field's schema, by name."""
        return {field.name: field.schema for field in self.fields}


def prepare(tool: DescribedTool) -> Prepared:
    """Prepare a tool's schema; the result is cached."""
    schema = tool.settings_schema
    with _LOCK:
        kept = _CACHE.get(id(schema))
        if kept and kept[0] is schema:
            _CACHE.move_to_end(id(schema))
            return kept[1]
    prepared = _prepare(schema)
    with _LOCK:
        _CACHE[id(schema)] = schema, prepared
        while len(_CACHE) > _CACHE_SIZE:
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
    has_rest = any(key not in FIELD_KEYWORDS and not key.startswith("x-") for key in schema)
    is_closed = schema.get("additionalProperties") is False and "patternProperties" not in schema
    ordered = sorted(enumerate(fields), key=lambda pair: _rank(pair[1], pair[0]))
    return Prepared(tuple(field for _, field in ordered), is_closed, document.compile() if has_rest else None)


def _prepare_field(document: Document, name: str, schema: Any, *, is_required: bool) -> PreparedField:
    found = schema if isinstance(schema, Mapping) else {}
    rules = document.compile("properties", name)
    notes = found.get(NOTES)
    condition = notes.get(CONDITION) if isinstance(notes, Mapping) else None
    longest = _find_longest(found) if isinstance(notes, Mapping) and _is_own_field(notes) else None
    if not isinstance(condition, Mapping):
        return PreparedField(name, found, is_required, rules, max_text_length=longest)
    compiled = document.compile("properties", name, NOTES, CONDITION)
    return PreparedField(name, found, is_required, rules, compiled, list_names(condition), longest)


def _is_own_field(notes: Mapping[str, Any]) -> bool:
    """Return whether the field is a sequence, or of a foldnote schema, whose texts have maximum lengths."""
    return "order" in notes or notes.get("role") in ("sequence", "sequences", "smiles")


def _find_longest(schema: Any) -> int:
    """Return the largest ``maxLength`` anywhere in the schema; `MAX_TEXT_LENGTH` if there is none."""
    bounds: list[int] = []
    pending = [schema]
    while pending:
        each = pending.pop()
        if isinstance(each, Mapping):
            bound = each.get("maxLength")
            bounds += [int(bound)] if isinstance(bound, int | float) else []
            pending += each.values()
        elif isinstance(each, list):
            pending += each
    return max(bounds, default=MAX_TEXT_LENGTH)


def list_names(condition: Any) -> frozenset[str]:
    """Return the names of the settings that a schema of the complete settings object refers to."""
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
