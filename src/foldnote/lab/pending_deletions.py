"""Delayed deletions, which can be undone until the delay has passed.

The server waits, not the page, so that a confirmed deletion happens even if the page is closed, and every
page shows the pending deletions. If the Jupyter server stops during the delay, nothing is deleted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass


@dataclass(frozen=True)
class DeletionOutcome:
    """The outcome of a deletion.

    Attributes:
        gone: names of the jobs whose deletion was not undone.
        faults: the failures, one sentence each.
    """

    gone: tuple[str, ...]
    faults: tuple[str, ...] = ()


class PendingDeletions:
    """The jobs of one service whose deletion is pending."""

    def __init__(
        self,
        delete: Callable[[Sequence[str]], Awaitable[list[str]]],
        on_change: Callable[[frozenset[str]], None],
    ) -> None:
        """Start without pending deletions.

        Args:
            delete: deletes jobs; returns the failures.
            on_change: called with the names of the pending jobs at each change.
        """
        self._delete = delete
        self._on_change = on_change
        self._scheduled: dict[str, asyncio.Event] = {}
        """By job name: the event that is set when no deletion of the same request is left to wait for."""
        self._in_progress: set[str] = set()
        self._tasks: set[asyncio.Task[DeletionOutcome]] = set()

    async def schedule(self, names: Iterable[str], delay_s: float) -> DeletionOutcome:
        """Delete jobs after ``delay_s`` seconds, except those kept by then.

        The deletion happens even if the caller is cancelled.
        """
        task = asyncio.create_task(self._delete_later(list(names), delay_s), name="foldnote-delete")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        await asyncio.wait([task])
        return DeletionOutcome(()) if task.cancelled() else task.result()

    def cancel(self, names: Iterable[str]) -> list[str]:
        """Undo deletions that have not started; returns the names of the kept jobs."""
        cancelled = [name for name in names if name in self._scheduled]
        events = {self._scheduled.pop(name) for name in cancelled}
        for ended in events - {*self._scheduled.values()}:
            ended.set()
        self._notify()
        return cancelled

    async def close(self) -> None:
        """Cancel all pending deletions; their jobs are kept."""
        self._scheduled.clear()
        for task in [*self._tasks]:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _delete_later(self, names: list[str], delay_s: float) -> DeletionOutcome:
        ended = asyncio.Event()
        self._scheduled |= {name: ended for name in names if name not in self._scheduled}
        self._notify()
        with suppress(TimeoutError):
            async with asyncio.timeout(delay_s):
                await ended.wait()
        going = [name for name in names if self._scheduled.get(name) is ended]
        if not going:
            return DeletionOutcome(())
        for name in going:
            del self._scheduled[name]  # too late to undo
        self._in_progress.update(going)
        try:
            return DeletionOutcome(tuple(going), tuple(await self._delete(going)))
        finally:
            self._in_progress.difference_update(going)
            self._notify()

    def _notify(self) -> None:
        self._on_change(frozenset((*self._scheduled, *self._in_progress)))
