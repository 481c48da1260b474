"""The runner: a small process that runs attempts, one after another, and publishes their outcomes.

The starter forks it in a session of its own, so that it outlives the service; ``python -m
foldnote.service.runner.runner ATTEMPT_DIR`` runs a single attempt. It holds the attempt's lock until the
outcome is published. An attempt that was begun, revoked or ended before is not run again, so an executor may
deliver it twice. A runner that lost an attempt accepts no other. If the next attempt is queued for the same
process of a worker, and the outputs are small, it begins before the last one is published: the worker
computes while its runner packs. The runner knows neither the database nor HTTP and imports only the standard
library, since there is one runner per running job.
"""

from __future__ import annotations

import contextlib
import functools
import os
import socket
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from foldnote.errors import EngineError
from foldnote.io import FULL_DISK, write_atomically
from foldnote.service.runner import attempt as files
from foldnote.service.runner.attempt import AttemptSpec, Outcome, OutcomeState, is_spent
from foldnote.service.runner.locking import take_lock
from foldnote.service.runner.manifest import STAND_IN_NOTE, has_stand_ins
from foldnote.service.runner.orders import (
    OrderQueue,
    ReadyOrder,
    RunnerOrder,
    draft_mark,
    read_spec_or_none,
    write_mark,
)
from foldnote.service.runner.publishing import (
    Deadline,
    LateError,
    NotKeptError,
    ResultArchive,
    Score,
    StoppedError,
    measure_left,
    publish_result,
    read_score,
    write_manifest,
)
from foldnote.service.runner.supervision import EngineExit, RunnerResources, SignalWatch, Supervisor
from foldnote.service.runner.usage import Usage
from foldnote.service.runner.worker import WorkerSlot
from foldnote.text import format_duration

EXIT_DONE = 0
EXIT_UNPUBLISHED = 1
EXIT_BUSY = 75
_LOCK_WAIT_S = 2.0
_SPACE_WAIT_S, _SPACE_PAUSE_S = 600.0, 1.0
_SMALL_BYTES = 1 << 20
"""Larger outputs take so long to pack that no other attempt runs meanwhile."""


def main() -> int:
    """Run the attempt whose folder is the first argument, and return the exit status.

    0: the outcome is published, or there was nothing to do. 75: another runner holds the attempt. 1: the
    outcome could not be published, so the attempt will be seen as lost.
    """
    folder = Path(sys.argv[1]).resolve()
    if wait_for_lock(folder) is None:
        return EXIT_BUSY
    if not is_spent(folder):
        with SignalWatch() as watch:
            spec = read_spec_or_none(folder)
            run = AttemptRun(folder, spec, draft_mark(folder, spec), RunnerResources(watch))
            run.compute()
            run.publish()
        return EXIT_DONE if (folder / files.OUTCOME).exists() else EXIT_UNPUBLISHED
    return EXIT_DONE


def serve(orders: socket.socket) -> int:
    """Run the attempts received through ``orders`` until its other end is closed."""
    workers, queue = WorkerSlot(), OrderQueue(orders)
    try:
        while ready := queue.take():
            if not _run_in_turn(queue, workers, ready):
                return EXIT_UNPUBLISHED
            workers.release_memory()
        return EXIT_DONE
    finally:
        queue.close()
        workers.clear()


def _run_in_turn(queue: OrderQueue, workers: WorkerSlot, first: ReadyOrder) -> bool:
    """Run an attempt and those that begin before its outcome is published; return False if one was lost."""
    ready: ReadyOrder | None = first
    last: _Turn | None = None
    with SignalWatch() as watch:  # without an attempt, signals end the runner at once
        while True:
            assert ready is not None
            order, spec, mark, scratch = ready
            resources = RunnerResources(
                watch, workers, order.worker_key, queue, scratch, may_overlap=last is not None
            )
            run = AttemptRun(order.folder, spec, mark, resources)
            turn = _Turn(queue, order, run)
            run.compute(last.end_at_once if last is not None else _do_nothing)
            if last is not None and not last.end():
                turn.publish()
                return False
            if not workers.has_begun_next and not _may_begin_next(queue, workers, run):
                return turn.end()
            last, ready = turn, queue.take()


def _may_begin_next(queue: OrderQueue, workers: WorkerSlot, run: AttemptRun) -> bool:
    """Return whether the queued order can begin before this attempt is published.

    If publishing takes long, the order is given back.
    """
    if not run.is_small:
        queue.give_back()
    if not run.is_small or not run.has_succeeded:
        return False
    ready = queue.peek()
    return ready is not None and ready.can_begin and workers.can_run(ready)


