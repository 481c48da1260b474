"""Job records and pages of them, in every spelling that deployed services use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from types import NoneType
from typing import Any

from pydantic import Field, ValidationError, field_serializer

from foldnote.errors import ProtocolError
from foldnote.models.extensions import LABEL
from foldnote.models.html_repr import show_grid, write_grid
from foldnote.models.status import (
    FAILED,
    NOT_RUN,
    BatchStatus,
    JobStatus,
    is_behind,
    is_failure_word,
    read_batch_status,
    read_status,
)
from foldnote.models.wire import WireModel, ZonedMoment, lower_first, read_hidden_json, read_object
from foldnote.text import visible

_PARENT_FIELDS = ("tool", "batch_status", "batch_size", "statuses", "failed", "result_url")
_COLUMNS = ("job", "tool", "status", "created", "reason")
_MAX_SHOWN = 100
PIPELINE = "pipeline"
"""The ``tool`` of the run of a pipeline, which is a batch of its stages."""
FOREIGN_KEYS = {"jobStatus": "status", "user": "email", "jobType": "type"}
"""Maps field names of deployed services to those of the interface."""


class StatusCounts(WireModel):
    """Numbers of jobs by status; all four keys are always present."""

    in_queue: int = Field(default=0, alias="In Queue", ge=0)
    running: int = Field(default=0, alias="Running", ge=0)
    complete: int = Field(default=0, alias="Complete", ge=0)
    stopped: int = Field(default=0, alias="Stopped", ge=0)

    @property
    def total(self) -> int:
        """Total number of jobs."""
        return self.in_queue + self.running + self.complete + self.stopped


class Job(WireModel):
    """One job, or the parent of a batch."""

    job_name: str
    """Unique for the account; the key of every call about the job."""
    type: str
    """Tool identifier; ``batch`` for a batch parent, whose tool is in ``tool``."""
    status: JobStatus
    settings: dict[str, Any] = Field(default_factory=dict)
    """As submitted."""
    project_tag: str | None = None
    created: ZonedMoment = None
    """UTC."""
    started: ZonedMoment = None
    """Start of the run (UTC); null while in the queue."""
    completed: ZonedMoment = None
    """End of the run (UTC); null until the status is final."""
    email: str | None = None
    """Owner."""
    batch: str | None = None
    """Name of the parent; null outside batches."""
    score: dict[str, Any] | None = None
    """Scores of the result; null if there are none."""
    weighted_hours: float | None = None
    """Cost in weighted hours; null if it is not counted."""
    cpu_seconds: float | None = None
    """User and system time of all processes of the run, in seconds, as the kernel counted it; null before the
    end and if it is not measured. Loading an engine for many jobs is not included."""
    peak_memory_mb: float | None = None
    """Peak resident memory of the run's largest process, in MB (2**20 bytes), as the kernel counted it; null
    before the end and if it is not measured. Several processes together may have used more."""
    peak_gpu_memory_mb: float | None = None
    """Peak GPU memory of all of the run's processes together, in MB (2**20 bytes), sampled from the driver
    every two seconds; null before the end, without a GPU and if it is not measured."""
    retries: int | None = None
    """Number of times the job was run again because its tool failed, as requested at submission; null if
    none. Times, memory and result are of the last run, weighted hours of all."""
    reused_from: str | None = None
    """Of a stage that did not run: the job with the same tool, settings and inputs whose result it has; else
    null."""
    engine_version: str | None = None
    """The engine that ran it, formatted like ``fullVersion`` in the list of tools; null before the end and
    if unknown."""
    webhook: str | None = None
    """State of the webhook in a sentence: waiting for the job's end, delivered, to be retried, or failed;
    null without one. It may change after the end of the job."""
    error: str | None = None
    """Why the run failed, else null. The status of a failed job is ``Stopped``."""
    progress: float | None = Field(default=None)
    """Fraction from 0 to 1; null if the engine reports none."""
    message: str | None = None
    """The engine's message about its current step."""
    tool: str | None = None
    """Tool of a batch parent; null for others."""
    batch_status: BatchStatus | None = None
    """State of a batch parent; null for others."""
    batch_size: int | None = None
    """Subjobs of a batch parent; null for others."""
    statuses: StatusCounts | None = None
    """Subjobs by status of a batch parent."""
    failed: int | None = None
    """Number of stopped subjobs whose run failed; null if unknown."""
    result_url: str | None = None
    """Link to the aggregated archive of a batch parent; null until it is built."""
    extensions: dict[str, Any] | None = Field(default=None, alias="foldnote")
    """Extensions submitted beside the settings: consent, an alignment, a label; null for none."""

    @field_serializer("created", "started", "completed")
    def _write_time(self, value: datetime | None) -> str | None:
        if value is None:
            return None
        return value.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

    @property
    def is_batch(self) -> bool:
        """Whether this is the parent of a batch; a stray ``statuses`` does not make one."""
        return self.type.lower() == "batch" or self.batch_status is not None

    @property
    def tool_type(self) -> str:
        """The tool that runs, for a batch parent too."""
        return self.tool if self.is_batch and self.tool else self.type

    @property
    def is_final(self) -> bool:
        """Whether the record never changes again; a batch parent is final after its aggregation."""
        if self.batch_status is not None:
            return self.batch_status.is_final
        return self.status.is_final

    @property
    def is_not_run(self) -> bool:
        """Whether it is a stage that did not run, because an earlier one has no result; ``error`` says why.

        On the wire it is ``Stopped`` with an error, like a failed run.
        """
        has_ended = self.status is JobStatus.STOPPED and self.started is None and not self.is_batch
        return has_ended and is_behind(self.error or "")

    @property
    def is_failed(self) -> bool:
        """Whether the run failed, as opposed to being stopped by a user, or a stage that did not run."""
        return self.status is JobStatus.STOPPED and self.error is not None and not self.is_not_run

    @property
    def reason(self) -> str:
        """Why it has no result: the error of a failed run, or why it was stopped; else empty."""
        return self.error or (self.message or "" if self.status is JobStatus.STOPPED else "")

    @property
    def duration_s(self) -> float | None:
        """Seconds from start to end, or to now while it runs; null before the start."""
        if self.started is None:
            return None
        return max(0.0, ((self.completed or datetime.now(UTC)) - self.started).total_seconds())

    @property
    def word(self) -> str:
        """The displayed status: that of the interface, or ``Failed`` or ``Not run``."""
        if self.is_not_run:
            return NOT_RUN
        return FAILED if self.is_failed else str(self.status)

    @property
    def label(self) -> str:
        """The label that the service has stored with the job; empty without one."""
        found = (self.extensions or {}).get(LABEL)
        return found if isinstance(found, str) else ""

    def with_label(self, label: str) -> Job:
        """Return the record with another label."""
        return self.model_copy(update={"extensions": {**(self.extensions or {}), LABEL: label}})

    def __repr__(self) -> str:
        return f"Job({self.job_name!r}, {self.tool_type}, {self.word})"

    def to_wire(self) -> dict[str, Any]:
        """Return the record as sent by our service, with the fields of a batch parent only on parents."""
        skipped = set() if self.is_batch else set(_PARENT_FIELDS)
        skipped |= {name for name in ("result_url", "failed", "extensions") if getattr(self, name) is None}
        return self.model_dump(mode="json", by_alias=True, exclude=skipped)


