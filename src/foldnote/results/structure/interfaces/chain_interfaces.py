"""Interfaces between pairs of polymer chains.

Residues are in contact if two of their heavy atoms are at most 5 Å apart, as in CAPRI (Méndez et al.,
Proteins 52, 51 (2003)). Hydrogen bonds: :mod:`foldnote.results.structure.interfaces.hydrogen_bonds`. A salt
bridge is a carboxylate oxygen of aspartate or glutamate at most 4 Å from a side-chain nitrogen of lysine or
arginine (Barlow and Thornton, J. Mol. Biol. 168, 867 (1983)); histidine, whose charge depends on the pH, and
chain ends are not included. Such a pair may also be a hydrogen bond. The buried area of a chain is its
solvent-accessible surface area when isolated, minus that next to the other chain; see
:mod:`foldnote.results.structure.interfaces.surface_area`.

Only the polymers of the first model are considered, in their first conformations: no ligands, ions or waters,
and no chains without side chains.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import gemmi
import numpy as np
import pandas as pd

from foldnote.residue_names import find_parent
from foldnote.results.core.numeric import Floats, Rows, find_close_pairs
from foldnote.results.structure.interfaces.hydrogen_bonds import (
    HYDROGEN_BOND_A,
    MIN_ANGLE_DEGREES,
    Roles,
    find_hydrogens,
    find_residue_roles,
    find_widest_angle,
)
from foldnote.results.structure.interfaces.surface_area import (
    PROBE_A,
    AtomName,
    find_radii,
    measure_areas,
)
from foldnote.results.structure.walk import list_first_location, walk_polymers

CONTACT_A = 5.0
"""Maximum distance between heavy atoms of residues in contact, Å."""
SALT_BRIDGE_A = 4.0
"""Maximum distance between the charged atoms of a salt bridge, Å."""
MIN_BURIED_A2 = 1.0
"""Minimum buried surface of a residue that belongs to an interface without being in contact (Jones and
Thornton, Proc. Natl. Acad. Sci. USA 93, 13 (1996)), Å²."""
NEGATIVE = {("ASP", "OD1"), ("ASP", "OD2"), ("GLU", "OE1"), ("GLU", "OE2")}
POSITIVE = {("LYS", "NZ"), ("ARG", "NE"), ("ARG", "NH1"), ("ARG", "NH2")}
_MAX_COORDINATE_A = 1e5
_MIN_ATOMS = 5
"""Minimum mean number of heavy atoms per residue of a chain with side chains; a protein's backbone has 4."""
PAIR_COLUMNS = {
    "chain": "str", "other_chain": "str", "residues": "int64", "other_residues": "int64", "contacts": "int64",
    "hydrogen_bonds": "int64", "salt_bridges": "int64", "chain_buried_area": "float64",
    "other_buried_area": "float64", "buried_area": "float64",
}  # fmt: skip
RESIDUE_COLUMNS = {
    "chain": "str", "number": "str", "residue": "str", "other_chain": "str", "contacts": "int64",
    "distance": "float64", "hydrogen_bonds": "int64", "salt_bridges": "int64", "area": "float64",
    "buried_area": "float64", "buried_fraction": "float64",
}  # fmt: skip
BOND_COLUMNS = {
    "kind": "str", "chain": "str", "number": "str", "residue": "str", "atom": "str", "other_chain": "str",
    "other_number": "str", "other_residue": "str", "other_atom": "str", "distance": "float64",
    "angle": "float64",
    **dict.fromkeys(["x", "y", "z", "other_x", "other_y", "other_z"], "float64"),
}  # fmt: skip


@dataclass(frozen=True)
class Interfaces:
    """Tables of all interfaces; their columns are those of :class:`foldnote.results.Structure`'s properties.

    Attributes:
        pairs: one row per pair of chains in contact.
        residues: one row per residue of an interface.
        bonds: one row per hydrogen bond or salt bridge.
    """

    pairs: pd.DataFrame
    residues: pd.DataFrame
    bonds: pd.DataFrame


class _Atom(NamedTuple):
    """An atom's name, and its residue as a 0-based index in its chain."""

    owner: int
    names: AtomName


