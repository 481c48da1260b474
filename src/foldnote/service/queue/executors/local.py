"""Runs attempts as processes of this machine.

The attempt's lock is taken here and passed to the runner as an open descriptor, through the starter, so that
a started attempt is never without a holder. A runner has its own session and outlives the service.
"""

from __future__ import annotations

import contextlib
import os
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path

from foldnote.errors import EngineError
from foldnote.service.queue.executors.protocol import Capacity
from foldnote.service.queue.executors.starting import StarterDiedError, StarterLink
from foldnote.service.runner import attempt as files
from foldnote.service.runner import processes
from foldnote.service.runner.attempt import AttemptSpec, AttemptState, Outcome
from foldnote.service.runner.gpus import list_gpus
from foldnote.service.runner.locking import is_locked, take_lock
from foldnote.service.runner.runner import is_spent
from foldnote.service.runner.worker import worker_key

_MEMORY_LEFT_MB = 1024


class LocalExecutor:
    """The executor of one machine.

    Args:
        environment: environment of the runners: the service's own, without keys. Engines get theirs from the
            attempt. If it has ``CUDA_VISIBLE_DEVICES``, only those GPUs are used.
        cores: cores to use; by default those that this process may use.
        memory_mb: memory to use; by default what the machine has, less one GB.
    """

    def __init__(
        self, environment: Mapping[str, str], *, cores: int | None = None, memory_mb: int | None = None
    ) -> None:
        gpus = list_gpus(environment)
        self._capacity = Capacity(
            cores or _usable_cores(), memory_mb or _usable_memory_mb(), len(gpus), devices=gpus
        )
        self._listeners: list[Callable[[Path], None]] = []
        self._starter = StarterLink(environment, _teller(self._listeners))
        weakref.finalize(self, self._starter.close)

    def open(self, on_ended: Callable[[Path], None]) -> None:
        """See the protocol."""
        self._listeners.append(on_ended)
        with contextlib.suppress(OSError):  # the first attempt tries again and reports the error
            self._starter.open()

    def close(self) -> None:
        """See the protocol."""
        self._listeners.clear()
        self._starter.close()

    def submit(self, attempt: AttemptSpec) -> None:
        """See the protocol."""
        key = worker_key(attempt)
        try:
            self._submit(attempt.folder, key)
        except StarterDiedError:
            self._submit(attempt.folder, key)

    def _submit(self, folder: Path, key: str) -> None:
        lock = take_lock(folder)
        if lock is None:  # already running
            return
        try:
            if not is_spent(folder):
                self._starter.start(folder, key, lock)
        except OSError as exc:
            raise EngineError(f"No runner could be started: {files.without_path(exc)}.") from exc
        finally:
            os.close(lock)

    def poll(self, attempt_dir: Path) -> AttemptState:
        """See the protocol."""
        is_alive = is_locked(attempt_dir)
        progress, message = files.read_progress(attempt_dir)
        # Read after the lock: a runner publishes first and then releases the lock.
        return AttemptState(progress, message, is_alive, Outcome.read(attempt_dir))

    def cancel(self, attempt_dir: Path, grace_s: float = 10.0) -> None:
        """See the protocol."""
        files.request_cancel(attempt_dir, grace_s)

    def revoke(self, attempt_dir: Path) -> bool:
        """See the protocol."""
        try:
            lock = take_lock(attempt_dir)
        except FileNotFoundError:
            return True
        if lock is None:
            return False
        try:
            if Outcome.read(attempt_dir) is not None:
                return False
            files.publish_mark(attempt_dir / files.REVOKED, files.now().encode())
            return self._kill_left_behind(attempt_dir)
        finally:
            os.close(lock)

    def capacity(self) -> Capacity:
        """See the protocol."""
        return self._capacity

    def _kill_left_behind(self, attempt_dir: Path) -> bool:
        try:
            nonce = files.read_spec(attempt_dir).nonce
        except (
            FileNotFoundError,
            ValueError,
        ):  # never started, or from before a power cut: no process is alive
            return True
        return processes.end_attempt(nonce)


def _teller(listeners: list[Callable[[Path], None]]) -> Callable[[Path], None]:
    """Call all listeners. It holds no reference to the executor, whose end closes the starter."""

    def tell(folder: Path) -> None:
        for each in tuple(listeners):
            each(folder)

    return tell


def _usable_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _usable_memory_mb() -> int:
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20
    return max(total - _MEMORY_LEFT_MB, total // 2)
