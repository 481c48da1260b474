"""Write a DataFrame as JSON and restore it exactly: names, order, dtypes, index and missing values."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import pandas as pd

from foldnote.errors import UnreadableFileError

_DTYPES = re.compile(
    r"str|string|object|bool|boolean|category|u?int(8|16|32|64)|U?Int(8|16|32|64)|[fF]loat(32|64)"
    r"|(datetime64|timedelta64)\[(s|ms|us|ns)(, [A-Za-z0-9_+:/-]{1,40})?\]"
)
"""The dtypes that are restored; others, whose size a file could choose, become ``object``."""


def write_frame(frame: pd.DataFrame) -> dict[str, Any]:
    """Return a table as JSON data: columns with their dtypes, and the index unless it counts from 0.

    An index of several levels is dropped.
    """
    index = frame.index
    is_plain = index.nlevels > 1 or isinstance(index, pd.RangeIndex)
    return {
        "index": None if is_plain else _write_column(index.name, index.to_series()),
        "columns": [
            _write_column(name, frame.iloc[:, position]) for position, name in enumerate(frame.columns)
        ],
        "rows": len(frame),
    }


def _write_column(name: Any, values: pd.Series[Any]) -> dict[str, Any]:
    column: dict[str, Any] = {"name": None if name is None else str(name), "dtype": str(values.dtype)}
    if isinstance(values.dtype, pd.CategoricalDtype):
        column["categories"] = [_write_value(value) for value in values.dtype.categories]
        column["ordered"] = values.dtype.ordered
    return column | {"values": [_write_value(value) for value in values]}


def _write_value(value: Any) -> Any:
    """Return a cell as JSON: times in ISO 8601; an unknown object as its text."""
    if value is pd.NaT or value is pd.NA:
        return None
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Mapping | list | tuple | str | int | float | bool) or value is None:
        return json.loads(json.dumps(value, default=str))
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def read_frame(content: Any, name: str) -> pd.DataFrame:
    """Return the table that :func:`write_frame` wrote.

    Args:
        content: the JSON data.
        name: name of the file, for messages.

    Raises:
        UnreadableFileError: it is not such a table.
    """
    try:
        size = int(content["rows"])
        columns = [(column["name"], _read_column(column, size)) for column in content["columns"]]
        index = None if content["index"] is None else _read_column(content["index"], size)
        frame = pd.DataFrame(dict(enumerate(values for _, values in columns)), index=range(size))
        frame.columns = pd.Index([str(title) for title, _ in columns], dtype="str")
        if index is not None:
            frame.index = pd.Index(index, name=content["index"]["name"])
    except (KeyError, TypeError, ValueError, OverflowError) as exc:
        raise UnreadableFileError(f"The table in {name} is damaged: {exc}.") from exc
    return frame


def _read_column(column: Any, size: int) -> pd.Series[Any]:
    values, dtype = column["values"], str(column["dtype"])
    if not isinstance(values, list) or len(values) != size:
        raise ValueError(f"a column does not have {size} values")
    if not _DTYPES.fullmatch(dtype):
        dtype = "object"
    if dtype == "category":
        kind = pd.CategoricalDtype(column["categories"], ordered=column["ordered"] is True)
        return pd.Series(values, dtype=kind)
    return pd.Series(values, dtype=dtype)