@dataclass(frozen=True, eq=False)
class _Chain:
    """The heavy atoms of a chain's polymer."""

    name: str
    residues: list[tuple[str, str]]
    atoms: list[_Atom]
    points: Floats
    roles: Roles
    radii: Floats
    hydrogens: dict[int, Floats] = field(repr=False)

    @cached_property
    def owners(self) -> Rows:
        """Index of each atom's residue."""
        return np.array([atom.owner for atom in self.atoms], dtype=np.int64)


@dataclass(eq=False)
class _InterfaceSide:
    """Relations of the residues of one chain to the other chain, by index of the residue.

    Attributes:
        chain: the chain.
        areas: surface of each atom in the isolated chain, Å², for residues that another chain can cover.
        partners: residues of the other chain in contact.
        distances: distances of the closest atoms, Å.
        buried: surface covered by the other chain, Å².
        hydrogen_bonds: number of hydrogen bonds.
        salt_bridges: residues of the other chain with a salt bridge.
    """

    chain: _Chain
    areas: Floats
    partners: defaultdict[int, set[int]]
    distances: dict[int, float]
    buried: Floats
    hydrogen_bonds: Counter[int] = field(default_factory=Counter)
    salt_bridges: defaultdict[int, set[int]] = field(default_factory=lambda: defaultdict(set))


class _ChainContact(NamedTuple):
    """Two chains in contact.

    Attributes:
        first: a chain.
        second: another one.
        touched: rows of the atoms of either that are within reach of the other's surface.
        contacts: rows of the atoms of either that are in contact, and their distances in Å.
    """

    first: _Chain
    second: _Chain
    touched: tuple[Rows, Rows]
    contacts: tuple[Rows, Rows, Floats]


def find_interfaces(structure: gemmi.Structure) -> Interfaces:
    """Find the interfaces between the polymer chains of the first model."""
    chains = [
        _read_chain(chain.name, residues)
        for chain, residues in walk_polymers(structure[0])
        if _has_side_chains(residues)
    ]
    chain_contacts = list(_list_contacts(chains))
    areas = _measure_alone(chains, chain_contacts)
    pairs, residues, bonds = [], [], []
    for contact in chain_contacts:
        sides = _make_sides(contact, (areas[contact.first], areas[contact.second]))
        bonds += list(_list_bonds(sides, contact.contacts))
        pairs.append(_write_pair(*sides))
        residues += [row for side in (sides, sides[::-1]) for row in _write_residues(*side)]
    frame = _make_frame(pairs, PAIR_COLUMNS).sort_values("buried_area", ascending=False, kind="stable")
    return Interfaces(
        frame.reset_index(drop=True),
        _make_frame(residues, RESIDUE_COLUMNS),
        _make_frame(bonds, BOND_COLUMNS),
    )


def _make_frame(rows: list[tuple[object, ...]], columns: dict[str, str]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=list(columns)).astype(columns)


def _read_chain(name: str, residues: list[gemmi.Residue]) -> _Chain:
    """Return the heavy atoms of a chain; those with damaged coordinates are left out."""
    atoms: list[_Atom] = []
    points: list[list[float]] = []
    roles: list[tuple[bool, bool]] = []
    hydrogens: dict[int, Floats] = {}
    for owner, residue in enumerate(residues):
        parent = find_parent(residue.name)
        own = [atom for atom in list_first_location(residue) if _is_placed(atom)]
        light = np.array([atom.pos.tolist() for atom in own if atom.is_hydrogen()]).reshape(-1, 3)
        heavy = [atom for atom in own if not atom.is_hydrogen()]
        bonded = [find_hydrogens(light, atom.pos.tolist()) for atom in heavy]
        hydrogens |= {
            row: positions for row, positions in enumerate(bonded, start=len(points)) if len(positions)
        }
        names = [(atom.name, atom.element.name) for atom in heavy]
        roles += find_residue_roles(parent, names, [len(positions) > 0 for positions in bonded])
        atoms += [_Atom(owner, AtomName(parent, *name)) for name in names]
        points += [atom.pos.tolist() for atom in heavy]
    places = np.array(points, dtype=np.float64).reshape(-1, 3)
    radii = find_radii([atom.names for atom in atoms])
    return _Chain(
        name,
        [(str(residue.seqid), residue.name) for residue in residues],
        atoms,
        places,
        np.array(roles, dtype=np.bool_).reshape(-1, 2),
        radii,
        hydrogens,
    )


