"""Hydrogen bonds between a molecule and a residue that one water bridges.

Both hydrogen bonds of the water's oxygen follow the criterion of direct ones (Baker and Hubbard, Prog.
Biophys. Mol. Biol. 44, 97 (1984)): at least 2.5 and at most 3.5 Å to a nitrogen or oxygen and, where the file
has hydrogens at a donor, at least 120° at one of them. The angle at the water, between its two partners, is
71° to 140°, the limits of PLIP (Salentin et al., Nucleic Acids Res. 43, W443 (2015)) after Jiang et al.,
Proteins 58, 893 (2005); for a donor it is measured to its hydrogen if the file has it. The water can be donor
or acceptor in either bond, so both partners may be donors or acceptors. PLIP itself allows 4.1 Å, and only
pairs of a donor with an acceptor.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from foldnote.results.core.numeric import Floats, find_close_pairs, measure_angle
from foldnote.results.structure.interfaces.hydrogen_bonds import (
    HYDROGEN_BOND_A,
    MIN_ANGLE_DEGREES,
    Roles,
    find_widest_angle,
)

MIN_WATER_A: Final = 2.5
WATER_DEGREES: Final = (71.0, 140.0)
"""Least and greatest angle at the oxygen of the water."""


@dataclass(frozen=True, eq=False)
class Partners:
    """The atoms of one side.

    Attributes:
        points: shape (n, 3), Å.
        roles: shape (n, 2): whether each atom can be a donor, and an acceptor.
        hydrogens: positions of the hydrogens at each atom that has any, by its row; shape (h, 3), Å.
    """

    points: Floats
    roles: Roles
    hydrogens: dict[int, Floats] = field(repr=False)


@dataclass(frozen=True, eq=False)
class _Bond:
    """A hydrogen bond of a water with one atom.

    Attributes:
        row: the atom's row.
        distance: Å, from the oxygen of the water.
        gives: whether the atom can be the donor.
        takes: whether the atom can be the acceptor.
        end: position of the atom, or of the hydrogen that it donates.
    """

    row: int
    distance: float
    gives: bool
    takes: bool
    end: Floats


@dataclass(frozen=True, eq=False)
class WaterBridge:
    """One bridge.

    Attributes:
        water: row of the water.
        row: row of the receptor's atom.
        ligand_row: row of the molecule's atom.
        distance: Å, from the water to the receptor's atom.
        ligand_distance: Å, from the water to the molecule's atom.
        angle: degrees, at the oxygen of the water.
        donor: donor of a hydrogen to the water: ``receptor``, ``ligand``, ``both``, ``either`` (one of the
            two), or ``water`` if the water donates both hydrogens.
    """

    water: int
    row: int
    ligand_row: int
    distance: float
    ligand_distance: float
    angle: float
    donor: str


def find_water_bridges(waters: Floats, receptor: Partners, molecule: Partners) -> list[WaterBridge]:
    """Return every bridge of one water, by water and ascending sum of the distances.

    Args:
        waters: positions of the oxygens, shape (w, 3), Å.
        receptor: atoms of the receptor.
        molecule: atoms of the molecule.
    """
    theirs, ours = _list_bonds(waters, receptor), _list_bonds(waters, molecule)
    bridges = [
        bridge
        for water in sorted(theirs.keys() & ours.keys())
        for bridge in _pair(water, waters[water], theirs[water], ours[water])
    ]
    return sorted(
        bridges,
        key=lambda found_bridge: (found_bridge.water, found_bridge.distance + found_bridge.ligand_distance),
    )


def _list_bonds(waters: Floats, side: Partners) -> dict[int, list[_Bond]]:
    """Return the hydrogen bonds of each water with atoms of one side."""
    bonds: dict[int, list[_Bond]] = {}
    if not len(waters) or not len(side.points):
        return bonds
    for water, row, distance in zip(*find_close_pairs(waters, side.points, HYDROGEN_BOND_A), strict=True):
        is_donor, is_acceptor = (bool(role) for role in side.roles[row])
        end, oxygen = side.points[row], waters[water]
        own = side.hydrogens.get(int(row))
        if is_donor and own is not None:
            is_donor = find_widest_angle(end, own, oxygen) >= MIN_ANGLE_DEGREES
            end = (
                own[int(np.linalg.norm(own - oxygen, axis=1).argmin())]
                if is_donor and not is_acceptor
                else end
            )
        if distance >= MIN_WATER_A and (is_donor or is_acceptor):
            bonds.setdefault(int(water), []).append(
                _Bond(int(row), float(distance), is_donor, is_acceptor, end)
            )
    return bonds


def _pair(
    water: int, oxygen: Floats, theirs: Sequence[_Bond], ours: Sequence[_Bond]
) -> Iterator[WaterBridge]:
    for one in theirs:
        for other in ours:
            angle = measure_angle(one.end, oxygen, other.end)
            if WATER_DEGREES[0] <= angle <= WATER_DEGREES[1]:
                donor = _name_donor(one, other)
                yield WaterBridge(water, one.row, other.row, one.distance, other.distance, angle, donor)


def _name_donor(one: _Bond, other: _Bond) -> str:
    receptor_gives = one.gives and other.takes
    ligand_gives = other.gives and one.takes
    if receptor_gives or ligand_gives:
        return "either" if receptor_gives and ligand_gives else "receptor" if receptor_gives else "ligand"
    return "both" if one.gives else "water"
