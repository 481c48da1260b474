"""Tables and flat figures from CSV, TSV and JSON.

A JSON file is a table when it is a list of flat records, and figures when it is an object with some scalar
values; anything else stays a file. Values are never guessed: what a cell says is what the frame holds.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from foldnote.errors import UnreadableFileError

Scalar = str | int | float | bool | None


def read_delimited(data: bytes, name: str) -> pd.DataFrame:
    """A CSV or TSV file as a frame; dtypes by pandas, a first line of column names expected.

    Returns:
        The file's columns; a row is a line.

    Raises:
        UnreadableFileError: it is not such a table.
    """
    separator = "\t" if name.lower().removesuffix(".gz").endswith(".tsv") else ","
    try:
        return pd.read_csv(io.BytesIO(data), sep=separator, low_memory=False)
    except (ValueError, csv.Error, OverflowError, MemoryError) as exc:
        raise UnreadableFileError(f"{name} cannot be read as a table: {exc}.") from exc


def read_json(data: bytes, name: str) -> Any:
    """The content of a JSON file; NaN and infinities are accepted, as programs write them.

    Raises:
        UnreadableFileError: it is not JSON, or nested absurdly deep.
    """
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as exc:
        raise UnreadableFileError(f"{name} is not readable JSON: {exc}.") from exc


def find_table(content: object) -> pd.DataFrame | None:
    """A list of flat records as a frame (a row is a record), or None when ``content`` is something else."""
    if not isinstance(content, list) or not content:
        return None
    if not all(isinstance(row, Mapping) and row and all(map(_is_scalar, row.values())) for row in content):
        return None
    return pd.DataFrame.from_records(content)


def find_figures(content: object) -> dict[str, Scalar]:
    """The scalar values of a JSON object, in its order; empty when it is something else.

    Numbers that are not finite are given as None: they say that there is no value.
    """
    if not isinstance(content, Mapping):
        return {}
    return {str(key): _clean(value) for key, value in content.items() if _is_scalar(value)}


def _is_scalar(value: object) -> bool:
    return value is None or isinstance(value, str | int | float | bool)


def _clean(value: Any) -> Scalar:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    scalar: Scalar = value
    return scalar
