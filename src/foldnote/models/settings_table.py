"""The settings and outputs of a tool as rows of text, from its JSON Schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from foldnote.text import count, format_number

COLUMNS = ("setting", "takes", "default", "what it is")
_WORDS = {"string": "text", "number": "number", "integer": "whole number", "boolean": "true or false",
          "array": "list", "object": "object", "null": "nothing"}  # fmt: skip
_SHOWN_OPTIONS = 8
OUTPUT_COLUMNS = ("output", "what it is", "unit", "better")


def list_settings(schema: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    """List name, kind, default and title or description of each setting; required ones are marked."""
    fields, required = schema.get("properties"), schema.get("required")
    names = required if isinstance(required, list) else []
    for name, field in (fields if isinstance(fields, Mapping) else {}).items():
        known = field if isinstance(field, Mapping) else {}
        default = "" if known.get("default") is None else str(known["default"])
        is_needed = name in names and "default" not in known
        words = known.get("description") or known.get("title") or ""
        yield f"{name} *" if is_needed else str(name), _describe_kind(known), default, str(words)


def find_note(row: Mapping[str, Any] | None, schema: Mapping[str, Any], key: str) -> Any:
    """Return a tool's ``citation`` or ``outputs``, from its record or from the schema's ``x-foldnote``."""
    notes = schema.get("x-foldnote")
    return (row or {}).get(key) or (notes.get(key) if isinstance(notes, Mapping) else None)


def list_outputs(outputs: Any) -> Iterator[tuple[str, str, str, str]]:
    """List name, meaning, unit and better direction of each output; malformed rows are skipped.

    Args:
        outputs: from a catalog: objects with ``name``, ``description``, ``unit`` and ``better``
            (``higher``, ``lower`` or ``none``).
    """
    for row in outputs if isinstance(outputs, list) else ():
        if isinstance(row, Mapping) and isinstance(row.get("name"), str):
            better = str(row.get("better"))
            told = better if better in ("higher", "lower") else ""
            yield row["name"], str(row.get("description") or ""), str(row.get("unit") or ""), told


def format_output(row: tuple[str, str, str, str]) -> str:
    """Format an output as one line: ``name: what it is (unit; lower is better)``."""
    name, what, unit, better = row
    notes = "; ".join(filter(None, [unit, f"{better} is better" if better else ""]))
    return f"{name}: {what}{f' ({notes})' if notes else ''}"


def _describe_kind(field: Mapping[str, Any]) -> str:
    notes = field.get("x-foldnote")
    about = notes if isinstance(notes, Mapping) else {}
    options = _list_options(field)
    if options:
        more = f" … {len(options) - _SHOWN_OPTIONS} more" if len(options) > _SHOWN_OPTIONS else ""
        return " | ".join(options[:_SHOWN_OPTIONS]) + more
    if about.get("role") in ("file", "files") or field.get("format") == "binary":
        extensions = about.get("extensions")
        kinds = ", ".join(f".{each}" for each in extensions) if isinstance(extensions, list) else ""
        return f"{'files' if about.get('role') == 'files' else 'file'} {kinds}".strip()
    given = field.get("type")
    named = given if isinstance(given, list) else [given] if given else []
    words = [_WORDS.get(str(kind), str(kind)) for kind in named]
    unit = about.get("unit")
    return f"{' or '.join(words) or 'anything'}{_format_range(field)}{f' {unit}' if unit else ''}"


def _list_options(field: Mapping[str, Any]) -> list[str]:
    if isinstance(field.get("enum"), list):
        return [str(value) for value in field["enum"]]
    rows = field.get("oneOf")
    if isinstance(rows, list) and all(isinstance(row, Mapping) and "const" in row for row in rows):
        return [str(row["const"]) for row in rows]
    return []


def _format_range(field: Mapping[str, Any]) -> str:
    least = field.get("minimum", field.get("exclusiveMinimum"))
    most = field.get("maximum", field.get("exclusiveMaximum"))
    if least is not None and most is not None:
        return f", {format_number(least)} to {format_number(most)}"
    if least is not None:
        return f", from {format_number(least)}"
    if most is not None:
        return f", up to {format_number(most)}"
    longest = field.get("maxLength")
    return f", up to {count(longest, 'character')}" if longest is not None else ""
