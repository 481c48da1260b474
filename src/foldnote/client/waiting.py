"""Waiting for jobs: one request for one job or many, at a pace that adapts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from foldnote.client.effects import Sleep, Steps
from foldnote.client.link import Link
from foldnote.client.pace import poll_delays
from foldnote.errors import NotFoundError, WaitTimeoutError
from foldnote.models import Job, JobPage, read_job_answer, read_job_page

_LONGEST_LOCAL_S = 1.0
_LONGEST_S = 10.0
_PAGE = 1000
Watcher = Callable[[Job], None]


def get_job(link: Link, job_name: str) -> Steps[Job]:
    """The record of one job.

    Raises:
        NotFoundError: there is no such job.
    """
    job = read_job_answer((yield from link.ask("GET", "/jobs", params={"jobName": job_name})))
    if job is None:
        raise NotFoundError(f"There is no job {job_name!r}.", status=404)
    return job


def list_page(link: Link, params: dict[str, str]) -> Steps[JobPage]:
    """One page of jobs."""
    return read_job_page((yield from link.ask("GET", "/jobs", params=params)))


def get_many(link: Link, names: Iterable[str]) -> Steps[dict[str, Job]]:
    """The records of several jobs by name, in as few requests as their number allows.

    Raises:
        NotFoundError: one of them does not exist.
    """
    wanted = set(names)
    if len(wanted) == 1:
        name = wanted.pop()
        return {name: (yield from get_job(link, name))}
    found: dict[str, Job] = {}
    params = {"limit": str(_PAGE), "includeSubjobs": "true"}
    while wanted:
        page = yield from list_page(link, params)
        found |= {job.job_name: job for job in page.jobs if job.job_name in wanted}
        wanted -= found.keys()
        if page.start_key is None:
            break
        params["startKey"] = page.start_key
    for name in sorted(wanted):  # a deployment whose list leaves some out still knows them by name
        found[name] = yield from get_job(link, name)
    return found


def wait_all(
    link: Link, names: Iterable[str], timeout_s: float | None = None, on_change: Watcher | None = None
) -> Steps[dict[str, Job]]:
    """The final records of jobs, by name.

    Args:
        timeout_s: seconds after which the waiting ends; the jobs go on.
        on_change: called with each record that differs from the one before.

    Raises:
        WaitTimeoutError: not all jobs were final in time.
    """
    pending = list(dict.fromkeys(names))
    known: dict[str, Job] = {}
    deadline = None if timeout_s is None else time.monotonic() + timeout_s
    delays = poll_delays(longest_s=_LONGEST_LOCAL_S if link.profile.is_embedded else _LONGEST_S)
    while pending:
        records = yield from get_many(link, pending)
        for name, job in records.items():
            if on_change is not None and known.get(name) != job:
                on_change(job)
            known[name] = job
        pending = [name for name in pending if not known[name].is_final]
        if not pending:
            break
        pause = next(delays)
        if deadline is not None and time.monotonic() + pause > deadline:
            first = known[pending[0]]
            text = (
                f"{first.job_name!r} is still {first.status} after {timeout_s:g} s. It goes on; wait again."
            )
            raise WaitTimeoutError(text, first)
        yield Sleep(pause)
    return known
