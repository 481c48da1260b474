"""The tools bundled with foldnote, each defined in one JSON file; read on first use.

The catalog of a connected service takes precedence, and the service knows which engine runs a tool. File
settings of example jobs that name a file in ``examples/`` are replaced by its contents, so that every example
can be submitted unchanged.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from foldnote.catalog.described_tool import PlainTool
from foldnote.catalog.prepared_schema import NOTES
from foldnote.catalog.wording import find_near
from foldnote.errors import UnknownToolError

if TYPE_CHECKING:
    from foldnote.models.tool import Tool

_HERE = Path(__file__).parent


def tools() -> Mapping[str, Tool]:
    """Return all bundled tools by type, in alphabetical order; none is marked as available."""
    return _load_all()


def tool(type: str) -> Tool:  # noqa: A002  (the interface's own word)
    """Return the bundled tool of a type.

    Raises:
        UnknownToolError: there is no such tool; the message suggests similar names.
    """
    found = _load_all().get(type)
    if found is None:
        raise UnknownToolError(type, _find_near_types(type))
    return found


def name_tool(type: str) -> str:  # noqa: A002  (the interface's own word)
    """Return the display name of a bundled tool, such as ``AbodyBuilder``; for any other tool, its type."""
    known = describe(type)
    return (known.display_name if known else "") or type


def describe(type: str) -> PlainTool | None:  # noqa: A002  (the interface's own word)
    """Return what a form of a bundled tool shows, from its file alone; None if there is no such tool."""
    if type not in list_types():
        return None
    row = _read_with_contents(type)
    return PlainTool(
        type=row["type"],
        display_name=row["displayName"],
        description=row["description"],
        settings_schema=row["schema"],
        example_job=row["exampleJob"],
        has_tested_defaults=True,
    )


@cache
def list_types() -> tuple[str, ...]:
    """Return the types of all bundled tools, from the names of their files."""
    names = [path.name for path in (_HERE / "tools").iterdir()]
    return tuple(sorted(name.removesuffix(".json") for name in names if name.endswith(".json")))


def read_tool(type: str) -> dict[str, Any]:  # noqa: A002  (the interface's own word)
    """Read the file of a bundled tool as plain data; the files of its example are not read."""
    row: dict[str, Any] = json.loads((_HERE / "tools" / f"{type}.json").read_text(encoding="utf-8"))
    return row


@cache
def _load_all() -> Mapping[str, Tool]:
    from foldnote.models.tool import Tool

    rows = [_read_with_contents(name) for name in list_types()]
    return MappingProxyType({row["type"]: Tool.model_validate(row) for row in rows})


def _read_with_contents(name: str) -> dict[str, Any]:
    """Read a tool's file and insert the contents of the files that its example names."""
    row = read_tool(name)
    settings = row["exampleJob"]["settings"]
    for name, schema in row["schema"]["properties"].items():
        if name in settings and schema[NOTES].get("role") in ("file", "files"):
            settings[name] = _insert_contents(settings[name])
    return row


def _insert_contents(value: str | list[str]) -> str | list[str]:
    if isinstance(value, list):
        return [_read_example(name) for name in value]
    return _read_example(value)


@cache
def _read_example(name: str) -> str:
    path = _HERE / "examples" / name
    return path.read_text(encoding="utf-8") if path.is_file() else name


def _find_near_types(name: str) -> tuple[str, ...]:
    known = _load_all()
    titles = {tool.display_name: tool.type for tool in known.values()}
    near = find_near(str(name), known, 2) or find_near(str(name), titles, 2)
    return tuple(dict.fromkeys(titles.get(found, found) for found in near))
