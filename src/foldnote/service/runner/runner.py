"""The runner: a small process that runs attempts, one after another, and publishes how each ended.

The starter forks it in a session of its own, so that it outlives the service; ``python -m
foldnote.service.runner.runner ATTEMPT_DIR`` runs a single attempt. It holds the attempt's lock until the
outcome is published. An attempt that was begun, revoked or ended before is not run again, so an executor may
deliver it twice. A runner that lost an attempt accepts no other. It knows neither the database nor HTTP and
imports the standard library only, since there is one runner per running job.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import time
import traceback
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from foldnote.errors import EngineError
from foldnote.io import write_atomically
from foldnote.service.runner import attempt as files
from foldnote.service.runner.attempt import AttemptSpec, Outcome, OutcomeState
from foldnote.service.runner.locking import take_lock
from foldnote.service.runner.manifest import STAND_IN_NOTE, has_stand_ins
from foldnote.service.runner.publishing import (
    Deadline,
    LateError,
    NotKeptError,
    ResultArchive,
    Score,
    StoppedError,
    publish_result,
    read_score,
    write_manifest,
)
from foldnote.service.runner.supervision import EngineExit, Supervisor
from foldnote.service.runner.usage import Usage
from foldnote.service.runner.worker import WorkerSlot
from foldnote.text import format_duration

EXIT_DONE = 0
EXIT_UNPUBLISHED = 1
EXIT_BUSY = 75
DONE = b"."
"""Sent by a runner when an attempt has ended and its lock is free."""
_LOCK_WAIT_S = 2.0
_ORDER_BYTES = 65_536
_MORE_FOLLOWS = b"\0"


class RunnerOrder(NamedTuple):
    """An attempt to run."""

    folder: Path
    worker_key: str
    """The key of the worker that may run it; empty for none."""
    at_once: int
    """With how many other attempts that have such a worker it does not run, but waits for one of them; 0 for
    any number."""
    lock: int
    """Descriptor that holds the attempt's lock."""


def main() -> int:
    """Run the attempt whose folder is the first argument, and return the exit status.

    0: the outcome is published, or there was nothing to do. 75: another runner holds the attempt. 1: the
    outcome could not be published, so the attempt will be seen as lost.
    """
    folder = Path(sys.argv[1]).resolve()
    if wait_for_lock(folder) is None:
        return EXIT_BUSY
    if not is_spent(folder):
        _begin(folder)
        return EXIT_DONE if (folder / files.OUTCOME).exists() else EXIT_UNPUBLISHED
    return EXIT_DONE


def serve(orders: socket.socket) -> int:
    """Run the attempts received through ``orders`` until its other end is closed."""
    workers = WorkerSlot()
    try:
        return _serve(orders, workers)
    finally:
        workers.clear()


def _serve(orders: socket.socket, workers: WorkerSlot) -> int:
    while order := receive_order(orders):
        try:
            is_well = is_spent(order.folder) or _begin(order.folder, workers)
        finally:
            os.close(order.lock)
            for number in (signal.SIGTERM, signal.SIGINT):  # without an attempt there is nothing to report
                signal.signal(number, signal.SIG_DFL)
        if not is_well:
            return EXIT_UNPUBLISHED
        with contextlib.suppress(OSError):  # the other end is closed, as the next read shows
            orders.sendall(DONE)
        workers.tidy()
    return EXIT_DONE


def send_order(
    orders: socket.socket, folder: str | Path, worker_key: str, lock: int, *, at_once: int = 0
) -> None:
    """Send an attempt's folder, the key of the worker that may run it, and the descriptor of its lock.

    Raises:
        OSError: the other end is closed.
    """
    parts = (os.fsencode(folder), worker_key.encode(), str(at_once).encode())
    socket.send_fds(orders, [_MORE_FOLLOWS.join(parts)], [lock])


def receive_order(orders: socket.socket) -> RunnerOrder | None:
    """Receive what ``send_order`` sent; None if the other end is closed."""
    try:
        message, descriptors, _, _ = socket.recv_fds(orders, _ORDER_BYTES, 1)
    except OSError:
        return None
    if not message:
        return None
    os.set_inheritable(descriptors[0], False)
    folder, worker_key, at_once = message.split(_MORE_FOLLOWS)
    return RunnerOrder(Path(os.fsdecode(folder)), worker_key.decode(), int(at_once), descriptors[0])


def is_spent(attempt_dir: Path) -> bool:
    """Whether the attempt must not be started: it was begun, revoked or ended before."""
    names = (files.RUNNER, files.REVOKED, files.OUTCOME)
    return any(os.path.lexists(f"{attempt_dir}/{name}") for name in names)


