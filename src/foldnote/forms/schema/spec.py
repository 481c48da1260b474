"""The specification of one field, read once from the JSON Schema.

References, nullable types and labelled values are normalised here, so that field kinds see one form.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from foldnote.forms.schema.resolution import OBJECT_WORDS, list_types, resolve, split_null
from foldnote.forms.wording import in_one_line, title_from_name


class _Missing(Enum):
    MISSING = "nothing given"


MISSING: Final = _Missing.MISSING
"""Represents a value that was not given, as opposed to None, which is a value."""

_SEARCHED_LEVELS: Final = 2
GROUPS = ("required", "common", "advanced")
_NOTES = "x-foldnote"
SHAPES = frozenset(
    (
        "type",
        "enum",
        "const",
        "anyOf",
        "oneOf",
        "allOf",
        "items",
        "prefixItems",
        "format",
        _NOTES,
        *OBJECT_WORDS,
    )
)
"""Keywords that constrain the kind of value; a schema without any of them also allows null."""


class Choice(NamedTuple):
    """An allowed value of a field, and its label."""

    value: Any
    label: str


class FieldSpec(NamedTuple):
    """One field of a settings object."""

    path: tuple[str, ...]
    """Names from the root of the settings to this field."""
    schema: Mapping[str, Any]
    """The field's own schema: references resolved, ``null`` removed."""
    required: bool
    nullable: bool
    """Whether ``null`` is a value of the field."""
    choices: tuple[Choice, ...]
    """Allowed values in the schema's order; empty if all values of the type are allowed."""
    root: Mapping[str, Any] = MappingProxyType({})
    """The whole schema, in which references are looked up."""

    @property
    def name(self) -> str:
        """The key in the settings."""
        return self.path[-1]

    @property
    def notes(self) -> Mapping[str, Any]:
        """The schema's ``x-foldnote`` object; empty without one."""
        notes = self.schema.get(_NOTES)
        return notes if isinstance(notes, Mapping) else {}

    @property
    def type(self) -> str:
        """The JSON type; empty if the schema allows several."""
        types = list_types(self.schema)
        return types[0] if len(types) == 1 else ""

    @property
    def title(self) -> str:
        """Title shown at the control."""
        return str(self.schema.get("title") or title_from_name(self.name))

    @property
    def help(self) -> str:
        """The schema's description."""
        return str(self.schema.get("description") or "")

    @property
    def default(self) -> Any:
        """The schema's default, or `MISSING`."""
        return self.schema.get("default", MISSING)

    def has_words(self, words: Iterable[str]) -> bool:
        """Return whether name, title or description of the field or its parts have all (lower-case) words."""
        text = " ".join(_list_texts(self.name, self.schema, self.root, _SEARCHED_LEVELS)).lower()
        return all(word in text for word in words)

    @property
    def unit(self) -> str:
        """Unit of a number, e.g. ``ps``; empty without one."""
        return str(self.notes.get("unit") or "")

    @property
    def role(self) -> str:
        """Scientific meaning: ``sequence``, ``file``, ``chain`` …; empty if not stated."""
        return str(self.notes.get("role") or "")

    @property
    def extensions(self) -> tuple[str, ...]:
        """Allowed file extensions in lower case, without the dot; empty if all are allowed."""
        return tuple(str(item).lstrip(".").lower() for item in self.notes.get("extensions") or ())

    @property
    def group(self) -> str:
        """``required``, ``common`` or ``advanced``."""
        if self.notes.get("group") in GROUPS:
            return str(self.notes["group"])
        if self.is_deprecated and not self.required:
            return "advanced"
        return "required" if self.required and self.default is MISSING else "common"

    @property
    def is_secret(self) -> bool:
        """Whether the value must not be shown or saved."""
        return self.schema.get("format") == "password" or bool(self.schema.get("writeOnly"))

    @property
    def is_read_only(self) -> bool:
        """Whether the value can be seen but not changed."""
        return self.schema.get("readOnly") is True

    @property
    def is_deprecated(self) -> bool:
        """Whether the setting exists for old jobs only."""
        return self.schema.get("deprecated") is True

    @property
    def examples(self) -> tuple[Any, ...]:
        """The schema's examples."""
        examples = self.schema.get("examples")
        return tuple(examples) if isinstance(examples, list) else ()

    @property
    def items(self) -> Mapping[str, Any]:
        """The schema of an array's items."""
        items = self.schema.get("items")
        return items if isinstance(items, Mapping) else {}


