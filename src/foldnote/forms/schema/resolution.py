"""Resolve a JSON Schema for a form: follow references, merge ``allOf``. Unknown keywords are kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

NULL: Final = {"type": "null"}
CONDITIONS: Final = ("if", "then", "else", "dependentSchemas", "dependentRequired", "dependencies")
"""Keywords that apply under conditions only."""
OBJECT_WORDS: Final = (
    *("properties", "required", "additionalProperties", "patternProperties"),
    *("minProperties", "maxProperties", "propertyNames", "unevaluatedProperties", *CONDITIONS),
)
_ANNOTATIONS = {"title", "description", "default", "examples", "$comment", "deprecated", "readOnly"}
_MAX_STEPS = 20
_LAST_WINS: Final = ("title", "description", "default", "examples", "multipleOf", "pattern", "format")
_TIGHTEST: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    **dict.fromkeys(("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"), max),
    **dict.fromkeys(("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"), min),
}


def resolve(schema: Any, root: Mapping[str, Any]) -> dict[str, Any]:
    """Follow the local references in ``schema``; keywords next to a ``$ref`` take precedence.

    The parts of an ``allOf`` are merged if they do not conflict and do not describe an object.
    """
    merged = _dereference(schema, root)
    parts = merged.get("allOf")
    if isinstance(parts, list) and not says_object(merged):
        merged = _merge_parts(merged, [resolve(part, root) for part in parts])
    return merged


def says_object(schema: Mapping[str, Any]) -> bool:
    """Return whether the schema describes an object."""
    types = schema.get("type")
    if types is not None:
        return bool(types == "object")
    return any(keyword in schema for keyword in OBJECT_WORDS)


def split_null(schema: dict[str, Any], root: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
    """Return the schema without ``null``, and whether it allowed ``null``."""
    types = schema.get("type")
    if isinstance(types, list):
        names = [name for name in types if name != "null"]
        schema = schema | {"type": names[0] if len(names) == 1 else names or "null"}
        return schema, "null" in types
    for keyword in ("anyOf", "oneOf"):
        options = schema.get(keyword)
        if not isinstance(options, list) or NULL not in options:
            continue
        remaining = [option for option in options if option != NULL]
        without_union = {key: value for key, value in schema.items() if key != keyword}
        if len(remaining) == 1:
            only = resolve(remaining[0], root)
            inner, _ = split_null(only, root)
            return inner | without_union, True
        return without_union | {keyword: remaining}, True
    return schema, False


def take_type(value: Any) -> str:
    """Return the JSON type of a value; empty for one that JSON does not have."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    names = {str: "string", float: "number", list: "array", tuple: "array", dict: "object"}
    return next((name for kind, name in names.items() if isinstance(value, kind)), "")


def list_types(schema: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the schema's types, inferred from its keywords if not named; empty if they are left open."""
    types = schema.get("type")
    if isinstance(types, str):
        return (types,)
    if isinstance(types, list):
        return tuple(map(str, types))
    if says_object(schema):
        return ("object",)
    if any(keyword in schema for keyword in ("items", "prefixItems", "minItems", "maxItems", "uniqueItems")):
        return ("array",)
    if any(keyword in schema for keyword in ("pattern", "minLength", "maxLength")):
        return ("string",)
    return ()


def find_discriminator(options: Sequence[Mapping[str, Any]], root: Mapping[str, Any]) -> str | None:
    """Return the property that each option fixes to a different value; None if there is none."""
    fixed = [dict(_list_fixed(option, root)) for option in options]
    if len(fixed) < 2:
        return None
    for name in fixed[0]:
        values = [repr(own[name]) for own in fixed if name in own]
        if len(values) == len(options) == len(set(values)):
            return name
    return None


def read_fixed(schema: Any, root: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return a tuple of the only value that the schema allows; empty if it allows several."""
    plain = resolve(schema, root)
    if "const" in plain:
        return (plain["const"],)
    values = plain.get("enum")
    return (values[0],) if isinstance(values, list) and len(values) == 1 else ()


def narrow(base: Mapping[str, Any], other: Mapping[str, Any], *, is_nearer: bool) -> dict[str, Any]:
    """Combine two descriptions of a property that both hold.

    The result has the narrower bounds and the common values. Titles, descriptions, defaults and examples are
    those of ``other`` if ``is_nearer``, else those of ``base``.
    """
    merged = dict(base)
    for key, value in other.items():
        if key in _LAST_WINS and (is_nearer or key not in base):
            merged[key] = value
        elif key in _TIGHTEST and _is_number(value):
            present = base.get(key)
            merged[key] = _TIGHTEST[key](present, value) if _is_number(present) else value
        elif key == "enum" and isinstance(value, list) and value and "const" not in base:
            present = base.get(key)
            common = [item for item in present if item in value] if isinstance(present, list) else value
            merged[key] = common or value
        elif key == "const" and ("enum" not in base or is_nearer):
            merged.pop("enum", None)
            merged[key] = value
    return merged


def says_more(schema: Mapping[str, Any]) -> bool:
    """Return whether a description of a property has keywords that a form shows."""
    return any(key in _LAST_WINS or key in _TIGHTEST or key in ("enum", "const") for key in schema)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _list_fixed(option: Mapping[str, Any], root: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    properties = resolve(option, root).get("properties")
    for name, child in properties.items() if isinstance(properties, Mapping) else ():
        for value in read_fixed(child, root):
            yield name, value


def _dereference(schema: Any, root: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(schema) if isinstance(schema, Mapping) else {}
    for _ in range(_MAX_STEPS):
        reference = merged.pop("$ref", None)
        if not isinstance(reference, str) or not reference.startswith("#"):
            return merged | ({"$ref": reference} if isinstance(reference, str) else {})
        merged = dict(_follow(reference, root)) | merged
    merged.pop("$ref", None)
    return merged


def _follow(reference: str, root: Mapping[str, Any]) -> Mapping[str, Any]:
    part: Any = root
    if reference != "#" and not reference.startswith("#/"):
        return _find_anchor(reference[1:], root)
    for step in reference.lstrip("#").strip("/").split("/"):
        if not step:
            continue
        step = step.replace("~1", "/").replace("~0", "~").replace("%25", "%").replace("%22", '"')
        if isinstance(part, list):
            part = part[int(step)] if step.isdecimal() and int(step) < len(part) else {}
        else:
            part = part.get(step, {}) if isinstance(part, Mapping) else {}
    return part if isinstance(part, Mapping) else {}


def _find_anchor(name: str, schema: Any) -> Mapping[str, Any]:
    if isinstance(schema, Mapping):
        if schema.get("$anchor") == name:
            return schema
        schema = list(schema.values())
    inside = (_find_anchor(name, part) for part in schema) if isinstance(schema, list) else ()
    return next(filter(None, inside), {})


def _merge_parts(schema: dict[str, Any], parts: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the schema merged with its ``allOf`` parts; unchanged if two of them conflict."""
    merged: dict[str, Any] = {key: value for key, value in schema.items() if key != "allOf"}
    for part in parts:
        for key, value in part.items():
            if merged.get(key, value) != value and key not in _ANNOTATIONS:
                return schema
            merged.setdefault(key, value)
    return merged
