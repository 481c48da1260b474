"""Contacts and hydrogen bonds between a small molecule and a structure.

Distances are between the atoms in the files: no hydrogen is added and no atom is moved. Hydrogen bonds follow
Baker and Hubbard, Prog. Biophys. Mol. Biol. 44, 97 (1984), applied to heavy atoms: donor and acceptor are
nitrogen or oxygen, at most 3.5 Å apart; if the file has hydrogens at the donor, one of them has a
donor-hydrogen-acceptor angle of at least 120°. In a covalent complex, atoms of the two sides separated by at
most three bonds are close for that reason and form no hydrogen bond. Side chains that a pose has moved are
taken from the pose.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import gemmi
import numpy as np
import pandas as pd

from foldnote.residue_names import find_parent
from foldnote.results.core.numeric import Floats, find_close_pairs
from foldnote.results.docking.bonding import find_roles, list_neighbours
from foldnote.results.docking.poses import Pose
from foldnote.results.molecules.molecule import Molecule
from foldnote.results.molecules.pdbqt import list_side_chains
from foldnote.results.structure.interfaces.hydrogen_bonds import (
    HYDROGEN_BOND_A,
    MIN_ANGLE_DEGREES,
    Roles,
    find_hydrogens,
    find_residue_roles,
    find_widest_angle,
)
from foldnote.results.structure.structure import Structure
from foldnote.results.structure.walk import list_first_location

_MAIN_CHAIN = frozenset(("N", "CA", "C", "O", "OXT"))
CONTACT_A = 4.0
"""Maximum distance between heavy atoms in contact, Å."""
COVALENT_A = 1.95
"""Longest covalent bond between heavy atoms, Å."""
_COLUMNS = {
    "kind": "str", "chain": "str", "number": "str", "residue": "str", "atom": "str", "ligand_atom": "str",
    "ligand_row": "int64", "distance": "float64", "angle": "float64", "donor": "str",
}  # fmt: skip
_DETAILS = ["x", "y", "z", "ligand_x", "ligand_y", "ligand_z"]


@dataclass(frozen=True, eq=False)
class Pocket:
    """The receptor's heavy atoms, of the first model's polymers and ions, and its waters.

    Attributes:
        points: float64, shape (n, 3), Å.
        owners: chain, residue number, residue name and atom name of each atom.
        elements: element symbol of each atom.
        roles: bool, shape (n, 2): whether each atom can be a hydrogen-bond donor and an acceptor.
        hydrogens: positions of the hydrogens at each heavy atom that has any, by its row; shape (h, 3), Å.
        waters: positions of the oxygens of waters, shape (w, 3), Å.
        water_owners: chain, residue number and residue name of each water.
    """

    points: Floats
    owners: Sequence[tuple[str, str, str, str]]
    elements: Sequence[str]
    roles: Roles
    hydrogens: dict[int, Floats] = field(repr=False)
    waters: Floats = field(repr=False)
    water_owners: Sequence[tuple[str, str, str]] = field(repr=False)


def find_contacts(structure: Structure, molecule: Molecule | Pose) -> pd.DataFrame:
    """Find the hydrogen bonds and contacts between a molecule and a structure.

    Args:
        structure: the receptor; the polymers and ions of its first model are considered, waters and ligands
            are not.
        molecule: a molecule or pose in the receptor's coordinate frame.

    Returns:
        One row per hydrogen bond, then one row per residue within 4 Å for its closest pair of heavy atoms,
        each by ascending distance: ``kind`` str (``hydrogen bond`` or ``contact``), ``chain``, ``number``,
        ``residue`` and ``atom`` str of the receptor, ``ligand_atom`` str and ``ligand_row`` int64 (row of
        :attr:`Molecule.atoms`), ``distance`` float64 between the heavy atoms in Å, ``angle`` float64
        (donor-hydrogen-acceptor in degrees; missing if no hydrogen is known), ``donor`` str (``receptor``,
        ``ligand``, ``either`` or ""), then both positions in Å: ``x``, ``y``, ``z``, ``ligand_x``,
        ``ligand_y``, ``ligand_z`` float64.

    Raises:
        UnreadableFileError: the structure's file is damaged or holds no atoms.
    """
    return measure_contacts(read_pocket(structure), molecule)


def make_contact_table(structure: Structure | None, poses: Sequence[Pose]) -> pd.DataFrame:
    """Tabulate the contacts of several poses.

    Returns:
        One row per hydrogen bond or residue in contact: ``ligand`` str, ``rank`` int64, then the columns of
        :func:`find_contacts`. Empty without poses or structure.

    Raises:
        UnreadableFileError: the structure's file is damaged or holds no atoms.
    """
    contacts: list[tuple[Pose, tuple[object, ...]]] = []
    if structure and poses:
        pocket = read_pocket(structure)
        for pose in poses:
            moved = move_side_chains(pocket, pose.molecule)
            contacts += [(pose, row) for row in list_rows(moved, pose.molecule)]
    table = _make_frame([row for _, row in contacts])
    owners = [pose for pose, _ in contacts]
    table.insert(0, "ligand", pd.Series([pose.ligand for pose in owners], dtype="str"))
    table.insert(1, "rank", pd.Series([pose.rank for pose in owners], dtype="int64"))
    return table


def read_pocket(structure: Structure) -> Pocket:
    """Read the receptor atoms of a structure once, for use with several molecules.

    Raises:
        UnreadableFileError: the structure's file is damaged or holds no atoms.
    """
    points: list[list[float]] = []
    owners: list[tuple[str, str, str, str]] = []
    elements: list[str] = []
    roles: list[tuple[bool, bool]] = []
    hydrogens: dict[int, Floats] = {}
    waters: dict[tuple[str, str, str], list[float]] = {}
    for chain in structure.to_gemmi()[0]:
        waters |= _list_waters(chain)
        for residue in _list_residues(chain):
            owner = (chain.name, str(residue.seqid), residue.name)
            own_atoms = list_first_location(residue)
            heavy = [atom for atom in own_atoms if not atom.is_hydrogen()]
            light = np.array([a.pos.tolist() for a in own_atoms if a.is_hydrogen()]).reshape(-1, 3)
            bonded = [find_hydrogens(light, atom.pos.tolist()) for atom in heavy]
            hydrogens |= {
                row: positions for row, positions in enumerate(bonded, start=len(points)) if len(positions)
            }
            names = [(atom.name, atom.element.name) for atom in heavy]
            roles += find_residue_roles(
                find_parent(residue.name), names, [len(positions) > 0 for positions in bonded]
            )
            points += [atom.pos.tolist() for atom in heavy]
            owners += [(*owner, atom.name) for atom in heavy]
            elements += [atom.element.name for atom in heavy]
    return Pocket(
        np.array(points, dtype=np.float64).reshape(-1, 3),
        owners,
        elements,
        np.array(roles, dtype=np.bool_).reshape(-1, 2),
        hydrogens,
        np.array(list(waters.values()), dtype=np.float64).reshape(-1, 3),
        list(waters),
    )


def move_side_chains(pocket: Pocket, molecule: Molecule) -> Pocket:
    """Return the pocket with the flexible side chains at their positions in a pose."""
    moved = {one.owner[:2]: one for one in list_side_chains(molecule)}
    if not moved:
        return pocket
    kept = [
        row
        for row, (chain, number, _, name) in enumerate(pocket.owners)
        if (chain, number) not in moved or name in _MAIN_CHAIN
    ]
    points = [pocket.points[row] for row in kept]
    owners, roles = [pocket.owners[row] for row in kept], [pocket.roles[row] for row in kept]
    elements = [pocket.elements[row] for row in kept]
    hydrogens = {place: pocket.hydrogens[row] for place, row in enumerate(kept) if row in pocket.hydrogens}
    for one in moved.values():
        light = np.array([place for _, element, place in one.atoms if element == "H"]).reshape(-1, 3)
        heavy = [atom for atom in one.atoms if atom[1] != "H" and atom[0] not in _MAIN_CHAIN]
        bonded = [find_hydrogens(light, place) for _, _, place in heavy]
        hydrogens |= {place: each for place, each in enumerate(bonded, start=len(points)) if len(each)}
        names = [(name, element) for name, element, _ in heavy]
        found = find_residue_roles(find_parent(one.owner[2]), names, [len(each) > 0 for each in bonded])
        roles += [np.array(each) for each in found]
        points += [np.array(place) for _, _, place in heavy]
        owners += [(*one.owner, name) for name, _ in names]
        elements += [element for _, element in names]
    return replace(
        pocket,
        points=np.array(points).reshape(-1, 3),
        owners=owners,
        elements=elements,
        roles=np.array(roles).reshape(-1, 2),
        hydrogens=hydrogens,
    )


def _list_residues(chain: gemmi.Chain) -> list[gemmi.Residue]:
    polymer = list(chain.get_polymer().first_conformer())
    others = [r for r in chain.first_conformer() if r.entity_type == gemmi.EntityType.NonPolymer]
    return polymer + [residue for residue in others if len(list_first_location(residue)) == 1]


def _list_waters(chain: gemmi.Chain) -> dict[tuple[str, str, str], list[float]]:
    """Return the oxygen of each water, in its first location, by chain, number and name."""
    oxygens_by_water: dict[tuple[str, str, str], list[float]] = {}
    for residue in chain:
        if residue.entity_type == gemmi.EntityType.Water:
            oxygens = [atom for atom in list_first_location(residue) if atom.element.name == "O"]
            for atom in oxygens[:1]:
                oxygens_by_water.setdefault((chain.name, str(residue.seqid), residue.name), atom.pos.tolist())
    return oxygens_by_water


def measure_contacts(pocket: Pocket, molecule: Molecule | Pose) -> pd.DataFrame:
    """Find the contacts of a molecule or pose; the result is that of :func:`find_contacts`."""
    own = molecule.molecule if isinstance(molecule, Pose) else molecule
    return _make_frame(list_rows(move_side_chains(pocket, own), own))


@dataclass(frozen=True, eq=False)
class _Ligand:
    """A molecule with the names and positions of its atoms."""

    molecule: Molecule
    names: Sequence[str]
    positions: Floats


def list_rows(pocket: Pocket, molecule: Molecule) -> list[tuple[object, ...]]:
    """Return a molecule's contacts as rows of the table of :func:`find_contacts`, hydrogen bonds first."""
    elements = molecule.elements
    heavy = np.array(
        [row for row, element in enumerate(elements) if element not in ("H", "D")], dtype=np.int64
    )
    if not len(pocket.points) or not len(heavy):
        return []
    own = _Ligand(molecule, find_atom_names(molecule), molecule.coordinates)
    rows, columns, apart = find_close_pairs(pocket.points, own.positions[heavy], CONTACT_A)
    pairs = list(zip(rows.tolist(), heavy[columns].tolist(), apart.tolist(), strict=True))
    return _list_hydrogen_bonds(pocket, own, pairs) + _list_closest(pocket, own, pairs)


