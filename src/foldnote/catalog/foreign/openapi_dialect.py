"""Convert an OpenAPI 3.0 schema to JSON Schema draft 2020-12.

``nullable`` becomes the type ``null``, ``example`` becomes ``examples``, boolean exclusive bounds become
numbers, and references point to ``$defs``. Invalid parts are left out individually, so that one invalid field
does not make a tool unusable.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from foldnote.catalog.foreign.settings_lists import Untranslated
from foldnote.catalog.json_values import parse_value
from foldnote.catalog.keywords import is_schema
from foldnote.catalog.prepared_schema import NOTES

_MAX_WORK = 3_000_000
_PREFIX = "#/components/schemas/"
_DROPPED_KEYWORDS = ("nullable", "example", "discriminator", "xml", "externalDocs", "deprecated", "readOnly",
"$id",
               "$schema", "$anchor", "$dynamicAnchor", "$dynamicRef", "$vocabulary")  # fmt: skip
_SCHEMA_KEYWORDS = {"items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"}
_LIST_KEYWORDS = {"allOf", "anyOf", "oneOf", "prefixItems"}
_MAPPING_KEYWORDS = {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}


def translate_component(schema: Mapping[str, Any]) -> tuple[dict[str, Any], Untranslated]:
    """Convert a component schema.

    Returns:
        A schema of draft 2020-12, and the untranslated parts by dotted path.
    """
    untranslated: Untranslated = {}
    whole = _convert(schema, "", untranslated)
    if not isinstance(whole, dict):
        return {"type": "object"}, {"": schema}
    whole = {"type": "object"} | {
        key: value for key, value in whole.items() if value != {} or key == "properties"
    }
    if is_schema(whole):
        _mark_files(whole)
        return whole, untranslated
    if _estimate_work(whole) > _MAX_WORK:
        return {"type": "object"}, untranslated | {"": schema}
    return _keep_valid_parts(whole, untranslated)


def _estimate_work(whole: Mapping[str, Any]) -> int:
    """Estimate the number of values visited when the parts of a schema are validated one by one."""
    properties = whole.get("properties")
    fields = len(properties) if isinstance(properties, dict) else 0
    return fields * parse_value(whole.get("$defs")).parts + len(whole) * parse_value(whole).parts


def _keep_valid_parts(
    whole: dict[str, Any], untranslated: Untranslated
) -> tuple[dict[str, Any], Untranslated]:
    """Keep the parts of a schema that are valid on their own; an invalid field accepts any value."""
    kept: dict[str, Any] = {"type": "object", "properties": {}}
    properties = whole.get("properties")
    for name, value in (properties if isinstance(properties, dict) else {}).items():
        context = {"$defs": whole["$defs"]} if isinstance(whole.get("$defs"), dict) else {}
        if is_schema(value) and is_schema({**context, "properties": {name: value}}):
            kept["properties"][name] = value
        else:
            kept["properties"][name] = {}
            untranslated[name] = value
    for key, value in whole.items():
        if key not in ("type", "properties"):
            if is_schema(kept | {key: value}):
                kept[key] = value
            else:
                untranslated[key] = value
    if not is_schema(kept):
        return {"type": "object"}, untranslated | {"properties": properties}
    _mark_files(kept)
    return kept, untranslated


def _mark_files(schema: dict[str, Any]) -> None:
    """Mark fields that are files, for forms and checks."""
    for child in (schema.get("properties") or {}).values():
        if isinstance(child, dict):
            items = child.get("items")
            is_many = isinstance(items, dict) and items.get("format") == "binary"
            if child.get("format") == "binary" or is_many:
                own = child.get(NOTES)
                notes = own if isinstance(own, dict) else {}
                word = "files" if is_many else "file"
                child[NOTES] = {"role": word, "check": [word]} | notes


def _convert(schema: Any, path: str, untranslated: Untranslated) -> Any:
    if not isinstance(schema, Mapping):
        return schema
    found = {str(key): _convert_keyword(str(key), value, path, untranslated) for key, value in schema.items()
             if key not in _DROPPED_KEYWORDS}  # fmt: skip
    for keyword in ("discriminator", "xml", "externalDocs"):
        if keyword in schema:
            untranslated[f"{path}.{keyword}".lstrip(".")] = schema[keyword]
    if "example" in schema and "examples" not in found:
        found["examples"] = [schema["example"]]
    for bound, strict in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if isinstance(found.get(strict), bool):
            is_strict = found.pop(strict)
            if is_strict and bound in found:
                found[strict] = found.pop(bound)
    return _allow_null(found) if schema.get("nullable") is True else found


def _convert_keyword(keyword: str, value: Any, path: str, untranslated: Untranslated) -> Any:
    if keyword == "$ref" and isinstance(value, str):
        return value.replace(_PREFIX, "#/$defs/", 1) if value.startswith(_PREFIX) else value
    if keyword in _SCHEMA_KEYWORDS:
        return _convert(value, f"{path}.{keyword}".lstrip("."), untranslated)
    if keyword in _LIST_KEYWORDS and isinstance(value, list):
        return [_convert(each, f"{path}.{keyword}".lstrip("."), untranslated) for each in value]
    if keyword in _MAPPING_KEYWORDS and isinstance(value, Mapping):
        return {str(name): _convert(each, f"{path}.{name}".lstrip("."), untranslated)
                for name, each in value.items()}  # fmt: skip
    return value


def _allow_null(schema: dict[str, Any]) -> dict[str, Any]:
    kind = schema.get("type")
    if isinstance(kind, str):
        schema = schema | {"type": [kind, "null"]}
        if isinstance(schema.get("enum"), list) and None not in schema["enum"]:
            schema["enum"] = [*schema["enum"], None]
        return schema
    return {"anyOf": [schema, {"type": "null"}]} if "$ref" in schema else schema
