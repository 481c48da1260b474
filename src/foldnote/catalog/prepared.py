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

from foldnote.catalog.standard import Document, Rules

if TYPE_CHECKING:
    from foldnote.models.tool import Tool

NOTES: Final = "x-foldnote"
PLAIN: Final = {
    "$schema", "$id", "$defs", "$comment", "definitions", "title", "description", "default", "examples",
    "type", "properties", "required", "additionalProperties",
}  # fmt: skip
"""What a tool's schema says that concerns no more than one field at a time."""
_KEPT = 256
_LOCK = Lock()
_CACHE: OrderedDict[int, tuple[Mapping[str, Any], Prepared]] = OrderedDict()


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a tool's settings."""

    name: str
    schema: Mapping[str, Any]
    required: bool
    """Whether the reference marks it so; a required field with a default may still be left out."""
    rules: Rules

    @property
    def notes(self) -> Mapping[str, Any]:
        """What the schema says under ``x-foldnote``."""
        found: Mapping[str, Any] = self.schema.get(NOTES) or {}
        return found

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

    fields: tuple[Field, ...]
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
        Field(
            name,
            child if isinstance(child, Mapping) else {},
            name in required,
            document.compile("properties", name),
        )
        for name, child in properties.items()
    ]
    has_rest = any(key not in PLAIN and not key.startswith("x-") for key in schema)
    is_closed = schema.get("additionalProperties") is False and "patternProperties" not in schema
    ordered = sorted(enumerate(fields), key=lambda pair: _rank(pair[1], pair[0]))
    return Prepared(tuple(field for _, field in ordered), is_closed, document.compile() if has_rest else None)


def _rank(field: Field, position: int) -> tuple[float, int]:
    order = field.notes.get("order")
    return (float(order) if isinstance(order, int | float) else float("inf"), position)
