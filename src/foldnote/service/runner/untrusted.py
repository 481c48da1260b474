"""Open files that an engine may have written, without trusting their names or types.

No symbolic link is followed in any part of a path, only regular files are opened, and opening never blocks: a
FIFO, socket, device or directory in place of a file is an error, and reads are limited. Hard links are read:
an engine runs as the same user as its runner, so it can link no file that it could not copy. This module
imports only the standard library, since each runner loads it.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

MAX_FILES = 9_997
"""Maximum number of outputs: with manifest, score and log, an archive has 10,000 files, its readers'
maximum."""
MAX_DEPTH = 64
_ABSENT = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENXIO, errno.EACCES, errno.EPERM})
_REFUSED = frozenset({errno.EACCES, errno.EPERM})
_SAFELY = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class NotRegularError(ValueError):
    """The file is not a regular file, or it is too large."""


class TooManyFilesError(ValueError):
    """A folder contains more files, or deeper nesting, than can be kept."""


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A regular file: its path below the folder, with slashes, and its size when it was listed."""

    path: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class FoundFiles:
    """The regular files below a folder, and the unreadable folders below it."""

    files: list[FoundFile]
    closed: list[str]


def read_regular(path: str | Path, max_bytes: int, folder: int | None = None) -> bytes | None:
    """Return the content of a small file; None if there is none.

    Args:
        path: a name in ``folder``, or a path of which only the last part may come from the engine.
        max_bytes: maximum size.
        folder: descriptor of the folder.

    Raises:
        NotRegularError: it is a link, a FIFO, a directory or the like, or larger than ``max_bytes``.
        OSError: it cannot be read.
    """
    name = Path(path).name
    try:
        descriptor = os.open(path, os.O_RDONLY | _SAFELY, dir_fd=folder)
    except FileNotFoundError:
        return None
    except OSError as exc:
        if stat.S_ISREG(os.stat(path, dir_fd=folder, follow_symlinks=False).st_mode):
            raise
        raise NotRegularError(f"{name} is not a regular file") from exc
    try:
        _require_regular(descriptor, name)
        content = _read_most(descriptor, max_bytes + 1)
    finally:
        os.close(descriptor)
    if len(content) > max_bytes:
        raise NotRegularError(f"{name} is larger than {max_bytes} bytes")
    return content


def _read_most(descriptor: int, max_bytes: int) -> bytes:
    content = b""
    while len(content) < max_bytes and (chunk := os.read(descriptor, max_bytes - len(content))):
        content += chunk
    return content


@contextmanager
def open_folder(name: str | Path, parent: int | None = None) -> Iterator[int]:
    """Yield the descriptor of a folder; ``name`` is one part of a path below ``parent``, or a trusted path.

    Raises:
        OSError: it is not a folder, or a link to one.
    """
    descriptor = os.open(name, os.O_RDONLY | os.O_DIRECTORY | _SAFELY, dir_fd=parent)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def is_absent(fault: OSError) -> bool:
    """Return whether the path can never be opened; otherwise the machine or its disk failed."""
    return fault.errno in _ABSENT


def is_refused(fault: OSError) -> bool:
    """Return whether this user lacks the permission to read."""
    return fault.errno in _REFUSED


def open_file(path: str, folder: int) -> int | None:
    """Return the descriptor of the regular file at ``path`` below ``folder``; None if there is none.

    Raises:
        OSError: the machine can open no more files, or its disk fails.
    """
    *parents, name = path.split("/")
    parent = None
    try:
        parent = _descend(parents, folder)
        descriptor = os.open(name, os.O_RDONLY | _SAFELY, dir_fd=parent)
    except OSError as exc:
        if not is_absent(exc):
            raise
        return None
    finally:
        if parent is not None:
            os.close(parent)
    try:
        _require_regular(descriptor, name)
    except NotRegularError:
        os.close(descriptor)
        return None
    return descriptor


def list_files(folder: int) -> FoundFiles:
    """Return all regular files below ``folder``, without links and special files.

    Raises:
        TooManyFilesError: there are more than MAX_FILES, or they are nested deeper than MAX_DEPTH.
        OSError: the machine can open no more files, or its disk fails.
    """
    files: list[FoundFile] = []
    closed: list[str] = []
    pending: list[tuple[str, ...]] = [()]
    while pending:
        parents = pending.pop()
        if len(parents) > MAX_DEPTH:
            raise TooManyFilesError(f"folders nested more than {MAX_DEPTH} deep")
        try:
            _list_one(parents, folder, files, pending)
        except OSError as exc:  # the engine may have made it unreadable
            if not is_absent(exc):
                raise
            if is_refused(exc):
                closed.append("/".join(parents))
        if len(files) > MAX_FILES or len(pending) > MAX_FILES:
            raise TooManyFilesError(f"more than {MAX_FILES:,} files or folders")
    return FoundFiles(files, closed)


def _list_one(
    parents: tuple[str, ...], folder: int, files: list[FoundFile], pending: list[tuple[str, ...]]
) -> None:
    descriptor = _descend(parents, folder)
    try:
        with os.scandir(descriptor) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    pending.append((*parents, entry.name))
                elif entry.is_file(follow_symlinks=False):
                    size = entry.stat(follow_symlinks=False).st_size
                    files.append(FoundFile("/".join((*parents, entry.name)), size))
                if len(files) > MAX_FILES or len(pending) > MAX_FILES:
                    return
    finally:
        os.close(descriptor)


def _descend(parts: list[str] | tuple[str, ...], folder: int) -> int:
    """Return a new descriptor of the folder to which ``parts`` lead; no part may be a link."""
    descriptor = os.dup(folder)
    for part in parts:
        try:
            inner = os.open(part, os.O_RDONLY | os.O_DIRECTORY | _SAFELY, dir_fd=descriptor)
        finally:
            os.close(descriptor)
        descriptor = inner
    return descriptor


def _require_regular(descriptor: int, name: str) -> None:
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        raise NotRegularError(f"{name} is not a regular file")
