"""The interface between the dispatcher and an executor, in identities of attempts.

Nothing here is a path: an executor may run attempts on machines that have no folder in common with the
service.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from foldnote.errors import EngineError
from foldnote.service.runner.attempt import AttemptSpec, AttemptState
from foldnote.service.runner.gpus import Gpu


class UnreachableError(EngineError):
    """The executor's machines cannot be reached now, so the attempt was not delivered."""


@dataclass(frozen=True, slots=True)
class Capacity:
    """Resources of one machine of an executor, or of one run."""

    cores: int
    memory_mb: int
    """Memory in MB (2**20 bytes)."""
    gpus: int = 0
    gpu_memory_mb: int = 0
    """What one run uses of each of its GPUs, in MB (2**20 bytes), so that others may share it; 0 for all."""
    devices: tuple[Gpu, ...] = ()
    """Of a machine, the GPUs that the dispatcher assigns; of a run, those assigned to it."""
    machine: str = ""
    """Name of the machine, or of the one that the run is on; empty where the executor has only one."""
    slots: int = 0
    """Of a machine, the largest number of simultaneous runs; 0 for as many as fit."""
    is_open: bool = True
    """Of a machine, whether it may be given runs now. One that is listed but may be gone is not, and still
    tells what a run can be given at most."""


@dataclass(frozen=True, slots=True)
class AttemptIdentity:
    """One attempt, as the service and every executor know it."""

    job_id: int
    number: int
    """1 for the first attempt of the job."""
    nonce: str
    """Single-use identifier: whoever starts the attempt must know it."""
    place: str
    """Where the service keeps its files, below the folder of all attempts, which is on its own machine."""


@dataclass(frozen=True, slots=True)
class AttemptOrder:
    """An attempt to start."""

    identity: AttemptIdentity
    engine: str
    """Name of the engine."""
    need: Capacity
    """What the run is given, with its machine and GPUs."""
    spec: AttemptSpec | None = None
    """The prepared attempt, for the executor of this machine; None for all others, whose runners fetch what
    they need from the service."""
    time_limit_s: float = 0.0
    """Seconds after which the runner ends the engine."""
    at_once: int = 0
    """With how many attempts of its line it does not run, but starts where one of them ends; 0 for any
    number."""
    line: str = ""
    """Name of its line: attempts of one account and tool, of which one may begin where another has ended."""


class Executor(Protocol):
    """Starts, watches and stops attempts.

    ``submit`` may be called twice for one attempt, and any process may die between two calls; even so, at
    most one engine ever runs for an attempt.
    """

    is_remote: bool
    """Whether runners are on other machines and speak HTTP with the service."""
    has_lines: bool
    """Whether short attempts may be handed over before there is room, though they share no worker."""

    def open(self, on_ended: Callable[[str], None]) -> None:
        """Prepare, so that the first attempt need not wait.

        Args:
            on_ended: called from any thread with the nonce of an attempt that seems to have ended. It is a
                hint that saves time: it may come twice, wrongly or never.
        """
        ...

    def close(self) -> None:
        """Release what ``open`` acquired; attempts continue."""
        ...

    def submit(self, order: AttemptOrder) -> None:
        """Start the runner of a prepared attempt; does nothing if the attempt was begun or revoked before.

        Raises:
            UnreachableError: the machines cannot be reached now.
            EngineError: the runner could not be started.
        """
        ...

    def poll(self, identity: AttemptIdentity) -> AttemptState:
        """Progress, outcome, and whether a runner holds the attempt; also after a restart of the service."""
        ...

    def cancel(self, identity: AttemptIdentity, grace_s: float = 10.0) -> None:
        """Ask the attempt to stop; its outcome follows within ``grace_s``, a heartbeat and about a second."""
        ...

    def revoke(self, identity: AttemptIdentity) -> bool:
        """Make sure that an attempt without a runner never runs, and end the processes it left behind.

        Returns:
            True if nothing of it runs or will run. False if a runner holds it, or its outcome is published
            and must be committed.
        """
        ...

    def capacity(self) -> tuple[Capacity, ...]:
        """The machines that there are now; the dispatcher keeps track of what is in use."""
        ...
