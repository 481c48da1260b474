"""A ChimeraX script (``.cxc``) of a scene: representations, colours, lines and camera.

Legend, labels and notes are not converted. The commands follow ChimeraX's documentation; they were not run in
ChimeraX.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from foldnote.viewers.render.script_parts import (
    ColoredResidues,
    ScriptModel,
    list_colored_residues,
    list_contacts,
    list_first_lines,
    name_models,
    save_with_models,
    write_name,
)
from foldnote.viewers.scene.model import Scene

_ATOMS = {"sticks": "stick", "spheres": "sphere"}


def write_chimerax_script(scene: Scene, path: Path) -> None:
    """Write the script to ``path`` and the structure files beside it.

    Raises:
        ResultError: a file cannot be written; no file is written.
    """
    models = name_models(scene, path)
    lines = [
        "# Written by foldnote. Keep the structure files beside it, and run it in their folder.",
        *(f'open "{script_model.file}"' for script_model in models),
        "set bgColor white",
        "hide atoms",
        "hide cartoons",
        *(line for script_model in models for line in _draw(scene, script_model)),
        "hide solvent atoms",
        *(line for part in list_contacts(scene) for line in _stick(_select(models[0], part), part.color)),
        *_list_lines(scene),
        *(f"hide #{script_model.number} models" for script_model in models if not script_model.is_shown),
        *_place_camera(scene, models),
    ]
    save_with_models(path, lines, models)


def _select(script_model: ScriptModel, part: ColoredResidues) -> str:
    residues = f":{','.join(map(write_name, part.numbers))}" if part.numbers else ""
    chain = write_name(part.chain)
    if chain.isalnum():
        return f"#{script_model.number}/{chain}{residues}"
    return f'#{script_model.number}::chain_id="{chain}"' + (
        f" & #{script_model.number}{residues}" if residues else ""
    )


def _draw(scene: Scene, script_model: ScriptModel) -> Iterator[str]:
    if script_model.model.is_molecule:
        yield from _stick(f"#{script_model.number}", script_model.model.color)
    for chain in script_model.model.chains:
        own = _select(script_model, ColoredResidues(chain.name, chain.color))
        if scene.style in _ATOMS or script_model.model.is_reduced or chain.is_trace:
            style = "sphere" if script_model.model.is_reduced else _ATOMS.get(scene.style, "stick")
            yield from (f"show {own} atoms", f"style {own} {style}")
        else:
            yield f"cartoon {own}"
        if scene.style == "surface":
            yield from (f"surface {own}", f"transparency {own} 18 target s")
    yield from (
        f"color {_select(script_model, part)} {part.color}"
        for part in list_colored_residues(scene, script_model)
    )
    if scene.style == "sticks" and script_model.model.chains and scene.coloring is None:
        yield f"color #{script_model.number} byhetero"
    for names, style in ((script_model.model.ligands, "stick"), (script_model.model.ions, "sphere")):
        for name in names:
            own = f'#{script_model.number}::name="{write_name(name)}"'
            yield from (f"show {own} atoms", f"style {own} {style}", f"color {own} byelement")
    for name in script_model.model.guests:
        yield from _stick(f'#{script_model.number}::name="{write_name(name)}"', script_model.model.color)


def _stick(own: str, color: str) -> tuple[str, str, str, str]:
    return (
        f"show {own} atoms",
        f"style {own} stick",
        f"color {own} {color} target a",
        f"color {own} byhetero target a",
    )


def _list_lines(scene: Scene) -> Iterator[str]:
    for line in list_first_lines(scene):
        start, end = (",".join(f"{value:g}" for value in position) for position in (line.start, line.end))
        yield f"shape cylinder radius 0.08 fromPoint {start} toPoint {end} color {line.color}"


def _place_camera(scene: Scene, models: list[ScriptModel]) -> Iterator[str]:
    """Yield the initial rotation about a screen axis, from the standard orientation, then a zoom."""
    yield "view orient"
    if scene.rotation:
        x, y, z, angle = scene.rotation
        yield f"turn {x:g},{y:g},{z:g} {angle:g}"
    step_models = [f"#{index + 1}" for index in scene.steps[0].models] if scene.steps else []
    yield f"view {' | '.join(step_models)} pad 0.3" if step_models and models[0].model.chains else "view"
