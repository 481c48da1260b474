"""The rows of a batch beside what came out of them, over all tries of it.

A sheet remembers which job stands for which row: at first a job of the batch, after a retry of the failed
rows a job of the newer batch. Nothing is asked or sent here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from foldnote.client.inputs.batch_table import Rows, read_dtypes
from foldnote.errors import FoldnoteError
from foldnote.models import Job, JobStatus

if TYPE_CHECKING:
    import pandas as pd

_LONGEST_NAME = 100
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
        dtypes: those of the table's columns, by name.
    """

    batches: tuple[str, ...]
    names: tuple[str, ...]
    settings: tuple[Mapping[str, Any], ...]
    inputs: tuple[Mapping[str, Any], ...]
    index: pd.Index[Any] | None = None
    dtypes: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of_jobs(cls, batch_name: str, jobs: Sequence[Job]) -> Sheet:
        """The sheet of a batch of which only its jobs are known."""
        settings = tuple(job.settings for job in jobs)
        return cls((batch_name,), tuple(job.job_name for job in jobs), settings, settings)

    @classmethod
    def of_rows(cls, batch_name: str, names: Sequence[str], rows: Rows) -> Sheet:
        """The sheet of a batch that is submitted."""
        settings, inputs = tuple(rows.settings), tuple(rows.inputs)
        return cls((batch_name,), tuple(names), settings, inputs, rows.index, rows.dtypes)

    @classmethod
    def read(cls, text: str) -> Sheet:
        """The sheet that ``write`` wrote.

        Raises:
            ValueError: it is damaged.
        """
        kept = json.loads(text)
        index = kept["index"]
        return cls(
            tuple(kept["batches"]),
            tuple(kept["names"]),
            tuple(kept["settings"]),
            tuple(kept["inputs"]),
            None if index is None else _read_index(index),
            kept["dtypes"],
        )

    def write(self) -> str:
        """The sheet as text for the ledger; values that JSON cannot hold are written in words."""
        kept = {
            "batches": self.batches,
            "names": self.names,
            "settings": self.settings,
            "inputs": self.inputs,
            "index": _write_index(self.index),
            "dtypes": {name: str(kind) for name, kind in self.dtypes.items()},
        }
        return json.dumps(kept, default=_write_value)

    def covers(self, jobs: Mapping[str, Job]) -> bool:
        """Whether these are the jobs of this sheet, and not those of another batch of the same name."""
        return bool(jobs) and jobs.keys() <= {*self.names}

    def with_inputs(self, table: pd.DataFrame) -> Sheet:
        """The same with another table as its inputs.

        Raises:
            FoldnoteError: the table has another number of rows.
        """
        if len(table) != len(self.names):
            raise FoldnoteError(f"The table has {len(table)} rows and the batch {len(self.names)}.")
        records = [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]
        return replace(self, inputs=tuple(records), index=table.index, dtypes=read_dtypes(table))

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
        name = _rename(self.batches[-1], f"-retry{number}")
        fresh = [_rename(self.names[row], f"-retry{number}", f"-{row + 1}") for row in rows]
        names = list(self.names)
        for row, job_name in zip(rows, fresh, strict=True):
            names[row] = job_name
        return name, fresh, replace(self, batches=(*self.batches, name), names=tuple(names))


def _rename(name: str, ending: str, mark: str = "") -> str:
    """The name of another try; one that has to be cut is told apart by its ``mark``."""
    stem = _RETRY.sub("", name)
    if len(stem) + len(ending) <= _LONGEST_NAME:
        return stem + ending
    return stem[: _LONGEST_NAME - len(mark + ending)] + mark + ending


def _write_value(value: Any) -> Any:
    """What JSON has no word for: numbers and arrays of numpy, times, missing values."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _write_index(index: pd.Index[Any] | None) -> dict[str, Any] | None:
    """An index of one level; one of several is not kept."""
    if index is None or index.nlevels > 1:
        return None
    return {"name": index.name, "dtype": str(index.dtype), "values": index.to_list()}


def _read_index(kept: Mapping[str, Any]) -> pd.Index[Any]:
    import pandas as pd

    index: pd.Index[Any] = pd.Index(_restore(kept["values"], kept["dtype"]), name=kept["name"])
    return index


def join_results(sheet: Sheet, jobs: Mapping[str, Job]) -> pd.DataFrame:
    """The rows with what came out; see ``BatchHandle.results``."""
    import pandas as pd

    records = [jobs.get(name) for name in sheet.names]
    inputs = dict.fromkeys(name for row in sheet.inputs for name in row)
    scores = dict.fromkeys(name for job in records if job for name in job.score or {})
    taken = {*_OUTCOMES, *(f"score.{name}" for name in scores)}
    columns: dict[str, Any] = {
        f"input.{name}" if name in taken else name: _restore(
            [row.get(name) for row in sheet.inputs], sheet.dtypes.get(name)
        )
        for name in inputs
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


def _restore(values: list[Any], dtype: Any) -> Any:
    """A column of the table as it was: categories, nullable numbers and times stay what they are."""
    import pandas as pd

    if dtype is None:
        return values
    try:
        return pd.Series(values, dtype=dtype)
    except (TypeError, ValueError):  # a kind that is not made of its values
        return values


def _state(job: Job | None) -> str:
    return "Deleted" if job is None else job.word
