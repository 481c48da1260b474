"""The lock of an attempt: an advisory lock that the kernel frees when its holder dies, however it dies.

It belongs to the open file, so a descriptor handed to a child keeps it without a gap. It says only whether
somebody holds the attempt, not who.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from foldnote.service.queue.attempt import LOCK


def take_lock(attempt_dir: Path) -> int | None:
    """A descriptor that holds the lock of the attempt, or None when somebody else has it."""
    descriptor = os.open(attempt_dir / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def is_locked(attempt_dir: Path) -> bool:
    """Whether a runner holds the attempt; a shared lock is taken for a moment to find out."""
    try:
        descriptor = os.open(attempt_dir / LOCK, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
