"""How often the service is asked: the pauses, and what a minute allows.

A service that can wait answers when something changes, so that most questions are long ones. What bounds
their number in any case is the allowance: a small store that fills up slowly, so that single changes are seen
at once and a storm of them is seen every few seconds.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class PollingPace:
    """Pauses and limits; seconds unless the name says otherwise.

    Attributes:
        busy_s: between two questions to a service that cannot wait, while a job is unfinished.
        idle_s: the same, otherwise.
        busy_wait_s: how long a service that can wait may do so while a job is unfinished and the allowance is
            full; its progress comes with the answer.
        idle_wait_s: the same, otherwise.
        longest_s: after repeated failures; the pause doubles up to here.
        attention_s: how long after a page's last look the poller goes on.
        timeout_s: how long one question may take beyond the waiting, the client's own repetitions included.
        tools_s: how long the catalog counts as fresh.
        whole_s: how long a list of all jobs counts as whole without being asked for again.
        burst: questions that may follow each other at once.
        per_minute: questions that come to be allowed in a minute beside that.
    """

    busy_s: float = 5.0
    idle_s: float = 20.0
    busy_wait_s: float = 9.0
    idle_wait_s: float = 20.0
    longest_s: float = 60.0
    attention_s: float = 20.0
    timeout_s: float = 15.0
    tools_s: float = 60.0
    whole_s: float = 600.0
    burst: float = 4.0
    per_minute: float = 8.0


class RequestBudget:
    """A store of questions that may be asked; it begins full."""

    def __init__(self, pace: PollingPace, clock: Callable[[], float] = time.monotonic) -> None:
        """``clock`` gives seconds from any beginning."""
        self._pace = pace
        self._clock = clock
        self._stored = pace.burst
        self._at = clock()

    def take(self) -> None:
        """Note one question."""
        self._fill()
        self._stored -= 1.0

    @property
    def is_full(self) -> bool:
        """Whether a question for no more than progress takes nothing from those for changes."""
        self._fill()
        return self._stored > self._pace.burst - 1.0

    def pause_s(self) -> float:
        """Seconds until the next question is allowed."""
        self._fill()
        return max(0.0, (1.0 - self._stored) * 60.0 / self._pace.per_minute)

    def _fill(self) -> None:
        now = self._clock()
        gained = (now - self._at) * self._pace.per_minute / 60.0
        self._stored, self._at = min(self._pace.burst, self._stored + gained), now
