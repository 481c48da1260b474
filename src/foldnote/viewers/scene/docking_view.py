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
    drawn_poses = list(poses[:MAX_POSES])
    pocket = read_pocket(structure)
    contacts = [measure_contacts(pocket, pose) for pose in drawn_poses]
    interactions = [detect_interactions(pocket, pose) for pose in drawn_poses]
    sketches = sketch_all([pose.molecule for pose in drawn_poses], interactions)
    receptor = scene.models[0].model_copy(
        update={"ligands": _drop_poses(structure, scene.models[0], drawn_poses)}
    )
    names = [
        pose.ligand or pose.molecule.name or f"Pose {number}"
        for number, pose in enumerate(drawn_poses, start=1)
    ]
    ligands = [
        make_molecule_model(pose.molecule, i, name)
        for i, (pose, name) in enumerate(zip(drawn_poses, names, strict=True))
    ]
    side_chains = [_make_side_chains(pose, name) for pose, name in zip(drawn_poses, names, strict=True)]
    chains = [model for model in side_chains if model is not None]
    steps: list[Step] = []
    for index, (pose, side_chain_model) in enumerate(zip(drawn_poses, side_chains, strict=True)):
        step = _make_step(pose, index, contacts[index], interactions[index])
        diagram = _write_diagram(sketches[index], interactions[index])
        further_models = [1 + len(ligands) + chains.index(side_chain_model)] if side_chain_model else []
        steps.append(step.model_copy(update={**diagram, "models": (*step.models, *further_models)}))
    omitted = len(poses) - len(drawn_poses)
    omission = [f"The result has {count(omitted, 'more pose')}."] if omitted else []
    return scene.model_copy(
        update={
            "models": (receptor, *ligands, *chains),
            "steps": tuple(steps),
            "facts": (
                *scene.facts,
                *_describe_poses(drawn_poses, contacts, interactions),
                ("Criterion", CRITERION),
            ),
            "notes": (*scene.notes, *omission, *_note_sketches(sketches)),
            "color": "chain",
        }
    )


def _make_side_chains(pose: Pose, name: str) -> SceneModel | None:
    """Return the flexible side chains of a pose as a separate model; None without any."""
    side_chains = list_side_chains(pose.molecule)
    if not side_chains:
        return None
    return SceneModel(
        name=f"side-chains-{pose.rank}.pdbqt",
        label=f"flexible side chains of {name}",
        format="pdbqt",
        text="".join(side_chain.text for side_chain in side_chains),
        color=palette.FLEXIBLE,
    )


def _make_step(
    pose: Pose, position: int, contacts: pd.DataFrame, interactions: Sequence[Interaction]
) -> Step:
    residues: dict[str, list[str]] = {}
    flexible = {item.owner[:2] for item in list_side_chains(pose.molecule)}  # drawn as in the pose
    for chain, number in contacts[["chain", "number"]].drop_duplicates().itertuples(index=False):
        if (chain, number) in flexible:
            continue
        residues.setdefault(str(chain), []).append(str(number))
    return Step(
        label=_name_pose(pose),
        models=(position + 1,),
        contacts=tuple((chain, tuple(numbers)) for chain, numbers in residues.items()),
        lines=tuple(
            line for item in interactions if item.kind != "hydrophobic" for line in _make_lines(item)
        ),
        hydrophobic=tuple(
            line for item in interactions if item.kind == "hydrophobic" for line in _make_lines(item)
        ),
        facts=_describe_step(pose, contacts, interactions),
    )


def _write_diagram(diagram: Sketch | None, interactions: Sequence[Interaction]) -> dict[str, str]:
    """Return the diagram of a step, and its text alternative."""
    if diagram is None:
        return {}
    description = f"Interaction diagram. {describe(interactions, diagram.layout.omitted)}"
    return {"drawing": write_sketch(diagram, has_dark=True), "drawing_words": description}


def _note_sketches(sketches: Sequence[Sketch | None]) -> list[str]:
    if not any(sketches):
        return ["No interaction diagram: RDKit cannot draw this molecule in 2D."]
    if not all(diagram is None or diagram.skeleton.has_orders for diagram in sketches):
        return ["The file has no bond orders; the diagram shows all bonds as single."]
    return []


def _make_lines(interaction: Interaction) -> list[Line]:
    """Return one line, or the two that meet at the water of a bridge."""
    middle = [interaction.water.place] if interaction.water else []
    positions = [
        [round(float(part), 3) for part in position]
        for position in (interaction.place, *middle, interaction.ligand_place)
    ]
    lengths = [interaction.distance, *([interaction.water.ligand_distance] if interaction.water else [])]
    appearance = {"kind": interaction.kind, "color": palette.INTERACTIONS[interaction.kind]}
    return [
        Line.model_validate(
            {"start": start, "end": end, "label": _write_length(interaction, length), **appearance}
        )
        for start, end, length in zip(positions[:-1], positions[1:], lengths, strict=True)
    ]


def _write_length(interaction: Interaction, length: float) -> str:
    """Return the label of a line; hydrophobic contacts have none, since there are many."""
    return "" if interaction.kind == "hydrophobic" else f"{length:.1f} Å"


