"""Commands about tools: which there are, what they take, and whether settings are right."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from foldnote.cli.arguments import add_settings, read_given
from foldnote.cli.connection import add_connection, add_tool, connect
from foldnote.cli.exit_codes import Exit
from foldnote.cli.printing import print_json, print_table, show
from foldnote.errors import ArgumentError

if TYPE_CHECKING:
    from foldnote.models import Tool


def add_tools(parser: argparse.ArgumentParser) -> None:
    """Options of ``tools``."""
    parser.add_argument("words", nargs="*", help="only tools in whose description all of these words occur")
    parser.add_argument("--available", action="store_true", help="only the tools that run at the service")
    add_connection(parser)


def run_tools(options: argparse.Namespace) -> int:
    """Print the tools."""
    rows = [
        tool
        for tool in connect(options).tools.list()
        if (tool.available or not options.available) and _matches(tool, options.words)
    ]
    if options.json:
        print_json([tool.to_wire() for tool in rows])
        return Exit.DONE
    table = [
        (tool.type, "yes" if tool.available else "no", tool.engine.method if tool.engine else "", tool.family)
        for tool in rows
    ]
    print_table(("TOOL", "RUNS", "METHOD", "FAMILY"), table)
    return Exit.DONE


def _matches(tool: Tool, words: list[str]) -> bool:
    text = " ".join(
        (tool.type, tool.display_name, tool.description, tool.family, *tool.modalities, *tool.functions)
    )
    return all(word.lower() in text.lower() for word in words)


def add_schema(parser: argparse.ArgumentParser) -> None:
    """Options of ``schema``."""
    add_tool(parser)
    add_connection(parser)


def run_schema(options: argparse.Namespace) -> int:
    """Print what a tool takes."""
    schema = connect(options).tools.get(options.tool).settings_schema
    if options.json:
        print_json(schema)
        return Exit.DONE
    required = schema.get("required", [])
    rows = []
    for name, field in schema.get("properties", {}).items():
        need = "yes" if name in required and "default" not in field else ""
        rows.append((name, _kind(field), need, str(field.get("default", "")), field.get("description", "")))
    print_table(("SETTING", "TYPE", "NEEDED", "DEFAULT", "MEANING"), rows)
    return Exit.DONE


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
    """Options of ``example``."""
    add_tool(parser)
    parser.add_argument("--job", action="store_true", help="the whole submission, not the settings alone")
    add_connection(parser)


def run_example(options: argparse.Namespace) -> int:
    """Print settings that are valid as they stand, for ``submit --settings``.

    Raises:
        ArgumentError: the service gives no example.
    """
    example = connect(options).tools.get(options.tool).example_job
    if not example:
        raise ArgumentError(f"The service gives no example for {options.tool}; see `foldnote schema`.")
    content = example if options.job else example.get("settings", example)
    if options.json:
        print_json(content)
    else:
        import json

        print(json.dumps(content, indent=2))
    return Exit.DONE


def add_validate(parser: argparse.ArgumentParser) -> None:
    """Options of ``validate``."""
    add_tool(parser)
    add_settings(parser)
    add_connection(parser)


def run_validate(options: argparse.Namespace) -> int:
    """Print the service's verdict; nothing is submitted and it costs nothing."""
    from foldnote.models import BatchVerdict

    client = connect(options)
    tool = client.tools.get(options.tool)
    verdict = client.jobs.validate(tool.type, read_given(options, client, tool))
    if options.json:
        print_json(verdict.model_dump(mode="json", by_alias=True))
    elif isinstance(verdict, BatchVerdict):
        rows = [
            (str(row.index), "yes" if row.valid else "no", row.field or "", row.error or "")
            for row in verdict.results
        ]
        print_table(("ROW", "VALID", "SETTING", "REASON"), rows)
    elif verdict.valid:
        show("valid")
    else:
        show(f"{verdict.field or 'settings'}: {verdict.error or 'not valid'}")
    return Exit.DONE if verdict.valid else Exit.BAD_INPUT
