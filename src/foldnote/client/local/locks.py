"""Locks of files that die with their holder, on POSIX systems and on Windows."""

from __future__ import annotations

import os
import sys

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_FAR = 1 << 40
"""Where the locked byte lies on Windows, whose locks forbid reading and writing: behind any content."""


def lock(descriptor: int) -> None:
    """Lock an open file until it is closed.

    Raises:
        BlockingIOError: somebody else has locked it.
        OSError: the file system has no locks.
    """
    if sys.platform == "win32":
        os.lseek(descriptor, _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except PermissionError as exc:
            raise BlockingIOError(exc.errno, "the file is locked") from exc
    else:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
