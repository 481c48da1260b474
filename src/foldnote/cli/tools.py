"""Commands about tools: list them, describe their settings, and validate settings."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from foldnote.cli.arguments import add_extensions, add_settings, read_extensions, read_settings
from foldnote.cli.connection import add_connection, add_tool, connect
from foldnote.cli.exit_codes import Exit
from foldnote.cli.printing import find_columns, format_table, name_commands, print_json, report, show
from foldnote.errors import ArgumentError
from foldnote.text import describe_path

if TYPE_CHECKING:
    from foldnote.models import Tool


def add_tools(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``tools``."""
    parser.add_argument("words", nargs="*", help="show only tools whose description has all of these words")
    parser.add_argument("--available", action="store_true", help="show only tools that the service can run")
    add_connection(parser)


def run_tools(options: argparse.Namespace) -> int:
    """Print the list of tools."""
    rows = [
        tool
        for tool in connect(options).tools.list()
        if (tool.available or not options.available) and _matches(tool, options.words)
    ]
    table = [
        (tool.type, tool.status, tool.family, tool.engine.method if tool.engine else "") for tool in rows
    ]
    return report(
        options,
        [tool.to_wire() for tool in rows],
        format_table(("TOOL", "STATUS", "FAMILY", "METHOD"), table, find_columns()),
    )


def _matches(tool: Tool, queries: list[str]) -> bool:
    text = " ".join(
        (tool.type, tool.display_name, tool.description, tool.family, *tool.modalities, *tool.functions)
    )
    return all(query.lower() in text.lower() for query in queries)


def add_schema(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``schema``."""
    add_tool(parser)
    add_connection(parser)


def run_schema(options: argparse.Namespace) -> int:
    """Print the settings of a tool."""
    schema = connect(options).tools.get(options.tool).settings_schema
    required = schema.get("required", [])
    rows = []
    for name, field in schema.get("properties", {}).items():
        need = "yes" if name in required and "default" not in field else ""
        rows.append((name, _kind(field), need, str(field.get("default", "")), field.get("description", "")))
    titles = ("SETTING", "TYPE", "NEEDED", "DEFAULT", "MEANING")
    return report(options, schema, format_table(titles, rows, find_columns()))


def _kind(field: dict[str, object]) -> str:
    choices = field.get("enum")
    if isinstance(choices, list) and len(choices) <= 6:
        return "|".join(str(choice) for choice in choices)
    kind = field.get("type", "any")
    bounds = [str(field.get(name, "")) for name in ("minimum", "maximum")]
    span = f" {bounds[0]}…{bounds[1]}" if any(bounds) else ""
    if field.get("format") == "binary":
        return "file"
    return ("|".join(map(str, kind)) if isinstance(kind, list) else str(kind)) + span


def add_example(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``example``."""
    add_tool(parser)
    parser.add_argument(
        "--job", action="store_true", help="print the whole submission, not only the settings"
    )
    add_connection(parser)


def run_example(options: argparse.Namespace) -> int:
    """Print valid example settings, for ``submit --settings``.

    Raises:
        ArgumentError: the service has no example.
    """
    example = connect(options).tools.get(options.tool).example_job
    if not example:
        raise ArgumentError(f"The service has no example for {options.tool}; see `foldnote schema`.")
    content = example if options.job else example.get("settings", example)
    return report(options, content, json.dumps(content, indent=2))


def add_validate(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``validate``."""
    add_tool(parser)
    add_settings(parser)
    add_extensions(parser)
    add_connection(parser)


def run_validate(options: argparse.Namespace) -> int:
    """Print the service's verdict on settings; nothing is submitted, and it is free."""
    from foldnote.models import BatchVerdict

    client = connect(options)
    tool = client.tools.get(options.tool)
    settings, extensions = read_settings(options, client, tool), read_extensions(options, client)
    verdict = client.jobs.validate(tool.type, settings, extensions=extensions)
    if options.json:
        print_json(verdict.model_dump(mode="json", by_alias=True))
    elif isinstance(verdict, BatchVerdict):
        rows = [
            (
                str(row.index + 1),
                "yes" if row.valid else "no",
                describe_path(row.field or "", settings[row.index]),
                name_commands(row.reason),
            )
            for row in verdict.results
        ]
        show(format_table(("ROW", "VALID", "SETTING", "REASON"), rows, find_columns()))
    elif verdict.valid:
        show("valid")
    else:
        path = describe_path(verdict.field or "settings", settings)
        show(f"{path}: {name_commands(verdict.reason or 'not valid')}")
    return Exit.DONE if verdict.valid else Exit.BAD_INPUT
