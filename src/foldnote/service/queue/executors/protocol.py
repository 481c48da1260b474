"""What the dispatcher may ask of any executor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from foldnote.service.runner.attempt import AttemptSpec, AttemptState


@dataclass(frozen=True, slots=True)
class Capacity:
    """What the executor may use at one time."""

    cores: int
    memory_mb: int
    """Memory in MB (2**20 bytes)."""
    gpus: int = 0


class Executor(Protocol):
    """Brings attempts to where they run.

    ``submit`` may be called twice for one attempt, and any process may die between two calls: at most one
    engine runs for an attempt, ever.
    """

    def open(self, on_ended: Callable[[Path], None]) -> None:
        """Make ready, so that the first attempt need not wait.

        Args:
            on_ended: told the folder of an attempt that seems to have ended, from any thread. It is a hint
                that saves time: it may come twice, or for nothing, or never.
        """
        ...

    def close(self) -> None:
        """Let go of what `open` made; attempts go on."""
        ...

    def submit(self, attempt: AttemptSpec) -> None:
        """Start the runner of a prepared attempt; an attempt that was begun or revoked before is left alone.

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
        """Make sure that an attempt without a runner never runs, and end what its runner left behind.

        True: nothing of it runs or will run. False: a runner holds it, or its outcome is published and must
        be taken over.
        """
        ...

    def capacity(self) -> Capacity:
        """What may be used in all; what is in use is the dispatcher's to know."""
        ...
