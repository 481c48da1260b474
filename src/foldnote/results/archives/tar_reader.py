"""Tar archives, plain or compressed as a whole.

A compressed tar file has no directory and no random access. It is decompressed once into an unnamed temporary
file, then members are listed. Of a truncated file, the members before the end are read.
"""

from __future__ import annotations

import io
import tarfile
import tempfile
import threading
import weakref
from pathlib import Path
from typing import IO

from foldnote.errors import ArchiveError, UnreadableFileError
from foldnote.results.archives.archive import (
    BROKEN,
    MAX_RATIO,
    MAX_TOTAL_BYTES,
    SMALL_BYTES,
    Member,
    StoredArchive,
    Window,
    check_amount,
    check_name,
    is_skipped,
)
from foldnote.results.archives.compression import open_packed
from foldnote.results.core.messages import explain

_PIECE_BYTES = 1024**2
_IN_MEMORY_BYTES = 32 * 1024**2
_HEADER_BYTES = 512
_WORST = (*BROKEN, RecursionError, MemoryError, OverflowError, LookupError, TypeError)


class TarArchive(StoredArchive):
    """A tar file, which stays open until the object is garbage-collected."""

    def __init__(self, path: Path, stream: IO[bytes] | None = None) -> None:
        """Decompress the file if needed, then list and check the members.

        Args:
            path: path of the file; with ``stream``, the name for messages.
            stream: contents of a nested archive.

        Raises:
            ArchiveError: the file is not a tar file, has no readable member, or is not safe to read.
        """
        self._problems: list[tuple[str, str]] = []
        self._lock = threading.Lock()
        self._file: IO[bytes] = stream or path.open("rb")
        try:
            packed_bytes = self._file.seek(0, 2)
            self._file.seek(0)
            self._file = self._unpack(path, self._file, packed_bytes)
            self._places = self._list(path)
        except UnreadableFileError as exc:
            raise ArchiveError(f"{path.name}: {exc.message}") from exc
        except OSError as exc:
            raise ArchiveError(f"{path.name} cannot be read: {explain(exc)}.") from exc
        finally:
            weakref.finalize(self, self._file.close)
        check_amount(path, len(self._places), sum(size for _, size in self._places.values()), packed_bytes)
        if not self._places and self._problems:
            raise ArchiveError(f"{path.name} is not a complete tar archive; download it again.")
        members = (Member(name, size) for name, (_, size) in self._places.items())
        super().__init__(path, members, self._problems)

    def open(self, name: str) -> IO[bytes]:
        """Return a stream of a member's bytes."""
        start, size = self._places[name]
        return io.BufferedReader(Window(self._file, start, size, self._lock), _PIECE_BYTES)

    def _unpack(self, path: Path, raw: IO[bytes], packed_bytes: int) -> IO[bytes]:
        unpacked = open_packed(raw)
        if unpacked is None:
            return raw
        target = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY_BYTES)  # noqa: SIM115 - closed by the finalizer
        allowed = min(MAX_TOTAL_BYTES + SMALL_BYTES, max(SMALL_BYTES, MAX_RATIO * packed_bytes))
        try:
            while piece := unpacked.read(_PIECE_BYTES):
                target.write(piece)
                if target.tell() > allowed:
                    raise ArchiveError(
                        f"{path.name} is not opened: {packed_bytes:,} bytes expand to more than {allowed:,}; "
                        "this may be a decompression bomb."
                    )
        except ArchiveError:
            target.close()
            raise
        except BROKEN as exc:
            self._problems.append(
                (path.name, f"{path.name} is truncated or damaged ({explain(exc)}); download it again.")
            )
        finally:
            raw.close()
        target.seek(0)
        return target

    def _list(self, path: Path) -> dict[str, tuple[int, int]]:
        """Return the offset and size in bytes of every member, by name."""
        end = self._file.seek(0, 2)
        self._file.seek(0)
        places: dict[str, tuple[int, int]] = {}
        last = -1
        try:
            with tarfile.open(fileobj=self._file, mode="r:") as archive:
                while (entry := archive.next()) is not None and entry.offset_data > last:
                    last = entry.offset_data
                    if entry.isdir() and entry.name == ".":  # the folder itself
                        continue
                    self._check_entry(path, entry)
                    check_amount(path, len(places), 0, 1)
                    archive.members = []  # type: ignore[attr-defined]  # drop the headers read so far
                    if entry.isdir() or is_skipped(entry.name):
                        continue
                    if last + entry.size > end:
                        self._problems.append((entry.name, f"{entry.name} in {path.name} is truncated."))
                        break
                    places[entry.name.removeprefix("./")] = (entry.offset_data, entry.size)
        except _WORST as exc:
            if isinstance(exc, tarfile.ReadError) and not places and not self._problems:
                raise ArchiveError(
                    f"{path.name} is not a readable tar archive: {explain(exc)}. Download it again."
                ) from exc
            message = f"{path.name} is truncated or damaged after {len(places)} files; download it again."
            self._problems.append((path.name, message))
        return places

    @staticmethod
    def _check_entry(path: Path, entry: tarfile.TarInfo) -> None:
        fault = check_name(entry.name)
        if entry.issym() or entry.islnk():
            fault = "is a link"
        elif not (entry.isfile() or entry.isdir()) or entry.issparse() or entry.size < 0:
            fault = "is a special file"
        if fault:
            raise ArchiveError(f"{path.name} is not opened: the name {entry.name!r} in it {fault}.")


def is_tar(stream: IO[bytes]) -> bool:
    """Return whether a stream, compressed or not, begins with a tar header; the stream is rewound."""
    try:
        unpacked = open_packed(stream)
        head = (unpacked or stream).read(_HEADER_BYTES)
        tarfile.TarInfo.frombuf(head, "utf-8", "surrogateescape")
    except (UnreadableFileError, *_WORST):
        return False
    finally:
        stream.seek(0)
    return True
