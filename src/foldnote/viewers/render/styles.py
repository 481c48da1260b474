"""Map a Scene to 3Dmol.js styles: the representation and colour of each residue.

One place decides it for all who draw: the py3Dmol view that Python code goes on with, and the page on which
a reader chooses another colouring or style. What a paint becomes in each style stands in :func:`dress`, and
once more in ``scene.js`` for choices that are made on the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from foldnote.viewers.scene import palette
from foldnote.viewers.scene.model import Coloring, Highlight, Scene, SceneModel, Style

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
    paints: list[Paint] = []
    for index, model in enumerate(scene.models):
        paints += _paint_chains(index, model) if coloring is None else _paint_residues(index, model, coloring)
    return paints


def list_bases(scene: Scene) -> list[tuple[int, str, Selection, str, list[Any], dict[str, Any]]]:
    """Every chain as the page colours it residue by residue.

    Model and name of the chain, its selection, the property by which 3Dmol.js knows a residue, what that is
    for each residue, and the extra options of a cartoon.
    """
    found = []
    for index, model in enumerate(scene.models):
        traces = _find_traces(model)
        for chain in model.chains:
            names = [_name_residue(model, number) for number in chain.numbers]
            who, options = _select_polymer(index, model, chain.name), _mark_trace(model, chain.name, traces)
            found.append((index, chain.name, who, _number_key(model), names, options))
    return found


def list_surfaces(scene: Scene, coloring: Coloring | None) -> list[tuple[Selection, Ink]]:
    """One surface a chain, so that no two lie over each other."""
    if coloring is not None:
        return [(who, ink) for who, ink, _ in list_paints(scene, coloring)]
    found = []
    for index, model in enumerate(scene.models):
        for chain in model.chains:
            own = (h for h in model.highlights if h.chain == chain.name)
            colors = {_name_residue(model, number): h.color for h in own for number in h.numbers}
            found.append((_select_polymer(index, model, chain.name), _make_ink(model, chain.color, colors)))
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
            found.append(
                ({"model": index}, {"stick": {"radius": 0.2, **_keep_elements({"color": model.color})}})
            )
        if model.ligands:
            found.append(
                (
                    {"model": index, "resn": _name_components(model, model.ligands)},
                    {"stick": {"radius": 0.22}},
                )
            )
        if model.ions:
            found.append(
                ({"model": index, "resn": _name_components(model, model.ions)}, {"sphere": {"scale": 0.5}})
            )
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


def _paint_chains(index: int, model: SceneModel) -> list[Paint]:
    traces = _find_traces(model)
    paints: list[Paint] = [
        (
            _select_polymer(index, model, chain.name),
            {"color": chain.color},
            _mark_trace(model, chain.name, traces),
        )
        for chain in model.chains
    ]
    for highlight in model.highlights:
        options = _mark_trace(model, highlight.chain, traces) | {"thickness": _CDR_THICKNESS}
        paints.append((select_highlight(index, model, highlight), {"color": highlight.color}, options))
    return paints


def _paint_residues(index: int, model: SceneModel, coloring: Coloring) -> list[Paint]:
    traces = _find_traces(model)
    shades = coloring.shades[index] if index < len(coloring.shades) else {}
    paints: list[Paint] = []
    for chain in model.chains:
        colors = {
            _name_residue(model, number): coloring.palette[shade]
            for number, shade in zip(chain.numbers, shades.get(chain.name, ()), strict=False)
            if shade >= 0
        }
        who, options = _select_polymer(index, model, chain.name), _mark_trace(model, chain.name, traces)
        paints.append((who, _make_ink(model, palette.UNKNOWN, colors), options))
    return paints


def _make_ink(model: SceneModel, color: str, colors: dict[Any, str]) -> Ink:
    return {"color": color} | ({"colorscheme": {"prop": _number_key(model), "map": colors}} if colors else {})


def _select_polymer(index: int, model: SceneModel, chain: str) -> Selection:
    others = _name_components(model, [*model.ligands, *model.ions, *model.waters])
    return select(index, chain) | ({"not": {"resn": others}} if others else {})


def _name_components(model: SceneModel, names: Sequence[str]) -> list[str]:
    """Residue names as 3Dmol.js reads them: of a PDB file three letters, where CHARMM writes four."""
    return list(dict.fromkeys(name[:3] if model.format == "pdb" else name for name in names))


def _find_traces(model: SceneModel) -> set[str]:
    return {chain.name for chain in model.chains if chain.is_trace}


def _mark_trace(model: SceneModel, chain: str, traces: set[str]) -> dict[str, Any]:
    if model.is_reduced:
        return {"beads": _BEAD_RADIUS_A}
    return {"trace": True} if chain in traces else {}


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
