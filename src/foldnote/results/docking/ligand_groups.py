"""Groups of a small molecule that interact: rings, charged groups, metals, halogens and hydrophobic carbons.

They are found from elements, connections and coordinates, so that a ligand of a PDB file, which has no bond
orders, is treated like one of an SDF. Regardless of the drawn protonation, the groups charged at pH 7 count
as charged: carboxylates, phosphates, sulfonates and sulfates; guanidinium and amidinium groups, aliphatic
amines and quaternary nitrogen; and every nitrogen or oxygen with a formal charge in the file. Rings are those
of five or six atoms that lie in one plane. Carbons whose heavy neighbours are carbons are hydrophobic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import gemmi
import numpy as np

from foldnote.results.core.numeric import Floats
from foldnote.results.docking.bonding import list_neighbours
from foldnote.results.docking.rings import Ring, find_rings
from foldnote.results.molecules.molecule import Molecule

_LONG_CN_A = 1.42
"""Minimum length of the bonds of an aliphatic amine's nitrogen, Å, for files without bond orders."""
_HALOGENS = ("Cl", "Br", "I")


@dataclass(frozen=True, eq=False)
class LigandGroups:
    """The interacting groups of a molecule; atoms are rows of :attr:`Molecule.atoms`.

    Attributes:
        positive: charged atoms of each positive group.
        negative: charged atoms of each negative group.
        hydrophobic: hydrophobic carbons.
        halogens: (halogen, its carbon) of each chlorine, bromine and iodine on a carbon.
        metals: metal ions.
        rings: flat rings.
        binders: nitrogen, oxygen and sulfur, which can bind a metal ion.
    """

    positive: tuple[tuple[int, ...], ...]
    negative: tuple[tuple[int, ...], ...]
    hydrophobic: tuple[int, ...]
    halogens: tuple[tuple[int, int], ...]
    metals: tuple[int, ...]
    rings: tuple[Ring, ...]
    binders: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class _Skeleton:
    """Heavy atoms and their connections."""

    elements: Sequence[str]
    heavy: Sequence[Sequence[int]] = field(repr=False)
    """Heavy neighbours of each atom."""
    totals: Sequence[int] = field(repr=False)
    """Neighbours of each atom, hydrogens included."""
    multiple: frozenset[int]
    """Atoms with a double, triple or aromatic bond; empty if the file has no bond orders."""
    has_orders: bool
    positions: Floats


def find_groups(molecule: Molecule) -> LigandGroups:
    """Find the interacting groups of a molecule."""
    skeleton = _read_skeleton(molecule)
    elements = skeleton.elements
    rings = find_rings(elements, skeleton.heavy, skeleton.positions, skeleton.totals)
    in_rings = frozenset(atom for ring in rings for atom in ring.atoms)
    positive, negative = _find_charges(skeleton, in_rings)
    charges = molecule.charges if molecule.format == "sdf" else np.zeros(len(elements))
    for row in np.flatnonzero(np.nan_to_num(charges)).tolist():
        groups = positive if charges[row] > 0 else negative
        is_balanced = any(charges[other] * charges[row] < 0 for other in skeleton.heavy[row])  # a nitro group
        if elements[row] in ("N", "O") and not is_balanced and not any(row in group for group in groups):
            groups.append((row,))
    return LigandGroups(
        positive=tuple(positive),
        negative=tuple(negative),
        hydrophobic=tuple(
            row
            for row, element in enumerate(elements)
            if element == "C" and all(elements[other] == "C" for other in skeleton.heavy[row])
        ),
        halogens=tuple(
            (row, other)
            for row, element in enumerate(elements)
            for other in skeleton.heavy[row]
            if element in _HALOGENS and elements[other] == "C"
        ),
        metals=tuple(row for row, element in enumerate(elements) if gemmi.Element(element).is_metal),
        rings=rings,
        binders=tuple(row for row, element in enumerate(elements) if element in ("N", "O", "S")),
    )


def _read_skeleton(molecule: Molecule) -> _Skeleton:
    elements = molecule.elements
    neighbours = list_neighbours(molecule)
    orders = [order for _, _, order in molecule.bond_rows]
    has_orders = bool(orders) and all(np.isfinite(orders))
    return _Skeleton(
        elements,
        [[other for other in near if elements[other] not in ("H", "D")] for near in neighbours],
        [len(near) for near in neighbours],
        frozenset(end for *ends, order in molecule.bond_rows if order > 1.1 for end in ends),
        has_orders,
        molecule.coordinates,
    )


def _find_charges(
    skeleton: _Skeleton, in_rings: frozenset[int]
) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
    """Return the charged atoms of positive and of negative groups."""
    elements, heavy = skeleton.elements, skeleton.heavy
    positive: list[tuple[int, ...]] = []
    negative: list[tuple[int, ...]] = []
    for row, element in enumerate(elements):
        near = heavy[row]
        oxygens = tuple(other for other in near if elements[other] == "O" and len(heavy[other]) == 1)
        nitrogens = tuple(other for other in near if elements[other] == "N")
        ends = [other for other in nitrogens if len(heavy[other]) == 1]
        carbons = [other for other in near if elements[other] == "C"]
        if element == "C" and len(near) == 3 and row not in in_rings:
            if len(oxygens) == 2 and carbons:
                negative.append(oxygens)
            elif len(nitrogens) == 3 or (len(ends) == 2 and carbons):
                positive.append(nitrogens)
        elif (element == "P" and len(oxygens) >= 2) or (element == "S" and len(oxygens) == 3):
            negative.append(oxygens)
        elif element == "N" and row not in in_rings and _is_amine(skeleton, row):
            positive.append((row,))
    return positive, negative


def _is_amine(skeleton: _Skeleton, row: int) -> bool:
    """Return whether a nitrogen is that of an aliphatic amine or a quaternary one."""
    near = skeleton.heavy[row]
    if not near or any(skeleton.elements[other] != "C" for other in near):
        return False
    if len(near) == 4:
        return True
    if skeleton.has_orders:
        return not skeleton.multiple & {row, *near}
    lengths = np.linalg.norm(skeleton.positions[near] - skeleton.positions[row], axis=1)
    return bool(lengths.min() >= _LONG_CN_A)
