"""The cache of downloaded results: partial downloads, retention, verification.

An interrupted download is kept with the ETag of its content, so that a later process can resume it. When the
folder exceeds its limit, the least recently used results are deleted first.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_ISDIR
from uuid import uuid4

from foldnote import settings
from foldnote.errors import ArchiveError
from foldnote.io import hash_file, hold_lock

_YOUNG_S = 3600.0
_GB = 1e9


def results_dir() -> Path:
    """Return the folder of the cache; each result has a folder in it."""
    return settings.cache_dir() / "results"


def _content(sha256: str) -> Path:
    """Return the path of a content by its hash; results with the same content share it by hard links."""
    return settings.cache_dir() / "contents" / sha256


def has_content(sha256: str) -> bool:
    """Return whether any cached result has this content."""
    return _content(sha256).is_file()


def store_content(place: Path, sha256: str) -> None:
    """Index the file at ``place`` by its content; identical content is stored once."""
    kept = _content(sha256)
    with suppress(OSError):  # without hard links each result keeps its own copy
        kept.parent.mkdir(exist_ok=True)
        if kept.is_file() and hash_file(kept) == sha256:
            _share(kept, place)
        else:
            _share(place, kept)


def link_content(sha256: str, place: Path) -> bool:
    """Link the content to ``place``; False if it is gone or was modified."""
    kept = _content(sha256)
    try:
        if hash_file(kept) != sha256:  # a shared file was modified
            kept.unlink()
            return False
        _share(kept, place)
        write_hash(place, sha256)
    except OSError:
        return False
    return True


def _share(source: Path, target: Path) -> None:
    beside = target.with_name(f"{target.name}.{uuid4().hex}.link")
    beside.hardlink_to(source)
    beside.replace(target)
    beside.unlink(missing_ok=True)  # rename() between two links to one file does nothing


def publish(part: Path, place: Path, sha256: str) -> None:
    """Move a download to its place with its SHA-256 beside it, atomically and durably."""
    _sync(part)
    part.replace(place)
    write_hash(place, sha256)


def write_hash(place: Path, sha256: str) -> None:
    """Save the hash of the file at ``place``, so that damage can be detected later."""
    beside = place.with_name(f"{place.name}.{uuid4().hex}.sha256")
    beside.write_text(sha256, "ascii")
    _sync(beside)
    beside.replace(_hash_of(place))
    _sync(place.parent)


def _hash_of(place: Path) -> Path:
    return place.with_name(f".{place.name}.sha256")


def _sync(path: Path) -> None:
    """Sync a file, or a folder where the system supports that, to disk."""
    with suppress(OSError):  # not all systems and file systems can sync folders
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def is_intact(place: Path, hash_content: Callable[[Path], str] = hash_file) -> bool:
    """Return whether the file or folder at ``place`` exists and is unchanged.

    Args:
        hash_content: computes the SHA-256 (hex) to compare with the saved one.
    """
    try:
        return hash_content(place) == _hash_of(place).read_text("ascii")
    except (OSError, ValueError):
        return False


def etag_path(part: Path) -> Path:
    """Return the path of the file with the ETag of the partial download ``part``."""
    return part.with_name(part.name + ".etag")


def read_etag(part: Path) -> str | None:
    """Return the ETag of the content that ``part`` belongs to, if known."""
    try:
        return etag_path(part).read_text("ascii") or None
    except (OSError, ValueError):
        return None


def write_etag(part: Path, etag: str | None) -> None:
    """Save the ETag of a starting download; weak ones (``W/``) are ignored: they do not identify bytes."""
    if etag and etag.isascii() and not etag.startswith("W/"):
        etag_path(part).write_text(etag, "ascii")
    else:
        etag_path(part).unlink(missing_ok=True)


@contextmanager
def claim_part(place: Path) -> Iterator[Path]:
    """Claim the partial file of a download for ``place``: the one of an earlier try, or a new one.

    If another thread or process is downloading the same, use a separate file. After a failure the partial
    file is kept for the next try if its ETag is known.
    """
    part = place.with_name(f"{place.name}.part")
    with hold_lock(place.with_name(f"{place.name}.lock"), is_temporary=True) as is_mine:
        if not is_mine:
            part = place.with_name(f"{place.name}.{uuid4().hex}.part")
        elif read_etag(part) is None:
            part.unlink(missing_ok=True)
        is_good = True
        try:
            yield part
        except ArchiveError:
            is_good = False
            raise
        finally:
            if not (is_mine and is_good and _is_resumable(part)):
                part.unlink(missing_ok=True)
                etag_path(part).unlink(missing_ok=True)


def _is_resumable(part: Path) -> bool:
    return part.exists() and part.stat().st_size > 0 and read_etag(part) is not None


def mark_used(place: Path) -> None:
    """Mark the result at ``place`` as just used."""
    with suppress(OSError):  # a folder of another user
        os.utime(place.parent)


def evict_old_results(kept: Path) -> None:
    """Delete the least recently used results until the cache is within its size limit.

    The folder of ``kept`` and results used within the last hour are never deleted.
    """
    left = settings.option("result_cache_gb") * _GB
    folders = [
        (used.st_mtime, folder) for folder, used in _list_entries(results_dir()) if S_ISDIR(used.st_mode)
    ]
    counted: set[int] = set()
    for used, folder in sorted(folders, reverse=True):
        files = {status.st_ino or id(status): status for _, status in _list_entries(folder)}
        left -= sum(status.st_size for number, status in files.items() if number not in counted)
        counted |= files.keys()
        if left < 0 and folder != kept.parent and time.time() - used > _YOUNG_S:
            shutil.rmtree(folder, ignore_errors=True)
    with suppress(OSError):
        for content in (settings.cache_dir() / "contents").iterdir():
            if content.stat().st_nlink == 1:  # no result uses it any more
                content.unlink()


def _list_entries(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """List a folder with the status of each entry; skip entries that vanish meanwhile."""
    with suppress(OSError):
        for path in folder.iterdir():
            with suppress(OSError):
                yield path, path.stat()
