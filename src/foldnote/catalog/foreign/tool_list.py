"""Convert an answer of GET /tools in any known form to tools; parts not understood are kept and listed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from foldnote.catalog.bundle import tools as bundled_tools
from foldnote.catalog.foreign.completion import fill_fields
from foldnote.catalog.foreign.openapi import is_document, list_components
from foldnote.catalog.foreign.openapi_dialect import translate_component
from foldnote.catalog.foreign.settings_lists import translate_rows
from foldnote.catalog.json_values import parse_value
from foldnote.catalog.keywords import is_schema
from foldnote.catalog.prepared_schema import NOTES
from foldnote.errors import ProtocolError
from foldnote.models.tool import Tool, ToolEngine, ToolOrigin
from foldnote.models.wire import lower_first

_TEXTS: Final = ("displayName", "description", "family", "unavailableReason")
_ENGINE_LISTS = ("outputs", "databases")
_LISTS: Final = ("modalities", "functions", "extensions")
_FILLED: Final = ("display_name", "description", "family", "modalities", "functions", "example_job")
_FORMS: Final = ("schema", "parameters", "settings")


def read_catalog(answer: Any) -> tuple[tuple[Tool, ...], tuple[Any, ...]]:
    """Read the tools of an answer.

    Args:
        answer: the parsed JSON of GET /tools.

    Returns:
        The tools in their order, and the rows that do not name a tool.

    Raises:
        ProtocolError: it is not a catalog in a known form.
    """
    if is_document(answer):
        components = list_components(parse_value(answer).value, frozenset(bundled_tools()))
        return tuple(_read_component(*component) for component in components), ()
    rows = _list_rows(answer)
    tools, unreadable = [], []
    for row in rows:
        try:
            tools.append(read_foreign_tool(row))
        except ProtocolError:
            unreadable.append(row)
    if unreadable and not tools:
        raise ProtocolError("The service must return its tools as an array of objects with a name.")
    return tuple(tools), tuple(unreadable)


def _list_rows(answer: Any) -> list[Any]:
    inner = answer.get("tools", answer.get("Tools")) if isinstance(answer, Mapping) else answer
    if isinstance(inner, list):
        return inner
    named = answer if inner is None and isinstance(answer, Mapping) else inner
    if isinstance(named, Mapping) and named and all(isinstance(row, Mapping) for row in named.values()):
        return [{"name": name} | dict(row) for name, row in named.items()]
    raise ProtocolError("The service must return its tools as an array.")


def read_foreign_tool(answer: Any) -> Tool:
    """Read one row of a catalog as a tool; a row in the interface's own form is used unchanged.

    Raises:
        ProtocolError: it has no name.
    """
    row = {"name": answer} if isinstance(answer, str) else answer
    if not isinstance(row, Mapping):
        raise ProtocolError("A tool must be an object with a name.")
    parsed = parse_value(dict(row)).value
    fields = lower_first(parsed)
    name = next((fields[key] for key in ("type", "name", "displayName") if _is_name(fields.get(key))), None)
    if name is None:
        raise ProtocolError("A tool must be an object with a name.")
    shape, schema, untranslated = _read_settings(fields)
    known = _read_attributes(name, fields, untranslated)
    return _make_tool(known, shape, schema, untranslated)


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _read_settings(fields: dict[str, Any]) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """Remove the settings from a row; return their form, their schema, and the untranslated parts."""
    given = {form: _parse_text(fields.pop(form, None)) for form in _FORMS}
    shape = next((form for form in _FORMS if given[form] not in (None, "", [], {})), None)
    if shape is None:
        return "name", {}, {}
    untranslated = {form: value for form, value in given.items() if form != shape and value is not None}
    value = given[shape]
    if shape == "schema" or _is_schema_object(value):
        schema, left = _read_schema(value)
        return "schema", schema, untranslated | left
    if not isinstance(value, list | dict):
        return "name", {}, untranslated | {shape: value}
    schema, left = translate_rows(value)
    if not schema["properties"]:  # no row has a name
        return "name", {}, untranslated | {shape: value}
    return shape, schema, untranslated | left


def _read_schema(value: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    if isinstance(value, dict) and _has_valid_fields(value):
        return value, {}
    return translate_component(value) if isinstance(value, dict) else ({}, {"schema": value})


def _has_valid_fields(schema: dict[str, Any]) -> bool:
    """Return whether the schema is valid and each of its fields can be read on its own."""
    properties, required = schema.get("properties", {}), schema.get("required", [])
    if not isinstance(properties, dict) or not isinstance(required, list):
        return False
    are_fields = all(isinstance(each, dict | bool) for each in properties.values())
    return are_fields and all(isinstance(each, str) for each in required) and is_schema(schema)


def _is_schema_object(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and value.get("type") == "object"
        and isinstance(value.get("properties"), dict)
    )


def _parse_text(value: Any) -> Any:
    """Parse text that contains a JSON array or object; return other values unchanged."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return parse_value(json.loads(value)).value
        except (ValueError, RecursionError):
            return value
    return value


