"""Submit a job, never twice.

A submission's identity is its tool, its normalised settings and its requested name. The job's name is derived
from it, so even without the ledger the same submission finds the same job. When no answer was received, the
job is looked up by name before anything is sent again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any

from foldnote import catalog
from foldnote.client.core.connection import ServiceConnection
from foldnote.client.core.operations import Operation, Run
from foldnote.client.inputs.file_values import find_doubts, find_elsewhere
from foldnote.client.inputs.plain_values import make_plain
from foldnote.client.local.identity import identify, identify_content, uploads_in
from foldnote.client.local.ledger import Ledger
from foldnote.client.submission.experience import (
    NO_LIMITS,
    RunLimits,
    compare_limits,
    read_experience,
    takes_runtime_limit,
)
from foldnote.client.submission.extensions import (
    Extensions,
    choose_sent,
    describe_differences,
    put_label,
    put_webhook,
    read_label,
    warn_of_webhook,
)
from foldnote.client.submission.idempotency import Post, find_free_name, find_job, post_once, require_same
from foldnote.errors import ArgumentError, SettingsError
from foldnote.models import (
    Job,
    JobStatus,
    Problem,
    Submission,
    Tool,
    check_job_name,
    propose_job_name,
    read_receipt,
)
from foldnote.models.extensions import RETRIES

_MAX_TEXT_LENGTH = 40
_BEFORE = 8


def submit(
    connection: ServiceConnection,
    ledger: Ledger,
    tool: Tool,
    settings: Mapping[str, Any],
    *,
    job_name: str | None = None,
    project_tag: str | None = None,
    label: str | None = None,
    extensions: Extensions | None = None,
    webhook: str | None = None,
    limits: RunLimits = NO_LIMITS,
    again: bool = False,
) -> Operation[Job]:
    """Submit a job, unless it was submitted before; returns its record.

    Args:
        limits: limits that are compared with the estimate before a new job is sent.
        label: free text, which is stored on this computer and sent if the service accepts it.
        extensions: what is sent in addition to the settings if the service accepts it.
        webhook: address that the service calls at the end of the job.
        again: submit a new job even if the same submission was made before.

    Raises:
        SettingsError: the settings or the name are invalid; nothing was sent.
        JobNameTakenError: the requested name belongs to another job; the message shows the difference.
        ToolUnavailableError: the service cannot run the tool; the message says what to do.
        EstimateExceededError: the estimate is above a limit; nothing was sent.
        ServiceError: the service refused.
        TransportError: no answer was received, and the service does not have the job.
    """
    if problems := limits.find_problems():
        raise SettingsError(problems, tool.type)
    text = read_label(label, extensions)
    beside = put_webhook(put_label(tool, extensions, text), webhook)
    sent = choose_sent(tool, beside, ledger.service)
    attempt = yield Run(lambda: prepare(ledger, tool, settings, job_name, project_tag, sent))
    if again:
        if (yield from find_job(connection, attempt.name)) is not None:
            attempt = attempt.with_name((yield from find_free_name(connection, attempt.name)))
    else:
        known = yield from _known_job(connection, ledger, attempt.identity)
        if known is not None:
            warn_of_webhook(known, sent)
            if text is not None:
                yield Run(lambda: ledger.remember_label(known.job_name, text))
            return known
    if limits.has_any and (again or (yield from find_job(connection, attempt.name)) is None):
        experience = yield from read_experience(connection, tool.type)
        compare_limits(tool, limits, experience, runs=1 + ((sent or {}).get(RETRIES) or 0))
        if takes_runtime_limit(tool):
            attempt = attempt.with_time_limit(limits.max_runtime_s)
    job = yield from _post(connection, attempt)
    yield Run(lambda: ledger.remember(attempt.identity, job.job_name, tool.type))
    if text is not None or job.created is None:  # drops the label of an earlier namesake
        yield Run(lambda: ledger.remember_label(job.job_name, text))
    return job


def find_existing(
    connection: ServiceConnection, ledger: Ledger, attempt: SubmissionAttempt
) -> Operation[Job | None]:
    """Return the job that the same submission made before; None if there is none.

    Raises:
        JobNameTakenError: the requested name belongs to another job; the message shows the difference.
    """
    known = yield from _known_job(connection, ledger, attempt.identity)
    job = known or (yield from find_job(connection, attempt.name))
    if job is not None and known is None:
        yield from require_same(_make_post(attempt), job)
    return job


@dataclass(frozen=True)
class SubmissionAttempt:
    """A job to submit.

    Attributes:
        tool: the tool.
        submission: the request's body.
        normalized: its settings with defaults filled in.
        identity: the submission's identity in the ledger.
        is_named: whether the user chose the name.
        other_files: whether the job of this name was submitted from this computer with other file contents.
    """

    tool: Tool
    submission: Submission
    normalized: dict[str, Any]
    identity: str
    is_named: bool
    other_files: bool

    @property
    def name(self) -> str:
        """The job's name."""
        return self.submission.job_name

    def with_time_limit(self, max_runtime_s: float | None) -> SubmissionAttempt:
        """Return the same submission with a time limit in seconds."""
        return replace(
            self, submission=self.submission.model_copy(update={"max_runtime_seconds": max_runtime_s})
        )

    def with_name(self, name: str) -> SubmissionAttempt:
        """Return the same submission with another name."""
        return replace(self, submission=self.submission.model_copy(update={"job_name": name}))


