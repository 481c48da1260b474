"""The runner: a small process that runs one attempt and publishes how it ended.

The starter forks it, or ``python -m foldnote.service.queue.runner ATTEMPT_DIR`` starts it, in a session of
its own, so that it outlives the service. It holds the lock of the attempt for its whole life; an attempt that
was begun, revoked or ended before is not run again, so an executor may deliver it twice. It knows neither the
database nor HTTP, and imports the standard library only, since there is one of it for each running job.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from foldnote.errors import EngineError
from foldnote.service.queue import attempt as files
from foldnote.service.queue.attempt import AttemptSpec, Outcome
from foldnote.service.queue.locking import take_lock
from foldnote.service.queue.publishing import publish_result, read_score
from foldnote.service.queue.supervision import Ending, Supervisor

EXIT_DONE = 0
EXIT_UNPUBLISHED = 1
EXIT_BUSY = 75
_LOCK_WAIT_S = 2.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the attempt that the command line names; gives the exit status.

    0: it ended and its outcome is published, or there was nothing to do. 75: another runner has it.
    1: the outcome could not be published, and whoever watches will see a lost attempt.
    """
    parser = argparse.ArgumentParser(prog="foldnote-runner", description="Run one attempt of one job.")
    parser.add_argument("attempt_dir", type=Path)
    parser.add_argument("--lock-fd", type=int, help="descriptor that already holds the attempt's lock")
    options = parser.parse_args(arguments)
    folder = options.attempt_dir.resolve()
    lock = options.lock_fd if options.lock_fd is not None else _wait_for_lock(folder)
    if lock is None:
        return EXIT_BUSY
    os.set_inheritable(lock, False)
    return run_held(folder)


def run_held(attempt_dir: Path) -> int:
    """Run the attempt whose lock the caller holds, unless it is spent; gives the exit status."""
    if is_spent(attempt_dir):
        return EXIT_DONE
    runner = {"pid": os.getpid(), "started": files.now()}
    files.write_json(attempt_dir / files.RUNNER, runner, is_durable=False)
    return run_attempt(attempt_dir)


def is_spent(attempt_dir: Path) -> bool:
    """Whether the attempt must not be started: it was begun, revoked or ended before."""
    return any((attempt_dir / name).exists() for name in (files.RUNNER, files.REVOKED, files.OUTCOME))


def run_attempt(attempt_dir: Path) -> int:
    """Run the engine and publish the outcome; the caller holds the lock. Gives the exit status."""
    started = files.now()
    try:
        spec = files.read_spec(attempt_dir)
        ending = _run_engine(spec)
        outcome = _publish(spec, ending, started)
    except Exception as exc:  # noqa: BLE001  the edge of a process: whatever happened must be told, not lost
        outcome = Outcome("lost", f"The runner could not go on: {exc}", started=started, ended=files.now())
    try:
        files.write_json(attempt_dir / files.OUTCOME, files.as_content(outcome))
    except OSError as exc:
        print(f"The outcome in {attempt_dir} cannot be written: {exc}", file=sys.stderr)  # noqa: T201
        return EXIT_UNPUBLISHED
    return EXIT_DONE


def _run_engine(spec: AttemptSpec) -> Ending:
    if (spec.folder / files.CANCEL).exists():
        return Ending("stopped", "The job was stopped before its engine started.")
    try:
        with Supervisor(spec) as supervisor:
            files.sync_file(
                spec.folder / files.RUNNER
            )  # so that a run that takes the machine down is counted
            return supervisor.run()
    except EngineError as exc:
        return Ending("failed", exc.message)


def _publish(spec: AttemptSpec, ending: Ending, started: str) -> Outcome:
    archive = publish_result(spec, ending.state, started)
    if ending.state == "succeeded" and archive is None:
        ending = Ending("failed", f"{spec.engine.get('method', spec.tool)} ended without writing any output.")
    return Outcome(
        state=ending.state,
        error=ending.error,
        score=read_score(spec.folder / files.WORK) if ending.state == "succeeded" else None,
        result_size_bytes=archive.size_bytes if archive else None,
        result_sha256=archive.sha256 if archive else None,
        started=started,
        ended=files.now(),
    )


def _wait_for_lock(folder: Path) -> int | None:
    """The lock's descriptor; None when it stays taken. A look at the lock holds it for a moment."""
    deadline = time.monotonic() + _LOCK_WAIT_S
    while (lock := take_lock(folder)) is None and time.monotonic() < deadline:
        time.sleep(0.05)
    return lock


if __name__ == "__main__":
    sys.exit(main())