class _Turn:
    """An ordered attempt, to be published and reported once."""

    def __init__(self, queue: OrderQueue, order: RunnerOrder, run: AttemptRun) -> None:
        self.run = run
        self._queue = queue
        self._order = order
        self._is_published: bool | None = None

    def end(self, *, may_wait: bool = True) -> bool:
        """Publish the outcome, release the lock and report it; return False if the attempt was lost."""
        if self._is_published is None:
            self._is_published = self.publish(may_wait=may_wait)
            if self._is_published:
                self._queue.report_done()
        return self._is_published

    def end_at_once(self) -> bool:
        """Do the same without waiting for disk space, since the next engine is already running."""
        return self.end(may_wait=False)

    def publish(self, *, may_wait: bool = True) -> bool:
        """Publish the outcome and release the lock; return False if the attempt was lost."""
        try:
            return self.run.publish(may_wait=may_wait)
        finally:
            os.close(self._order.lock)


def _do_nothing() -> None:
    """Do nothing meanwhile."""


class AttemptRun:
    """One run of an attempt, whose lock the caller holds: first ``compute``, then ``publish``.

    Args:
        attempt_dir: the attempt's folder.
        spec: its specification; None if it cannot be read.
        mark: path of a file that becomes the start marker of the attempt; None if it could not be written.
        resources: resources of its runner.
    """

    def __init__(
        self, attempt_dir: Path, spec: AttemptSpec | None, mark: Path | None, resources: RunnerResources
    ) -> None:
        self._resources = resources
        self._folder = attempt_dir
        self._spec = spec
        self._mark = mark
        self._is_spent = False
        self._is_begun = False
        self._outcome: Outcome | None = None
        """A fault of this runner."""
        self._ending: EngineExit | None = None
        self._usage: Usage | None = None
        self._exit_stack = ExitStack()

    def compute(self, meanwhile: Callable[[], object] = _do_nothing) -> None:
        """Mark the attempt as begun, and run its engine until none of its processes is left.

        An attempt that must not be started is skipped. ``meanwhile`` is called once the engine is running.
        """
        workers = self._resources.workers
        is_running = workers is not None and workers.has_begun_next
        self._is_spent = not is_running and is_spent(self._folder)
        try:
            if not self._is_spent:
                self._begin(meanwhile, is_running=is_running)
        finally:
            if self._resources.scratch is not None:
                with contextlib.suppress(OSError):  # removed by the supervisor, or something is in it
                    self._resources.scratch.rmdir()

    def _begin(self, meanwhile: Callable[[], object], *, is_running: bool) -> None:
        self._started = files.now()
        self._began_s = time.monotonic()
        try:
            if not is_running:
                mark = self._mark or write_mark(self._folder, self._spec)
                mark.rename(self._folder / files.RUNNER)
        except OSError:
            _log_fault(self._folder)
            return
        self._is_begun = True
        try:
            self._spec = self._spec or files.read_spec(self._folder)  # raises the reason
            self._run_engine(self._spec, meanwhile, is_running=is_running)
        except Exception as exc:  # noqa: BLE001  any fault must end up in the outcome
            if is_running and self._resources.workers is not None:
                self._resources.workers.clear()
            self._record_fault(exc)

    def _run_engine(self, spec: AttemptSpec, meanwhile: Callable[[], object], *, is_running: bool) -> None:
        if not is_running and spec.has(files.CANCEL):
            self._ending = EngineExit("stopped", "The job was stopped before its engine started.")
            return
        try:
            supervisor = self._exit_stack.enter_context(Supervisor(spec, self._resources))
            self._exit_stack.callback(supervisor.finish_log)
            meanwhile()
            self._ending = supervisor.run()
            if is_running and self._ending.state == "failed" and not spec.has(files.RUNNER):
                self._ending = EngineExit("lost", "The start of the run could not be recorded.")
            self._usage = supervisor.usage
        except EngineError as exc:
            self._ending = EngineExit("failed", exc.message)

    @property
    def has_succeeded(self) -> bool:
        """Whether its engine has succeeded."""
        return self._ending is not None and self._ending.state == "succeeded"

    @functools.cached_property
    def is_small(self) -> bool:
        """Whether its output is so small that the next attempt need not wait for packing."""
        return self._spec is not None and measure_left(self._spec) <= _SMALL_BYTES

    def publish(self, *, may_wait: bool = True) -> bool:
        """Publish the outcome; return False if the attempt was lost.

        Args:
            may_wait: whether to wait for space on a full disk.
        """
        if self._is_spent:
            return True
        if not self._is_begun:
            return False
        try:
            self._exit_stack.close()
            if self._outcome is None and self._spec is not None and self._ending is not None:
                until = time.monotonic() + (_SPACE_WAIT_S if may_wait else 0.0)
                run = (self._ending, self._started, self._began_s, self._usage)
                self._outcome = _publish(self._spec, *run, until)
        except Exception as exc:  # noqa: BLE001  as above
            self._record_fault(exc)
        try:
            if self._outcome is not None:
                content = files.as_content(self._outcome)
                files.write_json(self._folder / files.OUTCOME, content, is_durable=False)
        except OSError:
            _log_fault(self._folder)
            return False
        return self._outcome is not None and self._outcome.state != "lost"

    def _record_fault(self, fault: Exception) -> None:
        """Record a fault of the runner, after ending the rest of the engine."""
        _log_fault(self._folder)
        self._exit_stack.close()
        nonce = self._spec.nonce if self._spec is not None else None
        error = f"The runner failed: {files.without_path(fault)}"
        self._outcome = Outcome("lost", error, started=self._started, ended=files.now(), nonce=nonce)


