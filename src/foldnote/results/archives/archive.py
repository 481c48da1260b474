"""Base class of archives, and the checks for untrusted ones.

Members are listed, checked, and read one by one into memory on demand; nothing is unpacked to disk. A folder
and a single file behave like an archive, too. For the formats see
:mod:`foldnote.results.archives.zip_reader` and :mod:`foldnote.results.archives.tar_reader`.
"""

from __future__ import annotations

import errno
import io
import lzma
import tarfile
import threading
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from foldnote.errors import ArchiveError, ResultError, UnreadableFileError
from foldnote.io import compare_space
from foldnote.results.core.messages import explain

MAX_MEMBERS = 10_000
MAX_TOTAL_BYTES = 10 * 1024**3
MAX_RATIO = 100
MAX_READ_BYTES = 512 * 1024**2
SMALL_BYTES = 64 * 1024**2
"""Unpacked size up to which any compression ratio is accepted: a table of zeros compresses very well."""

BROKEN = (
    OSError,
    EOFError,
    ValueError,
    NotImplementedError,
    RuntimeError,
    zlib.error,
    lzma.LZMAError,
    zipfile.BadZipFile,
    tarfile.TarError,
)
"""Exceptions of the standard library for damaged, encrypted or unsupported members."""

_NAME_FAULTS = (errno.ENAMETOOLONG, errno.EINVAL, errno.EILSEQ)


@dataclass(frozen=True)
class Member:
    """One file of an archive.

    Attributes:
        name: path inside the archive, with ``/``.
        size_bytes: unpacked size.
    """

    name: str
    size_bytes: int


class Archive(ABC):
    """A set of named files that can be read one by one.

    Attributes:
        path: path of the archive.
        members: its files, sorted by name.
        problems: (name, message) of each member found damaged while listing.
    """

    def __init__(
        self, path: Path, members: Iterable[Member], problems: Iterable[tuple[str, str]] = ()
    ) -> None:
        """Keep the members, sorted by name."""
        self.path = path
        self.members = tuple(sorted(members, key=lambda member: member.name))
        self.problems = tuple(problems)
        self._sizes = {member.name: member.size_bytes for member in self.members}

    def read(self, name: str, *, limit_bytes: int = MAX_READ_BYTES) -> bytes:
        """Return the whole content of one member.

        Raises:
            UnreadableFileError: there is no such member, it is damaged, or larger than ``limit_bytes``.
        """
        size = self._find_size(name)
        if size > limit_bytes:
            raise UnreadableFileError(
                f"{name} has {size:,} bytes, more than the limit of {limit_bytes:,} for reading into memory; "
                "save the result to a folder and read the file from there."
            )
        data = self.read_head(name, size)
        if len(data) < size:
            raise UnreadableFileError(
                f"{name} in {self.path.name} is truncated: {len(data):,} of {size:,} bytes."
            )
        return data

    def read_head(self, name: str, size_bytes: int) -> bytes:
        """Return the first ``size_bytes`` of a member, or all of it if it is shorter.

        Raises:
            UnreadableFileError: there is no such member, or it is damaged.
        """
        self._find_size(name)
        try:
            with self.open(name) as stream:
                return stream.read(size_bytes)
        except BROKEN as exc:
            raise UnreadableFileError(f"{name} in {self.path.name} is damaged: {explain(exc)}.") from exc

    def copy(self, name: str, place: Path) -> None:
        """Write a member to ``place`` in chunks; no partial file remains.

        Raises:
            UnreadableFileError: there is no such member, it is damaged, or a file cannot have its name here.
            ResultError: ``place`` cannot be written: the disk is full, or the folder is not writable.
        """
        self._find_size(name)
        try:
            with place.open("wb") as target:
                for chunk in self._read_chunks(name):
                    target.write(chunk)
        except BaseException as exc:  # also an interruption
            with suppress(OSError):
                place.unlink(missing_ok=True)
            if not isinstance(exc, OSError):
                raise
            if exc.errno in _NAME_FAULTS:
                raise UnreadableFileError(f"{name} cannot be a file's name here: {explain(exc)}.") from exc
            space = compare_space(place, self._sizes[name])
            raise ResultError(
                f"{place} cannot be written: {explain(exc)}. {space}Free some space, or choose another"
                f" folder; the result is still whole in {self.path.name}."
            ) from exc

    def _read_chunks(self, name: str) -> Iterator[bytes]:
        try:
            with self.open(name) as stream:
                while chunk := stream.read(1024**2):
                    yield chunk
        except BROKEN as exc:
            raise UnreadableFileError(f"{name} in {self.path.name} is damaged: {explain(exc)}.") from exc

    @abstractmethod
    def open(self, name: str) -> IO[bytes]:
        """Return a stream of a member's bytes; reading it may raise an exception in :data:`BROKEN`."""

    def _find_size(self, name: str) -> int:
        if name not in self._sizes:
            raise UnreadableFileError(f"{self.path.name} has no file {name!r}.")
        return self._sizes[name]


