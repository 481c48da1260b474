"""Dispatcher metrics: jobs ended and attempts lost since the start, and the current use of each executor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from foldnote.models.status import JobStatus
from foldnote.service.queue.executors.protocol import Capacity
from foldnote.service.store.jobs.queue import JobEnd


@dataclass(frozen=True)
class ExecutorUse:
    """Current use of one executor.

    Attributes:
        name: name of its section in the configuration.
        machines: machines that can be reached.
        runs: capacities given to its runs.
        run_limit: configured maximum of simultaneous runs; None for as many as fit.
    """

    name: str
    machines: tuple[Capacity, ...]
    runs: tuple[Capacity, ...]
    run_limit: int | None = None


class RunHistory:
    """Counts since the service started; only the dispatcher's thread writes them."""

    def __init__(self) -> None:
        self._ended: Counter[tuple[str, str]] = Counter()
        self._lost: Counter[str] = Counter()

    def record_end(self, tool: str, ending: JobEnd) -> None:
        """Count an ended job."""
        outcome = "failed" if ending.error is not None else "stopped"
        self._ended[tool, "complete" if ending.state is JobStatus.COMPLETE else outcome] += 1

    def record_loss(self, executor: str) -> None:
        """Count a lost attempt."""
        self._lost[executor] += 1

    def ended(self) -> Mapping[tuple[str, str], int]:
        """Return the number of ended jobs by tool and outcome: complete, failed or stopped."""
        return self._ended.copy()

    def lost(self) -> Mapping[str, int]:
        """Return the number of lost attempts by executor."""
        return self._lost.copy()
