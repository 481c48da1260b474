"""One schema as OpenAPI writes it, as a schema of draft 2020-12.

``nullable`` becomes a type, ``example`` becomes ``examples``, a strict bound gets its number, references lead
to ``$defs``. Parts that are no schema are set aside by themselves, so that one bad field spoils no tool.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from foldnote.catalog.foreign.settings_lists import Untranslated
from foldnote.catalog.json_values import read_plain
from foldnote.catalog.keywords import is_schema
from foldnote.catalog.prepared_schema import NOTES

_MOST_TRIED = 3_000_000
_PREFIX = "#/components/schemas/"
_OF_OPENAPI = ("nullable", "example", "discriminator", "xml", "externalDocs", "deprecated", "readOnly", "$id",
               "$schema", "$anchor", "$dynamicAnchor", "$dynamicRef", "$vocabulary")  # fmt: skip
_HOLD_ONE = {"items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"}
_HOLD_LIST = {"allOf", "anyOf", "oneOf", "prefixItems"}
_HOLD_NAMED = {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}


def translate_component(schema: Mapping[str, Any]) -> tuple[dict[str, Any], Untranslated]:
    """A component as a schema of draft 2020-12, and by dotted path what of it that does not say."""
    untranslated: Untranslated = {}
    whole = _modernise(schema, "", untranslated)
    if not isinstance(whole, dict):
        return {"type": "object"}, {"": schema}
    whole = {"type": "object"} | {
        key: value for key, value in whole.items() if value != {} or key == "properties"
    }
    if is_schema(whole):
        _note_files(whole)
        return whole, untranslated
    if _count_tried(whole) > _MOST_TRIED:
        return {"type": "object"}, untranslated | {"": schema}
    return _keep_what_fits(whole, untranslated)


def _count_tried(whole: Mapping[str, Any]) -> int:
    """Values that are looked at while the parts of a schema are tried one after another."""
    properties = whole.get("properties")
    fields = len(properties) if isinstance(properties, dict) else 0
    return fields * read_plain(whole.get("$defs")).parts + len(whole) * read_plain(whole).parts


def _keep_what_fits(whole: dict[str, Any], untranslated: Untranslated) -> tuple[dict[str, Any], Untranslated]:
    """The parts of a schema that are schemas, each for itself; a field that is none takes anything."""
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
    _note_files(kept)
    return kept, untranslated


def _note_files(schema: dict[str, Any]) -> None:
    """Fields that are files, marked for the forms and checks."""
    for child in (schema.get("properties") or {}).values():
        if isinstance(child, dict):
            items = child.get("items")
            is_many = isinstance(items, dict) and items.get("format") == "binary"
            if child.get("format") == "binary" or is_many:
                own = child.get(NOTES)
                notes = own if isinstance(own, dict) else {}
                word = "files" if is_many else "file"
                child[NOTES] = {"role": word, "check": [word]} | notes


def _modernise(schema: Any, path: str, untranslated: Untranslated) -> Any:
    if not isinstance(schema, Mapping):
        return schema
    found = {str(key): _step(str(key), value, path, untranslated) for key, value in schema.items()
             if key not in _OF_OPENAPI}  # fmt: skip
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


def _step(keyword: str, value: Any, path: str, untranslated: Untranslated) -> Any:
    if keyword == "$ref" and isinstance(value, str):
        return value.replace(_PREFIX, "#/$defs/", 1) if value.startswith(_PREFIX) else value
    if keyword in _HOLD_ONE:
        return _modernise(value, f"{path}.{keyword}".lstrip("."), untranslated)
    if keyword in _HOLD_LIST and isinstance(value, list):
        return [_modernise(each, f"{path}.{keyword}".lstrip("."), untranslated) for each in value]
    if keyword in _HOLD_NAMED and isinstance(value, Mapping):
        return {str(name): _modernise(each, f"{path}.{name}".lstrip("."), untranslated)
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
