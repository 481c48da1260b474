"""Waiting for jobs: one request for one job or many, at a pace that adapts."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable

from foldnote.client.effects import Sleep, Steps
from foldnote.client.link import Link
from foldnote.client.pace import poll_delays
from foldnote.client.refusals import read_json, understand
from foldnote.errors import (
    FoldnoteError,
    NotFoundError,
    RateLimitedError,
    ServiceFaultError,
    TransportError,
    WaitTimeoutError,
)
from foldnote.models import Job, JobPage, read_job_answer, read_job_page
from foldnote.models.plain import read_plain_job, read_plain_page

_LOCAL = {"first_s": 0.25, "longest_s": 5.0, "growth": 1.3}
"""One's own machine does not mind being asked more often, and its jobs may take seconds only."""
_FIRST_PAGE = 200
_LARGEST_PAGE = 1000
_FEW = 2
_LONGEST_OUTAGE_S = 300.0
Watcher = Callable[[Job], None]


def get_job(link: Link, job_name: str) -> Steps[Job]:
    """The record of one job.

    Raises:
        NotFoundError: there is no such job.
    """
    answer = yield from link.send("GET", "/jobs", params={"jobName": job_name})
    job = read_plain_job(answer.body) or understand(read_job_answer, read_json(answer))
    if job is None:
        raise NotFoundError(f"There is no job {job_name!r}.", status=404)
    return job


def list_page(link: Link, params: dict[str, str]) -> Steps[JobPage]:
    """One page of jobs."""
    answer = yield from link.send("GET", "/jobs", params=params)
    return read_plain_page(answer.body) or understand(read_job_page, read_json(answer))


def list_many(
    link: Link, params: dict[str, str], limit: int, is_wanted: Callable[[Job], bool] | None = None
) -> Steps[list[Job]]:
    """At most ``limit`` jobs that are wanted, newest first, from as many pages as it takes."""
    seen: dict[str, Job] = {}
    found: Collection[Job] = seen.values()
    start_key: str | None = None
    while len(found) < limit:
        size = {"limit": str(_LARGEST_PAGE if is_wanted else min(limit - len(found), _LARGEST_PAGE))}
        page = yield from list_page(link, params | size | ({"startKey": start_key} if start_key else {}))
        before = len(seen)
        for job in page.jobs:
            seen.setdefault(job.job_name, job)
        if is_wanted is not None:
            found = [job for job in seen.values() if is_wanted(job)]
        if page.start_key in (None, start_key) or len(seen) == before:  # some deployments ignore paging
            break
        start_key = page.start_key
    return list(found)[:limit]


def get_many(link: Link, names: Iterable[str]) -> Steps[dict[str, Job]]:
    """The records of several jobs by name, in as few requests as their number allows.

    Raises:
        NotFoundError: one of them does not exist.
    """
    wanted = set(names)
    found: dict[str, Job] = {}
    size, start_key = max(_FIRST_PAGE, 2 * len(wanted)), None
    while len(wanted) > _FEW:
        params = {"limit": str(min(size, _LARGEST_PAGE)), "includeSubjobs": "true"}
        page = yield from list_page(link, params | ({"startKey": start_key} if start_key else {}))
        found |= {job.job_name: job for job in page.jobs if job.job_name in wanted}
        wanted -= found.keys()
        if not page.jobs or page.start_key in (None, start_key):  # some deployments ignore paging
            break
        size, start_key = 2 * size, page.start_key
    for name in sorted(wanted):  # the last few, and what a deployment's list leaves out
        found[name] = yield from get_job(link, name)
    return found


def wait_all(
    link: Link, names: Iterable[str], timeout_s: float | None = None, on_change: Watcher | None = None
) -> Steps[dict[str, Job]]:
    """The final records of jobs, by name.

    Once the service has answered, an outage of some minutes is waited out.

    Args:
        timeout_s: seconds after which the waiting ends; the jobs go on.
        on_change: called with each record that differs from the one before.

    Raises:
        WaitTimeoutError: not all jobs were final in time.
        NotFoundError: one of them does not exist, or was deleted meanwhile.
    """
    watch = Watch(link, names, timeout_s, on_change)
    while watch.pending:
        yield from watch.look()
        yield from watch.pause()
    return watch.known


class Watch:
    """Jobs that are looked at together until all of them are final."""

    def __init__(
        self, link: Link, names: Iterable[str], timeout_s: float | None, on_change: Watcher | None
    ) -> None:
        self.pending = list(dict.fromkeys(names))
        """Names of the jobs that were not final when last seen, in the order in which they were given."""
        self.known: dict[str, Job] = {}
        """Records as last seen."""
        self._link = link
        self._on_change = on_change
        self._patience = Patience(timeout_s)
        self._delays = poll_delays(**(_LOCAL if link.profile.is_embedded else {}))

    def look(self) -> Steps[list[Job]]:
        """The jobs that are final since the look before; in an outage, none.

        Raises:
            NotFoundError: one of the jobs does not exist.
            TransportError: no answer comes, and none came for some minutes.
        """
        try:
            records = yield from get_many(self._link, self.pending)
        except (TransportError, ServiceFaultError, RateLimitedError) as exc:
            self._patience.bear(exc)
            return []
        self._patience.renew()
        _note(records, self.known, self._on_change)
        # by the name that was asked for: what a deployment calls the record is its own matter
        done = [name for name in self.pending if name in records and records[name].is_final]
        self.pending = [name for name in self.pending if name not in done]
        return [records[name] for name in done]

    def pause(self) -> Steps[None]:
        """The pause until the next look; none when nothing is left to look at.

        Raises:
            WaitTimeoutError: the time is over.
        """
        if self.pending:
            yield Sleep(self._patience.limit(next(self._delays), self.known.get(self.pending[0])))


def _note(records: dict[str, Job], known: dict[str, Job], on_change: Watcher | None) -> None:
    for name, job in records.items():
        if on_change is not None and known.get(name) != job:
            on_change(job)
        known[name] = job


class Patience:
    """How long waiting goes on: until a time-out, and through outages of limited length."""

    def __init__(self, timeout_s: float | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._timeout_s = timeout_s
        self._clock = clock
        self._deadline = None if timeout_s is None else clock() + timeout_s
        self._last_good: float | None = None

    def renew(self) -> None:
        """The service has answered."""
        self._last_good = self._clock()

    def bear(self, fault: FoldnoteError) -> None:
        """Go on despite ``fault``; raise it when the service never answered, or not for too long."""
        if self._last_good is None or self._clock() - self._last_good > _LONGEST_OUTAGE_S:
            raise fault

    def limit(self, pause_s: float, job: Job | None) -> float:
        """``pause_s``, or what is left of the time; with nothing left, the waiting ends.

        Raises:
            WaitTimeoutError: the time is over.
        """
        if self._deadline is None:
            return pause_s
        left_s = self._deadline - self._clock()
        if left_s <= 0:
            state = f"{job.job_name!r} is still {job.status}" if job else "The service does not answer"
            raise WaitTimeoutError(f"{state} after {self._timeout_s:g} s. The job goes on; wait again.", job)
        return min(pause_s, left_s)
