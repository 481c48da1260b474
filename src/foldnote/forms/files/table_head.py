"""The columns of a table file and the cells of its first row, for a form's choices and checks."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from foldnote.forms.files.contents import recall
from foldnote.forms.files.file_reference import local_path, resolve_file

_ENDINGS: Final = (".csv", ".tsv", ".txt")
_READ_CHARACTERS: Final = 200_000


class TableHead(NamedTuple):
    """The header and the first row of a table."""

    name: str
    """Name of the table, for messages: ``binding.csv``."""
    columns: tuple[str, ...]
    examples: tuple[str, ...]
    """First cell of each column; the empty string without one."""


def find_table(value: Any, uploads: Iterable[str] = ()) -> TableHead | None:
    """Return the head of the table that a file setting names; None if it is not available or not a table."""
    if not isinstance(value, str) or not value:
        return None
    if "\n" in value:
        return _parse_head(value[:_READ_CHARACTERS], "the pasted table")
    path, cached = local_path(resolve_file(value, uploads)), recall(value)
    if path is None and cached:
        return _parse_head(cached[:_READ_CHARACTERS], value.rpartition("/")[2])
    if path is None or path.suffix.lower() not in _ENDINGS:
        return None
    return _read_path(str(path), path.stat().st_mtime_ns)


@lru_cache(maxsize=16)
def _read_path(path: str, _changed_ns: int) -> TableHead | None:
    try:
        with Path(path).open(encoding="utf-8-sig", errors="replace", newline="") as file:
            return _parse_head(file.read(_READ_CHARACTERS), Path(path).name)
    except OSError:
        return None


def _parse_head(text: str, name: str) -> TableHead | None:
    first = next((line for line in text.splitlines() if line.strip()), "")
    delimiter = max("\t;,", key=first.count)
    try:
        rows = csv.reader(io.StringIO(text), delimiter=delimiter, skipinitialspace=True)
        filled = [
            [cell.strip() for cell in row]
            for row, _ in zip((row for row in rows if any(row)), range(2), strict=False)
        ]
    except csv.Error:
        return None
    columns = tuple(dict.fromkeys(cell for cell in (filled[0] if filled else ()) if cell))
    if not columns:
        return None
    pairs = dict(zip(filled[0], filled[1], strict=False)) if len(filled) > 1 else {}
    return TableHead(name, columns, tuple(pairs.get(column, "") for column in columns))