class JobPage(WireModel):
    """One page of GET /jobs."""

    jobs: tuple[Job, ...]
    """Newest first."""
    start_key: str | None = None
    """Continuation key; null on the last page."""
    statuses: StatusCounts = Field(default_factory=StatusCounts)
    """Our service counts all jobs that match the filter; some deployments count those of the page."""
    mark: str | None = None
    """Identifies the state of the list, as an argument of ``since``; null unless requested, or if the service
    does not support long polling."""

    def __repr__(self) -> str:
        return write_grid(self._title(), *self._list_rows())

    def _repr_html_(self) -> str:
        return show_grid(self._title(), *self._list_rows())

    def with_labels(self, labels: Mapping[str, str]) -> JobPage:
        """Return the page with these labels, by job name."""
        if not any(job.job_name in labels for job in self.jobs):
            return self
        jobs = tuple(
            job.with_label(labels[job.job_name]) if job.job_name in labels else job for job in self.jobs
        )
        return self.model_copy(update={"jobs": jobs})

    def _list_rows(self) -> tuple[tuple[str, ...], Iterable[tuple[object, ...]]]:
        """Return the columns and rows of the table; the first column is the label if a job has one."""
        jobs = self.jobs[:_MAX_SHOWN]
        if not any(job.label for job in jobs):
            return _COLUMNS, map(_row, jobs)
        return ("label", *_COLUMNS), ((visible(job.label), *_row(job)) for job in jobs)

    def _title(self) -> str:
        if not self.jobs:
            return "No jobs here."
        one, many = ("batch", "batches") if all(job.is_batch for job in self.jobs) else ("job", "jobs")
        more = ", more follow" if self.start_key else ""
        if len(self.jobs) > _MAX_SHOWN:
            more += f"; the first {_MAX_SHOWN} are shown, to_frame() has all of them"
        return f"{len(self.jobs):,} {one if len(self.jobs) == 1 else many}{more}"


def _row(job: Job) -> tuple[object, ...]:
    return job.job_name, job.tool_type, job.word, job.created, job.error


_PLAIN_KEYS = frozenset(field.alias or name for name, field in Job.model_fields.items())
_PLAIN_WORDS = frozenset(status.value for status in JobStatus)
_TIMES = ("created", "started", "completed")


