"""HTML output of scenes.

Until its script has run, the output shows a message, a still image and a description, for untrusted
notebooks, code hosts and readers without JavaScript. The script uses 3Dmol.js from the page, else loads it
from the notebook server, draws the scene and removes the message. Nothing is loaded from other hosts.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Sequence
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

from foldnote.io import hash_bytes
from foldnote.results.structure.interfaces.chain_interfaces import NEGATIVE, POSITIVE, SALT_BRIDGE_A
from foldnote.results.structure.interfaces.hydrogen_bonds import (
    HYDROGEN_BOND_A,
    MIN_ANGLE_DEGREES,
    PROTONATED_HISTIDINES,
    list_roles,
)
from foldnote.viewers.render.caption import (
    has_flexible,
    list_kinds,
    name_interface,
    write_description,
    write_interfaces,
    write_label,
    write_legend,
    write_legends,
    write_notes,
    write_panel,
)
from foldnote.viewers.render.compression import pack, pack_view, transpose_lines
from foldnote.viewers.render.library import SCRIPT_WRITER
from foldnote.viewers.render.still_image import draw_picture
from foldnote.viewers.render.styles import (
    AROUND,
    SURFACE_OPACITY,
    UNKNOWN_OPACITY,
    list_bases,
    list_labels,
    list_others,
    list_style_rules,
    list_surfaces,
    list_waters,
    model_format,
    select,
    select_highlight,
    select_residues,
)
from foldnote.viewers.scene import palette
from foldnote.viewers.scene.model import Interface, Line, Scene, SceneModel, Step
from foldnote.viewers.scene.model_text import list_insertion_codes, list_other_locations

LIBRARY_VERSION = "2.5.5"
SERVED_LIBRARY = f"foldnote/api/static/3Dmol-min.js?v={LIBRARY_VERSION}"
"""URL of 3Dmol.js on the notebook server, relative to its base URL."""

_CSS_COMMENT = re.compile(r"""("[^"]*"|'[^']*')|/\*.*?\*/""", re.DOTALL)
"""String literals in CSS, which are kept, and comments."""
_CSS_SPACE = re.compile(r"""("[^"]*"|'[^']*')|\s*([{};,])\s*|(?<=:) """)
"""String literals in CSS, which are kept, and insignificant white space."""
_COLORING = {"name", "palette", "shades", "values"}
_MARK = {"label", "chain", "numbers"}
_NOT_RUN = (
    "The 3D view is drawn by a script that has not run here. If this notebook is yours, trust it "
    "(Trust Notebook in the command palette) or run the cell again. "
    "The summary below describes the structure."
)


def make_html(scene: Scene, view_id: str, commands: str) -> str:
    """Return the HTML output of one view.

    Args:
        scene: the scene to show.
        view_id: unique identifier of the view, alphanumeric.
        commands: JavaScript calls on ``viewer_<view_id>``, as recorded by py3Dmol.
    """
    apply_style = f"function(viewer_{view_id}){{\n{escape_script(commands)}}}"
    packed = pack_view(_make_payload(scene), _pack_models(scene))
    data = write_json(_make_data(scene, view_id, packed))
    script = f"<script>{read_asset('start.js')}({data},{apply_style});</script>"
    return _write_view(scene, view_id, script)


def make_view(scene: Scene, view_id: str, commands: str) -> dict[str, Any]:
    """Return the data with which a front end draws a view itself.

    Returns:
        ``html`` without script, ``data`` for the drawing code, ``commands`` as recorded by py3Dmol.
    """
    return {
        "html": _write_view(scene, view_id, ""),
        "data": _make_data(scene, view_id, pack(_make_payload(scene) | _pack_models(scene))),
        "commands": commands.replace("UNIQUEID", view_id),
    }


def _make_data(scene: Scene, view_id: str, packed: str) -> dict[str, Any]:
    return {
        "id": view_id,
        "served": SERVED_LIBRARY,
        "scripts": f"foldnote/api/static/{SCRIPT_WRITER}?v={find_script_version()}",
        "height": scene.height_px,
        "color": scene.coloring.key if scene.coloring else "chain",
        "style": scene.style,
        "packed": packed,
    }


def _write_view(scene: Scene, view_id: str, script: str) -> str:
    styles = ["scene.css", *(["interfaces.css"] if scene.interfaces else [])]
    stage = (
        f'<div class="fnv-stage" tabindex="0" role="group" aria-label="{escape(write_label(scene))}">'
        f'{_write_picture(scene)}<div class="fnv-canvas" aria-hidden="true"></div>'
        f'<div class="fnv-note" role="status"><strong>No 3D view yet</strong><p>{_NOT_RUN}</p></div></div>'
    )
    return (
        f'<div class="fnv-view" id="{view_id}">{write_style(*styles)}'
        f'<p class="fnv-head">{escape(scene.title)}</p>{stage}{write_legend(scene)}{write_interfaces(scene)}'
        f"{write_notes(scene.notes)}{write_description(scene)}{script}</div>"
    )


