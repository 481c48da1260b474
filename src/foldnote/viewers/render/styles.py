"""Map a Scene to 3Dmol.js styles: the representation and colour of each residue.

One place decides it for every renderer: the py3Dmol view that Python code goes on with, and the page on which
a reader chooses another colouring or style. What a paint becomes in each style stands in :func:`apply_style`,
and once more in ``scene.js`` for choices that are made on the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from foldnote.viewers.scene import palette
from foldnote.viewers.scene.model import Coloring, Highlight, Scene, SceneChain, SceneModel, Style

Selection = dict[str, Any]
Ink = dict[str, Any]
"""A ``color``, and where residues differ a ``colorscheme`` that maps them to colours."""
Paint = tuple[Selection, Ink, dict[str, Any]]
"""(selection, style object, extra cartoon options)"""

SURFACE_OPACITY = 0.82
AROUND = 0.95
"""How far the picture of a pose is zoomed, so that what is around it is seen as well."""
_CDR_THICKNESS = 1.0
_BEAD_RADIUS_A = 2.4
"""Of a ball that stands for a residue of a large structure: neighbours, 3.8 Å apart, touch."""
_FORMATS = {"mmcif": "cif"}


def model_format(model: SceneModel) -> str:
    """What 3Dmol.js calls the model's format."""
    return _FORMATS.get(model.format, model.format)


def select(model: int, chain: str) -> Selection:
    """The 3Dmol.js selection of a whole chain."""
    return {"model": model, "chain": chain}


def select_highlight(index: int, model: SceneModel, highlight: Highlight) -> Selection:
    """The 3Dmol.js selection of a highlight's residues, insertion codes told apart where 3Dmol.js can."""
    return select_residues(index, model, highlight.chain, highlight.numbers)


def select_residues(index: int, model: SceneModel, chain: str, numbers: tuple[str, ...]) -> Selection:
    """The 3Dmol.js selection of residues of one chain.

    3Dmol.js keeps number and code of a PDB file together as ``rescode`` (``"112"``, ``"112^A"``); of an mmCIF
    file it reads no insertion code.
    """
    key = _number_key(model)
    names = [_name_residue(model, number) for number in numbers]
    return select(index, chain) | {key: list(dict.fromkeys(names))}


def list_paints(scene: Scene, coloring: Coloring | None) -> list[Paint]:
    """The paints of all polymers, in the order in which they are laid on."""
    polymers = _list_polymers(scene)
    if coloring is not None:
        return [
            (
                one.selection,
                _make_ink(one.model, palette.UNKNOWN, _shade_residues(one, coloring)),
                one.options,
            )
            for one in polymers
        ]
    paints: list[Paint] = []
    for index, model in enumerate(scene.models):
        own = {one.chain.name: one for one in polymers if one.index == index}
        paints += [(one.selection, {"color": one.chain.color}, one.options) for one in own.values()]
        for mark in model.highlights:
            options = {**(own[mark.chain].options if mark.chain in own else {}), "thickness": _CDR_THICKNESS}
            paints.append((select_highlight(index, model, mark), {"color": mark.color}, options))
    return paints


def list_bases(scene: Scene) -> list[tuple[int, str, Selection, str, list[Any], dict[str, Any]]]:
    """Every chain as the page colours it residue by residue.

    Model and name of the chain, its selection, the property by which 3Dmol.js knows a residue, what that is
    for each residue, and the extra options of a cartoon.
    """
    return [
        (
            one.index,
            one.chain.name,
            one.selection,
            _number_key(one.model),
            [_name_residue(one.model, number) for number in one.chain.numbers],
            one.options,
        )
        for one in _list_polymers(scene)
    ]


def list_surfaces(scene: Scene, coloring: Coloring | None) -> list[tuple[Selection, Ink]]:
    """One surface a chain, so that no two lie over each other."""
    if coloring is not None:
        return [(who, ink) for who, ink, _ in list_paints(scene, coloring)]
    found = []
    for one in _list_polymers(scene):
        marks = (mark for mark in one.model.highlights if mark.chain == one.chain.name)
        colors = {_name_residue(one.model, number): mark.color for mark in marks for number in mark.numbers}
        found.append((one.selection, _make_ink(one.model, one.chain.color, colors)))
    return found


