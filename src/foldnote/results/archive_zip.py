"""ZIP archives: listed from their directory, each member read on its own."""

from __future__ import annotations

import stat
import weakref
import zipfile
from pathlib import Path
from typing import IO

from foldnote.errors import ArchiveError
from foldnote.results.archive import BROKEN, Archive, Member, check_amount, check_name, is_skipped
from foldnote.results.wording import explain


class ZipArchive(Archive):
    """A ZIP file; it stays open until it is collected."""

    def __init__(self, path: Path, stream: IO[bytes] | None = None) -> None:
        """List and check the members.

        Args:
            path: the file, or what to call it.
            stream: its bytes, where it is no file of its own.

        Raises:
            ArchiveError: the file is no ZIP, is cut off, or is not safe to read.
        """
        try:
            self._zip = zipfile.ZipFile(stream or path)
        except (*BROKEN, UnicodeDecodeError) as exc:
            raise ArchiveError(
                f"{path.name} is no complete ZIP archive: {explain(exc)}. Download it again."
            ) from exc
        entries = [entry for entry in self._zip.infolist() if not _is_skipped(entry)]
        # A result and its parts refer to each other; this closes the file before that cycle is taken apart.
        weakref.finalize(self, self._zip.close)
        if stream:
            weakref.finalize(self, stream.close)
        _check_entries(path, entries, _find_size(path, stream))
        self._entries = {entry.filename: entry for entry in entries}
        super().__init__(path, (Member(entry.filename, entry.file_size) for entry in self._entries.values()))

    def open(self, name: str) -> IO[bytes]:
        """A stream of a member's bytes, checked against its checksum at the end."""
        return self._zip.open(self._entries[name])


def _find_size(path: Path, stream: IO[bytes] | None) -> int:
    return stream.seek(0, 2) if stream else path.stat().st_size


def _is_skipped(entry: zipfile.ZipInfo) -> bool:
    is_folder = entry.is_dir() and check_name(entry.filename) is None
    return is_folder or is_skipped(entry.filename)


def _check_entries(path: Path, entries: list[zipfile.ZipInfo], size_bytes: int) -> None:
    total = sum(entry.file_size for entry in entries)
    packed = min(size_bytes, sum(entry.compress_size for entry in entries))
    check_amount(path, len(entries), 0, 1)
    for entry in entries:
        fault = check_name(entry.orig_filename) or check_name(entry.filename) or _find_special(entry)
        if fault:
            raise ArchiveError(f"{path.name} is not opened: the name {entry.orig_filename!r} in it {fault}.")
    check_amount(path, len(entries), total, packed)


def _find_special(entry: zipfile.ZipInfo) -> str | None:
    """A member that is neither a file nor a folder (a link, a device), in words."""
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind == stat.S_IFLNK:
        return "is a link"
    return "is a special file" if kind not in (0, stat.S_IFREG, stat.S_IFDIR) else None
