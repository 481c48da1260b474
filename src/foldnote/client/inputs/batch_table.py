"""Expand a table and parameter sweeps into the settings of a batch, without validating or sending them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING, Any

from foldnote.client.inputs.plain_values import make_plain, read_frame
from foldnote.errors import ArgumentError

if TYPE_CHECKING:
    import pandas as pd

    Table = pd.DataFrame | Iterable[Mapping[str, Any]]


@dataclass(frozen=True)
class Rows:
    """The rows of a batch.

    Attributes:
        settings: the settings of each subjob.
        names: the name of each subjob; None when the table has none.
        inputs: the table's and the sweep's values of each subjob, by column.
        index: the table's index if each of its rows is one subjob; None otherwise.
        dtypes: dtypes of the table's columns, by name.
        kept: columns of ``inputs`` that feed no setting; they stay on this computer.
    """

    settings: list[dict[str, Any]]
    names: list[str] | None
    inputs: list[dict[str, Any]]
    index: pd.Index[Any] | None = None
    dtypes: Mapping[str, Any] = field(default_factory=dict)
    kept: tuple[str, ...] = ()


def expand_rows(
    table: Table,
    columns: Mapping[str, str] | None = None,
    sweep: Mapping[str, Sequence[Any]] | None = None,
    shared: Mapping[str, Any] | None = None,
    names: str | None = None,
) -> Rows:
    """Make one row of settings for each row of the table and each combination of the sweep, in that order.

    A missing cell (None or NaN) leaves the setting out.

    Args:
        table: a DataFrame, or mappings.
        columns: the column of each setting; by default each column is the setting of the same name.
        sweep: lists of values by setting; each row is repeated for every combination of them.
        shared: settings of every row.
        names: the column with the names of the subjobs; a sweep appends ``-1``, ``-2`` ….

    Raises:
        ArgumentError: a column is missing, a setting is given twice, a sweep repeats a value, or there are no
            rows.
    """
    table = read_frame(table)
    records = _records(table)
    sweep, shared = _read_sweep(sweep or {}), make_plain(shared or {})
    chosen = dict(columns) if columns is not None else _every_column(records, names)
    _check(records, chosen, sweep, shared, names)
    combinations = [dict(zip(sweep, values, strict=True)) for values in product(*sweep.values())]
    if not records or not combinations:
        raise ArgumentError(
            "The batch has no rows: the table is empty, or a setting of the sweep has no values."
        )
    rows = [
        dict(shared) | _cells(record, chosen) | combination
        for record in records
        for combination in combinations
    ]
    inputs = [record | combination for record in records for combination in combinations]
    job_names = None if names is None else _name_rows(records, names, len(combinations))
    is_frame = hasattr(table, "dtypes")  # a list also has an ``index``, a method
    index = getattr(table, "index", None) if is_frame and len(combinations) == 1 else None
    dtypes = {name: kind for name, kind in read_dtypes(table).items() if name not in sweep}
    fed = {*chosen.values(), *sweep}
    kept = dict.fromkeys(name for record in records for name in record if name not in fed)
    return Rows(rows, job_names, inputs, index, dtypes, tuple(kept))


def as_rows(rows: Sequence[Mapping[str, Any]] | Rows, names: Sequence[str] | None = None) -> Rows:
    """Convert mappings to ``Rows``; ``names`` override those of the table."""
    if isinstance(rows, Rows):
        return rows if names is None else replace(rows, names=list(names))
    settings = [dict(row) for row in rows]
    return Rows(settings, None if names is None else list(names), settings)


def read_dtypes(table: Any) -> dict[str, Any]:
    """Return the dtype of each column of a DataFrame; empty for mappings."""
    dtypes = getattr(table, "dtypes", None)
    return {} if dtypes is None else {str(name): kind for name, kind in dtypes.items()}


def _records(table: Any) -> list[dict[str, Any]]:
    """Return the rows of a table.

    Raises:
        ArgumentError: it is not a table, or two columns have the same name.
    """
    if hasattr(table, "to_dict") and hasattr(table, "columns"):
        _check_heads([str(name) for name in table.columns])
        return [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]
    is_list = isinstance(table, Iterable) and not isinstance(table, str | bytes | Mapping)
    records = list(table) if is_list else [table]
    wrong = [row for row in records if not isinstance(row, Mapping)] if is_list else records
    if wrong:
        what = "a row of this" if is_list else "this"
        raise ArgumentError(
            "A batch needs a table: a DataFrame, or a list with one dict of settings per job, such as"
            f' [{{"sequence": "EVQL…"}}]; {what} is a {type(wrong[0]).__name__}.'
        )
    return [dict(row) for row in records]


def _check_heads(heads: Sequence[str]) -> None:
    name, number = Counter(heads).most_common(1)[0] if heads else ("", 0)
    if number > 1:
        raise ArgumentError(f"The table has {number} columns named {name!r}. Rename all but one of them.")


def _every_column(records: list[dict[str, Any]], names: str | None) -> dict[str, str]:
    return {name: name for record in records for name in record if name != names}


def _check(
    records: list[dict[str, Any]],
    columns: Mapping[str, str],
    sweep: Mapping[str, Sequence[Any]],
    shared: Mapping[str, Any],
    names: str | None,
) -> None:
    known = dict.fromkeys(name for record in records for name in record)
    for column in (*columns.values(), *([names] if names is not None else [])):
        if records and column not in known:
            raise ArgumentError(f"The table has no column {column!r}. It has: {', '.join(known)}.")
    given = [*columns, *sweep, *shared]
    for setting in dict.fromkeys(given):
        if given.count(setting) > 1:
            raise ArgumentError(
                f"The setting {setting!r} is given twice: by a column, the sweep or for all rows."
            )


def _read_sweep(sweep: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return the values of each setting of a sweep: a list, range, array or column."""
    found = {setting: make_plain(values) for setting, values in sweep.items()}
    for setting, values in found.items():
        if isinstance(values, str) or not isinstance(values, Sequence):
            what = repr(values) if isinstance(values, str | int | float) else type(values).__name__
            raise ArgumentError(f"The sweep of {setting!r} should be a list of values, not {what:.80}.")
        check_repeats(setting, values)
    return {setting: list(values) for setting, values in found.items()}


