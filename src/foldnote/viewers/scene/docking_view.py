"""Scenes of a receptor with docked poses, shown one at a time with their contacts and 2D drawing.

Contacts and hydrogen bonds are those of :func:`foldnote.results.find_contacts`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gemmi
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from foldnote.results import Pose, Structure, find_metric
from foldnote.results.docking.contacts import CONTACT_A, measure_contacts, read_pocket
from foldnote.results.structure.interfaces.hydrogen_bonds import HYDROGEN_BOND_A, MIN_ANGLE_DEGREES
from foldnote.text import count, format_figure
from foldnote.viewers.scene.compose import compose
from foldnote.viewers.scene.description import Facts
from foldnote.viewers.scene.drawing import draw_molecules
from foldnote.viewers.scene.model import Line, Scene, SceneModel, Step
from foldnote.viewers.scene.molecule_view import (
    label_figures,
    make_molecule_model,
    name_molecule,
    note_drawings,
    write_size,
)

MAX_POSES = 50
CONTACTS_TITLE = f"Contacts of the poses: hydrogen bonds, and residues within {CONTACT_A:.0f} Å"
_SAME_PLACE_A = 0.5
_MAX_SCORES = 4
CRITERION = (
    f"Hydrogen bonds: nitrogen or oxygen, donor and acceptor at most {HYDROGEN_BOND_A} Å apart, and at least "
    f"{MIN_ANGLE_DEGREES:.0f}° at the hydrogen where the files give it (Baker and Hubbard 1984)"
)

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
    drawings = draw_molecules([pose.molecule for pose in taken])
    receptor = scene.models[0].model_copy(update={"ligands": _drop_poses(structure, scene.models[0], taken)})
    names = [
        pose.ligand or pose.molecule.name or f"Pose {place}" for place, pose in enumerate(taken, start=1)
    ]
    ligands = [
        make_molecule_model(pose.molecule, i, name)
        for i, (pose, name) in enumerate(zip(taken, names, strict=True))
    ]
    steps = [
        _make_step(pose, place, found, drawing)
        for place, (pose, found, drawing) in enumerate(zip(taken, contacts, drawings, strict=True))
    ]
    left = len(poses) - len(taken)
    more = [f"The result has {count(left, 'more pose')}."] if left else []
    return scene.model_copy(
        update={
            "models": (receptor, *ligands),
            "steps": tuple(steps),
            "facts": (*scene.facts, *_describe_poses(taken, contacts), ("Criterion", CRITERION)),
            "notes": (*scene.notes, *more, *note_drawings([pose.molecule for pose in taken], drawings)),
            "color": "chain",
        }
    )


def _make_step(pose: Pose, place: int, contacts: pd.DataFrame, drawing: str) -> Step:
    touched: dict[str, list[str]] = {}
    for chain, number in contacts[["chain", "number"]].drop_duplicates().itertuples(index=False):
        touched.setdefault(str(chain), []).append(str(number))
    return Step(
        label=_name_pose(pose),
        models=(place + 1,),
        contacts=tuple((chain, tuple(numbers)) for chain, numbers in touched.items()),
        lines=tuple(_make_line(bond) for bond in _list_bonds(contacts)),
        drawing=drawing,
        facts=_describe_step(pose, contacts),
    )


def _list_bonds(contacts: pd.DataFrame) -> list[Any]:
    return list(contacts[contacts["kind"] == "hydrogen bond"].itertuples(index=False))


def _make_line(bond: Any) -> Line:
    start, end = (bond.x, bond.y, bond.z), (bond.ligand_x, bond.ligand_y, bond.ligand_z)
    places = [[round(float(part), 3) for part in place] for place in (start, end)]
    return Line.model_validate({"start": places[0], "end": places[1], "label": f"{bond.distance:.1f} Å"})


def _describe_step(pose: Pose, contacts: pd.DataFrame) -> Facts:
    """Scores, hydrogen bonds (one per line) and the other residues in contact, nearest first."""
    name = pose.molecule.name or pose.ligand or name_molecule(pose.molecule)
    facts = [("Molecule", f"{name}, {write_size(pose.molecule)}")]
    labels = label_figures(list(pose.scores))
    scores = list(pose.scores.items())[:_MAX_SCORES]
    facts += [(labels[key], _write_score(key, value)[1]) for key, value in scores]
    bonds = _list_bonds(contacts)
    lines = "\n".join(_write_bond(bond) for bond in bonds)
    facts.append((f"Hydrogen bonds ({len(bonds)})", lines or "none by this criterion"))
    near = contacts[contacts["kind"] == "contact"]
    texts = (
        f"{one.residue} {one.chain} {one.number} ({one.distance:.1f})" for one in near.itertuples(index=False)
    )
    facts.append((f"Within {CONTACT_A:.0f} Å ({len(near)})", ", ".join(texts) or "no residue"))
    return (*facts, ("Criterion", CRITERION))


def _write_bond(bond: Any) -> str:
    """``MET A 318 N → N5, 2.9 Å, 153°``; the arrow points from donor to acceptor."""
    arrow = {"receptor": "→", "ligand": "←"}.get(bond.donor, "↔")
    angle = f", {bond.angle:.0f}°" if np.isfinite(bond.angle) else ""
    where = f"{bond.residue} {bond.chain} {bond.number} {bond.atom}"
    return f"{where} {arrow} {bond.ligand_atom}, {bond.distance:.1f} Å{angle}"


def _name_pose(pose: Pose) -> str:
    name = pose.ligand or f"pose {pose.rank}"
    return " · ".join([name, *(" ".join(_write_score(*pair)) for pair in list(pose.scores.items())[:1])])


def _write_score(key: str, value: float) -> tuple[str, str]:
    metric = find_metric(key)
    unit = f" {metric.unit}" if metric and metric.unit else ""
    return (metric.label if metric else key, f"{format_figure(value)}{unit}")


def _describe_poses(poses: Sequence[Pose], contacts: Sequence[pd.DataFrame]) -> Facts:
    facts = []
    for place, (pose, found) in enumerate(zip(poses, contacts, strict=True), start=1):
        bonds = "; ".join(_write_bond(bond) for bond in _list_bonds(found))
        near = found[found["kind"] == "contact"].groupby("chain", sort=False)["number"].agg(" ".join)
        where = ", ".join(f"{chain} {numbers}" for chain, numbers in near.items()) or "no residue"
        bonded = f"; hydrogen bonds {bonds}" if bonds else ""
        facts.append((f"Pose {place}", f"{_name_pose(pose)}; within {CONTACT_A:.0f} Å of {where}{bonded}"))
    return tuple(facts)


def _drop_poses(structure: Structure, model: SceneModel, poses: Sequence[Pose]) -> tuple[str, ...]:
    """The receptor's ligands except those that coincide with a pose, as in the file of a complex."""
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