def _log_fault(attempt_dir: Path) -> None:
    """Write the traceback to the attempt's folder, if there is disk space."""
    with contextlib.suppress(OSError):
        write_atomically(attempt_dir / files.RUNNER_LOG, traceback.format_exc())


def _publish(
    spec: AttemptSpec, ending: EngineExit, started: str, began_s: float, usage: Usage | None, until: float
) -> Outcome:
    score = Score(note=STAND_IN_NOTE) if has_stand_ins(spec) else read_score(spec.folder)
    archive, ending = _pack(spec, ending, started, score, began_s, until)
    has_succeeded = ending.state == "succeeded"
    return Outcome(
        state=ending.state,
        error=ending.error,
        score=score.figures if has_succeeded else None,
        result_size_bytes=archive.size_bytes if archive else None,
        result_sha256=archive.sha256 if archive else None,
        started=started,
        ended=files.now(),
        note=_join_notes(score, archive) if has_succeeded else None,
        nonce=spec.nonce,
        cpu_seconds=round(usage.cpu_seconds, 3) if usage else None,
        peak_memory_mb=round(usage.peak_memory_mb, 1) if usage else None,
        peak_gpu_memory_mb=usage.peak_gpu_memory_mb if usage else None,
        is_input_refused=ending.is_input_refused,
        engine_version=spec.engine_version or None,
    )


def _join_notes(score: Score, archive: ResultArchive | None) -> str | None:
    return " ".join(filter(None, [score.note, archive.note if archive else None])) or None


def _pack(
    spec: AttemptSpec, ending: EngineExit, started: str, score: Score, began_s: float, until: float
) -> tuple[ResultArchive | None, EngineExit]:
    """Publish the archive, if there is any output; return it with the final state of the attempt."""
    name = spec.engine.get("method") or spec.tool
    try:
        check = Deadline(spec, ending.state, began_s).check
        archive = _publish_when_disk_has_space(spec, ending.state, started, score, check, until)
        if archive is None and ending.state == "succeeded":
            ending = EngineExit("failed", f"{name} ended without writing any output.")
        return archive, ending
    except StoppedError:
        ending = EngineExit("stopped", "The job was stopped while its outputs were packed.")
    except LateError:
        limit = format_duration(spec.time_limit_s)
        ending = _without_outputs(name, ending, "timed_out", f"the time limit of {limit} passed first")
    except NotKeptError as exc:
        ending = _without_outputs(name, ending, "failed", str(exc))
    write_manifest(spec, ending.state, started, None)
    return None, ending


def _publish_when_disk_has_space(
    spec: AttemptSpec, state: str, started: str, score: Score, check: Callable[[], None], until: float
) -> ResultArchive | None:
    """Publish the result; wait on a full disk, so that a minute's shortage does not lose a run of many hours.

    ``until`` is the end of the wait on the monotonic clock.

    Raises:
        OSError: the disk is still full when the time for packing is over, or it fails.
    """
    while True:
        try:
            return publish_result(spec, state, started, score, check)
        except OSError as exc:
            if exc.errno not in FULL_DISK or time.monotonic() > until:
                raise
            try:
                check()
            except LateError:
                raise exc from None
        time.sleep(_SPACE_PAUSE_S)


def _without_outputs(name: str, ending: EngineExit, state: OutcomeState, reason: str) -> EngineExit:
    if ending.state == "succeeded":
        return EngineExit(state, f"{name} ended, but its outputs were not kept: {reason}.")
    error = f"{ending.error or name + ' ended.'} Its outputs were not kept: {reason}."
    return replace(ending, error=error)


def wait_for_lock(folder: Path) -> int | None:
    """Return the lock's descriptor; None if it stays taken. Retry: checking a lock holds it for a moment."""
    deadline = time.monotonic() + _LOCK_WAIT_S
    while (lock := take_lock(folder)) is None and time.monotonic() < deadline:
        time.sleep(0.05)
    return lock


if __name__ == "__main__":
    sys.exit(main())
