"""Hash files, write them atomically and lock them, on all operating systems.

The lock of a job's run is in ``foldnote.service.runner.locking``: its descriptor is passed from the service
to the process that runs the engine.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from foldnote.errors import ResultError
from foldnote.text import format_size

FULL_DISK = frozenset({errno.ENOSPC, errno.EDQUOT})
"""Error numbers that mean that a disk or quota is full."""
_PRIVATE = 0o600
_PUBLIC = 0o666
"""Mode of new files, before the process's umask."""


def hash_bytes(content: bytes) -> str:
    """Return the SHA-256 of ``content``, as 64 hexadecimal digits."""
    import hashlib  # deferred: hashlib loads OpenSSL, which a form does not need before it is shown

    return hashlib.sha256(content).hexdigest()


def hash_text(text: str) -> str:
    """Return the SHA-256 of ``text`` in UTF-8, as 64 hexadecimal digits; lone surrogates are accepted."""
    return hash_bytes(text.encode("utf-8", "surrogatepass"))


def hash_file(path: Path) -> str:
    """Return the SHA-256 of a file, as 64 hexadecimal digits; the file is read in chunks.

    Raises:
        OSError: the file cannot be read.
    """
    import hashlib  # deferred, as above

    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def write_atomically(
    path: Path, content: bytes | str, *, is_private: bool = False, is_durable: bool = False
) -> Path:
    """Replace ``path`` with ``content`` atomically: readers see either the old file or the complete new one.

    Args:
        path: its folder must exist.
        content: bytes, or text that is written as UTF-8 without changing line ends.
        is_private: only this user may read the file (mode 0600).
        is_durable: sync file and folder before returning, so that a power cut cannot undo the change.

    Returns:
        ``path``.

    Raises:
        OSError: the file cannot be written; the old file is kept.
    """
    whole, name = os.fspath(path), path.name  # as text: a runner does this several times per job
    draft = f"{whole[: len(whole) - len(name)]}.{name}.{uuid4().hex}.part"
    mode = _PRIVATE if is_private else _PUBLIC
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
    try:
        with os.fdopen(descriptor, "wb", buffering=0) as stream:
            left = memoryview(content.encode() if isinstance(content, str) else content)
            while left:
                left = left[stream.write(left) :]
            if is_durable:
                os.fsync(descriptor)
        os.replace(draft, path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise
    if is_durable:
        sync(path.parent)
    return path


def save_file(path: Path, content: bytes | str) -> Path:
    """Write a file that a user asked for, atomically; its folder is created.

    Returns:
        ``path``.

    Raises:
        ResultError: it cannot be written; no partial file remains, and an old file is kept.
    """
    size_bytes = len(content.encode() if isinstance(content, str) else content)
    with saving(path, size_bytes):
        path.parent.mkdir(parents=True, exist_ok=True)
        return write_atomically(path, content)


def save_files(path: Path, content: str, beside: Mapping[Path, str]) -> Path:
    """Write a file that a user asked for together with its companion files, all or none.

    Args:
        path: the file; its folder is created.
        content: its content.
        beside: contents of the companion files, by name in the same folder.

    Returns:
        ``path``.

    Raises:
        ResultError: one of them cannot be written; no partial or new file remains, and old ones are kept.
    """
    whole = {**beside, path: content}
    drafts: dict[Path, Path] = {}
    with saving(path, sum(len(each.encode()) for each in whole.values())):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            for place, text in whole.items():
                drafts[place] = write_atomically(place.with_name(f".{uuid4().hex}.part"), text)
            for place, draft in drafts.items():
                draft.replace(place)
        finally:
            for draft in drafts.values():
                draft.unlink(missing_ok=True)
    return path


@contextmanager
def saving(path: Path, size_bytes: int) -> Iterator[None]:
    """Turn an `OSError` while ``path`` is written into a `ResultError` that explains it in one sentence.

    Args:
        path: the file.
        size_bytes: what it needs at most.

    Raises:
        ResultError: an `OSError` came from inside; the message has the file and the space that it needs.
    """
    try:
        yield
    except OSError as exc:
        reason = exc.strerror or str(exc) or type(exc).__name__
        is_full = exc.errno in FULL_DISK
        advice = "Free some space, or choose another folder." if is_full else "Choose another folder or name."
        space = compare_space(path, size_bytes) if is_full else ""
        raise ResultError(f"{path} cannot be written: {reason}. {space}{advice}") from exc


def compare_space(path: Path, size_bytes: int) -> str:
    """Compare the size of a file with the free space, in a sentence; empty if it fits or this is unknown."""
    import shutil  # deferred: it loads three compression libraries

    folder = next((each for each in path.absolute().parents if each.is_dir()), None)
    try:
        free_bytes = shutil.disk_usage(folder).free if folder else None
    except OSError:
        free_bytes = None
    if free_bytes is None or free_bytes > size_bytes:
        return ""
    return f"It needs {format_size(size_bytes)}, and {format_size(free_bytes)} are free. "


def sync(path: Path) -> None:
    """Sync a file, or the entries of a folder, to disk; on Windows, folders are skipped.

    Raises:
        OSError: it cannot be opened, or the disk reports a fault.
    """
    if os.name == "nt" and path.is_dir():
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def hold_lock(path: Path, timeout_s: float = 0, *, is_temporary: bool = False) -> Iterator[bool]:
    """Hold a lock on the file ``path``; the system releases the lock when the process ends.

    On file systems without locks, a file that names its holder is used instead.

    Args:
        path: a file for this purpose only; if absent, it is created with its folder, private to this user.
        timeout_s: maximum time to wait for another holder, in seconds.
        is_temporary: remove the file afterwards, on systems where an open file can be removed. Processes that
            wait for it notice the removal and recreate it.

    Yields:
        Whether the lock is held; False if another holder kept it for ``timeout_s``.

    Raises:
        OSError: the file cannot be created.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(path, timeout=timeout_s, mode=_PRIVATE, thread_local=False)
    try:
        lock.acquire(poll_interval=0.05)
    except Timeout:
        yield False
        return
    try:
        yield True
    finally:
        if is_temporary:
            with suppress(OSError):  # Windows cannot remove open files: the next holder tries
                path.unlink()
        lock.release()


def names_path(text: str) -> bool:
    """Return whether a text is the path of an existing file or folder; any text is accepted."""
    try:
        return bool(text) and Path(text).expanduser().exists()
    except (OSError, RuntimeError, ValueError):  # too long, the home of an unknown user, or a null character
        return False
