"""Request job records: one by its name, one page, or as many pages as needed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from numbers import Integral
from operator import attrgetter

from foldnote.client.core.connection import ServiceConnection
from foldnote.client.core.error_mapping import parse_response, read_json
from foldnote.client.core.operations import Operation
from foldnote.errors import ArgumentError, BadRequestError, NotFoundError
from foldnote.models import Job, JobPage, read_job_answer, read_job_page
from foldnote.models.job_parsing import read_plain_job, read_plain_page

LARGEST_PAGE = 1000
"""Largest page that a service returns, in jobs."""
_NAME = attrgetter("job_name")


def get_job(
    connection: ServiceConnection, job_name: str, job_email: str | None = None, *, repeatable: bool = True
) -> Operation[Job]:
    """Get the record of one job; with ``job_email``, a job of another member of the organization.

    Args:
        repeatable: whether to retry when no answer comes; a poller asks at its next poll instead.

    Raises:
        NotFoundError: there is no such job.
    """
    whose = {} if job_email is None else {"jobEmail": job_email}
    answer = yield from connection.send(
        "GET", "/jobs", params={"jobName": job_name} | whose, repeatable=repeatable
    )
    job = read_plain_job(answer.body) or parse_response(read_job_answer, read_json(answer))
    if job is None:
        owner = "" if job_email is None else f" of {job_email}"
        raise NotFoundError(f"There is no job {job_name!r}{owner}.", status=404)
    return job


def require_batch(
    connection: ServiceConnection, batch_name: str, job_email: str | None = None
) -> Operation[None]:
    """Distinguish an empty batch from one that does not exist: for both, a service lists no jobs.

    Raises:
        ArgumentError: the name is that of a job.
        NotFoundError: there is no such batch.
    """
    try:
        job = yield from get_job(connection, batch_name, job_email)
    except NotFoundError as exc:
        owner = "" if job_email is None else f" of {job_email}"
        raise NotFoundError(f"There is no batch {batch_name!r}{owner}.", status=404) from exc
    if not job.is_batch:
        raise ArgumentError(f"{batch_name!r} is a job, not a batch.")


def check_limit(limit: object) -> int:
    """Validate the largest number of rows of a list.

    Raises:
        ArgumentError: it is not a positive integer.
    """
    if isinstance(limit, bool) or not isinstance(limit, Integral) or limit < 1:
        raise ArgumentError(
            f"limit is {limit!r}; it must be a positive integer. For all rows, say limit=1_000_000."
        )
    return int(limit)


def list_page(
    connection: ServiceConnection,
    params: dict[str, str],
    long_poll_s: float = 0.0,
    *,
    repeatable: bool = True,
) -> Operation[JobPage]:
    """Get one page of jobs; the service may hold the request for ``long_poll_s`` seconds."""
    answer = yield from connection.send(
        "GET", "/jobs", params=params, timeout_s=connection.timeout_s + long_poll_s, repeatable=repeatable
    )
    return read_plain_page(answer.body) or parse_response(read_job_page, read_json(answer))


def list_many(
    connection: ServiceConnection,
    params: dict[str, str],
    limit: int,
    is_wanted: Callable[[Job], bool] | None = None,
) -> Operation[Sequence[Job]]:
    """Get at most ``limit`` matching jobs, newest first, from as many pages as needed."""
    return (yield from read_pages(connection, params, check_limit(limit), is_wanted)).jobs


def read_pages(
    connection: ServiceConnection,
    params: dict[str, str],
    limit: int,
    is_wanted: Callable[[Job], bool] | None = None,
) -> Operation[JobPage]:
    """Get at most ``limit`` matching jobs as one page, from as many pages as needed."""
    seen: dict[str, Job] = {}
    found: Collection[Job] = seen.values()
    start_key: str | None = None
    page = JobPage(jobs=())
    while len(found) < limit:
        size = {"limit": str(LARGEST_PAGE if is_wanted else min(limit - len(found), LARGEST_PAGE))}
        page = yield from list_page(
            connection, params | size | ({"startKey": start_key} if start_key else {})
        )
        if len(page.jobs) == limit and is_wanted is None:  # complete after one request
            return page
        before = len(seen)
        seen.update(zip(map(_NAME, page.jobs), page.jobs, strict=True))
        if is_wanted is not None:
            found = [job for job in seen.values() if is_wanted(job)]
        if page.start_key in (None, start_key) or len(seen) == before:  # some deployments ignore paging
            break
        start_key = page.start_key
    return page.model_copy(update={"jobs": tuple(found)[:limit]})


@dataclass
class LongPoll:
    """A request that the service may hold until a status changes (``since`` and ``waitSeconds``).

    Attributes:
        mark: the service's mark of the state last seen; empty before the first request.
        wait_s: seconds for which the service may hold the next request.
    """

    mark: str = ""
    wait_s: float = 0.0

    def to_params(self) -> dict[str, str]:
        """Return the query parameters."""
        return {"since": self.mark} | (
            {"waitSeconds": f"{self.wait_s:.3g}"} if self.mark and self.wait_s else {}
        )


def list_first_page(
    connection: ServiceConnection, params: dict[str, str], long_poll: LongPoll
) -> Operation[JobPage]:
    """Get the first page, held by the service if it supports that, which the connection remembers."""
    try:
        page = yield from list_page(connection, params | long_poll.to_params(), long_poll.wait_s)
    except BadRequestError:  # some deployments refuse unknown parameters
        connection.supports_long_poll = False
        return (yield from list_page(connection, params))
    long_poll.mark = page.mark or ""
    connection.supports_long_poll = bool(page.mark)
    return page
