"""Find and end every process of an attempt, including daemons.

Processes are recognised in four ways: as descendants of the runner (which adopts orphans on Linux), by the
engine's process group, by the attempt's nonce in their environment, or, if they have no terminal, by a
working directory in the attempt's folder, whose path contains the nonce. All but the process group need
``/proc``, which macOS lacks.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import functools
import os
import re
import shutil
import signal
import socket
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterable
from pathlib import Path

from foldnote.service.runner.attempt import NONCE_VARIABLE, SCRATCH, WORK, scratch_folder

_PROC = Path("/proc")
_PR_SET_NAME = 15
_PR_SET_CHILD_SUBREAPER = 36
_ENDED = ("Z", "X")
_NO_TERMINAL = "0"
_NONCE = re.compile(r"[0-9a-f]{32}")
_LEFT_S = 2 * 86_400.0
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def can_adopt_orphans() -> bool:
    """Return whether a process can become the parent of orphaned descendants on this system."""
    return sys.platform == "linux"


def adopt_orphans() -> None:
    """Become the parent of every descendant whose parent ends (Linux only)."""
    if can_adopt_orphans():
        _prctl()(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def name_process(name: bytes) -> None:
    """Give this process a name of at most 15 bytes for ``ps`` and ``top`` (Linux only)."""
    if sys.platform == "linux":
        _prctl()(_PR_SET_NAME, name, 0, 0, 0)


@functools.cache
def _prctl() -> Callable[..., int]:
    return ctypes.CDLL(None, use_errno=True).prctl


class SignalWaker:
    """Makes ``receiver`` readable when a signal arrives, so that a selector wakes up; SIGCHLD included."""

    def __init__(self) -> None:
        self.receiver, self._sender = socket.socketpair()
        for end in (self.receiver, self._sender):
            end.setblocking(False)
        signal.set_wakeup_fd(self._sender.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def close(self) -> None:
        """Stop listening to signals."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self.receiver.close()
        self._sender.close()


class ProcessGroupGuard:
    """Ends an engine's process group when this process dies for any reason (Linux only).

    The kernel sends KILL to the group when a pipe loses its last writer, which is this process; the engine
    inherits the reading end. A parent-death signal would have to be set between fork and exec, which costs a
    copy of this process, and would not reach the engine's own children.
    """

    def __init__(self) -> None:
        self._ends = os.pipe() if hasattr(fcntl, "F_SETSIG") else ()

    @property
    def inherited(self) -> tuple[int, ...]:
        """The descriptors that the engine must inherit."""
        return self._ends[:1]

    def tie(self, leader: int) -> None:
        """Tie the process group of ``leader``, which has inherited the reading end."""
        for end in self.inherited:
            with contextlib.suppress(OSError):  # unsupported by the kernel: the recovery ends the engine
                fcntl.fcntl(end, fcntl.F_SETOWN, -leader)
                fcntl.fcntl(end, fcntl.F_SETSIG, int(signal.SIGKILL))
                fcntl.fcntl(end, fcntl.F_SETFL, os.O_ASYNC)

    def cut(self) -> None:
        """Close the pipe, which ends the rest of the group."""
        for end in self._ends:
            os.close(end)
        self._ends = ()


def find_marked(nonce: str) -> set[int]:
    """Return other processes of this user whose environment or working directory contains ``nonce``."""
    mark, work_folder = f"{NONCE_VARIABLE}={nonce}".encode(), f"{nonce}/{WORK}"
    return {
        pid
        for pid in _all_processes()
        if pid != os.getpid() and (mark in _environment(pid) or _works_in(pid, work_folder))
    }


def find_descendants(ancestor: int, without: Collection[int] = ()) -> set[int]:
    """Return the living descendants of ``ancestor``, except those in ``without`` and their descendants."""
    children: dict[int, list[int]] = {}
    for pid in _all_processes():
        fields = _stat(pid)
        if fields and fields[0] not in _ENDED and pid not in without:
            children.setdefault(int(fields[1]), []).append(pid)
    descendants: set[int] = set()
    pending = [ancestor]
    while pending:
        fresh = [pid for pid in children.get(pending.pop(), ()) if pid not in descendants]
        descendants.update(fresh)
        pending.extend(fresh)
    return descendants


def measure_memory_bytes(pids: Iterable[int]) -> int:
    """Return the resident memory of all ``pids`` in bytes; shared pages count once for each."""
    return sum(_resident_bytes(pid) for pid in pids)


