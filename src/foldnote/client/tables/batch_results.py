"""Join the rows of a batch with their results, including those of retries.

A sheet maps each row to its job: at first a job of the batch, after a retry of failed rows a job of the newer
batch. This module sends no requests.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from foldnote.client.inputs.batch_table import Rows, read_dtypes
from foldnote.errors import FoldnoteError
from foldnote.models import Job, JobStatus
from foldnote.models.names import MAX_NAME_LENGTH

if TYPE_CHECKING:
    import pandas as pd

_RETRY = re.compile(r"-retry(\d+)$")
_OUTCOMES = ("job_name", "status", "error", "retries", "duration_s", "weighted_hours")


@dataclass(frozen=True)
class SheetRow:
    """A row of a batch, or a stage of a pipeline.

    Attributes:
        name: name of its current job.
        inputs: the user's own columns, which are neither settings nor the name.
        job: the job's record; None if the job was deleted.
    """

    name: str
    inputs: Mapping[str, Any]
    job: Job | None


@dataclass(frozen=True)
class Sheet:
    """The rows of a batch.

    Attributes:
        batches: names of the batch and of its retries.
        names: name of the current job of each row.
        settings: the settings of each row.
        inputs: the values of each row in the user's table.
        index: the table's index; None for numbers from 0.
        dtypes: dtypes of the table's columns, by name.
        kept: columns of ``inputs`` that feed no setting.
        webhook: address that the service calls at the end of the batch; empty for none, None where the
            account's is called or none is known.
    """

    batches: tuple[str, ...]
    names: tuple[str, ...]
    settings: tuple[Mapping[str, Any], ...]
    inputs: tuple[Mapping[str, Any], ...]
    index: pd.Index[Any] | None = None
    dtypes: Mapping[str, Any] = field(default_factory=dict)
    kept: tuple[str, ...] = ()
    webhook: str | None = None

    @classmethod
    def of_jobs(cls, batch_name: str, jobs: Sequence[Job]) -> Sheet:
        """Make the sheet of a batch from its jobs alone."""
        settings = tuple(job.settings for job in jobs)
        return cls((batch_name,), tuple(job.job_name for job in jobs), settings, settings)

    @classmethod
    def of_rows(cls, batch_name: str, names: Sequence[str], rows: Rows, webhook: str | None = None) -> Sheet:
        """Make the sheet of a newly submitted batch."""
        settings, inputs = tuple(rows.settings), tuple(rows.inputs)
        return cls((batch_name,), tuple(names), settings, inputs, rows.index, rows.dtypes, rows.kept, webhook)

    @classmethod
    def read(cls, text: str) -> Sheet:
        """Read a sheet written by ``write``.

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
            tuple(kept.get("kept", ())),  # version 0.1 did not store it
            kept.get("webhook"),
        )

    @classmethod
    def recover(cls, text: str | None, jobs: Iterable[str]) -> Sheet | None:
        """Read a sheet as the ledger has it; None if it is missing, damaged or of another batch.

        Args:
            text: the sheet as stored in the ledger, which is only a hint.
            jobs: names of the batch's jobs; an earlier batch of the same name has other jobs.
        """
        try:
            sheet = None if text is None else cls.read(text)
        except (ValueError, KeyError, TypeError):
            return None
        names = {*jobs}
        return sheet if sheet is not None and names and names <= {*sheet.names} else None

    def write(self) -> str:
        """Serialise the sheet for the ledger; values that JSON cannot represent become strings."""
        kept = {
            "batches": self.batches,
            "names": self.names,
            "settings": self.settings,
            "inputs": self.inputs,
            "index": _write_index(self.index),
            "dtypes": {name: str(kind) for name, kind in self.dtypes.items()},
            "kept": self.kept,
            "webhook": self.webhook,
        }
        return json.dumps(kept, default=_write_value)

    def list_rows(self, jobs: Mapping[str, Job]) -> list[SheetRow]:
        """List the rows with the records of their jobs."""
        rows = list(zip(self.names, self.inputs, self.settings, strict=True))
        own = {
            column
            for name, inputs, settings in rows
            for column, value in inputs.items()
            if column not in settings and value != name and not _is_setting(value, settings)
        }
        return [
            SheetRow(name, {key: value for key, value in inputs.items() if key in own}, jobs.get(name))
            for name, inputs, _ in rows
        ]

    def with_inputs(self, table: pd.DataFrame) -> Sheet:
        """Replace the inputs by another table.

        Raises:
            FoldnoteError: the table has a different number of rows.
        """
        if len(table) != len(self.names):
            raise FoldnoteError(f"The table has {len(table)} rows, but the batch has {len(self.names)}.")
        records = [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]
        dtypes = read_dtypes(table)
        return replace(self, inputs=tuple(records), index=table.index, dtypes=dtypes, kept=())

    def open_rows(self, jobs: Mapping[str, Job]) -> list[int]:
        """Return the indices of rows whose job failed, was stopped or was deleted."""
        return [
            row
            for row, name in enumerate(self.names)
            if name not in jobs or jobs[name].status is JobStatus.STOPPED
        ]

    def retry(self, rows: Sequence[int]) -> tuple[str, list[str], Sheet]:
        """Prepare a retry of ``rows``: the new batch's name, its jobs' names, and the updated sheet."""
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


