"""Poll the state of running jobs: one task for all cards of a service.

The task runs in the event loop of the kernel and polls an asynchronous source for all jobs at once. It
retries while the service does not answer, drops final jobs, and ends when no job is left.
"""

from __future__ import annotations

import asyncio
import logging
import time
import weakref
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol

from foldnote.errors import FoldnoteError, NotFoundError
from foldnote.models import Job

FASTEST_S = 0.7
SLOWEST_S = 6.0
OUTAGE_S = 10.0
_SLOWING = 0.1
"""Ratio of a job's polling interval to the time for which it has been watched."""

_log = logging.getLogger(__name__)


class JobSource(Protocol):
    """Provides the state of jobs; ``AsyncClient.jobs`` is one."""

    def poll(
        self, names: Iterable[str], /, *, afresh: Iterable[str] = ...
    ) -> Awaitable[Mapping[str, Job | None]]:
        """Return the latest known records of the jobs by name; None for a job that does not exist.

        ``afresh`` names the jobs to request from the service even if a recent record is cached.
        """

    def stop(self, name: str, /) -> Awaitable[Any]:
        """Stop the job."""

    def logs(self, name: str, /) -> Awaitable[str]:
        """Return the log of the job so far."""


@dataclass(eq=False)
class WatchedJob:
    """A watched job and its callbacks.

    Attributes:
        name: name of the job.
        on_record: called with each record received.
        on_outage: called when polling failed, with the error and the time of the last record.
        since: monotonic time at which watching started, in seconds.
        last_good: time of the last record of this job; None before the first.
    """

    name: str
    on_record: Callable[[Job], Awaitable[None]]
    on_outage: Callable[[FoldnoteError, datetime | None], None]
    since: float = field(default_factory=time.monotonic)
    last_good: datetime | None = None


class JobWatcher:
    """Polls one source for all watched jobs, in one task."""

    def __init__(self, source: JobSource) -> None:
        """Start without watched jobs; must be called in the running loop."""
        self.source = source
        self._loop = asyncio.get_running_loop()
        self._watched: set[WatchedJob] = set()
        self._task: asyncio.Task[None] | None = None
        self._woken = asyncio.Event()
        self._afresh: set[str] = set()

    def add(self, watched: WatchedJob) -> None:
        """Start watching a job; must be called in the running loop."""
        self._watched.add(watched)
        self.wake(watched)
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._run(), name="foldnote job cards")

    def discard(self, watched: WatchedJob) -> None:
        """Stop watching a job."""
        self._watched.discard(watched)

    def wake(self, watched: WatchedJob) -> None:
        """Poll a job at once, bypassing cached records, for example after a click; from any running loop."""
        self._afresh.add(watched.name)
        if asyncio.get_running_loop() is self._loop:
            self._woken.set()
        else:
            self._loop.call_soon_threadsafe(self._woken.set)

    async def _run(self) -> None:
        while self._watched:
            self._woken.clear()
            pause = self._choose_pause_s() if await self._poll() else OUTAGE_S
            try:
                await asyncio.wait_for(self._woken.wait(), pause)
            except TimeoutError:
                continue

    async def _poll(self) -> bool:
        """Poll once and call the callbacks; returns whether the service answered."""
        afresh, self._afresh = self._afresh, set()
        watched = tuple(self._watched)
        try:
            records = await self.source.poll({job.name for job in watched}, afresh=afresh)
        except FoldnoteError as exc:
            for job in watched:
                job.on_outage(exc, job.last_good)
            return False
        except Exception:  # noqa: BLE001 - nothing awaits this task, and no error may end it
            _log.exception("Polling the jobs of the cards failed")
            return False
        for job in watched:
            if job.name in records:
                await self._notify(job, records[job.name])
        return True

    async def _notify(self, watched: WatchedJob, job: Job | None) -> None:
        try:
            if job is None:
                self.discard(watched)
                watched.on_outage(NotFoundError(f"There is no job {watched.name!r}."), watched.last_good)
                return
            watched.last_good = datetime.now(UTC)
            if job.is_final:
                self.discard(watched)
            await watched.on_record(job)
        except Exception:  # noqa: BLE001 - an error of one card must not end the others
            _log.exception("The card of job %s could not be updated", watched.name)

    def _choose_pause_s(self) -> float:
        now = time.monotonic()
        paces = [(now - watched.since) * _SLOWING for watched in self._watched]
        return min(max(min(paces, default=FASTEST_S), FASTEST_S), SLOWEST_S)


_watchers: weakref.WeakValueDictionary[tuple[int, int], JobWatcher] = weakref.WeakValueDictionary()
"""By the ids of loop and source, which a watcher references, so that neither id is reused while it is
listed. A watcher is referenced by its cards and by its task."""


def find_watcher(source: JobSource) -> JobWatcher | None:
    """Return the watcher of ``source`` on the running loop, or None where no loop runs."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return None
    key = (id(loop), id(source))
    watcher = _watchers.get(key) or JobWatcher(source)
    _watchers[key] = watcher
    return watcher


def read_record(response: Any) -> Job:
    """Return the job record in an answer: the record itself or the ``record`` of a handle.

    Raises:
        TypeError: the answer holds no job record.
    """
    job = response if isinstance(response, Job) else response.record
    if not isinstance(job, Job):
        raise TypeError(f"{type(response).__name__} holds no job record")
    return job
