"""Small drawings of molecules for the rows of a table: lines and letters by colour, which the page draws.

They are data, a few hundred bytes each, because a table has a thousand of them; :mod:`.drawing` writes the
large ones as SVG. RDKit is imported on first use, and each molecule is drawn once.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from functools import lru_cache
from html import escape
from importlib import import_module
from typing import Any, Final, TypedDict

WIDTH, HEIGHT = 200, 120
"""Size of the drawing area, in its own units."""
MAX_ATOMS: Final = 60
"""Maximum number of heavy atoms; larger molecules would not be recognisable."""
_PATH: Final = re.compile(r"<path class='bond[^>]*?d='([^']*)'\s+style='([^']*)'")
_TEXT: Final = re.compile(r"<text x='([^']*)' y='([^']*)'[^>]*?style='font-size:(\d+)px;([^']*)'\s*>([^<]*)<")
_NUMBER: Final = re.compile(r"-?\d+\.?\d*")
_INK: Final = re.compile(r"#[0-9A-Fa-f]{6}")


class Thumbnail(TypedDict):
    """A drawing; colours are those of RDKit, for a light background."""

    lines: list[list[str]]
    """Colour and SVG path of the strokes."""
    areas: list[list[str]]
    """Colour and SVG path of the filled areas, such as wedges."""
    letters: list[list[Any]]
    """x, y (start of the baseline), size, colour and text."""


@lru_cache(maxsize=4096)
def draw_thumbnail(smiles: str) -> Thumbnail | None:
    """Return the drawing of a molecule; None if RDKit cannot read it, or it is too large to be recognised."""
    chem: Any = import_module("rdkit.Chem")
    drawing: Any = import_module("rdkit.Chem.Draw.rdMolDraw2D")
    with import_module("rdkit.rdBase").BlockLogs():
        try:
            molecule = chem.MolFromSmiles(smiles)
            if molecule is None or not 0 < molecule.GetNumHeavyAtoms() <= MAX_ATOMS:
                return None
            pen = drawing.MolDraw2DSVG(WIDTH, HEIGHT, -1, -1, True)  # letters as text, not as outlines
            options = pen.drawOptions()
            options.clearBackground = False
            options.bondLineWidth = 2
            options.fixedBondLength = 30
            options.minFontSize, options.maxFontSize = 15, 19
            options.padding = 0.03
            pen.DrawMolecule(molecule)
            pen.FinishDrawing()
        except (ValueError, RuntimeError):
            return None
    return _read_svg(str(pen.GetDrawingText()))


def _read_svg(svg: str) -> Thumbnail:
    lines: dict[str, str] = {}
    areas: dict[str, str] = {}
    for path, style in _PATH.findall(svg):
        ink = _INK.findall(style)
        kind = lines if "fill:none" in style else areas
        kind[ink[0]] = kind.get(ink[0], "") + _shorten(path)
    letters = [
        [round(float(x)), round(float(y)), int(size), _INK.findall(style)[0], text]
        for x, y, size, style, text in _TEXT.findall(svg)
    ]
    return {"lines": [*map(list, lines.items())], "areas": [*map(list, areas.items())], "letters": letters}


def _shorten(path: str) -> str:
    """Return an SVG path with integer coordinates and without unnecessary spaces."""
    whole = _NUMBER.sub(lambda match: f"{float(match[0]):.0f}", path)
    return re.sub(r"\s*([MLQCZ])\s*", r"\1", whole)


def draw_thumbnails(molecules: Iterable[str], *, time_limit_s: float | None = None) -> dict[str, Thumbnail]:
    """Return the drawings of molecules by SMILES, without those that cannot be drawn.

    Args:
        molecules: SMILES; repeated ones are drawn once.
        time_limit_s: seconds after which the rest is omitted; a later call continues there.
    """
    end = None if time_limit_s is None else time.monotonic() + time_limit_s
    drawings = {}
    for smiles in dict.fromkeys(molecules):
        if end is not None and time.monotonic() > end:
            break
        drawing = draw_thumbnail(smiles)
        if drawing is not None:
            drawings[smiles] = drawing
    return drawings


def write_thumbnail(drawing: Thumbnail) -> str:
    """Return a drawing as SVG without a background."""
    strokes = "".join(f"<path d='{path}' fill='none' stroke='{ink}'/>" for ink, path in drawing["lines"])
    fills = "".join(f"<path d='{path}' fill='{ink}'/>" for ink, path in drawing["areas"])
    letters = "".join(
        f"<text x='{x}' y='{y}' font-size='{size}' fill='{ink}' stroke='none'>{escape(text)}</text>"
        for x, y, size, ink, text in drawing["letters"]
    )
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{WIDTH}' height='{HEIGHT}'"
        f" viewBox='0 0 {WIDTH} {HEIGHT}' font-family='sans-serif' stroke-width='2' stroke-linejoin='round'"
        f" stroke-linecap='round'>{strokes}{fills}{letters}</svg>"
    )
