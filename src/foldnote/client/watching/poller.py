"""Poll the jobs of one account that this process follows.

Job cards, ``wait``, ``as_completed`` and batches share it, so that one request serves them all. A poll
requests one page of the job list, whatever the number of jobs; jobs that the page lacks (older ones, rows of
a large batch) are requested in turn, one request per poll. A token bucket limits the requests to 12 a minute,
not counting extra polls of jobs that have been followed for less than ten seconds.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from foldnote.client.core.job_pages import LARGEST_PAGE, LongPoll, get_job, list_first_page, list_page
from foldnote.client.core.operations import Operation
from foldnote.client.core.pacing import Bucket
from foldnote.errors import NotFoundError, RateLimitedError

if TYPE_CHECKING:
    from foldnote.client.core.connection import ServiceConnection
    from foldnote.models import Job, JobPage

YOUNG_S = 10.0
"""Seconds after the start of following during which a job is polled more often."""
FEW = 2
"""Up to this number of jobs, requests by name are cheaper than a page."""
_WANTED_S = 30.0
_KEPT_S = 600.0
_MAX_PAUSE_S = 300.0
_LOOKUPS = 3
_SMALL_PAGE = 20
_PAGE = 50
_PAGES_IN_A_WALK = 10


@dataclass
class _PolledJob:
    """One followed job.

    Attributes:
        began: start of following; monotonic time in seconds, as are ``asked`` and ``seen``.
        asked: last time that a caller asked for the job.
        seen: last time that the service returned its record.
        record: last record; None before the first, and for a job that does not exist.
        is_gone: whether the service has no such job.
        is_unlisted: whether all pages of the job list were read without finding it.
        is_outside_batch: whether its batch's list was read without finding it; some deployments have no such
            list.
    """

    began: float
    asked: float
    seen: float = float("-inf")
    record: Job | None = None
    is_gone: bool = False
    is_unlisted: bool = False
    is_outside_batch: bool = False

    @property
    def batch(self) -> str | None:
        """Name of the batch whose list has the job; None if unknown."""
        return self.record.batch if self.record and not self.is_outside_batch else None

    @property
    def is_over(self) -> bool:
        return self.is_gone or (self.record is not None and self.record.is_final)


@dataclass
class _PageWalk:
    """State of reading the later pages of the job list: the next page, and the jobs not found yet."""

    start_key: str | None = None
    pages: int = 0
    lacking: set[str] = field(default_factory=set)


class AccountPoller:
    """Polls the followed jobs of one account, for all callers in this process."""

    def __init__(self, job_email: str | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        """Start without followed jobs.

        Args:
            job_email: address of the organization's member who owns the jobs; None for your own.
            clock: monotonic time in seconds.
        """
        self._owner = {} if job_email is None else {"jobEmail": job_email}
        self._job_email = job_email
        self.clock = clock
        """Monotonic time in seconds."""
        self._lock = threading.Lock()
        self._jobs: dict[str, _PolledJob] = {}
        self._regular_bucket = Bucket(1 / 6, 2.0, clock)
        self._fast_bucket = Bucket(1.0, 10.0, clock)
        self._size = _PAGE
        self._listed: frozenset[str] = frozenset()
        self._second_key: str | None = None
        self._new_batch: str | None = None
        self._first_read = float("-inf")
        self._is_missing_next = False
        self._walk = _PageWalk()
        self._paused_until = float("-inf")
        self._fault: RateLimitedError | None = None

    def follow(self, names: Iterable[str], *, afresh: bool = False) -> None:
        """Follow these jobs, or keep following them.

        Args:
            afresh: discard their known records, and poll them more often: they may have changed.
        """
        with self._lock:
            now = self.clock()
            for name in names:
                job = self._jobs.get(name)
                if job is None or afresh or now - job.asked > _WANTED_S:
                    self._jobs[name] = _PolledJob(now, now)
                else:
                    job.asked = now
            for name in [name for name, job in self._jobs.items() if now - job.asked > _KEPT_S]:
                del self._jobs[name]

    def gap_s(self, names: Collection[str]) -> float:
        """Return the seconds until the next poll is due."""
        now = self.clock()
        gap = self._find_bucket(names).gap_s()
        return max(gap, self._paused_until - now, 0.0)

    def is_due(self, names: Collection[str]) -> bool:
        """Return whether a poll is due: some jobs are unfinished, and the rate limit allows a request.

        After a 429 a poll is always due: it raises the same refusal again, without a request.
        """
        if self.is_fresh(names, float("inf")):
            return False
        return self.clock() < self._paused_until or not self._find_bucket(names).gap_s()

    def find(self, names: Iterable[str]) -> dict[str, Job | None]:
        """Get the last known records by name: None for a job that does not exist, no entry if unseen."""
        with self._lock:
            known = {name: self._jobs[name] for name in names if name in self._jobs}
            return {name: job.record for name, job in known.items() if job.is_gone or job.record is not None}

    def add_records(self, records: Mapping[str, Job]) -> None:
        """Add records that were requested elsewhere."""
        with self._lock:
            now = self.clock()
            for name, record in records.items():
                job = self._jobs.setdefault(name, _PolledJob(now, now))
                job.record, job.seen, job.is_gone = record, now, False

    def is_fresh(self, names: Iterable[str], since: float) -> bool:
        """Return whether each of these jobs has ended, or was seen after ``since`` (monotonic seconds)."""
        with self._lock:
            jobs = [self._jobs.get(name) for name in names]
            return all(job is not None and (job.is_over or job.seen > since) for job in jobs)

    def poll(
        self, connection: ServiceConnection, names: Collection[str], long_poll: LongPoll | None = None
    ) -> Operation[None]:
        """Poll once; ``find`` returns the new records.

        Args:
            long_poll: lets the service hold the request until something changes, and stores its new mark.

        Raises:
            ServiceError: the service refused; after a 429 nothing is requested until its ``Retry-After``.
            TransportError: no answer was received.
        """
        if self.clock() < self._paused_until and self._fault is not None:
            raise self._fault.with_traceback(None)
        try:
            yield from self._poll(connection, names, long_poll)
        except RateLimitedError as exc:
            self._fault = exc
            self._paused_until = self.clock() + min(exc.retry_after_s or 0.0, _MAX_PAUSE_S)
            raise

    def _poll(
        self, connection: ServiceConnection, names: Collection[str], long_poll: LongPoll | None
    ) -> Operation[None]:
        bucket = self._find_bucket(names)
        wanted = self._list_wanted()
        if len(wanted) <= FEW and long_poll is None:
            for name in wanted:
                bucket.reserve()
                yield from self._request_by_name(connection, name)
            return
        bucket.reserve()
        missing = self._list_missing(wanted)
        self._is_missing_next = bool(missing) and not self._is_missing_next
        if self._is_missing_next:
            yield from self._request_missing(connection, missing)
        else:
            yield from self._read_first(connection, wanted, long_poll)

    def _read_first(
        self, connection: ServiceConnection, wanted: Collection[str], long_poll: LongPoll | None
    ) -> Operation[None]:
        size = _SMALL_PAGE if len(wanted) <= FEW else min(max(self._size, 2 * len(wanted)), LARGEST_PAGE)
        params = {"limit": str(size), "includeSubjobs": "true"} | self._owner
        if long_poll is None:
            page = yield from list_page(connection, params, repeatable=False)
        else:
            page = yield from list_first_page(connection, params, long_poll)
        self._add_page(page)
        self._listed, self._second_key, self._first_read = _names(page), page.start_key, self.clock()
        if page.start_key and len(self._list_missing(wanted)) > _LOOKUPS:
            self._size = min(4 * size, LARGEST_PAGE)

    def _request_missing(self, connection: ServiceConnection, missing: list[str]) -> Operation[None]:
        """Send one request for jobs that the first page lacks, the least recently seen first."""
        name = missing[0]
        job = self._jobs[name]
        listed = [each for each in missing if not self._jobs[each].is_unlisted]
        batch, self._new_batch = self._new_batch or job.batch, None
        if batch is not None:
            page = yield from self._read_more(connection, {"batch": batch})
            job.is_outside_batch = job.batch == batch and name not in _names(page)
        elif not job.is_unlisted and self._second_key and len(listed) > _LOOKUPS:
            yield from self._read_next_page(connection, listed, self._second_key)
        else:
            yield from self._request_by_name(connection, name)
            self._new_batch = job.batch  # its list may have more of the missing jobs

    def _read_next_page(
        self, connection: ServiceConnection, listed: list[str], first_key: str
    ) -> Operation[None]:
        """Get the next page of older jobs; jobs on none of the pages are later looked up by name."""
        walk = self._walk
        if walk.start_key is None:
            walk.start_key, walk.pages = first_key, 0
            walk.lacking = set(listed)
        page = yield from self._read_more(connection, {"includeSubjobs": "true", "startKey": walk.start_key})
        walk.lacking -= _names(page)
        is_stuck = page.start_key in (None, walk.start_key)  # some deployments ignore paging
        walk.start_key, walk.pages = page.start_key, walk.pages + 1
        if not walk.lacking or is_stuck or walk.pages >= _PAGES_IN_A_WALK:
            walk.start_key = None
            for name in walk.lacking & self._jobs.keys():
                self._jobs[name].is_unlisted = True

    def _read_more(self, connection: ServiceConnection, params: dict[str, str]) -> Operation[JobPage]:
        page = yield from list_page(
            connection, params | {"limit": str(LARGEST_PAGE)} | self._owner, repeatable=False
        )
        self._add_page(page)
        return page

    def _request_by_name(self, connection: ServiceConnection, name: str) -> Operation[None]:
        try:
            record = yield from get_job(connection, name, self._job_email, repeatable=False)
        except NotFoundError:
            with self._lock:
                job = self._jobs[name]
                job.record, job.is_gone = None, True
        else:
            self.add_records({name: record})  # by the requested name: a deployment's record may have another

    def _add_page(self, page: JobPage) -> None:
        self.add_records({job.job_name: job for job in page.jobs if job.job_name in self._jobs})

    def _list_wanted(self) -> list[str]:
        with self._lock:
            now = self.clock()
            return [
                name for name, job in self._jobs.items() if not job.is_over and now - job.asked <= _WANTED_S
            ]

    def _list_missing(self, wanted: Collection[str]) -> list[str]:
        """Return the jobs that the first page lacks, the least recently seen first."""
        missing = [
            name for name in wanted if name not in self._listed and self._jobs[name].began <= self._first_read
        ]
        return sorted(missing, key=lambda name: self._jobs[name].seen)

    def _find_bucket(self, names: Collection[str]) -> Bucket:
        with self._lock:
            now = self.clock()
            is_young = any(
                job is None or (now - job.began < YOUNG_S and not job.is_over)
                for job in map(self._jobs.get, names)
            )
        return self._fast_bucket if is_young else self._regular_bucket


def _names(page: JobPage) -> frozenset[str]:
    return frozenset(job.job_name for job in page.jobs)


_pollers: WeakValueDictionary[tuple[object, ...], AccountPoller] = WeakValueDictionary()
_pollers_lock = threading.Lock()


def find_poller(connection: ServiceConnection, job_email: str | None = None) -> AccountPoller:
    """Return the poller of this account, shared by all connections of this process."""
    with _pollers_lock:
        poller = connection.pollers.get(job_email) or _pollers.get((*connection.identity, job_email))
        if poller is None:
            poller = AccountPoller(job_email)
        _pollers[(*connection.identity, job_email)] = connection.pollers[job_email] = poller
        return poller
