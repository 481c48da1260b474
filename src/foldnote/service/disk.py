"""Disk space: a floor below which no new work is accepted, and a reserve for essential writes.

On a full disk SQLite cannot even stop or delete a job. Therefore some megabytes beyond the end of the
database's log are allocated from the start; no other program can use them, and SQLite writes stops and
deletions there. In addition, a ballast file is removed when space is short and recreated later; other
programs may use the space that it frees.
"""

from __future__ import annotations

import ctypes
import functools
import logging
import os
import shutil
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from foldnote.service.config import ServiceConfig
from foldnote.service.faults import no_space
from foldnote.service.layout import DATABASE

log = logging.getLogger(__name__)
BALLAST = "ballast"
_LOG_BYTES = 8 << 20
"""Bytes reserved for the database's log; a stop or a deletion needs some ten kilobytes."""
_KEEP_SIZE = 1
_BALLAST_DROP_BYTES = 4 << 20


def require_space(config: ServiceConfig) -> None:
    """Check the free space for a request that stores data.

    Raises:
        RefusalError: 507 when less than the floor is free.
    """
    free_bytes, floor_bytes = _free_bytes(config.data_dir), config.limits.free_disk_bytes
    if free_bytes < floor_bytes:
        raise no_space(floor_bytes, free_bytes)


class Disk:
    """The disk of one data folder.

    Args:
        ballast_bytes: size of the ballast.

    Attributes:
        floor_bytes: free space below which no run is started.
    """

    def __init__(self, folder: Path, floor_bytes: int, ballast_bytes: int) -> None:
        self._folder = folder
        self.floor_bytes = floor_bytes
        self._ballast_bytes = ballast_bytes
        self._ballast = folder / BALLAST
        self._log = folder / f"{DATABASE}-wal"

    def has_space(self) -> bool:
        """Return whether a run may be started."""
        return _free_bytes(self._folder) >= self.floor_bytes

    def measure(self) -> tuple[int, int]:
        """Return the free space and the size of the disk, in bytes."""
        usage = shutil.disk_usage(self._folder)
        return usage.free, usage.total

    def maintain_ballast(self) -> None:
        """Remove the ballast when space is short; create it when there is space for it and the floor."""
        free = _free_bytes(self._folder)
        if free < _BALLAST_DROP_BYTES:
            self.drop_ballast()
        elif free >= self.floor_bytes + self._ballast_bytes:
            self.reserve_log()
            if not self._ballast.exists():
                self._make_ballast()

    def reserve_log(self) -> None:
        """Reserve space for the database's log again after it was truncated."""
        if self._ballast_bytes:
            preallocate(self._log, min(_LOG_BYTES, self._ballast_bytes))

    def drop_ballast(self) -> None:
        """Remove the ballast, if any, to free space for an essential write."""
        try:
            self._ballast.unlink()
        except OSError:
            return
        log.error("The disk of %s is full. Free some space: no new work is taken.", self._folder)

    def _make_ballast(self) -> None:
        draft = self._ballast.with_suffix(".draft")
        try:
            with draft.open("wb") as stream:
                _allocate(stream.fileno(), self._ballast_bytes)
            draft.rename(self._ballast)
        except OSError:
            draft.unlink(missing_ok=True)


def preallocate(path: Path, size_bytes: int) -> bool:
    """Allocate disk space for the first ``size_bytes`` of a file without changing it.

    Returns False if the file does not exist, or if the system or file system does not support this (on Linux,
    ext4, xfs, btrfs and tmpfs do). Writing zeros instead is not possible: the file is in use.
    """
    allocate = _find_allocate()
    if allocate is None:
        return False
    with suppress(OSError):
        descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
        try:
            return allocate(descriptor, _KEEP_SIZE, 0, size_bytes) == 0
        finally:
            os.close(descriptor)
    return False


@functools.cache
def _find_allocate() -> Callable[[int, int, int, int], int] | None:
    if sys.platform != "linux":
        return None
    found = getattr(ctypes.CDLL(None, use_errno=True), "fallocate64", None)
    if found is not None:
        found.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64)
    return found


def _allocate(descriptor: int, size: int) -> None:
    """Allocate blocks; on file systems without support, write every byte."""
    try:
        os.posix_fallocate(descriptor, 0, size)
    except (OSError, AttributeError):
        chunk = bytes(1 << 20)
        for _ in range(size >> 20):
            os.write(descriptor, chunk)


def _free_bytes(folder: Path) -> int:
    return shutil.disk_usage(folder).free
