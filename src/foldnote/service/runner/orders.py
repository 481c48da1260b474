"""Orders of the starter to a runner: attempts, each with the descriptor that holds its lock.

While a runner is busy, one more order may be queued for it, so that its worker need not wait for the next
job. A runner whose attempt takes longer than ``SHORT_S`` returns that order unstarted, for another runner.
This module imports only the standard library, since each runner loads it.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
from array import array
from pathlib import Path
from typing import NamedTuple

from foldnote.service.runner import attempt as files
from foldnote.service.runner.attempt import AttemptSpec

DONE = b"."
"""Sent by a runner when its oldest attempt has ended and the lock is free."""
GIVEN_BACK = b"<"
"""Sent by a runner that returns its queued order unstarted."""
SHORT_S = 0.25
"""Time that an attempt may run before the queued order is given back."""
_ORDER_BYTES = 65_536
_LOCK_SPACE = socket.CMSG_LEN(array("i").itemsize)
_SEPARATOR = b"\0"
_MARK_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC


class RunnerOrder(NamedTuple):
    """An attempt to run."""

    folder: Path
    worker_key: str
    """Key of the worker that may run it; empty for none."""
    at_once: int
    """It waits while this many other attempts with such a worker run, until one of them ends; 0 to start
    without waiting."""
    lock: int
    """Descriptor that holds the attempt's lock."""


def send_order(
    orders: socket.socket, folder: str | Path, worker_key: str, lock: int, *, at_once: int = 0
) -> None:
    """Send an attempt's folder, the key of the worker that may run it, and the descriptor of its lock.

    Raises:
        OSError: the other end is closed.
    """
    parts = (os.fsencode(folder), worker_key.encode(), str(at_once).encode())
    socket.send_fds(orders, [_SEPARATOR.join(parts)], [lock])


def receive_order(orders: socket.socket, flags: int = 0) -> RunnerOrder | None:
    """Receive an order from ``send_order``; return None if the other end is closed.

    Raises:
        BlockingIOError: nothing was sent, and ``flags`` prohibit waiting.
    """
    try:
        message, ancillary, _, _ = orders.recvmsg(_ORDER_BYTES, _LOCK_SPACE, flags)  # recv_fds ignores flags
    except BlockingIOError:
        raise
    except OSError:
        return None
    if not message:
        return None
    lock = int.from_bytes(ancillary[0][2], sys.byteorder)
    os.set_inheritable(lock, False)
    folder, worker_key, at_once = message.split(_SEPARATOR)
    return RunnerOrder(Path(os.fsdecode(folder)), worker_key.decode(), int(at_once), lock)


class ReadyOrder(NamedTuple):
    """An order, prepared as far as possible before its attempt begins."""

    order: RunnerOrder
    spec: AttemptSpec | None
    """The attempt's specification; None if it cannot be read."""
    mark: Path | None
    """Path of a file that becomes the start marker of the attempt; None if it could not be written."""
    scratch: Path | None
    """Its temporary folder; None if it could not be created."""

    @property
    def can_begin(self) -> bool:
        """Whether it is completely prepared, and neither begun, revoked nor asked to stop."""
        is_prepared = self.spec is not None and self.mark is not None and self.scratch is not None
        return is_prepared and not files.is_spent(self.order.folder) and not _is_cancelled(self.order.folder)


def _is_cancelled(attempt_dir: Path) -> bool:
    return os.path.lexists(f"{attempt_dir}/{files.CANCEL}")


class OrderQueue:
    """A runner's end of the socket, with at most one queued order.

    Attributes:
        is_open: whether there may be more orders.
    """

    def __init__(self, orders: socket.socket) -> None:
        self._orders = orders
        self._ready: ReadyOrder | None = None
        self.is_open = True

    def fileno(self) -> int:
        """Return the descriptor that is readable when ``peek`` has something to do."""
        return self._orders.fileno()

    def take(self) -> ReadyOrder | None:
        """Wait for the next order and return it; None if there are no more."""
        if self._ready is None and self.is_open:
            self._receive(0)
        ready, self._ready = self._ready, None
        return ready

    def peek(self) -> ReadyOrder | None:
        """Return the queued order without removing it; None if there is none now."""
        if self._ready is None and self.is_open:
            with contextlib.suppress(BlockingIOError):
                self._receive(socket.MSG_DONTWAIT)
        return self._ready

    def give_back(self) -> None:
        """Return the queued order to the starter, if there is one."""
        if self.peek() is not None:
            self.close()
            self._report(GIVEN_BACK)

    def report_done(self) -> None:
        """Report that the oldest attempt taken has ended and its lock is free."""
        self._report(DONE)

    def close(self) -> None:
        """Release the lock of the queued order, when this runner is about to end."""
        if self._ready is not None:
            with contextlib.suppress(OSError):
                if self._ready.scratch is not None:
                    self._ready.scratch.rmdir()
                if self._ready.mark is not None:
                    self._ready.mark.unlink()
            os.close(self._ready.order.lock)
            self._ready = None

    def _report(self, flag: bytes) -> None:
        with contextlib.suppress(OSError):  # the other end is closed, as the next read shows
            self._orders.sendall(flag)

    def _receive(self, flags: int) -> None:
        order = receive_order(self._orders, flags)
        self.is_open = order is not None
        if order is not None:
            spec = read_spec_or_none(order.folder)
            self._ready = ReadyOrder(order, spec, draft_mark(order.folder, spec), _try_scratch(spec))


def _try_scratch(spec: AttemptSpec | None) -> Path | None:
    """Create the temporary folder; return None if that fails, which running the attempt will explain."""
    if spec is not None:
        with contextlib.suppress(OSError):
            return files.make_scratch(spec.nonce)
    return None


def draft_mark(attempt_dir: Path, spec: AttemptSpec | None) -> Path | None:
    """Write the start marker of an attempt under another name; return None if it cannot be written."""
    with contextlib.suppress(OSError):
        return write_mark(attempt_dir, spec)
    return None


def write_mark(attempt_dir: Path, spec: AttemptSpec | None) -> Path:
    """Write the start marker of an attempt under another name, and return its path.

    Raises:
        OSError: it cannot be written.
    """
    path = attempt_dir / f".{files.RUNNER}.part"
    content = {"pid": os.getpid(), "started": files.now(), "nonce": spec.nonce if spec is not None else None}
    descriptor = os.open(path, _MARK_FLAGS, 0o644)
    try:
        os.write(descriptor, json.dumps(content).encode())
    finally:
        os.close(descriptor)
    return path


def read_spec_or_none(attempt_dir: Path) -> AttemptSpec | None:
    """Return the specification of an attempt; None if it is unreadable, which running it will explain."""
    with contextlib.suppress(OSError, ValueError):
        return files.read_spec(attempt_dir)
    return None
