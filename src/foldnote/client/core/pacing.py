"""Rate limits: the token bucket of the process, and the polling intervals."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator

_MAX_PAUSE_S = 120.0


class Bucket:
    """A token bucket that all threads and tasks of the process share.

    ``reserve`` never blocks: it takes a token and returns the pause before it may be used.
    """

    def __init__(
        self, per_second: float, capacity: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Allow ``per_second`` requests per second on average, and bursts of ``capacity``."""
        self._per_second = per_second
        self._capacity = capacity
        self._clock = clock
        self._lock = threading.Lock()
        self._tokens = capacity
        self._filled = clock()

    def reserve(self) -> float:
        """Take a token; returns the seconds to wait before the next request."""
        with self._lock:
            self._fill()
            self._tokens -= 1.0
            return max(0.0, -self._tokens / self._per_second)

    def gap_s(self) -> float:
        """Return the seconds until a token is available; takes none."""
        with self._lock:
            self._fill()
            return max(0.0, (1.0 - self._tokens) / self._per_second)

    def _fill(self) -> None:
        now = self._clock()
        gained = max(0.0, now - self._filled) * self._per_second
        self._tokens = min(self._capacity, self._tokens + gained)
        self._filled = now


def poll_delays(first_s: float = 0.5, max_s: float = 10.0, growth: float = 1.6) -> Iterator[float]:
    """Yield the intervals between polls in seconds: short at first, longer later, with jitter.

    The defaults make at most 12 polls in any minute.
    """
    delay = first_s
    while True:
        yield delay * random.uniform(0.85, 1.15)  # noqa: S311  jitter, not cryptography
        delay = min(delay * growth, max_s)


def retry_delays() -> Iterator[float]:
    """Yield the pauses in seconds before each retry of a repeatable call."""
    for number in range(4):
        yield 0.2 * 2.5**number * random.uniform(0.85, 1.15)  # noqa: S311  jitter, not cryptography


def next_pause(delays: Iterator[float], fault: Exception, *, allowed: bool) -> float:
    """Return the seconds until the next attempt; raise ``fault`` if none is left or it is too far off."""
    pause = next(delays, None) if allowed else None
    if pause is None:
        raise fault
    asked = getattr(fault, "retry_after_s", None)
    if asked is not None and asked > _MAX_PAUSE_S:
        raise fault
    return max(pause, asked or 0.0)
