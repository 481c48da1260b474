"""Recover the complete members of a ZIP file whose directory is missing, as after an interrupted download.

The directory is at the end of a ZIP file, but each member also has a local header before its bytes. The local
headers are followed from the first; complete members are read normally, including the checksum, incomplete
ones are reported. A member whose header does not give its size is decompressed to find its end.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from foldnote.errors import ArchiveError
from foldnote.results.archives.archive import MAX_RATIO, MAX_TOTAL_BYTES, SMALL_BYTES, check_amount

_LOCAL, _DESCRIPTOR, _DIRECTORY = b"PK\x03\x04", b"PK\x07\x08", b"PK\x01\x02"
_HEADER = struct.Struct("<4s5H3I2H")
_PIECE_BYTES = 64 * 1024
_ENCRYPTED, _SIZES_BEHIND, _UTF8 = 0x1, 0x8, 0x800
_UNTOLD = 0xFFFFFFFF
_ZIP64 = 1


@dataclass(frozen=True)
class Salvage:
    """The members that were found.

    Attributes:
        entries: complete members, with the offset of their bytes in ``header_offset``.
        problems: (name, message) of each incomplete or encrypted one.
    """

    entries: tuple[zipfile.ZipInfo, ...]
    problems: tuple[tuple[str, str], ...]


@dataclass
class _SalvagePosition:
    """State of the search."""

    file: IO[bytes]
    path: Path
    end: int
    place: int = 0
    unpacked: int = 0
    entries: list[zipfile.ZipInfo] = field(default_factory=list)
    problems: list[tuple[str, str]] = field(default_factory=list)


def salvage(file: IO[bytes], path: Path) -> Salvage:
    """Follow the local headers of the members.

    Args:
        file: the archive's bytes.
        path: path for messages.

    Raises:
        ArchiveError: the archive exceeds a limit.
    """
    walk = _SalvagePosition(file, path, file.seek(0, 2))
    while (head := _read(walk, walk.place, _HEADER.size))[:4] == _LOCAL:
        if len(head) < _HEADER.size or not _take(walk, head):
            break
        check_amount(path, len(walk.entries), sum(entry.file_size for entry in walk.entries), walk.end)
    return Salvage(tuple(walk.entries), tuple(walk.problems))


def _read(walk: _SalvagePosition, place: int, size: int) -> bytes:
    walk.file.seek(place)
    return walk.file.read(size)


def _take(walk: _SalvagePosition, head: bytes) -> bool:
    """Add the member whose header was read; returns whether another may follow."""
    _, _, flags, method, _, _, crc, packed, size, name_length, extra_length = _HEADER.unpack(head)
    rest = _read(walk, walk.place + _HEADER.size, name_length + extra_length)
    name = rest[:name_length].decode("utf-8" if flags & _UTF8 else "cp437", "replace")
    start = walk.place + _HEADER.size + name_length + extra_length
    if len(rest) < name_length + extra_length or start > walk.end:
        return False
    if _UNTOLD in (packed, size):
        size, packed = _read_zip64(rest[name_length:], size, packed)
    entry = zipfile.ZipInfo(name)
    entry.compress_type, entry.flag_bits, entry.header_offset = method, flags & ~_SIZES_BEHIND, start
    entry.CRC, entry.compress_size, entry.file_size = crc, packed, size
    if flags & _SIZES_BEHIND and not packed and not _find_end(walk, entry):
        return _refuse(walk, name)
    if start + entry.compress_size > walk.end:
        return _refuse(walk, name)
    walk.place = max(walk.place, start + entry.compress_size)
    if flags & _SIZES_BEHIND:
        walk.place = _skip_descriptor(walk)
    if flags & _ENCRYPTED:
        walk.problems.append((name, f"{name} in {walk.path.name} is encrypted."))
    else:
        walk.entries.append(entry)
    return True


def _refuse(walk: _SalvagePosition, name: str) -> bool:
    walk.problems.append((name, f"{name} in {walk.path.name} is truncated."))
    return False


def _read_zip64(extra: bytes, size: int, packed: int) -> tuple[int, int]:
    """Return the uncompressed and compressed size from the ZIP64 extra field."""
    place = 0
    while place + 4 <= len(extra):
        kind, length = struct.unpack_from("<2H", extra, place)
        if kind == _ZIP64 and length >= 16 and place + 20 <= len(extra):
            size, packed = struct.unpack_from("<2Q", extra, place + 4)
        place += 4 + length
    return size, packed


def _find_end(walk: _SalvagePosition, entry: zipfile.ZipInfo) -> bool:
    """Decompress a member whose header does not give its size; returns whether its end was found."""
    if entry.compress_type != zipfile.ZIP_DEFLATED:
        return False
    allowed = min(MAX_TOTAL_BYTES, max(SMALL_BYTES, MAX_RATIO * walk.end))
    unpacker = zlib.decompressobj(-zlib.MAX_WBITS)
    place, size, crc = entry.header_offset, 0, 0
    try:
        while not unpacker.eof:
            piece = unpacker.unconsumed_tail or _read(walk, place, _PIECE_BYTES)
            place += 0 if unpacker.unconsumed_tail else len(piece)
            if not piece:
                return False
            made = unpacker.decompress(piece, 16 * _PIECE_BYTES)
            size, crc = size + len(made), zlib.crc32(made, crc)
            if walk.unpacked + size > allowed:
                raise ArchiveError(
                    f"{walk.path.name} is not opened: {walk.end:,} bytes would unpack to more than "
                    f"{allowed:,}; this may be a zip bomb."
                )
    except zlib.error:
        return False
    walk.unpacked += size
    entry.CRC, entry.file_size = crc, size
    entry.compress_size = place - len(unpacker.unused_data) - entry.header_offset
    return True


def _skip_descriptor(walk: _SalvagePosition) -> int:
    """Return the offset of the next header, after a checksum and two sizes of four or eight bytes each."""
    data = _read(walk, walk.place, 32)
    for length in (16, 24, 12, 20):
        is_marked = data.startswith(_DESCRIPTOR)
        if is_marked == (length in (16, 24)) and data[length : length + 4] in (_LOCAL, _DIRECTORY):
            return walk.place + length
    return walk.end
