"""Data that travels inside a page: small, and again the same letter for letter.

A structure file is a table of lines that are equally long. Written column by column, letters that resemble
each other stand together, and gzip makes about half of what it makes of the lines (0.52 of it for a predicted
dimer in PDB format). ``scene.js`` turns the columns back into lines; nothing is rounded or left out.
"""

from __future__ import annotations

import base64
import gzip
import json
from itertools import groupby
from typing import Any

Piece = str | tuple[int, str]
"""Lines as they stand, or the length of lines that are equally long and their letters column by column."""

_FEWEST_LINES = 8
"""Fewer equal lines are not worth a piece of their own."""


def pack(data: Any) -> str:
    """``data`` as JSON, compressed, in characters that are safe anywhere in a page."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode("ascii")


def turn(text: str) -> list[Piece]:
    """The text in pieces that compress well; ``turnBack`` of ``scene_parts.js`` makes the text of them."""
    pieces: list[Piece] = []
    plain: list[str] = []
    for length, run in groupby(text.split("\n"), len):
        lines = list(run)
        # A letter beyond ASCII may count as two on the page.
        if length == 0 or len(lines) < _FEWEST_LINES or not all(line.isascii() for line in lines):
            plain += lines
            continue
        if plain:
            pieces.append("\n".join(plain))
            plain = []
        pieces.append((length, "".join("".join(letters) for letters in zip(*lines, strict=True))))
    if plain:
        pieces.append("\n".join(plain))
    return pieces
