"""Run one engine process, from its start until none of its processes is left.

The engine is started in its own session. Its output is sorted into progress and log, and it is ended when it
is cancelled, too slow or too large. This module publishes nothing.
"""

from __future__ import annotations

import errno
import os
import selectors
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Self

from foldnote.errors import EngineError
from foldnote.io import FULL_DISK
from foldnote.service.runner import attempt as files
from foldnote.service.runner import processes
from foldnote.service.runner.attempt import AttemptSpec, OutcomeState
from foldnote.service.runner.gpus import GpuMeter, explain_shortage
from foldnote.service.runner.orders import SHORT_S, OrderQueue
from foldnote.service.runner.output_lines import LineSorter
from foldnote.service.runner.untrusted import read_regular
from foldnote.service.runner.usage import MeasuredProgram, Usage, count_cpu_seconds
from foldnote.service.runner.worker import WorkerJob, WorkerSlot
from foldnote.text import format_duration

_TICK_S = 0.2
_MEMORY_CHECK_S = 1.0
_DRAIN_S = 0.5
_TERMINATION_S = 2.0
"""Delay after the engine's end in which a runner may receive the signal that ends the whole machine or
job."""
_DEFAULT_GRACE_S = 10.0
_TERMINATED = frozenset({-signal.SIGTERM, -signal.SIGINT, 128 + signal.SIGTERM, 128 + signal.SIGINT})
"""Exit codes of an engine that was asked to end; a shell reports its program's signal plus 128."""
_SHORTAGES = frozenset({errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE, *FULL_DISK})
"""Errors for which the machine, not the engine, is the cause that no process can be started."""
_REFUSED_INPUT = 2
"""Exit code of an engine that rejects its settings or files, with a sentence."""


@dataclass(frozen=True, slots=True)
class EngineExit:
    """How the engine ended."""

    state: OutcomeState
    error: str | None = None
    is_input_refused: bool = False
    """Whether the engine rejected its settings or files, as it would in another run."""


class SignalWatch:
    """Wakes the supervisors of a runner's attempts when a signal arrives; use as a context manager.

    Attributes:
        is_terminated: whether this process was asked to end; without an attempt it ends at once.
    """

    def __init__(self) -> None:
        self.is_terminated = False

    def __enter__(self) -> Self:
        processes.adopt_orphans()
        self.waker = processes.SignalWaker()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._note_termination)
        return self

    def __exit__(self, *_: object) -> None:
        self.waker.close()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)

    def _note_termination(self, _number: int, _frame: FrameType | None) -> None:
        self.is_terminated = True


@dataclass(frozen=True, slots=True)
class RunnerResources:
    """Resources that a runner has for an attempt."""

    watch: SignalWatch
    """An open signal watch."""
    workers: WorkerSlot | None = None
    """Holds the worker; None for no worker."""
    worker_key: str = ""
    """``worker_key`` of the attempt's specification."""
    orders: OrderQueue | None = None
    """The queue of orders; a queued one is given back if the run takes long."""
    scratch: Path | None = None
    """The temporary folder of the attempt; None if it has not been created yet."""
    may_overlap: bool = False
    """Whether the queued order may begin before the outcome of the attempt is published."""


