"""Submit many jobs as one batch, never twice, and only after every row was validated.

A batch's identity is its tool, its rows with defaults filled in and its requested names, so the same rows
find the same batch again, with or without the ledger. The service validates every row before any is
submitted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from foldnote import catalog
from foldnote.client.core.connection import ServiceConnection
from foldnote.client.core.job_pages import list_many
from foldnote.client.core.operations import Operation, Run
from foldnote.client.local.identity import identify, identify_content, uploads_in, with_extensions
from foldnote.client.local.ledger import Ledger
from foldnote.client.submission.experience import RunLimits
from foldnote.client.submission.extensions import (
    Extensions,
    describe_differences,
    warn_of_policy,
    warn_of_webhook,
)
from foldnote.client.submission.idempotency import Post, find_job, post_once, require_same
from foldnote.client.submission.job_submission import compare
from foldnote.client.submission.validation import Row, check_rows, require_valid, validate_rows
from foldnote.errors import JobNameTakenError, SettingsError
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
from foldnote.models.names import MAX_NAME_LENGTH, STEM_LENGTH

_MAX_SUFFIXES = 50


@dataclass(frozen=True)
class SubmittedBatch:
    """A submitted batch.

    Attributes:
        job: its parent job.
        names: the names of its jobs, in the order of the rows.
    """

    job: Job
    names: list[str]


@dataclass(frozen=True)
class BatchAttempt:
    """A batch to submit.

    Attributes:
        rows: the settings to send, one mapping per subjob.
        normalized: the same with defaults filled in.
        names: names of the subjobs.
        identity: the batch's identity in the ledger.
        is_named: whether the user chose the batch's name.
        is_named_by_table: whether a column of the table gives the names of the subjobs. They may then get a
            suffix, since one table may be used for several tools.
    """

    tool: Tool
    name: str
    rows: list[dict[str, Any]]
    normalized: list[dict[str, Any]]
    names: list[str]
    identity: str
    is_named: bool
    project_tag: str | None
    limits: RunLimits
    is_new_run: bool = False
    """Whether to submit the same rows again as another batch."""
    extensions: Extensions | None = None
    """Extensions beside the settings of every row; None for none."""
    is_named_by_table: bool = False

    def list_alternatives(self) -> Iterator[BatchAttempt]:
        """List this batch, then one with suffixed names if other jobs have the table's: ``AB-1-anarci``."""
        yield self
        for number in range(1, _MAX_SUFFIXES) if self.is_named_by_table else ():
            suffix = f"-{self.tool.type}" if number == 1 else f"-{self.tool.type}-{number}"
            yield replace(self, names=[name[: MAX_NAME_LENGTH - len(suffix)] + suffix for name in self.names])

    def find_alternative(self, taken: Collection[str]) -> BatchAttempt:
        """Return the alternative whose jobs have these names; this one if none has."""
        found = (each for each in self.list_alternatives() if taken == set(each.names))
        return next(found, self)

    def as_new_batch(self, name: str) -> BatchAttempt:
        """Return a new batch of the same rows; jobs are named after ``name`` unless the user chose names."""
        follows = self.names == name_rows(self.name, len(self.rows))
        names = name_rows(name, len(self.rows)) if follows else self.names
        return replace(self, name=name, names=names, is_new_run=True)

    def to_wire(self) -> dict[str, Any]:
        """Return the body of POST /submit-batch."""
        body: dict[str, Any] = {
            "batchName": self.name,
            "type": self.tool.type,
            "settings": self.rows,
            "jobNames": self.names,
        }
        more = {
            "projectTag": self.project_tag,
            "maxRuntimeSeconds": self.limits.max_runtime_s,
            "weightedHoursBudget": self.limits.weighted_hours_budget,
        }
        body |= {name: value for name, value in more.items() if value is not None}
        return with_extensions(body, self.extensions)


