"""RMSD of docked poses from a reference ligand, corrected for symmetry and without superposition.

Heavy atoms are paired by element and connectivity, so the order and the names of the atoms are irrelevant. A
crystal structure gives no bond orders: they are taken from the docked molecule, and where that is possible in
several ways, from the one whose bonds of high order are shortest. Among the pairings that the symmetry of the
molecule allows, RDKit (``rdMolAlign.CalcRMS``) uses the one of lowest RMSD, in which the terminal atoms of
conjugated groups (carboxylate, phosphate, amidinium) are interchangeable. Stereochemistry is not compared.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Any

import numpy as np

from foldnote.errors import ArgumentError, UnreadableFileError
from foldnote.results.core.numeric import Floats
from foldnote.results.docking.bonding import list_neighbours
from foldnote.results.docking.ligands import MAX_LIGAND_ATOMS, list_residue_molecules
from foldnote.results.docking.poses import Pose
from foldnote.results.molecules.molecule import Molecule
from foldnote.results.molecules.molecule_files import read_molecules
from foldnote.results.naming.file_kinds import FileKind, find_kind
from foldnote.results.structure.structure import Structure

RMSD = "rmsd_to_reference"
"""Name of the RMSD among the scores of a pose, Å."""
MAX_PAIRINGS = 100_000
"""A molecule with more symmetric pairings of its atoms is refused."""
_HYDROGENS = ("H", "D")

Reference = Molecule | Pose | Structure | str | os.PathLike[str]


@dataclass(frozen=True, eq=False)
class _Graph:
    """Heavy atoms of a molecule.

    Attributes:
        elements: element of each atom.
        bonds: pairs of atoms with the bond order, 1.5 for aromatic bonds; NaN if unknown.
        charges: formal charge of each atom, 0 if unknown.
        positions: float64, shape (n, 3), Å.
    """

    elements: tuple[str, ...]
    bonds: tuple[tuple[int, int, float], ...]
    charges: tuple[int, ...]
    positions: Floats

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for poses of one molecule from one program."""
        return (self.elements, self.bonds, self.charges)


def measure_reference(
    poses: Sequence[Pose], reference: Reference | Sequence[Molecule], residue: str = ""
) -> tuple[Pose, ...]:
    """Return the poses with their RMSD from a reference ligand among their scores.

    Args:
        poses: docked poses, in the coordinate frame of the reference.
        reference: a molecule, a pose, a structure that contains the ligand, the path of a file of either, or
            several copies of the molecule. Of several copies each pose is compared with the nearest.
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
    fitting: dict[object, list[tuple[str, Any]]] = {}
    for graph in graphs:
        if graph.key not in fitting:
            fitting[graph.key] = _order_atoms(graph, copies)
    if not any(fitting.values()):
        raise ArgumentError(_refuse(poses[0].molecule, copies, reference))
    return tuple(_measure(pose, graph, fitting[graph.key]) for pose, graph in zip(poses, graphs, strict=True))


def _measure(pose: Pose, graph: _Graph, fitting: Sequence[tuple[str, Any]]) -> Pose:
    if not fitting:
        return pose
    from rdkit.Chem import rdMolAlign

    own = _make_molecule(graph)
    found = [
        (float(rdMolAlign.CalcRMS(own, other, maxMatches=MAX_PAIRINGS)), name) for name, other in fitting
    ]
    rmsd, name = min(found, key=lambda pair: pair[0])
    return replace(pose, scores={**pose.scores, RMSD: round(rmsd, 3)}, reference=name)


def _order_atoms(graph: _Graph, copies: Sequence[tuple[str, _Graph]]) -> list[tuple[str, Any]]:
    """The copies that are the molecule of ``graph``, as RDKit molecules with its atoms and bond orders."""
    return [
        (name, _make_molecule(replace(graph, positions=copy.positions[order])))
        for name, copy in copies
        for order in [_pair_atoms(graph, copy)]
        if order is not None
    ]


def _pair_atoms(graph: _Graph, copy: _Graph) -> list[int] | None:
    """The row of ``copy`` for each atom of ``graph``; None if they are different molecules.

    Raises:
        ArgumentError: the molecule is too symmetric.
    """
    if sorted(graph.elements) != sorted(copy.elements) or len(graph.bonds) != len(copy.bonds):
        return None
    plain, other = _make_skeleton(graph), _make_skeleton(copy)
    pairings = np.array(
        other.GetSubstructMatches(plain, uniquify=False, maxMatches=MAX_PAIRINGS), dtype=np.int64
    )
    if len(pairings) >= MAX_PAIRINGS:
        raise ArgumentError(
            f"The atoms of the ligand can be paired in more than {MAX_PAIRINGS:,} symmetric ways, too many"
            " for a symmetry-corrected RMSD."
        )
    if not len(pairings):
        return None
    strain = np.zeros(len(pairings))
    for first, second, order in graph.bonds:
        ends = copy.positions[pairings[:, first]] - copy.positions[pairings[:, second]]
        strain += np.nan_to_num(order, nan=1.0) * np.linalg.norm(ends, axis=1)
    return [int(row) for row in pairings[int(np.argmin(strain))]]


def _read_graph(molecule: Molecule) -> _Graph:
    """The heavy atoms of a molecule, with bonds by distance where the file has none.

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
    place = {row: index for index, row in enumerate(heavy)}
    bonds = list(molecule.bond_rows) or [
        (row, other, float("nan"))
        for row, near in enumerate(list_neighbours(molecule))
        for other in near
        if row < other
    ]
    charges = np.nan_to_num(molecule.charges) if molecule.format == "sdf" else np.zeros(len(elements))
    return _Graph(
        tuple(elements[row] for row in heavy),
        tuple((place[a], place[b], order) for a, b, order in bonds if a in place and b in place),
        tuple(int(charges[row]) for row in heavy),
        molecule.coordinates[heavy],
    )