def write_json(data: Any) -> str:
    """Encode ``data`` as JSON that is safe inside a script element."""
    return escape_script(json.dumps(data, ensure_ascii=True, separators=(",", ":")))


def escape_script(code: str) -> str:
    """Escape ``<`` and line separators, so that strings in a script cannot end the script element.

    In code written by py3Dmol they occur only inside string literals, where the escapes are equivalent.
    """
    return code.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def write_style(*names: str) -> str:
    """Return a style element with CSS files of this package."""
    return f"<style>{''.join(map(read_asset, names))}</style>"


@cache
def _read_built() -> dict[str, dict[str, str]]:
    """Return the scripts minified by the build, with hashes of their sources; none without a build."""
    asset = files("foldnote").joinpath("static", "viewer-scripts.json")
    try:
        scripts: dict[str, dict[str, str]] = json.loads(asset.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    return scripts


def find_script_version() -> str:
    """Return a hash prefix of the program that writes scripts of views; empty without a build."""
    built = _read_built().get("view_script.js")
    return built["source"][:8] if built else ""


@cache
def _read_program() -> str:
    """Return the drawing program: ``scene.js`` within its surrounding parts, minified as one by the build."""
    assets = files("foldnote.viewers").joinpath("assets")
    part_names = sorted(
        asset.name for asset in assets.iterdir() if re.fullmatch(r"scene_\w+\.js", asset.name)
    )
    parts = [assets.joinpath(name).read_text("utf-8") for name in part_names]
    last = assets.joinpath("scene.js").read_text("utf-8")
    lines = ["(function () {", *parts, "var draw =", f"{last};", "return draw;", "})()", ""]
    return _shorten("program", "\n".join(lines))


def _shorten(name: str, text: str) -> str:
    """Return a script minified by the build, or else without comments and indentation."""
    built = _read_built().get(name)
    if built and built["source"] == hash_bytes(text.encode()):
        return built["code"]
    lines = (re.sub(r"^\s*(//.*)?", "", line) for line in text.splitlines())
    return "\n".join(line for line in lines if line)


@cache
def read_asset(name: str) -> str:
    """Read a CSS or JavaScript file of this package, minified by the build if possible.

    A file that the build did not minify, or that has changed since, is returned without comments and
    indentation; CSS without comments and insignificant white space.
    """
    text = files("foldnote.viewers").joinpath("assets", name).read_text("utf-8")
    if name.endswith(".css"):
        return _CSS_SPACE.sub(r"\1\2", _CSS_COMMENT.sub(r"\1", text)).replace(";}", "}").strip()
    return _shorten(name, text)


def _pack_model(model: SceneModel) -> dict[str, Any]:
    return {
        "name": model.label or model.name,
        "format": model_format(model),
        "pieces": transpose_lines(model.text),
        "molecule": model.is_molecule,
        "other": [] if model.is_reduced else list_other_locations(model.text, model.format),
        "codes": list_insertion_codes(model.text, model.format),
    }


def _pack_models(scene: Scene) -> dict[str, Any]:
    return {"models": [_pack_model(model) for model in scene.models]}


def _pack_step(step: Step, drawings: Sequence[str]) -> dict[str, Any]:
    touched = [select_residues(0, chain, numbers) for chain, numbers in step.contacts]
    return {
        "label": step.label,
        "models": step.models,
        "contacts": touched,
        "lines": _pack_lines(step.lines),
        "hydrophobic": _pack_lines(step.hydrophobic),
        "drawing": drawings.index(step.drawing) if step.drawing else -1,
        "words": step.drawing_words,
        "panel": write_panel(step),
    }


def _pack_lines(lines: Sequence[Line]) -> list[list[Any]]:
    return [[line.start, line.end, line.label, line.color] for line in lines]


def _pack_assemblies(scene: Scene) -> list[Any]:
    """Pack each assembly's label, number of atoms, whether it is too large, and parts; none if moved."""
    if len(scene.models) > 1 or scene.steps:
        return []
    return [
        [
            assembly.label,
            assembly.atoms,
            assembly.is_too_large,
            [[part.chain, part.numbers, part.copies] for part in assembly.parts],
        ]
        for assembly in scene.assemblies
    ]


def _pack_interface(scene: Scene, interface: Interface) -> dict[str, Any]:
    """Return the selections of both sides, their colours, and the bonds between them."""
    model = scene.models[0]
    sides = ((interface.chain, interface.numbers), (interface.other_chain, interface.other_numbers))
    colors = {chain.name: chain.color for chain in model.chains}
    return {
        "label": name_interface(interface),
        "targets": [select_residues(0, chain, numbers) for chain, numbers in sides],
        "colors": [colors.get(chain, palette.TOUCHED) for chain, _ in sides],
        "lines": _pack_lines(interface.hydrogen_bonds),
        "bridges": _pack_lines(interface.salt_bridges),
    }


def name_content(scene: Scene) -> str:
    """Return a key of the structures shown, under which a browser stores the named camera positions."""
    texts = "".join(model.text for model in scene.models)
    return hash_bytes(texts.encode("utf-8", "replace"))[:16]


def _make_payload(scene: Scene) -> dict[str, Any]:
    """Return the content that the page unpacks: the drawing code, run once per page, and the scene."""
    code = _read_program()
    style = read_asset("scene_live.css")
    drawings = list(dict.fromkeys(step.drawing for step in scene.steps if step.drawing))
    return {
        "name": "foldnoteScene" + hash_bytes((code + style).encode())[:8],
        "code": code,
        "style": style,
        "opacity": SURFACE_OPACITY,
        "unknown": palette.UNKNOWN,
        "unknownOpacity": UNKNOWN_OPACITY,
        "touched": palette.TOUCHED,
        "marks": [[mark.model_dump(include=_MARK) for mark in model.highlights] for model in scene.models],
        "bases": list_bases(scene),
        "chain": {
            "paints": list_style_rules(scene, None),
            "surfaces": list_surfaces(scene, None),
            "targets": _list_targets(scene),
        },
        "legends": write_legends(scene),
        "looks": {coloring.key: coloring.model_dump(include=_COLORING) for coloring in scene.colorings},
        "steps": [_pack_step(step, drawings) for step in scene.steps],
        "drawings": drawings,
        "noun": scene.step_noun,
        "hydrophobic": palette.INTERACTIONS["hydrophobic"] if any(s.hydrophobic for s in scene.steps) else "",
        "few": scene.has_few_hydrophobic,
        "stack": scene.is_stack,
        "play": scene.is_played,
        "group": scene.group.capitalize(),
        "toggles": _list_toggles(scene),
        "around": AROUND,
        "labels": list_labels(scene),
        "waters": list_waters(scene),
        "rules": _list_rules(),
        "assemblies": _pack_assemblies(scene),
        "interfaces": [_pack_interface(scene, interface) for interface in scene.interfaces],
        "key": name_content(scene),
        "others": list_others(scene),
    }


def _list_rules() -> dict[str, Any]:
    """List the atoms and limits with which the page finds hydrogen bonds and salt bridges of a residue."""
    return {
        "roles": list_roles(),
        "rings": dict.fromkeys(("HIS", *PROTONATED_HISTIDINES), 1),
        "charges": {" ".join(atom): 1 for atom in POSITIVE} | {" ".join(atom): -1 for atom in NEGATIVE},
        "bond": HYDROGEN_BOND_A,
        "angle": MIN_ANGLE_DEGREES,
        "bridge": SALT_BRIDGE_A,
        "bondColor": palette.BOND,
        "bridgeColor": palette.BRIDGE,
    }


def _list_targets(scene: Scene) -> list[Any]:
    """Return the selections for the entries of the chain legend, in order; None if not selectable."""
    models = list(enumerate(scene.described))
    targets: list[Any] = [select(i, chain.name) for i, model in models for chain in model.chains]
    targets += [None for _, model in models if model.ligands or model.ions]
    if scene.steps and not scene.is_stack:
        targets += [{"model": index} for index in scene.steps[0].models[:1]]
        targets += [{"model": index} for index in scene.steps[0].models[1:2]] if has_flexible(scene) else []
        targets += [None] if any(step.contacts for step in scene.steps) else []
        targets += [None for _ in list_kinds(scene)]
    return targets + [select_highlight(i, mark) for i, model in models for mark in model.highlights]


def _list_toggles(scene: Scene) -> list[tuple[str, str]]:
    """Return (name, colour) of each structure that a reader can hide; empty for one, and for steps."""
    is_overlay = scene.group != "chain" and len(scene.models) > 1 and not scene.steps
    return [(model.label or model.name, model.color) for model in scene.models] if is_overlay else []


def _write_picture(scene: Scene) -> str:
    """Return the HTML of the still image shown until the 3D view is drawn, without alternative text."""
    png = draw_picture(scene)
    if png is None:
        return ""
    return (
        f'<img class="fnv-still" alt="" src="data:image/png;base64,{base64.b64encode(png).decode("ascii")}">'
    )
