"""Which atoms of a small molecule or a residue give hydrogen bonds, and which take them.

Neighbours are those of the file's bonds or, where a format has none, atoms within the sum of their covalent
radii. An atom gives where the file writes a hydrogen at it, or, where the file writes none at all, where its
bonds leave room for one. Oxygen takes unless it is positively charged; nitrogen takes where it has at most
two neighbours and no room for a hydrogen that the file leaves out, or three that do not lie in a plane with
it (an amine, not an amide).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations

import gemmi
import numpy as np
from numpy.typing import NDArray

from foldnote.results.core.numeric import Floats
from foldnote.results.molecules.molecule import Molecule

Roles = NDArray[np.bool_]

_SLACK_A = 0.4
_PLANAR_DEGREES = 350.0
_VALENCE = {"N": 3, "O": 2}
_MOST_MEASURED = 2_000
"""Atoms of molecules without bonds beyond which neighbours are not looked for."""
_BACKBONE_PROTEIN = {"N": (True, False), "O": (False, True), "OXT": (False, True)}
_BACKBONE_NUCLEIC = dict.fromkeys(["OP1", "OP2", "OP3", "O3'", "O5'", "O4'"], (False, True)) | {
    "O2'": (True, True)
}
_GIVES, _TAKES, _BOTH = (True, False), (False, True), (True, True)
_PROTEIN: dict[str, dict[str, tuple[bool, bool]]] = {
    "ALA": {}, "CYS": {}, "GLY": {}, "ILE": {}, "LEU": {}, "MET": {}, "PHE": {}, "VAL": {}, "MSE": {},
    "PRO": {"N": (False, False)},
    "ARG": {"NE": _GIVES, "NH1": _GIVES, "NH2": _GIVES},
    "ASN": {"OD1": _TAKES, "ND2": _GIVES}, "GLN": {"OE1": _TAKES, "NE2": _GIVES},
    "ASP": {"OD1": _TAKES, "OD2": _TAKES}, "GLU": {"OE1": _TAKES, "OE2": _TAKES},
    "HIS": {"ND1": _BOTH, "NE2": _BOTH}, "LYS": {"NZ": _GIVES}, "TRP": {"NE1": _GIVES},
    "SER": {"OG": _BOTH}, "THR": {"OG1": _BOTH}, "TYR": {"OH": _BOTH},
}  # fmt: skip
_ADENINE = {"N1": _TAKES, "N3": _TAKES, "N6": _GIVES, "N7": _TAKES, "N9": (False, False)}
_GUANINE = {
    "N1": _GIVES, "N2": _GIVES, "N3": _TAKES, "N7": _TAKES, "O6": _TAKES, "N9": (False, False)
}  # fmt: skip
_CYTOSINE = {"N1": (False, False), "N3": _TAKES, "N4": _GIVES, "O2": _TAKES}
_URACIL = {"N1": (False, False), "N3": _GIVES, "O2": _TAKES, "O4": _TAKES}
_NUCLEIC = {
    "A": _ADENINE, "DA": _ADENINE, "G": _GUANINE, "DG": _GUANINE, "C": _CYTOSINE, "DC": _CYTOSINE,
    "U": _URACIL, "DT": _URACIL,
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class PolarAtoms:
    """What a molecule's atoms can do.

    Attributes:
        roles: shape (n, 2), bool: gives, takes; in the order of :attr:`Molecule.atoms`.
        hydrogens: by the row of a heavy atom, the places of its hydrogens in Å, shape (h, 3).
    """

    roles: Roles
    hydrogens: dict[int, Floats] = field(repr=False)


def find_roles(molecule: Molecule) -> PolarAtoms:
    """Who gives and who takes in a molecule."""
    elements = molecule.elements
    charges = molecule.charges if molecule.format == "sdf" else None
    places = molecule.coordinates
    neighbours = list_neighbours(molecule)
    orders = _sum_orders(molecule)
    has_hydrogens = "H" in elements
    roles = np.zeros((len(elements), 2), dtype=np.bool_)
    hydrogens: dict[int, Floats] = {}
    for row, element in enumerate(elements):
        if element not in _VALENCE:
            continue
        charge = 0.0 if charges is None else float(np.nan_to_num(charges[row]))
        light = [other for other in neighbours[row] if elements[other] == "H"]
        if light:
            hydrogens[row] = places[light]
        order = orders[row]
        is_open = not np.isfinite(order) or order + 0.1 < _VALENCE[element] + charge
        gives = bool(light) or (not has_hydrogens and is_open)
        takes = charge <= 0 and (
            element == "O" or _has_lone_pair(row, neighbours, places, gives and not light)
        )
        roles[row] = (gives, takes)
    return PolarAtoms(roles, hydrogens)


def list_neighbours(molecule: Molecule) -> list[list[int]]:
    """Rows of the neighbours of each atom, by the file's bonds or else by distance."""
    found: list[list[int]] = [[] for _ in molecule.elements]
    for first, second, _ in molecule.bond_rows:
        found[first].append(second)
        found[second].append(first)
    if molecule.bond_rows or len(found) > _MOST_MEASURED:
        return found
    places = molecule.coordinates
    radii = np.array([gemmi.Element(str(each)).covalent_r for each in molecule.elements])
    for row, place in enumerate(places):
        distances = np.linalg.norm(places - place, axis=1)
        near = np.flatnonzero((distances > 0.1) & (distances < radii + radii[row] + _SLACK_A))
        found[row] = [int(other) for other in near]
    return found


def _sum_orders(molecule: Molecule) -> Floats:
    """The sum of each atom's bond orders; NaN where the file has no bonds or an order is not known."""
    count = len(molecule.elements)
    if not molecule.bond_rows:
        return np.full(count, np.nan)
    totals = np.zeros(count)
    orders = [order for _, _, order in molecule.bond_rows]
    np.add.at(totals, [first for first, _, _ in molecule.bond_rows], orders)
    np.add.at(totals, [second for _, second, _ in molecule.bond_rows], orders)
    return totals


def _has_lone_pair(row: int, neighbours: list[list[int]], places: Floats, has_unseen_hydrogen: bool) -> bool:
    """Whether a nitrogen has a lone pair to offer."""
    own = neighbours[row]
    if len(own) <= 2:
        return not has_unseen_hydrogen
    if len(own) > 3:
        return False
    rays = places[own] - places[row]
    rays /= np.maximum(np.linalg.norm(rays, axis=1), 1e-9)[:, None]
    angles = [np.degrees(np.arccos(np.clip(a @ b, -1, 1))) for a, b in combinations(rays, 2)]
    return bool(sum(angles) < _PLANAR_DEGREES)


def find_residue_role(residue: str, atom: str, element: str) -> tuple[bool, bool]:
    """Whether an atom of a residue can give, and can take, a hydrogen bond.

    Protonation is that of pH 7 with both nitrogens of histidine able to do either, as a structure without
    hydrogens leaves open. Atoms of residues that are not in the table may do both where they are nitrogen or
    oxygen.
    """
    if element not in ("N", "O"):
        return (False, False)
    if residue in _PROTEIN:
        return (_BACKBONE_PROTEIN | _PROTEIN[residue]).get(atom, _BOTH)
    if residue in _NUCLEIC:
        return (_BACKBONE_NUCLEIC | _NUCLEIC[residue]).get(atom, _BOTH)
    return _BOTH