def _make_skeleton(graph: _Graph) -> Any:
    """An RDKit molecule of the elements and connections alone."""
    bonds = tuple((first, second, 1.0) for first, second, _ in graph.bonds)
    return _write_atoms(replace(graph, bonds=bonds, charges=(0,) * len(graph.elements)))


def _make_molecule(graph: _Graph) -> Any:
    """An RDKit molecule with one conformer, and with aromatic bonds whichever way the file writes them."""
    from rdkit import Chem, rdBase

    molecule = _write_atoms(graph)
    if not any(bond.GetIsAromatic() for bond in molecule.GetBonds()):
        with rdBase.BlockLogs():
            molecule.UpdatePropertyCache(strict=False)
            Chem.SetAromaticity(molecule)
    conformer: Any = Chem.Conformer(len(graph.elements))
    for row, position in enumerate(graph.positions.tolist()):
        conformer.SetAtomPosition(row, position)
    molecule.AddConformer(conformer)
    return molecule


def _write_atoms(graph: _Graph) -> Any:
    from rdkit import Chem

    kinds = {2.0: Chem.BondType.DOUBLE, 3.0: Chem.BondType.TRIPLE, 1.5: Chem.BondType.AROMATIC}
    molecule: Any = Chem.RWMol()
    for element, charge in zip(graph.elements, graph.charges, strict=True):
        atom: Any = Chem.Atom(0 if element == "X" else element)
        atom.SetFormalCharge(charge)
        molecule.AddAtom(atom)
    for first, second, order in graph.bonds:
        molecule.AddBond(first, second, kinds.get(order, Chem.BondType.SINGLE))
        if order == 1.5:
            molecule.GetBondBetweenAtoms(first, second).SetIsAromatic(True)
            for row in (first, second):
                molecule.GetAtomWithIdx(row).SetIsAromatic(True)
    Chem.FastFindRings(molecule)
    molecule.UpdatePropertyCache(strict=False)
    return molecule


def _list_copies(reference: Reference | Sequence[Molecule], residue: str) -> list[tuple[str, _Graph]]:
    """Name and heavy atoms of each copy of the reference; of a structure, of all residues but waters."""
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
    return [(one.name or one.file or "reference", _read_graph(one)) for one in molecules]


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


def _refuse(
    docked: Molecule,
    copies: Sequence[tuple[str, _Graph]],
    reference: Reference | Sequence[Molecule],
) -> str:
    own = f"the docked molecule ({docked.heavy_atoms} heavy atoms)"
    if len(copies) == 1:
        name, graph = copies[0]
        return (
            f"{name} ({len(graph.elements)} heavy atoms) is another molecule than {own}: give a reference"
            " with the same elements and connections."
        )
    where = PurePath(reference).name if isinstance(reference, str | os.PathLike) else "The reference"
    return f"{where} does not contain {own}: give a file with the same elements and connections."
