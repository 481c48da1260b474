"""Scenes of several structures: laid over each other, side by side, and a receptor with its poses.

Fits are those of :func:`foldnote.results.superpose`. A contact is a residue with an atom, hydrogens left out,
within 4 Å of an atom of the pose.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gemmi
import numpy as np
from numpy.typing import NDArray

from foldnote.errors import BadRequestError
from foldnote.results import Model, Pose, Result, Structure, Superposition, find_metric, superpose
from foldnote.viewers import palette
from foldnote.viewers.compose import compose
from foldnote.viewers.describe import Facts, count
from foldnote.viewers.scene import Scene, SceneModel, Step

CONTACT_A = 4.0
_SAME_PLACE_A = 0.5
_MOST_POSES = 50

Item = Structure | Model | Result | str | Path
Points = NDArray[np.float64]


def overlay(items: Sequence[Item], *, title: str = "", height_px: int = 440) -> Scene:
    """Structures laid over the first one, each in a colour of its own, with RMSD and TM-score.

    Args:
        items: structures, models, results (their first structure) or paths of files; at least two.
        title: heading.
        height_px: height of the picture.

    Raises:
        BadRequestError: there are fewer than two.
        UnreadableFileError: one cannot be read.
        FoldnoteError: one has no chain in common with the first.
    """
    structures = [find_structure(item) for item in items]
    if len(structures) < 2:
        raise BadRequestError("Give at least two structures to lay over each other.")
    first, *others = structures
    fits = [superpose(first, other) for other in others]
    moved = [first, *(_move(fit, other) for fit, other in zip(fits, others, strict=True))]
    scenes = [compose(structure) for structure in moved]
    said = ["held in place", *(_describe_fit(fit) for fit in fits)]
    names = [_name_item(item, structure) for item, structure in zip(items, structures, strict=True)]
    models = tuple(
        _tint(scene.models[0], place, name, words)
        for place, (scene, name, words) in enumerate(zip(scenes, names, said, strict=True))
    )
    facts = [(m.label, f"{m.name}, {_count_residues(m)}; {w}") for m, w in zip(models, said, strict=True)]
    return Scene(
        models=models,
        title=title or f"{count(len(models), 'structure')} laid over {first.name}",
        facts=tuple(facts),
        rotation=scenes[0].rotation,
        height_px=height_px,
    )


def compose_poses(
    structure: Structure, poses: Sequence[Pose], *, title: str = "", height_px: int = 440
) -> Scene:
    """A receptor with poses that are seen in turn, each with the residues that it touches.

    Args:
        structure: the receptor.
        poses: what was docked, best first; the best 50 are taken.
        title: heading; the receptor's name when none is given.
        height_px: height of the picture.

    Raises:
        UnreadableFileError: the receptor's file is damaged or holds no atoms.
    """
    scene = compose(structure, title=title, height_px=height_px)
    taken = list(poses[:_MOST_POSES])
    atoms = _list_atoms(structure)
    receptor = scene.models[0].model_copy(update={"ligands": _drop_poses(structure, scene.models[0], taken)})
    models = [receptor, *(_make_molecule(pose, place) for place, pose in enumerate(taken))]
    steps = [_make_step(pose, place, atoms) for place, pose in enumerate(taken)]
    left = len(poses) - len(taken)
    notes = (*scene.notes, f"{count(left, 'pose')} more are in the result.") if left else scene.notes
    return scene.model_copy(
        update={
            "models": tuple(models),
            "steps": tuple(steps),
            "facts": (*scene.facts, *_describe_poses(taken, steps)),
            "notes": notes,
            "color": "chain",
        }
    )


def find_structure(item: Item) -> Structure:
    """The structure that is meant.

    Raises:
        BadRequestError: a result holds none, or the thing is none.
        UnreadableFileError: there is no such file.
    """
    if isinstance(item, Structure):
        return item
    if isinstance(item, Model):
        return item.structure
    if isinstance(item, Result):
        if item.structure is None:
            raise BadRequestError(f"{item.name} holds no structure that can be read.")
        return item.structure
    if isinstance(item, str | Path):
        return Structure.open(item)
    raise BadRequestError(
        f"A {type(item).__name__} is no structure. Give a structure, a model, a result or a path."
    )


def _move(fit: Superposition, structure: Structure) -> Structure:
    moved = fit.move_structure(structure)
    moved.setup_entities()
    return Structure(structure.name, "mmcif", moved.make_mmcif_document().as_string())


def _name_item(item: Item, structure: Structure) -> str:
    return f"Rank {item.rank}" if isinstance(item, Model) else structure.name


def _tint(model: SceneModel, place: int, name: str, words: str) -> SceneModel:
    """The model in one colour; its first chain's line in the legend says how it fits."""
    color = palette.chain_color(place)
    chains = tuple(
        chain.model_copy(
            update={"color": color, "label": f"{name} · {chain.label}" + ("" if i else f" · {words}")}
        )
        for i, chain in enumerate(model.chains)
    )
    return model.model_copy(update={"label": name, "chains": chains, "highlights": ()})


