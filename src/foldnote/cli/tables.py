"""The table of a batch: which column feeds which setting, guessed as in a form and overridden by options."""

from __future__ import annotations

import ast
import json
import re
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foldnote.errors import ArgumentError

if TYPE_CHECKING:
    from foldnote.forms.batch.mapped_table import MappedTable
    from foldnote.models import Tool

_PYTHON = re.compile(r"columns=(\{.+?['\"]\})")
"""How messages about tables write columns in Python code."""


def map_columns(
    path: Path,
    tool: Tool,
    columns: Mapping[str, str],
    names: str | None,
    assigned: set[str],
    sheet: str | None = None,
) -> MappedTable:
    """Read a table and map its columns to settings by their names, then by their contents.

    Args:
        path: CSV, TSV, FASTA, Excel or JSON (an array of objects, or an object per line); ``-`` for standard
            input.
        tool: the tool.
        columns: the column of each setting; if given, nothing is guessed.
        names: the column of the jobs' names.
        assigned: settings that are given by other options.
        sheet: the sheet of a workbook.

    Raises:
        ArgumentError: the table cannot be read, or its columns cannot be mapped.
    """
    from foldnote.forms.batch.mapped_table import map_table, map_table_bytes  # deferred: loads ipywidgets

    data, name = _read(path)
    try:
        if data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"[", b"{"):
            return map_table(tool, _read_rows(data, path), columns or None, names, assigned, sheet)
        return map_table_bytes(tool, data, name, columns or None, names, assigned, sheet)
    except ArgumentError as exc:
        message = _PYTHON.sub(lambda match: _write_options(match[1]), exc.message)
        raise ArgumentError(message.replace("With columns=", "With --column")) from exc


def _write_options(columns: str) -> str:
    """Write columns as command-line options instead of a Python dict."""
    pairs = ast.literal_eval(columns).items()
    return " ".join(f"--column {shlex.quote(f'{setting}={column}')}" for column, setting in pairs)


def describe_columns(mapped: MappedTable) -> str:
    """Describe on one line what each column is used for; empty if every column is the setting of its name."""
    fed, names_column, kept_columns = mapped.uses()
    if not names_column and not kept_columns and all(column == setting for setting, column in fed.items()):
        return ""
    parts = [f"{column} → {setting}" for setting, column in fed.items()]
    parts += [f"{names_column} → the jobs' names"] if names_column else []
    parts += [f"kept with the results: {', '.join(kept_columns)}"] if kept_columns else []
    return f"Columns: {'; '.join(parts)}. Change it with --column SETTING=COLUMN and --names COLUMN."


def _read(path: Path) -> tuple[bytes, str]:
    """Return the bytes of the table, and its name for messages."""
    is_stdin = str(path) == "-"
    try:
        data = sys.stdin.buffer.read() if is_stdin else path.expanduser().read_bytes()
    except OSError as exc:
        raise ArgumentError(f"The table {path} cannot be read: {exc.strerror or exc}.") from exc
    if not data.strip():
        raise ArgumentError(f"The table {path} has no rows.")
    return data, "The table" if is_stdin else path.name


def _read_rows(data: bytes, path: Path) -> list[dict[str, Any]]:
    try:
        text = data.decode("utf-8-sig")
        rows = json.loads(text) if text.lstrip().startswith("[") else _read_lines(text)
        if not all(isinstance(row, dict) for row in rows):
            raise ValueError("each row should be a JSON object")
    except ValueError as exc:
        raise ArgumentError(f"The table {path} cannot be read: {exc}") from exc
    if not rows:
        raise ArgumentError(f"The table {path} has no rows.")
    return rows


def _read_lines(text: str) -> list[Any]:
    """Read one JSON document per line.

    Raises:
        ValueError: a line is not JSON; the message has its number.
    """
    rows = []
    for number, line in enumerate(text.split("\n"), start=1):  # a JSON text may hold other line separators
        try:
            rows += [json.loads(line)] if line.strip() else []
        except json.JSONDecodeError as exc:
            raise ValueError(
                f"line {number} is not one JSON object: {exc.msg} at column {exc.colno}."
            ) from exc
    return rows
