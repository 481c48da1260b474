"""A worker: a process that has loaded an engine and runs each of its jobs in a copy of itself (Linux only).

Loading a model often takes longer than the job. A runner keeps the worker of its last attempt for the next
one, if that is of the same engine, installation and environment. The worker itself sees no job (see
``job_server.py`` of the engines' protocol): each runs in a process of its own, which a runner supervises like
any other engine, with the same results as ``run.py``.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO

from foldnote.io import hash_bytes
from foldnote.service.runner import attempt as files
from foldnote.service.runner import processes
from foldnote.service.runner.attempt import NONCE_VARIABLE, AttemptSpec
from foldnote.service.runner.usage import MeasuredProcess

_TICK_S = 0.2
_ANSWER_BYTES = 100


def is_supported() -> bool:
    """Whether this system supports workers, whose forks become children of the runner."""
    return processes.can_adopt_orphans()


def worker_key(spec: AttemptSpec) -> str:
    """A key that two attempts run by one worker must share; empty if no worker may run this one.

    It describes the engine with its packages, its environment and the dates of its scripts, not the job.
    """
    if not spec.worker or not is_supported():
        return ""
    scripts = (Path(spec.worker[-1], name) for name in ("run.py", "serve.py"))
    try:
        dates = [script.stat().st_mtime_ns for script in scripts]
    except OSError:
        return ""
    environment = {name: value for name, value in spec.environment.items() if name != NONCE_VARIABLE}
    content = [spec.worker, sorted(environment.items()), spec.engine, dates]
    return hash_bytes(json.dumps(content).encode())


class WorkerJob(MeasuredProcess):
    """A job's process in a worker, the counterpart of ``MeasuredProgram``.

    Attributes:
        pid: its process id, which is that of its session and process group, too.
        stdout: what it writes.
        stderr: what it writes to the standard error.
    """

    def __init__(self, pid: int, stdout: BinaryIO, stderr: BinaryIO) -> None:
        self.pid = pid
        self.stdout = stdout
        self.stderr = stderr


class Worker:
    """Starts the process that loads the engine of ``spec``; it is ready when it answers the first job.

    Raises:
        OSError: it cannot be started.
    """

    def __init__(self, spec: AttemptSpec) -> None:
        self.key = worker_key(spec)
        self._memory_mb = spec.memory_mb
        self._orders, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # Of the same length as a nonce, since jobs overwrite it with theirs.
        environment = {**spec.environment, NONCE_VARIABLE: "-" * len(spec.nonce)}
        try:
            with other:
                self._process = subprocess.Popen(
                    (*spec.worker, str(other.fileno())),
                    cwd=spec.worker[-1],
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                    pass_fds=(other.fileno(),),
                )
        except OSError:
            self._orders.close()
            raise

    @property
    def pid(self) -> int:
        """Process id of the loaded process, which belongs to no job."""
        return self._process.pid

    def start_job(
        self, spec: AttemptSpec, scratch: Path, inherited: Sequence[int], is_over: Callable[[], bool]
    ) -> WorkerJob | None:
        """Run the engine of ``spec`` in a copy of the loaded process.

        Args:
            spec: what to run.
            scratch: folder for temporary files.
            inherited: descriptors that the copy must hold.
            is_over: called while the engine is being loaded; True ends the waiting.

        Returns:
            The process; None if the engine could not be loaded or forked, or ``is_over`` ended the waiting.
            The worker is then unusable.
        """
        output, output_end = os.pipe()
        errors, errors_end = os.pipe()
        work = os.fspath(spec.folder / files.WORK)
        order = {"work": work, "variables": {NONCE_VARIABLE: spec.nonce, "TMPDIR": os.fspath(scratch)}}
        pid = 0
        try:
            message = json.dumps(order).encode()
            socket.send_fds(self._orders, [message], [output_end, errors_end, *inherited])
            pid = self._receive_pid(is_over)
        except (OSError, ValueError):  # it ended, or could not fork
            pass
        finally:
            os.close(output_end)
            os.close(errors_end)
        if pid:
            return WorkerJob(pid, os.fdopen(output, "rb", 0), os.fdopen(errors, "rb", 0))
        os.close(output)
        os.close(errors)
        return None

    def _receive_pid(self, is_over: Callable[[], bool]) -> int:
        self._orders.settimeout(_TICK_S)
        while not is_over():
            with contextlib.suppress(TimeoutError):
                return int(self._orders.recv(_ANSWER_BYTES))
        return 0

    @property
    def is_small_enough(self) -> bool:
        """Whether the loaded process uses no more memory than its engine declares."""
        return processes.measure_memory_bytes([self.pid]) >> 20 <= self._memory_mb

    def close(self) -> None:
        """End the loaded process and all processes that it started."""
        self._orders.close()
        processes.send_to_group(self.pid, signal.SIGKILL)
        self._process.wait()


class WorkerSlot:
    """The worker that a runner keeps from one attempt to the next; at most one.

    Args:
        is_open: False for a slot that never has a worker, because there is no next attempt.
    """

    def __init__(self, *, is_open: bool = True) -> None:
        self._is_open = is_open
        self._worker: Worker | None = None

    @property
    def pids(self) -> set[int]:
        """Processes that belong to no attempt."""
        return {self._worker.pid} if self._worker else set()

    def start_job(
        self, spec: AttemptSpec, scratch: Path, inherited: Sequence[int], is_over: Callable[[], bool]
    ) -> WorkerJob | None:
        """Run the engine of ``spec`` in the worker, loading it if needed; None if none can run it."""
        key = worker_key(spec) if self._is_open else ""
        if self._worker and self._worker.key != key:
            self.clear()
        if not key:
            return None
        try:
            if self._worker is None:
                files.write_progress(spec.folder, None, f"Loading {spec.engine.get('method') or spec.tool}")
                self._worker = Worker(spec)
        except OSError:
            return None
        job = self._worker.start_job(spec, scratch, inherited, is_over)
        if job is None:
            self.clear()
        return job

    def tidy(self) -> None:
        """Keep the worker for the next attempt unless it grew beyond what its engine declares."""
        if self._worker and not self._worker.is_small_enough:
            self.clear()

    def clear(self) -> None:
        """End the worker."""
        if self._worker:
            self._worker.close()
            self._worker = None
