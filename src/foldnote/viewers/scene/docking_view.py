"""Scenes of a receptor with docked poses, shown one at a time with a diagram of their interactions.

Interactions are those of :func:`foldnote.results.find_interactions`, contacts those of
:func:`foldnote.results.find_contacts`.
"""

from __future__ import annotations

from collections.abc import Sequence

import gemmi
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from foldnote.results import Pose, Structure, find_metric
from foldnote.results.docking.contacts import CONTACT_A, measure_contacts, read_pocket
from foldnote.results.docking.interactions import KINDS, Interaction, detect_interactions
from foldnote.results.docking.poses import FLEXIBLE
from foldnote.results.docking.reference import RMSD
from foldnote.results.molecules.pdbqt import list_side_chains
from foldnote.results.structure.interfaces.chain_interfaces import SALT_BRIDGE_A
from foldnote.results.structure.interfaces.hydrogen_bonds import HYDROGEN_BOND_A, MIN_ANGLE_DEGREES
from foldnote.text import count, format_figure
from foldnote.viewers.scene import palette
from foldnote.viewers.scene.compose import compose
from foldnote.viewers.scene.description import Facts
from foldnote.viewers.scene.drawings.interactions import (
    Sketch,
    describe,
    name_owner,
    sketch_all,
    write_sketch,
)
from foldnote.viewers.scene.model import Line, Scene, SceneModel, Step
from foldnote.viewers.scene.molecule_view import (
    label_figures,
    make_molecule_model,
    name_molecule,
    write_size,
)

MAX_POSES = 50
_SAME_PLACE_A = 0.5
_MAX_SCORES = 4
CRITERION = (
    f"Hydrogen bonds: nitrogen or oxygen, donor and acceptor at most {HYDROGEN_BOND_A} Å apart, and at least "
    f"{MIN_ANGLE_DEGREES:.0f}° at the hydrogen where the files give it (Baker and Hubbard 1984). Ionic: at "
    f"most {SALT_BRIDGE_A} Å (Barlow and Thornton 1983). Others: limits of PLIP (Salentin et al. 2015)"
)
TERMS = {
    "covalent": "Covalent or clash", "metal": "Metal", "ionic": "Ionic", "hydrogen bond": "Hydrogen bonds",
    "water bridge": "Water bridges", "halogen bond": "Halogen bonds", "pi stacking": "π stacking",
    "cation-pi": "Cation–π", "hydrophobic": "Hydrophobic",
}  # fmt: skip
"""Kinds of interactions as headings and in legends."""

Points = NDArray[np.float64]


def compose_poses(
    structure: Structure, poses: Sequence[Pose], *, title: str = "", height_px: int = 440
) -> Scene:
    """Return a scene of a receptor that shows its poses one at a time, with the residues in contact.

    Args:
        structure: the receptor.
        poses: docked poses, best first; only the first 50 are used.
        title: heading; defaults to the receptor's name.
        height_px: height of the picture in pixels.

    Raises:
        UnreadableFileError: the receptor's file is damaged or holds no atoms.
    """
    scene = compose(structure, title=title, height_px=height_px, with_interfaces=False)
    taken = list(poses[:MAX_POSES])
    pocket = read_pocket(structure)
    contacts = [measure_contacts(pocket, pose) for pose in taken]
    found = [detect_interactions(pocket, pose) for pose in taken]
    sketches = sketch_all([pose.molecule for pose in taken], found)
    receptor = scene.models[0].model_copy(update={"ligands": _drop_poses(structure, scene.models[0], taken)})
    names = [
        pose.ligand or pose.molecule.name or f"Pose {place}" for place, pose in enumerate(taken, start=1)
    ]
    ligands = [
        make_molecule_model(pose.molecule, i, name)
        for i, (pose, name) in enumerate(zip(taken, names, strict=True))
    ]
    moved = [_make_side_chains(pose, name) for pose, name in zip(taken, names, strict=True)]
    chains = [model for model in moved if model is not None]
    steps = [
        _make_step(pose, place, near, own).model_copy(update=_draw(sketch, own))
        for place, (pose, near, own, sketch) in enumerate(zip(taken, contacts, found, sketches, strict=True))
    ]
    steps = [
        step.model_copy(update={"models": (*step.models, 1 + len(ligands) + chains.index(model))})
        if model
        else step
        for step, model in zip(steps, moved, strict=True)
    ]
    left = len(poses) - len(taken)
    more = [f"The result has {count(left, 'more pose')}."] if left else []
    return scene.model_copy(
        update={
            "models": (receptor, *ligands, *chains),
            "steps": tuple(steps),
            "facts": (*scene.facts, *_describe_poses(taken, contacts, found), ("Criterion", CRITERION)),
            "notes": (*scene.notes, *more, *_note_sketches(sketches)),
            "color": "chain",
        }
    )


