"""A PyMOL script (``.pml``) of a scene: representations, colours, dashed lines and camera.

Legend, labels and notes are not converted. PyMOL can run the script from any folder, since structure files
are located relative to the script.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
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

_SHOWN = {
    "cartoon": ["cartoon"],
    "sticks": ["sticks"],
    "spheres": ["spheres"],
    "surface": ["cartoon", "surface"],
}


def write_pymol_script(scene: Scene, path: Path) -> None:
    """Write the script to ``path`` and the structure files beside it.

    Raises:
        ResultError: a file cannot be written; no file is written.
    """
    models = name_models(scene, path)
    lines = [
        "# Written by foldnote. Keep the structure files beside it.",
        "python",
        "import os",
        *(
            f"cmd.load(os.path.join(os.path.dirname(__script__), {script_model.file!r}),"
            f" {_name(script_model)!r})"
            for script_model in models
        ),
        "python end",
        "bg_color white",
        "hide everything",
        "set transparency, 0.18",
        *(line for script_model in models for line in _draw(scene, script_model)),
        *(
            line
            for part in list_contacts(scene)
            for line in _stick_on_cartoon(_select(models[0], part), part.color)
        ),
        *_list_lines(scene),
        *(f"disable {_name(script_model)}" for script_model in models if not script_model.is_shown),
        *_place_camera(scene, models),
    ]
    save_with_models(path, lines, models)


def _name(script_model: ScriptModel) -> str:
    return f"model_{script_model.number}"


def _select(script_model: ScriptModel, part: ColoredResidues) -> str:
    """Return a selection of a chain's polymer or of some of its residues."""
    chain = f'{_name(script_model)} and chain "{write_name(part.chain)}"'
    if part.numbers:
        numbers = (write_name(number).replace("-", "\\-") for number in part.numbers)
        return f"{chain} and resi {'+'.join(numbers)}"
    other_residues = [*script_model.model.ligands, *script_model.model.ions, *script_model.model.waters]
    return f"{chain} and not resn {_join(other_residues)}" if other_residues else chain


def _join(names: Sequence[str]) -> str:
    return "+".join(map(write_name, names))


def _draw(scene: Scene, script_model: ScriptModel) -> Iterator[str]:
    if script_model.model.is_molecule:
        yield from _stick(_name(script_model), script_model.model.color)
    if any(chain.is_trace for chain in script_model.model.chains):
        yield f"set cartoon_trace_atoms, 1, {_name(script_model)}"
    for chain in script_model.model.chains:
        own = _select(script_model, ColoredResidues(chain.name, chain.color))
        representations = ["spheres"] if script_model.model.is_reduced else _SHOWN[scene.style]
        yield from (f"show {kind}, {own}" for kind in representations)
        if script_model.model.is_reduced:
            yield f"set sphere_scale, 1.4, {own}"
    yield from (
        f"color {_write_color(part.color)}, {_select(script_model, part)}"
        for part in list_colored_residues(scene, script_model)
    )
    if scene.style == "sticks" and script_model.model.chains and scene.coloring is None:
        yield f"util.cnc {_name(script_model)}"
    for names, kind in ((script_model.model.ligands, "sticks"), (script_model.model.ions, "spheres")):
        if names:
            own = f"{_name(script_model)} and resn {_join(names)}"
            yield from (f"show {kind}, {own}", f"color grey70, {own} and elem C", f"util.cnc {own}")
            if kind == "spheres":
                yield f"set sphere_scale, 0.5, {own}"
    if script_model.model.guests:
        yield from _stick(
            f"{_name(script_model)} and resn {_join(script_model.model.guests)}", script_model.model.color
        )


def _stick(own: str, color: str) -> tuple[str, str, str]:
    return (f"show sticks, {own}", f"color {_write_color(color)}, {own} and elem C", f"util.cnc {own}")


def _stick_on_cartoon(own: str, color: str) -> tuple[str, str, str]:
    """Yield sticks next to a cartoon, which has the colour of the Cα."""
    return (
        f"show sticks, {own}",
        f"color {_write_color(color)}, {own} and elem C and not name CA",
        f"util.cnc {own}",
    )


def _write_color(color: str) -> str:
    return f"0x{color.removeprefix('#')}"


def _list_lines(scene: Scene) -> Iterator[str]:
    for number, line in enumerate(list_first_lines(scene), 1):
        ends = [f"bond_{number}_{side}" for side in ("from", "to")]
        for name, position in zip(ends, (line.start, line.end), strict=True):
            yield f"pseudoatom {name}, pos=[{position[0]:g}, {position[1]:g}, {position[2]:g}]"
        yield f"distance bond_{number}, {ends[0]}, {ends[1]}"
        yield f"color {_write_color(line.color)}, bond_{number}"
        if not line.label:
            yield f"hide labels, bond_{number}"
        yield f"hide nonbonded, {ends[0]} or {ends[1]}"


def _place_camera(scene: Scene, models: Sequence[ScriptModel]) -> Iterator[str]:
    """Yield the initial rotation, as columns of its matrix, and a zoom to what is visible at first."""
    rows = _make_matrix(scene.rotation) if scene.rotation else ((1, 0, 0), (0, 1, 0), (0, 0, 1))
    columns = [f"{rows[row][column]:.6f}" for column in range(3) for row in range(3)]
    view_rest = ["0, 0, -100", "0, 0, 0", "40, 200, 0"]
    yield f"set_view ({', '.join([*columns, *view_rest])})"
    step_models = [_name(models[index]) for index in scene.steps[0].models] if scene.steps else []
    yield f"zoom {' or '.join(step_models)}, 4" if step_models and models[0].model.chains else "zoom visible"


def _make_matrix(rotation: tuple[float, float, float, float]) -> tuple[tuple[float, ...], ...]:
    """Return the matrix of a rotation about a unit axis (x, y, z) by an angle in degrees (Rodrigues)."""
    x, y, z, degrees = rotation
    cosine, sine = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    complement = 1 - cosine
    return (
        (cosine + x * x * complement, x * y * complement - z * sine, x * z * complement + y * sine),
        (y * x * complement + z * sine, cosine + y * y * complement, y * z * complement - x * sine),
        (z * x * complement - y * sine, z * y * complement + x * sine, cosine + z * z * complement),
    )