class Supervisor:
    """Runs the engine of ``spec`` once; a context manager that leaves none of its processes behind.

    Entering starts the engine, in a worker of ``resources`` if the engine can be run by one. After ``run``
    the next attempt may begin: leaving the context takes time but needs no process.

    Args:
        spec: specification of the run.
        resources: resources of the runner.

    Raises:
        EngineError: the engine's program cannot be started.
    """

    def __init__(self, spec: AttemptSpec, resources: RunnerResources) -> None:
        self._spec = spec
        self._watch = resources.watch
        self._workers = resources.workers or WorkerSlot(is_open=False)
        self._worker_key = resources.worker_key
        self._orders = resources.orders
        self._may_overlap = resources.may_overlap
        self._selector = selectors.DefaultSelector()
        self._sorter = LineSorter(spec.folder)
        self._is_fenced = False
        self._has_succeeded = False
        self._is_cleared = False
        self._started = time.monotonic()
        self._memory_checked = self._started
        self._guard: processes.ProcessGroupGuard | None = None
        self._gpu_meter = GpuMeter()
        self._scratch = resources.scratch or files.make_scratch(spec.nonce)

    def __enter__(self) -> Self:
        self._selector.register(self._watch.waker.receiver, selectors.EVENT_READ)
        if self._orders is not None:
            self._selector.register(self._orders, selectors.EVENT_READ)
        try:
            self._process = self._start()
        except OSError as exc:
            self._close()
            if exc.errno in _SHORTAGES:  # another attempt may succeed
                raise
            name = self._spec.engine.get("name", self._spec.tool)
            raise EngineError(
                f"The engine {name} could not be started: {exc.strerror}: {exc.filename}."
                f" Run `foldnote engines install {name}` again."
            ) from exc
        self._read_queued_order()
        return self

    def __exit__(self, *_: object) -> None:
        self._gpu_meter.close()
        if not self._is_cleared:
            self._kill_remaining()
        self._close()

    def _close(self) -> None:
        self._sorter.close()
        self._selector.close()
        if self._guard is not None:
            self._guard.cut()
        try:
            self._scratch.rmdir()  # most engines leave it empty
        except OSError:
            shutil.rmtree(self._scratch, ignore_errors=True)

    def run(self) -> EngineExit:
        """Wait for the engine, or end it; return how it ended once none of its processes is left."""
        while (ending := self._check()) is None:
            self._pump(_TICK_S)
            self._return_slow_order()
            if self._spec.gpus:
                self._gpu_meter.measure(self._descendants)
        is_running = ending.state != "succeeded" and self._process.poll() is None
        asks_again = is_running and self._spec.gpus and not self._is_fenced
        self._gpu_meter.finish(self._descendants if asks_again else None)
        if is_running:
            self._return_slow_order(after_s=0.0)
            self._end_gently(self._grace_s())
        self._has_succeeded = ending.state == "succeeded"
        self._kill_remaining()
        self._is_cleared = True
        self._drain()
        if ending.state != "succeeded":
            self.finish_log()
        return ending if ending.error or ending.state != "failed" else self._explain_exit()

    def _return_slow_order(self, after_s: float = SHORT_S) -> None:
        """Give back the queued order if this run takes longer than ``after_s``."""
        if (
            self._orders is not None
            and time.monotonic() - self._started > after_s
            and self._workers.take_back_next()
        ):
            self._orders.give_back()

    def finish_log(self) -> None:
        """Write the rest of the log and the progress, once the engine has ended."""
        self._sorter.finish()

    @property
    def usage(self) -> Usage | None:
        """The resources used, once none of the processes is left; None if their end was not observed.

        The time and memory of a worker for loading the engine are not included.
        """
        peak = self._process.peak_memory_mb
        if peak is None:
            return None
        correction_s, gpu_peaks = 0.0, [self._gpu_meter.peak_mb]
        if isinstance(self._process, WorkerJob):
            correction_s = self._process.cpu_correction_s
            gpu_peaks.append(self._process.peak_gpu_memory_mb)
        cpu_seconds = max(0.0, count_cpu_seconds() - self._cpu_before + correction_s)
        return Usage(cpu_seconds, peak, max(filter(None, gpu_peaks), default=None))

    def _start(self) -> MeasuredProgram | WorkerJob:
        job = self._workers.start_job(self._spec, self._worker_key, self._scratch, self._must_end)
        process = job or self._start_program()
        self._cpu_before = count_cpu_seconds()  # an earlier worker, ended for this job, does not count
        if job is None or job.is_first:
            _prefer_for_out_of_memory(process.pid)
        for stream in (process.stdout, process.stderr):
            assert stream is not None
            os.set_blocking(stream.fileno(), False)
            self._selector.register(stream, selectors.EVENT_READ)
        return process

    def _start_program(self) -> MeasuredProgram:
        guard = self._guard = processes.ProcessGroupGuard()
        program = MeasuredProgram(
            self._spec.command,
            cwd=self._spec.folder / files.WORK,
            env={**self._spec.environment, "TMPDIR": str(self._scratch)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            pass_fds=guard.inherited,
        )
        guard.tie(program.pid)
        return program

    def _check(self) -> EngineExit | None:
        """Return the reason to end the run now, in order of precedence; None to continue."""
        if (code := self._process.poll()) is not None:
            if code == 0:
                return EngineExit("succeeded")
            return self._terminated() if self._ended_with_runner(code) else EngineExit("failed")
        reason = self._check_orders() or self._check_memory()
        if reason is not None and not self._workers.take_back_next():
            return self._check()  # it has just ended, and its process has begun the next job
        return reason

    def _ended_with_runner(self, code: int) -> bool:
        """Return whether the engine was ended together with the runner, by a shutdown or a batch system."""
        deadline, watch = time.monotonic() + _TERMINATION_S, self._watch
        while code in _TERMINATED and not watch.is_terminated and (left := deadline - time.monotonic()) > 0:
            self._pump(left)
        return watch.is_terminated

    @staticmethod
    def _terminated() -> EngineExit:
        return EngineExit("lost", "The system ended the job's runner before the engine had finished.")

    def _check_orders(self) -> EngineExit | None:
        """Return the external reason to end the run now: cancellation, deletion, a signal or the limit."""
        spec = self._spec
        if spec.has(files.CANCEL):
            return EngineExit("stopped", "The job was stopped.")
        if not os.path.lexists(spec.attempt_dir):  # the data folder was moved, or restored from a backup
            return EngineExit("lost", "The folder of the run no longer exists.")
        if spec.has_lease and files.is_lease_over(spec.folder):
            self._is_fenced = True
            return EngineExit("lost", "The node lost its connection to the service for too long.")
        if self._watch.is_terminated:
            return self._terminated()
        if time.monotonic() - self._started > spec.time_limit_s:
            return EngineExit(
                "timed_out",
                f"{self._name} was ended at its time limit of {format_duration(spec.time_limit_s)}."
                " Allow more time, or try a smaller input.",
            )
        return None

    def _must_end(self) -> bool:
        """Return whether the run must end while its engine is being loaded."""
        self._return_slow_order()
        return self._check_orders() is not None

    def _check_memory(self) -> EngineExit | None:
        limit = self._spec.memory_limit_mb
        if not limit or time.monotonic() - self._memory_checked < _MEMORY_CHECK_S:
            return None
        self._memory_checked = time.monotonic()
        used = processes.measure_memory_bytes(self._descendants()) >> 20
        if used <= limit:
            return None
        return EngineExit(
            "failed",
            f"{self._name} was ended because it used {used} MB of memory; it may use {limit} MB."
            " Try a smaller input.",
        )

    @property
    def _name(self) -> str:
        return str(self._spec.engine.get("method") or self._spec.tool)

    def _grace_s(self) -> float:
        if self._is_fenced:  # another machine may start the job soon
            return 0.0
        try:
            return float(read_regular(self._spec.folder / files.CANCEL, 100) or b"")
        except (OSError, ValueError):
            return _DEFAULT_GRACE_S

    def _descendants(self) -> set[int]:
        return processes.find_descendants(os.getpid(), self._workers.pids)

    def _find_living(self) -> set[int]:
        return self._descendants() | processes.find_marked(self._spec.nonce)

    def _end_gently(self, grace_s: float) -> None:
        """Send TERM to all processes and give them time to end; the caller kills the rest."""
        processes.send_to_group(self._process.pid, signal.SIGTERM)
        processes.send(self._find_living(), signal.SIGTERM)
        deadline = time.monotonic() + grace_s
        while (left := deadline - time.monotonic()) > 0 and self._is_alive():
            self._pump(min(_TICK_S, left))

    def _is_alive(self) -> bool:
        return self._process.poll() is None or bool(self._find_living())

    def _kill_remaining(self) -> None:
        if self._process.poll() is None:
            processes.send_to_group(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._workers.settle(has_succeeded=self._has_succeeded)
        processes.reap_children()
        if processes.can_adopt_orphans() and processes.find_children() == self._workers.pids:
            return  # orphans become our children: without other children there are no descendants
        processes.kill_all(self._find_living)
        processes.reap_children()

    def _pump(self, timeout_s: float) -> bool:
        """Read available output, waiting at most ``timeout_s``; return False if there was none."""
        came = False
        for key, _ in self._selector.select(timeout_s):
            if key.fileobj is self._orders:
                self._read_queued_order()
                continue
            chunk = os.read(key.fd, 65_536)
            if key.fileobj is self._watch.waker.receiver:
                continue
            came = True
            if chunk:
                self._sorter.feed(key.fd, chunk)
            else:
                self._selector.unregister(key.fileobj)
        self._sorter.flush_progress()
        return came

    def _read_queued_order(self) -> None:
        """Read the queued order, now that the engine is running; there is at most one at a time."""
        if self._orders is None or (self._orders.peek() is None and self._orders.is_open):
            return
        self._selector.unregister(self._orders)
        ready = self._orders.peek()
        if self._may_overlap and ready is not None and ready.can_begin:
            self._workers.send_next(ready)

    def _drain(self) -> None:
        deadline = time.monotonic() + _DRAIN_S
        while time.monotonic() < deadline and self._pump(0.0):
            continue

    def _explain_exit(self) -> EngineExit:
        code = self._process.wait()
        if self._sorter.error:
            return EngineExit("failed", self._sorter.error, is_input_refused=code == _REFUSED_INPUT)
        if self._spec.gpus and self._sorter.shortage:
            sentence = explain_shortage(self._name, self._sorter.shortage, self._spec.gpus)
            return EngineExit("failed", f"{sentence} The job's log has the details.")
        if code == -signal.SIGKILL:
            reason = "was killed by the system, most likely because the machine ran out of memory"
        elif code < 0:
            reason = f"was ended by the signal {_name_signal(-code)}"
        else:
            reason = f"failed with exit code {code}"
        last = f" Its last line: {self._sorter.last_line.rstrip('.')}." if self._sorter.last_line else ""
        return EngineExit("failed", f"{self._name} {reason}.{last} The job's log has the details.")


def _name_signal(number: int) -> str:
    """Return the signal's name, or its number if it has none, as most real-time signals."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


def _prefer_for_out_of_memory(pid: int) -> None:
    """Let the kernel end the engine rather than the service when memory runs out (Linux only)."""
    try:
        Path(f"/proc/{pid}/oom_score_adj").write_text("500")
    except OSError:
        return