def _make_side_chains(pose: Pose, name: str) -> SceneModel | None:
    """Return the flexible side chains of a pose as a separate model; None without any."""
    found = list_side_chains(pose.molecule)
    if not found:
        return None
    return SceneModel(
        name=f"side-chains-{pose.rank}.pdbqt",
        label=f"flexible side chains of {name}",
        format="pdbqt",
        text="".join(one.text for one in found),
        color=palette.FLEXIBLE,
    )


def _make_step(pose: Pose, place: int, near: pd.DataFrame, found: Sequence[Interaction]) -> Step:
    touched: dict[str, list[str]] = {}
    flexible = {one.owner[:2] for one in list_side_chains(pose.molecule)}  # drawn as in the pose
    for chain, number in near[["chain", "number"]].drop_duplicates().itertuples(index=False):
        if (chain, number) in flexible:
            continue
        touched.setdefault(str(chain), []).append(str(number))
    return Step(
        label=_name_pose(pose),
        models=(place + 1,),
        contacts=tuple((chain, tuple(numbers)) for chain, numbers in touched.items()),
        lines=tuple(line for one in found if one.kind != "hydrophobic" for line in _make_lines(one)),
        hydrophobic=tuple(line for one in found if one.kind == "hydrophobic" for line in _make_lines(one)),
        facts=_describe_step(pose, near, found),
    )


def _draw(made: Sketch | None, found: Sequence[Interaction]) -> dict[str, str]:
    """Return the diagram of a step, and its text alternative."""
    if made is None:
        return {}
    words = f"Interaction diagram. {describe(found, made.layout.omitted)}"
    return {"drawing": write_sketch(made, has_dark=True), "drawing_words": words}


def _note_sketches(sketches: Sequence[Sketch | None]) -> list[str]:
    if not any(sketches):
        return ["No interaction diagram: RDKit cannot draw this molecule in 2D."]
    if not all(made is None or made.skeleton.has_orders for made in sketches):
        return ["The file has no bond orders; the diagram shows all bonds as single."]
    return []


def _make_lines(one: Interaction) -> list[Line]:
    """Return one line, or the two that meet at the water of a bridge."""
    middle = [one.water.place] if one.water else []
    places = [[round(float(part), 3) for part in place] for place in (one.place, *middle, one.ligand_place)]
    lengths = [one.distance, *([one.water.ligand_distance] if one.water else [])]
    look = {"kind": one.kind, "color": palette.INTERACTIONS[one.kind]}
    return [
        Line.model_validate({"start": start, "end": end, "label": _write_length(one, length), **look})
        for start, end, length in zip(places[:-1], places[1:], lengths, strict=True)
    ]


def _write_length(one: Interaction, length: float) -> str:
    """Return the label of a line; hydrophobic contacts have none, since there are many."""
    return "" if one.kind == "hydrophobic" else f"{length:.1f} Å"


def _describe_step(pose: Pose, near: pd.DataFrame, found: Sequence[Interaction]) -> Facts:
    """Return the scores, interactions by kind and the residues in contact, nearest first."""
    name = pose.molecule.name or pose.ligand or name_molecule(pose.molecule)
    facts = [("Molecule", f"{name}, {write_size(pose.molecule)}")]
    if FLEXIBLE in pose.molecule.properties:
        facts.append(("Flexible side chains", str(pose.molecule.properties[FLEXIBLE])))
    labels = label_figures(list(pose.scores))
    scores = [(key, value) for key, value in pose.scores.items() if key != RMSD][:_MAX_SCORES]
    facts += [(labels[key], _write_score(key, value)[1]) for key, value in scores]
    if RMSD in pose.scores:
        told = f" from {pose.reference}" if pose.reference else ""
        facts.append((labels[RMSD], f"{_write_score(RMSD, pose.scores[RMSD])[1]}{told}"))
    for kind in KINDS:
        own = [one for one in found if one.kind == kind]
        if kind == "hydrogen bond":
            lines = "\n".join(map(_write_bond, own))
            facts.append((f"{TERMS[kind]} ({len(own)})", lines or "none by this criterion"))
        elif own:
            separator = ", " if kind == "hydrophobic" else "\n"
            facts.append((f"{TERMS[kind]} ({len(own)})", separator.join(map(_write_other, own))))
    contacts = near[near["kind"] == "contact"]
    texts = (
        f"{one.residue} {one.chain} {one.number} ({one.distance:.1f})"
        for one in contacts.itertuples(index=False)
    )
    facts.append((f"Within {CONTACT_A:.0f} Å ({len(contacts)})", ", ".join(texts) or "no residue"))
    return (*facts, ("Criterion", CRITERION))


