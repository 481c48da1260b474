"""The lock of an attempt: an advisory lock that the kernel releases whenever its holder dies.

``foldnote.io.hold_lock`` is not suitable: it ends with the process that took it, while this lock belongs to
the open file. The service takes it and sends the descriptor to the runner, so the attempt is never without a
holder, and the lock outlives the service. It only shows whether the attempt is held, not by which process.
"""

from __future__ import annotations

import fcntl
import os
import stat
from pathlib import Path

from foldnote.service.runner.attempt import LOCK
from foldnote.service.runner.untrusted import NotRegularError

_FLAGS = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def take_lock(attempt_dir: Path) -> int | None:
    """Return a descriptor that holds the lock of the attempt, or None if another process holds it.

    Raises:
        NotRegularError: the engine replaced the lock by something else.
        OSError: the folder does not exist.
    """
    descriptor = _open(attempt_dir / LOCK, _FLAGS | os.O_CREAT)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def is_locked(attempt_dir: Path) -> bool:
    """Return whether a runner holds the attempt, by taking a shared lock for a moment.

    Raises:
        NotRegularError: the engine replaced the lock by something else.
    """
    try:
        descriptor = _open(attempt_dir / LOCK, _FLAGS)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def _open(path: Path, flags: int) -> int:
    try:
        descriptor = os.open(path, flags, 0o600)
    except FileNotFoundError:
        raise
    except OSError as exc:
        if os.path.lexists(path) and not stat.S_ISREG(os.lstat(path).st_mode):
            raise NotRegularError(f"{path.name} is not a regular file") from exc
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NotRegularError(f"{path.name} is not a regular file")
    return descriptor
