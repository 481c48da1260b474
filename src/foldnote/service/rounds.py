"""A thread that does one piece of work whenever it is woken, and never twice at once."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

log = logging.getLogger(__name__)


class Rounds:
    """Runs `work` after each wake; it begins with one round, for what an earlier process left.

    Args:
        name: of the thread.
        work: one round; it asks `is_stopping` between its steps.
    """

    def __init__(self, name: str, work: Callable[[], None]) -> None:
        self._name = name
        self._work = work
        self._woken = threading.Event()
        self._woken.set()
        self.is_stopping = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End after the round that is going on."""
        self.is_stopping = True
        self._woken.set()
        if self._thread.is_alive():
            self._thread.join()

    def wake(self) -> None:
        """Say that there may be something to do."""
        self._woken.set()

    def _run(self) -> None:
        while not self.is_stopping:
            self._woken.wait()
            self._woken.clear()
            try:
                self._work()
            except Exception:  # the thread's edge: what comes next must not wait for ever
                log.exception("A round of %s failed.", self._name)
