"""Reading an archive without trusting it.

A result may come from anywhere, so nothing is unpacked to look at it: members are listed, checked, and read
one by one into memory when somebody asks. A folder and a single file behave like an archive, so that a result
which was already unpacked can be opened too. What the bytes mean is not known here; the formats have rooms
of their own (:mod:`foldnote.results.archives.zip_reader`, :mod:`foldnote.results.archives.tar_reader`).
"""

from __future__ import annotations

import io
import lzma
import shutil
import tarfile
import threading
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from foldnote.errors import ArchiveError, UnreadableFileError
from foldnote.results.core.messages import explain

MAX_MEMBERS = 10_000
MAX_TOTAL_BYTES = 10 * 1024**3
MAX_RATIO = 100
MAX_READ_BYTES = 512 * 1024**2
SMALL_BYTES = 64 * 1024**2
"""Below this unpacked size no ratio is suspicious: a table of zeros packs very well."""

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
"""What the standard library raises on damaged, encrypted or unknown members."""


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
        path: where it is.
        members: its files, sorted by name.
        problems: what was found damaged while listing: names and sentences.
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
        """The whole content of one member.

        Raises:
            UnreadableFileError: there is no such member, it is damaged, or larger than ``limit_bytes``.
        """
        size = self._find_size(name)
        if size > limit_bytes:
            raise UnreadableFileError(
                f"{name} has {size:,} bytes, more than the {limit_bytes:,} read at once; "
                "save the result to a folder and read it from there."
            )
        data = self.read_head(name, size)
        if len(data) < size:
            raise UnreadableFileError(
                f"{name} in {self.path.name} is cut off: {len(data):,} of {size:,} bytes."
            )
        return data

    def read_head(self, name: str, size_bytes: int) -> bytes:
        """The first ``size_bytes`` of a member, or all of it when it is shorter.

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
        """Write a member to ``place``, piece by piece; a damaged one leaves nothing behind.

        Raises:
            UnreadableFileError: there is no such member, it is damaged, or ``place`` cannot be written.
        """
        self._find_size(name)
        try:
            with self.open(name) as stream, place.open("wb") as target:
                shutil.copyfileobj(stream, target, 1024**2)
        except BaseException as exc:  # also an interruption: half a file looks like a whole one
            place.unlink(missing_ok=True)
            if not isinstance(exc, BROKEN):
                raise
            raise UnreadableFileError(f"{name} in {self.path.name} is damaged: {explain(exc)}.") from exc

    @abstractmethod
    def open(self, name: str) -> IO[bytes]:
        """A stream of a member's bytes; reading it may raise what the format's library raises."""

    def _find_size(self, name: str) -> int:
        if name not in self._sizes:
            raise UnreadableFileError(f"{self.path.name} holds no file {name!r}.")
        return self._sizes[name]


class FolderArchive(Archive):
    """A folder that a result was unpacked into; links in it are not followed."""

    def __init__(self, path: Path) -> None:
        """List the regular files below ``path``.

        Raises:
            ArchiveError: it holds too many files.
        """
        files = [file for file in path.rglob("*") if file.is_file() and not file.is_symlink()]
        if len(files) > MAX_MEMBERS:
            raise ArchiveError(f"{path} holds {len(files):,} files; a result has at most {MAX_MEMBERS:,}.")
        super().__init__(path, (Member(f.relative_to(path).as_posix(), f.stat().st_size) for f in files))

    def open(self, name: str) -> IO[bytes]:
        """A stream of a file's bytes."""
        return (self.path / name).open("rb")


class SingleFile(Archive):
    """One plain file, such as a PDB, as an archive of one."""

    def __init__(self, path: Path) -> None:
        """Take the file's name as the member's name."""
        super().__init__(path, [Member(path.name, path.stat().st_size)])

    def open(self, name: str) -> IO[bytes]:  # noqa: ARG002 - there is one file only
        """A stream of the file's bytes."""
        return self.path.open("rb")


def check_name(name: str) -> str | None:
    """Why ``name`` may not be a member's name, or None when it may."""
    parts = PurePosixPath(name).parts
    if not parts:
        return "is no name"
    if name.startswith(("/", "\\")) or (len(name) > 1 and name[1] == ":"):
        return "is an absolute path"
    if ".." in parts or "\\" in name:
        return "leaves its folder"
    if any(ord(letter) < 32 or ord(letter) == 127 for letter in name):
        return "holds control characters"
    return None


def is_skipped(name: str) -> bool:
    """Whether a member is what an operating system leaves beside the files, and nobody's result."""
    parts = PurePosixPath(name).parts
    return bool(parts) and (parts[0] == "__MACOSX" or parts[-1] == ".DS_Store" or parts[-1].startswith("._"))


def check_amount(path: Path, count: int, total_bytes: int, packed_bytes: int) -> None:
    """Refuse an archive of too many files, too many bytes, or suspiciously much for its size.

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
            "this looks like a trap."
        )


class Window(io.RawIOBase):
    """A part of a file as a stream; several may be read at the same time."""

    def __init__(self, file: IO[bytes], start: int, size: int, lock: threading.Lock) -> None:
        """The ``size`` bytes of ``file`` from ``start``; ``lock`` is that of everybody who reads the file."""
        self._whole, self._place, self._left, self._lock = file, start, size, lock

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill ``buffer`` with the next bytes, and say how many there were."""
        with self._lock:
            self._whole.seek(self._place)
            data = self._whole.read(min(len(buffer), self._left))
        buffer[: len(data)] = data
        self._place += len(data)
        self._left -= len(data)
        return len(data)
