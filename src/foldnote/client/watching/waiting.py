"""Wait for jobs, with one request for all of them and an adaptive interval."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable

from foldnote.client.core.connection import ServiceConnection
from foldnote.client.core.job_pages import LARGEST_PAGE, LongPoll, get_job, list_first_page, list_page
from foldnote.client.core.operations import Operation, Sleep
from foldnote.client.core.pacing import poll_delays
from foldnote.client.watching.poller import FEW, find_poller
from foldnote.errors import (
    ArgumentError,
    FoldnoteError,
    NotFoundError,
    RateLimitedError,
    ServiceFaultError,
    TransportError,
    WaitTimeoutError,
)
from foldnote.models import Job

_LOCAL = {"first_s": 0.25, "max_s": 5.0, "growth": 1.3}
"""Poll delays for few jobs at the embedded service: short, since such jobs may take only seconds."""
_LONG_POLL_DELAYS = {"first_s": 0.5, "max_s": 15.0, "growth": 1.6}
"""Seconds for which a service may hold a request until something changes."""
_POLLS_BEFORE_LONG_POLL = 3
_FIRST_PAGE = 200
_SHORT_PAGE = 20
_MAX_OUTAGE_S = 300.0
OnChange = Callable[[Job], None]


def get_many(
    connection: ServiceConnection, names: Iterable[str], long_poll: LongPoll | None = None
) -> Operation[dict[str, Job]]:
    """Get the records of several jobs by name, in as few requests as possible.

    Args:
        long_poll: lets the service hold the first request until something changes, and stores its new mark.

    Raises:
        NotFoundError: one of them does not exist.
    """
    wanted = set(names)
    found: dict[str, Job] = {}
    size, start_key = max(_FIRST_PAGE, 2 * len(wanted)) if len(wanted) > FEW else _SHORT_PAGE, None
    while len(wanted) > FEW or long_poll is not None:
        params = {"limit": str(min(size, LARGEST_PAGE)), "includeSubjobs": "true"}
        params |= {"startKey": start_key} if start_key else {}
        page = (
            yield from list_first_page(connection, params, long_poll)
            if long_poll
            else list_page(connection, params)
        )
        long_poll = None
        found |= {job.job_name: job for job in page.jobs if job.job_name in wanted}
        wanted -= found.keys()
        if not page.jobs or page.start_key in (None, start_key):  # some deployments ignore paging
            break
        size, start_key = 2 * size, page.start_key
    for name in sorted(wanted):  # the last few, and jobs that a deployment does not list
        found[name] = yield from get_job(connection, name)
    return found


def wait_all(
    connection: ServiceConnection,
    names: Iterable[str],
    timeout_s: float | None = None,
    on_change: OnChange | None = None,
) -> Operation[dict[str, Job]]:
    """Wait until all jobs have ended; returns their records by name.

    Once the service has answered, outages of some minutes are tolerated.

    Args:
        timeout_s: maximum time to wait, in seconds; the jobs themselves continue.
        on_change: called with the record at each change.

    Raises:
        WaitTimeoutError: some jobs had not ended in time.
        NotFoundError: one of them does not exist, or was deleted meanwhile.
    """
    watch = Watch(connection, names, timeout_s, on_change)
    while watch.pending:
        yield from watch.poll()
        yield from watch.pause()
    return watch.known


class Watch:
    """Polls a set of jobs until all of them have ended."""

    def __init__(
        self,
        connection: ServiceConnection,
        names: Iterable[str],
        timeout_s: float | None,
        on_change: OnChange | None,
    ) -> None:
        self.pending = list(dict.fromkeys(names))
        """Names of the unfinished jobs, in the given order."""
        self.known: dict[str, Job] = {}
        """Last known records, by name."""
        self._connection = connection
        self._poller = find_poller(connection)
        self._on_change = on_change
        self._time_limit = WaitLimit(timeout_s)
        self._is_few = len(self.pending) <= FEW
        self._looks = 0
        self._polled_at = float("-inf")
        self._long_poll = LongPoll()
        self._delays = poll_delays(**_choose_delays(connection, is_few=self._is_few))

    def poll(self) -> Operation[list[Job]]:
        """Poll; returns the jobs that have ended since the last poll, none during an outage.

        Raises:
            NotFoundError: one of the jobs does not exist.
            TransportError: the service never answered, or not for some minutes.
        """
        long_poll = self._long_poll if self._may_long_poll() else None
        self._looks += 1
        try:
            records = yield from (self._poll_again(long_poll) if self.known else self._poll_first(long_poll))
        except (TransportError, ServiceFaultError, RateLimitedError) as exc:
            self._time_limit.tolerate(exc)
            self._long_poll = LongPoll()
            return []
        self._polled_at = self._poller.clock()
        self._time_limit.note_response()
        _report_changes(records, self.known, self._on_change)
        # by the requested name: a deployment's record may have another
        done = [name for name in self.pending if name in records and records[name].is_final]
        self.pending = [name for name in self.pending if name not in done]
        return [records[name] for name in done]

    def _poll_first(self, long_poll: LongPoll | None) -> Operation[dict[str, Job]]:
        """Request all jobs again: a known record may be of an earlier job of the same name."""
        self._poller.follow(self.pending, afresh=True)
        records = yield from get_many(self._connection, self.pending, long_poll)
        self._poller.add_records(records)
        return records

    def _poll_again(self, long_poll: LongPoll | None) -> Operation[dict[str, Job]]:
        """Poll all jobs that this process follows, unless another caller has just done so."""
        self._poller.follow(self.pending)
        if not self._poller.is_fresh(self.pending, self._polled_at):
            yield from self._poller.poll(self._connection, self.pending, long_poll)
        records = self._poller.find(self.pending)
        gone = [name for name, record in records.items() if record is None]
        if gone:
            raise NotFoundError(f"The job {gone[0]!r} no longer exists.", status=404)
        return {name: record for name, record in records.items() if record is not None}

    def _may_long_poll(self) -> bool:
        """Return whether to let the service hold the next request; for few jobs, only after some polls."""
        if self._connection.supports_long_poll is None:
            return not self._is_few or self._looks >= _POLLS_BEFORE_LONG_POLL
        return self._connection.supports_long_poll

    def pause(self) -> Operation[None]:
        """Pause until the next poll; return at once if no job is left.

        If the service can hold a request, the next request itself is the pause.

        Raises:
            WaitTimeoutError: the time is over.
        """
        if not self.pending:
            return
        first = self.known.get(self.pending[0])
        pause_s = self._time_limit.limit(next(self._delays), first)
        gap_s = self._poller.gap_s(self.pending)
        if self._long_poll.mark:
            self._long_poll.wait_s = pause_s
        else:
            gap_s = max(gap_s, pause_s)
        if gap_s:
            yield Sleep(self._time_limit.limit(gap_s, first))


def _choose_delays(connection: ServiceConnection, *, is_few: bool) -> dict[str, float]:
    """Return the arguments of ``poll_delays`` for this service."""
    if is_few:
        return _LOCAL if connection.profile.is_embedded else {}
    return _LONG_POLL_DELAYS if connection.supports_long_poll else {}


def _report_changes(records: dict[str, Job], known: dict[str, Job], on_change: OnChange | None) -> None:
    for name, job in records.items():
        if on_change is not None and known.get(name) != job:
            on_change(job)
        known[name] = job


class WaitLimit:
    """Limits waiting: a time-out, and a maximum length of outages."""

    def __init__(self, timeout_s: float | None, clock: Callable[[], float] = time.monotonic) -> None:
        """Start the time.

        Raises:
            ArgumentError: ``timeout_s`` is not a number.
        """
        is_number = isinstance(timeout_s, int | float) and not isinstance(timeout_s, bool)
        if timeout_s is not None and not (is_number and not math.isnan(timeout_s)):
            message = f"timeout_s is {timeout_s!r}; it must be a number of seconds, or None for no limit."
            raise ArgumentError(message)
        self._timeout_s = timeout_s
        self._clock = clock
        self._deadline = None if timeout_s is None else clock() + timeout_s
        self._last_good: float | None = None

    def note_response(self) -> None:
        """Note that the service has answered."""
        self._last_good = self._clock()

    def tolerate(self, fault: FoldnoteError) -> None:
        """Ignore ``fault``, or raise it if the service has not answered at all or for too long."""
        if self._last_good is None or self._clock() - self._last_good > _MAX_OUTAGE_S:
            raise fault

    def limit(self, pause_s: float, job: Job | None) -> float:
        """Cut ``pause_s`` to the remaining time, in seconds.

        Raises:
            WaitTimeoutError: the time is over.
        """
        if self._deadline is None:
            return pause_s
        left_s = self._deadline - self._clock()
        if left_s <= 0:
            state = f"{job.job_name!r} is still {job.status}" if job else "The service does not answer"
            raise WaitTimeoutError(
                f"{state} after {self._timeout_s:g} s. The job continues; wait again.", job
            )
        return min(pause_s, left_s)
