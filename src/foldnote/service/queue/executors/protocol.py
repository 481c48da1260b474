"""The interface between the dispatcher and an executor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from foldnote.service.runner.attempt import AttemptSpec, AttemptState
from foldnote.service.runner.gpus import Gpu


@dataclass(frozen=True, slots=True)
class Capacity:
    """Resources of an executor or of one run."""

    cores: int
    memory_mb: int
    """Memory in MB (2**20 bytes)."""
    gpus: int = 0
    gpu_memory_mb: int = 0
    """What one run uses of each of its GPUs, in MB (2**20 bytes), so that others may share it; 0 for all."""
    devices: tuple[Gpu, ...] = ()
    """Of an executor, the GPUs that the dispatcher assigns; of a run, those assigned to it."""


class Executor(Protocol):
    """Starts, watches and stops attempts.

    ``submit`` may be called twice for one attempt, and any process may die between two calls; even so, at
    most one engine ever runs for an attempt.
    """

    def open(self, on_ended: Callable[[Path], None]) -> None:
        """Prepare, so that the first attempt need not wait.

        Args:
            on_ended: called from any thread with the folder of an attempt that seems to have ended. It is a
                hint that saves time: it may come twice, wrongly or never.
        """
        ...

    def close(self) -> None:
        """Release what ``open`` acquired; attempts continue."""
        ...

    def submit(self, attempt: AttemptSpec) -> None:
        """Start the runner of a prepared attempt; does nothing if the attempt was begun or revoked before.

        Raises:
            EngineError: the runner could not be started.
        """
        ...

    def poll(self, attempt_dir: Path) -> AttemptState:
        """Progress, outcome, and whether a runner holds the attempt; also after a restart of the service."""
        ...

    def cancel(self, attempt_dir: Path, grace_s: float = 10.0) -> None:
        """Ask the attempt to stop; its outcome follows within ``grace_s`` and about a second."""
        ...

    def revoke(self, attempt_dir: Path) -> bool:
        """Make sure that an attempt without a runner never runs, and end the processes it left behind.

        Returns:
            True if nothing of it runs or will run. False if a runner holds it, or its outcome is published
            and must be committed.
        """
        ...

    def capacity(self) -> Capacity:
        """Total capacity; the dispatcher keeps track of what is in use."""
        ...
