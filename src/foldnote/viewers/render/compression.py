"""Lossless compression of data embedded in a page.

Lines of a structure file have equal length. Transposed, similar characters are adjacent, and gzip output is
about half as large (0.44 times for a crystal structure of 2,700 atoms in PDB format). ``scene.js`` restores
the lines. Most of the rest is columns of random digits, where encoding a repetition of a few digits takes
more bits than the digits themselves; without such repetitions the output is an eighth smaller.
"""

from __future__ import annotations

import base64
import json
import zlib
from itertools import groupby
from typing import Any

Piece = str | tuple[int, str]
"""Lines as text, or (line length, transposed text) of lines of equal length."""

_MIN_LINES = 8
"""Minimum number of consecutive lines of equal length that are transposed."""

_GZIP = 31
"""zlib's largest window, with gzip's header, which contains no time, so that equal data gives equal
output."""
_MEMORY = 6
"""zlib's memory level: below the default of 8, more blocks get their own code, which suits columns."""
_RAW = -15
"""zlib's largest window, without a header."""
_HEADER = b"\x1f\x8b\x08\0\0\0\0\0\x02\xff"
"""gzip's header (RFC 1952), without a time."""
_DIGITS = str.maketrans("$&<>`{}", "./:,[] ")
"""Characters of base 85 with a meaning in HTML, MathJax or a template, and their replacements."""


def pack(data: Any) -> str:
    """Encode ``data`` as gzip-compressed JSON in base64."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    packer = zlib.compressobj(9, zlib.DEFLATED, _GZIP, _MEMORY, zlib.Z_FILTERED)  # with few short repetitions
    return base64.b64encode(packer.compress(text.encode()) + packer.flush()).decode("ascii")


def pack_view(texts: dict[str, Any], columns: dict[str, Any]) -> str:
    """Encode one object, of words and of transposed lines, as gzip-compressed JSON in base 85.

    In programs and words, short repetitions save space, so each part is compressed with its own settings.
    ``start.js`` decodes it.
    """
    head, tail = (
        json.dumps(part, ensure_ascii=True, separators=(",", ":")).encode() for part in (texts, columns)
    )
    head, tail = head[:-1], b"," + tail[1:]
    parts = [
        packer.compress(part) + packer.flush(flush)
        for part, packer, flush in (
            (head, zlib.compressobj(9, zlib.DEFLATED, _RAW, _MEMORY), zlib.Z_SYNC_FLUSH),
            (tail, zlib.compressobj(9, zlib.DEFLATED, _RAW, _MEMORY, zlib.Z_FILTERED), zlib.Z_FINISH),
        )
    ]
    both = head + tail
    end = zlib.crc32(both).to_bytes(4, "little") + (len(both) % 2**32).to_bytes(4, "little")
    return base64.b85encode(b"".join((_HEADER, *parts, end))).decode("ascii").translate(_DIGITS)


def transpose_lines(text: str) -> list[Piece]:
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
