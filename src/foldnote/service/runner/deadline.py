"""How long the outputs of an ended engine may be packed: until the job's time limit, or until it is stopped.

A run that ended at its limit, or was stopped, has an allowance for what it left behind: a tenth of the time
limit, at least 5 seconds and at most 10 minutes; for a stopped one 5 seconds.
"""

from __future__ import annotations

import os
import time

from foldnote.service.runner import attempt as files
from foldnote.service.runner.attempt import AttemptSpec, OutcomeState

LEAST_ALLOWANCE_S = 5.0
_LONGEST_ALLOWANCE_S = 600.0


class StoppedError(Exception):
    """The job was stopped."""


class LateError(Exception):
    """The time for it is over."""


class Deadline:
    """Ends the packing of one attempt.

    Args:
        spec: what ran.
        state: how it ended.
        began_s: when it began, on the monotonic clock.
    """

    def __init__(self, spec: AttemptSpec, state: OutcomeState, began_s: float) -> None:
        allowance = min(_LONGEST_ALLOWANCE_S, max(LEAST_ALLOWANCE_S, spec.time_limit_s / 10))
        moment = time.monotonic()
        self._is_stopped = state == "stopped"
        self._ends_s = moment + (LEAST_ALLOWANCE_S if self._is_stopped else allowance)
        if state in ("succeeded", "failed"):
            self._ends_s = max(self._ends_s, began_s + spec.time_limit_s)
        self._request = spec.folder / files.CANCEL

    def check(self) -> None:
        """Let the packing go on.

        Raises:
            StoppedError: the job was stopped meanwhile.
            LateError: the time is over.
        """
        if not self._is_stopped and os.path.lexists(self._request):
            raise StoppedError
        if time.monotonic() > self._ends_s:
            raise LateError
