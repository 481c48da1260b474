"""One service per folder, and one backup of it at a time."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

from foldnote.errors import ConfigurationError
from foldnote.io import hold_lock

_BACKUP_LOCK = "backup.lock"


class FolderLock:
    """The lock file of a folder; `what` names the folder in messages."""

    def __init__(self, folder: Path, what: str) -> None:
        self._path = folder / "service.lock"
        self._what = what
        self._held = ExitStack()

    def try_take(self) -> bool:
        """Take the lock; return False if another process has it.

        Raises:
            OSError: the lock file cannot be created.
        """
        return self._held.enter_context(hold_lock(self._path))

    def take(self) -> None:
        """Take the lock.

        Raises:
            ConfigurationError: another service has it.
            OSError: the lock file cannot be created.
        """
        if not self.try_take():
            raise ConfigurationError(
                f"Another service is running on the {self._what} {self._path.parent}."
                " Use that one, stop it, or give another --data-dir."
            )

    def release(self) -> None:
        """Release the lock."""
        self._held.close()


@contextmanager
def prevent_content_removal(folder: Path) -> Iterator[None]:
    """Keep the service from removing contents that a snapshot of its database may refer to.

    Raises:
        OSError: the lock file cannot be created.
    """
    with hold_lock(folder / _BACKUP_LOCK, timeout_s=math.inf):
        yield


def try_lock_contents(folder: Path) -> AbstractContextManager[bool]:
    """Keep backups from beginning within a block; its value is whether none is being made already.

    Raises:
        OSError: the lock file cannot be created.
    """
    return hold_lock(folder / _BACKUP_LOCK)
