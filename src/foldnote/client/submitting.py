"""Submitting so that nothing is submitted twice.

A submission's identity is its tool, its normalised settings and its wished name. The job's name is derived
from it, so even without the ledger the same submission meets the same job. When no answer came back, the job
is looked up by name before anything is sent again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from foldnote import catalog
from foldnote.client.effects import Sleep, Steps
from foldnote.client.ledger import Ledger, identify
from foldnote.client.link import Link
from foldnote.client.pace import retry_delays
from foldnote.client.waiting import get_job
from foldnote.errors import (
    JobNameTakenError,
    NotFoundError,
    ServiceError,
    ServiceFaultError,
    SettingsError,
    TransportError,
)
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

_MOST_NAMES = 1000


def submit(
    link: Link,
    ledger: Ledger,
    tool: Tool,
    settings: Mapping[str, Any],
    *,
    job_name: str | None = None,
    project_tag: str | None = None,
    again: bool = False,
) -> Steps[Job]:
    """The job that this submission is: the one that it became before, or a new one.

    Args:
        again: make a new job even if the same submission has one already.

    Raises:
        SettingsError: settings or name break a rule; nothing was sent.
        JobNameTakenError: the wished name belongs to another job; the message shows the difference.
        ServiceError: the service refused.
        TransportError: no answer came, and the service does not know the job.
    """
    normalized = check_submission(tool, settings, job_name)
    identity = identify(tool.type, normalized, job_name)
    name = job_name or propose_job_name(tool.type, identity)
    if again:
        name = yield from _free_name(link, name)
    else:
        known = yield from _known_job(link, ledger, identity)
        if known is not None:
            return known
    wanted = Submission(job_name=name, type=tool.type, settings=dict(settings), project_tag=project_tag)
    job = yield from _post(link, wanted, normalized, tool)
    ledger.remember(identity, job.job_name, tool.type)
    return job


def check_submission(tool: Tool, settings: Mapping[str, Any], job_name: str | None) -> dict[str, Any]:
    """The settings with defaults filled in.

    Raises:
        SettingsError: with every problem found.
    """
    problems: list[Problem] = []
    fault = check_job_name(job_name) if job_name is not None else None
    if fault is not None:
        problems.append(Problem(field="jobName", message=fault, code="job_name"))
    checked = catalog.check(tool, settings)
    problems.extend(checked.problems)
    if problems:
        raise SettingsError(problems, tool.type)
    return checked.normalized


def _known_job(link: Link, ledger: Ledger, identity: str) -> Steps[Job | None]:
    name = ledger.find(identity)
    if name is None:
        return None
    job = yield from _look_up(link, name)
    if job is None:
        ledger.forget(identity)
    return job


def _look_up(link: Link, name: str) -> Steps[Job | None]:
    try:
        return (yield from get_job(link, name))
    except NotFoundError:
        return None


def _free_name(link: Link, name: str) -> Steps[str]:
    stem = name[:95]
    for number in range(2, _MOST_NAMES):
        candidate = f"{stem}-{number}"
        if (yield from _look_up(link, candidate)) is None:
            return candidate
    raise SettingsError([Problem(field="jobName", message=f"{stem!r} was submitted {_MOST_NAMES} times.")])


def _post(link: Link, wanted: Submission, normalized: Mapping[str, Any], tool: Tool) -> Steps[Job]:
    for pause in (*retry_delays(), None):
        try:
            answer = yield from link.ask("POST", "/submit-job", json=wanted.to_wire(), repeatable=False)
        except JobNameTakenError as exc:
            return (yield from _attach(link, wanted, normalized, tool, exc))
        except (TransportError, ServiceFaultError):
            job = yield from _look_up(link, wanted.job_name)
            if job is not None:
                return _same_or_refuse(job, wanted, normalized, tool, None)
            if pause is None:
                raise
            yield Sleep(pause)
        else:
            receipt = read_receipt(answer, wanted)
            fields = wanted.to_wire() | {"jobName": receipt.job_name, "status": JobStatus.IN_QUEUE}
            return Job.model_validate(fields)
    raise AssertionError("the loop returns or raises")


def _attach(
    link: Link, wanted: Submission, normalized: Mapping[str, Any], tool: Tool, refusal: ServiceError
) -> Steps[Job]:
    job = yield from _look_up(link, wanted.job_name)
    if job is None:  # deleted names stay taken
        raise refusal
    return _same_or_refuse(job, wanted, normalized, tool, refusal)


def _same_or_refuse(
    job: Job, wanted: Submission, normalized: Mapping[str, Any], tool: Tool, refusal: ServiceError | None
) -> Job:
    """The job of this name if it is the same submission.

    Raises:
        JobNameTakenError: it is another one.
    """
    differences = compare(job, wanted.type, normalized, tool)
    if not differences:
        return job
    shown = "; ".join(differences[:3])
    raise JobNameTakenError(
        f"The name {wanted.job_name!r} belongs to another job ({shown}). Choose another job_name.",
        status=400,
        code="job_name_taken",
        field="jobName",
    ) from refusal


def compare(job: Job, tool_type: str, normalized: Mapping[str, Any], tool: Tool) -> list[str]:
    """How an existing job differs from a submission, in words; empty when it does not."""
    if job.type != tool_type:
        return [f"that job is of the tool {job.type}, this one of {tool_type}"]
    theirs = catalog.check(tool, job.settings).normalized
    names = [name for name in {**theirs, **normalized} if theirs.get(name) != normalized.get(name)]
    return [
        f"{name} is {_short(theirs.get(name))} there and {_short(normalized.get(name))} here"
        for name in names
    ]


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:36]}…"
