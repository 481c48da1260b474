"""RMSD of docked poses from a reference ligand, corrected for symmetry and without superposition.

Heavy atoms are paired by element and connectivity, so the order and the names of the atoms are irrelevant. A
crystal structure has no bond orders: they are taken from the docked molecule; if this is possible in several
ways, the assignment with the shortest bonds of high order is used. Of the pairings that the symmetry of the
molecule allows (:mod:`foldnote.results.docking.atom_pairing`), the one with the lowest RMSD is used.
Stereochemistry is not compared.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import NamedTuple

import numpy as np

from foldnote.errors import ArgumentError, UnreadableFileError
from foldnote.results.core.numeric import Floats
from foldnote.results.docking.atom_pairing import (
    HeavyGraph,
    Pairings,
    list_symmetries,
    measure_least_rmsd,
    pair_atoms,
)
from foldnote.results.docking.bonding import list_neighbours
from foldnote.results.docking.ligands import MAX_LIGAND_ATOMS, list_residue_molecules
from foldnote.results.docking.poses import Pose
from foldnote.results.molecules.molecule import Molecule
from foldnote.results.molecules.molecule_files import read_molecules
from foldnote.results.naming.file_kinds import FileKind, find_kind
from foldnote.results.structure.structure import Structure

RMSD = "rmsd_to_reference"
"""Name of the RMSD among the scores of a pose, Å."""
_HYDROGENS = ("H", "D")

Reference = Molecule | Pose | Structure | str | os.PathLike[str]


class _Fitting(NamedTuple):
    """The copies of the reference that are one docked molecule.

    Attributes:
        copies: name of each, and its positions in the order of the docked molecule's atoms, shape (n, 3), Å.
        symmetries: those of the molecule; None without copies.
    """

    copies: list[tuple[str, Floats]]
    symmetries: Pairings | None


def measure_reference(
    poses: Sequence[Pose], reference: Reference | Sequence[Molecule], residue: str = ""
) -> tuple[Pose, ...]:
    """Return the poses with their RMSD from a reference ligand among their scores.

    Args:
        poses: docked poses, in the coordinate frame of the reference.
        reference: a molecule, a pose, a structure that contains the ligand, the path of a file of either, or
            several copies of the molecule. With several copies, each pose is compared with the nearest.
        residue: the ligand in a structure, as chain and number (``A:163``); by default every copy.

    Returns:
        The poses of the same molecule with ``rmsd_to_reference`` in Å in :attr:`Pose.scores` and
        :attr:`Pose.reference`; poses of another molecule are returned unchanged.

    Raises:
        ArgumentError: there are no poses, none is of the reference's molecule, or the molecule is too large
            or too symmetric.
        UnreadableFileError: the file is damaged or holds no atoms.
    """
    if not poses:
        raise ArgumentError("The result has no docked poses to compare with a reference.")
    copies = _list_copies(reference, residue)
    graphs = [_read_graph(pose.molecule) for pose in poses]
    fitting: dict[object, _Fitting] = {}
    for graph in graphs:
        if graph.key not in fitting:
            fitting[graph.key] = _find_fitting(graph, copies)
    if not any(each.copies for each in fitting.values()):
        raise ArgumentError(_explain_mismatch(poses[0].molecule, copies, reference))
    return tuple(
        _measure(pose, graph.positions, fitting[graph.key]) for pose, graph in zip(poses, graphs, strict=True)
    )


def _measure(pose: Pose, points: Floats, fitting: _Fitting) -> Pose:
    if fitting.symmetries is None:
        return pose
    symmetries = fitting.symmetries
    measured = [(measure_least_rmsd(symmetries, points, others), name) for name, others in fitting.copies]
    rmsd, name = min(measured, key=lambda pair: pair[0])
    return replace(pose, scores={**pose.scores, RMSD: round(rmsd, 3)}, reference=name)


def _find_fitting(graph: HeavyGraph, copies: Sequence[tuple[str, HeavyGraph]]) -> _Fitting:
    fitting_copies = [
        (name, copy.positions[order])
        for name, copy in copies
        for order in [pair_atoms(graph, copy)]
        if order is not None
    ]
    return _Fitting(fitting_copies, list_symmetries(graph) if fitting_copies else None)


def _read_graph(molecule: Molecule) -> HeavyGraph:
    """Return the heavy atoms of a molecule, with bonds by distance where the file has none.

    Raises:
        ArgumentError: the molecule is too large.
    """
    elements = molecule.elements
    heavy = [row for row, element in enumerate(elements) if element not in _HYDROGENS]
    if len(heavy) > MAX_LIGAND_ATOMS:
        raise ArgumentError(
            f"A ligand of {len(heavy)} heavy atoms is too large to compare; at most {MAX_LIGAND_ATOMS} are"
            " taken."
        )
    indices = {row: index for index, row in enumerate(heavy)}
    bonds = list(molecule.bond_rows) or [
        (row, other, float("nan"))
        for row, near in enumerate(list_neighbours(molecule))
        for other in near
        if row < other
    ]
    charges = np.nan_to_num(molecule.charges) if molecule.format == "sdf" else np.zeros(len(elements))
    return HeavyGraph(
        tuple(elements[row] for row in heavy),
        tuple((indices[a], indices[b], order) for a, b, order in bonds if a in indices and b in indices),
        tuple(int(charges[row]) for row in heavy),
        molecule.coordinates[heavy],
    )


def _list_copies(reference: Reference | Sequence[Molecule], residue: str) -> list[tuple[str, HeavyGraph]]:
    """Return name and heavy atoms of each copy of the reference; for structures, of all but waters."""
    if isinstance(reference, str | os.PathLike):
        reference = _open(Path(reference))
    if isinstance(reference, Structure):
        molecules = list_residue_molecules(reference, residue)
    elif residue:
        raise ArgumentError(f"residue={residue!r} is for a reference that is a structure, not a molecule.")
    elif isinstance(reference, Pose):
        molecules = [replace(reference.molecule, name=_name_pose(reference))]
    else:
        molecules = [reference] if isinstance(reference, Molecule) else list(reference)
    return [(molecule.name or molecule.file or "reference", _read_graph(molecule)) for molecule in molecules]


def _name_pose(pose: Pose) -> str:
    return f"pose {pose.rank} of {pose.ligand or pose.file}"


def _open(path: Path) -> Structure | Sequence[Molecule]:
    if find_kind(path.name) is not FileKind.MOLECULE:
        return Structure.open(path)
    try:
        data = path.read_bytes()
    except OSError as exc:
        raise UnreadableFileError(f"{path.name} cannot be read: {exc.strerror}.") from exc
    return read_molecules(data, path.name).molecules


def _explain_mismatch(
    docked: Molecule,
    copies: Sequence[tuple[str, HeavyGraph]],
    reference: Reference | Sequence[Molecule],
) -> str:
    own = f"the docked molecule ({docked.heavy_atoms} heavy atoms)"
    if len(copies) == 1:
        name, graph = copies[0]
        return (
            f"{name} ({len(graph.elements)} heavy atoms) is another molecule than {own}: give a reference"
            " with the same elements and connections."
        )
    subject = PurePath(reference).name if isinstance(reference, str | os.PathLike) else "The reference"
    return f"{subject} does not contain {own}: give a file with the same elements and connections."