def _describe_step(pose: Pose, contacts: pd.DataFrame, interactions: Sequence[Interaction]) -> Facts:
    """Return the scores, interactions by kind and the residues in contact, nearest first."""
    name = pose.molecule.name or pose.ligand or name_molecule(pose.molecule)
    facts = [("Molecule", f"{name}, {write_size(pose.molecule)}")]
    if FLEXIBLE in pose.molecule.properties:
        facts.append(("Flexible side chains", str(pose.molecule.properties[FLEXIBLE])))
    labels = label_figures(list(pose.scores))
    scores = [(key, value) for key, value in pose.scores.items() if key != RMSD][:_MAX_SCORES]
    facts += [(labels[key], _write_score(key, value)[1]) for key, value in scores]
    if RMSD in pose.scores:
        source = f" from {pose.reference}" if pose.reference else ""
        facts.append((labels[RMSD], f"{_write_score(RMSD, pose.scores[RMSD])[1]}{source}"))
    for kind in KINDS:
        of_kind = [row for row in interactions if row.kind == kind]
        if kind == "hydrogen bond":
            lines = "\n".join(map(_write_bond, of_kind))
            facts.append((f"{TERMS[kind]} ({len(of_kind)})", lines or "none by this criterion"))
        elif of_kind:
            separator = ", " if kind == "hydrophobic" else "\n"
            facts.append((f"{TERMS[kind]} ({len(of_kind)})", separator.join(map(_write_other, of_kind))))
    close = contacts[contacts["kind"] == "contact"]
    texts = (
        f"{row.residue} {row.chain} {row.number} ({row.distance:.1f})"
        for row in close.itertuples(index=False)
    )
    facts.append((f"Within {CONTACT_A:.0f} Å ({len(close)})", ", ".join(texts) or "no residue"))
    return (*facts, ("Criterion", CRITERION))


def _write_bond(bond: Interaction) -> str:
    """Describe a bond: ``MET A 318 N → N5, 2.9 Å, 153°``; the arrow points from donor to acceptor."""
    arrow = {"receptor": "→", "ligand": "←"}.get(bond.donor, "↔")
    angle = f", {bond.angle:.0f}°" if np.isfinite(bond.angle) else ""
    return f"{name_owner(bond)} {bond.atom} {arrow} {bond.ligand_atom}, {bond.distance:.1f} Å{angle}"


def _write_other(interaction: Interaction) -> str:
    """Describe another interaction: ``TYR A 253, 4.9 Å, 12°``; names single atoms only."""
    if interaction.kind == "hydrophobic":
        return f"{name_owner(interaction)} ({interaction.distance:.1f})"
    if interaction.water:
        ends = (
            f"{name_owner(interaction)} {interaction.atom} – {interaction.water} – {interaction.ligand_atom}"
        )
        lengths = f"{interaction.distance:.1f} and {interaction.water.ligand_distance:.1f} Å"
        return f"{ends}, {lengths}, {interaction.angle:.0f}°"
    angle = f", {interaction.angle:.0f}°" if np.isfinite(interaction.angle) else ""
    atoms = (
        f" {interaction.atom} – {interaction.ligand_atom}"
        if len(interaction.ligand_rows) == 1 and " " not in interaction.atom
        else ""
    )
    return f"{name_owner(interaction)}{atoms}, {interaction.distance:.1f} Å{angle}"


def _name_pose(pose: Pose) -> str:
    name = pose.ligand or f"pose {pose.rank}"
    return " · ".join([name, *(" ".join(_write_score(*pair)) for pair in list(pose.scores.items())[:1])])


def _write_score(key: str, value: float) -> tuple[str, str]:
    metric = find_metric(key)
    unit = f" {metric.unit}" if metric and metric.unit else ""
    return (metric.label if metric else key, f"{format_figure(value)}{unit}")


def _describe_poses(
    poses: Sequence[Pose], contacts: Sequence[pd.DataFrame], interactions: Sequence[Sequence[Interaction]]
) -> Facts:
    facts = []
    for number, (pose, pose_contacts, pose_interactions) in enumerate(
        zip(poses, contacts, interactions, strict=True), start=1
    ):
        bonds = "; ".join(
            _write_bond(interaction)
            for interaction in pose_interactions
            if interaction.kind == "hydrogen bond"
        )
        close = (
            pose_contacts[pose_contacts["kind"] == "contact"]
            .groupby("chain", sort=False)["number"]
            .agg(" ".join)
        )
        residues = ", ".join(f"{chain} {numbers}" for chain, numbers in close.items()) or "no residue"
        bonded = f"; hydrogen bonds {bonds}" if bonds else ""
        facts.append(
            (f"Pose {number}", f"{_name_pose(pose)}; within {CONTACT_A:.0f} Å of {residues}{bonded}")
        )
    return tuple(facts)


def _drop_poses(structure: Structure, model: SceneModel, poses: Sequence[Pose]) -> tuple[str, ...]:
    """Return the receptor's ligands except those that coincide with a pose, as in a complex."""
    atoms = [pose.molecule.atoms for pose in poses]
    heavy = [frame.loc[frame["element"] != "H", ["x", "y", "z"]].to_numpy(np.float64) for frame in atoms]
    centres = [positions.mean(axis=0) for positions in heavy if len(positions)]
    coinciding = {
        name
        for name, centre in _list_ligands(structure)
        if any(np.linalg.norm(centre - pose_centre) < _SAME_PLACE_A for pose_centre in centres)
    }
    return tuple(name for name in model.ligands if name not in coinciding)


def _list_ligands(structure: Structure) -> list[tuple[str, Points]]:
    ligands: list[tuple[str, Points]] = []
    for chain in structure.to_gemmi()[0]:
        for residue in chain:
            heavy = [atom.pos.tolist() for atom in residue if not atom.is_hydrogen()]
            if heavy and residue.entity_type != gemmi.EntityType.Polymer:
                ligands.append((residue.name, np.mean(heavy, axis=0)))
    return ligands
