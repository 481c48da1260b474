"""Tables in all formats but delimited text, and scalar values from JSON.

A JSON file that is a list of records is a table; the scalar values of a JSON object are scores.
"""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import pandas as pd

from foldnote.errors import UnreadableFileError
from foldnote.results.core.messages import explain
from foldnote.results.naming.families import strip_packing
from foldnote.results.tables.delimited import is_json_lines, read_delimited

_MAX_CELLS = 100_000_000
"""Largest number of cells read from a Parquet file, whose header may declare any number."""
_MAX_VALUES = 50_000_000
"""Maximum number of values in a JSON file, about 32 bytes of memory each; a PAE matrix of 7,000 tokens has
as many."""
_MAX_CONTAINERS = 5_000_000
"""Maximum number of lists and objects in a JSON file; an empty one takes 2 bytes there and 64 in memory."""
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_DEEPEST, _MAX_LIST_LENGTH = 5, 1_000
"""Largest depth of objects and length of lists in records that are read as a table."""
Scalar = str | int | float | bool | None


def read_table(data: bytes, name: str) -> pd.DataFrame:
    """Return a table in any supported format, determined by the file's name.

    Returns:
        The file's columns with pandas' dtypes, one row per line or record.

    Raises:
        UnreadableFileError: it is not a valid table, or a package needed to read it is not installed.
    """
    plain = strip_packing(name)
    if plain.endswith((".parquet", ".pqt")):
        return _read_parquet(data, name)
    if plain.endswith((".jsonl", ".ndjson")) or (plain.endswith(".sc") and is_json_lines(data)):
        return _read_lines(data, name)
    if plain.endswith(".json"):
        table = find_table(read_json(data, name))
        if table is None:
            raise UnreadableFileError(f"{name} is not a list of records.")
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
        if cells > _MAX_CELLS:
            raise UnreadableFileError(
                f"{name} has {stored.metadata.num_rows:,} rows, too many to read at once; read it in parts "
                "with pyarrow."
            )
        frame: pd.DataFrame = stored.read().to_pandas()
    except (arrow.ArrowException, OSError, ValueError, KeyError, MemoryError) as exc:
        raise UnreadableFileError(f"{name} is not a readable Parquet file: {explain(exc)}.") from exc
    return frame


def _read_lines(data: bytes, name: str) -> pd.DataFrame:
    """Return the JSON lines, one object per line; nested objects become columns ``outer.inner``."""
    records = []
    for number, line in enumerate(data.splitlines(), 1):
        if line.strip():
            record = read_json(line, f"Line {number} of {name}")
            if not isinstance(record, Mapping):
                raise UnreadableFileError(f"Line {number} of {name} is not a JSON object.")
            records.append(record)
    try:
        return pd.json_normalize(records)  # type: ignore[arg-type]
    except (ValueError, TypeError, RecursionError, AttributeError, NotImplementedError) as exc:
        raise UnreadableFileError(f"{name} cannot be read as a table: {explain(exc)}.") from exc


def is_list(head: bytes | None) -> bool:
    """Return whether a JSON file that begins with these bytes is, or if compressed may be, a list."""
    return head is not None and (head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"[" or head[:2] == b"\x1f\x8b")


def read_json(data: bytes, name: str) -> Any:
    """Return the content of a JSON file; NaN and infinities are accepted.

    Unpaired surrogates, which cannot be encoded in a file or page, become question marks, as at the service.

    Raises:
        UnreadableFileError: it is not valid JSON, is nested too deeply, or has too many values.
    """
    if data.count(b",") > _MAX_VALUES or data.count(b"[") + data.count(b"{") > _MAX_CONTAINERS:
        raise UnreadableFileError(f"{name} has too many values to read at once; read it in parts.")
    try:
        content = json.loads(data)
        if _SURROGATE.search(data):
            content = json.loads(json.dumps(content, ensure_ascii=False).encode("utf-8", "replace"))
        return content
    except (ValueError, RecursionError) as exc:
        raise UnreadableFileError(f"{name} is not readable JSON: {explain(exc)}.") from exc


def find_table(content: object) -> pd.DataFrame | None:
    """Return a list of records as a table with one row per record; None for anything else.

    In several records, nested objects become columns ``outer.inner``; lists of scalars are kept.
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
    """Return the scalar values of a JSON object, in its order; empty for anything else.

    NaN and infinities become None.
    """
    if not isinstance(content, Mapping):
        return {}
    return {str(key): _clean(value) for key, value in content.items() if _is_scalar(value)}


def _is_scalar(value: object) -> bool:
    return value is None or isinstance(value, str | int | float | bool)


def _is_cell(value: object, depth: int = 0) -> bool:
    """Return whether a value can be a table cell: a scalar, short list of scalars, or object of cells."""
    if isinstance(value, Mapping):
        return depth < _DEEPEST and all(_is_cell(inner, depth + 1) for inner in value.values())
    if isinstance(value, list):
        return len(value) <= _MAX_LIST_LENGTH and all(map(_is_scalar, value))
    return _is_scalar(value)


def _clean(value: Any) -> Scalar:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    scalar: Scalar = value
    return scalar
