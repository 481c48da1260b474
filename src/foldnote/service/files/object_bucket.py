"""Contents in a bucket of an object store, with a cache of the newest in the data folder.

A content is written to a local draft, since its hash is known only at its end, then uploaded, and only then
referred to by a row. An object becomes visible only when it is complete.

Another replica may find a content unused and remove it just when this one uploads it again. Therefore an
upload first claims the hash with a file in the folder that the replicas share, and a content is removed under
the lock that protects claims, unless it was claimed recently.
"""

from __future__ import annotations

import errno
import logging
import os
import secrets
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from foldnote.io import hold_lock
from foldnote.service.files.bucket import BucketClient, BucketError
from foldnote.service.files.object_folder import FolderDraft, ObjectFolder
from foldnote.service.files.objects import LATELY_S, YOUNG_S, ObjectStore

log = logging.getLogger(__name__)
FOLDER = "objects"
UPLOADS = "uploads"
"""Folder of uploads by signed links, until they are registered."""
_LINK_S = 300.0
_LOCK_S = 60.0
_OPENED_S = 60.0
"""Time within which a caller has opened the file whose path it was given."""
_TRIM_EVERY_BYTES = 256 << 20
_MAX_KNOWN_SIZES = 10_000


class ObjectBucket(ObjectStore):
    """A bucket of contents, each named by its SHA-256 in hex.

    Args:
        bucket: used by this service only, and by all its replicas.
        folder: cache of the newest contents, drafts and claims; shared by all replicas.
        replica: name of this replica; empty if there is only one.
    """

    is_remote = True
    collects_every_s = 6 * 3600.0

    def __init__(self, bucket: BucketClient, folder: Path, replica: str = "") -> None:
        self.bucket = bucket
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._cache = ObjectFolder(folder, replica)
        self._claims = folder / "claims"
        self._claims.mkdir(mode=0o700, exist_ok=True)
        self._limit_bytes = bucket.address.cache_mb << 20
        self._added_bytes = _TRIM_EVERY_BYTES
        self._sizes: dict[str, int] = {}

    def path(self, sha256: str) -> Path:
        """See the base class.

        Raises:
            FileNotFoundError: the content is missing.
            OSError: it cannot be fetched, or is damaged.
        """
        if not self._cache.touch(sha256):
            self._fetch(sha256)
        return self._cache.path(sha256)

    def _fetch(self, sha256: str) -> None:
        draft = self._cache.new_draft_path()
        try:
            if self.bucket.fetch(key_of(sha256), draft) != sha256:
                raise OSError(errno.EBADMSG, f"The object {key_of(sha256)} is damaged")
            self._count_added(draft.stat().st_size)
            self._cache.commit_draft(draft, sha256)
        finally:
            draft.unlink(missing_ok=True)

    def is_cached(self, sha256: str) -> bool:
        """Return whether the cache in the data folder has the content."""
        return self._cache.has(sha256)

    def has(self, sha256: str) -> bool:
        """See the base class."""
        return self._cache.has(sha256) or self.bucket.find(key_of(sha256)) is not None

    def size_bytes(self, sha256: str) -> int:
        """See the base class.

        Raises:
            FileNotFoundError: the content is missing.
        """
        known = self._sizes.get(sha256)  # another thread may forget it at any time
        if known is not None:
            return known
        found = self.bucket.find(key_of(sha256))
        if found is None:
            raise FileNotFoundError(errno.ENOENT, f"The content {sha256} is missing")
        if len(self._sizes) > _MAX_KNOWN_SIZES:
            self._sizes.clear()
        self._sizes[sha256] = found.size_bytes
        return found.size_bytes

    def read(self, sha256: str, part: tuple[int, int] | None = None) -> Iterator[bytes]:
        """See the base class; `part` is the start and the end of the bytes to read, None for all."""
        return self.bucket.read(key_of(sha256), part)

    def measure(self, wanted: Collection[str]) -> int:
        """See the base class."""
        names = set(wanted)
        found = self.bucket.list(FOLDER)
        return sum(each.size_bytes for each in found if each.key.rpartition("/")[2] in names)

    def find_link(self, sha256: str, method: str = "GET") -> str | None:
        """See the base class."""
        if not self.bucket.address.has_links or self.bucket.find(key_of(sha256)) is None:
            return None
        verb: Literal["GET", "HEAD"] = "HEAD" if method == "HEAD" else "GET"
        try:
            return self.bucket.sign(verb, key_of(sha256), _LINK_S)
        except BucketError as exc:
            log.error("Links cannot be signed, so the service sends contents itself: %s", exc.strerror)
            return None

    def draft(self) -> FolderDraft:
        """Return an empty draft."""
        return FolderDraft(self._cache.new_draft_path(), self._upload_draft)

    def _upload_draft(self, draft: Path, sha256: str) -> None:
        self.upload(draft, sha256)
        self._count_added(draft.stat().st_size)
        self._cache.commit_draft(draft, sha256)

    def adopt(self, source: Path, sha256: str) -> None:
        """See the base class."""
        self.upload(source, sha256)
        self._count_added(source.stat().st_size)
        self._cache.adopt(source, sha256)

    def take_over(self, key: str) -> str:
        """Make a content of an object that users may still write to; return its SHA-256.

        The object itself stays.

        Raises:
            OSError: it is missing, or the object store cannot be reached.
        """
        fixed = f"{key}-{secrets.token_hex(8)}"
        self.bucket.copy(key, fixed)
        try:
            sha256 = self.bucket.hash(fixed)
            self._claim(sha256)
            if self.bucket.find(key_of(sha256)) is None:
                self.bucket.copy(fixed, key_of(sha256))
        finally:
            self.bucket.delete(fixed)
        return sha256

    def upload(self, source: Path, sha256: str) -> None:
        """Upload a content of known SHA-256 unless it exists, without caching it.

        Raises:
            BucketError: the object's size differs from the file's: it was changed in transit.
        """
        size_bytes = source.stat().st_size
        self._claim(sha256)
        found = self.bucket.find(key_of(sha256))
        if found is None or found.size_bytes != size_bytes:
            self.bucket.put(key_of(sha256), source)
            found = self.bucket.find(key_of(sha256))
        if found is None or found.size_bytes != size_bytes:
            raise BucketError(errno.EIO, f"The object {key_of(sha256)} is incomplete after its upload")

    def clear_drafts(self) -> None:
        """Remove unfinished drafts of an earlier process."""
        self._cache.clear_drafts()

    # removal

    def collect(self, is_used: Callable[[str], bool], young_s: float = YOUNG_S) -> int:
        """See the base class; also removes old claims and uploads that were never taken over."""
        removed = 0
        for each in self.bucket.list(FOLDER):
            if _age_s(each.modified) >= young_s:
                removed += self._remove(each.key.rpartition("/")[2], is_used, young_s)
        for each in self.bucket.list(UPLOADS):
            if _age_s(each.modified) >= YOUNG_S:
                self.bucket.delete(each.key)
        for claim in self._claims.iterdir():
            with self._claiming(), suppress(FileNotFoundError):
                if time.time() - claim.stat().st_mtime >= YOUNG_S:
                    claim.unlink()
        return removed

    def release(self, sha256: str, is_used: Callable[[str], bool]) -> bool:
        """See the base class."""
        return self._remove(sha256, is_used, LATELY_S) or is_used(sha256)

    def _remove(self, sha256: str, is_used: Callable[[str], bool], young_s: float) -> bool:
        """Remove a content unless it is used or was claimed recently; return whether it is gone."""
        with self._claiming():
            with suppress(FileNotFoundError):
                if 0 <= time.time() - (self._claims / sha256).stat().st_mtime < young_s:
                    return False
            if is_used(sha256):
                return False
            self.bucket.delete(key_of(sha256))
            self._cache.path(sha256).unlink(missing_ok=True)
            self._sizes.pop(sha256, None)
            return True

    def _claim(self, sha256: str) -> None:
        """Record that a content will be used, so that it is not removed for now."""
        with self._claiming():
            path = self._claims / sha256
            path.touch(mode=0o600)
            os.utime(path)

    @contextmanager
    def _claiming(self) -> Iterator[None]:
        with hold_lock(self._claims.with_suffix(".lock"), timeout_s=_LOCK_S) as is_held:
            if not is_held:
                raise BucketError(errno.EIO, "The claims of contents are locked by another replica")
            yield

    # copies in the data folder

    def _count_added(self, size_bytes: int) -> None:
        self._added_bytes += size_bytes
        if self._added_bytes >= min(_TRIM_EVERY_BYTES, self._limit_bytes):
            self._added_bytes = 0
            self._trim()

    def _trim(self) -> None:
        """Remove the least recently used copies, down to the limit."""
        copies = []
        for path in self._cache.contents():
            with suppress(FileNotFoundError):
                found = path.stat()
                copies.append((found.st_mtime, found.st_size, path))
        left = sum(size for _, size, _ in copies)
        for used, size, path in sorted(copies):
            if left <= self._limit_bytes or time.time() - used < _OPENED_S:
                return
            path.unlink(missing_ok=True)
            left -= size

    def find_fault(self) -> str | None:
        """See the base class."""
        return self.bucket.find_fault()


def key_of(sha256: str) -> str:
    """Return the key of a content in the bucket."""
    return f"{FOLDER}/{sha256[:2]}/{sha256}"


def _age_s(moment: datetime) -> float:
    return (datetime.now(UTC) - moment).total_seconds()