def name_rows(batch_name: str, count: int) -> list[str]:
    """Return the default names of a batch's jobs."""
    return [f"{batch_name[:STEM_LENGTH]}-{number}" for number in range(1, count + 1)]


def find_batch(connection: ServiceConnection, ledger: Ledger, attempt: BatchAttempt) -> Operation[Job | None]:
    """Find the parent of the batch that was submitted from these rows before; None if there is none.

    Raises:
        JobNameTakenError: the name belongs to another job or batch; the message shows the difference.
    """
    name = yield Run(lambda: ledger.find(attempt.identity))
    known: Job | None = (yield from find_job(connection, name)) if name is not None else None
    if known is not None:
        return known
    job = yield from find_job(connection, attempt.name)
    if job is not None:
        yield from require_same(_make_post(connection, attempt), job)
    return job


def submit_batch(
    connection: ServiceConnection, ledger: Ledger, attempt: BatchAttempt, *, is_judged: bool = False
) -> Operation[SubmittedBatch]:
    """Submit a batch, unless it was submitted before.

    If other jobs have names that a column of the table gives, the names of all rows get a suffix.

    Args:
        is_judged: whether the service has already validated every row.

    Raises:
        BatchSettingsError: the service refuses some rows; none was submitted.
        JobNameTakenError: the name belongs to another job or batch; the message shows the difference.
        ServiceError: the service refused.
        TransportError: no answer was received, and the service does not have the batch.
    """
    job = None if attempt.is_new_run else (yield from find_batch(connection, ledger, attempt))
    if job is None:
        if not is_judged:
            judged = validate_rows(connection, attempt.tool, attempt.rows, attempt.extensions)
            require_valid(attempt.tool, (yield from judged))
        sent = yield from _post(connection, attempt)
    else:
        warn_of_policy(job, attempt.extensions)
        warn_of_webhook(job, attempt.extensions)
        sent = SubmittedBatch(job, (yield from _find_names(connection, attempt, job)))
    yield Run(lambda: ledger.remember(attempt.identity, sent.job.job_name, attempt.tool.type))
    return sent


def prepare(
    ledger: Ledger,
    tool: Tool,
    rows: Sequence[Row],
    batch_name: str | None,
    names: Sequence[str] | None,
    project_tag: str | None,
    limits: RunLimits,
    sent: Extensions | None = None,
) -> BatchAttempt:
    """Prepare the batch, and validate it by the tool's schema.

    Raises:
        BatchSettingsError: some rows are invalid.
        SettingsError: a name is invalid, or there are no rows.
    """
    attempt, verdicts = draft(ledger, tool, rows, batch_name, names, project_tag, limits, sent)
    require_valid(tool, verdicts)
    return attempt


def draft(
    ledger: Ledger,
    tool: Tool,
    rows: Sequence[Row],
    batch_name: str | None,
    names: Sequence[str] | None,
    project_tag: str | None,
    limits: RunLimits,
    sent: Extensions | None = None,
    *,
    is_named_by_table: bool = False,
) -> tuple[BatchAttempt, list[RowVerdict]]:
    """Prepare the batch; returns it with the verdict of the tool's schema on each row.

    Raises:
        SettingsError: a name is invalid, or there are no rows.
    """
    _check_names(tool, rows, batch_name, names)
    read = [catalog.read_records(tool, row) for row in rows]
    normalized, verdicts = check_rows(tool, read, ledger.service)
    wished = None if names is None else list(names)
    content = identify_content({"rows": normalized, "names": wished}, sent)
    identity = identify(tool.type, content, batch_name, uploads_in(content, ledger))
    name = batch_name or propose_job_name(f"{tool.type}-batch", identity)
    attempt = BatchAttempt(
        tool=tool,
        name=name,
        rows=read,
        normalized=normalized,
        names=wished or name_rows(name, len(rows)),
        identity=identity,
        is_named=batch_name is not None,
        project_tag=project_tag,
        limits=limits,
        extensions=sent,
        is_named_by_table=is_named_by_table,
    )
    return attempt, verdicts


