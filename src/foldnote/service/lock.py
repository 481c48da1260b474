"""One service per folder: an advisory lock that dies with its holder."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from foldnote.errors import ConfigurationError


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