def _count_residues(model: SceneModel) -> str:
    return count(sum(chain.length for chain in model.chains), "residue")


def _describe_fit(fit: Superposition) -> str:
    score = "" if fit.tm_score is None else f", TM-score {fit.tm_score:.3f}"
    return f"RMSD {fit.rmsd:.2f} Å over {count(fit.aligned, 'pair')}{score}, {fit.identity:.0%} identical"


def _list_atoms(structure: Structure) -> tuple[Points, list[tuple[str, str, str]]]:
    """Heavy atoms of the polymers, shape (n, 3) in Å, and the residue of each."""
    points, owners = [], []
    for chain in structure.to_gemmi()[0]:
        for residue in chain.get_polymer().first_conformer():
            for atom in residue:
                if not atom.is_hydrogen():
                    points.append(atom.pos.tolist())
                    owners.append((chain.name, str(residue.seqid), residue.name))
    return np.array(points, dtype=np.float64).reshape(-1, 3), owners


def _read_heavy(pose: Pose) -> Points:
    atoms = pose.molecule.atoms
    return atoms.loc[atoms["element"] != "H", ["x", "y", "z"]].to_numpy(np.float64)


def _make_molecule(pose: Pose, place: int) -> SceneModel:
    form = pose.molecule.format if pose.molecule.format in ("sdf", "mol2", "pdbqt") else "sdf"
    return SceneModel.model_validate(
        {
            "name": f"pose-{place + 1}.{form}",
            "label": pose.ligand or pose.molecule.name or f"Pose {place + 1}",
            "format": form,
            "text": pose.molecule.text,
            "color": palette.MOLECULE,
        }
    )


def _make_step(pose: Pose, place: int, atoms: tuple[Points, list[tuple[str, str, str]]]) -> Step:
    touched: dict[str, list[str]] = {}
    for chain, number, _ in _find_contacts(pose, atoms):
        touched.setdefault(chain, []).append(number)
    contacts = tuple((chain, tuple(numbers)) for chain, numbers in touched.items())
    return Step(label=_name_pose(pose), models=(place + 1,), contacts=contacts)


def _find_contacts(
    pose: Pose, atoms: tuple[Points, list[tuple[str, str, str]]]
) -> list[tuple[str, str, str]]:
    points, owners = atoms
    own = _read_heavy(pose)
    if len(points) == 0 or len(own) == 0:
        return []
    near = np.full(len(points), np.inf)
    for atom in own:
        near = np.minimum(near, ((points - atom) ** 2).sum(axis=1))
    return list(dict.fromkeys(owners[i] for i in np.flatnonzero(near <= CONTACT_A**2)))


def _name_pose(pose: Pose) -> str:
    name = pose.ligand or f"pose {pose.rank}"
    return " · ".join([name, *(_name_score(key, value) for key, value in list(pose.scores.items())[:1])])


def _name_score(key: str, value: float) -> str:
    metric = find_metric(key)
    return (
        f"{metric.label if metric else key} {value:.4g}{f' {metric.unit}' if metric and metric.unit else ''}"
    )


def _describe_poses(poses: Sequence[Pose], steps: Sequence[Step]) -> Facts:
    facts = []
    for place, (pose, step) in enumerate(zip(poses, steps, strict=True), start=1):
        near = ", ".join(f"{chain} {' '.join(numbers)}" for chain, numbers in step.contacts)
        facts.append(
            (f"Pose {place}", f"{_name_pose(pose)}; within {CONTACT_A:.0f} Å of {near or 'no residue'}")
        )
    return tuple(facts)


def _drop_poses(structure: Structure, model: SceneModel, poses: Sequence[Pose]) -> tuple[str, ...]:
    """The receptor's ligands without those that are the poses themselves, as in the file of a complex."""
    centres = [_read_heavy(pose).mean(axis=0) for pose in poses if len(_read_heavy(pose))]
    same = {name for name, centre in _list_ligands(structure) if any(_is_near(centre, c) for c in centres)}
    return tuple(name for name in model.ligands if name not in same)


def _list_ligands(structure: Structure) -> list[tuple[str, Points]]:
    found: list[tuple[str, Any]] = []
    for chain in structure.to_gemmi()[0]:
        for residue in chain:
            heavy = [atom.pos.tolist() for atom in residue if not atom.is_hydrogen()]
            if heavy and residue.entity_type != gemmi.EntityType.Polymer:
                found.append((residue.name, np.mean(heavy, axis=0)))
    return found


def _is_near(a: Points, b: Points) -> bool:
    return bool(np.linalg.norm(a - b) < _SAME_PLACE_A)