def _check_names(
    tool: Tool, rows: Sequence[Row], batch_name: str | None, names: Sequence[str] | None
) -> None:
    problems = []
    if not rows:
        problems.append(Problem(field="settings", message="A batch needs at least one row.", code="required"))
    if batch_name is not None and (fault := check_job_name(batch_name)):
        problems.append(Problem(field="batchName", message=fault, code="job_name"))
    if names is not None and len(names) != len(rows):
        message = f"There are {len(names)} names for {len(rows)} rows."
        problems.append(Problem(field="jobNames", message=message, code="job_name"))
    seen: set[str] = set()
    for row, name in enumerate(names or ()):
        fault = check_job_name(name) or (f"Two rows are named {name!r}." if name in seen else None)
        seen.add(name)
        if fault:
            problems.append(Problem(field=f"jobNames[{row}]", message=fault, code="job_name"))
    if problems:
        raise SettingsError(problems, tool.type)


def _post(connection: ServiceConnection, attempt: BatchAttempt) -> Operation[SubmittedBatch]:
    refusal: JobNameTakenError | None = None
    for each in attempt.list_alternatives():
        try:
            posted = yield from post_once(connection, _make_post(connection, each))
        except JobNameTakenError as exc:
            if exc.field is None or not exc.field.startswith("jobNames"):
                raise
            refusal = refusal or exc
        else:
            return SubmittedBatch(posted.job or _make_batch_job(each), each.names)
    assert refusal is not None  # there is at least one alternative
    raise refusal


def _find_names(connection: ServiceConnection, attempt: BatchAttempt, job: Job) -> Operation[list[str]]:
    """Return the names of the jobs of a batch that was submitted before."""
    if not attempt.is_named_by_table:
        return attempt.names
    subjobs = yield from list_many(connection, {"batch": job.job_name}, len(attempt.rows) + 1)
    return attempt.find_alternative({subjob.job_name for subjob in subjobs}).names


def _make_post(connection: ServiceConnection, attempt: BatchAttempt) -> Post:
    def find_differences(job: Job) -> Operation[list[str]]:
        differences = _compare_parents(attempt, job)
        if not differences:
            subjobs = yield from list_many(connection, {"batch": attempt.name}, len(attempt.rows) + 1)
            theirs = {subjob.job_name: subjob for subjob in subjobs}
            differences = _compare_rows(attempt.find_alternative(set(theirs)), theirs)
        return differences

    return Post("/submit-batch", attempt.to_wire(), attempt.name, "batchName", find_differences)


def _make_batch_job(attempt: BatchAttempt) -> Job:
    return Job(
        job_name=attempt.name,
        type="batch",
        tool=attempt.tool.type,
        status=JobStatus.IN_QUEUE,
        batch_status=BatchStatus.IN_QUEUE,
        batch_size=len(attempt.rows),
        project_tag=attempt.project_tag,
        extensions=None if attempt.extensions is None else dict(attempt.extensions),
    )


def _compare_parents(attempt: BatchAttempt, job: Job) -> list[str]:
    if not job.is_batch:
        return ["that is a single job"]
    if job.tool and job.tool != attempt.tool.type:
        return [f"that batch runs the tool {job.tool}, this one {attempt.tool.type}"]
    if job.batch_size is not None and job.batch_size != len(attempt.rows):
        return [f"that batch has {job.batch_size} rows, this one {len(attempt.rows)}"]
    return describe_differences(job.extensions, attempt.extensions)


def _compare_rows(attempt: BatchAttempt, theirs: Mapping[str, Job]) -> list[str]:
    found = []
    for name, normalized in zip(attempt.names, attempt.normalized, strict=True):
        job = theirs.get(name)
        if job is None:
            found.append(f"that batch has no job {name}")
        elif job.settings or attempt.is_named:  # without settings, a name derived from the rows suffices
            found += [f"{name}: {difference}" for difference in compare(job, normalized, attempt.tool)]
    return found
