"""Remove secrets from a form's values: texts of format ``password``, and whatever is ``writeOnly``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from foldnote.forms.schema.resolution import resolve
from foldnote.forms.schema.spec import MISSING

_ALTERNATIVES = ("oneOf", "anyOf", "allOf")
_CONDITIONAL = ("then", "else")


def leave_out_secrets(schema: Any, value: Any, root: Mapping[str, Any] | None = None) -> Any:
    """A copy of ``value`` without secrets at any depth; `MISSING` if it is a secret itself.

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
        options = [part for word in _ALTERNATIVES for part in _listed(plain.get(word))]
        return MISSING if any(leave_out_secrets(part, value, root) is MISSING for part in options) else value
    parts = [part for word in _ALTERNATIVES for part in _listed(plain.get(word))]
    parts += [plain[word] for word in _CONDITIONAL if word in plain]
    parts += (plain.get("dependentSchemas") or {}).values()
    shown = _leave_out_inner(plain, value, root)
    for part in parts:
        if shown is not MISSING:
            shown = leave_out_secrets(part, shown, root)
    return shown


def _leave_out_inner(plain: Mapping[str, Any], value: Any, root: Mapping[str, Any]) -> Any:
    """A list or mapping without the secrets among its items; a secret list item becomes None."""
    if isinstance(value, list):
        places = _listed(plain.get("prefixItems"))
        schemas = [*places, *[plain.get("items")] * max(0, len(value) - len(places))]
        shown = [leave_out_secrets(part, item, root) for part, item in zip(schemas, value, strict=False)]
        return [None if item is MISSING else item for item in shown]
    names = plain.get("properties")
    known = names if isinstance(names, Mapping) else {}
    others = plain.get("additionalProperties")
    kept = {name: leave_out_secrets(known.get(name, others), item, root) for name, item in value.items()}
    return {name: item for name, item in kept.items() if item is not MISSING}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
