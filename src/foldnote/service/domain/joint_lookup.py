"""Combine the lookups of many requests, so that thousands of callers need few queries of a server.

One query per request, each in a thread, would take more processor time than the rest of `GET /jobs`
(`benchmarks/service_pollers.py`). A result is never older than the request: its query begins after the
request. SQLite runs in the process and responds sooner than a thread starts, so it is queried for each
request.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

from starlette.concurrency import run_in_threadpool

Key = TypeVar("Key", bound=Hashable)
Found = TypeVar("Found")
PAUSE_S = 0.01
"""Seconds between two queries, in which keys are gathered for the second one."""


class JointLookup(Generic[Key, Found]):
    """Looks up one key at once, and all keys requested soon after it in the next query.

    Keys are gathered per event loop, since a task can only be awaited in its own loop. A server has one loop;
    several loops share a service when clients run in its process.

    Args:
        read: finds the values of keys; called in a thread, at most one query per loop at a time.
        is_brief: whether `read` takes only microseconds, so that it is called directly in the event loop.
    """

    def __init__(
        self, read: Callable[[Sequence[Key]], Mapping[Key, Found]], *, is_brief: bool = False
    ) -> None:
        self._read = read
        self._is_brief = is_brief
        self._by_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, _Gathering[Key, Found]] = (
            WeakKeyDictionary()
        )

    async def find(self, key: Key) -> Found | None:
        """Return the value of a key, None for none; exceptions of `read` are raised here."""
        if self._is_brief:
            return self._read([key]).get(key)
        loop = asyncio.get_running_loop()
        gathering = self._by_loop.get(loop)
        if gathering is None:
            gathering = self._by_loop[loop] = _Gathering(self._read)
        return await gathering.find(key)


class _Gathering(Generic[Key, Found]):
    """The keys for which requests of one event loop wait."""

    def __init__(self, read: Callable[[Sequence[Key]], Mapping[Key, Found]]) -> None:
        self._read = read
        self._is_reading = asyncio.Lock()
        self._free_at = 0.0
        self._keys: set[Key] = set()
        self._next: asyncio.Task[Mapping[Key, Found]] | None = None

    async def find(self, key: Key) -> Found | None:
        if self._next is None:
            self._next = asyncio.create_task(self._read_next())
        self._keys.add(key)
        results = await asyncio.shield(self._next)  # a cancelled request must not cancel it for others
        return results.get(key)

    async def _read_next(self) -> Mapping[Key, Found]:
        async with self._is_reading:
            await asyncio.sleep(self._free_at - time.monotonic())
            keys, self._keys, self._next = self._keys, set(), None
            try:
                return await run_in_threadpool(self._read, list(keys))
            finally:
                self._free_at = time.monotonic() + PAUSE_S
