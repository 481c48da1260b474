"""What of a form's values may be written down: everything but what the schema calls secret, however deep.

A secret is a text of format ``password``, or whatever is ``writeOnly``. Nothing here knows a widget.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from foldnote.forms.schema.resolution import resolve
from foldnote.forms.schema.spec import MISSING

_ALTERNATIVES = ("oneOf", "anyOf", "allOf")
_CONDITIONAL = ("then", "else")


def leave_out_secrets(schema: Any, value: Any, root: Mapping[str, Any] | None = None) -> Any:
    """``value`` without its secrets; `MISSING` where it is one itself. Nothing is changed in place.

    Args:
        schema: what describes the value.
        value: plain data.
        root: the whole schema, in which references are looked up; by default ``schema`` itself.
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
    shown = _look_into(plain, value, root)
    for part in parts:
        if shown is not MISSING:
            shown = leave_out_secrets(part, shown, root)
    return shown


def _look_into(plain: Mapping[str, Any], value: Any, root: Mapping[str, Any]) -> Any:
    """The value with what the schema says of its items or names left out."""
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
