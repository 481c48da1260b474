"""Lossless compression of data embedded in a page.

Lines of a structure file have equal length. Transposed, similar characters are adjacent, and gzip output is
about half as large (0.44 times for a crystal structure of 2,700 atoms in PDB format). ``scene.js`` restores
the lines. Most of what remains are columns of random digits, in which a repetition of a few digits takes more
bits than the digits themselves; without such repetitions the output is smaller by an eighth.
"""

from __future__ import annotations

import base64
import json
import struct
import zlib
from collections.abc import Mapping
from itertools import groupby
from typing import Any

Piece = str | tuple[int, str]
"""Lines as text, or (line length, transposed text) of lines of equal length."""

_MIN_LINES = 8
"""Fewest consecutive lines of equal length that are transposed."""

_GZIP_HEADER = b"\x1f\x8b\x08\0\0\0\0\0\x02\xff"
"""RFC 1952: deflate, no name, no time (equal data are packed equally), best compression, any system."""
_MEMORY, _COLUMNS_MEMORY = 7, 5
"""zlib's memory levels: with less memory more parts get a code of their own, which suits columns."""


def pack(data: Any, columns: Mapping[str, Any] | None = None) -> str:
    """Encode ``data`` as gzip-compressed JSON in base64.

    Args:
        data: what to encode; with ``columns`` a dict that is not empty.
        columns: further members of ``data``, which consist of what :func:`turn` returns.
    """
    return base64.b64encode(_compress(data, columns)).decode("ascii")


def _compress(data: Any, columns: Mapping[str, Any] | None) -> bytes:
    head, tail = _encode(data), b""
    if columns:
        head, tail = head[:-1] + b",", _encode(columns)[1:]
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS, _MEMORY)
    stream = packer.compress(head)
    if columns:
        stream += packer.flush(zlib.Z_FULL_FLUSH)  # whole bytes, after which another packer can go on
        # Z_FILTERED leaves out short repetitions.
        packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS, _COLUMNS_MEMORY, zlib.Z_FILTERED)
        stream += packer.compress(tail)
    stream += packer.flush()
    length = (len(head) + len(tail)) % 2**32
    ending = struct.pack("<II", zlib.crc32(tail, zlib.crc32(head)), length)
    return _GZIP_HEADER + stream + ending


def _encode(data: Any) -> bytes:
    return json.dumps(data, ensure_ascii=True, separators=(",", ":")).encode()


def turn(text: str) -> list[Piece]:
    """Split a text into pieces that compress well; ``turnBack`` in ``scene_parts.js`` restores it."""
    pieces: list[Piece] = []
    plain: list[str] = []
    for length, run in groupby(text.split("\n"), len):
        lines = list(run)
        # A non-ASCII character may have length two in JavaScript.
        if length == 0 or len(lines) < _MIN_LINES or not all(line.isascii() for line in lines):
            plain += lines
            continue
        if plain:
            pieces.append("\n".join(plain))
            plain = []
        pieces.append((length, "".join("".join(letters) for letters in zip(*lines, strict=True))))
    if plain:
        pieces.append("\n".join(plain))
    return pieces
