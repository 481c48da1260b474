"""Attempts as processes of this machine, each identified by its folder.

This module takes the attempt's lock and passes it to the runner as an open descriptor, through the starter,
so that a started attempt is never without a lock holder. A runner has its own session and outlives the
process that started it, unless the starter is tied to it. Both the executor ``local`` and the agent on a node
start attempts with this class.
"""

from __future__ import annotations

import contextlib
import os
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path

from foldnote.errors import EngineError
from foldnote.service.runner import attempt as files
from foldnote.service.runner import processes
from foldnote.service.runner.attempt import AttemptSpec, AttemptState, Outcome, is_spent
from foldnote.service.runner.locking import is_locked, take_lock
from foldnote.service.runner.starting import StarterDiedError, StarterLink
from foldnote.service.runner.worker import worker_key


class LocalRunners:
    """Starts, watches and stops attempts on this machine.

    Args:
        environment: environment of the runners: the service's own, without keys. Engines get theirs from the
            attempt.
        is_tied: whether running attempts end when this process dies. Otherwise they continue.
    """

    def __init__(self, environment: Mapping[str, str], *, is_tied: bool = False) -> None:
        self._listeners: list[Callable[[Path], None]] = []
        self._starter = StarterLink(environment, _make_notifier(self._listeners), is_tied=is_tied)
        weakref.finalize(self, self._starter.close)

    def open(self, on_ended: Callable[[Path], None]) -> None:
        """Prepare the starter, so that the first attempt need not wait.

        Args:
            on_ended: called from any thread with the folder of an attempt that seems to have ended. It is a
                hint that saves time: it may come twice, wrongly or never.
        """
        self._listeners.append(on_ended)
        with contextlib.suppress(OSError):  # the first attempt tries again and reports the error
            self._starter.open()

    def close(self) -> None:
        """Release what ``open`` acquired; attempts continue, unless they are tied to this process."""
        self._listeners.clear()
        self._starter.close()

    def submit(self, attempt: AttemptSpec, *, at_once: int = 0) -> None:
        """Start the runner of a prepared attempt; do nothing if the attempt was begun or revoked before.

        If ``at_once`` is not 0, the attempt waits while this many attempts with the same worker run, and
        counts as alive. If that takes too long, it is dropped unstarted and reported as ended.

        Raises:
            EngineError: the runner could not be started.
        """
        key = worker_key(attempt)
        try:
            self._submit(attempt.folder, key, at_once=at_once)
        except StarterDiedError:
            self._submit(attempt.folder, key, at_once=at_once)

    def _submit(self, folder: Path, key: str, *, at_once: int) -> None:
        lock = take_lock(folder)
        if lock is None:  # already running
            return
        try:
            if not is_spent(folder):
                self._starter.start(folder, key, lock, at_once=at_once)
        except OSError as exc:
            raise EngineError(f"No runner could be started: {files.without_path(exc)}.") from exc
        finally:
            os.close(lock)

    def poll(self, attempt_dir: Path) -> AttemptState:
        """Return progress, outcome, and whether a runner holds the attempt, also after a service restart."""
        is_alive = is_locked(attempt_dir)
        progress, message = files.read_progress(attempt_dir)
        # Read after the lock: a runner publishes first and then releases the lock.
        return AttemptState(progress, message, is_alive, Outcome.read(attempt_dir))

    def cancel(self, attempt_dir: Path, grace_s: float = 10.0) -> None:
        """Request a stop; the outcome follows within ``grace_s`` and about a second."""
        files.request_cancel(attempt_dir, grace_s)

    def revoke(self, attempt_dir: Path) -> bool:
        """Ensure that an attempt without a runner never runs, and end the processes it left behind.

        Returns:
            True if no process of the attempt runs or will run. False if a runner holds it, or if its outcome
            is published and must be committed.
        """
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

    def _kill_left_behind(self, attempt_dir: Path) -> bool:
        try:
            nonce = files.read_spec(attempt_dir).nonce
        except (FileNotFoundError, ValueError):
            return True  # never started, or from before a power cut: no process is alive
        return processes.end_attempt(nonce)


def _make_notifier(listeners: list[Callable[[Path], None]]) -> Callable[[Path], None]:
    """Return a function that calls all listeners.

    It holds no reference to the runners object, whose deletion closes the starter.
    """

    def notify(folder: Path) -> None:
        for listener in tuple(listeners):
            listener(folder)

    return notify
