"""Idempotent submission: a job, batch, pipeline run or screening is never sent twice.

Each has a name that is unique for the account, and the name is the witness. When no answer came, it is looked
up before anything is sent again; when it is taken, what has it is compared with what was to be sent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from foldnote.client.core.connection import ServiceConnection, next_pause
from foldnote.client.core.job_pages import get_job
from foldnote.client.core.operations import Operation, Sleep
from foldnote.client.core.pacing import retry_delays
from foldnote.errors import (
    BadRequestError,
    JobNameTakenError,
    NotFoundError,
    ServiceError,
    ServiceFaultError,
    SettingsError,
    ToolUnavailableError,
    TransportError,
)
from foldnote.models import Job, Problem

_MOST_SHOWN = 3
_MOST_NAMES = 1000
_STEM = 90


@dataclass(frozen=True)
class Post:
    """A request that starts something under a name.

    Attributes:
        name: the job or batch that it makes.
        name_field: what the body calls the name: ``jobName`` or ``batchName``.
        compare: how an existing job of this name differs from what is wanted, in words; empty when it is
            the same.
    """

    path: str
    body: Mapping[str, Any]
    name: str
    name_field: str
    compare: Callable[[Job], Operation[list[str]]]

    def renamed(self, name: str) -> Post:
        """The same under another name."""
        return replace(self, name=name, body={**self.body, self.name_field: name})


@dataclass(frozen=True)
class Posted:
    """How it went.

    Attributes:
        answer: what the service answered; None where the job was there before.
        job: the job that was there before; None where it is new.
        name: the name under which it was sent.
    """

    answer: Any = None
    job: Job | None = None
    name: str = ""


def start_once(connection: ServiceConnection, post: Post, *, again: bool = False) -> Operation[Posted]:
    """What has this name, if it is the same as what is wanted; else send it.

    Args:
        again: send it under a free name even if it is there.

    Raises:
        JobNameTakenError: the name belongs to something else; the message shows the difference.
        ServiceError: the service refused.
        TransportError: no answer came, and the service does not know the name.
    """
    job = yield from look_up(connection, post.name)
    if job is None:
        return (yield from post_once(connection, post))
    if again:
        return (yield from post_once(connection, post.renamed((yield from free_name(connection, post.name)))))
    yield from require_same(post, job)
    return Posted(job=job)


def post_once(connection: ServiceConnection, post: Post) -> Operation[Posted]:
    """Send it, unless it is there.

    Raises:
        JobNameTakenError: the name belongs to something else; the message shows the difference.
        ToolUnavailableError: the service cannot run the tool; the message says what to do.
        ServiceError: the service refused.
        TransportError: no answer came, and the service does not know the name.
    """
    pauses = retry_delays()
    while True:
        try:
            answer = yield from connection.ask("POST", post.path, json=post.body, repeatable=False)
        except BadRequestError as exc:
            return Posted(job=(yield from _settle(connection, post, exc)))
        except (TransportError, ServiceFaultError) as exc:
            job = yield from look_up(connection, post.name)
            if job is not None:
                yield from require_same(post, job)
                return Posted(job=job)
            yield Sleep(next_pause(pauses, exc, allowed=True))
        else:
            return Posted(answer, name=post.name)


def look_up(connection: ServiceConnection, name: str) -> Operation[Job | None]:
    """The job of this name; None when there is none."""
    try:
        return (yield from get_job(connection, name))
    except NotFoundError:
        return None


def free_name(connection: ServiceConnection, name: str) -> Operation[str]:
    """``name`` with the first number that nothing is called by yet.

    Raises:
        SettingsError: all of them are taken.
    """
    stem = name[:_STEM]
    for number in range(2, _MOST_NAMES):
        candidate = f"{stem}-{number}"
        if (yield from look_up(connection, candidate)) is None:
            return candidate
    raise SettingsError([Problem(field="jobName", message=f"{stem!r} was submitted {_MOST_NAMES} times.")])


def require_same(post: Post, job: Job, refusal: ServiceError | None = None) -> Operation[None]:
    """Let pass the job of the name if it is what was to be sent.

    Raises:
        JobNameTakenError: it is another one.
    """
    differences = yield from post.compare(job)
    if not differences:
        return
    shown = "; ".join(differences[:_MOST_SHOWN])
    more = f"; and {len(differences) - _MOST_SHOWN} more" if len(differences) > _MOST_SHOWN else ""
    argument = "batch_name" if post.name_field == "batchName" else "job_name"
    raise JobNameTakenError(
        f"The name {post.name!r} belongs to another job ({shown}{more}). Choose another {argument}.",
        status=400,
        code="job_name_taken",
        field=post.name_field,
    ) from refusal


def _settle(connection: ServiceConnection, post: Post, refusal: BadRequestError) -> Operation[Job]:
    """The job whose name the refusal may say is taken, if it is the same; else the refusal."""
    if refusal.code == "tool_unavailable":
        raise ToolUnavailableError(refusal.message) from refusal
    if refusal.code not in (None, "job_name_taken"):
        raise refusal
    job = yield from look_up(connection, post.name)  # a deployment without codes may mean a taken name
    if job is None:
        raise refusal
    yield from require_same(post, job, refusal)
    return job
