"""Ranking rows by a metric, and many results as one table beside the settings that made them."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from foldnote.errors import ArgumentError
from foldnote.results.metrics.registry import find_metric
from foldnote.results.result import Result

Settings = Mapping[str, Mapping[str, object]]


def rank_table(
    frame: pd.DataFrame, by: str, *, higher_is_better: bool | None = None, within: str | None = None
) -> pd.DataFrame:
    """The rows of a table from the best by one of its columns.

    Args:
        frame: any table.
        by: the column.
        higher_is_better: the direction; by default that of the known metric of this name.
        within: a column; rows are ranked within each of its values.

    Returns:
        A copy, sorted, with ``rank`` in front (Int64, 1 for the best, equal values share the better rank,
        missing where the value is); rows without a value stand last. A ``rank`` that was there is
        ``rank_before``.

    Raises:
        ArgumentError: there is no such column, it holds no numbers, or nothing tells the direction.
    """
    for column in filter(None, (by, within)):
        if column not in frame.columns:
            raise ArgumentError(
                f"The table has no column {column!r}; it has {', '.join(map(str, frame.columns))}."
            )
    values = pd.to_numeric(frame[by], errors="coerce")
    if values.notna().sum() == 0:
        raise ArgumentError(f"The column {by!r} holds no numbers to rank by.")
    metric = find_metric(by)
    direction = metric.higher_is_better if higher_is_better is None and metric else higher_is_better
    if direction is None:
        raise ArgumentError(
            f"Whether a higher {by!r} is better is not known; pass higher_is_better=True or False."
        )
    grouped = values if within is None else values.groupby(frame[within])
    ranks = grouped.rank(method="min", ascending=not direction).astype("Int64")
    renamed = frame.rename(columns={"rank": "rank_before"})
    renamed.insert(0, "rank", ranks)
    keys = [key for key in (within, "rank") if key]
    return renamed.sort_values(keys, kind="stable", na_position="last")


def merge_results(
    results: Mapping[str, Result], settings: Settings | pd.DataFrame | None = None
) -> pd.DataFrame:
    """The models or poses of many jobs in one table, beside the settings of each job.

    Args:
        results: results by job name.
        settings: settings by job name, or a table with job names as its index.

    Returns:
        One row a model, or a pose for a job with poses, or a single row for a job with neither: ``job`` str,
        one column a setting, then the columns of :attr:`Result.model_table` or of :attr:`Result.pose_table`,
        or the figures of :attr:`Result.scores`. A setting named like a column is ``setting_`` and its
        name. Values that are lists or objects stay what they are.
    """
    if isinstance(settings, pd.DataFrame):
        given: Settings = {
            str(job): {str(key): value for key, value in row.items()}
            for job, row in settings.to_dict("index").items()
        }
    else:
        given = settings or {}
    parts = []
    for job, result in results.items():
        rows = _read_rows(result)
        used = dict(given.get(job, {}))
        front = pd.DataFrame([used] * len(rows), index=rows.index)
        taken = {"job", *map(str, rows.columns)}
        front = front.rename(columns={name: f"setting_{name}" for name in front.columns if name in taken})
        front.insert(0, "job", job)
        parts.append(pd.concat([front, rows], axis=1))
    if not parts:
        return pd.DataFrame({"job": pd.Series(dtype="str")})
    return pd.concat(parts, ignore_index=True)


def _read_rows(result: Result) -> pd.DataFrame:
    if result.poses:
        return result.pose_table
    if result.models:
        table = result.model_table
        missing = {name: value for name, value in result.scores.items() if name not in table.columns}
        return table.assign(**missing) if len(table) == 1 else table
    return pd.DataFrame([dict(result.scores)])
