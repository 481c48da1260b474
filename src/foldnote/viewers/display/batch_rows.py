"""The table of a batch: one row per job with its state, its figures, and its result on request.

The rows are made from the archive of a batch that has ended, or from the records of its jobs while it runs;
both give the same table.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from foldnote.errors import UnreadableFileError
from foldnote.models import Job
from foldnote.models.status import FAILED, NOT_RUN, JobStatus, is_behind
from foldnote.results import Result
from foldnote.results.batch import find_batch_table, read_figures
from foldnote.settings import active_profile
from foldnote.text import count
from foldnote.viewers.tables.molecule_column import find_molecule_column
from foldnote.viewers.tables.table import RowResults

NAME, STATE, REASON = "name", "state", "reason"
"""Columns of the job's name, its state in words, and the reason of its failure."""
_STOPPED = "Stopped"
_STATES = ("Running", "In Queue", "Complete", FAILED, _STOPPED, NOT_RUN, "Deleted")
_MAX_SHARED = 200
"""Maximum length in characters of a setting that is shown although all rows share it."""
_STATE_WORDS = {"In Queue": "queued"}


@dataclass(frozen=True)
class BatchRow:
    """One job of a batch.

    Attributes:
        name: the job's name.
        state: its state in words; ``Failed`` for a failed run, ``Not run`` for a stage after a failed one.
        reason: why it failed, was stopped or did not run; empty otherwise.
        retries: number of times it was run again because its tool failed.
        inputs: the user's columns that are not settings, such as an identifier.
        figures: figures from the files of its result, by heading.
        scores: the metrics of its result, by name.
        settings: its settings, by name.
    """

    name: str
    state: str
    reason: str = ""
    retries: int = 0
    inputs: Mapping[str, Any] = field(default_factory=dict)
    figures: Mapping[str, Any] = field(default_factory=dict)
    scores: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)


def read_rows(result: Result) -> list[BatchRow]:
    """Return the rows of a batch's archive, in the order of its table, else of its folders."""
    records = _read_table(result)
    if records is None:
        return [
            BatchRow(
                job,
                JobStatus.COMPLETE,
                figures=read_figures(result_of_job),
                scores=_find_scores(result_of_job),
            )
            for job, result_of_job in result.jobs.items()
        ]
    return [_read_table_row(record, result.jobs) for record in records]


def read_states(result: Result) -> list[str]:
    """Return the states of these rows in words, without the results of their jobs."""
    records = _read_table(result)
    if records is None:
        return [JobStatus.COMPLETE] * len(result.jobs)
    return [_read_state(record, result.jobs) for record in records]


def _read_table(result: Result) -> list[dict[Any, Any]] | None:
    """Return the rows of the service's table; None without one."""
    name = find_batch_table(result.tables)
    try:
        table = None if name is None else result.tables.get(name)
    except UnreadableFileError:
        table = None
    if table is None or "jobName" not in table.columns:
        return None
    return table.astype(object).where(table.notna(), None).to_dict("records")


def _read_state(row: Mapping[Any, Any], jobs: Mapping[str, Result]) -> str:
    """Return the state of a row of the table; a failed run has the status ``Stopped`` and an error there."""
    reason = str(row.get("error") or "")
    state = str(row.get("status") or (JobStatus.COMPLETE if str(row["jobName"]) in jobs else _STOPPED))
    if state == _STOPPED and reason:
        return NOT_RUN if is_behind(reason) else FAILED
    return state


def _read_table_row(row: Mapping[Any, Any], jobs: Mapping[str, Result]) -> BatchRow:
    job, reason = str(row["jobName"]), str(row.get("error") or "")
    return BatchRow(
        name=job,
        state=_read_state(row, jobs),
        reason=reason or str(row.get("message") or ""),
        retries=int(row.get("retries") or 0),
        figures=read_figures(jobs[job]) if job in jobs else {},
        scores=_select_prefix(row, "score."),
        settings=_read_settings(_select_prefix(row, "settings.")),
    )


def _find_scores(result: Result) -> Mapping[str, Any]:
    try:
        return result.scores
    except UnreadableFileError:
        return {}


def _select_prefix(row: Mapping[Any, Any], prefix: str) -> dict[str, Any]:
    by_name = {str(name): value for name, value in row.items()}
    return {name[len(prefix) :]: value for name, value in by_name.items() if name.startswith(prefix)}


