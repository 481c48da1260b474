"""Load an engine once, and run each of its jobs in a fork of this process.

``python job_server.py ENGINE_DIR DESCRIPTOR`` imports the engine's ``run.py``, calls ``load()`` of its
``serve.py``, which prepares what all jobs need, and then receives jobs from the socket DESCRIPTOR
(SOCK_SEQPACKET): a JSON object with the job's working folder (``work``) and the variables to set
(``variables``), together with the descriptors of its standard output, standard error, a socket for further
jobs and the pipe that ties it to its runner. It answers with the process id of the copy, or with ``-`` if no
process could be made.

A copy is a forked process in its own session. This process receives no job's data, so each copy finds what
``run.py`` would find in a new process. Copies become children of the runner, which must be a subreaper
(Linux). This process ends when the other end of the socket is closed. It runs inside the engines' own
environments and uses only the standard library.

A copy ends with its job, unless the order says ``mayContinue`` and ``serve.py`` says ``RUNS_MANY = True``:
that ``main()`` leaves nothing behind that a later call could find. Then it receives further jobs from its own
socket, with the descriptors of their output and errors. After each success it answers with the processor time
of all its jobs (``cpuSeconds``), the peak memory of the last (``peakMemoryMb``, 2**20 bytes) and whether it
continues (``canContinue``). It does not if the job left a thread or a process, or if it uses more memory than
the order allows (``memoryMb``). It ends after any other outcome.

The runner may send the next job before the last has ended; that job names the file that marks its start and
the name that the file then receives (``marks``).

If jobs have GPUs, none is visible to this process, since a fork could not use CUDA after it. An order says
``hasGpu`` and names the GPUs among its variables, and the copy calls ``use_gpu()`` of ``serve.py``, which
moves the loaded model there. If ``serve.py`` has no such function, or if loading opened a GPU nevertheless,
the copy becomes a new process of ``run.py``, which loads the model itself. It ends with its job. Its last
message after a success is the memory that it had on its GPUs (``peakGpuMemoryMb``, 2**20 bytes): PyTorch
keeps memory until its process ends, while a runner that samples it may miss all of it.
"""

from __future__ import annotations

import array
import atexit
import contextlib
import ctypes
import functools
import gc
import importlib
import json
import os
import random
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

FAILED = b"-"
_MESSAGE_BYTES = 65_536
_MOST_DESCRIPTORS = 8
_RESET_PEAK = "5"
_MEASURE_S = 2.0
_GPUS = ("/dev/nvidia", "/dev/kfd", "/dev/dri/", "/dev/dxg")
"""Prefixes of the paths of GPU devices."""


def main() -> None:
    """Serve until the runner closes the socket; in a copy, run the job."""
    ending = Ending()
    engine_dir, descriptor = sys.argv[1], int(sys.argv[2])
    orders = socket.socket(fileno=descriptor)
    os.set_inheritable(descriptor, False)
    sys.path[0] = engine_dir
    sys.argv = [f"{engine_dir}/run.py"]
    run = importlib.import_module("run")
    serve = importlib.import_module("serve")
    serve.load()
    if has_opened_gpu() or not hasattr(serve, "use_gpu"):
        serve.__dict__["use_gpu"] = reload
    gc.collect()
    gc.freeze()  # a collection in a copy would write to every page that it shares
    runner, worker = os.getppid(), os.getpid()
    while order := receive_order(orders):
        job, descriptors = order
        if copy_process(orders):
            run_jobs(job, descriptors, run.main, serve, ending, (runner, worker))
            return
        for inherited in descriptors:
            os.close(inherited)


class Ending:
    """Ends a copy after all of its exit handlers, but before the interpreter tears down its modules.

    The teardown would copy the memory that the fork shares, and take longer than many a job. Create this
    object before anything registers exit handlers, since they run in reverse order.
    """

    def __init__(self) -> None:
        self._status: int | None = None
        atexit.register(self._leave)

    def run(self, program: Callable[[], int | None]) -> bool:
        """Run the program of a copy, which then ends with its exit status; return whether it succeeded."""
        self._status = 1
        try:
            self._status = program() or 0
        except SystemExit as exc:
            self._status = exc.code if isinstance(exc.code, int) else int(exc.code is not None)
            raise
        return self._status == 0

    def _leave(self) -> None:
        if self._status is not None:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(self._status)


