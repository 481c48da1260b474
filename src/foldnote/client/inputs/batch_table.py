"""From a table and its sweeps to the settings of a batch, row by row; nothing is judged or sent here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING, Any

from foldnote.errors import ArgumentError

if TYPE_CHECKING:
    import pandas as pd

    Table = pd.DataFrame | Iterable[Mapping[str, Any]]


@dataclass(frozen=True)
class Rows:
    """The rows of a batch.

    Attributes:
        settings: the settings of each subjob.
        names: the name of each subjob; None when the table gives none.
        inputs: what the table and the sweep say of each subjob, under their own names.
        index: the table's index, where every row of it is one subjob; None otherwise.
        dtypes: those of the table's columns, by name.
    """

    settings: list[dict[str, Any]]
    names: list[str] | None
    inputs: list[dict[str, Any]]
    index: pd.Index[Any] | None = None
    dtypes: Mapping[str, Any] = field(default_factory=dict)


def expand_rows(
    table: Table,
    columns: Mapping[str, str] | None = None,
    sweep: Mapping[str, Sequence[Any]] | None = None,
    shared: Mapping[str, Any] | None = None,
    names: str | None = None,
) -> Rows:
    """One row of settings for each row of the table and each combination of the sweep, in that order.

    A missing cell (None or NaN) leaves the setting out.

    Args:
        table: a DataFrame, or mappings.
        columns: the column of each setting; by default every column is the setting of its name.
        sweep: values of a setting, each of which every row gets once; several settings are combined.
        shared: settings of every row.
        names: the column with the names of the subjobs; in a sweep they get ``-1``, ``-2`` … behind.

    Raises:
        ArgumentError: there is no such column, a setting is given twice, or there is no row.
    """
    records = _records(table)
    chosen = dict(columns) if columns is not None else _every_column(records, names)
    _check(records, chosen, sweep or {}, shared or {}, names)
    combinations = [
        dict(zip(sweep or {}, values, strict=True)) for values in product(*(sweep or {}).values())
    ]
    if not records or not combinations:
        raise ArgumentError(
            "The batch has no rows: the table is empty, or a setting of the sweep has no values."
        )
    rows = [
        dict(shared or {}) | _cells(record, chosen) | combination
        for record in records
        for combination in combinations
    ]
    inputs = [record | combination for record in records for combination in combinations]
    wished = None if names is None else _name(records, names, len(combinations))
    is_frame = hasattr(table, "dtypes")  # a list has an index, too, which is a method
    index = getattr(table, "index", None) if is_frame and len(combinations) == 1 else None
    dtypes = {name: kind for name, kind in read_dtypes(table).items() if name not in (sweep or {})}
    return Rows(rows, wished, inputs, index, dtypes)


def as_rows(rows: Sequence[Mapping[str, Any]] | Rows, names: Sequence[str] | None = None) -> Rows:
    """Rows of settings as ``expand_rows`` gives them; ``names`` win over those of the table."""
    if isinstance(rows, Rows):
        return rows if names is None else replace(rows, names=list(names))
    settings = [dict(row) for row in rows]
    return Rows(settings, None if names is None else list(names), settings)


def read_dtypes(table: Any) -> dict[str, Any]:
    """The dtype of each column of a DataFrame; empty for mappings."""
    dtypes = getattr(table, "dtypes", None)
    return {} if dtypes is None else {str(name): kind for name, kind in dtypes.items()}


def _records(table: Any) -> list[dict[str, Any]]:
    """The rows of a table.

    Raises:
        ArgumentError: it is none.
    """
    if hasattr(table, "to_dict") and hasattr(table, "columns"):
        return [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]
    is_list = isinstance(table, Iterable) and not isinstance(table, str | bytes | Mapping)
    records = list(table) if is_list else [table]
    wrong = [row for row in records if not isinstance(row, Mapping)] if is_list else records
    if wrong:
        what = "a row of this" if is_list else "this"
        raise ArgumentError(
            "A batch needs a table: a DataFrame, or a list with a mapping of settings for each job, such as"
            f' [{{"sequence": "EVQL…"}}]; {what} is a {type(wrong[0]).__name__}.'
        )
    return [dict(row) for row in records]


def _every_column(records: list[dict[str, Any]], names: str | None) -> dict[str, str]:
    found = dict.fromkeys(name for record in records for name in record if name != names)
    return {name: name for name in found}


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
    for setting, values in sweep.items():
        if isinstance(values, str) or not isinstance(values, Sequence):
            raise ArgumentError(f"The sweep of {setting!r} should be a list of values, not {values!r}.")


def _cells(record: Mapping[str, Any], columns: Mapping[str, str]) -> dict[str, Any]:
    cells = {setting: _plain(record.get(column)) for setting, column in columns.items()}
    return {setting: value for setting, value in cells.items() if value is not None}


def _plain(value: Any) -> Any:
    """A cell as JSON has it; None for a missing one."""
    if hasattr(value, "tolist"):  # numpy's scalars and arrays
        value = value.tolist()
    if type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value):
        return None
    return value


def _name(records: list[dict[str, Any]], column: str, each: int) -> list[str]:
    given = [_plain(record.get(column)) for record in records]
    if None in given:
        raise ArgumentError(
            f"Row {given.index(None) + 1} has no name: its cell of the column {column!r} is empty."
        )
    stems = [str(name) for name in given]
    if each == 1:
        return stems
    return [f"{stem}-{number}" for stem in stems for number in range(1, each + 1)]
