"""Submitting many jobs as one batch, so that nothing is submitted twice and no row is submitted unjudged.

A batch's identity is its tool, its rows with defaults filled in and its wished names, so the same rows meet
the same batch again, with or without the ledger. Every row has the service's verdict before any is submitted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from foldnote.client.core.connection import ServiceConnection
from foldnote.client.core.job_pages import list_many
from foldnote.client.core.operations import Operation, Run
from foldnote.client.local.ledger import Ledger, identify
from foldnote.client.submission.idempotency import Post, look_up, post_once, require_same
from foldnote.client.submission.job_submission import compare, uploads_in
from foldnote.client.submission.validation import Row, check_rows, judge_rows, require_valid
from foldnote.errors import SettingsError
from foldnote.models import (
    BatchStatus,
    Job,
    JobStatus,
    Problem,
    RowVerdict,
    Tool,
    check_job_name,
    propose_job_name,
)

_STEM = 90


@dataclass(frozen=True)
class BatchLimits:
    """What a batch may use.

    Attributes:
        max_runtime_s: seconds after which a job of the batch is ended; None for the tool's own limit.
        weighted_hours_budget: weighted hours for all jobs together; None for no limit.
    """

    max_runtime_s: float | None = None
    weighted_hours_budget: float | None = None


@dataclass(frozen=True)
class BatchAttempt:
    """A batch on its way.

    Attributes:
        rows: the settings that are sent, a mapping a subjob.
        normalized: the same with defaults filled in.
        names: names of the subjobs.
        identity: what the batch is remembered by.
        is_named: whether the user chose the batch's name.
    """

    tool: Tool
    name: str
    rows: list[dict[str, Any]]
    normalized: list[dict[str, Any]]
    names: list[str]
    identity: str
    is_named: bool
    project_tag: str | None
    limits: BatchLimits
    is_again: bool = False
    """Whether these rows became a batch before and another one is wanted."""

    def once_more(self, name: str) -> BatchAttempt:
        """Another batch of the same rows; the names of its jobs follow ``name`` unless they were chosen."""
        follows = self.names == name_rows(self.name, len(self.rows))
        names = name_rows(name, len(self.rows)) if follows else self.names
        return replace(self, name=name, names=names, is_again=True)

    def to_wire(self) -> dict[str, Any]:
        """The body of POST /submit-batch."""
        body = {"batchName": self.name, "type": self.tool.type, "settings": self.rows, "jobNames": self.names}
        more = {
            "projectTag": self.project_tag,
            "maxRuntimeSeconds": self.limits.max_runtime_s,
            "weightedHoursBudget": self.limits.weighted_hours_budget,
        }
        return body | {name: value for name, value in more.items() if value is not None}


def name_rows(batch_name: str, count: int) -> list[str]:
    """Names of the jobs of a batch for which none were given."""
    return [f"{batch_name[:_STEM]}-{number}" for number in range(1, count + 1)]


def find_batch(connection: ServiceConnection, ledger: Ledger, attempt: BatchAttempt) -> Operation[Job | None]:
    """The parent of the batch that these rows became before; None when there is none.

    Raises:
        JobNameTakenError: the batch's name belongs to something else; the message shows the difference.
    """
    name = yield Run(lambda: ledger.find(attempt.identity))
    known: Job | None = (yield from look_up(connection, name)) if name is not None else None
    if known is not None:
        return known
    job = yield from look_up(connection, attempt.name)
    if job is not None:
        yield from require_same(_wanted(connection, attempt), job)
    return job


def submit_batch(
    connection: ServiceConnection, ledger: Ledger, attempt: BatchAttempt, *, is_judged: bool = False
) -> Operation[Job]:
    """The parent of the batch that these rows are: the one that they became before, or a new one.

    Args:
        is_judged: whether the service has found every row right already.

    Raises:
        BatchSettingsError: the service refuses rows; none was submitted.
        JobNameTakenError: the batch's name belongs to something else; the message shows the difference.
        ServiceError: the service refused.
        TransportError: no answer came, and the service does not know the batch.
    """
    job = None if attempt.is_again else (yield from find_batch(connection, ledger, attempt))
    if job is None:
        if not is_judged:
            require_valid(attempt.tool, (yield from judge_rows(connection, attempt.tool, attempt.rows)))
        job = yield from _post(connection, attempt)
    parent = job
    yield Run(lambda: ledger.remember(attempt.identity, parent.job_name, attempt.tool.type))
    return parent


def prepare(
    ledger: Ledger,
    tool: Tool,
    rows: Sequence[Row],
    batch_name: str | None,
    names: Sequence[str] | None,
    project_tag: str | None,
    limits: BatchLimits,
) -> BatchAttempt:
    """What would be sent, checked against the tool's schema.

    Raises:
        BatchSettingsError: rows break a rule.
        SettingsError: a name does, or there are no rows.
    """
    attempt, verdicts = draft(ledger, tool, rows, batch_name, names, project_tag, limits)
    require_valid(tool, verdicts)
    return attempt


def draft(
    ledger: Ledger,
    tool: Tool,
    rows: Sequence[Row],
    batch_name: str | None,
    names: Sequence[str] | None,
    project_tag: str | None,
    limits: BatchLimits,
) -> tuple[BatchAttempt, list[RowVerdict]]:
    """What would be sent, and what the tool's schema says of each row.

    Raises:
        SettingsError: a name breaks a rule, or there are no rows.
    """
    _check_names(tool, rows, batch_name, names)
    normalized, verdicts = check_rows(tool, rows)
    wished = None if names is None else list(names)
    content = {"rows": normalized, "names": wished}
    identity = identify(tool.type, content, batch_name, uploads_in(content, ledger))
    name = batch_name or propose_job_name(f"{tool.type}-batch", identity)
    attempt = BatchAttempt(
        tool=tool,
        name=name,
        rows=[dict(row) for row in rows],
        normalized=normalized,
        names=wished or name_rows(name, len(rows)),
        identity=identity,
        is_named=batch_name is not None,
        project_tag=project_tag,
        limits=limits,
    )
    return attempt, verdicts


def _check_names(
    tool: Tool, rows: Sequence[Row], batch_name: str | None, names: Sequence[str] | None
) -> None:
    problems = []
    if not rows:
        problems.append(Problem(field="settings", message="A batch has at least one row.", code="required"))
    if batch_name is not None and (fault := check_job_name(batch_name)):
        problems.append(Problem(field="batchName", message=fault, code="job_name"))
    if names is not None and len(names) != len(rows):
        told = f"There are {len(names)} names for {len(rows)} rows."
        problems.append(Problem(field="jobNames", message=told, code="job_name"))
    seen: set[str] = set()
    for row, name in enumerate(names or ()):
        fault = check_job_name(name) or (f"{name!r} is the name of two rows." if name in seen else None)
        seen.add(name)
        if fault:
            problems.append(Problem(field=f"jobNames[{row}]", message=fault, code="job_name"))
    if problems:
        raise SettingsError(problems, tool.type)


def _post(connection: ServiceConnection, attempt: BatchAttempt) -> Operation[Job]:
    posted = yield from post_once(connection, _wanted(connection, attempt))
    return posted.job or _parent(attempt)


def _wanted(connection: ServiceConnection, attempt: BatchAttempt) -> Post:
    def find_differences(job: Job) -> Operation[list[str]]:
        differences = _compare_parents(attempt, job)
        if not differences:
            subjobs = yield from list_many(connection, {"batch": attempt.name}, len(attempt.rows) + 1)
            differences = _compare_rows(attempt, {subjob.job_name: subjob for subjob in subjobs})
        return differences

    return Post("/submit-batch", attempt.to_wire(), attempt.name, "batchName", find_differences)


def _parent(attempt: BatchAttempt) -> Job:
    return Job(
        job_name=attempt.name,
        type="batch",
        tool=attempt.tool.type,
        status=JobStatus.IN_QUEUE,
        batch_status=BatchStatus.IN_QUEUE,
        batch_size=len(attempt.rows),
        project_tag=attempt.project_tag,
    )


def _compare_parents(attempt: BatchAttempt, job: Job) -> list[str]:
    if not job.is_batch:
        return ["that is a single job"]
    if job.tool and job.tool != attempt.tool.type:
        return [f"that batch is of the tool {job.tool}, this one of {attempt.tool.type}"]
    if job.batch_size is not None and job.batch_size != len(attempt.rows):
        return [f"that batch has {job.batch_size} rows, this one {len(attempt.rows)}"]
    return []


def _compare_rows(attempt: BatchAttempt, theirs: Mapping[str, Job]) -> list[str]:
    found = []
    for name, normalized in zip(attempt.names, attempt.normalized, strict=True):
        job = theirs.get(name)
        if job is None:
            found.append(f"that batch has no job {name}")
        elif job.settings or attempt.is_named:  # a name made of the rows is proof where no settings are told
            found += [f"{name}: {difference}" for difference in compare(job, normalized, attempt.tool)]
    return found
