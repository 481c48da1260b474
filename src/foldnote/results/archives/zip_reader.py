"""ZIP archives, listed by their directory.

If the directory is missing, the complete members are recovered
(:mod:`foldnote.results.archives.salvage`).
"""

from __future__ import annotations

import stat
import threading
import weakref
import zipfile
from pathlib import Path
from typing import IO

from foldnote.errors import ArchiveError
from foldnote.results.archives.archive import (
    BROKEN,
    Member,
    StoredArchive,
    Window,
    check_amount,
    check_name,
    is_skipped,
)
from foldnote.results.archives.salvage import salvage
from foldnote.results.core.messages import explain


class ZipArchive(StoredArchive):
    """A ZIP file, which stays open until the object is garbage-collected."""

    def __init__(self, path: Path, stream: IO[bytes] | None = None) -> None:
        """List and check the members.

        Args:
            path: path of the file; with ``stream``, the name for messages.
            stream: contents of a nested archive.

        Raises:
            ArchiveError: the file is not a ZIP file, has no complete member, or is not safe to read.
        """
        try:
            self._file: IO[bytes] = stream or path.open("rb")
        except OSError as exc:
            raise ArchiveError(f"{path.name} cannot be read: {explain(exc)}.") from exc
        # A result and its parts form a reference cycle; this closes the file before it is collected.
        weakref.finalize(self, self._file.close)
        self._lock = threading.Lock()
        self._zip: zipfile.ZipFile | None = None
        problems: tuple[tuple[str, str], ...] = ()
        try:
            self._zip = zipfile.ZipFile(self._file)
            everything = self._zip.infolist()
        except (*BROKEN, UnicodeDecodeError) as exc:
            everything, problems = self._salvage(path, exc)
        salvaged = [entry for entry in everything if not _is_skipped(entry)]
        _check_entries(path, salvaged, self._file.seek(0, 2))
        self._entries = {entry.filename: entry for entry in salvaged}
        members = (Member(entry.filename, entry.file_size) for entry in self._entries.values())
        super().__init__(path, members, problems)

    def open(self, name: str) -> IO[bytes]:
        """Return a stream of a member's bytes; its checksum is verified at the end."""
        entry = self._entries[name]
        if self._zip is not None:
            return self._zip.open(entry)
        window = Window(self._file, entry.header_offset, entry.compress_size, self._lock)
        return zipfile.ZipExtFile(window, "r", entry, None, True)  # type: ignore[return-value]

    def _salvage(
        self, path: Path, reason: Exception
    ) -> tuple[list[zipfile.ZipInfo], tuple[tuple[str, str], ...]]:
        salvaged = salvage(self._file, path)
        if not salvaged.entries:
            raise ArchiveError(
                f"{path.name} is not a complete ZIP archive: {explain(reason)}. Download it again."
            ) from reason
        noun = "file" if len(salvaged.entries) == 1 else "files"
        message = (
            f"{path.name} is truncated or damaged: its directory is missing. {len(salvaged.entries)} {noun} "
            "could be recovered; others may be missing. Download it again."
        )
        return list(salvaged.entries), ((path.name, message), *salvaged.problems)


def _is_skipped(entry: zipfile.ZipInfo) -> bool:
    is_folder = entry.filename.endswith("/") and check_name(entry.filename) is None
    return is_folder or is_skipped(entry.filename)


def _check_entries(path: Path, salvaged: list[zipfile.ZipInfo], size_bytes: int) -> None:
    total = sum(entry.file_size for entry in salvaged)
    packed = min(size_bytes, sum(entry.compress_size for entry in salvaged))
    check_amount(path, len(salvaged), 0, 1)
    for entry in salvaged:
        fault = check_name(entry.orig_filename) or check_name(entry.filename) or _find_special(entry)
        if fault:
            raise ArchiveError(f"{path.name} is not opened: the name {entry.orig_filename!r} in it {fault}.")
    check_amount(path, len(salvaged), total, packed)


def _find_special(entry: zipfile.ZipInfo) -> str | None:
    """Describe a member that is neither file nor folder (a link, a device); None for others."""
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind == stat.S_IFLNK:
        return "is a link"
    return "is a special file" if kind not in (0, stat.S_IFREG, stat.S_IFDIR) else None
