"""Measure a run: the kernel's counts of processor time and memory after its processes have ended.

This module imports only the standard library, since each runner loads it.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from dataclasses import dataclass

_MAXRSS_PER_MB = 1 << (20 if sys.platform == "darwin" else 10)
"""The system's unit is bytes on macOS and 1,024 bytes elsewhere."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Resources used by a run."""

    cpu_seconds: float
    """User and system time of all its processes."""
    peak_memory_mb: float
    """Peak resident memory, in MB (2**20 bytes), of the process with the highest peak."""
    peak_gpu_memory_mb: float | None = None
    """Peak GPU memory, in MB (2**20 bytes), of its processes together; None if none was observed."""


def count_cpu_seconds() -> float:
    """Return the user and system time of all ended children of this process, with their own children."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class MeasuredProcess:
    """A child process that reports its peak memory together with its exit status.

    Attributes:
        pid: its process id.
        returncode: its exit status, negative for a signal; None until ``poll`` or ``wait`` has seen its end.
        peak_memory_mb: peak resident memory of it or of one of its children, in MB (2**20 bytes); None until
            its end, and if the end was not observed.
    """

    pid: int
    returncode: int | None = None
    peak_memory_mb: float | None = None

    def poll(self) -> int | None:
        """Return the exit status; None while it runs."""
        return self._await(os.WNOHANG)

    def wait(self) -> int:
        """Wait for the end, and return the exit status."""
        while self._await(0) is None:
            continue
        assert self.returncode is not None
        return self.returncode

    def _await(self, options: int) -> int | None:
        if self.returncode is None:
            try:
                pid, status, usage = os.wait4(self.pid, options)
            except ChildProcessError:  # reaped elsewhere: its exit status is unknown
                self.returncode = -signal.SIGKILL
            else:
                if pid:
                    self.returncode = os.waitstatus_to_exitcode(status)
                    self.peak_memory_mb = usage.ru_maxrss / _MAXRSS_PER_MB
        return self.returncode


class MeasuredProgram(MeasuredProcess, subprocess.Popen[bytes]):  # type: ignore[misc]
    """A separate program, whose peak memory is known once it has ended."""
