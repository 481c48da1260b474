"""Scenes side by side, rotated together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from foldnote.errors import ArgumentError
from foldnote.viewers.display.bundles import bundle
from foldnote.viewers.scene.model import Scene

_HEIGHT_PX = 280


@dataclass(frozen=True)
class Grid:
    """Scenes in rows and columns.

    Attributes:
        scenes: what to show, row by row.
        columns: number of columns in a wide enough page.
    """

    scenes: tuple[Scene, ...]
    columns: int

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:  # noqa: ARG002
        parts = [bundle(scene) for scene in self.scenes]
        cells = "".join(f"<div>{part['text/html']}</div>" for part in parts)
        minimum = 960 // self.columns - 20
        columns = f"repeat(auto-fill,minmax(min(100%,{minimum}px),1fr))"
        style = f"display:grid;gap:8px 16px;grid-template-columns:{columns}"
        html = f'<div class="fnv-grid" style="{style}">{cells}</div>'
        return {"text/html": html, "text/plain": "\n\n".join(part["text/plain"] for part in parts)}


def make_grid(scenes: Sequence[Scene], columns: int = 2) -> Grid:
    """Return scenes side by side.

    Raises:
        ArgumentError: there are no scenes, or ``columns`` is not from 1 to 6.
    """
    if not scenes:
        raise ArgumentError("There is nothing to show side by side: give at least one structure.")
    if not 1 <= columns <= 6:
        raise ArgumentError(f"A grid has 1 to 6 columns, not {columns}.")
    return Grid(tuple(scene.model_copy(update={"height_px": _HEIGHT_PX}) for scene in scenes), columns)
