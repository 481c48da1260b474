"""Convert values of numpy, pandas, Polars and Biopython to plain data."""

from __future__ import annotations

from collections.abc import Mapping
from operator import is_
from typing import Any, Final

_COLUMN: Final = ("polars", "Series")
_FRAMES: Final = {("polars", "DataFrame"), ("polars", "LazyFrame")}
_SEQUENCES: Final = {("Bio", "Seq"), ("Bio", "MutableSeq")}
_RECORD: Final = ("Bio", "SeqRecord")


def make_plain(value: Any) -> Any:
    """Convert ``value`` to text, numbers, lists and dicts as far as possible; other objects are kept.

    Plain data is returned as it is, not copied.
    """
    if isinstance(value, Mapping):
        flat = [part for pair in value.items() for part in pair]
        plain = [make_plain(part) for part in flat]
        return value if all(map(is_, plain, flat)) else dict(zip(plain[::2], plain[1::2], strict=True))
    if isinstance(value, list | tuple | range):
        items = [make_plain(item) for item in value]
        return value if isinstance(value, list) and all(map(is_, items, value)) else items
    if hasattr(value, "tolist"):  # numpy's scalars and arrays, pandas columns
        return value.tolist()
    kind = find_kind(value)
    if kind == _COLUMN:
        return value.to_list()
    if kind == _RECORD:
        value, kind = value.seq, ("Bio", "Seq")
    return str(value) if kind in _SEQUENCES else value


def read_frame(table: Any) -> Any:
    """Convert a Polars table to pandas, keeping integers next to missing cells; keep other values."""
    if find_kind(table) not in _FRAMES:
        return table
    import pandas as pd

    read = table.collect() if hasattr(table, "collect") else table
    columns = read.to_dict(as_series=False)
    return pd.DataFrame(
        {name: pd.Series(cells, dtype=object if None in cells else None) for name, cells in columns.items()}
    )


def find_kind(value: Any) -> tuple[str, str]:
    """Return the package and class of a value."""
    return type(value).__module__.partition(".")[0], type(value).__name__