def _make_frame(rows: Sequence[tuple[object, ...]]) -> pd.DataFrame:
    frame = pd.DataFrame(list(rows), columns=[*_COLUMNS, *_DETAILS])
    return frame.astype(_COLUMNS | dict.fromkeys(_DETAILS, "float64"))


def _list_hydrogen_bonds(
    pocket: Pocket, own: _Ligand, pairs: Sequence[tuple[int, int, float]]
) -> list[tuple[object, ...]]:
    ours, positions = find_roles(own.molecule), own.positions
    bonded = _find_bonded(pocket, own, pairs)
    bonds = []
    for i, j, distance in sorted(pairs, key=lambda pair: pair[2]):
        if (i, j) in bonded:
            continue
        is_donor = bool(pocket.roles[i, 0] and ours.roles[j, 1])
        is_acceptor = bool(pocket.roles[i, 1] and ours.roles[j, 0])
        if distance > HYDROGEN_BOND_A or not (is_donor or is_acceptor):
            continue
        theirs, mine = pocket.points[i], positions[j]
        angles = {
            "receptor": find_widest_angle(theirs, pocket.hydrogens.get(i), mine) if is_donor else None,
            "ligand": find_widest_angle(mine, ours.hydrogens.get(j), theirs) if is_acceptor else None,
        }
        fitting = {w: a for w, a in angles.items() if a is not None and not a < MIN_ANGLE_DEGREES}
        if fitting:
            measured = {side: angle for side, angle in fitting.items() if np.isfinite(angle)}
            donors = list(measured or fitting)
            donor = donors[0] if len(donors) == 1 else "either"
            angle = max(measured.values(), default=float("nan"))
            bonds.append(_write_row("hydrogen bond", pocket, own, (i, j, distance), angle, donor))
    return bonds