class StoredArchive(Archive):
    """An archive at a path; only the path is pickled, for a nested archive that of the outer archive."""

    def __reduce__(self) -> tuple[type[StoredArchive], tuple[Path]]:
        return type(self), (self.path.absolute(),)


class FolderArchive(StoredArchive):
    """A folder with an unpacked result; links in it are not followed."""

    def __init__(self, path: Path) -> None:
        """List the regular files below ``path``.

        Raises:
            ArchiveError: there are too many files.
        """
        files = [file for file in path.rglob("*") if file.is_file() and not file.is_symlink()]
        if len(files) > MAX_MEMBERS:
            raise ArchiveError(f"{path} holds {len(files):,} files; a result has at most {MAX_MEMBERS:,}.")
        super().__init__(path, (Member(f.relative_to(path).as_posix(), f.stat().st_size) for f in files))

    def open(self, name: str) -> IO[bytes]:
        """Return a stream of a file's bytes."""
        return (self.path / name).open("rb")


class SingleFile(StoredArchive):
    """A plain file, such as a PDB file, as an archive with one member."""

    def __init__(self, path: Path) -> None:
        """List the file as the only member."""
        super().__init__(path, [Member(path.name, path.stat().st_size)])

    def open(self, name: str) -> IO[bytes]:  # noqa: ARG002 - there is one file only
        """Return a stream of the file's bytes."""
        return self.path.open("rb")


def check_name(name: str) -> str | None:
    """Explain why ``name`` is not a valid member name, as the end of a sentence; None if it is valid."""
    parts = PurePosixPath(name).parts
    if not parts:
        return "is empty"
    if name.startswith(("/", "\\")) or (len(name) > 1 and name[1] == ":"):
        return "is an absolute path"
    if ".." in parts or "\\" in name:
        return "leaves its folder"
    if any(ord(letter) < 32 or ord(letter) == 127 for letter in name):
        return "contains control characters"
    return None


def is_skipped(name: str) -> bool:
    """Return whether a member is macOS metadata and not part of the result."""
    parts = PurePosixPath(name).parts
    return bool(parts) and (parts[0] == "__MACOSX" or parts[-1] == ".DS_Store" or parts[-1].startswith("._"))


def check_amount(path: Path, count: int, total_bytes: int, packed_bytes: int) -> None:
    """Refuse an archive with too many files, too many bytes or a suspicious compression ratio.

    Raises:
        ArchiveError: it is over a limit.
    """
    if count > MAX_MEMBERS:
        raise ArchiveError(f"{path.name} holds {count:,} files; a result has at most {MAX_MEMBERS:,}.")
    if total_bytes > MAX_TOTAL_BYTES:
        raise ArchiveError(
            f"{path.name} is not opened: {total_bytes:,} bytes unpacked, over the limit of 10 GiB."
        )
    packed = max(1, packed_bytes)
    if total_bytes > SMALL_BYTES and total_bytes / packed > MAX_RATIO:
        raise ArchiveError(
            f"{path.name} is not opened: {packed:,} bytes would unpack to {total_bytes:,}; "
            "this may be a zip bomb."
        )


class Window(io.RawIOBase):
    """A part of a file as a stream; several may be read concurrently."""

    def __init__(self, file: IO[bytes], start: int, size: int, lock: threading.Lock) -> None:
        """Open the ``size`` bytes of ``file`` from ``start``; all readers of the file share ``lock``."""
        self._file, self._position, self._remaining, self._lock = file, start, size, lock

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill ``buffer`` with the next bytes; returns their number."""
        with self._lock:
            self._file.seek(self._position)
            data = self._file.read(min(len(buffer), self._remaining))
        buffer[: len(data)] = data
        self._position += len(data)
        self._remaining -= len(data)
        return len(data)
