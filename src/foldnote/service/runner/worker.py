"""A worker: a process that has loaded an engine and runs each of its jobs in a copy of itself (Linux only).

Loading a model often takes longer than the job. A runner keeps the worker of its last attempt for the next
one, if that needs the same engine, installation and environment. The worker itself receives no job (see
``job_server.py`` of the engines' protocol): jobs run in copies of it, which a runner supervises like any
other engine, with the same results as ``run.py``. If the engine allows it, a copy runs several jobs of the
same owner in sequence; it is replaced after a fault, after ``MAX_JOBS``, when its memory has grown, or when a
job left a process behind.

Such a copy may receive its next job while it runs one, and then begins it without waiting for the runner. The
runner can take that job back until the copy has received it: both read from the same end of a socket, so only
one of them gets it.

A process that has used CUDA cannot be forked. Therefore an engine whose run has GPUs is loaded with all GPUs
hidden; a copy receives its GPUs with its job, and moves the model there. It ends with that job, since only
the end of a process frees all of its GPU memory. Thus no worker ever holds GPU memory, and the next job may
have another GPU.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, Self

from foldnote.io import hash_bytes
from foldnote.service.runner import attempt as files
from foldnote.service.runner import processes
from foldnote.service.runner.attempt import NONCE_VARIABLE, AttemptSpec
from foldnote.service.runner.gpus import ASSIGNED
from foldnote.service.runner.orders import ReadyOrder
from foldnote.service.runner.usage import MeasuredProcess

_TICK_S = 0.2
_ANSWER_BYTES = 1000
_ORDER_BYTES = 65_536
_MOST_DESCRIPTORS = 8
MAX_JOBS = 200
"""Jobs after which a copy is replaced."""
_ASK_DRIVER = "PYTORCH_NVML_BASED_CUDA_CHECK"
"""With 1, PyTorch looks for GPUs without CUDA; otherwise it initializes CUDA even if no GPU is visible."""
_HIDE_GPUS = {ASSIGNED: "", _ASK_DRIVER: "1"}


def worker_key(spec: AttemptSpec) -> str:
    """Return a key, equal for attempts that may share a worker; empty if no worker may run this one.

    It covers the engine with its packages, its environment and the dates of its scripts, not the job.
    """
    if not spec.worker or not processes.can_adopt_orphans():  # forks become the runner's children
        return ""
    scripts = (Path(spec.worker[-1], name) for name in ("run.py", "serve.py"))
    try:
        dates = [script.stat().st_mtime_ns for script in scripts]
    except OSError:
        return ""
    content = [spec.worker, sorted(loading_environment(spec).items()), spec.engine, dates]
    return hash_bytes(json.dumps(content).encode())


def loading_environment(spec: AttemptSpec) -> dict[str, str]:
    """Return the environment in which the engine of ``spec`` is loaded; it contains nothing of the job.

    The nonce is replaced by a placeholder of the same length, which jobs overwrite with theirs.
    """
    environment = {**spec.environment, NONCE_VARIABLE: "-" * len(spec.nonce)}
    return environment | _HIDE_GPUS if spec.gpus else environment


def _job_variables(spec: AttemptSpec, scratch: Path) -> dict[str, str]:
    """Return the variables of the job's copy, in addition to those with which its engine was loaded."""
    variables = {NONCE_VARIABLE: spec.nonce, "TMPDIR": os.fspath(scratch)}
    return variables | ({ASSIGNED: ",".join(spec.gpus), _ASK_DRIVER: "0"} if spec.gpus else {})


