"""Tables in all formats but delimited text, and flat figures from JSON.

A JSON file is a table when it is a list of records, and figures when it is an object with some scalar
values; anything else stays a file. Values are never guessed: what a cell says is what the frame holds.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import pandas as pd

from foldnote.errors import UnreadableFileError
from foldnote.results.core.messages import explain
from foldnote.results.naming.families import strip_packing
from foldnote.results.tables.delimited import is_json_lines, read_delimited

_MOST_CELLS = 100_000_000
"""Cells of a Parquet file, which may announce far more than its bytes would hold."""
_MOST_VALUES = 50_000_000
"""Values in a JSON file: an aligned error between 7,000 tokens. Each takes about 32 bytes of memory."""
_MOST_CONTAINERS = 5_000_000
"""Lists and objects in a JSON file, of which an empty one takes 2 bytes there and 64 of memory."""
_DEEPEST, _LONGEST_LIST = 5, 1_000
"""Of records that become a table: how deep objects lie in them, and how long lists are."""
Scalar = str | int | float | bool | None


def read_table(data: bytes, name: str) -> pd.DataFrame:
    """A table in any of the known formats, told by the file's name.

    Returns:
        The file's columns, dtypes by pandas; a row is a line or a record.

    Raises:
        UnreadableFileError: it is not such a table, or reading it needs a package that is not there.
    """
    plain = strip_packing(name)
    if plain.endswith((".parquet", ".pqt")):
        return _read_parquet(data, name)
    if plain.endswith((".jsonl", ".ndjson")) or (plain.endswith(".sc") and is_json_lines(data)):
        return _read_lines(data, name)
    if plain.endswith(".json"):
        table = find_table(read_json(data, name))
        if table is None:
            raise UnreadableFileError(f"{name} is no list of records.")
        return table
    return read_delimited(data, name)


def _read_parquet(data: bytes, name: str) -> pd.DataFrame:
    try:
        arrow: Any = import_module("pyarrow")
        parquet: Any = import_module("pyarrow.parquet")
    except ImportError as exc:
        raise UnreadableFileError(
            f"{name} is a Parquet file; install pyarrow to read it (pip install 'foldnote[parquet]')."
        ) from exc
    try:
        stored = parquet.ParquetFile(io.BytesIO(data))
        cells = stored.metadata.num_rows * max(1, stored.metadata.num_columns)
        if cells > _MOST_CELLS:
            raise UnreadableFileError(
                f"{name} has {stored.metadata.num_rows:,} rows, more than are read at once; read it in parts "
                "with pyarrow."
            )
        frame: pd.DataFrame = stored.read().to_pandas()
    except (arrow.ArrowException, OSError, ValueError, KeyError, MemoryError) as exc:
        raise UnreadableFileError(f"{name} is no readable Parquet file: {explain(exc)}.") from exc
    return frame


def _read_lines(data: bytes, name: str) -> pd.DataFrame:
    """JSON lines: one object a line; objects inside become columns ``outer.inner``."""
    records = []
    for place, line in enumerate(data.splitlines(), 1):
        if line.strip():
            record = read_json(line, f"Line {place} of {name}")
            if not isinstance(record, Mapping):
                raise UnreadableFileError(f"Line {place} of {name} is no JSON object.")
            records.append(record)
    try:
        return pd.json_normalize(records)  # type: ignore[arg-type]
    except (ValueError, TypeError, RecursionError, AttributeError, NotImplementedError) as exc:
        raise UnreadableFileError(f"{name} cannot be read as a table: {explain(exc)}.") from exc


def is_list(head: bytes | None) -> bool:
    """Whether a JSON file that begins with these bytes holds a list."""
    return head is not None and (head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"[" or head[:2] == b"\x1f\x8b")


def read_json(data: bytes, name: str) -> Any:
    """The content of a JSON file; NaN and infinities are accepted, as programs write them.

    Raises:
        UnreadableFileError: it is not JSON, nested absurdly deep, or takes far more memory than bytes.
    """
    if data.count(b",") > _MOST_VALUES or data.count(b"[") + data.count(b"{") > _MOST_CONTAINERS:
        raise UnreadableFileError(f"{name} holds more values than are read at once; read it in parts.")
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as exc:
        raise UnreadableFileError(f"{name} is not readable JSON: {explain(exc)}.") from exc


def find_table(content: object) -> pd.DataFrame | None:
    """A list of records as a frame (a row is a record), or None when ``content`` is something else.

    Of several records, objects inside become columns ``outer.inner``, and lists of single values stay lists.
    """
    if not isinstance(content, list) or not content:
        return None
    if not all(isinstance(row, Mapping) and row for row in content):
        return None
    if all(_is_scalar(value) for row in content for value in row.values()):
        return pd.DataFrame.from_records(content)
    if len(content) == 1 or not all(_is_cell(value) for row in content for value in row.values()):
        return None
    return pd.json_normalize(content)


def find_figures(content: object) -> dict[str, Scalar]:
    """The scalar values of a JSON object, in its order; empty when it is something else.

    Numbers that are not finite are given as None: they say that there is no value.
    """
    if not isinstance(content, Mapping):
        return {}
    return {str(key): _clean(value) for key, value in content.items() if _is_scalar(value)}


def _is_scalar(value: object) -> bool:
    return value is None or isinstance(value, str | int | float | bool)


def _is_cell(value: object, depth: int = 0) -> bool:
    """Whether a value has a place in a table: a single one, a short list of such, or an object of cells."""
    if isinstance(value, Mapping):
        return depth < _DEEPEST and all(_is_cell(inner, depth + 1) for inner in value.values())
    if isinstance(value, list):
        return len(value) <= _LONGEST_LIST and all(map(_is_scalar, value))
    return _is_scalar(value)


def _clean(value: Any) -> Scalar:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    scalar: Scalar = value
    return scalar
