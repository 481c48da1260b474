"""Rank the rows of a table by a metric, and combine many results with their settings in one table."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count

import pandas as pd

from foldnote.errors import ArgumentError
from foldnote.results.metrics.registry import find_metric
from foldnote.results.result import Result

Settings = Mapping[str, Mapping[str, object]]


def rank_table(
    frame: pd.DataFrame, by: str, *, higher_is_better: bool | None = None, within: str | None = None
) -> pd.DataFrame:
    """Sort a table by one of its columns, the best row first.

    Args:
        frame: any table.
        by: the column.
        higher_is_better: the direction; by default that of the known metric of this name.
        within: a column by whose values the rows are grouped; each group is ranked separately.

    Returns:
        A sorted copy with ``rank`` as first column (Int64, 1 for the best; equal values share the better
        rank; missing for rows without a value, which come last). An existing column ``rank`` is renamed
        ``rank_before``, or ``rank_before_2`` and so on if that exists.

    Raises:
        ArgumentError: there is no such column, it has no numbers, or the direction is unknown.
    """
    for column in filter(None, (by, within)):
        if column not in frame.columns:
            raise ArgumentError(
                f"The table has no column {column!r}; it has {', '.join(map(str, frame.columns))}."
            )
    values = pd.to_numeric(frame[by], errors="coerce")
    if values.notna().sum() == 0:
        raise ArgumentError(f"The column {by!r} has no numbers to rank by.")
    metric = find_metric(by)
    direction = metric.higher_is_better if higher_is_better is None and metric else higher_is_better
    if direction is None:
        raise ArgumentError(
            f"It is not known whether a higher {by!r} is better; pass higher_is_better=True or False."
        )
    grouped = values if within is None else values.groupby(frame[within])
    ranks = grouped.rank(method="min", ascending=not direction).astype("Int64")
    renamed_rank = _find_free_name("rank_before", frame)
    renamed = frame.rename(columns={"rank": renamed_rank})
    renamed.insert(0, "rank", ranks)
    keys = [*([renamed_rank if within == "rank" else within] if within else []), "rank"]
    return renamed.sort_values(keys, kind="stable", na_position="last")


def merge_results(
    results: Mapping[str, Result], settings: Settings | pd.DataFrame | None = None
) -> pd.DataFrame:
    """Combine the models or poses of many jobs in one table, with the settings of each job.

    Args:
        results: results by job name.
        settings: settings by job name, or a table with job names as its index.

    Returns:
        One row per pose for a job with poses, else per model, else a single row: ``job`` str, one column per
        setting, then the columns of :attr:`Result.pose_table` or :attr:`Result.model_table`, or the scores of
        :attr:`Result.scores`. A setting with the name of another column gets the prefix ``setting_``. Lists
        and objects are kept as values.
    """
    if isinstance(settings, pd.DataFrame):
        settings_by_job: Settings = {
            str(job): {str(key): value for key, value in row.items()}
            for job, row in settings.to_dict("index").items()
        }
    else:
        settings_by_job = settings or {}
    parts = []
    for job, result in results.items():
        rows = _read_rows(result)
        used = dict(settings_by_job.get(job, {}))
        front = pd.DataFrame([used] * len(rows), index=rows.index)
        used_names = {"job", *map(str, rows.columns)}
        front = front.rename(
            columns={name: f"setting_{name}" for name in front.columns if name in used_names}
        )
        front.insert(0, "job", job)
        parts.append(pd.concat([front, rows], axis=1))
    if not parts:
        return pd.DataFrame({"job": pd.Series(dtype="str")})
    return pd.concat(parts, ignore_index=True)


def _find_free_name(name: str, frame: pd.DataFrame) -> str:
    """Return ``name``, or ``name_2`` and so on if the table has such a column."""
    names = (name if number == 1 else f"{name}_{number}" for number in count(1))
    return next(each for each in names if each not in frame.columns)


def _read_rows(result: Result) -> pd.DataFrame:
    if result.poses:
        return result.pose_table
    if result.models:
        table = result.model_table
        missing = {name: value for name, value in result.scores.items() if name not in table.columns}
        return table.assign(**missing) if len(table) == 1 else table
    return pd.DataFrame([dict(result.scores)])
