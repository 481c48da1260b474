"""Contents in a folder, each stored once under its SHA-256.

A content is written to a draft, synced, and renamed into place, so a content under its name is complete.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO

from foldnote.io import sync
from foldnote.service.files.objects import LATELY_S, YOUNG_S, ObjectStore

_READ_BYTES = 1 << 20
_MAX_SYNC_THREADS = 4
"""Maximum simultaneous syncs."""
_NO_LINKS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV})


class ObjectFolder(ObjectStore):
    """A folder of contents, each named by its SHA-256 in hex.

    Args:
        folder: folder of the contents; several replicas may share it.
        replica: name of this replica; empty if there is only one.
    """

    def __init__(self, folder: Path, replica: str = "") -> None:
        self._folder = folder
        self._drafts = folder / (f"drafts-{replica}" if replica else "drafts")
        self._drafts.mkdir(mode=0o700, parents=True, exist_ok=True)
        sync(folder.parent)
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(_MAX_SYNC_THREADS, thread_name_prefix="sync")
        self._changes: Counter[Path] = Counter()
        """Number of names that this process has added to each folder."""
        self._synced: dict[Path, int] = {}
        """Number of them that are synced; a missing folder has names of earlier processes."""

    @property
    def folder(self) -> Path:
        """The folder of the contents."""
        return self._folder

    def path(self, sha256: str) -> Path:
        """Return the path of a content, whether or not it exists."""
        return self._folder / sha256[:2] / sha256

    def has(self, sha256: str) -> bool:
        """Return whether the content exists."""
        return self.path(sha256).is_file()

    def size_bytes(self, sha256: str) -> int:
        """Return the size of a content.

        Raises:
            OSError: it is missing, or the disk fails.
        """
        return self.path(sha256).stat().st_size

    def read(self, sha256: str) -> Iterator[bytes]:
        """See the base class."""
        with self.path(sha256).open("rb") as stream:
            while piece := stream.read(_READ_BYTES):
                yield piece

    def measure(self, wanted: Collection[str]) -> int:
        """See the base class."""
        return sum(path.stat().st_size for each in wanted if (path := self.path(each)).is_file())

    def touch(self, sha256: str) -> bool:
        """Record that a content is used now; return False if it is missing."""
        return self._touch_path(self.path(sha256))

    def draft(self) -> FolderDraft:
        """Return an empty draft."""
        return FolderDraft(self.new_draft_path(), self.commit_draft)

    def adopt(self, source: Path, sha256: str) -> None:
        """Add a complete file of known SHA-256 by a hard link, after a sync; the file itself stays."""
        sync(source)
        self._sync(self._adopt(source, sha256))

    def adopt_all(self, sources: Sequence[tuple[Path, str]]) -> None:
        """See the base class; concurrent syncs are combined by the disk."""
        list(self._pool.map(sync, [source for source, _ in sources]))
        folders = {self._adopt(source, sha256) for source, sha256 in sources}
        list(self._pool.map(self._sync, folders))

    def _adopt(self, source: Path, sha256: str) -> Path:
        """Link a synced file; return the folder to be synced."""
        with self._lock:
            target = self._object_path(sha256)
            if not self._touch_path(target):
                self._link(source, target)
                self._changes[target.parent] += 1
        return target.parent

    def _link(self, source: Path, target: Path) -> None:
        """Make a hard link, or a copy if the file system has no hard links."""
        try:
            os.link(source, target)
        except OSError as exc:
            if exc.errno not in _NO_LINKS:
                raise
            draft = self.new_draft_path()
            try:
                with source.open("rb") as content, draft.open("xb") as copy:
                    shutil.copyfileobj(content, copy)
                    copy.flush()
                    os.fsync(copy.fileno())
                draft.rename(target)
            finally:
                draft.unlink(missing_ok=True)

    def commit_draft(self, draft: Path, sha256: str) -> None:
        """Move a synced draft into place, or discard it if the content exists."""
        with self._lock:
            target = self._object_path(sha256)
            if self._touch_path(target):
                draft.unlink()
            else:
                draft.rename(target)
                self._changes[target.parent] += 1
        self._sync(target.parent)

    def new_draft_path(self) -> Path:
        """Return a unique path for a draft."""
        return self._drafts / f"{os.getpid()}-{threading.get_ident()}-{time.monotonic_ns()}"

    def clear_drafts(self) -> None:
        """Remove unfinished drafts of an earlier process."""
        for path in self._drafts.iterdir():
            path.unlink(missing_ok=True)

    def collect(self, is_used: Callable[[str], bool], young_s: float = YOUNG_S) -> int:
        """Remove unused contents older than `young_s` seconds; return their number."""
        return sum(self._collect_one(path, is_used, young_s) for path in list(self.contents()))

    def release(self, sha256: str, is_used: Callable[[str], bool]) -> bool:
        """Remove a released content unless it is used; return False if it is too recent to decide."""
        path = self.path(sha256)
        if not path.exists() or self._collect_one(path, is_used, LATELY_S):
            return True
        return is_used(sha256)

    def _collect_one(self, path: Path, is_used: Callable[[str], bool], young_s: float) -> bool:
        with self._lock:
            found = path.stat()
            is_young = 0 <= time.time() - found.st_mtime < young_s  # a time in the future is wrong
            if is_young or is_used(path.name):
                return False
            return self._remove(path, found.st_mtime_ns)

    def _remove(self, path: Path, modified_ns: int) -> bool:
        """Remove a content, unless another replica has touched it meanwhile to use it again."""
        aside = self.new_draft_path()
        path.rename(aside)
        if aside.stat().st_mtime_ns != modified_ns:
            aside.rename(path)
            return False
        aside.unlink()
        return True

    def contents(self) -> Iterator[Path]:
        """Yield the path of each content."""
        for folder in self._folder.iterdir():
            if len(folder.name) == 2:
                yield from folder.iterdir()

    def _object_path(self, sha256: str) -> Path:
        target = self.path(sha256)
        if not target.parent.exists():
            target.parent.mkdir(mode=0o700, exist_ok=True)
            self._changes[self._folder] += 1
        self._sync(self._folder)
        return target

    def _sync(self, folder: Path) -> None:
        """Sync the folder unless it is synced; meanwhile other threads may add names to it."""
        changes = self._changes[folder]
        if self._synced.get(folder) != changes:
            sync(folder)
            self._synced[folder] = changes

    @staticmethod
    def _touch_path(target: Path) -> bool:
        try:
            os.utime(target)
        except FileNotFoundError:
            return False
        return True


class FolderDraft:
    """A content being written to a file.

    Args:
        path: path of the draft.
        publish: moves the synced draft, with this SHA-256, into place.
    """

    def __init__(self, path: Path, publish: Callable[[Path, str], None]) -> None:
        self._path = path
        self._publish = publish
        self._stream: BinaryIO = self._path.open("xb")
        self._hash = hashlib.sha256()
        self.size = 0

    def write(self, chunk: bytes) -> None:
        """Append bytes.

        Raises:
            OSError: the disk is full or broken.
        """
        self._stream.write(chunk)
        self._hash.update(chunk)
        self.size += len(chunk)

    def commit(self) -> str:
        """Sync and publish the content; return its SHA-256."""
        self._stream.flush()
        os.fsync(self._stream.fileno())
        self._stream.close()
        sha256 = self._hash.hexdigest()
        self._publish(self._path, sha256)
        return sha256

    def __enter__(self) -> FolderDraft:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._stream.close()  # on a full disk, flushing the buffer raises
        finally:
            self._path.unlink(missing_ok=True)