def read_specs(schema: Mapping[str, Any]) -> tuple[FieldSpec, ...]:
    """Return the unconditional fields of an object schema, in the order in which a form shows them."""
    required = set(schema.get("required") or ())
    properties = schema.get("properties") or {}
    specs = [
        read_spec((name,), child, schema, required=name in required) for name, child in properties.items()
    ]
    return tuple(rank_specs(specs))


def rank_specs(specs: Iterable[FieldSpec]) -> list[FieldSpec]:
    """Sort by group, then by the ``order`` note, then by the schema's order."""
    ranked = sorted(enumerate(specs), key=lambda pair: _rank(pair[1], pair[0]))
    return [spec for _, spec in ranked]


def read_spec(path: tuple[str, ...], schema: Any, root: Mapping[str, Any], *, required: bool) -> FieldSpec:
    """Return the specification of the field at ``path``; references are looked up in ``root``."""
    plain, nullable = split_null(resolve(schema, root), root)
    takes_anything = not nullable and SHAPES.isdisjoint(plain)
    enumerated = plain.get("enum")
    is_listed = isinstance(enumerated, list) and len(enumerated) > 1 and None in enumerated
    if isinstance(plain.get("items"), Mapping):
        plain = plain | {"items": resolve(plain["items"], root)}
    is_nullable = nullable or takes_anything or is_listed
    return FieldSpec(path, plain, required, is_nullable, tuple(_read_choices(plain)), root)


def read_item_choices(spec: FieldSpec) -> tuple[Choice, ...]:
    """Return the allowed values of an array's items; empty if all are allowed."""
    return tuple(_read_choices(spec.items))


def _read_choices(schema: Mapping[str, Any]) -> Iterator[Choice]:
    if "const" in schema:
        yield Choice(schema["const"], _label(schema["const"]))
    elif isinstance(schema.get("enum"), list):
        is_only_null = schema["enum"] == [None]
        yield from (
            Choice(value, _label(value)) for value in schema["enum"] if value is not None or is_only_null
        )
    elif schema.get("type") == "null":
        yield Choice(None, _label(None))
    else:
        options = schema.get("oneOf") or schema.get("anyOf") or ()
        if options and all(isinstance(option, Mapping) and "const" in option for option in options):
            yield from (
                Choice(option["const"], str(option.get("title") or _label(option["const"])))
                for option in options
            )


def _list_texts(name: str, schema: Mapping[str, Any], root: Mapping[str, Any], levels: int) -> Iterator[str]:
    """Yield the names, titles and descriptions of a field and of those inside it."""
    yield from (name, str(schema.get("title") or title_from_name(name)), str(schema.get("description") or ""))
    inside = {} if levels == 0 else schema.get("properties")
    for own, child in inside.items() if isinstance(inside, Mapping) else ():
        yield from _list_texts(own, resolve(child, root), root, levels - 1)
    if levels and isinstance(schema.get("items"), Mapping):
        yield from _list_texts("", resolve(schema["items"], root), root, levels - 1)


def _label(value: Any) -> str:
    if value is None:
        return "nothing (null)"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) and value.strip() else in_one_line(value, 80) or '""'


def _rank(spec: FieldSpec, position: int) -> tuple[int, float, int]:
    order = spec.notes.get("order")
    return GROUPS.index(spec.group), order if isinstance(order, int | float) else 1e6, position
