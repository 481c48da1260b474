"""Idempotent submission of jobs, batches, pipeline runs and screenings.

Each has a name that is unique in the account. When no answer was received, the name is looked up before
anything is sent again; when the name is taken, the existing job is compared with the submission.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from foldnote.client.core.connection import ServiceConnection
from foldnote.client.core.job_pages import get_job
from foldnote.client.core.operations import Operation, Run, Sleep
from foldnote.client.core.pacing import next_pause, retry_delays
from foldnote.client.local.annotations import Annotations
from foldnote.errors import (
    BadRequestError,
    ConfigurationError,
    JobNameTakenError,
    NotFoundError,
    ServiceError,
    ServiceFaultError,
    SettingsError,
    ToolUnavailableError,
    TransportError,
)
from foldnote.models import Job, Problem
from foldnote.models.names import STEM_LENGTH

_MAX_SHOWN = 3
_MAX_NAMES = 1000


@dataclass(frozen=True)
class Post:
    """A request that creates a job or batch with a name.

    Attributes:
        name: name of the new job or batch.
        name_field: field of the name in the body: ``jobName`` or ``batchName``.
        compare: describes how an existing job of this name differs from the submission; empty if it does
            not.
    """

    path: str
    body: Mapping[str, Any]
    name: str
    name_field: str
    compare: Callable[[Job], Operation[list[str]]]

    def with_name(self, name: str) -> Post:
        """Return the same request with another name."""
        return replace(self, name=name, body={**self.body, self.name_field: name})


@dataclass(frozen=True)
class PostOutcome:
    """Outcome of a request.

    Attributes:
        answer: the service's answer; None if the job existed before.
        job: the existing job; None if it is new.
        name: the name that was sent.
    """

    answer: Any = None
    job: Job | None = None
    name: str = ""


def submit_once(connection: ServiceConnection, post: Post, *, again: bool = False) -> Operation[PostOutcome]:
    """Return the existing job of this name if it is the same; otherwise send the request.

    Args:
        again: send the request with a free name even if the job exists.

    Raises:
        JobNameTakenError: the name belongs to another job or batch; the message shows the difference.
        ServiceError: the service refused.
        TransportError: no answer was received, and the service does not have a job of this name.
    """
    job = yield from find_job(connection, post.name)
    if job is None:
        return (yield from post_once(connection, post))
    if again:
        return (
            yield from post_once(
                connection, post.with_name((yield from find_free_name(connection, post.name)))
            )
        )
    yield from require_same(post, job)
    return PostOutcome(job=job)


def post_once(connection: ServiceConnection, post: Post) -> Operation[PostOutcome]:
    """Send the request, unless the job exists.

    Raises:
        JobNameTakenError: the name belongs to another job or batch; the message shows the difference.
        ToolUnavailableError: the service cannot run the tool; the message says what to do.
        ServiceError: the service refused.
        TransportError: no answer was received, and the service does not have a job of this name.
    """
    pauses = retry_delays()
    while True:
        try:
            answer = yield from connection.request("POST", post.path, json=post.body, repeatable=False)
        except BadRequestError as exc:
            return PostOutcome(job=(yield from _resolve_refusal(connection, post, exc)))
        except (TransportError, ServiceFaultError) as exc:
            job = yield from find_job(connection, post.name)
            if job is not None:
                yield from require_same(post, job)
                return PostOutcome(job=job)
            yield Sleep(next_pause(pauses, exc, allowed=True))
        else:
            names = [post.name, *post.body.get("jobNames", ())]
            yield Run(partial(_delete_notes, connection.service, names))
            return PostOutcome(answer, name=post.name)


def _delete_notes(service: str, job_names: Sequence[str]) -> None:
    """Delete tags and notes on earlier jobs that had the names of the new ones and were deleted elsewhere."""
    with suppress(ConfigurationError, OSError):  # the jobs have been submitted
        Annotations(service).forget(job_names)


def find_job(connection: ServiceConnection, name: str) -> Operation[Job | None]:
    """Find the job of this name; None if there is none."""
    try:
        return (yield from get_job(connection, name))
    except NotFoundError:
        return None


def find_free_name(connection: ServiceConnection, name: str) -> Operation[str]:
    """Append the first unused number to ``name``.

    Raises:
        SettingsError: all numbers are taken.
    """
    stem = name[:STEM_LENGTH]
    for number in range(2, _MAX_NAMES):
        candidate = f"{stem}-{number}"
        if (yield from find_job(connection, candidate)) is None:
            return candidate
    raise SettingsError([Problem(field="jobName", message=f"{stem!r} was submitted {_MAX_NAMES} times.")])


def require_same(post: Post, job: Job, refusal: ServiceError | None = None) -> Operation[None]:
    """Check that an existing job is the same as the submission.

    Raises:
        JobNameTakenError: it differs.
    """
    differences = yield from post.compare(job)
    if not differences:
        return
    shown = "; ".join(differences[:_MAX_SHOWN])
    more = f"; and {len(differences) - _MAX_SHOWN} more" if len(differences) > _MAX_SHOWN else ""
    argument = "batch_name" if post.name_field == "batchName" else "job_name"
    raise JobNameTakenError(
        f"The name {post.name!r} belongs to another job ({shown}{more}). Choose another {argument}.",
        status=400,
        code="job_name_taken",
        field=post.name_field,
    ) from refusal


def _resolve_refusal(connection: ServiceConnection, post: Post, refusal: BadRequestError) -> Operation[Job]:
    """After a refusal, return the existing job of this name if it is the same; else raise the refusal."""
    if refusal.code == "tool_unavailable":
        raise ToolUnavailableError(refusal.message) from refusal
    if refusal.code not in (None, "job_name_taken"):
        raise refusal
    job = yield from find_job(
        connection, post.name
    )  # without an error code, the refusal may mean a taken name
    if job is None:
        raise refusal
    yield from require_same(post, job, refusal)
    return job