def _nothing() -> None:
    """Do nothing; the default for ``begin`` of ``serve.py``."""


def has_opened_gpu(descriptors: Path = Path("/proc/self/fd")) -> bool:
    """Return whether this process has a GPU open, as after any use of CUDA: its forks could not use one."""
    opened = []
    for link in descriptors.iterdir():
        with contextlib.suppress(OSError):  # the descriptor of the listing itself is closed by now
            opened.append(os.fspath(link.readlink()))
    return any(path.startswith(_GPUS) for path in opened)


def reload() -> None:
    """Become a new process of ``run.py``, in this job's folder and environment."""
    os.execv(sys.executable, [sys.executable, "-u", *sys.argv])


def run_jobs(
    job: dict[str, Any],
    descriptors: list[int],
    program: Callable[[], int | None],
    serve: Any,
    ending: Ending,
    origin: tuple[int, int],
) -> None:
    """In a copy, run the job, and those that follow it if engine and order allow any.

    ``origin`` holds the process ids of the runner and of the process that was copied.
    """
    os.setsid()
    following = socket.socket(fileno=descriptors.pop(2))
    following.set_inheritable(False)
    may_continue = job["mayContinue"] and getattr(serve, "RUNS_MANY", False)
    begin_job(job, descriptors)
    getattr(serve, "begin", _nothing)()
    if job["hasGpu"]:
        serve.use_gpu()
    while ending.run(program):
        if job["hasGpu"]:
            report_gpu_memory(following)
        if not may_continue or not has_one_thread():
            return
        can_continue = leaves_nothing(*origin, job["memoryMb"])
        end_job(job, following, can_continue=can_continue)
        order = receive_order(following) if can_continue else None
        if order is None:
            os._exit(0)  # the runner no longer needs it
        job, descriptors = order
        if job["marks"]:
            mark_start(*job["marks"])
        begin_job(job, descriptors)


def has_one_thread() -> bool:
    """Return whether the job left no thread for which this process would wait at its end."""
    return all(thread is threading.main_thread() or thread.daemon for thread in threading.enumerate())


def leaves_nothing(runner: int, worker: int, memory_mb: int) -> bool:
    """Return whether the job left no process, and this copy of ``worker`` uses at most ``memory_mb``.

    Orphans of the job became children of the runner, as this copy did; the runner has no others.
    """
    with contextlib.suppress(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)
        return False  # there are children
    wait_for_adoption(runner)
    try:
        children = Path(f"/proc/{runner}/task/{runner}/children").read_text().split()
        resident_bytes = int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    except OSError:
        return False
    return set(children) == {str(worker), str(os.getpid())} and resident_bytes >> 20 <= memory_mb


def wait_for_adoption(runner: int) -> None:
    """Wait until the intermediate process that made this copy has ended, at most a tenth of a second."""
    for _ in range(100):
        if os.getppid() == runner:
            return
        time.sleep(0.001)


def mark_start(mark: str, name: str) -> None:
    """Mark the job as begun; end if that is impossible, since then it must not run."""
    try:
        Path(mark).rename(name)
    except OSError:
        os._exit(1)


def report_gpu_memory(following: socket.socket) -> None:
    """Report how much memory this process has on GPUs, if the driver answers in time."""
    question = ["nvidia-smi", "--query-compute-apps=pid,used_gpu_memory", "--format=csv,noheader,nounits"]
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        output = subprocess.run(
            question, stdin=subprocess.DEVNULL, capture_output=True, timeout=_MEASURE_S, check=True
        ).stdout.decode("utf-8", "replace")
        rows = [[cell.strip() for cell in line.split(",")] for line in output.splitlines()]
        used = sum(int(row[1]) for row in rows if row[0] == str(os.getpid()) and row[-1].isdecimal())
        if used:
            following.send(json.dumps({"peakGpuMemoryMb": used}).encode())