def list_labels(scene: Scene) -> list[tuple[str, dict[str, Any]]]:
    """The tags that are written into the picture, with their looks."""
    return [
        (highlight.tag, _tag_style(highlight))
        for model in scene.models
        for highlight in model.highlights
        if highlight.tag and highlight.centre
    ]


def list_others(scene: Scene) -> list[tuple[Selection, dict[str, Any]]]:
    """Ligands and ions with their styles, the same in every colouring."""
    found: list[tuple[Selection, dict[str, Any]]] = []
    for index, model in enumerate(scene.models):
        if model.is_molecule:
            look = {"stick": {"radius": 0.2, **_keep_elements({"color": model.color})}}
            found.append(({"model": index}, look))
        for names, look in (
            (model.ligands, {"stick": {"radius": 0.22}}),
            (model.ions, {"sphere": {"scale": 0.5}}),
        ):
            if names:
                found.append(({"model": index, "resn": _name_components(model, names)}, look))
    return found


def list_hidden(scene: Scene) -> list[int]:
    """Places of the models that the first step does not show."""
    return [index for step in scene.steps[1:] for index in step.models if index not in scene.steps[0].models]


def apply_style(style: Style, paint: Paint) -> dict[str, Any]:
    """The style object of 3Dmol.js for one paint; the caller adds a surface above the ribbon."""
    _, ink, options = paint
    if style == "sticks":
        return {"stick": {"radius": 0.16, **_keep_elements(ink)}}
    if style == "spheres":
        return {"sphere": ink}
    if "beads" in options:
        return {"sphere": {"radius": options["beads"], **ink}}
    if options.get("trace"):
        return {"cartoon": {**ink, "style": "trace", **_thickness(options)}}
    return {"cartoon": {**ink, "arrows": True, **_thickness(options)}}


def _keep_elements(ink: Ink) -> Ink:
    """A plain colour is for carbons only, so that the other elements of a stick are still told apart."""
    if "colorscheme" in ink:
        return ink
    return {"colorscheme": {"prop": "elem", "map": {**_ELEMENTS, "C": ink["color"]}}}


_ELEMENTS = {"N": "#3050f8", "O": "#e0302a", "S": "#c8a400", "P": "#ff8000", "H": "#c8c8c8", "SE": "#ffa100"}


def _thickness(options: dict[str, Any]) -> dict[str, float]:
    return {"thickness": options["thickness"]} if "thickness" in options else {}


@dataclass(frozen=True)
class _Polymer:
    """A chain of the model at ``index``, its selection without ligands and water, and its cartoon."""

    index: int
    model: SceneModel
    chain: SceneChain
    selection: Selection
    options: dict[str, Any]


def _list_polymers(scene: Scene) -> list[_Polymer]:
    found = []
    for index, model in enumerate(scene.models):
        others = _name_components(model, [*model.ligands, *model.ions, *model.waters])
        without = {"not": {"resn": others}} if others else {}
        for chain in model.chains:
            trace = {"trace": True} if chain.is_trace else {}
            options = {"beads": _BEAD_RADIUS_A} if model.is_reduced else trace
            found.append(_Polymer(index, model, chain, select(index, chain.name) | without, options))
    return found


def _shade_residues(one: _Polymer, coloring: Coloring) -> dict[Any, str]:
    """The colour of each residue that the colouring says something of."""
    shades = coloring.shades[one.index] if one.index < len(coloring.shades) else {}
    pairs = zip(one.chain.numbers, shades.get(one.chain.name, ()), strict=False)
    return {
        _name_residue(one.model, number): coloring.palette[shade] for number, shade in pairs if shade >= 0
    }


def _make_ink(model: SceneModel, color: str, colors: dict[Any, str]) -> Ink:
    return {"color": color} | ({"colorscheme": {"prop": _number_key(model), "map": colors}} if colors else {})


def _name_components(model: SceneModel, names: Sequence[str]) -> list[str]:
    """Residue names as 3Dmol.js reads them: of a PDB file three letters, where CHARMM writes four."""
    return list(dict.fromkeys(name[:3] if model.format == "pdb" else name for name in names))


def _number_key(model: SceneModel) -> str:
    return "rescode" if model.format == "pdb" else "resi"


def _name_residue(model: SceneModel, number: str) -> Any:
    """The residue as 3Dmol.js names it in a file of this format."""
    digits = number.rstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz ")
    code = number[len(digits) :].strip()
    if model.format == "pdb":
        return f"{digits}^{code}" if code else digits
    return int(digits)


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
