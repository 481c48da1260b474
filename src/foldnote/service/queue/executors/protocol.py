"""The interface between the dispatcher and executors, in terms of attempt identities.

It contains no paths: an executor may run attempts on machines that share no folder with the service.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from foldnote.errors import EngineError
from foldnote.service.node.order import NodeOrder
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
    """Memory that one run uses of each of its GPUs, in MB (2**20 bytes), so that others may share it; 0 for
    all."""
    devices: tuple[Gpu, ...] = ()
    """For a machine, the GPUs that the dispatcher assigns; for a run, those assigned to it."""
    machine: str = ""
    """Name of the machine; for a run, of its machine. Empty if the executor has only one."""
    slots: int = 0
    """For a machine, the maximum number of simultaneous runs; 0 for as many as fit."""
    is_open: bool = True
    """For a machine, whether it may be given runs now. A machine that is listed but may be gone is not open,
    but still counts for the largest capacity of a run."""


@dataclass(frozen=True, slots=True)
class AttemptIdentity:
    """One attempt, as the service and every executor know it."""

    job_id: int
    number: int
    """1 for the first attempt of the job."""
    nonce: str
    """Single-use identifier; only a runner that knows it can start the attempt."""
    place: str
    """Folder of its files below the folder of all attempts, on the service's machine."""


@dataclass(frozen=True, slots=True)
class AttemptOrder:
    """An attempt to start."""

    identity: AttemptIdentity
    engine: str
    """Name of the engine."""
    need: Capacity
    """Capacity of the run, with its machine and GPUs."""
    spec: AttemptSpec | None = None
    """The prepared attempt, for the executor of this machine; None for all others."""
    node_order: NodeOrder | None = None
    """What the service sends to the runner on another machine; None for the executor of this machine."""
    time_limit_s: float = 0.0
    """Seconds after which the runner ends the engine."""
    at_once: int = 0
    """It waits while this many attempts of its line run, until one of them ends; 0 to start without
    waiting."""
    line: str = ""
    """Name of its line: attempts of one account and tool, each of which may begin where another has ended."""


class Executor(Protocol):
    """Starts, watches and stops attempts.

    ``submit`` may be called twice for one attempt, and any process may die between two calls; even so, at
    most one engine ever runs for an attempt.
    """

    is_remote: bool
    """Whether runners are on other machines and use HTTP to talk to the service."""
    has_lines: bool
    """Whether short attempts may be put in line, although no worker is shared."""

    def open(self, on_ended: Callable[[str], None]) -> None:
        """Prepare the executor, so that the first attempt need not wait.

        Args:
            on_ended: called from any thread with the nonce of an attempt that seems to have ended. It is a
                hint that saves time: it may come twice, wrongly or never.
        """
        ...

    def close(self) -> None:
        """Release what ``open`` acquired; attempts continue."""
        ...

    def submit(self, order: AttemptOrder) -> None:
        """Start the runner of a prepared attempt; do nothing if the attempt was begun or revoked before.

        Raises:
            UnreachableError: the machines cannot be reached now.
            EngineError: the runner could not be started.
        """
        ...

    def poll(self, identity: AttemptIdentity) -> AttemptState:
        """Return progress, outcome, and whether a runner holds the attempt, also after a service restart."""
        ...

    def cancel(self, identity: AttemptIdentity, grace_s: float = 10.0) -> None:
        """Request a stop; the outcome follows within ``grace_s``, a heartbeat and about a second."""
        ...

    def revoke(self, identity: AttemptIdentity) -> bool:
        """Ensure that an attempt without a runner never runs, and end the processes it left behind.

        Returns:
            True if no process of the attempt runs or will run. False if a runner holds it, or if its outcome
            is published and must be committed.
        """
        ...

    def capacity(self) -> tuple[Capacity, ...]:
        """Return the machines available now; the dispatcher keeps track of their use."""
        ...