def _has_side_chains(residues: list[gemmi.Residue]) -> bool:
    """Return whether most side chains are present; traces and backbones have no meaningful areas."""
    heavy = sum(not atom.is_hydrogen() for residue in residues for atom in list_first_location(residue))
    return heavy >= _MIN_ATOMS * len(residues)


def _is_placed(atom: gemmi.Atom) -> bool:
    return all(abs(value) < _MAX_COORDINATE_A for value in atom.pos.tolist())


def _list_contacts(chains: Sequence[_Chain]) -> Iterator[_ChainContact]:
    """Yield the pairs of chains in contact, with their atoms within reach of each other's surface."""
    for first, second in combinations(chains, 2):
        reach = _find_reach(first, second)
        rows, columns, distances = find_close_pairs(first.points, second.points, max(reach, CONTACT_A))
        is_contact = distances <= CONTACT_A
        if is_contact.any():
            touched = distances <= reach
            yield _ChainContact(
                first,
                second,
                (np.unique(rows[touched]), np.unique(columns[touched])),
                (rows[is_contact], columns[is_contact], distances[is_contact]),
            )


def _find_reach(*chains: _Chain) -> float:
    """Return the maximum distance at which an atom can cover another one's surface, Å."""
    return 2 * (max(float(chain.radii.max()) for chain in chains) + PROBE_A)


def _measure_alone(chains: Sequence[_Chain], chain_contacts: Sequence[_ChainContact]) -> dict[_Chain, Floats]:
    """Measure for each chain the surface of its atoms without the other chains, where these can cover it.

    An atom's surface depends only on the atoms within reach, so the others are left out.
    """
    covered: dict[_Chain, list[Rows]] = {chain: [] for chain in chains}
    for contact in chain_contacts:
        covered[contact.first].append(contact.touched[0])
        covered[contact.second].append(contact.touched[1])
    return {chain: _measure_residues(chain, np.concatenate(rows)) for chain, rows in covered.items() if rows}


def _measure_residues(chain: _Chain, rows: Rows) -> Floats:
    areas = np.zeros(len(chain.points))
    atom_rows = np.flatnonzero(np.isin(chain.owners, chain.owners[rows]))
    nearby = np.unique(find_close_pairs(chain.points, chain.points[atom_rows], _find_reach(chain))[0])
    areas[nearby] = measure_areas(chain.points[nearby], chain.radii[nearby])
    return areas


def _make_sides(
    contact: _ChainContact, areas: tuple[Floats, Floats]
) -> tuple[_InterfaceSide, _InterfaceSide]:
    sides = []
    buried = _measure_buried(contact, areas)
    rows, columns, distances = contact.contacts
    for index, (chain, other, own, theirs) in enumerate(
        ((contact.first, contact.second, rows, columns), (contact.second, contact.first, columns, rows))
    ):
        partners: defaultdict[int, set[int]] = defaultdict(set)
        closest: dict[int, float] = {}
        for row, column, distance in zip(own.tolist(), theirs.tolist(), distances.tolist(), strict=True):
            owner = chain.atoms[row].owner
            partners[owner].add(other.atoms[column].owner)
            closest[owner] = min(distance, closest.get(owner, np.inf))
        sides.append(_InterfaceSide(chain, areas[index], partners, closest, buried[index]))
    return sides[0], sides[1]