def read_job(answer: object) -> Job:
    """Parse a job record in any spelling: capitalised keys, JSON in strings, foreign status words.

    Raises:
        ProtocolError: it is not a job record.
    """
    if _is_plain(answer):
        with suppress(ValidationError):  # other spellings are read below
            return Job.model_validate(answer)
    fields = lower_first(read_object(answer, "a job"))
    for foreign, ours in FOREIGN_KEYS.items():
        if foreign in fields:
            fields.setdefault(ours, fields.pop(foreign))
    word = fields.get("status") or fields.get("batchStatus")
    fields["status"], unknown = _read_word(word)
    if unknown:
        fields["message"] = f"The service calls this job {word!r}. {fields.get('message') or ''}".rstrip()
    if is_failure_word(word) and not fields.get("error"):
        fields["error"] = (
            fields.get("message") or "The service reports that the run failed and gives no reason."
        )
    if fields.get("batchStatus"):
        fields["batchStatus"] = read_batch_status(fields["batchStatus"])
    fields["settings"] = _read_map(fields.get("settings"))
    if not isinstance(fields.get("foldnote"), Mapping):
        fields.pop("foldnote", None)  # another service's own key
    fields["score"] = _read_map(fields.get("score")) if fields.get("score") not in (None, "") else None
    try:
        return Job.model_validate({key: _read_value(key, value) for key, value in fields.items()})
    except ValidationError as exc:
        first = exc.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ProtocolError(f"The service's job record cannot be read at {where}: {first['msg']}.") from exc


def _is_plain(answer: object) -> bool:
    """Return whether ``answer`` is a job, not a batch, in the spelling of the interface."""
    return (
        type(answer) is dict
        and answer.keys() <= _PLAIN_KEYS
        and str(answer.get("status")) in _PLAIN_WORDS
        and type(answer.get("settings")) is dict
        and type(answer.get("score")) in (dict, NoneType)
        and type(answer.get("foldnote")) in (dict, NoneType)
        and answer.get("batchStatus") is None
        and answer.get("statuses") is None
        and all((time := answer.get(name)) is None or str(time)[-1:] == "Z" for name in _TIMES)
    )


def read_job_answer(answer: object) -> Job | None:
    """Parse the job in a response to GET /jobs?jobName=: the record, a list of one, or a map by index.

    Returns:
        The job, or None if the response contains none.

    Raises:
        ProtocolError: it is none of the three shapes.
    """
    fields = read_object(answer, "a job")
    if isinstance(fields.get("jobs"), list):
        return read_job(fields["jobs"][0]) if fields["jobs"] else None
    if {"jobName", "JobName"} & fields.keys():
        return read_job(fields)
    rows = _read_index_map(fields)
    return read_job(rows[0]) if rows else None


def read_job_page(answer: object) -> JobPage:
    """Parse a page of jobs: the interface's object, a bare list, or a map by index.

    Raises:
        ProtocolError: it is none of the three shapes.
    """
    if isinstance(answer, list):
        return JobPage(jobs=tuple(read_job(row) for row in answer))
    fields = read_object(answer, "jobs")
    rows = fields["jobs"] if isinstance(fields.get("jobs"), list) else _read_index_map(fields)
    jobs = tuple(read_job(row) for row in rows)
    mark = fields.get("mark")
    return JobPage(
        jobs=jobs,
        start_key=fields.get("startKey"),
        statuses=_read_counts(fields.get("statuses")),
        mark=mark if isinstance(mark, str) else None,
    )


def _read_index_map(fields: Mapping[str, Any]) -> list[Any]:
    return [fields[key] for key in sorted((k for k in fields if k.isdigit()), key=int)]


def _read_word(word: object) -> tuple[JobStatus, bool]:
    """Return the status, and whether the word is unknown.

    An unknown status counts as running, since it may not be final, and does not make the list unreadable.
    """
    try:
        return read_status(word), False
    except ProtocolError:
        if not isinstance(word, str):
            raise
        return JobStatus.RUNNING, True


def _read_counts(value: object) -> StatusCounts:
    counts: dict[str, int] = dict.fromkeys(JobStatus, 0)
    if isinstance(value, Mapping):
        for word, count in value.items():
            if isinstance(count, int) and count >= 0:
                counts[_read_word(word)[0]] += count
    return StatusCounts.model_validate(counts)


def _read_map(value: object) -> dict[str, Any]:
    hidden = read_hidden_json(value)
    return (
        dict(hidden) if isinstance(hidden, Mapping) else ({} if hidden in (None, "") else {"value": hidden})
    )


def _read_value(key: str, value: Any) -> Any:
    if key in ("created", "started", "completed"):
        return None if value in ("", None) else _read_time(value)
    if key == "statuses":
        return _read_counts(value) if value is not None else None
    return value


def _read_time(value: Any) -> Any:
    """Times without a zone are UTC; numbers are left to pydantic: seconds or milliseconds since 1970."""
    if not isinstance(value, str) or value.strip().isdigit():
        return value
    try:
        parsed = datetime.fromisoformat(value.strip().replace("Z", "+00:00"))
    except ValueError:
        return value
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