class WorkerCopy:
    """A copy of a worker's process, for one job or several of the same owner.

    Args:
        owner: owner of the jobs that it may run; empty for one job only.

    Attributes:
        pid: its process id, session and process group; 0 until it is known.
        owner: owner of its jobs.
        is_idle: whether it has reported the end of the job that was supervised last, and can run others.
        cpu_seconds: processor time of all jobs that it has reported.
        reaped_cpu_seconds: its processor time, once its end has been observed by ``close``.
    """

    def __init__(self, owner: str) -> None:
        self.pid = 0
        self.owner = owner
        self.is_idle = False
        self.cpu_seconds = 0.0
        self.reaped_cpu_seconds = 0.0
        self._jobs = 1
        self._guard = processes.ProcessGroupGuard()
        self._orders, self._other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._orders.setblocking(False)

    @property
    def inherited(self) -> list[int]:
        """The descriptors that it must receive with its first job."""
        return [self._other.fileno(), *self._guard.inherited]

    @property
    def is_new(self) -> bool:
        """Whether it was given only its first job."""
        return self._jobs == 1

    def record_start(self, pid: int) -> None:
        """Note its creation and its process id."""
        self.pid = pid
        self._guard.tie(pid)

    def receive_report(self) -> dict[str, float] | None:
        """Return its report on an ended job, after which it may run another; None if there is none yet."""
        try:
            message = self._orders.recv(_ANSWER_BYTES)
        except OSError:
            return None
        if not message:
            return None
        report: dict[str, float] = json.loads(message)
        self.is_idle = bool(report.get("canContinue"))
        return report

    @property
    def can_take_another(self) -> bool:
        """Whether it may receive a job in addition to those that it has received."""
        return self._jobs < MAX_JOBS

    def send_job(self, message: bytes, descriptors: list[int]) -> bool:
        """Send a job, to run after the one that it may be running; return False if it has ended."""
        try:
            if processes.has_ended(self.pid):
                return False
            socket.send_fds(self._orders, [message], descriptors)
        except OSError:
            return False
        self._jobs += 1
        return True

    def take_back_job(self) -> bool:
        """Take back the job that it has been sent; return False if it has already received it."""
        try:
            message, descriptors, _, _ = socket.recv_fds(
                self._other, _ORDER_BYTES, _MOST_DESCRIPTORS, socket.MSG_DONTWAIT
            )
        except OSError:
            return False
        for descriptor in descriptors:
            os.close(descriptor)
        self._jobs -= bool(message)
        return bool(message)

    def close(self) -> None:
        """End it and the rest of its process group."""
        self._other.close()
        self._orders.close()
        if self.pid in (processes.find_children() or ()):
            processes.send_to_group(self.pid, signal.SIGKILL)
            _, _, usage = os.wait4(self.pid, 0)
            self.reaped_cpu_seconds = usage.ru_utime + usage.ru_stime
        self._guard.cut()


class WorkerJob(MeasuredProcess):
    """A job's process in a worker, the counterpart of ``MeasuredProgram``.

    Attributes:
        pid: its process id, session and process group.
        is_first: whether it is the first job of its process.
        stdout: its standard output.
        stderr: its standard error.
        peak_gpu_memory_mb: its GPU memory at its end in MB (2**20 bytes); None if unknown.
    """

    def __init__(self, copy: WorkerCopy, stdout: BinaryIO, stderr: BinaryIO) -> None:
        self.pid = copy.pid
        self.is_first = copy.is_new
        self.stdout = stdout
        self.stderr = stderr
        self.peak_gpu_memory_mb: float | None = None
        self._copy = copy
        self._own_cpu_s = -copy.cpu_seconds

    @property
    def cpu_correction_s(self) -> float:
        """Correction to the processor time of ended children, which includes that of an ended copy.

        If the copy continues, it is the job's own time; otherwise the negative time that the copy had used
        before.
        """
        return self._own_cpu_s - self._copy.reaped_cpu_seconds

    def _await(self, options: int) -> int | None:
        if self.returncode is None:
            self._take_report()
        # A report that comes after that of this job belongs to the next one.
        if self.returncode is None and super()._await(options) is not None:
            self._take_report()  # it may have come just before the end of the process
        return self.returncode

    def _take_report(self) -> None:
        report = self._copy.receive_report()
        if report and "peakGpuMemoryMb" in report:
            self.peak_gpu_memory_mb = float(report["peakGpuMemoryMb"])
        elif report:
            self.returncode = 0
            self.peak_memory_mb = report["peakMemoryMb"]
            self._own_cpu_s += report["cpuSeconds"]
            self._copy.cpu_seconds = report["cpuSeconds"]


