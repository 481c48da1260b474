"""Find the component schemas of an OpenAPI document that describe the settings of tools.

A component belongs to a tool if a submission refers to it under ``settings``, or if no route refers to it at
all; records of the interface, such as jobs, files and errors, are referred to by its routes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

_PREFIX = "#/components/schemas/"
_NOT_MERGEABLE = {"if", "then", "else", "not", "oneOf", "anyOf", "additionalProperties", "patternProperties"}
_MAX_DEPTH = 8


def is_document(answer: Any) -> bool:
    """Return whether an answer is an OpenAPI document with component schemas."""
    components = answer.get("components") if isinstance(answer, Mapping) else None
    return isinstance(components, Mapping) and isinstance(components.get("schemas"), Mapping)


def list_components(
    document: Mapping[str, Any], known: frozenset[str]
) -> list[tuple[str, str, dict[str, Any]]]:
    """List the tools of an OpenAPI document.

    Args:
        document: the document, JSON types only.
        known: tool types that are recognised regardless of references.

    Returns:
        For each tool its type, the name of its component, and the schema with everything that it refers to.
    """
    schemas = {str(name): value for name, value in document["components"]["schemas"].items()}
    types = _name_by_discriminator(document, schemas)
    used = _collect_references(_references(document.get("paths")), schemas, exclude=frozenset(types))
    found = []
    for name, schema in schemas.items():
        tool_type = types.get(name) or name_type(name)
        is_tool = name in types or tool_type in known or name not in used
        if is_tool and isinstance(schema, Mapping) and _is_object(schema):
            whole = _flatten(schema, schemas)
            found.append((tool_type, name, {**whole, "$defs": _defs(whole, schemas)}))
    return found


def _flatten(schema: Mapping[str, Any], schemas: Mapping[str, Any], depth: int = 0) -> dict[str, Any]:
    """Merge the fields that an object schema inherits by ``allOf`` and ``$ref`` into its own."""
    members = list(schema["allOf"]) if isinstance(schema.get("allOf"), list) else []
    members += [{"$ref": schema["$ref"]}] if "$ref" in schema else []
    own = {key: value for key, value in schema.items() if key not in ("allOf", "$ref")}
    left = []
    for member in members:
        reference = member.get("$ref") if isinstance(member, Mapping) else None
        target = schemas.get(next(_references({"$ref": reference}), ""))
        part = target if isinstance(target, Mapping) else member
        if (
            depth < _MAX_DEPTH
            and isinstance(part, Mapping)
            and _is_object(part)
            and not set(part) & _NOT_MERGEABLE
        ):
            own = _merge(_flatten(part, schemas, depth + 1), own)
        else:
            left.append(member)
    return own | ({"allOf": left} if left else {})


def _merge(base: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """Merge two object schemas; fields of ``more`` take precedence."""
    fields = [part["properties"] for part in (base, more) if isinstance(part.get("properties"), Mapping)]
    required = [*_as_list(base.get("required")), *_as_list(more.get("required"))]
    names = dict.fromkeys(name for name in required if isinstance(name, str))
    joined = {"properties": {name: each for part in fields for name, each in part.items()}}
    return base | more | joined | ({"required": list(names)} if names else {})


def name_type(name: str) -> str:
    """Convert a component name to a kebab-case tool type: ``AfMultistateSettings`` to ``af-multistate``."""
    stem = re.sub(r"(?<=.)(Settings|Parameters|Params|Config|Input|Request)$", "", name)
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[_\s]+", "-", stem).lower()


def _is_object(schema: Mapping[str, Any]) -> bool:
    has_fields = isinstance(schema.get("properties"), Mapping)
    return has_fields or schema.get("type") == "object" or "allOf" in schema


def _references(value: Any) -> Iterator[str]:
    """Yield the names of the components that a part of the document refers to."""
    if isinstance(value, Mapping):
        reference = value.get("$ref")
        if isinstance(reference, str) and reference.startswith(_PREFIX):
            yield reference.removeprefix(_PREFIX)
        for each in value.values():
            yield from _references(each)
    elif isinstance(value, list):
        for each in value:
            yield from _references(each)


def _collect_references(
    names: Iterator[str], schemas: Mapping[str, Any], exclude: frozenset[str]
) -> frozenset[str]:
    """Collect these components and all components that they refer to, except for those in ``exclude``."""
    found: set[str] = set()
    pending = list(names)
    while pending:
        name = pending.pop()
        if name in schemas and name not in found and name not in exclude:
            found.add(name)
            pending.extend(_references(schemas[name]))
    return frozenset(found)


def _defs(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> dict[str, Any]:
    own = schema.get("$defs")
    used = _collect_references(_references(schema), schemas, exclude=frozenset())
    return {**(own if isinstance(own, Mapping) else {}), **{name: schemas[name] for name in sorted(used)}}


def _name_by_discriminator(document: Mapping[str, Any], schemas: Mapping[str, Any]) -> dict[str, str]:
    """Map components that a submission allows as ``settings`` to tool types."""
    found: dict[str, str] = {}
    for part in (*schemas.values(), document.get("paths")):
        for options in _settings_options(part):
            mapping = options.get("discriminator")
            named = mapping.get("mapping") if isinstance(mapping, Mapping) else None
            for word, target in (named if isinstance(named, Mapping) else {}).items():
                if isinstance(target, str):
                    found[target.removeprefix(_PREFIX)] = str(word)
            for name in _references([options.get("oneOf"), options.get("anyOf")]):
                found.setdefault(name, name_type(name))
    for part in schemas.values():
        found |= _name_by_type(part)
    return {name: word for name, word in found.items() if name in schemas}


def _name_by_type(submission: Any) -> dict[str, str]:
    """Return the component and the tool type of a submission schema with a fixed ``type``; else empty."""
    fields = submission.get("properties") if isinstance(submission, Mapping) else None
    if not isinstance(fields, Mapping):
        return {}
    kind, settings = fields.get("type"), fields.get("settings")
    words = [kind.get("const"), *_as_list(kind.get("enum"))] if isinstance(kind, Mapping) else []
    words = [word for word in words if isinstance(word, str)]
    names = list(_references({"$ref": settings.get("$ref")})) if isinstance(settings, Mapping) else []
    return {names[0]: words[0]} if len(names) == 1 and len(words) == 1 else {}


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _settings_options(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield schemas of a property ``settings`` that allow several components."""
    if isinstance(value, Mapping):
        settings = value.get("settings")
        if isinstance(settings, Mapping) and ("oneOf" in settings or "anyOf" in settings):
            yield settings
        for each in value.values():
            yield from _settings_options(each)
    elif isinstance(value, list):
        for each in value:
            yield from _settings_options(each)