def _read_attributes(name: str, fields: dict[str, Any], untranslated: dict[str, Any]) -> dict[str, Any]:
    """Read the other attributes of a tool; values of the wrong type are added to ``untranslated``."""
    known: dict[str, Any] = {"type": name, "name": name, "displayName": name}
    for key, value in fields.items():
        if value is None:
            continue
        read = _read_attribute(key, value)
        if read is None:
            untranslated[key] = value
        else:
            known[key] = read
    return known


def _read_attribute(key: str, value: Any) -> Any:
    """Convert a value to the attribute's type; None if that is impossible."""
    if key in _TEXTS or key in ("type", "name"):
        return value if isinstance(value, str) else None
    if key in _LISTS:
        items = [each.strip() for each in value.split(",")] if isinstance(value, str) else value
        is_list = isinstance(items, list) and all(isinstance(each, str) for each in items)
        return [each for each in items if each] if is_list else None
    if key == "available":
        return value if isinstance(value, bool) else None
    if key == "exampleJob":
        example = _parse_text(value)
        return example if isinstance(example, dict) else None
    if key == "engine":
        return _read_engine(value)
    return value


def _read_engine(value: Any) -> dict[str, Any] | None:
    if isinstance(value, str) and value:
        return {"name": value, "method": value}
    if not isinstance(value, dict) or not isinstance(value.get("name", value.get("method")), str):
        return None
    texts = {
        key: each
        for key, each in value.items()
        if isinstance(each, str) or key not in ToolEngine.model_fields
    }
    lists = {key: _keep_texts(value.get(key)) for key in _ENGINE_LISTS}
    names = {"name": texts.get("method", ""), "method": texts.get("name", "")}
    return names | texts | {key: each for key, each in lists.items() if each}


def _keep_texts(value: Any) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def _read_component(tool_type: str, group: str, schema: dict[str, Any]) -> Tool:
    translated, untranslated = translate_component(schema)
    known = {"type": tool_type, "name": tool_type, "displayName": group}
    if isinstance(schema.get("description"), str):
        known["description"] = schema["description"]
    return _make_tool(known, "openapi", translated, untranslated)


def _make_tool(
    known: dict[str, Any], shape: str, schema: dict[str, Any], untranslated: dict[str, Any]
) -> Tool:
    """Build the tool, completed from the bundled tool of the same type."""
    bundled = bundled_tools().get(known["type"])
    filled: dict[str, Sequence[str]] = {}
    if shape not in ("schema", "name"):
        if bundled is not None:
            filled |= fill_fields(schema, bundled.settings_schema)
        _keep_untranslated(schema, untranslated)
    if "exampleJob" in known:
        known["exampleJob"] = _read_example(known["exampleJob"], known["type"])
    known.setdefault("available", True)  # otherwise a service lists only what it can run
    tool = Tool.model_validate(known | {"schema": schema})
    if bundled is not None:
        tool, gaps = _fill_tool(tool, bundled)
        filled |= {"": gaps} if gaps else {}
    return tool.with_origin(
        ToolOrigin(shape, {name: tuple(parts) for name, parts in filled.items()}, untranslated)
    )


def _fill_tool(tool: Tool, bundled: Tool) -> tuple[Tool, tuple[str, ...]]:
    gaps = {name: getattr(bundled, name) for name in _FILLED if not getattr(tool, name)}
    if not tool.settings_schema:
        gaps["settings_schema"] = bundled.settings_schema
    if tool.display_name == tool.type and bundled.display_name:
        gaps["display_name"] = bundled.display_name
    if tool.settings_schema and not tool.example_job and not _accepts_example(tool, bundled):
        gaps.pop("example_job", None)
    gaps = {name: value for name, value in gaps.items() if value}
    return tool.model_copy(update=gaps), tuple(gaps)


def _accepts_example(tool: Tool, bundled: Tool) -> bool:
    """Return whether the bundled example job is valid for the service's tool."""
    from foldnote.catalog.validation import check

    return check(tool, (bundled.example_job or {}).get("settings", {})).is_valid


def _keep_untranslated(schema: dict[str, Any], untranslated: Mapping[str, Any]) -> None:
    """Store untranslated parts in the schema's notes, where they remain when the tool is passed on."""
    if untranslated:
        own = schema.get(NOTES)
        kept = dict(own) if isinstance(own, Mapping) else {}
        schema[NOTES] = kept | {"untranslated": dict(untranslated)}


def _read_example(example: dict[str, Any], tool_type: str) -> dict[str, Any]:
    """Read the example as a submission; some catalogs give only its settings."""
    parsed = lower_first(example)
    settings = _parse_text(parsed.get("settings"))
    if isinstance(settings, dict):
        return {"jobName": f"{tool_type}-example", "type": tool_type} | parsed | {"settings": settings}
    return {"jobName": f"{tool_type}-example", "type": tool_type, "settings": example}
