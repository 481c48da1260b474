"""One service per folder, and one backup of it at a time: advisory locks that die with their holders."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from foldnote.errors import ConfigurationError

_BACKUP_LOCK = "backup.lock"


class FolderLock:
    """The lock file of a folder; `what` names the folder in messages."""

    def __init__(self, folder: Path, what: str) -> None:
        self._path = folder / "service.lock"
        self._what = what
        self._descriptor: int | None = None

    def try_take(self) -> bool:
        """Take the lock; False when another process has it."""
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return False
        self._descriptor = descriptor
        return True

    def take(self) -> None:
        """Take the lock.

        Raises:
            ConfigurationError: another service has it.
        """
        if not self.try_take():
            raise ConfigurationError(
                f"Another service is running on the {self._what} {self._path.parent}."
                " Use that one, stop it, or give another --data-dir."
            )

    def release(self) -> None:
        """Give the lock back."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


@contextmanager
def keep_contents(folder: Path) -> Iterator[None]:
    """While it lasts, the service of a data folder removes nothing that a snapshot of its database may name.

    Raises:
        OSError: the lock cannot be made.
    """
    descriptor = _open_backup_lock(folder)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def may_remove_contents(folder: Path) -> Iterator[bool]:
    """Whether no backup of the data folder is being made, nor begins before the block ends.

    Raises:
        OSError: the lock cannot be made.
    """
    descriptor = _open_backup_lock(folder)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        yield False
    else:
        yield True
    finally:
        os.close(descriptor)


def _open_backup_lock(folder: Path) -> int:
    return os.open(folder / _BACKUP_LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
