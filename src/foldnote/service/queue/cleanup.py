"""Remove the folders of ended attempts and deleted jobs, and abandoned temporary folders.

Removal is retried for folders that cannot be removed: those of a deleted job at every sweep, those of an
ended attempt at the next start. A separate thread does this, since a tool may leave a million files.

Remains of small results are removed only when no attempt has ended for a while. ext4 searches for a free
inode among all recently removed ones, so creating files while others are removed is several times slower: the
14 files of a job take 0.4 ms, and 5 ms between removals.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread

from foldnote.service.disk import Disk
from foldnote.service.files.objects import LATELY_S, YOUNG_S, ObjectStore
from foldnote.service.lock import try_lock_contents
from foldnote.service.runner.attempt import RESULT, WORK
from foldnote.service.runner.processes import remove_left_scratch
from foldnote.service.store.database import StorageFaultError
from foldnote.service.store.jobs.queue import Claim, JobEnd
from foldnote.service.store.store import Store
from foldnote.service.worker_thread import BackgroundWorker

log = logging.getLogger(__name__)
COLLECT_IN_NEED_S = 10.0
"""Interval of garbage collections while the disk is full; contents are then removed as soon as that is
safe."""
_RECLAIM_AGAIN_S = 2.0
_STOP_LIMIT_S = 2.0
_WAIT_S = 2.0
"""Quiet time after the last ended attempt until postponed removals begin."""
_MAX_POSTPONED = 2000
_SMALL_RESULT_BYTES = 64 << 10
_MAX_LEFT_BY_EARLIER_PROCESS = 3000
"""More attempts than can be postponed, or can end shortly before a process dies."""


def is_small(claim: Claim, ending: JobEnd) -> bool:
    """Return whether an ended run left so little that its removal may be postponed."""
    return not claim.inputs and ending.result_size is not None and ending.result_size <= _SMALL_RESULT_BYTES


class Cleanup:
    """Removes files of ended attempts and deleted jobs.

    Args:
        root: folder of all jobs.
        disk: whether there is space for new work; None means always.
    """

    def __init__(self, root: Path, store: Store, objects: ObjectStore, disk: Disk | None = None) -> None:
        self._has_space: Callable[[], bool] = disk.has_space if disk is not None else lambda: True
        self._reserve_log: Callable[[], None] = disk.reserve_log if disk is not None else lambda: None
        self._root = root
        self._store = store
        self._objects = objects
        self._ended: deque[Path] = deque()
        self._postponed: deque[Path] = deque()
        self._last_scheduled_s = 0.0
        self._has_timeout = False
        """Whether the thread wakes by itself for postponed removals."""
        self._unremovable: set[int] = set()
        self._reclaiming: Thread | None = None
        self._has_freed = Event()
        """Set while the database files may still hold deleted rows."""
        self._is_stopping = Event()
        self._is_purge_due = False
        self._has_swept = False
        self._worker = BackgroundWorker("cleanup", self._work)
        self._last_collection = time.monotonic()
        self._next_collection = self._last_collection + objects.collects_every_s

    def start(self) -> None:
        """Start the thread, beginning with what an earlier process left."""
        self.schedule_earlier_leftovers()
        self._worker.start()

    def stop(self) -> None:
        """Request a stop; the removal of a large folder may continue until the process ends."""
        self._worker.stop(_STOP_LIMIT_S)
        self._is_stopping.set()
        self._has_freed.set()
        if self._reclaiming is not None:
            self._reclaiming.join()

    def wake(self, *, is_purge_due: bool = False) -> None:
        """Remove the noted attempts and, if a purge is due, deleted jobs, in the thread."""
        self._is_purge_due = self._is_purge_due or is_purge_due
        if self._is_purge_due or self._ended or (self._postponed and not self._has_timeout):
            self._worker.wake()

    def _work(self) -> float | None:
        self._has_timeout = False
        if not self._has_swept:
            self._has_swept = True
            remove_left_scratch()
        self.remove_leftovers()
        if self._is_purge_due and not self._worker.is_stopping:
            self._is_purge_due = False
            self.purge()
        self._has_timeout = bool(self._postponed)
        return max(0.0, self._last_scheduled_s + _WAIT_S - time.monotonic()) if self._has_timeout else None

    def schedule_removal(self, folder: Path, *, may_wait: bool = False) -> None:
        """Note that the attempt in ``folder`` ended and its result is stored elsewhere.

        ``may_wait`` postpones the removal; for attempts that take little space.
        """
        (self._postponed if may_wait else self._ended).append(folder)
        self._last_scheduled_s = time.monotonic()

    def schedule_earlier_leftovers(self) -> None:
        """Note the latest ended attempts, since an earlier process may have died before it cleaned up."""
        for place in self._store.leftovers.last_ended(_MAX_LEFT_BY_EARLIER_PROCESS):
            self.schedule_removal(self._root / place)

    def remove_leftovers(self) -> None:
        """Remove work folders and archives of noted attempts; log and manifest stay."""
        is_due = time.monotonic() >= self._last_scheduled_s + _WAIT_S
        if is_due or len(self._postponed) > _MAX_POSTPONED or not self._has_space():
            while self._postponed:
                self._ended.append(self._postponed.popleft())
        while self._ended and not self._worker.is_stopping:
            folder = self._ended.pop()
            if os.path.lexists(folder / WORK):
                remove_folder(folder / WORK)
            with contextlib.suppress(OSError):
                (folder / RESULT).unlink(missing_ok=True)

    def purge(self) -> None:
        """Remove the folders of deleted jobs and, periodically, contents that are no longer referenced.

        Nothing is removed during a backup.
        """
        with try_lock_contents(self._root.parent) as may_remove:
            if may_remove:
                self._purge()

    def _purge(self) -> None:
        unpurged = self._store.queue.unpurged()
        for job_id in unpurged:
            self._purge_job(job_id)
        if self._worker.is_stopping:
            return
        if unpurged or self._reclaiming is None:
            self._has_freed.set()
        if self._reclaiming is None:
            self._reclaiming = Thread(target=self._reclaim, name="reclaiming", daemon=True)
            self._reclaiming.start()
        is_used = self._store.files.is_used
        leavings = self._store.storage.leavings()
        gone = [row for row, sha256 in leavings if self._objects.release(sha256, is_used)]
        if gone:
            self._store.storage.forget(gone)
        in_need = not self._has_space() and not self._objects.is_remote
        if in_need:
            self._next_collection = min(self._next_collection, self._last_collection + COLLECT_IN_NEED_S)
        if time.monotonic() >= self._next_collection:
            with self._store.database.hold_exclusively("collection") as is_exclusive:
                if is_exclusive:
                    self._objects.collect(is_used, LATELY_S if in_need else YOUNG_S)
            self._last_collection = time.monotonic()
            self._next_collection = self._last_collection + self._objects.collects_every_s

    def _reclaim(self) -> None:
        """Erase deleted rows from the database files, in a separate thread: it may take minutes."""
        while self._has_freed.wait() and not self._is_stopping.is_set():
            self._has_freed.clear()
            try:
                is_done = self._store.database.reclaim(self._is_stopping, keeps_log=not self._has_space())
                self._reserve_log()
            except StorageFaultError:
                log.warning(
                    "Remains of deleted jobs cannot be removed from the database now; retrying later."
                )
                is_done = False
            if not is_done and not self._is_stopping.wait(_RECLAIM_AGAIN_S):
                self._has_freed.set()

    def _purge_job(self, job_id: int) -> None:
        folders = [self._root / place for place in self._store.leftovers.of_job(job_id)]
        left = [folder for folder in folders if not remove_folder(folder)]
        for job_folder in {folder.parent for folder in folders}:
            with contextlib.suppress(OSError):  # folders that were set aside are kept
                job_folder.rmdir()
        if self._worker.is_stopping:
            return
        if not left:
            self._store.queue.mark_purged(job_id)
            self._unremovable.discard(job_id)
        elif job_id not in self._unremovable:
            self._unremovable.add(job_id)
            log.warning("The folder %s of a deleted job cannot be removed; retrying later.", left[0])


def remove_folder(folder: Path) -> bool:
    """Remove a folder and its contents, including read-only ones; return False if something is left."""
    shutil.rmtree(folder, ignore_errors=True)
    if not os.path.lexists(folder):
        return True
    _make_writable(folder)
    shutil.rmtree(folder, ignore_errors=True)
    return not os.path.lexists(folder)


def _make_writable(folder: Path) -> None:
    """Make every folder readable and writable; links are skipped, since they may lead elsewhere."""
    with contextlib.suppress(OSError):
        folder.chmod(0o700)
    for path, names, _ in os.walk(folder):
        for name in names:
            inner = Path(path, name)
            if not inner.is_symlink():
                with contextlib.suppress(OSError):
                    inner.chmod(0o700)
