"""Map a Scene to 3Dmol.js styles: the representation and colour of each residue.

Both renderers use it: the py3Dmol view, and the page, where readers can choose another colouring or style.
:func:`apply_style` is implemented again in ``scene.js`` for choices made on the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from foldnote.viewers.scene import palette
from foldnote.viewers.scene.model import Coloring, Highlight, Scene, SceneChain, SceneModel, Style

Selection = dict[str, Any]
Color = dict[str, Any]
"""A ``color`` and, if residues differ, a ``colorscheme`` that maps them to colours."""
StyleRule = tuple[Selection, Color, dict[str, Any]]
"""(selection, colour, extra cartoon options)"""

SURFACE_OPACITY = 0.82
AROUND = 0.95
"""Zoom factor for poses, which leaves space for their surroundings."""
_CDR_THICKNESS = 1.0
UNKNOWN_OPACITY = 0.6
"""Opacity of the ribbon of residues without a value, whose grey is near that of zero on a signed scale."""
_BEAD_RADIUS_A = 2.4
"""Radius of the sphere of a residue in a large structure; neighbours, 3.8 Å apart, touch."""
_STICK_RADIUS_A = 0.16
"""Radius of the sticks of residues; also in place of a cartoon, which an isolated residue does not have."""
_FORMATS = {"mmcif": "cif"}
_NUMBER = "rescode"
"""Property of atoms in 3Dmol.js: residue number and insertion code."""


def model_format(model: SceneModel) -> str:
    """Return the 3Dmol.js name of the model's format."""
    return _FORMATS.get(model.format, model.format)


def select(model: int, chain: str) -> Selection:
    """Return the 3Dmol.js selection of a chain; ``model`` is the index of its model."""
    return {"model": model, "chain": chain}


def select_highlight(index: int, highlight: Highlight) -> Selection:
    """Return the 3Dmol.js selection of the residues of a highlight."""
    return select_residues(index, highlight.chain, highlight.numbers)


def select_residues(index: int, chain: str, numbers: tuple[str, ...]) -> Selection:
    """Return the 3Dmol.js selection of residues of one chain.

    3Dmol.js stores number and insertion code as ``rescode`` (``"112"``, ``"112^A"``); for mmCIF files, in
    which it ignores insertion codes, pages set it.
    """
    names = [_name_residue(number) for number in numbers]
    return select(index, chain) | {_NUMBER: list(dict.fromkeys(names))}


def list_style_rules(scene: Scene, coloring: Coloring | None) -> list[StyleRule]:
    """Return the style rules of all polymers, in order of application."""
    polymers = _list_polymers(scene)
    if coloring is not None:
        return [rule for polymer in polymers for rule in _list_colored(polymer, coloring)]
    rules: list[StyleRule] = []
    for index, model in enumerate(scene.models):
        by_chain = {polymer.chain.name: polymer for polymer in polymers if polymer.index == index}
        rules += [
            (polymer.selection, {"color": polymer.chain.color}, polymer.options)
            for polymer in by_chain.values()
        ]
        for mark in model.highlights:
            if mark.chain in by_chain and by_chain[mark.chain].chain.color == mark.color:
                continue  # superposed structures: only a tag
            options = {
                **(by_chain[mark.chain].options if mark.chain in by_chain else {}),
                "thickness": _CDR_THICKNESS,
            }
            rules.append((select_highlight(index, mark), {"color": mark.color}, options))
    return rules


def list_bases(scene: Scene) -> list[tuple[int, str, Selection, str, list[Any], dict[str, Any], str]]:
    """Return the data with which the page colours each chain by residue.

    Returns:
        Model index, chain name, selection, residue property in 3Dmol.js, its values as runs (see
        :func:`join_runs`), extra cartoon options, one-letter sequence.
    """
    return [
        (
            polymer.index,
            polymer.chain.name,
            polymer.selection,
            _NUMBER,
            join_runs([_name_residue(number) for number in polymer.chain.numbers]),
            polymer.options,
            polymer.chain.sequence,
        )
        for polymer in _list_polymers(scene)
    ]


def list_surfaces(scene: Scene, coloring: Coloring | None) -> list[tuple[Selection, Color]]:
    """Return (selection, colour) of one surface per chain, so that surfaces do not overlap."""
    if coloring is not None:
        rules = list_style_rules(scene, coloring)
        return [(selection, color) for selection, color, options in rules if "opacity" not in options]
    surfaces = []
    for polymer in _list_polymers(scene):
        marks = (mark for mark in polymer.model.highlights if mark.chain == polymer.chain.name)
        colors = {_name_residue(number): mark.color for mark in marks for number in mark.numbers}
        surfaces.append((polymer.selection, _make_color(polymer.chain.color, colors)))
    return surfaces


def list_labels(scene: Scene) -> list[tuple[str, dict[str, Any], Selection]]:
    """Return (text, label options, chain) of the tags in the picture."""
    return [
        (highlight.tag, _tag_style(highlight), select(index, highlight.chain))
        for index, model in enumerate(scene.models)
        for highlight in model.highlights
        if highlight.tag and highlight.centre
    ]


