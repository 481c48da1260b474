"""What a form needs to know of one field, read once from the JSON Schema.

Pure data: no widgets, no checks. Foreign corners of JSON Schema (references, nullable types, labelled
values) are flattened here, so that a field kind sees one plain shape.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, Literal

from foldnote.forms.words import title_from_name


class _Missing(Enum):
    MISSING = "nothing given"


MISSING: Final = _Missing.MISSING
"""Stands for a value that nobody gave; None is a value."""
Missing = Literal[_Missing.MISSING]

GROUPS = ("required", "common", "advanced")
_NOTES = "x-foldnote"
_SHAPES = ("enum", "const", "anyOf", "oneOf", "allOf", "properties", "format", _NOTES)
"""Keywords that give a schema without a type a shape, so that null is not meant."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a field's allowed values, and how it is shown."""

    value: Any
    label: str


@dataclass(frozen=True)
class FieldSpec:
    """One field of a settings object."""

    path: tuple[str, ...]
    """Names from the root of the settings to this field."""
    schema: Mapping[str, Any]
    """The field's own schema: references resolved, ``null`` taken out."""
    required: bool
    nullable: bool
    """Whether ``null`` is a value of the field."""
    choices: tuple[Choice, ...]
    """Allowed values in the schema's order; empty when any value of the type will do."""

    @property
    def name(self) -> str:
        """The key in the settings."""
        return self.path[-1]

    @property
    def notes(self) -> Mapping[str, Any]:
        """What the schema says under ``x-foldnote``."""
        found = self.schema.get(_NOTES)
        return found if isinstance(found, Mapping) else {}

    @property
    def type(self) -> str:
        """The JSON type, or the empty string where the schema leaves it open."""
        found = self.schema.get("type", "")
        return found if isinstance(found, str) else ""

    @property
    def title(self) -> str:
        """What stands above the control."""
        return str(self.schema.get("title") or title_from_name(self.name))

    @property
    def help(self) -> str:
        """The description, in the schema's words."""
        return str(self.schema.get("description") or "")

    @property
    def default(self) -> Any:
        """The schema's default, or `MISSING`."""
        return self.schema.get("default", MISSING)

    @property
    def unit(self) -> str:
        """Unit of a number, e.g. ``ps``; empty without one."""
        return str(self.notes.get("unit") or "")

    @property
    def role(self) -> str:
        """What the field means to a scientist: ``sequence``, ``file``, ``chain`` …; empty when unsaid."""
        return str(self.notes.get("role") or "")

    @property
    def extensions(self) -> tuple[str, ...]:
        """File extensions without the dot; empty when any will do."""
        return tuple(str(item).lstrip(".").lower() for item in self.notes.get("extensions") or ())

    @property
    def group(self) -> str:
        """``required``, ``common`` or ``advanced``."""
        if self.notes.get("group") in GROUPS:
            return str(self.notes["group"])
        return "required" if self.required and self.default is MISSING else "common"

    @property
    def is_secret(self) -> bool:
        """Whether the value must not be shown or saved."""
        return self.schema.get("format") == "password" or bool(self.schema.get("writeOnly"))

    @property
    def items(self) -> Mapping[str, Any]:
        """The schema of an array's items."""
        found = self.schema.get("items")
        return found if isinstance(found, Mapping) else {}


def read_specs(schema: Mapping[str, Any]) -> tuple[FieldSpec, ...]:
    """The fields of an object schema, in the order in which a form shows them."""
    required = set(schema.get("required") or ())
    properties = schema.get("properties") or {}
    specs = [
        read_spec((name,), child, schema, required=name in required) for name, child in properties.items()
    ]
    ranked = sorted(enumerate(specs), key=lambda pair: _rank(pair[1], pair[0]))
    return tuple(spec for _, spec in ranked)


def read_spec(path: tuple[str, ...], schema: Any, root: Mapping[str, Any], *, required: bool) -> FieldSpec:
    """The field at ``path``; ``root`` is where ``$ref`` looks."""
    plain, nullable = _take_null(resolve(schema, root))
    if isinstance(plain.get("items"), Mapping):
        plain = plain | {"items": resolve(plain["items"], root)}
    return FieldSpec(path, plain, required, nullable, tuple(_read_choices(plain)))


def resolve(schema: Any, root: Mapping[str, Any]) -> dict[str, Any]:
    """``schema`` with local references followed; keywords beside a ``$ref`` win over the target's."""
    merged = dict(schema) if isinstance(schema, Mapping) else {}
    for _ in range(20):
        reference = merged.pop("$ref", None)
        if not isinstance(reference, str) or not reference.startswith("#"):
            return merged
        merged = dict(_follow(reference, root)) | merged
    return merged


def read_item_choices(spec: FieldSpec) -> tuple[Choice, ...]:
    """The allowed values of an array's items; empty when they are free."""
    return tuple(_read_choices(spec.items))


def _follow(reference: str, root: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Any = root
    for step in reference.lstrip("#").strip("/").split("/"):
        if not step:
            continue
        step = step.replace("~1", "/").replace("~0", "~")
        found = found.get(step, {}) if isinstance(found, Mapping) else {}
    return found if isinstance(found, Mapping) else {}


def _take_null(schema: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    types = schema.get("type")
    if isinstance(types, list):
        kept = [name for name in types if name != "null"]
        schema = schema | {"type": kept[0] if len(kept) == 1 else kept}
        return schema, "null" in types
    for keyword in ("anyOf", "oneOf"):
        options = schema.get(keyword)
        if isinstance(options, list) and {"type": "null"} in options and len(options) == 2:
            other = next(option for option in options if option != {"type": "null"})
            rest = {key: value for key, value in schema.items() if key != keyword}
            return dict(other) | rest, True
    takes_anything = types is None and not any(word in schema for word in _SHAPES)
    return schema, takes_anything


def _read_choices(schema: Mapping[str, Any]) -> Iterator[Choice]:
    if "const" in schema:
        yield Choice(schema["const"], _label(schema["const"]))
    elif isinstance(schema.get("enum"), list):
        yield from (Choice(value, _label(value)) for value in schema["enum"] if value is not None)
    else:
        options = schema.get("oneOf") or schema.get("anyOf") or ()
        if options and all(isinstance(option, Mapping) and "const" in option for option in options):
            yield from (
                Choice(option["const"], str(option.get("title") or _label(option["const"])))
                for option in options
            )


def _label(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _rank(spec: FieldSpec, position: int) -> tuple[int, float, int]:
    order = spec.notes.get("order")
    return GROUPS.index(spec.group), order if isinstance(order, int | float) else 1e6, position
