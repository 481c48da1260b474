"""A Scene drawn by py3Dmol.

:class:`SceneView` is a :class:`py3Dmol.view`: it records the same calls and can be gone on with. It differs
in its page: the structure travels compressed and once, 3Dmol.js is taken from where it is installed and never
from the internet, and a view that cannot be drawn says why.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from typing import Any

import py3Dmol

from foldnote.viewers import palette
from foldnote.viewers.scene import Highlight, Scene, SceneModel

Selection = dict[str, Any]

_FORMATS = {"pdb": "pdb", "mmcif": "cif"}
_CDR_THICKNESS = 1.0
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
        from foldnote.viewers.shell import make_html

        self.uniqueid = uuid.uuid4().hex[:12]
        self.updatejs = ""
        return make_html(self.scene, self.uniqueid, self.startjs.replace("UNIQUEID", self.uniqueid))

    def _repr_html_(self) -> str:
        return self._make_html()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:  # noqa: ARG002
        from foldnote.viewers.describe_html import write_plain

        return {"text/html": self._make_html(), "text/plain": write_plain(self.scene)}

    def show(self) -> None:
        """Show the view in the running cell."""
        from IPython.display import publish_display_data

        publish_display_data(self._repr_mimebundle_())  # type: ignore[no-untyped-call]


def render(scene: Scene) -> SceneView:
    """The scene as a py3Dmol view with all its styles, labels and its first orientation."""
    view = SceneView(scene)
    for index, model in enumerate(scene.models):
        _style_model(view, index, model)
    view.zoomTo()
    if scene.rotation:
        x, y, z, angle = scene.rotation
        view.rotate(angle, {"x": x, "y": y, "z": z})
    view.zoom(_FILL)
    return view


def model_format(model: SceneModel) -> str:
    """What 3Dmol.js calls the model's format."""
    return _FORMATS[model.format]


def select(model: int, chain: str) -> Selection:
    """The 3Dmol.js selection of a whole chain."""
    return {"model": model, "chain": chain}


def select_highlight(index: int, model: SceneModel, highlight: Highlight) -> Selection:
    """The 3Dmol.js selection of a highlight's residues, insertion codes told apart where 3Dmol.js can.

    It keeps number and code of a PDB file together as ``rescode`` (``"112"``, ``"112^A"``); of an mmCIF file
    it reads no insertion code.
    """
    selection = select(index, highlight.chain)
    parts = [_split_number(number) for number in highlight.numbers]
    if model.format == "pdb":
        return selection | {"rescode": [f"{digits}^{code}" if code else digits for digits, code in parts]}
    return selection | {"resi": list(dict.fromkeys(int(digits) for digits, _ in parts))}


def _split_number(number: str) -> tuple[str, str]:
    """``("112", "A")`` for ``"112A"``."""
    digits = number.rstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz ")
    return digits, number[len(digits) :].strip()


def _style_model(view: SceneView, index: int, model: SceneModel) -> None:
    view.setStyle({"model": index}, {})
    traces = {chain.name for chain in model.chains if chain.is_trace}
    for chain in model.chains:
        look = _ribbon(chain.color, is_trace=chain.is_trace)
        view.setStyle({**select(index, chain.name), "not": {"resn": [*model.ligands, *model.ions]}}, look)
    for highlight in model.highlights:
        look = _ribbon(highlight.color, is_trace=highlight.chain in traces, thickness=_CDR_THICKNESS)
        view.setStyle(select_highlight(index, model, highlight), look)
        if highlight.tag and highlight.centre:
            view.addLabel(highlight.tag, _tag_style(highlight))
    _style_ligands(view, index, model.ligands, {"stick": {"radius": 0.22}})
    _style_ligands(view, index, model.ions, {"sphere": {"scale": 0.5}})


def _ribbon(color: str, *, is_trace: bool, **more: float) -> dict[str, Any]:
    """A ribbon, or a tube where 3Dmol.js would draw nothing for want of atoms."""
    if is_trace:
        return {"cartoon": {"color": color, "style": "trace", **more}}
    return {"cartoon": {"color": color, "arrows": True, **more}}


def _style_ligands(view: SceneView, index: int, names: Iterable[str], look: dict[str, Any]) -> None:
    wanted = list(names)
    if wanted:
        view.setStyle({"model": index, "resn": wanted}, look)


def _tag_style(highlight: Highlight) -> dict[str, Any]:
    x, y, z = highlight.centre or (0.0, 0.0, 0.0)
    return {
        "position": {"x": x, "y": y, "z": z},
        "backgroundColor": highlight.color,
        "backgroundOpacity": 0.92,
        "fontColor": palette.text_color(highlight.color),
        "fontSize": 12,
        "padding": 3,
        "alignment": "center",
        "inFront": True,
    }
