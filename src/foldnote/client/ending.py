"""Stopping jobs and reading their logs, also where a deployment has other routes for it, or none."""

from __future__ import annotations

from foldnote.client.effects import Steps
from foldnote.client.link import Link
from foldnote.client.resource import path_part
from foldnote.client.waiting import get_job
from foldnote.errors import FoldnoteError, GatewayForbiddenError, NotFoundError, ServiceError

_NO_SUCH_ROUTE = (404, 405, 501)


def stop_job(link: Link, job_name: str) -> Steps[None]:
    """Stop a job or a batch; one that has ended stays as it is.

    Raises:
        BadRequestError: there is no such job.
        NotFoundError: the same, at a deployment without ``/stop-job``.
    """
    try:
        yield from link.ask("POST", "/stop-job", json={"jobName": job_name}, repeatable=True)
    except ServiceError as exc:
        if not _is_missing(exc):
            raise
    else:
        return
    job = yield from get_job(link, job_name)
    if job.is_final:
        return
    path, name = ("/cancelBatch", "batchName") if job.is_batch else ("/cancelJob", "jobName")
    yield from link.ask("POST", path, json={name: job_name}, repeatable=True)


def read_log(link: Link, job_name: str, max_lines: int) -> Steps[str]:
    """The last lines of a job's log.

    Raises:
        NotFoundError: there is no such job, or the service tells no logs.
    """
    try:
        answer = yield from link.ask(
            "GET", f"/jobs/{path_part(job_name)}/log", params={"maxLines": str(max_lines)}
        )
    except ServiceError as exc:
        if not _is_missing(exc):
            raise
        yield from get_job(link, job_name)
        raise NotFoundError(f"{link.service} tells no logs of its jobs.", status=404) from exc
    return str(answer["log"]) if isinstance(answer, dict) and "log" in answer else str(answer)


def read_tail(link: Link, job_name: str, lines: int) -> Steps[str]:
    """The end of a log, or nothing: it only illustrates what went wrong otherwise."""
    try:
        return (yield from read_log(link, job_name, lines))
    except FoldnoteError:
        return ""


def _is_missing(refusal: ServiceError) -> bool:
    """Whether the service means that it has no such route; gateways say so with a bare 403."""
    return refusal.status in _NO_SUCH_ROUTE or isinstance(refusal, GatewayForbiddenError)
