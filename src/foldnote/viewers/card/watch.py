"""Poll the state of running jobs: one task for all cards of a service.

The task lives on the loop that runs the cells, asks through an asynchronous source for all jobs at once, and
never blocks. A service that does not answer is waited for; a job that is over is not asked for again; with
nothing left to watch the task ends. What is done with an answer is the watched card's matter.
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
"""A job is asked for again after a tenth of the time that it has been watched."""

_log = logging.getLogger(__name__)


class JobSource(Protocol):
    """Where the state of a job is asked for; ``AsyncClient.jobs`` is one."""

    def poll(
        self, names: Iterable[str], /, *, afresh: Iterable[str] = ...
    ) -> Awaitable[Mapping[str, Job | None]]:
        """The records of the jobs as last seen, at its own pace: None for a job that does not exist.

        ``afresh``: those of them that may have changed, and are looked at anew.
        """

    def stop(self, name: str, /) -> Awaitable[Any]:
        """Ask for the job to be stopped."""

    def logs(self, name: str, /) -> Awaitable[str]:
        """What the job has written so far."""


@dataclass(eq=False)
class Watched:
    """One job that somebody wants to know of.

    Attributes:
        name: the job.
        on_answer: called with the record after every good answer.
        on_outage: called when there was no answer, with the reason and the time of the last good one.
        since: monotonic time of the beginning, in seconds.
        last_good: when the service last answered for this job; None before the first time.
    """

    name: str
    on_answer: Callable[[Job], Awaitable[None]]
    on_outage: Callable[[FoldnoteError, datetime | None], None]
    since: float = field(default_factory=time.monotonic)
    last_good: datetime | None = None


class Watcher:
    """Asks one source for all watched jobs in turn, in one task."""

    def __init__(self, source: JobSource) -> None:
        """Watch nothing yet."""
        self.source = source
        self._watched: set[Watched] = set()
        self._task: asyncio.Task[None] | None = None
        self._woken = asyncio.Event()
        self._afresh: set[str] = set()

    def add(self, watched: Watched) -> None:
        """Begin to ask for a job; must be called on the running loop."""
        self._watched.add(watched)
        self.wake(watched)
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._run(), name="foldnote job cards")

    def discard(self, watched: Watched) -> None:
        """Do not ask for it any more."""
        self._watched.discard(watched)

    def wake(self, watched: Watched) -> None:
        """Ask for a job at once and anew, for example after a click."""
        self._afresh.add(watched.name)
        self._woken.set()

    async def _run(self) -> None:
        while self._watched:
            self._woken.clear()
            pause = self._pause() if await self._ask() else OUTAGE_S
            try:
                await asyncio.wait_for(self._woken.wait(), pause)
            except TimeoutError:
                continue

    async def _ask(self) -> bool:
        """Whether the service answered; each watched card is told."""
        afresh, self._afresh = self._afresh, set()
        watched = tuple(self._watched)
        try:
            records = await self.source.poll({each.name for each in watched}, afresh=afresh)
        except FoldnoteError as exc:
            for each in watched:
                each.on_outage(exc, each.last_good)
            return False
        except Exception:  # noqa: BLE001 - nobody awaits this task: a fault here must not end it
            _log.exception("The jobs of the cards could not be asked for")
            return False
        for each in watched:
            if each.name in records:
                await self._tell(each, records[each.name])
        return True

    async def _tell(self, watched: Watched, job: Job | None) -> None:
        try:
            if job is None:
                self.discard(watched)
                watched.on_outage(NotFoundError(f"There is no job {watched.name!r}."), watched.last_good)
                return
            watched.last_good = datetime.now(UTC)
            if job.is_final:
                self.discard(watched)
            await watched.on_answer(job)
        except Exception:  # noqa: BLE001 - an error of one card must not end the others
            _log.exception("The card of job %s could not be brought up to date", watched.name)

    def _pause(self) -> float:
        now = time.monotonic()
        paces = [(now - watched.since) * _SLOWING for watched in self._watched]
        return min(max(min(paces, default=FASTEST_S), FASTEST_S), SLOWEST_S)


_watchers: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, dict[int, Watcher]] = (
    weakref.WeakKeyDictionary()
)


def find_watcher(source: JobSource) -> Watcher | None:
    """The watcher of ``source`` on the running loop, or None where no loop runs."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return None
    watchers = _watchers.setdefault(loop, {})
    if id(source) not in watchers:
        watchers[id(source)] = Watcher(source)  # it holds the source, so the id stays its own
    return watchers[id(source)]


def read_record(answer: Any) -> Job:
    """The job record in an answer: the record itself or the ``record`` of a handle.

    Raises:
        TypeError: the answer holds no job record.
    """
    job = answer if isinstance(answer, Job) else answer.record
    if not isinstance(job, Job):
        raise TypeError(f"{type(answer).__name__} holds no job record")
    return job
