"""The executor of this machine, the only one that accesses the folders of attempts directly."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from pathlib import Path

from foldnote.errors import EngineError
from foldnote.service.queue.executors.protocol import AttemptIdentity, AttemptOrder, Capacity
from foldnote.service.runner.attempt import AttemptState
from foldnote.service.runner.gpus import ASSIGNED, find_gpus
from foldnote.service.runner.local_runners import LocalRunners

log = logging.getLogger(__name__)
_MEMORY_LEFT_MB = 1024


class LocalExecutor:
    """Runs attempts as processes of this machine.

    Args:
        root: folder of all attempts.
        environment: environment of the runners: the service's own, without keys. Engines get theirs from the
            attempt. If ``CUDA_VISIBLE_DEVICES`` is set in it, only those GPUs are used.
    """

    is_remote = False
    has_lines = False

    def __init__(self, root: Path, environment: Mapping[str, str]) -> None:
        self._found = find_gpus(environment)
        gpus = self._found.gpus
        machine = Capacity(_usable_cores(), _usable_memory_mb(), len(gpus), devices=gpus)
        self._machines = (machine,)
        self._root = root
        self._runners = LocalRunners(environment)

    def open(self, on_ended: Callable[[str], None]) -> None:
        """See the protocol; also log the GPUs found."""
        for word in self._found.unknown:
            log.warning("%s names %s, which is not a GPU of this machine; it is not used.", ASSIGNED, word)
        log.info("%s", self._found.describe())
        self._runners.open(lambda folder: on_ended(folder.name.rpartition("-")[2]))

    def close(self) -> None:
        """See the protocol."""
        self._runners.close()

    def submit(self, order: AttemptOrder) -> None:
        """See the protocol.

        Raises:
            EngineError: the runner could not be started, or the attempt was prepared for another machine.
        """
        if order.spec is None:
            raise EngineError("The attempt was not prepared for this machine.")
        self._runners.submit(order.spec, at_once=order.at_once)

    def poll(self, identity: AttemptIdentity) -> AttemptState:
        """See the protocol."""
        return self._runners.poll(self._root / identity.place)

    def cancel(self, identity: AttemptIdentity, grace_s: float = 10.0) -> None:
        """See the protocol."""
        self._runners.cancel(self._root / identity.place, grace_s)

    def revoke(self, identity: AttemptIdentity) -> bool:
        """See the protocol."""
        return self._runners.revoke(self._root / identity.place)

    def capacity(self) -> tuple[Capacity, ...]:
        """See the protocol."""
        return self._machines


def _usable_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _usable_memory_mb() -> int:
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20
    return max(total - _MEMORY_LEFT_MB, total // 2)