def _write_bond(bond: Interaction) -> str:
    """Describe a bond: ``MET A 318 N → N5, 2.9 Å, 153°``; the arrow points from donor to acceptor."""
    arrow = {"receptor": "→", "ligand": "←"}.get(bond.donor, "↔")
    angle = f", {bond.angle:.0f}°" if np.isfinite(bond.angle) else ""
    return f"{name_owner(bond)} {bond.atom} {arrow} {bond.ligand_atom}, {bond.distance:.1f} Å{angle}"


def _write_other(one: Interaction) -> str:
    """Describe another interaction: ``TYR A 253, 4.9 Å, 12°``; names single atoms only."""
    if one.kind == "hydrophobic":
        return f"{name_owner(one)} ({one.distance:.1f})"
    if one.water:
        ends = f"{name_owner(one)} {one.atom} – {one.water} – {one.ligand_atom}"
        return f"{ends}, {one.distance:.1f} and {one.water.ligand_distance:.1f} Å, {one.angle:.0f}°"
    angle = f", {one.angle:.0f}°" if np.isfinite(one.angle) else ""
    atoms = f" {one.atom} – {one.ligand_atom}" if len(one.ligand_rows) == 1 and " " not in one.atom else ""
    return f"{name_owner(one)}{atoms}, {one.distance:.1f} Å{angle}"


def _name_pose(pose: Pose) -> str:
    name = pose.ligand or f"pose {pose.rank}"
    return " · ".join([name, *(" ".join(_write_score(*pair)) for pair in list(pose.scores.items())[:1])])


def _write_score(key: str, value: float) -> tuple[str, str]:
    metric = find_metric(key)
    unit = f" {metric.unit}" if metric and metric.unit else ""
    return (metric.label if metric else key, f"{format_figure(value)}{unit}")


def _describe_poses(
    poses: Sequence[Pose], contacts: Sequence[pd.DataFrame], found: Sequence[Sequence[Interaction]]
) -> Facts:
    facts = []
    for place, (pose, touched, own) in enumerate(zip(poses, contacts, found, strict=True), start=1):
        bonds = "; ".join(_write_bond(one) for one in own if one.kind == "hydrogen bond")
        near = touched[touched["kind"] == "contact"].groupby("chain", sort=False)["number"].agg(" ".join)
        where = ", ".join(f"{chain} {numbers}" for chain, numbers in near.items()) or "no residue"
        bonded = f"; hydrogen bonds {bonds}" if bonds else ""
        facts.append((f"Pose {place}", f"{_name_pose(pose)}; within {CONTACT_A:.0f} Å of {where}{bonded}"))
    return tuple(facts)


def _drop_poses(structure: Structure, model: SceneModel, poses: Sequence[Pose]) -> tuple[str, ...]:
    """Return the receptor's ligands except those that coincide with a pose, as in a complex."""
    atoms = [pose.molecule.atoms for pose in poses]
    heavy = [frame.loc[frame["element"] != "H", ["x", "y", "z"]].to_numpy(np.float64) for frame in atoms]
    centres = [own.mean(axis=0) for own in heavy if len(own)]
    same = {
        name
        for name, centre in _list_ligands(structure)
        if any(np.linalg.norm(centre - other) < _SAME_PLACE_A for other in centres)
    }
    return tuple(name for name in model.ligands if name not in same)


def _list_ligands(structure: Structure) -> list[tuple[str, Points]]:
    found: list[tuple[str, Points]] = []
    for chain in structure.to_gemmi()[0]:
        for residue in chain:
            heavy = [atom.pos.tolist() for atom in residue if not atom.is_hydrogen()]
            if heavy and residue.entity_type != gemmi.EntityType.Polymer:
                found.append((residue.name, np.mean(heavy, axis=0)))
    return found