class JobPipes:
    """Pipes of a job's output and errors; a context manager that closes the ends that the job inherits.

    Unless ``keep`` or ``make_job`` is called, it closes the other ends, too.

    Raises:
        OSError: they cannot be opened.
    """

    def __init__(self) -> None:
        self._read: list[int] = []
        self.inherited: list[int] = []
        self._is_kept = False
        try:
            for _ in range(2):
                reading, writing = os.pipe()
                self._read.append(reading)
                self.inherited.append(writing)
        except OSError:
            self.__exit__()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for descriptor in self.inherited:
            os.close(descriptor)
        if not self._is_kept:
            self.close()

    def keep(self) -> Self:
        """Leave the ends for reading open."""
        self._is_kept = True
        return self

    def make_job(self, copy: WorkerCopy) -> WorkerJob:
        """Return the job that writes to these pipes and runs in ``copy``."""
        self._is_kept = True
        output, errors = (os.fdopen(descriptor, "rb", 0) for descriptor in self._read)
        return WorkerJob(copy, output, errors)

    def close(self) -> None:
        """Close the ends for reading."""
        for descriptor in self._read:
            os.close(descriptor)


def _make_message(spec: AttemptSpec, scratch: Path, marks: tuple[str, ...] = ()) -> bytes:
    """Return the order of a job for its copy, which renames the first of ``marks`` to the second."""
    order = {
        "work": os.fspath(spec.folder / files.WORK),
        "variables": _job_variables(spec, scratch),
        "hasGpu": bool(spec.gpus),
        "mayContinue": bool(spec.owner) and not spec.gpus,
        "memoryMb": spec.memory_mb,
        "marks": marks,
    }
    return json.dumps(order).encode()


class Worker:
    """Starts the process that loads the engine of ``spec``; it is ready when it answers the first job.

    Args:
        spec: specification of the first job.
        key: ``worker_key(spec)``.

    Raises:
        OSError: it cannot be started.
    """

    def __init__(self, spec: AttemptSpec, key: str) -> None:
        self.key = key
        self.memory_mb = spec.memory_mb
        self._orders, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            with other:
                self._process = subprocess.Popen(
                    (*spec.worker, str(other.fileno())),
                    cwd=spec.worker[-1],
                    env=loading_environment(spec),
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
        self, spec: AttemptSpec, scratch: Path, is_over: Callable[[], bool], idle: WorkerCopy | None
    ) -> tuple[WorkerCopy, WorkerJob] | None:
        """Run the engine of ``spec`` in a copy of the loaded process.

        Args:
            spec: specification of the run.
            scratch: folder for temporary files.
            is_over: called while the engine is being loaded; True ends the wait.
            idle: a copy that may run it; if it has ended, another one is made.

        Returns:
            The copy and the job's process; None if the engine could not be loaded or copied, or the wait was
            ended. The worker is then unusable.
        """
        message = _make_message(spec, scratch)
        with JobPipes() as pipes:
            has_begun = idle is not None and idle.send_job(message, pipes.inherited)
            copy = idle if has_begun else self._make_copy(spec.owner, message, pipes.inherited, is_over)
            return None if copy is None else (copy, pipes.make_job(copy))

    def _make_copy(
        self, owner: str, message: bytes, descriptors: list[int], is_over: Callable[[], bool]
    ) -> WorkerCopy | None:
        copy = WorkerCopy(owner)
        try:
            socket.send_fds(self._orders, [message], [*descriptors, *copy.inherited])
            pid = self._receive_pid(is_over)
        except (OSError, ValueError):  # it ended, or could not fork
            pid = 0
        if not pid:
            copy.close()
            return None
        copy.record_start(pid)
        return copy

    def _receive_pid(self, is_over: Callable[[], bool]) -> int:
        self._orders.settimeout(_TICK_S)
        while not is_over():
            with contextlib.suppress(TimeoutError):
                return int(self._orders.recv(_ANSWER_BYTES))
        return 0

    @property
    def has_acceptable_memory(self) -> bool:
        """Whether the loaded process uses no more memory than its engine declares."""
        return processes.measure_memory_bytes([self.pid]) >> 20 <= self.memory_mb

    def close(self) -> None:
        """End the loaded process and all processes that it started."""
        self._orders.close()
        processes.send_to_group(self.pid, signal.SIGKILL)
        self._process.wait()