def _measure_buried(contact: _ChainContact, areas: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """Measure the area that the other chain covers of each residue of both chains, Å².

    Only atoms within reach of the other chain can be covered.
    """
    first, second = contact.first, contact.second
    reach = _find_reach(first, second)
    near = [
        np.unique(find_close_pairs(own.points, own.points[rows], reach)[0])
        for own, rows in zip((first, second), contact.touched, strict=True)
    ]
    points = np.concatenate([first.points[near[0]], second.points[near[1]]])
    together = measure_areas(points, np.concatenate([first.radii[near[0]], second.radii[near[1]]]))
    lost = []
    for own, alone, rows, near_rows, buried_areas in zip(
        (first, second), areas, contact.touched, near, np.split(together, [len(near[0])]), strict=True
    ):
        in_complex = alone.copy()
        in_complex[near_rows] = buried_areas
        change = np.zeros(len(own.points))
        change[rows] = alone[rows] - in_complex[rows]
        lost.append(_sum_by_residue(own, change))
    return lost[0], lost[1]


def _sum_by_residue(chain: _Chain, values: Floats) -> Floats:
    return np.bincount(chain.owners, weights=values, minlength=len(chain.residues)).astype(np.float64)


def _list_bonds(
    sides: tuple[_InterfaceSide, _InterfaceSide], pairs: tuple[Rows, Rows, Floats]
) -> Iterator[tuple[object, ...]]:
    """Yield hydrogen bonds and salt bridges by ascending distance, and count them in both sides."""
    first, second = sides[0].chain, sides[1].chain
    for index in np.argsort(pairs[2], kind="stable").tolist():
        row, column, distance = int(pairs[0][index]), int(pairs[1][index]), float(pairs[2][index])
        owner, other = first.atoms[row].owner, second.atoms[column].owner
        angle = _find_angle(first, row, second, column) if distance <= HYDROGEN_BOND_A else None
        if angle is not None:
            sides[0].hydrogen_bonds[owner] += 1
            sides[1].hydrogen_bonds[other] += 1
            yield _write_bond("hydrogen bond", (first, row), (second, column), distance, angle)
        if distance <= SALT_BRIDGE_A and _is_bridge(first.atoms[row], second.atoms[column]):
            sides[0].salt_bridges[owner].add(other)
            sides[1].salt_bridges[other].add(owner)
            yield _write_bond("salt bridge", (first, row), (second, column), distance, float("nan"))


def _find_angle(first: _Chain, row: int, second: _Chain, column: int) -> float | None:
    """Return the angle at the hydrogen in degrees, NaN without one; None if it is not a hydrogen bond."""
    angles = []
    for donor, here, acceptor, there in ((first, row, second, column), (second, column, first, row)):
        if donor.roles[here, 0] and acceptor.roles[there, 1]:
            angles.append(
                find_widest_angle(donor.points[here], donor.hydrogens.get(here), acceptor.points[there])
            )
    fitting = [angle for angle in angles if not angle < MIN_ANGLE_DEGREES]
    measured = [angle for angle in fitting if np.isfinite(angle)]
    return max(measured) if measured else (fitting[0] if fitting else None)


def _is_bridge(first: _Atom, second: _Atom) -> bool:
    names = {first.names[:2], second.names[:2]}
    return bool(names & NEGATIVE) and bool(names & POSITIVE)


def _write_bond(
    kind: str, first: tuple[_Chain, int], second: tuple[_Chain, int], distance: float, angle: float
) -> tuple[object, ...]:
    cells: list[object] = []
    for chain, row in (first, second):
        owner, names = chain.atoms[row]
        cells += [chain.name, *chain.residues[owner], names.atom]
    places = [value for chain, row in (first, second) for value in chain.points[row].tolist()]
    return (kind, *cells, distance, angle, *places)


def _write_pair(first: _InterfaceSide, second: _InterfaceSide) -> tuple[object, ...]:
    areas = float(first.buried.sum()), float(second.buried.sum())
    return (
        first.chain.name,
        second.chain.name,
        len(first.partners),
        len(second.partners),
        sum(len(partners) for partners in first.partners.values()),
        first.hydrogen_bonds.total(),
        sum(len(partners) for partners in first.salt_bridges.values()),
        *areas,
        sum(areas),
    )


def _write_residues(side: _InterfaceSide, other: _InterfaceSide) -> Iterator[tuple[object, ...]]:
    """Yield a row for each residue in contact or with more than 1 Å² of buried surface, in file order."""
    chain = side.chain
    areas = _sum_by_residue(chain, side.areas)
    for owner, (number, residue) in enumerate(chain.residues):
        buried, area = float(side.buried[owner]), float(areas[owner])
        if owner not in side.partners and buried <= MIN_BURIED_A2:
            continue
        yield (
            chain.name,
            number,
            residue,
            other.chain.name,
            len(side.partners[owner]) if owner in side.partners else 0,
            side.distances.get(owner, float("nan")),
            side.hydrogen_bonds[owner],
            len(side.salt_bridges[owner]) if owner in side.salt_bridges else 0,
            area,
            buried,
            buried / area if area > 0 else 0.0,
        )