def _find_bonded(
    pocket: Pocket, own: _Ligand, pairs: Sequence[tuple[int, int, float]]
) -> set[tuple[int, int]]:
    """Return the rows of receptor and molecule that at most three covalent bonds separate."""
    elements = own.molecule.elements
    joined = [
        (i, j)
        for i, j, distance in pairs
        if distance <= COVALENT_A
        and not any(gemmi.Element(str(name)).is_metal for name in (pocket.elements[i], elements[j]))
    ]
    neighbours = list_neighbours(own.molecule) if joined else []
    found: set[tuple[int, int]] = set()
    for i, j in joined:
        close = np.flatnonzero(np.linalg.norm(pocket.points - pocket.points[i], axis=1) <= COVALENT_A)
        found |= {(row, column) for row in close.tolist() for column in (j, *neighbours[j])}
    return found


def _list_closest(
    pocket: Pocket, own: _Ligand, pairs: Sequence[tuple[int, int, float]]
) -> list[tuple[object, ...]]:
    by_residue: dict[tuple[str, ...], list[tuple[int, int, float]]] = defaultdict(list)
    for pair in pairs:
        by_residue[pocket.owners[pair[0]][:3]].append(pair)
    nearest = [min(near, key=lambda pair: pair[2]) for near in by_residue.values()]
    missing = float("nan")
    return [
        _write_row("contact", pocket, own, pair, missing, "")
        for pair in sorted(nearest, key=lambda pair: pair[2])
    ]


def _write_row(
    kind: str, pocket: Pocket, own: _Ligand, pair: tuple[int, int, float], angle: float, donor: str
) -> tuple[object, ...]:
    i, j, distance = pair
    positions = (*pocket.points[i].tolist(), *own.positions[j].tolist())
    return (kind, *pocket.owners[i], own.names[j], j, distance, angle, donor, *positions)


def find_atom_names(molecule: Molecule) -> list[str]:
    """Return each atom's name in its file, or its element and 1-based row if the name is not unique."""
    names, elements = molecule.names, molecule.elements
    counts = Counter(names)
    return [
        name if counts[name] == 1 else f"{element}{row}"
        for row, (name, element) in enumerate(zip(names, elements, strict=True), 1)
    ]
