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
_UNKNOWN_SIZE_FLAG = 0xFFFFFFFF
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
class _SalvageState:
    """State of the search."""

    file: IO[bytes]
    path: Path
    end: int
    position: int = 0
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
    state = _SalvageState(file, path, file.seek(0, 2))
    while (head := _read(state, state.position, _HEADER.size))[:4] == _LOCAL:
        if len(head) < _HEADER.size or not _add_member(state, head):
            break
        check_amount(path, len(state.entries), sum(entry.file_size for entry in state.entries), state.end)
    return Salvage(tuple(state.entries), tuple(state.problems))


def _read(state: _SalvageState, position: int, size: int) -> bytes:
    state.file.seek(position)
    return state.file.read(size)


def _add_member(state: _SalvageState, head: bytes) -> bool:
    """Add the member whose header was read; returns whether another may follow."""
    _, _, flags, method, _, _, crc, packed, size, name_length, extra_length = _HEADER.unpack(head)
    name_and_extra = _read(state, state.position + _HEADER.size, name_length + extra_length)
    name = name_and_extra[:name_length].decode("utf-8" if flags & _UTF8 else "cp437", "replace")
    start = state.position + _HEADER.size + name_length + extra_length
    if len(name_and_extra) < name_length + extra_length or start > state.end:
        return False
    if _UNKNOWN_SIZE_FLAG in (packed, size):
        size, packed = _read_zip64(name_and_extra[name_length:], size, packed)
    entry = zipfile.ZipInfo(name)
    entry.compress_type, entry.flag_bits, entry.header_offset = method, flags & ~_SIZES_BEHIND, start
    entry.CRC, entry.compress_size, entry.file_size = crc, packed, size
    if flags & _SIZES_BEHIND and not packed and not _find_end(state, entry):
        return _record_truncated(state, name)
    if start + entry.compress_size > state.end:
        return _record_truncated(state, name)
    state.position = max(state.position, start + entry.compress_size)
    if flags & _SIZES_BEHIND:
        state.position = _skip_descriptor(state)
    if flags & _ENCRYPTED:
        state.problems.append((name, f"{name} in {state.path.name} is encrypted."))
    else:
        state.entries.append(entry)
    return True


def _record_truncated(state: _SalvageState, name: str) -> bool:
    state.problems.append((name, f"{name} in {state.path.name} is truncated."))
    return False


def _read_zip64(extra: bytes, size: int, packed: int) -> tuple[int, int]:
    """Return the uncompressed and compressed size from the ZIP64 extra field."""
    position = 0
    while position + 4 <= len(extra):
        kind, length = struct.unpack_from("<2H", extra, position)
        if kind == _ZIP64 and length >= 16 and position + 20 <= len(extra):
            size, packed = struct.unpack_from("<2Q", extra, position + 4)
        position += 4 + length
    return size, packed


def _find_end(state: _SalvageState, entry: zipfile.ZipInfo) -> bool:
    """Decompress a member whose header does not give its size; returns whether its end was found."""
    if entry.compress_type != zipfile.ZIP_DEFLATED:
        return False
    allowed = min(MAX_TOTAL_BYTES, max(SMALL_BYTES, MAX_RATIO * state.end))
    unpacker = zlib.decompressobj(-zlib.MAX_WBITS)
    position, size, crc = entry.header_offset, 0, 0
    try:
        while not unpacker.eof:
            piece = unpacker.unconsumed_tail or _read(state, position, _PIECE_BYTES)
            position += 0 if unpacker.unconsumed_tail else len(piece)
            if not piece:
                return False
            unpacked = unpacker.decompress(piece, 16 * _PIECE_BYTES)
            size, crc = size + len(unpacked), zlib.crc32(unpacked, crc)
            if state.unpacked + size > allowed:
                raise ArchiveError(
                    f"{state.path.name} is not opened: {state.end:,} bytes would unpack to more than "
                    f"{allowed:,}; this may be a zip bomb."
                )
    except zlib.error:
        return False
    state.unpacked += size
    entry.CRC, entry.file_size = crc, size
    entry.compress_size = position - len(unpacker.unused_data) - entry.header_offset
    return True


def _skip_descriptor(state: _SalvageState) -> int:
    """Return the offset of the next header, after a checksum and two sizes of four or eight bytes each."""
    data = _read(state, state.position, 32)
    for length in (16, 24, 12, 20):
        is_marked = data.startswith(_DESCRIPTOR)
        if is_marked == (length in (16, 24)) and data[length : length + 4] in (_LOCAL, _DIRECTORY):
            return state.position + length
    return state.end
