"""Rate limits: the token bucket of the process, and the polling intervals."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator


class Bucket:
    """A token bucket that all threads and tasks of the process share.

    ``reserve`` never blocks: it takes a token now and says how long to pause before using it.
    """

    def __init__(
        self, per_second: float, capacity: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Allow ``per_second`` requests a second, and ``capacity`` of them at once."""
        self._per_second = per_second
        self._capacity = capacity
        self._clock = clock
        self._lock = threading.Lock()
        self._tokens = capacity
        self._filled = clock()

    def reserve(self) -> float:
        """Seconds to pause before the next request."""
        with self._lock:
            self._fill()
            self._tokens -= 1.0
            return max(0.0, -self._tokens / self._per_second)

    def gap_s(self) -> float:
        """Seconds until a request needs no pause; takes nothing."""
        with self._lock:
            self._fill()
            return max(0.0, (1.0 - self._tokens) / self._per_second)

    def _fill(self) -> None:
        now = self._clock()
        gained = max(0.0, now - self._filled) * self._per_second
        self._tokens = min(self._capacity, self._tokens + gained)
        self._filled = now


def poll_delays(first_s: float = 0.5, longest_s: float = 10.0, growth: float = 1.6) -> Iterator[float]:
    """Pauses between two looks at a job: short at first, longer later, never in step with other pollers.

    As given, they make at most 12 looks in any minute.
    """
    delay = first_s
    while True:
        yield delay * random.uniform(0.85, 1.15)  # noqa: S311  spreads requests, protects nothing
        delay = min(delay * growth, longest_s)


def retry_delays(tries: int = 4) -> Iterator[float]:
    """Pauses before the repetitions of a call that may be repeated."""
    for number in range(tries):
        yield 0.2 * 2.5**number * random.uniform(0.85, 1.15)  # noqa: S311  spreads requests, protects nothing