def end_job(job: dict[str, Any], following: socket.socket, *, can_continue: bool) -> None:
    """Leave the job's folder, report the resources used, and close its output and errors."""
    sys.stdout.flush()
    sys.stderr.flush()
    os.chdir("/")
    for name, value in job["variables"].items():
        show_variable(name, "-" * len(value))
    scopes = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    used = [resource.getrusage(scope) for scope in scopes]
    report = {
        "cpuSeconds": sum(usage.ru_utime + usage.ru_stime for usage in used),
        "peakMemoryMb": max(usage.ru_maxrss for usage in used) / 1024,
        "canContinue": can_continue,
    }
    following.send(json.dumps(report).encode())
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (1, 2):
        os.dup2(nothing, standard)
    os.close(nothing)


def receive_order(orders: socket.socket) -> tuple[dict[str, Any], list[int]] | None:
    """Return the next job and its descriptors; None if there are no more."""
    space = socket.CMSG_SPACE(_MOST_DESCRIPTORS * array.array("i").itemsize)
    try:
        message, ancillary, _, _ = orders.recvmsg(_MESSAGE_BYTES, space)
    except OSError:
        return None
    if not message:
        return None
    descriptors = array.array("i")
    for _, _, data in ancillary:
        descriptors.frombytes(data[: len(data) - len(data) % descriptors.itemsize])
    job: dict[str, Any] = json.loads(message)
    return job, list(descriptors)


def copy_process(orders: socket.socket) -> bool:
    """Fork this process and report the copy's process id to the runner; return True in the copy.

    An intermediate process makes the copy and ends, so that the runner becomes the copy's parent.
    """
    reading, writing = os.pipe()
    try:
        between = os.fork()
    except OSError:
        between = -1
    if between == 0:
        try:
            copy = os.fork()
        except OSError:
            os._exit(1)
        if copy:
            os.write(writing, str(copy).encode())
            os._exit(0)
        orders.close()
        os.close(reading)
        os.close(writing)
        return True
    os.close(writing)
    if between > 0:
        os.waitpid(between, 0)
    reply = os.read(reading, 100) if between > 0 else b""
    os.close(reading)
    try:
        orders.send(reply or FAILED)
    except OSError:
        os._exit(0)  # the runner is gone, and with it the copy
    return False


def begin_job(job: dict[str, Any], descriptors: list[int]) -> None:
    """Set up this copy as a new process of the engine would be for this job."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL if number == signal.SIGTERM else signal.default_int_handler)
    output, errors = descriptors[:2]
    nothing = os.open(os.devnull, os.O_RDONLY)
    for descriptor, standard in ((nothing, 0), (output, 1), (errors, 2)):
        os.dup2(descriptor, standard)
        os.close(descriptor)
    os.chdir(job["work"])
    for name, value in job["variables"].items():
        show_variable(name, value)
        os.environ[name] = value
    tempfile.tempdir = None
    random.seed()
    forget_peak_memory()


def forget_peak_memory() -> None:
    """Let the kernel measure the peak memory of this process anew, where it can."""
    try:
        Path("/proc/self/clear_refs").write_text(_RESET_PEAK)
    except OSError:
        return


def show_variable(name: str, value: str) -> None:
    """Overwrite a value of the same length in the environment with which this process was started.

    Only then does ``/proc/PID/environ`` show it, where a runner's successor looks for the job's processes.
    """
    content = value.encode()
    address, size = find_variable(name)
    if content and len(content) == size:
        ctypes.memmove(address, content, size)


@functools.cache
def find_variable(name: str) -> tuple[int, int]:
    """Return address and size of a variable's value, which must not have been set before in this process."""
    libc = ctypes.CDLL(None)
    libc.getenv.restype = ctypes.c_void_p
    address: int | None = libc.getenv(name.encode())
    return (address, len(os.environ.get(name, "").encode())) if address else (0, 0)


if __name__ == "__main__":
    main()
