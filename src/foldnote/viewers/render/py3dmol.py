"""Draw scenes with py3Dmol.

:class:`SceneView` is a :class:`py3Dmol.view` and accepts further calls. Its HTML differs: structures are
compressed, 3Dmol.js is loaded from the local installation instead of the internet, and errors are shown.
"""

from __future__ import annotations

import uuid
from typing import Any

import py3Dmol

from foldnote.viewers.render.paper import is_paper
from foldnote.viewers.render.printed_scene import write_printed_scene
from foldnote.viewers.render.styles import (
    AROUND,
    SURFACE_OPACITY,
    apply_style,
    list_hidden,
    list_labels,
    list_others,
    list_style_rules,
    list_surfaces,
)
from foldnote.viewers.scene.model import Coloring, Scene, Style


class SceneView(py3Dmol.view):
    """A py3Dmol view with the legend and description of its scene."""

    def __init__(self, scene: Scene) -> None:
        """Create a view of the scene's structures, without styles."""
        super().__init__(width="100%", height=scene.height_px, js="")  # type: ignore[no-untyped-call]
        self.scene = scene
        # py3Dmol's own code loads 3Dmol.js from a URL and creates the viewer; make_html replaces it.
        self.startjs = ""
        self.endjs = ""

    def _make_html(self) -> str:
        from foldnote.viewers.render.html import make_html

        if is_paper():
            return write_printed_scene(self.scene)
        self.uniqueid = uuid.uuid4().hex[:12]
        self.updatejs = ""
        return make_html(self.scene, self.uniqueid, self.startjs.replace("UNIQUEID", self.uniqueid))

    def _repr_html_(self) -> str:
        return self._make_html()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:  # noqa: ARG002
        from foldnote.viewers.render.caption import write_plain

        return {"text/html": self._make_html(), "text/plain": write_plain(self.scene)}

    def show(self) -> None:
        """Display the view in the running cell."""
        from IPython.display import publish_display_data

        publish_display_data(self._repr_mimebundle_())  # type: ignore[no-untyped-call]


def render(scene: Scene) -> SceneView:
    """Return a scene as a py3Dmol view with its styles, labels and initial orientation."""
    view = SceneView(scene)
    color_models(view, scene, scene.coloring, scene.style)
    is_near = bool(scene.steps and scene.models[0].chains and not scene.is_stack)
    view.zoomTo(*([{"model": list(scene.steps[0].models)}] if scene.steps else []))
    if scene.rotation:
        x, y, z, angle = scene.rotation
        view.rotate(angle, {"x": x, "y": y, "z": z})
    is_overlay = scene.group != "chain"
    view.zoom(AROUND if is_near else 1.0 if is_overlay else scene.fill)
    return view


def color_models(view: SceneView, scene: Scene, coloring: Coloring | None, style: Style) -> None:
    """Record the calls that apply a colouring (None: by chain) and a style to the models of a scene."""
    view.setStyle({}, {})
    for rule in list_style_rules(scene, coloring):
        view.setStyle(rule[0], apply_style(style, rule))
    if style == "surface":
        for selection, color in list_surfaces(scene, coloring):
            view.addSurface(py3Dmol.VDW, {"opacity": SURFACE_OPACITY, **color}, selection)
    for selection, options in list_others(scene):
        view.setStyle(selection, options)
    for index in list_hidden(scene):
        view.setStyle({"model": index}, {})
    if coloring is None:
        for text, options, _ in list_labels(scene):
            view.addLabel(text, options)