def make_row(name: str, job: Job | None, inputs: Mapping[str, Any]) -> BatchRow:
    """Return the row of a job from its record.

    Args:
        name: the job's name.
        job: its record; None if it was deleted.
        inputs: the user's own columns of its row.
    """
    if job is None:
        return BatchRow(name, "Deleted", inputs=inputs)
    labelled = {"label": job.label} if job.label else {}
    scores = {key: value for key, value in (job.score or {}).items() if _is_plain(value)}
    settings = _read_settings(job.settings)
    reused = {"reused from": job.reused_from} if job.reused_from else {}
    own = {**labelled, **inputs, **reused}
    return BatchRow(name, job.word, job.reason, job.retries or 0, own, {}, scores, settings)


def _read_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that fit into a cell: numbers and texts, also the only text of a list.

    The text of a file with one line, such as the SMILES of a ligand, loses its line end.
    """
    values = {key: _read_setting(value) for key, value in settings.items()}
    return {key: value for key, value in values.items() if _is_plain(value)}


def _read_setting(value: Any) -> Any:
    """Return a setting from a record, or from text in the table of an archive, where lists are JSON."""
    if isinstance(value, str):
        if not (value.startswith('["') and value.endswith('"]')):
            return value.rstrip("\r\n")
        with suppress(ValueError):
            listed = json.loads(value)
            return listed[0] if len(listed) == 1 else value
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, str | int | float)


def tabulate_rows(rows: Sequence[BatchRow]) -> pd.DataFrame:
    """Tabulate the rows of a batch, in their order.

    Returns:
        One row per job: ``name``, ``state`` (str), ``reason`` (str; only if a job failed or was stopped), the
        column of molecules if there is one, ``retries`` (int; only if a job was run again), the user's own
        columns (``input.NAME`` if another column has this name), the figures by heading, ``score.NAME`` and
        ``settings.NAME``; missing where a job has none. A score that repeats the setting of its name is left
        out. Settings that all rows share are left out if there is only one row, or if they are long texts.
    """
    columns: dict[str, Any] = {NAME: [row.name for row in rows], STATE: [row.state for row in rows]}
    if any(row.reason for row in rows):
        columns[REASON] = [row.reason or None for row in rows]
    if any(row.retries for row in rows):
        columns["retries"] = [row.retries for row in rows]
    figures = dict(_collect([row.figures for row in rows]))
    used = {NAME, STATE, REASON, "retries", *figures}
    for name, values in _collect([row.inputs for row in rows]):
        if values != columns[NAME]:
            columns[f"input.{name}" if name in used else name] = values
    columns |= {name: figures[name] for name in sorted(figures, key=lambda name: name.startswith("CDR"))}
    settings = {
        name: values
        for name, values in _collect([row.settings for row in rows])
        if len({str(value) for value in values}) > 1 or (len(rows) > 1 and _is_short(values[0]))
    }
    scores = dict(_collect([row.scores for row in rows]))
    columns |= {
        f"score.{name}": values
        for name, values in scores.items()
        if name not in settings or not _repeats(values, settings[name])
    }
    columns |= {f"settings.{name}": values for name, values in settings.items()}
    frame = pd.DataFrame(columns)
    return _bring_molecules_forward(frame.dropna(axis="columns", how="all")) if len(frame) else frame


def _repeats(scores: Sequence[Any], settings: Sequence[Any]) -> bool:
    """Return whether every job's value of this score equals its setting, while the settings differ.

    If all rows share them, the table itself omits one of the two above its rows.
    """
    pairs = zip(scores, settings, strict=True)
    return len({str(value) for value in settings}) > 1 and all(a is None or a == b for a, b in pairs)


def _is_short(value: object) -> bool:
    """Return whether a setting fits into a line, unlike the contents of a file."""
    return not isinstance(value, str) or (len(value) <= _MAX_SHARED and "\n" not in value)


def _bring_molecules_forward(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the column of molecules, if there is one, after those of job, state and reason."""
    molecules = find_molecule_column(frame)
    first = [name for name in (NAME, STATE, REASON, molecules) if name in frame]
    return frame[[*first, *(name for name in frame if name not in first)]]


def _collect(parts: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, list[Any]]]:
    for name in dict.fromkeys(name for part in parts for name in part):
        yield str(name), [part.get(name) for part in parts]


def count_states(states: Sequence[str]) -> str:
    """Count the jobs in each state, such as ``8 jobs: 7 complete, 1 failed``."""
    counts = [(state, states.count(state)) for state in _STATES]
    parts = [f"{number:,} {_STATE_WORDS.get(state, state.lower())}" for state, number in counts if number]
    return f"{count(len(states), 'job')}{': ' if parts else ''}{', '.join(parts)}"


def describe_opening(key: str, profile: str, saved: Mapping[str, str] | None = None) -> RowResults:
    """Describe what the rows of a batch's table open; see :class:`RowResults`."""
    is_named = bool(profile) and profile != active_profile().name
    return RowResults(key, NAME, STATE, REASON, profile, is_named, saved or {})
