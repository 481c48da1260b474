"""Lossless compression of data embedded in a page.

Lines of a structure file have equal length. Transposed, similar characters are adjacent, and gzip output is
about half as large (0.44 times for a crystal structure of 2,700 atoms in PDB format). ``scene.js`` restores
the lines. Most of what remains are columns of random digits, in which a repetition of a few digits takes more
bits than the digits themselves; without such repetitions the output is smaller by an eighth.
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
"""Fewest consecutive lines of equal length that are transposed."""

_GZIP = 31
"""zlib's largest window, with gzip's header, which has no time: equal data are packed equally."""
_MEMORY = 6
"""zlib's memory level: with less than the usual 8 more parts get a code of their own, which suits columns."""


def pack(data: Any) -> str:
    """Encode ``data`` as gzip-compressed JSON in base64."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    packer = zlib.compressobj(9, zlib.DEFLATED, _GZIP, _MEMORY, zlib.Z_FILTERED)  # few short repetitions
    return base64.b64encode(packer.compress(text.encode()) + packer.flush()).decode("ascii")


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
