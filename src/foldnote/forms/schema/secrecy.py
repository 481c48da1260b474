"""Remove secrets from a form's values: texts of format ``password``, and everything that is ``writeOnly``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from foldnote.forms.schema.resolution import resolve
from foldnote.forms.schema.spec import MISSING

_ALTERNATIVES = ("oneOf", "anyOf", "allOf")
_CONDITIONAL = ("then", "else")
_DEPENDENT = ("dependentSchemas", "dependencies")


def omit_secrets(schema: Any, value: Any, root: Mapping[str, Any] | None = None) -> Any:
    """Return a copy of ``value`` without secrets at any depth; `MISSING` if it is a secret itself.

    Args:
        schema: schema of the value.
        value: plain data; it is not modified.
        root: the whole schema, in which references are looked up; by default ``schema``.
    """
    if not isinstance(schema, Mapping) or value is MISSING:
        return value
    root = schema if root is None else root
    plain = resolve(schema, root)
    if plain.get("format") == "password" or plain.get("writeOnly") is True:
        return MISSING
    if not isinstance(value, Mapping | list):
        options = [part for keyword in _ALTERNATIVES for part in _listed(plain.get(keyword))]
        return MISSING if any(omit_secrets(part, value, root) is MISSING for part in options) else value
    parts = [part for keyword in _ALTERNATIVES for part in _listed(plain.get(keyword))]
    parts += [plain[keyword] for keyword in _CONDITIONAL if keyword in plain]
    for keyword in _DEPENDENT:
        dependent = plain.get(keyword)
        parts += dependent.values() if isinstance(dependent, Mapping) else ()
    public = _omit_inner(plain, value, root)
    for part in parts:
        if public is not MISSING:
            public = omit_secrets(part, public, root)
    return public


def _omit_inner(plain: Mapping[str, Any], value: Any, root: Mapping[str, Any]) -> Any:
    """Return a list or mapping without the secrets among its items; a secret list item becomes None."""
    if isinstance(value, list):
        items = plain.get("items")
        is_draft_7 = isinstance(items, list)
        positions = _listed(items if is_draft_7 else plain.get("prefixItems"))
        further = plain.get("additionalItems") if is_draft_7 else items
        schemas = [*positions, *[further] * max(0, len(value) - len(positions))]
        public = [omit_secrets(part, item, root) for part, item in zip(schemas, value, strict=False)]
        return [None if item is MISSING else item for item in public]
    public_members = dict(value)
    for name in value:
        for part in _list_schemas(plain, name):
            public_members[name] = omit_secrets(part, public_members[name], root)
    return {name: item for name, item in public_members.items() if item is not MISSING}


def _list_schemas(plain: Mapping[str, Any], name: str) -> list[Any]:
    """Return the schemas of a property: its own and those of matching patterns, else of other properties."""
    properties, patterns = plain.get("properties"), plain.get("patternProperties")
    schemas = [properties[name]] if isinstance(properties, Mapping) and name in properties else []
    for pattern, part in patterns.items() if isinstance(patterns, Mapping) else ():
        try:
            is_match = re.search(pattern, name) is not None
        except re.error:  # a pattern that Python cannot compile may match any name
            is_match = True
        schemas += [part] if is_match else []
    return schemas or [plain.get("additionalProperties")]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
