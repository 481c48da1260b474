"""A token bucket per key."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

_FORGET_AFTER = 10_000


@dataclass
class _Bucket:
    tokens: float
    filled: float


class RateLimiter:
    """Allows bursts of `burst` requests and `per_second` on average, for each key.

    Used from the event loop only.
    """

    def __init__(self, per_second: float, burst: int, now: Callable[[], float] = time.monotonic) -> None:
        self._per_second = per_second
        self._burst = burst
        self._now = now
        self._buckets: dict[str, _Bucket] = {}

    def take(self, key: str) -> float:
        """Take one token; return 0, or the seconds until a token is available."""
        moment = self._now()
        bucket = self._buckets.get(key)
        if bucket is None:
            self._forget_full(moment)
            bucket = self._buckets[key] = _Bucket(float(self._burst), moment)
        bucket.tokens = min(self._burst, bucket.tokens + (moment - bucket.filled) * self._per_second)
        bucket.filled = moment
        if bucket.tokens >= 1:
            bucket.tokens -= 1
            return 0.0
        return (1 - bucket.tokens) / self._per_second

    def _forget_full(self, moment: float) -> None:
        if len(self._buckets) >= _FORGET_AFTER:
            full_s = self._burst / self._per_second
            self._buckets = {k: b for k, b in self._buckets.items() if moment - b.filled < full_s}


def whole_seconds(wait_s: float) -> int:
    """Round up to whole seconds for `Retry-After`, at least 1."""
    return max(1, math.ceil(wait_s))
