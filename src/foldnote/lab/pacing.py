"""Polling intervals and the rate limit of requests to the service.

A service that supports long polling answers when something changes. In any case a token bucket limits the
number of requests, so that single changes are seen immediately, and frequent ones every few seconds.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class PollingPace:
    """Pauses and limits; seconds unless the name says otherwise.

    Attributes:
        busy_s: between two requests to a service without long polling, while a job is unfinished.
        idle_s: the same, while no job is unfinished.
        busy_wait_s: duration of a long poll while a job is unfinished and the request budget is full; short,
            because progress arrives with its response.
        idle_wait_s: duration of any other long poll.
        max_s: upper limit of the pause after failures, which doubles with each one.
        attention_s: how long polling continues after a page's last request.
        timeout_s: limit of one request beyond the duration of its long poll, the client's retries included.
        tools_s: how long the cached catalog is used.
        whole_s: how long short lists may follow a full list.
        burst: capacity of the token bucket, in requests.
        per_minute: rate at which it refills, in requests per minute.
    """

    busy_s: float = 5.0
    idle_s: float = 20.0
    busy_wait_s: float = 9.0
    idle_wait_s: float = 20.0
    max_s: float = 60.0
    attention_s: float = 20.0
    timeout_s: float = 15.0
    tools_s: float = 60.0
    whole_s: float = 600.0
    burst: float = 4.0
    per_minute: float = 8.0


class RequestBudget:
    """A token bucket that limits the rate of requests; it starts full."""

    def __init__(self, pace: PollingPace, clock: Callable[[], float] = time.monotonic) -> None:
        """``clock`` returns seconds from an arbitrary origin."""
        self._pace = pace
        self._clock = clock
        self._stored = pace.burst
        self._at = clock()

    def take(self) -> None:
        """Use one token."""
        self._fill()
        self._stored -= 1.0

    @property
    def is_full(self) -> bool:
        """Whether a request just for progress leaves enough tokens for changes."""
        self._fill()
        return self._stored > self._pace.burst - 1.0

    def pause_s(self) -> float:
        """Return the seconds until the next request is allowed."""
        self._fill()
        return max(0.0, (1.0 - self._stored) * 60.0 / self._pace.per_minute)

    def _fill(self) -> None:
        now = self._clock()
        gained = (now - self._at) * self._pace.per_minute / 60.0
        self._stored, self._at = min(self._pace.burst, self._stored + gained), now
