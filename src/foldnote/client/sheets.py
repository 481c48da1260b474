"""The rows of a batch beside what came out of them, over all tries of it.

A sheet remembers which job stands for which row: at first a job of the batch, after a retry of the failed
rows a job of the newer batch. Nothing is asked or sent here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from foldnote.client.rows import Rows
from foldnote.errors import FoldnoteError
from foldnote.models import Job, JobStatus

if TYPE_CHECKING:
    import pandas as pd

_STEM = 80
_RETRY = re.compile(r"-retry(\d+)$")
_OUTCOMES = ("job_name", "status", "error", "duration_s", "weighted_hours")


@dataclass(frozen=True)
class Sheet:
    """The rows of a batch.

    Attributes:
        batches: names of the batch and of its retries.
        names: the job of each row that counts now.
        settings: the settings of each row.
        inputs: what the user's table says of each row.
        index: the table's own index; None for numbers from 0.
    """

    batches: tuple[str, ...]
    names: tuple[str, ...]
    settings: tuple[Mapping[str, Any], ...]
    inputs: tuple[Mapping[str, Any], ...]
    index: pd.Index[Any] | None = None

    @classmethod
    def of_jobs(cls, batch_name: str, jobs: Sequence[Job]) -> Sheet:
        """The sheet of a batch of which only its jobs are known."""
        settings = tuple(job.settings for job in jobs)
        return cls((batch_name,), tuple(job.job_name for job in jobs), settings, settings)

    @classmethod
    def of_rows(cls, batch_name: str, names: Sequence[str], rows: Rows) -> Sheet:
        """The sheet of a batch that is submitted."""
        return cls((batch_name,), tuple(names), tuple(rows.settings), tuple(rows.inputs), rows.index)

    def with_inputs(self, table: pd.DataFrame) -> Sheet:
        """The same with another table as its inputs.

        Raises:
            FoldnoteError: the table has another number of rows.
        """
        if len(table) != len(self.names):
            raise FoldnoteError(f"The table has {len(table)} rows and the batch {len(self.names)}.")
        records = [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]
        return replace(self, inputs=tuple(records), index=table.index)

    def open_rows(self, jobs: Mapping[str, Job]) -> list[int]:
        """The rows whose job failed, was stopped or is gone."""
        return [
            row
            for row, name in enumerate(self.names)
            if name not in jobs or jobs[name].status is JobStatus.STOPPED
        ]

    def retry(self, rows: Sequence[int]) -> tuple[str, list[str], Sheet]:
        """Name of the batch that tries ``rows`` again, names of its jobs, and the sheet after it."""
        number = 1
        found = _RETRY.search(self.batches[-1])
        if found is not None:
            number = int(found.group(1)) + 1
        name = f"{_RETRY.sub('', self.batches[-1])[:_STEM]}-retry{number}"
        fresh = [f"{_RETRY.sub('', self.names[row])[:_STEM]}-retry{number}" for row in rows]
        names = list(self.names)
        for row, job_name in zip(rows, fresh, strict=True):
            names[row] = job_name
        return name, fresh, replace(self, batches=(*self.batches, name), names=tuple(names))


def join_results(sheet: Sheet, jobs: Mapping[str, Job]) -> pd.DataFrame:
    """The rows with what came out; see ``BatchHandle.results``."""
    import pandas as pd

    records = [jobs.get(name) for name in sheet.names]
    inputs = dict.fromkeys(name for row in sheet.inputs for name in row)
    scores = dict.fromkeys(name for job in records if job for name in job.score or {})
    taken = {*_OUTCOMES, *(f"score.{name}" for name in scores)}
    columns: dict[str, Any] = {
        f"input.{name}" if name in taken else name: [row.get(name) for row in sheet.inputs] for name in inputs
    }
    columns["job_name"] = pd.Series(sheet.names, dtype="str")
    columns["status"] = pd.Series([_state(job) for job in records], dtype="str")
    columns["error"] = pd.Series([job.error if job else None for job in records], dtype="str")
    for name in ("duration_s", "weighted_hours"):
        columns[name] = pd.Series([getattr(job, name) if job else None for job in records], dtype="float64")
    for name in scores:
        columns[f"score.{name}"] = [(job.score or {}).get(name) if job else None for job in records]
    frame = pd.DataFrame(columns)
    return frame.rename_axis("row") if sheet.index is None else frame.set_axis(sheet.index)


def _state(job: Job | None) -> str:
    return "Deleted" if job is None else job.word