class WorkerSlot:
    """The worker that a runner keeps from one attempt to the next, and its copy; at most one of each.

    Args:
        is_open: False for a slot that never has a worker, because no attempt will follow.
    """

    def __init__(self, *, is_open: bool = True) -> None:
        self._is_open = is_open
        self._worker: Worker | None = None
        self._copy: WorkerCopy | None = None
        self._next: JobPipes | None = None
        """Pipes of the job that was sent to the copy while it runs another."""

    @property
    def pids(self) -> set[int]:
        """Processes that do not belong to the supervised attempt; a copy belongs to it until its job ends."""
        idle = {self._copy.pid} if self._copy and self._copy.is_idle else set()
        return idle | ({self._worker.pid} if self._worker else set())

    def start_job(
        self, spec: AttemptSpec, key: str, scratch: Path, is_over: Callable[[], bool]
    ) -> WorkerJob | None:
        """Run the engine of ``spec`` in the worker, loading it if necessary; None if no worker can run it.

        ``key`` is ``worker_key(spec)``.
        """
        if self._next is not None and self._copy is not None and self._copy.is_idle:
            following, self._next = self._next, None
            self._copy.is_idle = False
            return following.make_job(self._copy)
        self._drop_next()
        key = key if self._is_open else ""
        if self._worker and self._worker.key != key:
            self.clear()
        if not key:
            return None
        try:
            if self._worker is None:
                files.write_progress(spec.folder, None, f"Loading {spec.engine.get('method') or spec.tool}")
                self._worker = Worker(spec, key)
        except OSError:
            return None
        if self._copy and self._copy.owner != spec.owner:
            self._end_copy()
        started = self._worker.start_job(spec, scratch, is_over, self._copy)
        if started is None:
            self.clear()
            return None
        copy, job = started
        if copy is not self._copy:
            self._end_copy()
            self._copy = copy
        copy.is_idle = False
        return job

    def can_run(self, ready: ReadyOrder) -> bool:
        """Return whether the copy is idle and may run the attempt right away."""
        return self._copy is not None and self._copy.is_idle and self._may_share(self._copy, ready)

    def _may_share(self, copy: WorkerCopy, ready: ReadyOrder) -> bool:
        key, spec = ready.order.worker_key, ready.spec
        is_same = self._worker is not None and self._worker.key == key and bool(key)
        return is_same and spec is not None and copy.owner == spec.owner and copy.can_take_another

    def send_next(self, ready: ReadyOrder) -> None:
        """Send an attempt to the copy while it runs another, if it may run both.

        The copy has run several jobs before, so it is known that its engine allows this.
        """
        copy = self._copy
        if copy is None or copy.is_new or not self._may_share(copy, ready):
            return
        assert ready.spec is not None
        assert ready.mark is not None
        assert ready.scratch is not None
        marks = (os.fspath(ready.mark), os.fspath(ready.order.folder / files.RUNNER))
        message = _make_message(ready.spec, ready.scratch, marks)
        with contextlib.suppress(OSError), JobPipes() as pipes:
            if copy.send_job(message, pipes.inherited):
                self._next = pipes.keep()

    @property
    def has_begun_next(self) -> bool:
        """Whether the copy, having ended the supervised job, runs the next one already."""
        return self._next is not None and self._copy is not None and self._copy.is_idle

    def take_back_next(self) -> bool:
        """Make sure that the copy does not begin the next job; return False if it has begun."""
        if self._next is None:
            return True
        if self._copy is not None and not self._copy.take_back_job():
            return False
        self._drop_next()
        return True

    def settle(self, *, has_succeeded: bool) -> None:
        """After a job, keep the copy if it can run another; otherwise end it and the rest of its group.

        After a job that did not succeed, a signal may still be on its way to the copy.
        """
        if self._copy is None or self.has_begun_next:
            return
        if not (has_succeeded and self._copy.is_idle and self._copy.can_take_another):
            self._end_copy()

    def _end_copy(self) -> None:
        self._drop_next()
        if self._copy:
            self._copy.close()
            self._copy = None

    def _drop_next(self) -> None:
        if self._next is not None:
            self._next.close()
            self._next = None

    def release_memory(self) -> None:
        """End the worker if it uses more memory than its engine declares; otherwise keep it."""
        if self._worker and not self._worker.has_acceptable_memory:
            self.clear()

    def clear(self) -> None:
        """End the worker and its copy."""
        self._end_copy()
        if self._worker:
            self._worker.close()
            self._worker = None
