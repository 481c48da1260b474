"""The cache of downloaded results: partial downloads, retention, verification.

A download that was interrupted is found again by the next process, together with the mark (ETag) of the
content that it belongs to. What was not used for longest goes first when the folder grows too large.
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
    """The folder that holds one folder for each result."""
    return settings.cache_dir() / "results"


def _content(sha256: str) -> Path:
    """The file of a content, whichever result it is of; a hard link, so that it takes its room once."""
    return settings.cache_dir() / "contents" / sha256


def has_content(sha256: str) -> bool:
    """Whether some result with this content is here."""
    return _content(sha256).is_file()


def keep_content(place: Path, sha256: str) -> None:
    """Remember what the file at ``place`` contains; where the same is here already, it is stored once."""
    kept = _content(sha256)
    with suppress(OSError):  # a file system without hard links keeps each file by itself
        kept.parent.mkdir(exist_ok=True)
        if kept.is_file() and hash_file(kept) == sha256:
            _share(kept, place)
        else:
            _share(place, kept)


def take_content(sha256: str, place: Path) -> bool:
    """Put the content at ``place``; False when it is gone or is not what it was."""
    kept = _content(sha256)
    try:
        if hash_file(kept) != sha256:  # somebody wrote to a file that is shared
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
    beside.unlink(missing_ok=True)  # a replacement of a link by one of the same file does nothing


def publish(part: Path, place: Path, sha256: str) -> None:
    """Give what arrived its place, with its SHA-256 beside it; a power cut leaves all of it or nothing."""
    _sync(part)
    part.replace(place)
    write_hash(place, sha256)


def write_hash(place: Path, sha256: str) -> None:
    """Note what the file at ``place`` contains, so that damage is noticed."""
    beside = place.with_name(f"{place.name}.{uuid4().hex}.sha256")
    beside.write_text(sha256, "ascii")
    _sync(beside)
    beside.replace(_hash_of(place))
    _sync(place.parent)


def _hash_of(place: Path) -> Path:
    return place.with_name(f".{place.name}.sha256")


def _sync(path: Path) -> None:
    """Wait until what was written is on the disk; a folder is synced where the system can."""
    with suppress(OSError):  # a file system, or a system, that does not sync folders
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def is_intact(place: Path, hash_content: Callable[[Path], str] = hash_file) -> bool:
    """Whether what is at ``place`` is there and is what was once put there.

    Args:
        hash_content: computes the SHA-256 (hex) that was noted.
    """
    try:
        return hash_content(place) == _hash_of(place).read_text("ascii")
    except (OSError, ValueError):
        return False


def mark_of(part: Path) -> Path:
    """The file that holds the mark of the content that ``part`` belongs to."""
    return part.with_name(part.name + ".etag")


def read_mark(part: Path) -> str | None:
    """The mark of the content that ``part`` belongs to, if the service gave one."""
    try:
        return mark_of(part).read_text("ascii") or None
    except (OSError, ValueError):
        return None


def write_mark(part: Path, etag: str | None) -> None:
    """Note the mark of the content that begins to arrive; a weak one (``W/``) proves nothing about bytes."""
    if etag and etag.isascii() and not etag.startswith("W/"):
        mark_of(part).write_text(etag, "ascii")
    else:
        mark_of(part).unlink(missing_ok=True)


@contextmanager
def claim_part(place: Path) -> Iterator[Path]:
    """The file that takes a download for ``place``: what an earlier try left, or one of one's own.

    While another thread or process downloads the same, this one works beside it. What is left after a failure
    stays for the next try if it can be told what it belongs to.
    """
    part = place.with_name(f"{place.name}.part")
    with hold_lock(place.with_name(f"{place.name}.lock"), is_temporary=True) as is_mine:
        if not is_mine:
            part = place.with_name(f"{place.name}.{uuid4().hex}.part")
        elif read_mark(part) is None:
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
                mark_of(part).unlink(missing_ok=True)


def _is_resumable(part: Path) -> bool:
    return part.exists() and part.stat().st_size > 0 and read_mark(part) is not None


def note_use(place: Path) -> None:
    """Remember that the result at ``place`` is wanted now."""
    with suppress(OSError):  # a folder that somebody else filled
        os.utime(place.parent)


def trim(kept: Path) -> None:
    """Delete the results that were not used for longest, until the rest is within the option's size.

    The folder of ``kept`` and what was used in the last hour stay in any case.
    """
    left = settings.option("result_cache_gb") * _GB
    folders = [(used.st_mtime, folder) for folder, used in _look_at(results_dir()) if S_ISDIR(used.st_mode)]
    counted: set[int] = set()
    for used, folder in sorted(folders, reverse=True):
        files = {status.st_ino or id(status): status for _, status in _look_at(folder)}
        left -= sum(status.st_size for number, status in files.items() if number not in counted)
        counted |= files.keys()
        if left < 0 and folder != kept.parent and time.time() - used > _YOUNG_S:
            shutil.rmtree(folder, ignore_errors=True)
    with suppress(OSError):
        for content in (settings.cache_dir() / "contents").iterdir():
            if content.stat().st_nlink == 1:  # no result has it any more
                content.unlink()


def _look_at(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """What lies in a folder; what goes while it is looked at, as downloads of others do, is not there."""
    with suppress(OSError):
        for path in folder.iterdir():
            with suppress(OSError):
                yield path, path.stat()
