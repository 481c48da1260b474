"""Read rows of settings from the text of a table, pasted from a spreadsheet or read from a CSV file.

Columns are settings, by name, title or a common name of an antibody chain (``VH``); a column ``id``, ``name``
or ``jobName`` names the jobs. Empty cells are left out. Cells are converted to the type of their setting; the
catalog validates them.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from foldnote.catalog.wording import find_near
from foldnote.errors import ArgumentError
from foldnote.forms.schema.spec import FieldSpec

_YES = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


_NAMES = ("id", "name", "jobname")
_CHAINS = {
    "heavy": ("vh", "hc", "h", "heavy", "heavychain"),
    "light": ("vl", "vk", "lc", "l", "light", "lightchain"),
}
_SEQUENCES = ("sequence", "seq", "aa", "protein", *_CHAINS["heavy"], *_CHAINS["light"])


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row of a table."""

    settings: dict[str, Any]
    name: str = ""
    """Job name; empty if the table does not give one."""


def read_table(text: str, specs: Iterable[FieldSpec]) -> list[TableRow]:
    """The rows of a table whose first line names its columns.

    Raises:
        ArgumentError: there is no row, a row has too many cells, a column is neither a setting nor a name, or
            two columns mean the same.
    """
    specs = tuple(specs)
    lines = text.lstrip("\ufeff").strip("\r\n")
    rows = [row for row in csv.reader(io.StringIO(lines), delimiter=_find_delimiter(lines)) if any(row)]
    if len(rows) < 2:
        raise ArgumentError("A table needs a header line with the names of settings and one line per job.")
    columns = _find_columns([name.strip() for name in rows[0]], specs)
    for number, row in enumerate(rows[1:], start=1):
        if len(row) > len(columns):
            raise ArgumentError(f"Row {number} has {len(row)} cells, but there are {len(columns)} columns.")
    return [_read_row([cell.strip() for cell in row], columns) for row in rows[1:]]


def _read_row(cells: list[str], columns: list[FieldSpec | None]) -> TableRow:
    filled = [(spec, cell) for spec, cell in zip(columns, cells, strict=False) if cell]
    name = next((cell for spec, cell in filled if spec is None), "")
    return TableRow({spec.name: read_cell(spec, cell) for spec, cell in filled if spec is not None}, name)


def read_cell(spec: FieldSpec, text: str) -> Any:
    """The value of a cell; text that does not match the type is kept, so that validation reports it."""
    for choice in spec.choices:
        if text in (choice.label, str(choice.value)):
            return choice.value
    if spec.type in ("number", "integer"):
        return _read_number(text)
    if spec.type == "boolean":
        return _YES.get(text.lower(), text)
    if spec.type == "array":
        parts = _read_json(text)
        if isinstance(parts, list):
            return parts
        words = [part.strip() for part in re.split(r"[;,\n]", text) if part.strip()]
        is_number = spec.items.get("type") in ("number", "integer")
        return [_read_number(word) for word in words] if is_number else words
    if spec.type != "string":
        found = _read_json(text)
        return text if found is None else found
    return text


def _find_delimiter(text: str) -> str:
    first = text.partition("\n")[0]
    return max("\t;,", key=first.count) if any(mark in first for mark in "\t;,") else ","


def match_columns(names: Iterable[str], specs: Iterable[FieldSpec]) -> tuple[dict[str, str], str | None]:
    """Match the columns ``names`` to settings.

    Returns the column of each setting (by setting), and the column of the job names or None.

    Raises:
        ArgumentError: a column is neither a setting nor a name, or two columns mean the same.
    """
    names = list(names)
    pairs = list(zip(names, _find_columns(names, tuple(specs)), strict=True))
    columns = {spec.name: name for name, spec in pairs if spec is not None}
    return columns, next((name for name, spec in pairs if spec is None), None)


def _find_columns(names: list[str], specs: tuple[FieldSpec, ...]) -> list[FieldSpec | None]:
    """The setting of each column; None for the one that names the jobs."""
    found = [_find_column(name, specs) for name in names]
    settings = [spec.name for spec in found if spec is not None]
    if found.count(None) > 1:
        raise ArgumentError(f"Only one column can name the jobs; these are: {', '.join(names)}.")
    for spec in specs:
        if settings.count(spec.name) > 1:
            doubled = [name for name, known in zip(names, found, strict=True) if known is spec]
            raise ArgumentError(f"The columns {' and '.join(doubled)} both mean the setting {spec.name}.")
    return found


def _find_column(name: str, specs: tuple[FieldSpec, ...]) -> FieldSpec | None:
    known: Mapping[str, FieldSpec] = {
        **{_fold(spec.title): spec for spec in specs},
        **{_fold(spec.name): spec for spec in specs},
    }
    found = known.get(_fold(name)) or _find_chain(_fold(name), specs)
    if found is None and _fold(name) in _NAMES:
        return None
    if found is None:
        near = find_near(name, [spec.name for spec in specs])
        hint = (
            f" Did you mean {near[0]}?" if near else f" The settings are: {', '.join(s.name for s in specs)}."
        )
        raise ArgumentError(f"The column {name[:60]!r} is not a setting of this tool.{hint}")
    return found


def _find_chain(name: str, specs: tuple[FieldSpec, ...]) -> FieldSpec | None:
    """The sequence setting that a common column name means; None if there is not exactly one."""
    sequences = [spec for spec in specs if spec.role in ("sequence", "sequences")]
    for setting, words in _CHAINS.items():
        fitting = [spec for spec in sequences if _fold(spec.name).startswith(setting)]
        if name in words and len(fitting) == 1:
            return fitting[0]
    required = [spec for spec in sequences if spec.required]
    return required[0] if name in _SEQUENCES and len(required) == 1 and len(sequences) == 1 else None


def _fold(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).lower()


def _read_number(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _read_json(text: str) -> Any:
    if text[:1] not in "[{":
        return None
    try:
        return json.loads(text)
    except ValueError:
        return None
