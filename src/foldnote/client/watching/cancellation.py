"""Stop and delete jobs and read their logs, also at deployments with other routes for this, or none."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from foldnote.client.core.connection import ServiceConnection, path_part
from foldnote.client.core.job_pages import get_job
from foldnote.client.core.operations import Emit, Operation, Run, Sleep, Stream
from foldnote.client.core.pacing import poll_delays
from foldnote.client.local.annotations import Annotations
from foldnote.client.local.ledger import Ledger
from foldnote.client.watching.waiting import WaitLimit
from foldnote.errors import (
    ConfigurationError,
    FoldnoteError,
    GatewayForbiddenError,
    NotFoundError,
    RateLimitedError,
    ServiceError,
    ServiceFaultError,
    TransportError,
)

_WINDOW = 2000
_NO_SUCH_ROUTE = (404, 405, 501)


def stop_job(connection: ServiceConnection, job_name: str) -> Operation[None]:
    """Stop a job or a batch; one that has ended is unchanged.

    Raises:
        BadRequestError: there is no such job.
        NotFoundError: there is no such job, at a deployment without ``/stop-job``.
    """
    try:
        yield from connection.request("POST", "/stop-job", json={"jobName": job_name}, repeatable=True)
    except ServiceError as exc:
        if not _is_missing(exc):
            raise
    else:
        return
    job = yield from get_job(connection, job_name)
    if job.is_final:
        return
    path, name = ("/cancelBatch", "batchName") if job.is_batch else ("/cancelJob", "jobName")
    yield from connection.request("POST", path, json={name: job_name}, repeatable=True)


def delete_job(connection: ServiceConnection, job_name: str) -> Operation[None]:
    """Delete a job and its result, or a batch and its subjobs, with their local label, tags and note.

    Raises:
        BadRequestError: there is no such job.
    """
    yield from connection.request("DELETE", "/delete-job", json={"jobName": job_name}, repeatable=False)
    yield Run(lambda: Ledger(service=connection.service).remember_label(job_name, None))
    with suppress(ConfigurationError):  # the job itself is gone
        yield Run(lambda: Annotations(connection.service).forget([job_name]))


def read_log(connection: ServiceConnection, job_name: str, max_lines: int) -> Operation[str]:
    """Get the last lines of a job's log.

    Raises:
        NotFoundError: there is no such job, or the service provides no logs.
    """
    try:
        answer = yield from connection.request(
            "GET", f"/jobs/{path_part(job_name)}/log", params={"maxLines": str(max_lines)}
        )
    except ServiceError as exc:
        if not _is_missing(exc):
            raise
        yield from get_job(connection, job_name)
        raise NotFoundError(f"{connection.service} does not provide logs.", status=404) from exc
    return str(answer["log"]) if isinstance(answer, dict) and "log" in answer else str(answer)


def follow_log(connection: ServiceConnection, job_name: str, max_lines: int) -> Stream[str]:
    """Yield a job's log as it grows, in whole lines, until the job ends; see ``Jobs.follow_log``."""
    seen: list[str] = []
    time_limit = WaitLimit(None)
    delays = poll_delays(max_s=5.0)
    while True:
        is_final = False
        try:
            is_final = (
                yield from get_job(connection, job_name)
            ).is_final  # checked first, so that the last lines are read
            lines = (yield from read_log(connection, job_name, max(max_lines, _WINDOW))).splitlines()
        except (TransportError, ServiceFaultError, RateLimitedError) as exc:
            time_limit.tolerate(exc)
        else:
            time_limit.note_response()
            fresh = find_new_lines(seen, lines) if seen else lines[-max_lines:]
            if fresh:
                seen, delays = lines, poll_delays(max_s=5.0)
                yield Emit("".join(f"{line}\n" for line in fresh))
            if is_final:
                return
        yield Sleep(next(delays))


def find_new_lines(seen: Sequence[str], lines: Sequence[str]) -> list[str]:
    """Return the lines that follow those already seen, even if the window of the log has moved on."""
    seen, lines = list(seen), list(lines)
    for shared in range(min(len(seen), len(lines)), 0, -1):
        if seen[-shared:] == lines[:shared]:
            return lines[shared:]
    return lines  # no overlap: more than a window was written meanwhile


def read_tail(connection: ServiceConnection, job_name: str, lines: int) -> Operation[str]:
    """Get the end of a log, or an empty string after an error: it only supplements another message."""
    try:
        return (yield from read_log(connection, job_name, lines))
    except FoldnoteError:
        return ""


def _is_missing(refusal: ServiceError) -> bool:
    """Return whether the refusal means an unknown route; gateways answer with a bare 403."""
    return refusal.status in _NO_SUCH_ROUTE or isinstance(refusal, GatewayForbiddenError)
