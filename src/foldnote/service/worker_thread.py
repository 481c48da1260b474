"""A thread that runs one function whenever it is woken, never concurrently.

A failed round is retried after a pause: its cause, such as a full disk, may pass without a wake.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

log = logging.getLogger(__name__)
_FIRST_PAUSE_S, _MAX_PAUSE_S = 1.0, 60.0
_REST_S = 0.05
"""Pause after each round, so that many wakes close together cost few rounds."""


class BackgroundWorker:
    """Runs `work` after each wake; the first round, at the start, resumes what an earlier process left.

    Args:
        name: name of the thread.
        work: one round; checks `is_stopping` between its steps, and returns the seconds until the next round
            is due without a wake, or None.
    """

    def __init__(self, name: str, work: Callable[[], float | None]) -> None:
        self._name = name
        self._work = work
        self._woken = threading.Event()
        self._woken.set()
        self._ended = threading.Event()
        self.is_stopping = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self, grace_s: float | None = None) -> None:
        """Stop after the current round; wait for it for `grace_s` seconds (None: without limit)."""
        self.is_stopping = True
        self._ended.set()
        self._woken.set()
        if self._thread.is_alive():
            self._thread.join(grace_s)

    def wake(self) -> None:
        """Run another round soon."""
        self._woken.set()

    def _run(self) -> None:
        pause_s: float | None = None
        failed_s: float | None = None
        while not self.is_stopping:
            self._woken.wait(pause_s)
            self._woken.clear()
            try:
                pause_s = self._work()
                failed_s = None
            except Exception:  # outermost handler: later rounds must still run
                pause_s = failed_s = min(_MAX_PAUSE_S, 2 * (failed_s or _FIRST_PAUSE_S / 2))
                log.exception("A round of %s failed; it is repeated in %g s.", self._name, pause_s)
            self._ended.wait(_REST_S)