def list_others(scene: Scene) -> list[tuple[Selection, dict[str, Any]]]:
    """Return (selection, style) of ligands, ions and small molecules, the same in every colouring."""
    styles: list[tuple[Selection, dict[str, Any]]] = []
    for index, model in enumerate(scene.models):
        if model.is_molecule:
            style = {"stick": {"radius": 0.2, **_keep_elements({"color": model.color})}}
            styles.append(({"model": index}, style))
        hosts = [name for name in model.ligands if name not in model.guests]
        for names, style in (
            (hosts, {"stick": {"radius": 0.22}}),
            (model.guests, {"stick": {"radius": 0.22, **_keep_elements({"color": model.color})}}),
            (model.ions, {"sphere": {"scale": 0.5}}),
        ):
            if names:
                styles.append(({"model": index, "resn": _name_components(model, names)}, style))
    return styles


def list_waters(scene: Scene) -> list[tuple[int, list[str]]]:
    """Return (model index, residue names) of the waters, which are drawn on demand only."""
    return [
        (index, _name_components(model, model.waters))
        for index, model in enumerate(scene.models)
        if model.waters and not model.is_reduced
    ]


def list_hidden(scene: Scene) -> list[int]:
    """Return the indices of the models that the first step does not show."""
    return [index for step in scene.steps[1:] for index in step.models if index not in scene.steps[0].models]


def apply_style(style: Style, rule: StyleRule) -> dict[str, Any]:
    """Return the 3Dmol.js style of one rule; for ``surface`` this is the cartoon below it."""
    _, color, options = rule
    if style == "sticks":
        return {"stick": {"radius": _STICK_RADIUS_A, **_keep_elements(color)}}
    if style == "spheres":
        return {"sphere": color}
    if "stick" in options:
        return {"stick": {"radius": options["stick"], **_keep_elements(color)}}
    if "beads" in options:
        return {"sphere": {"radius": options["beads"], **color}}
    if options.get("trace"):
        return {"cartoon": {**color, "style": "trace", **_style_options(options)}}
    return {"cartoon": {**color, "arrows": True, **_style_options(options)}}


def _keep_elements(color: Color) -> Color:
    """Apply a single colour to carbon atoms only, so that other elements of sticks keep their colours."""
    if "colorscheme" in color:
        return color
    return {"colorscheme": {"prop": "elem", "map": {**_ELEMENTS, "C": color["color"]}}}


_ELEMENTS = {"N": "#3050f8", "O": "#e0302a", "S": "#c8a400", "P": "#ff8000", "H": "#c8c8c8", "SE": "#ffa100"}


def _style_options(options: dict[str, Any]) -> dict[str, float]:
    return {name: options[name] for name in ("thickness", "opacity") if name in options}


@dataclass(frozen=True)
class _Polymer:
    """A chain of the model at ``index``, its selection without ligands and water, and its cartoon."""

    index: int
    model: SceneModel
    chain: SceneChain
    selection: Selection
    options: dict[str, Any]


def _list_polymers(scene: Scene) -> list[_Polymer]:
    polymers = []
    for index, model in enumerate(scene.models):
        other_components = _name_components(model, [*model.ligands, *model.ions, *model.waters])
        exclusion = {"not": {"resn": other_components}} if other_components else {}
        for chain in model.chains:
            trace = {"trace": True} if chain.is_trace else {}
            stick_or_trace = {"stick": _STICK_RADIUS_A} if chain.length == 1 else trace
            options = {"beads": _BEAD_RADIUS_A} if model.is_reduced else stick_or_trace
            polymers.append(_Polymer(index, model, chain, select(index, chain.name) | exclusion, options))
    return polymers


def _list_colored(polymer: _Polymer, coloring: Coloring) -> list[StyleRule]:
    """Return the rule of a chain, and that of its residues without a value, which are translucent."""
    colors = _shade_residues(polymer, coloring)
    rules = [(polymer.selection, _make_color(palette.UNKNOWN, colors), polymer.options)]
    names = dict.fromkeys(_name_residue(number) for number in polymer.chain.numbers)
    unknown = [name for name in names if name not in colors]
    if unknown:
        selection = polymer.selection | {_NUMBER: unknown}
        rules.append((selection, {"color": palette.UNKNOWN}, polymer.options | {"opacity": UNKNOWN_OPACITY}))
    return rules


def _shade_residues(polymer: _Polymer, coloring: Coloring) -> dict[Any, str]:
    """Return the colours of the residues with a value."""
    shades = coloring.shades[polymer.index] if polymer.index < len(coloring.shades) else {}
    pairs = zip(polymer.chain.numbers, shades.get(polymer.chain.name, ()), strict=False)
    return {_name_residue(number): coloring.palette[shade] for number, shade in pairs if shade >= 0}


def _make_color(color: str, colors: dict[Any, str]) -> Color:
    return {"color": color} | ({"colorscheme": {"prop": _NUMBER, "map": colors}} if colors else {})


def _name_components(model: SceneModel, names: Sequence[str]) -> list[str]:
    """Return residue names as read by 3Dmol.js, which truncates four-letter names in PDB files to three."""
    return list(dict.fromkeys(name[:3] if model.format == "pdb" else name for name in names))


def _name_residue(number: str) -> str:
    """Return the residue number in the notation of 3Dmol.js."""
    digits = number.rstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz ")
    code = number[len(digits) :].strip()
    return f"{digits}^{code}" if code else digits


def join_runs(names: Sequence[str]) -> list[Any]:
    """Join runs of consecutive numbers to their first number and length; the page expands them."""
    runs: list[Any] = []
    for name in names:
        last = runs[-1] if runs and isinstance(runs[-1], list) else None
        if not (name.isascii() and name.isdigit()):
            runs.append(name)
        elif last is not None and int(name) == int(last[0]) + last[1]:
            last[1] += 1
        else:
            runs.append([name, 1])
    return runs


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
