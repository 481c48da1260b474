"""How fast to ask: the process's token bucket, and the pace of waiting for jobs."""

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
            now = self._clock()
            gained = max(0.0, now - self._filled) * self._per_second
            self._tokens = min(self._capacity, self._tokens + gained) - 1.0
            self._filled = now
            return max(0.0, -self._tokens / self._per_second)


def look_bucket(*, is_few: bool, clock: Callable[[], float] = time.monotonic) -> Bucket:
    """How often to look where the service answers as soon as something changes.

    At twenty jobs something may change every second: at most 12 looks in any minute, and an end is seen after
    6 s at the latest. A larger burst would be paid for with longer gaps. A job or two change seldom, but the
    account's other jobs may.
    """
    return Bucket(0.5, 10.0, clock) if is_few else Bucket(1 / 6, 2.0, clock)


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
