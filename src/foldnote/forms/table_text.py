"""From a table as text, pasted from a spreadsheet or read from a CSV file, to rows of settings.

Columns are settings, by name or title; an empty cell leaves its setting to the form. Cells are read as their
setting's type says; whether the values are right is the catalog's question.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from foldnote.catalog.wording import find_near
from foldnote.errors import FoldnoteError
from foldnote.forms.spec import FieldSpec

_YES = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def read_table(text: str, specs: Iterable[FieldSpec]) -> list[dict[str, Any]]:
    """The rows of a table whose first line names its columns.

    Raises:
        FoldnoteError: there is no row, or a column is no setting.
    """
    lines = text.lstrip("\ufeff").strip("\r\n")
    rows = [row for row in csv.reader(io.StringIO(lines), delimiter=_find_delimiter(lines)) if any(row)]
    if len(rows) < 2:
        raise FoldnoteError("A table needs a first line with the names of settings and a line for each job.")
    columns = [_find_column(name.strip(), tuple(specs)) for name in rows[0]]
    for number, row in enumerate(rows[1:], start=1):
        if len(row) > len(columns):
            raise FoldnoteError(f"Row {number} has {len(row)} cells, but there are {len(columns)} columns.")
    return [
        {
            spec.name: read_cell(spec, cell.strip())
            for spec, cell in zip(columns, row, strict=False)
            if cell.strip()
        }
        for row in rows[1:]
    ]


def read_cell(spec: FieldSpec, text: str) -> Any:
    """The value that a cell means; text that does not fit the type stays text, so that it is told."""
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


def _find_column(name: str, specs: tuple[FieldSpec, ...]) -> FieldSpec:
    known: Mapping[str, FieldSpec] = {
        **{_fold(spec.title): spec for spec in specs},
        **{_fold(spec.name): spec for spec in specs},
    }
    found = known.get(_fold(name))
    if found is None:
        near = find_near(name, [spec.name for spec in specs])
        hint = (
            f" Did you mean {near[0]}?" if near else f" The settings are: {', '.join(s.name for s in specs)}."
        )
        raise FoldnoteError(f"The column {name[:60]!r} is no setting of this tool.{hint}")
    return found


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