def measure_free_memory() -> float:
    """Return the fraction of memory available to new processes, 0 to 1; 1 if it cannot be read."""
    try:
        lines = Path(_PROC, "meminfo").read_text().splitlines()
        sizes = {name: int(rest.split()[0]) for name, _, rest in (line.partition(":") for line in lines)}
        return sizes["MemAvailable"] / sizes["MemTotal"]
    except (OSError, KeyError, ValueError, IndexError):
        return 1.0


def send(pids: Iterable[int], number: signal.Signals) -> None:
    """Send the signal to each of ``pids`` that is still alive."""
    for pid in pids:
        try:
            os.kill(pid, number)
        except (ProcessLookupError, PermissionError):
            continue


def send_to_group(leader: int, number: signal.Signals) -> None:
    """Send the signal to the process group of ``leader``, if it still exists."""
    try:
        os.killpg(leader, number)
    except (ProcessLookupError, PermissionError):
        return


def kill_all(find: Callable[[], set[int]]) -> bool:
    """Kill what ``find`` returns until it returns nothing; return False if some are left after 10 s.

    Repeated, because a process may start another one between being found and being killed.
    """
    deadline = time.monotonic() + 10
    while living := {pid for pid in find() if _is_living(pid)}:
        send(living, signal.SIGKILL)
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def end_attempt(nonce: str) -> bool:
    """End the processes of an attempt without a runner, found by its nonce, and remove its scratch folder.

    Return False if any process is still alive.
    """
    has_ended = kill_all(lambda: find_marked(nonce))
    shutil.rmtree(scratch_folder(nonce), ignore_errors=True)
    return has_ended


def remove_left_scratch() -> None:
    """Remove this user's scratch folders that are days old and whose attempts have no processes.

    A runner removes the scratch folder of its attempt, and the recovery that of an attempt whose runner died;
    the others belonged to a service whose data folder no longer exists. Without ``/proc`` nothing is removed.
    """
    if not _all_processes():
        return
    before = time.time() - _LEFT_S
    for folder in Path(tempfile.gettempdir()).glob(f"{SCRATCH}*"):
        try:
            status = folder.lstat()
        except OSError:
            continue
        is_left = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and status.st_mtime < before
        nonce = folder.name.removeprefix(SCRATCH)
        if is_left and _NONCE.fullmatch(nonce) and not find_marked(nonce):
            shutil.rmtree(folder, ignore_errors=True)


def reap_children() -> None:
    """Reap every ended child."""
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return


def has_ended(child: int) -> bool:
    """Return whether a child has ended, without reaping it; True if it has been reaped."""
    try:
        return os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True


def find_children() -> set[int] | None:
    """Return all children of this single-threaded process; None if the system does not list them."""
    try:
        return {int(pid) for pid in _read(f"/proc/self/task/{os.getpid()}/children").split()}
    except OSError:
        return None


def _read(path: str) -> bytes:
    """Read a small file of the system, in a fifth of the time of ``Path.read_bytes``."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        content = b""
        while chunk := os.read(descriptor, 65_536):
            content += chunk
        return content
    finally:
        os.close(descriptor)


def _all_processes() -> Iterable[int]:
    if not _PROC.joinpath("self").exists():
        return ()
    return [int(path.name) for path in _PROC.iterdir() if path.name.isdigit()]


def _environment(pid: int) -> list[bytes]:
    try:
        return (_PROC / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return []


def _works_in(pid: int, work_folder: str) -> bool:
    """Return whether the process has such a working directory and, unlike a user's shell, no terminal."""
    try:
        is_there = work_folder in str((_PROC / str(pid) / "cwd").readlink())
    except OSError:
        return False
    return is_there and _stat(pid)[4:5] == [_NO_TERMINAL]


def _stat(pid: int) -> list[str]:
    """Return fields of ``/proc/PID/stat`` from the third on: state, parent, group, session, terminal etc."""
    try:
        text = _read(f"/proc/{pid}/stat").decode("utf-8", "replace")
    except OSError:
        return []
    return text[text.rfind(")") + 2 :].split()


def _is_living(pid: int) -> bool:
    fields = _stat(pid)
    return bool(fields) and fields[0] not in _ENDED


def _resident_bytes(pid: int) -> int:
    fields = _stat(pid)
    return int(fields[21]) * _PAGE_BYTES if fields else 0
