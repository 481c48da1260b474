"""Which functions display a :class:`Scene`, so that the scene itself imports no renderer.

The renderer and the notebook display register themselves when :mod:`foldnote.viewers` is imported, which
happens before any scene exists.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from foldnote.viewers.render.py3dmol import SceneView
    from foldnote.viewers.scene.model import Scene

Renderer = Callable[["Scene"], "SceneView"]
Display = Callable[["Scene"], dict[str, str]]
_renderers: list[Renderer] = []
_displays: list[Display] = []


def register_renderer(renderer: Renderer) -> None:
    """Draw scenes with ``renderer`` when :meth:`Scene.py3dmol` is called."""
    _renderers[:] = [renderer]


def register_display(display: Display) -> None:
    """Turn scenes into mime bundles with ``display`` when a notebook shows them."""
    _displays[:] = [display]


def find_renderer() -> Renderer:
    """The registered renderer."""
    return _renderers[-1]


def find_display() -> Display:
    """The registered display."""
    return _displays[-1]