def _begin(attempt_dir: Path, workers: WorkerSlot | None = None) -> bool:
    """Mark the attempt as begun and run it; False if it was lost."""
    try:
        spec = _read_spec(attempt_dir)
        runner = {"pid": os.getpid(), "started": files.now(), "nonce": spec and spec.nonce}
        files.write_json(attempt_dir / files.RUNNER, runner, is_durable=False)
        return run_attempt(attempt_dir, workers, spec).state != "lost"
    except OSError:
        _note_trouble(attempt_dir)
        return False


def _read_spec(attempt_dir: Path) -> AttemptSpec | None:
    try:
        return files.read_spec(attempt_dir)
    except (OSError, ValueError):  # `run_attempt` fails on it again and reports it
        return None


def run_attempt(
    attempt_dir: Path, workers: WorkerSlot | None = None, spec: AttemptSpec | None = None
) -> Outcome:
    """Run the engine, in a worker where there is one; publish the outcome and return it.

    The caller holds the lock. ``spec`` is read from the folder unless it is given.

    Raises:
        OSError: the outcome cannot be written.
    """
    started = files.now()
    began_s = time.monotonic()
    nonce = None
    try:
        spec = spec or files.read_spec(attempt_dir)
        nonce = spec.nonce
        ending, usage = _run_engine(spec, workers)
        outcome = _publish(spec, ending, started, began_s, usage)
    except Exception as exc:  # noqa: BLE001  any fault must end up in the outcome
        _note_trouble(attempt_dir)
        error = f"The runner failed: {files.without_path(exc)}"
        outcome = Outcome("lost", error, started=started, ended=files.now(), nonce=nonce)
    files.write_json(attempt_dir / files.OUTCOME, files.as_content(outcome), is_durable=False)
    return outcome


def _note_trouble(attempt_dir: Path) -> None:
    """Write the traceback to the attempt's folder, if the disk has space."""
    with contextlib.suppress(OSError):
        write_atomically(attempt_dir / files.RUNNER_LOG, traceback.format_exc())


def _run_engine(spec: AttemptSpec, workers: WorkerSlot | None) -> tuple[EngineExit, Usage | None]:
    if spec.has(files.CANCEL):
        return EngineExit("stopped", "The job was stopped before its engine started."), None
    try:
        with Supervisor(spec, workers) as supervisor:
            ending = supervisor.run()
            return ending, supervisor.usage
    except EngineError as exc:
        return EngineExit("failed", exc.message), None


def _publish(
    spec: AttemptSpec, ending: EngineExit, started: str, began_s: float, usage: Usage | None
) -> Outcome:
    score = Score(note=STAND_IN_NOTE) if has_stand_ins(spec) else read_score(spec.folder)
    archive, ending = _pack(spec, ending, started, score, began_s)
    has_succeeded = ending.state == "succeeded"
    return Outcome(
        state=ending.state,
        error=ending.error,
        score=score.figures if has_succeeded else None,
        result_size_bytes=archive.size_bytes if archive else None,
        result_sha256=archive.sha256 if archive else None,
        started=started,
        ended=files.now(),
        note=score.note if has_succeeded else None,
        nonce=spec.nonce,
        cpu_seconds=round(usage.cpu_seconds, 3) if usage else None,
        peak_memory_mb=round(usage.peak_memory_mb, 1) if usage else None,
        peak_gpu_memory_mb=usage.peak_gpu_memory_mb if usage else None,
        is_input_refused=ending.is_input_refused,
        engine_version=spec.engine_version or None,
    )


def _pack(
    spec: AttemptSpec, ending: EngineExit, started: str, score: Score, began_s: float
) -> tuple[ResultArchive | None, EngineExit]:
    """Publish the archive, if there is any output; return it with the final state of the attempt."""
    name = spec.engine.get("method") or spec.tool
    try:
        check = Deadline(spec, ending.state, began_s).check
        archive = publish_result(spec, ending.state, started, score, check)
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


def _without_outputs(name: str, ending: EngineExit, state: OutcomeState, reason: str) -> EngineExit:
    if ending.state == "succeeded":
        return EngineExit(state, f"{name} ended, but its outputs were not kept: {reason}.")
    error = f"{ending.error or name + ' ended.'} Its outputs were not kept: {reason}."
    return replace(ending, error=error)


def wait_for_lock(folder: Path) -> int | None:
    """The lock's descriptor; None if it stays taken. Waits, since checking a lock holds it for a moment."""
    deadline = time.monotonic() + _LOCK_WAIT_S
    while (lock := take_lock(folder)) is None and time.monotonic() < deadline:
        time.sleep(0.05)
    return lock


if __name__ == "__main__":
    sys.exit(main())
