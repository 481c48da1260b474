"""Deletions that are delayed, so that they can be undone.

The waiting happens here and not in the page: a person who was asked and agreed gets the deletion also when
the page is closed, and every page shows what is about to go. If the Jupyter server ends within that moment,
nothing is deleted and the jobs are still there for all to see.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass


@dataclass(frozen=True)
class Departed:
    """How a deletion ended.

    Attributes:
        gone: names that were not kept.
        faults: what could not be done, a sentence each.
    """

    gone: tuple[str, ...]
    faults: tuple[str, ...] = ()


class PendingDeletions:
    """The jobs of one service that are about to be deleted."""

    def __init__(
        self,
        delete: Callable[[Sequence[str]], Awaitable[list[str]]],
        tell: Callable[[frozenset[str]], None],
    ) -> None:
        """``delete`` deletes jobs and returns the failures; ``tell`` hears which are about to go."""
        self._delete = delete
        self._tell = tell
        self._rounds: dict[str, asyncio.Event] = {}
        """By the name of a job: what is set when nothing is left to wait for in its round."""
        self._going: set[str] = set()
        self._tasks: set[asyncio.Task[Departed]] = set()

    async def leave(self, names: Iterable[str], delay_s: float) -> Departed:
        """Delete jobs after ``delay_s`` seconds, except those that are kept.

        It goes on when the caller gives up waiting.
        """
        task = asyncio.create_task(self._leave(list(names), delay_s), name="foldnote-delete")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return await asyncio.shield(task)

    def keep(self, names: Iterable[str]) -> list[str]:
        """Undo deletions that have not begun; gives the names that are kept."""
        kept = [name for name in names if name in self._rounds]
        rounds = {self._rounds.pop(name) for name in kept}
        for over in rounds - {*self._rounds.values()}:
            over.set()
        self._announce()
        return kept

    async def close(self) -> None:
        """Give up what waits: those jobs stay."""
        self._rounds.clear()
        for task in [*self._tasks]:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _leave(self, names: list[str], delay_s: float) -> Departed:
        over = asyncio.Event()
        self._rounds |= {name: over for name in names if name not in self._rounds}
        self._announce()
        with suppress(TimeoutError):
            async with asyncio.timeout(delay_s):
                await over.wait()
        going = [name for name in names if self._rounds.get(name) is over]
        if not going:
            return Departed(())
        for name in going:
            del self._rounds[name]  # too late to undo
        self._going.update(going)
        try:
            return Departed(tuple(going), tuple(await self._delete(going)))
        finally:
            self._going.difference_update(going)
            self._announce()

    def _announce(self) -> None:
        self._tell(frozenset((*self._rounds, *self._going)))