def prepare(
    ledger: Ledger,
    tool: Tool,
    settings: Mapping[str, Any],
    job_name: str | None,
    project_tag: str | None,
    sent: Extensions | None = None,
) -> SubmissionAttempt:
    """Prepare and validate a submission, including its extensions (``sent``).

    Raises:
        ArgumentError: the settings are not a mapping.
        SettingsError: the settings or the name are invalid.
    """
    if not isinstance(settings, Mapping):
        raise ArgumentError(
            f"Settings are a mapping such as {{'sequence': 'EVQL…'}}, not {type(settings).__name__}."
            " Several rows are a batch: batches.submit()."
        )
    given = catalog.read_records(tool, make_plain(settings))
    elsewhere = find_elsewhere(given, ledger.service)
    if elsewhere:
        raise SettingsError(elsewhere, tool.type, given)
    normalized = check_submission(tool, given, job_name)
    content = identify_content(normalized, sent)
    files = uploads_in(content, ledger)
    identity = identify(tool.type, content, job_name, files)
    name = job_name or propose_job_name(tool.type, identity)
    earlier = ledger.identities(name) if files else frozenset()
    return SubmissionAttempt(
        tool=tool,
        submission=Submission(
            job_name=name,
            type=tool.type,
            settings=given,
            project_tag=project_tag,
            extensions=None if sent is None else dict(sent),
        ),
        normalized=normalized,
        identity=identity,
        is_named=job_name is not None,
        other_files=bool(earlier) and identity not in earlier,
    )


def check_submission(tool: Tool, settings: Mapping[str, Any], job_name: str | None) -> dict[str, Any]:
    """Validate a submission; returns the settings with defaults filled in.

    Raises:
        SettingsError: the settings or the name are invalid; it lists every problem.
    """
    problems: list[Problem] = []
    fault = check_job_name(job_name) if job_name is not None else None
    if fault is not None:
        problems.append(Problem(field="jobName", message=fault, code="job_name"))
    problems.extend(find_doubts(tool, settings))
    checked = catalog.check(tool, settings)
    problems.extend(checked.problems)
    if problems:
        raise SettingsError(problems, tool.type, settings)
    return checked.normalized


def _known_job(connection: ServiceConnection, ledger: Ledger, identity: str) -> Operation[Job | None]:
    name = yield Run(lambda: ledger.find(identity))
    if name is None:
        return None
    job = yield from find_job(connection, name)
    if job is None:
        yield Run(lambda: ledger.forget(identity))
    return job


def _make_post(attempt: SubmissionAttempt) -> Post:
    def find_differences(job: Job) -> Operation[list[str]]:
        yield from ()
        return _differences(job, attempt)

    submission = attempt.submission
    return Post("/submit-job", submission.to_wire(), submission.job_name, "jobName", find_differences)


def _post(connection: ServiceConnection, attempt: SubmissionAttempt) -> Operation[Job]:
    submission = attempt.submission
    posted = yield from post_once(connection, _make_post(attempt))
    if posted.job is not None:
        return posted.job
    receipt = read_receipt(posted.answer, submission)
    sent = submission.model_copy(update={"max_runtime_seconds": None}).to_wire()
    return Job.model_validate(sent | {"jobName": receipt.job_name, "status": JobStatus.IN_QUEUE})


def _differences(job: Job, attempt: SubmissionAttempt) -> list[str]:
    if not job.settings and attempt.normalized and job.type == attempt.tool.type:
        # A deployment that does not report settings: a name derived from them suffices.
        return ["the service does not report its settings"] if attempt.is_named else []
    differences = compare(job, attempt.normalized, attempt.tool)
    differences += describe_differences(job.extensions, attempt.submission.extensions)
    if not differences and attempt.other_files:
        return ["a file of the same name had other contents at that time"]
    return differences


def compare(job: Job, normalized: Mapping[str, Any], tool: Tool) -> list[str]:
    """Describe how an existing job differs from a submission; empty if it does not."""
    if job.type != tool.type:
        return [f"that job runs the tool {job.type}, this one {tool.type}"]
    theirs = catalog.check(tool, job.settings).normalized
    names = [name for name in {**theirs, **normalized} if theirs.get(name) != normalized.get(name)]
    return [_describe_difference(name, theirs.get(name), normalized.get(name)) for name in names]


def _describe_difference(name: str, theirs: object, ours: object) -> str:
    """Contrast two values of a setting; long ones are cut to the part where they begin to differ."""
    texts = repr(theirs), repr(ours)
    begin = 0
    if max(map(len, texts)) > _MAX_TEXT_LENGTH:
        shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(*texts, strict=False)))
        begin = max(0, shared - _BEFORE)
    there, here = (_cut_excerpt(text, begin) for text in texts)
    return f"{name} is {there} there and {here} here"


def _cut_excerpt(text: str, begin: int) -> str:
    end = begin + _MAX_TEXT_LENGTH
    return f"{'…' if begin else ''}{text[begin:end]}{'…' if len(text) > end else ''}"
