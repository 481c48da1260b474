"""Assign hydrogen-bond donors and acceptors among the atoms of small molecules and residues.

Neighbours are taken from the file's bonds or, in formats without bonds, from interatomic distances: at most
the sum of the covalent radii plus a tolerance. An atom is a donor if the file has a hydrogen at it or, in
files without hydrogens, if its bonds leave a valence for one. Oxygen is an acceptor unless positively
charged. Nitrogen is an acceptor if it has at most two neighbours and no implicit hydrogen, or three
neighbours that are not coplanar with it (an amine, not an amide). Structure files have neither bonds nor
hydrogens. For them, double and triple bonds are recognised by their lengths (Allen et al., J. Chem. Soc.
Perkin Trans. 2, S1 (1987)), a nitrogen with two neighbours in a flat ring can be either, and a pyramidal
nitrogen with three neighbours is also a donor if all three are carbons: a tertiary amine, but not a
sulfonamide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations

import gemmi
import numpy as np

from foldnote.results.core.numeric import Floats
from foldnote.results.docking.rings import find_rings
from foldnote.results.molecules.molecule import Molecule
from foldnote.results.structure.interfaces.hydrogen_bonds import Roles

_TOLERANCE_A = 0.4
_MAX_PYRAMIDAL_DEGREES = 350.0
_VALENCE = {"N": 3, "O": 2}
_DOUBLE_CO_A, _DOUBLE_CN_A, _TRIPLE_CN_A, _SINGLE_CN_A = 1.29, 1.31, 1.22, 1.42
"""Longest double and triple bonds, and the shortest bond of carbon and nitrogen of an aliphatic amine, Å."""
_MAX_ATOMS = 2_000
"""Maximum number of atoms of a molecule without bonds whose neighbours are searched for."""


@dataclass(frozen=True, eq=False)
class PolarAtoms:
    """Donors and acceptors of a molecule.

    Attributes:
        roles: bool, shape (n, 2), in the order of :attr:`Molecule.atoms`; the columns are donor and acceptor.
        hydrogens: positions of the hydrogens at each donor, by its row; float64, shape (h, 3), Å.
    """

    roles: Roles
    hydrogens: dict[int, Floats] = field(repr=False)


def find_roles(molecule: Molecule) -> PolarAtoms:
    """Find the hydrogen-bond donors and acceptors of a molecule."""
    elements = ["H" if element == "D" else element for element in molecule.elements]
    neighbours = list_neighbours(molecule)
    has_hydrogens = "H" in elements
    if not molecule.bond_rows and not has_hydrogens:
        return PolarAtoms(_guess_roles(elements, neighbours, molecule.coordinates), {})
    charges = molecule.charges if molecule.format == "sdf" else None
    positions = molecule.coordinates
    orders = _sum_orders(molecule)
    roles = np.zeros((len(elements), 2), dtype=np.bool_)
    hydrogens: dict[int, Floats] = {}
    for row, element in enumerate(elements):
        if element not in _VALENCE:
            continue
        charge = 0.0 if charges is None else float(np.nan_to_num(charges[row]))
        attached = [other for other in neighbours[row] if elements[other] == "H"]
        if attached:
            hydrogens[row] = positions[attached]
        order = orders[row]
        is_open = not np.isfinite(order) or order + 0.1 < _VALENCE[element] + charge
        is_donor = bool(attached) or (not has_hydrogens and is_open)
        is_acceptor = charge <= 0 and (
            element == "O" or _has_lone_pair(row, neighbours, positions, is_donor and not attached)
        )
        roles[row] = (is_donor, is_acceptor)
    return PolarAtoms(roles, hydrogens)


def _guess_roles(elements: Sequence[str], neighbours: Sequence[Sequence[int]], positions: Floats) -> Roles:
    """Assign the roles by bond lengths, for molecules with heavy atoms only."""
    rings = find_rings(elements, neighbours, positions, [len(near) for near in neighbours])
    in_rings = frozenset(atom for ring in rings for atom in ring.atoms)
    roles = np.zeros((len(elements), 2), dtype=np.bool_)
    for row, element in enumerate(elements):
        if element in _VALENCE:
            near = list(neighbours[row])
            lengths = np.linalg.norm(positions[near] - positions[row], axis=1)
            kinds = [elements[other] for other in near]
            if element == "O":
                roles[row] = (_is_hydroxyl(kinds, lengths), True)
            elif len(near) > 2:
                accepts = _has_lone_pair(row, neighbours, positions, has_implicit_hydrogen=False)
                roles[row] = (accepts and set(kinds) == {"C"}, accepts)
            else:
                roles[row] = _guess_nitrogen(lengths, is_in_ring=row in in_rings)
    return roles


def _is_hydroxyl(kinds: Sequence[str], lengths: Floats) -> bool:
    """Return whether an oxygen can have a hydrogen: not in carbonyl, ether, phosphate, sulfate and nitro."""
    return len(kinds) < 2 and not set(kinds) & {"P", "S", "N"} and bool((lengths > _DOUBLE_CO_A).all())


def _guess_nitrogen(lengths: Floats, *, is_in_ring: bool) -> tuple[bool, bool]:
    """Return the donor and acceptor roles of a nitrogen with at most two neighbours."""
    shortest = float(lengths.min(initial=np.inf))
    if is_in_ring or shortest > _SINGLE_CN_A:
        return (True, True)
    if len(lengths) == 1:
        return (shortest > _TRIPLE_CN_A, shortest <= _DOUBLE_CN_A)
    return (shortest > _DOUBLE_CN_A, shortest <= _DOUBLE_CN_A)


def list_neighbours(molecule: Molecule) -> list[list[int]]:
    """List the rows of each atom's neighbours, from the file's bonds or else by distance."""
    neighbours: list[list[int]] = [[] for _ in molecule.elements]
    for first, second, _ in molecule.bond_rows:
        neighbours[first].append(second)
        neighbours[second].append(first)
    if molecule.bond_rows or len(neighbours) > _MAX_ATOMS:
        return neighbours
    positions = molecule.coordinates
    radii = np.array([gemmi.Element(str(element)).covalent_r for element in molecule.elements])
    for row, position in enumerate(positions):
        distances = np.linalg.norm(positions - position, axis=1)
        close = np.flatnonzero((distances > 0.1) & (distances < radii + radii[row] + _TOLERANCE_A))
        neighbours[row] = [int(partner) for partner in close]
    return neighbours


def _sum_orders(molecule: Molecule) -> Floats:
    """Sum each atom's bond orders, shape (n,); NaN if the file has no bonds or an order is unknown."""
    count = len(molecule.elements)
    if not molecule.bond_rows:
        return np.full(count, np.nan)
    totals = np.zeros(count)
    orders = [order for _, _, order in molecule.bond_rows]
    np.add.at(totals, [first for first, _, _ in molecule.bond_rows], orders)
    np.add.at(totals, [second for _, second, _ in molecule.bond_rows], orders)
    return totals


def _has_lone_pair(
    row: int, neighbours: Sequence[Sequence[int]], positions: Floats, has_implicit_hydrogen: bool
) -> bool:
    """Return whether a nitrogen has a lone pair that can accept a hydrogen bond."""
    own = list(neighbours[row])
    if len(own) <= 2:
        return not has_implicit_hydrogen
    if len(own) > 3:
        return False
    rays = positions[own] - positions[row]
    rays /= np.maximum(np.linalg.norm(rays, axis=1), 1e-9)[:, None]
    angles = [np.degrees(np.arccos(np.clip(a @ b, -1, 1))) for a, b in combinations(rays, 2)]
    return bool(sum(angles) < _MAX_PYRAMIDAL_DEGREES)
