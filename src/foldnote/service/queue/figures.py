"""Figures of the dispatcher: what ended or was lost since the start, and what each executor is used for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from foldnote.models.status import JobStatus
from foldnote.service.queue.executors.protocol import Capacity
from foldnote.service.store.jobs.queue import JobEnd


@dataclass(frozen=True)
class ExecutorUse:
    """One executor now.

    Attributes:
        name: of its section in the configuration.
        machines: those that can be reached.
        runs: what its runs were given.
        run_limit: most runs at once by configuration; None for as many as fit.
    """

    name: str
    machines: tuple[Capacity, ...]
    runs: tuple[Capacity, ...]
    run_limit: int | None = None


class RunHistory:
    """What happened since the service started; written by the dispatcher's thread only."""

    def __init__(self) -> None:
        self._ended: Counter[tuple[str, str]] = Counter()
        self._lost: Counter[str] = Counter()

    def note_end(self, tool: str, ending: JobEnd) -> None:
        """Count a job that ended."""
        outcome = "failed" if ending.error is not None else "stopped"
        self._ended[tool, "complete" if ending.state is JobStatus.COMPLETE else outcome] += 1

    def note_loss(self, executor: str) -> None:
        """Count an attempt that was lost."""
        self._lost[executor] += 1

    def ended(self) -> Mapping[tuple[str, str], int]:
        """Number of ended jobs by tool and outcome: complete, failed or stopped."""
        return self._ended.copy()

    def lost(self) -> Mapping[str, int]:
        """Number of lost attempts by executor."""
        return self._lost.copy()
