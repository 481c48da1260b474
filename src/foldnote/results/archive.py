"""Reading an archive without trusting it.

A result may come from anywhere, so nothing is unpacked to look at it: members are listed from the directory,
checked, and read one by one into memory when somebody asks. A folder and a single file behave like an
archive, so that a result which was already unpacked can be opened too. What the bytes mean is not known here.
"""

from __future__ import annotations

import stat
import weakref
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from foldnote.errors import ArchiveError, UnreadableFileError

MAX_MEMBERS = 10_000
MAX_TOTAL_BYTES = 10 * 1024**3
MAX_RATIO = 100
MAX_READ_BYTES = 512 * 1024**2
_SMALL_BYTES = 64 * 1024**2
"""Below this unpacked size no ratio is suspicious: a table of zeros packs very well."""

_SKIPPED_FOLDERS = ("__MACOSX",)
_BROKEN = (OSError, EOFError, ValueError, NotImplementedError, RuntimeError, zlib.error, zipfile.BadZipFile)
"""What :mod:`zipfile` and :mod:`zlib` raise on damaged, encrypted or unknown members."""


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
    """A set of named files that can be read one by one."""

    def __init__(self, path: Path, members: Iterable[Member]) -> None:
        """Keep the members, sorted by name."""
        self.path = path
        self.members = tuple(sorted(members, key=lambda member: member.name))
        self._sizes = {member.name: member.size_bytes for member in self.members}

    def read(self, name: str, *, limit_bytes: int = MAX_READ_BYTES) -> bytes:
        """The whole content of one member.

        Raises:
            UnreadableFileError: there is no such member, it is damaged, or larger than ``limit_bytes``.
        """
        if name not in self._sizes:
            raise UnreadableFileError(f"{self.path.name} holds no file {name!r}.")
        if self._sizes[name] > limit_bytes:
            raise UnreadableFileError(
                f"{name} has {self._sizes[name]:,} bytes, more than the {limit_bytes:,} read at once; "
                "save the result to a folder and read it from there."
            )
        return self.read_head(name, self._sizes[name])

    def read_head(self, name: str, size_bytes: int) -> bytes:
        """The first ``size_bytes`` of a member, or all of it when it is shorter.

        Raises:
            UnreadableFileError: the member is damaged.
        """
        try:
            return self._read(name, size_bytes)
        except _BROKEN as exc:
            raise UnreadableFileError(f"{name} in {self.path.name} is damaged: {exc}.") from exc

    @abstractmethod
    def _read(self, name: str, size_bytes: int) -> bytes: ...


class ZipArchive(Archive):
    """A ZIP file; it stays open until it is collected."""

    def __init__(self, path: Path) -> None:
        """List and check the members.

        Raises:
            ArchiveError: the file is no ZIP, is cut off, or is not safe to read.
        """
        try:
            self._zip = zipfile.ZipFile(path)
        except (*_BROKEN, UnicodeDecodeError) as exc:
            raise ArchiveError(f"{path.name} is no complete ZIP archive: {exc}. Download it again.") from exc
        entries = [entry for entry in self._zip.infolist() if not _is_skipped(entry)]
        # A result and its parts refer to each other; this closes the file before that cycle is taken apart.
        weakref.finalize(self, self._zip.close)
        _check_entries(path, entries)
        self._entries = {entry.filename: entry for entry in entries}
        super().__init__(path, (Member(entry.filename, entry.file_size) for entry in self._entries.values()))

    def _read(self, name: str, size_bytes: int) -> bytes:
        with self._zip.open(self._entries[name]) as stream:
            return stream.read(size_bytes)


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

    def _read(self, name: str, size_bytes: int) -> bytes:
        with (self.path / name).open("rb") as stream:
            return stream.read(size_bytes)


class SingleFile(Archive):
    """One plain file, such as a PDB, as an archive of one."""

    def __init__(self, path: Path) -> None:
        """Take the file's name as the member's name."""
        super().__init__(path, [Member(path.name, path.stat().st_size)])

    def _read(self, name: str, size_bytes: int) -> bytes:  # noqa: ARG002 - there is one file only
        with self.path.open("rb") as stream:
            return stream.read(size_bytes)


def open_archive(path: str | Path) -> Archive:
    """The archive at ``path``: a ZIP file, a folder, or a single plain file.

    Raises:
        ArchiveError: nothing is there, or it is a ZIP that is cut off or not safe to read.
    """
    place = Path(path)
    if place.is_dir():
        return FolderArchive(place)
    if not place.is_file():
        raise ArchiveError(f"There is no result at {place}.")
    with place.open("rb") as stream:
        is_zip = stream.read(2) == b"PK"
    return ZipArchive(place) if is_zip or place.suffix.lower() == ".zip" else SingleFile(place)


def unpack_gzip(data: bytes, name: str, *, limit_bytes: int = MAX_READ_BYTES) -> bytes:
    """``data`` unpacked, for a member whose name ends in ``.gz``.

    Raises:
        UnreadableFileError: it is damaged, or unpacks to more than ``limit_bytes`` or suspiciously much.
    """
    unpacker = zlib.decompressobj(wbits=31)
    allowed = min(limit_bytes, max(_SMALL_BYTES, MAX_RATIO * len(data)))
    try:
        text = unpacker.decompress(data, allowed)
        if unpacker.unconsumed_tail:
            raise UnreadableFileError(f"{name} unpacks to more than {allowed:,} bytes; it is not read.")
        if not unpacker.eof:
            raise UnreadableFileError(f"{name} is damaged: its compressed data is cut off.")
    except zlib.error as exc:
        raise UnreadableFileError(f"{name} is damaged: {exc}.") from exc
    return text


def check_name(name: str) -> str | None:
    """Why ``name`` may not be a member's name, or None when it may."""
    parts = PurePosixPath(name).parts
    if name.startswith(("/", "\\")) or (len(name) > 1 and name[1] == ":"):
        return "is an absolute path"
    if ".." in parts or "\\" in name:
        return "leaves its folder"
    if any(ord(letter) < 32 or ord(letter) == 127 for letter in name):
        return "holds control characters"
    return None


def _is_skipped(entry: zipfile.ZipInfo) -> bool:
    is_folder = entry.is_dir() and check_name(entry.filename) is None
    return is_folder or entry.filename.startswith(_SKIPPED_FOLDERS)


def _check_entries(path: Path, entries: list[zipfile.ZipInfo]) -> None:
    if len(entries) > MAX_MEMBERS:
        raise ArchiveError(f"{path.name} holds {len(entries):,} files; a result has at most {MAX_MEMBERS:,}.")
    for entry in entries:
        fault = check_name(entry.orig_filename) or check_name(entry.filename) or _find_special(entry)
        if fault:
            raise ArchiveError(f"{path.name} is not opened: the name {entry.orig_filename!r} in it {fault}.")
    total = sum(entry.file_size for entry in entries)
    if total > MAX_TOTAL_BYTES:
        raise ArchiveError(f"{path.name} is not opened: {total:,} bytes unpacked, over the limit of 10 GiB.")
    packed = max(1, min(path.stat().st_size, sum(entry.compress_size for entry in entries)))
    if total > _SMALL_BYTES and total / packed > MAX_RATIO:
        raise ArchiveError(
            f"{path.name} is not opened: {packed:,} bytes would unpack to {total:,}; this looks like a trap."
        )


def _find_special(entry: zipfile.ZipInfo) -> str | None:
    """A member that is neither a file nor a folder (a link, a device), in words."""
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind == stat.S_IFLNK:
        return "is a link"
    return "is a special file" if kind not in (0, stat.S_IFREG, stat.S_IFDIR) else None
