"""Lossless compression of data embedded in a page.

Lines of a structure file have equal length. Transposed, similar characters are adjacent, and gzip output is
about half as large (0.52 times for a predicted dimer in PDB format). ``scene.js`` restores the lines.
"""

from __future__ import annotations

import base64
import gzip
import json
from itertools import groupby
from typing import Any

Piece = str | tuple[int, str]
"""Lines as text, or (line length, transposed text) of lines of equal length."""

_MIN_LINES = 8
"""Fewest consecutive lines of equal length that are transposed."""


def pack(data: Any) -> str:
    """Encode ``data`` as gzip-compressed JSON in base64."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode("ascii")


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
