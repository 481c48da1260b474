"""A Scene drawn by py3Dmol.

:class:`SceneView` is a :class:`py3Dmol.view`: it records the same calls and can be gone on with. It differs
in its page: the structure travels compressed and once, 3Dmol.js is taken from where it is installed and never
from the internet, and a view that cannot be drawn says why.
"""

from __future__ import annotations

import uuid
from typing import Any

import py3Dmol

from foldnote.viewers.render.styles import (
    AROUND,
    SURFACE_OPACITY,
    apply_style,
    list_hidden,
    list_labels,
    list_others,
    list_paints,
    list_surfaces,
)
from foldnote.viewers.scene.model import Coloring, Scene, Style

_FILL = 1.25
"""3Dmol.js fits a sphere around all atoms into the picture, which leaves wide margins."""


class SceneView(py3Dmol.view):
    """A py3Dmol view that brings its scene, its legend and its words."""

    def __init__(self, scene: Scene) -> None:
        """Begin with the scene's structures loaded and nothing styled."""
        super().__init__(width="100%", height=scene.height_px, js="")  # type: ignore[no-untyped-call]
        self.scene = scene
        # What py3Dmol wrote until here loads a script by address and makes the viewer; ours does that itself.
        self.startjs = ""
        self.endjs = ""

    def _make_html(self) -> str:
        from foldnote.viewers.render.html import make_html

        self.uniqueid = uuid.uuid4().hex[:12]
        self.updatejs = ""
        return make_html(self.scene, self.uniqueid, self.startjs.replace("UNIQUEID", self.uniqueid))

    def _repr_html_(self) -> str:
        return self._make_html()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:  # noqa: ARG002
        from foldnote.viewers.render.caption import write_plain

        return {"text/html": self._make_html(), "text/plain": write_plain(self.scene)}

    def show(self) -> None:
        """Show the view in the running cell."""
        from IPython.display import publish_display_data

        publish_display_data(self._repr_mimebundle_())  # type: ignore[no-untyped-call]


def render(scene: Scene) -> SceneView:
    """The scene as a py3Dmol view with all its styles, labels and its first orientation."""
    view = SceneView(scene)
    paint(view, scene, scene.coloring, scene.style)
    is_near = bool(scene.steps and scene.models[0].chains)
    view.zoomTo(*([{"model": list(scene.steps[0].models)}] if scene.steps else []))
    if scene.rotation:
        x, y, z, angle = scene.rotation
        view.rotate(angle, {"x": x, "y": y, "z": z})
    view.zoom(AROUND if is_near else _FILL)
    return view


def paint(view: SceneView, scene: Scene, coloring: Coloring | None, style: Style) -> None:
    """Record the calls that give the scene's models this colouring and style."""
    view.setStyle({}, {})
    for part in list_paints(scene, coloring):
        view.setStyle(part[0], apply_style(style, part))
    if style == "surface":
        for who, ink in list_surfaces(scene, coloring):
            view.addSurface(py3Dmol.VDW, {"opacity": SURFACE_OPACITY, **ink}, who)
    for who, look in list_others(scene):
        view.setStyle(who, look)
    for index in list_hidden(scene):
        view.setStyle({"model": index}, {})
    if coloring is None:
        for text, look in list_labels(scene):
            view.addLabel(text, look)