def check_repeats(setting: str, values: Sequence[Any]) -> None:
    """Refuse a sweep whose values are not all different: equal jobs would run twice.

    Raises:
        ArgumentError: a value occurs more than once.
    """
    for value, number in Counter(json.dumps(each, sort_keys=True, default=str) for each in values).items():
        if number > 1:
            times = "twice" if number == 2 else f"{number} times"
            raise ArgumentError(
                f"The sweep of {setting!r} has the value {value:.80} {times}. Give each value once."
            )


def _cells(record: Mapping[str, Any], columns: Mapping[str, str]) -> dict[str, Any]:
    cells = {setting: _plain(record.get(column)) for setting, column in columns.items()}
    return {setting: value for setting, value in cells.items() if value is not None}


def _plain(value: Any) -> Any:
    """Convert a cell to a JSON value; None if it is missing."""
    value = make_plain(value)
    if type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value):
        return None
    return value


def _name_rows(records: list[dict[str, Any]], column: str, repeats: int) -> list[str]:
    """Return the names of the subjobs: the cells of a column, numbered if a sweep repeats each row."""
    cells = [_plain(record.get(column)) for record in records]
    if None in cells:
        raise ArgumentError(
            f"Row {cells.index(None) + 1} has no name: its cell in column {column!r} is empty."
        )
    stems = [str(name) for name in cells]
    if repeats == 1:
        return stems
    return [f"{stem}-{number}" for stem in stems for number in range(1, repeats + 1)]