def _is_setting(value: Any, settings: Mapping[str, Any]) -> bool:
    """Return whether a value of the user's table is the setting's value; a SMILES becomes a one-line file."""
    given = settings.values()
    return value in given or [value] in given or (isinstance(value, str) and f"{value}\n" in given)


def _rename(name: str, ending: str, mark: str = "") -> str:
    """Return the name of a retry; a name that must be cut gets ``mark`` to stay unique."""
    stem = _RETRY.sub("", name)
    if len(stem) + len(ending) <= MAX_NAME_LENGTH:
        return stem + ending
    return stem[: MAX_NAME_LENGTH - len(mark + ending)] + mark + ending


def _write_value(value: Any) -> Any:
    """Convert a value that JSON cannot represent: numpy scalars and arrays, times, missing values."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _write_index(index: pd.Index[Any] | None) -> dict[str, Any] | None:
    """Serialise an index with one level; a MultiIndex is dropped."""
    if index is None or index.nlevels > 1:
        return None
    return {"name": index.name, "dtype": str(index.dtype), "values": index.to_list()}


def _read_index(kept: Mapping[str, Any]) -> pd.Index[Any]:
    import pandas as pd

    index: pd.Index[Any] = pd.Index(_restore(kept["values"], kept["dtype"]), name=kept["name"])
    return index


def join_results(
    sheet: Sheet, jobs: Mapping[str, Job], figures: Mapping[str, Mapping[str, Any]] | None = None
) -> pd.DataFrame:
    """Join the rows with the results of their jobs, and with figures by job; see ``BatchHandle.results``."""
    import pandas as pd

    records = [jobs.get(name) for name in sheet.names]
    inputs = dict.fromkeys(name for row in sheet.inputs for name in row)
    if sheet.inputs is sheet.settings:  # the order of the user's own table is kept
        inputs = dict.fromkeys(_put_differing_first(inputs, sheet.inputs))
    scores = _put_differing_first(
        dict.fromkeys(name for job in records if job for name in job.score or {}),
        [job.score or {} for job in records if job],
    )
    own = [(figures or {}).get(name, {}) for name in sheet.names]
    headings = sorted(
        dict.fromkeys(heading for row in own for heading in row), key=lambda name: name.startswith("CDR")
    )
    taken = {*_OUTCOMES, *headings, *(f"score.{name}" for name in scores)}
    columns: dict[str, Any] = {
        f"input.{name}" if name in taken else name: _restore(
            [row.get(name) for row in sheet.inputs], sheet.dtypes.get(name)
        )
        for name in inputs
    }
    columns["job_name"] = pd.Series(sheet.names, dtype="str")
    columns["status"] = pd.Series([job.word if job else "Deleted" for job in records], dtype="str")
    columns["error"] = pd.Series([(job.reason or None) if job else None for job in records], dtype="str")
    columns["retries"] = pd.Series([(job.retries or 0) if job else 0 for job in records], dtype="int64")
    for name in ("duration_s", "weighted_hours"):
        columns[name] = pd.Series([getattr(job, name) if job else None for job in records], dtype="float64")
    columns |= {name: pd.Series([row.get(name) for row in own], dtype="str") for name in headings}
    for name in scores:
        columns[f"score.{name}"] = [(job.score or {}).get(name) if job else None for job in records]
    frame = pd.DataFrame(columns)
    return frame.rename_axis("row") if sheet.index is None else frame.set_axis(sheet.index)


def _put_differing_first(names: Iterable[str], rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the names with those first whose values differ between rows."""
    return sorted(names, key=lambda name: len({str(row[name]) for row in rows if name in row}) < 2)


def add_kept(frame: pd.DataFrame, sheet: Sheet) -> pd.DataFrame:
    """Add the kept columns of the user's table, as ``input.NAME``, to a table of a batch's jobs."""
    if not sheet.kept:
        return frame
    import pandas as pd

    columns = {
        f"input.{name}": _restore([row.get(name) for row in sheet.inputs], sheet.dtypes.get(name))
        for name in sheet.kept
    }
    return frame.join(pd.DataFrame(columns).set_axis(list(sheet.names)))


def _restore(values: list[Any], dtype: Any) -> Any:
    """Restore a column to its dtype, such as categories, nullable integers and times."""
    import pandas as pd

    if dtype is None:
        return values
    try:
        return pd.Series(values, dtype=dtype)
    except (TypeError, ValueError):  # a dtype that cannot be constructed from values
        return values
