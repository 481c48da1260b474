"""Recognise the kind of value that a schema describes: a file, rows, a union, an object and others.

The kinds of fields are distinguished by these functions alone, before the module of any field is imported.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from foldnote.forms.schema.resolution import find_discriminator, list_types, resolve, says_object
from foldnote.forms.schema.spec import FieldSpec

MAX_LEVELS = 12
"""Nesting levels beyond which a value is written as JSON, since the schema may be endlessly recursive."""
_SCALARS: Final = ("string", "number", "integer")
_NAMING: Final = ("properties", "required", "if", "dependentSchemas", "dependentRequired")
_ANNOTATIONS: Final = ("title", "description", "default", "examples", "deprecated", "readOnly")


def is_file(spec: FieldSpec) -> bool:
    """Return whether ``spec`` describes a file or a list of files."""
    formats = (spec.schema.get("format"), spec.items.get("format"))
    return spec.role in ("file", "files") or "binary" in formats


def takes_smiles(spec: FieldSpec) -> bool:
    """Return whether ``spec`` describes one file of a small molecule that may also be given as SMILES."""
    return spec.type in ("string", "") and is_file(spec) and "smi" in spec.extensions and not spec.choices


def list_item_schemas(schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the schemas of a list's positions, from ``prefixItems`` or an older draft's ``items`` array."""
    schemas = schema.get("prefixItems") or schema.get("items")
    positions = schemas if isinstance(schemas, list) else []
    return [position if isinstance(position, Mapping) else {} for position in positions]


def has_item_schemas(spec: FieldSpec) -> bool:
    """Return whether the spec is of a list whose positions have their own schemas."""
    return spec.type == "array" and bool(list_item_schemas(spec.schema))


def read_options(schema: Mapping[str, Any], root: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the options of a union, each merged with the union's other keywords; empty for other schemas."""
    for keyword in ("oneOf", "anyOf"):
        options = schema.get(keyword)
        if isinstance(options, list) and len(options) > 1:
            plains = [resolve(option, root) for option in options]
            common = {key: value for key, value in schema.items() if key not in (keyword, *_ANNOTATIONS)}
            return [common | plain for plain in plains]
    types = schema.get("type")
    if isinstance(types, list) and len(types) > 1:
        names = [name for name in types if name != "integer" or "number" not in types]
        common = {key: value for key, value in schema.items() if key not in _ANNOTATIONS}
        return [{**common, "type": name} for name in names]
    return []


def is_list_of_scalars(spec: FieldSpec) -> bool:
    """Return whether the spec is of a list of strings or numbers."""
    return spec.type == "array" and spec.items.get("type") in _SCALARS


def is_map_of_scalars(spec: FieldSpec) -> bool:
    """Return whether the spec is of names with strings, numbers or switches."""
    values = spec.schema.get("additionalProperties")
    is_plain = isinstance(values, dict) and values.get("type") in (*_SCALARS, "boolean")
    return spec.type == "object" and is_plain and not spec.schema.get("properties")


def is_object(spec: FieldSpec) -> bool:
    """Return whether the object's fields are known, directly or through the options of a union."""
    if is_deep(spec) or not (says_object(spec.schema) or "allOf" in spec.schema or has_kinds(spec)):
        return False
    parts = [spec.schema, *(resolve(part, spec.root) for part in spec.schema.get("allOf") or ())]
    return has_kinds(spec) or any(part.get(keyword) for part in parts for keyword in _NAMING)


def has_kinds(spec: FieldSpec) -> bool:
    """Return whether the schema is a union of objects with a discriminator property."""
    for keyword in ("oneOf", "anyOf"):
        options = spec.schema.get(keyword)
        if isinstance(options, list) and find_discriminator(
            [resolve(option, spec.root) for option in options], spec.root
        ):
            return True
    return False


def is_variant(spec: FieldSpec) -> bool:
    """Return whether the spec is of a union of several shapes."""
    options = read_options(spec.schema, spec.root)
    has_shapes = sum(1 for option in options if list_types(option) or "const" in option or "enum" in option)
    return len(options) > 1 and has_shapes > 1 and not is_deep(spec)


def is_rows(spec: FieldSpec) -> bool:
    """Return whether all items of a list have one known schema."""
    return (
        spec.type == "array" and bool(spec.items) and "prefixItems" not in spec.schema and not is_deep(spec)
    )


def is_entries(spec: FieldSpec) -> bool:
    """Return whether the spec is of names with values of one known schema."""
    value_schemas = [
        spec.schema.get("additionalProperties"),
        *(spec.schema.get("patternProperties") or {}).values(),
    ]
    are_described = [
        isinstance(values, dict) and bool(values) for values in value_schemas if values is not False
    ]
    return spec.type == "object" and sum(are_described) == 1 and not is_deep(spec)


def is_deep(spec: FieldSpec) -> bool:
    """Return whether the field is nested so deeply that the schema may be endlessly recursive."""
    return len(spec.path) > MAX_LEVELS


def has_texts(spec: FieldSpec) -> bool:
    """Return whether the items of a list, or the values of a map, are text."""
    values = spec.items or spec.schema.get("additionalProperties")
    return isinstance(values, dict) and values.get("type") == "string"


def is_short(spec: FieldSpec) -> bool:
    """Return whether the items are short words that fit on one line, such as chain names."""
    return spec.role in ("chain", "chains", "column", "residues")
