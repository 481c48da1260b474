"""Generate the page of the service's routes from its OpenAPI document."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from foldnote.service.http.app import build_routes

_TITLES = {"submission": "Submission", "jobs": "Jobs", "results": "Results", "downloads": "Downloads", "files": "Files",
           "pipelines": "Pipelines", "tools": "Tools", "accounts": "Accounts", "operation": "Operation"}  # fmt: skip
_HEAD = """# The service's interface

The routes of the Protein Analysis Job Service API as foldnote's own service answers them, generated from its
[OpenAPI document](path:extra/openapi.json). A running service has the same document at `/openapi.json`. Paths may also begin
with `/v1` or `/api`. Routes marked *key* need the header `x-api-key`.

[The client](../client.md) calls these routes for you.
"""


def write_interface(path: Path) -> dict[str, Any]:
    """Write the page and return the document."""
    document: dict[str, Any] = build_routes().openapi()
    path.write_text("\n".join(_write_page(document)), "utf-8")
    return document


def _write_page(document: Mapping[str, Any]) -> Iterator[str]:
    yield _HEAD
    groups: dict[str, list[str]] = defaultdict(list)
    for route, item in document["paths"].items():
        for method, operation in item.items():
            text = "\n".join(_write_operation(method.upper(), route, operation))
            groups[operation["tags"][0]].append(text)
    for tag, texts in groups.items():
        yield f"## {_TITLES[tag]}\n"
        yield from texts
    yield "## Records\n"
    for name, schema in sorted(document["components"]["schemas"].items()):
        yield from _write_record(name, schema)


def _write_operation(method: str, route: str, operation: Mapping[str, Any]) -> Iterator[str]:
    key = " · *key*" if operation.get("security") else ""
    yield f"### {method} {_plain(route)}\n"
    yield f"**{operation['summary']}**{key}\n"
    yield f"{_plain(operation.get('description') or '')}\n"
    if parameters := operation.get("parameters"):
        yield "| parameter | in | type | meaning |\n|---|---|---|---|"
        for each in parameters:
            needed = " (required)" if each.get("required") else ""
            what = _cell(each.get("description") or each["schema"].get("description") or "")
            yield f"| `{each['name']}` | {each['in']}{needed} | {_name_type(each['schema'])} | {what} |"
        yield ""
    if body := operation.get("requestBody"):
        kinds = (f"{kind}: {_name_type(content['schema'])}" for kind, content in body["content"].items())
        yield f"Body: {'; '.join(kinds)}\n"
    answers = (
        f"{status} {_cell(answer.get('description') or '')}{_name_body(answer)}".strip()
        for status, answer in operation["responses"].items()
    )
    yield "Answers:\n"
    yield from (f"- {each}" for each in answers)
    yield ""


def _name_body(answer: Mapping[str, Any]) -> str:
    schemas = [content.get("schema") for content in (answer.get("content") or {}).values()]
    names = [_name_type(schema) for schema in schemas if schema and "$ref" in schema]
    return f" ({', '.join(names)})" if names else ""


def _write_record(name: str, schema: Mapping[str, Any]) -> Iterator[str]:
    yield f"### {name}\n"
    if about := schema.get("description"):
        yield f"{_plain(about)}\n"
    if options := schema.get("enum"):
        yield f"One of {', '.join(f'`{each}`' for each in options)}.\n"
    fields = schema.get("properties") or {}
    if fields:
        yield "| field | type | meaning |\n|---|---|---|"
        for field, about_field in fields.items():
            needed = " \\*" if field in schema.get("required", ()) else ""
            yield f"| `{field}`{needed} | {_name_type(about_field)} | {_cell(about_field.get('description') or '')} |"
        yield ""


def _name_type(schema: Mapping[str, Any]) -> str:
    if reference := schema.get("$ref"):
        name = reference.rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    for key in ("anyOf", "oneOf", "allOf"):
        if rows := schema.get(key):
            return " or ".join(dict.fromkeys(map(_name_type, rows)))
    kind = schema.get("type")
    if kind == "array":
        return f"list of {_name_type(schema.get('items') or {})}"
    if options := schema.get("enum"):
        return ", ".join(f"`{each}`" for each in options)
    words = {"string": "text", "null": "null", "integer": "integer", "object": "object"}
    return words.get(str(kind), str(kind)) if kind else "anything"


def _cell(text: str) -> str:
    return _plain(" ".join(text.split())).replace("|", "\\|")


def _plain(text: str) -> str:
    return text.replace("``", "`").replace("{", "\\{").replace("}", "\\}").replace("<", "\\<")
