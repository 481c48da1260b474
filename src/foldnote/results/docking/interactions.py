"""Typed interactions between a small molecule and a structure.

Hydrogen bonds are those of :mod:`foldnote.results.docking.contacts` (Baker and Hubbard, Prog. Biophys. Mol.
Biol. 44, 97 (1984)). Ionic interactions are at most 4.0 Å between charged atoms (Barlow and Thornton, J. Mol.
Biol. 168, 867 (1983)). The others follow the rules and limits of PLIP (Salentin et al., Nucleic Acids Res.
43, W443 (2015)): hydrophobic contacts at most 4.0 Å between carbons whose heavy neighbours are carbons; π
stacking at most 5.5 Å between ring centres, offset at most 2.0 Å, angle of the planes at most 30° (parallel)
or at least 60° (T-shaped); cation-π at most 6.0 Å between a charge and a ring centre, offset at most 2.0 Å;
halogen bonds at most 4.0 Å between halogen and acceptor, 165 ± 30° at the halogen and 120 ± 30° at the
acceptor, which is sulfur or a hydrogen bond's acceptor, and therefore not an amide nitrogen; metals at most
3.0 Å. Fluorine is not considered for halogen bonds. Bridges of one water are those of
:mod:`foldnote.results.docking.water_bridges`, one for each residue at a water, unless a direct hydrogen bond
joins the same two atoms. The molecule's groups are those of :mod:`foldnote.results.docking.ligand_groups`; of
the receptor's, Asp, Glu, phosphates, Lys and Arg are charged, and His only if named HIP or if the file has
hydrogens at both nitrogens. An atom of a residue other than a metal at most 1.95 Å from the molecule is
bonded or, in a docked pose, a clash; then only this bond, hydrogen bonds and bridges of waters are listed for
the residue, since its other atoms are close to the molecule because of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import gemmi
import numpy as np
import pandas as pd

from foldnote.residue_names import find_parent
from foldnote.results.core.numeric import Floats, find_close_pairs, measure_angle
from foldnote.results.docking.bonding import find_roles
from foldnote.results.docking.contacts import (
    COVALENT_A,
    Pocket,
    find_atom_names,
    list_rows,
    move_side_chains,
    read_pocket,
)
from foldnote.results.docking.ligand_groups import LigandGroups, find_groups
from foldnote.results.docking.poses import Pose
from foldnote.results.docking.rings import Ring, measure_ring
from foldnote.results.docking.water_bridges import Partners, find_water_bridges
from foldnote.results.molecules.molecule import Molecule
from foldnote.results.structure.interfaces.chain_interfaces import SALT_BRIDGE_A
from foldnote.results.structure.structure import Structure

HYDROPHOBIC_A: Final = 4.0
STACKING_A: Final = 5.5
CATION_PI_A: Final = 6.0
MAX_OFFSET_A: Final = 2.0
"""Maximum distance between a ring's centre and what lies above it, in the plane of the ring, Å."""
PLANES_DEGREES: Final = 30.0
HALOGEN_A: Final = 4.0
METAL_A: Final = 3.0
_AT_HALOGEN, _AT_ACCEPTOR, _DEVIATION = 165.0, 120.0, 30.0
_BESIDE_BOND: Final = ("hydrogen bond", "water bridge")
"""Kinds that are also listed for a residue that is bonded to the molecule."""
_REACH_A = 9.0
"""Maximum distance from the molecule of the receptor atoms that are considered, Å."""
KINDS: Final = (
    "covalent", "metal", "ionic", "hydrogen bond", "water bridge", "halogen bond", "pi stacking", "cation-pi",
    "hydrophobic",
)  # fmt: skip
"""Kinds of interactions, in the order of tables and legends."""
_HISTIDINE = ("ND1", "NE2")
_POSITIVE: dict[str, tuple[str, ...]] = {
    "LYS": ("NZ",),
    "ARG": ("NE", "NH1", "NH2"),
    "HIP": _HISTIDINE,
    "LYN": (),
}
_NEGATIVE: dict[str, tuple[str, ...]] = {"ASP": ("OD1", "OD2"), "GLU": ("OE1", "OE2")}
_PHOSPHATE = ("OP1", "OP2", "OP3", "O1P", "O2P", "O3P")
_SIX = ("CG", "CD1", "CE1", "CZ", "CE2", "CD2")
_IMIDAZOLE = ("CG", "ND1", "CE1", "NE2", "CD2")
_PYRIMIDINE = ("N1", "C2", "N3", "C4", "C5", "C6")
_RINGS: dict[str, tuple[tuple[str, ...], ...]] = {
    "PHE": (_SIX,),
    "TYR": (_SIX,),
    "HIS": (_IMIDAZOLE,),
    "TRP": (("CG", "CD1", "NE1", "CE2", "CD2"), ("CD2", "CE2", "CZ2", "CH2", "CZ3", "CE3")),
    **dict.fromkeys(("A", "G", "DA", "DG"), (_PYRIMIDINE, ("N9", "C8", "N7", "C5", "C4"))),
    **dict.fromkeys(("C", "U", "DC", "DT", "DU"), (_PYRIMIDINE,)),
}
_COLUMNS = {
    "kind": "str", "chain": "str", "number": "str", "residue": "str", "atom": "str", "ligand_atom": "str",
    "distance": "float64", "angle": "float64", "donor": "str",
    **dict.fromkeys(["x", "y", "z", "ligand_x", "ligand_y", "ligand_z"], "float64"),
    "water": "str", **dict.fromkeys(["ligand_distance", "water_x", "water_y", "water_z"], "float64"),
}  # fmt: skip

Owner = tuple[str, str, str]
"""Chain, residue number and residue name."""


@dataclass(frozen=True, eq=False)
class Interaction:
    """One interaction.

    Attributes:
        kind: one of :data:`KINDS`.
        owner: chain, number and name of the residue.
        atom: the residue's atom, or its atoms of a ring or charged group, separated by spaces.
        ligand_atom: the same of the molecule.
        ligand_rows: rows of these atoms in :attr:`Molecule.atoms`.
        distance: Å; between the nearest atoms, or the ring centres.
        angle: degrees; at the hydrogen or halogen, or between the planes of two rings; NaN if there is none.
        donor: of a hydrogen bond: ``receptor``, ``ligand`` or ``either``; of a cation-π interaction, which
            has the charge; else "".
        place: end at the residue, shape (3,), Å.
        ligand_place: end at the molecule, shape (3,), Å.
        water: the water of a bridge; None for other kinds. For a bridge, ``distance`` is that from the
            residue to the water, ``angle`` is at the water, and ``donor`` may also be ``both`` or ``water``.
    """

    kind: str
    owner: Owner
    atom: str
    ligand_atom: str
    ligand_rows: tuple[int, ...]
    distance: float
    angle: float
    donor: str
    place: Floats = field(repr=False)
    ligand_place: Floats = field(repr=False)
    water: BridgingWater | None = None


@dataclass(frozen=True, eq=False)
class BridgingWater:
    """The water between a residue and a molecule.

    Attributes:
        owner: chain, number and name.
        place: position of its oxygen, shape (3,), Å.
        ligand_distance: Å, from the oxygen to the molecule's atom.
    """

    owner: Owner
    place: Floats = field(repr=False)
    ligand_distance: float

    def __str__(self) -> str:
        return f"{self.owner[2]} {self.owner[0]} {self.owner[1]}"


@dataclass(frozen=True, eq=False)
class _Site:
    """The receptor near a molecule, and the molecule."""

    pocket: Pocket
    near: Sequence[int]
    """Rows of the pocket's atoms near the molecule."""
    molecule: Molecule
    groups: LigandGroups
    names: Sequence[str]
    positions: Floats
    bonded: dict[int, list[int]] = field(repr=False)
    """The bonded heavy atoms of each of the pocket's atoms, by distance."""

    def name(self, rows: Sequence[int]) -> str:
        """Return the names of atoms of the molecule."""
        return " ".join(self.names[row] for row in rows)


def find_interactions(structure: Structure, molecule: Molecule | Pose) -> pd.DataFrame:
    """Find the typed interactions between a molecule and a structure.

    Args:
        structure: the receptor; the polymers, ions and waters of its first model are considered, other
            ligands are not.
        molecule: a molecule or pose in the receptor's coordinate frame.

    Returns:
        One row per interaction, by kind and ascending distance: ``kind`` str (one of :data:`KINDS`),
        ``chain``, ``number``, ``residue`` and ``atom`` str of the receptor, ``ligand_atom`` str, ``distance``
        float64 in Å, ``angle`` float64 in degrees (at the hydrogen or halogen, or between the planes of two
        rings), ``donor`` str (the donor of a hydrogen bond, or the side with the charge of a cation-π
        interaction: ``receptor``, ``ligand``, ``either`` or ""), then both ends in Å: ``x``, ``y``, ``z``,
        ``ligand_x``, ``ligand_y``, ``ligand_z`` float64. Hydrophobic contacts have a row per residue. A water
        bridge has its ``water`` str (``HOH A 301``), ``distance`` from the residue to it, ``ligand_distance``
        float64 from the molecule to it, ``angle`` at it, its place ``water_x``, ``water_y``, ``water_z``
        float64 in Å, and a ``donor`` that may be ``both`` or ``water``, too; the columns are empty for other
        kinds.

    Raises:
        UnreadableFileError: the structure's file is damaged or holds no atoms.
    """
    return make_interaction_table(detect_interactions(read_pocket(structure), molecule))


def make_interaction_table(interactions: Sequence[Interaction]) -> pd.DataFrame:
    """Tabulate interactions; the columns are those of :func:`find_interactions`."""
    rows = [
        (
            item.kind, *item.owner, item.atom, item.ligand_atom, item.distance, item.angle, item.donor,
            *item.place.tolist(), *item.ligand_place.tolist(), *_write_water(item.water),
        )
        for item in interactions
    ]  # fmt: skip
    table = pd.DataFrame(rows, columns=list(_COLUMNS))
    is_bridge = table["water"].notna()  # before pandas 3, a missing text would become "None"
    table = table.astype(_COLUMNS)
    return table.assign(water=table["water"].where(is_bridge))


def _write_water(water: BridgingWater | None) -> tuple[object, ...]:
    if water is None:
        return (None, *[float("nan")] * 4)
    return (str(water), water.ligand_distance, *water.place.tolist())


def tabulate_poses(structure: Structure | None, poses: Sequence[Pose]) -> pd.DataFrame:
    """Tabulate the interactions of several poses.

    Returns:
        One row per interaction: ``ligand`` str, ``rank`` int64, then the columns of
        :func:`find_interactions`. Empty without poses or structure.

    Raises:
        UnreadableFileError: the structure's file is damaged or holds no atoms.
    """
    pocket = read_pocket(structure) if structure and poses else None
    pairs = (
        [(pose, interaction) for pose in poses for interaction in detect_interactions(pocket, pose)]
        if pocket
        else []
    )
    table = make_interaction_table([interaction for _, interaction in pairs])
    table.insert(0, "ligand", pd.Series([pose.ligand for pose, _ in pairs], dtype="str"))
    table.insert(1, "rank", pd.Series([pose.rank for pose, _ in pairs], dtype="int64"))
    return table


def detect_interactions(pocket: Pocket, molecule: Molecule | Pose) -> list[Interaction]:
    """Find the interactions of a molecule or pose, by kind and ascending distance."""
    own = molecule.molecule if isinstance(molecule, Pose) else molecule
    site = _read_site(move_side_chains(pocket, own), own)
    covalent = list(_list_covalent(site))
    interactions = [
        *_list_hydrogen_bonds(site),
        *_list_ionic(site),
        *_list_metals(site),
        *_list_halogen_bonds(site),
        *_list_ring_contacts(site),
    ]
    interactions += _list_water_bridges(site, interactions)
    stacked = {interaction.owner for interaction in interactions if interaction.kind == "pi stacking"}
    interactions += [
        interaction for interaction in _list_hydrophobic(site) if interaction.owner not in stacked
    ]
    covered = {interaction.owner for interaction in covalent}
    interactions = [
        *covalent,
        *(each for each in interactions if each.owner not in covered or each.kind in _BESIDE_BOND),
    ]
    return sorted(interactions, key=lambda interaction: (KINDS.index(interaction.kind), interaction.distance))


def _read_site(pocket: Pocket, molecule: Molecule) -> _Site:
    positions = molecule.coordinates
    near = sorted({int(row) for row in find_close_pairs(pocket.points, positions, _REACH_A)[0]})
    whole = {pocket.owners[row][:3] for row in near}
    rows = [row for row, owner in enumerate(pocket.owners) if owner[:3] in whole]
    names = find_atom_names(molecule)
    bonded = _find_bonded(pocket.points, rows)
    return _Site(pocket, rows, molecule, find_groups(molecule), names, positions, bonded)


def _find_bonded(points: Floats, rows: Sequence[int]) -> dict[int, list[int]]:
    bonded: dict[int, list[int]] = {row: [] for row in rows}
    own = points[list(rows)]
    first, second, _ = find_close_pairs(own, own, COVALENT_A)
    for index, partner_index in zip(first.tolist(), second.tolist(), strict=True):
        if index != partner_index:
            bonded[rows[index]].append(rows[partner_index])
    return bonded


def _list_covalent(site: _Site) -> Iterator[Interaction]:
    """Yield the shortest bond of each residue that has one to the molecule."""
    heavy = [row for row, element in enumerate(site.molecule.elements) if element not in ("H", "D")]
    close = set(find_close_pairs(site.pocket.points, site.positions[heavy], COVALENT_A)[0].tolist())
    by_residue: dict[Owner, list[int]] = {}
    for row in sorted(close):
        chain, number, name, atom = site.pocket.owners[row]
        if name != atom and not gemmi.Element(site.pocket.elements[row]).is_metal:
            by_residue.setdefault((chain, number, name), []).append(row)
    ours = [row for row in heavy if row not in site.groups.metals]
    for owner, rows in by_residue.items():
        if ours:
            yield from _connect("covalent", site, owner, rows, ours, COVALENT_A)


def _list_hydrogen_bonds(site: _Site) -> Iterator[Interaction]:
    rows: list[Any] = list_rows(site.pocket, site.molecule)
    for kind, chain, number, name, atom, own, row, distance, angle, donor, *places in rows:
        if kind == "hydrogen bond":
            owner, ends = (chain, number, name), np.array(places, np.float64)
            yield Interaction(kind, owner, atom, own, (row,), distance, angle, donor, ends[:3], ends[3:])


def _list_water_bridges(site: _Site, interactions: Sequence[Interaction]) -> Iterator[Interaction]:
    """Yield the bridge with the shortest bonds of each water with each residue."""
    pocket, ours = site.pocket, find_roles(site.molecule)
    rows = [row for row in site.near if pocket.roles[row].any()]
    hydrogens = {
        position: pocket.hydrogens[row] for position, row in enumerate(rows) if row in pocket.hydrogens
    }
    bridges = find_water_bridges(
        pocket.waters,
        Partners(pocket.points[rows].reshape(-1, 3), pocket.roles[rows].reshape(-1, 2), hydrogens),
        Partners(site.positions, ours.roles, ours.hydrogens),
    )
    direct = {
        (one.owner, one.atom, one.ligand_rows[0]) for one in interactions if one.kind == "hydrogen bond"
    }
    seen: set[tuple[int, Owner]] = set()
    for one in bridges:
        row = rows[one.row]
        chain, number, name, atom = pocket.owners[row]
        owner = (chain, number, name)
        if (one.water, owner) in seen or (owner, atom, one.ligand_row) in direct:
            continue
        seen.add((one.water, owner))
        position, ligand_position = pocket.points[row], site.positions[one.ligand_row]
        water = BridgingWater(pocket.water_owners[one.water], pocket.waters[one.water], one.ligand_distance)
        yield Interaction(
            "water bridge", owner, atom, site.name([one.ligand_row]), (one.ligand_row,), one.distance,
            one.angle, one.donor, position, ligand_position, water,
        )  # fmt: skip


def _list_ionic(site: _Site) -> Iterator[Interaction]:
    for theirs, ours in ((_NEGATIVE, site.groups.positive), (_POSITIVE, site.groups.negative)):
        for owner, rows in _list_charged(site, theirs):
            for group in ours:
                yield from _connect("ionic", site, owner, rows, group, SALT_BRIDGE_A)


def _list_charged(site: _Site, table: dict[str, tuple[str, ...]]) -> list[tuple[Owner, list[int]]]:
    """Return the charged atoms of each residue of one sign; phosphates are negative."""
    rows_by_owner: dict[Owner, list[int]] = {}
    for row in site.near:
        *owner, atom = site.pocket.owners[row]
        chain, number, name = owner
        charged_atoms = table.get(name, table.get(find_parent(name), ()))
        if table is _NEGATIVE:
            is_part = atom in charged_atoms or atom in _PHOSPHATE
        else:
            is_part = atom in charged_atoms or (atom in _HISTIDINE and find_parent(name) == "HIS")
        if is_part:
            rows_by_owner.setdefault((chain, number, name), []).append(row)
    return [(owner, rows) for owner, rows in rows_by_owner.items() if _is_charged(site, owner, rows)]


def _is_charged(site: _Site, owner: Owner, rows: Sequence[int]) -> bool:
    """Return whether a histidine is named HIP or has two hydrogens at nitrogen; True for other residues."""
    is_named = owner[2] in _POSITIVE or find_parent(owner[2]) != "HIS"
    return is_named or (len(rows) == len(_HISTIDINE) and all(row in site.pocket.hydrogens for row in rows))


def _connect(
    kind: str, site: _Site, owner: Owner, rows: Sequence[int], group: Sequence[int], limit: float
) -> Iterator[Interaction]:
    """Yield the interaction of the nearest atoms of two groups, if they are near enough."""
    ends = site.pocket.points[list(rows)][:, None, :] - site.positions[list(group)][None, :, :]
    apart = np.linalg.norm(ends, axis=2)
    here, there = np.unravel_index(int(apart.argmin()), apart.shape)
    if apart[here, there] <= limit:
        row, mine = rows[int(here)], group[int(there)]
        yield Interaction(
            kind,
            owner,
            site.pocket.owners[row][3],
            site.name([mine]),
            (mine,),
            float(apart[here, there]),
            float("nan"),
            "",
            site.pocket.points[row],
            site.positions[mine],
        )


def _list_metals(site: _Site) -> Iterator[Interaction]:
    """Yield the receptor's metal ions at the molecule's atoms, and the molecule's at the receptor's."""
    near = set(find_close_pairs(site.pocket.points, site.positions, METAL_A)[0].tolist())
    for row in sorted(near):
        chain, number, name, _ = site.pocket.owners[row]
        element = site.pocket.elements[row]
        is_metal = gemmi.Element(element).is_metal
        ours = site.groups.binders if is_metal else site.groups.metals
        if not is_metal and element not in ("N", "O", "S"):
            continue
        for mine in ours:
            yield from _connect("metal", site, (chain, number, name), [row], [mine], METAL_A)


def _list_halogen_bonds(site: _Site) -> Iterator[Interaction]:
    points = site.pocket.points
    for halogen, carbon in site.groups.halogens:
        position = site.positions[halogen]
        for row in site.near:
            chain, number, name, _ = site.pocket.owners[row]
            distance = float(np.linalg.norm(points[row] - position))
            is_acceptor = site.pocket.roles[row, 1] or site.pocket.elements[row] == "S"
            if not is_acceptor or distance > HALOGEN_A:
                continue
            angle = measure_angle(site.positions[carbon], position, points[row])
            if abs(angle - _AT_HALOGEN) > _DEVIATION:
                continue
            angles = [measure_angle(position, points[row], points[other]) for other in site.bonded[row]]
            if any(abs(acceptor_angle - _AT_ACCEPTOR) <= _DEVIATION for acceptor_angle in angles):
                owner = (chain, number, name)
                for interaction in _connect("halogen bond", site, owner, [row], [halogen], HALOGEN_A):
                    yield replace(interaction, angle=angle)


def _list_ring_contacts(site: _Site) -> Iterator[Interaction]:
    """Yield π stacking of rings, and rings at charges of the other side."""
    rings = list(_list_residue_rings(site))
    charged = _list_charged(site, _POSITIVE)
    for owner, ring in rings:
        for other in site.groups.rings:
            yield from _stack(site, owner, ring, other)
        for group in site.groups.positive:
            charge = site.positions[list(group)].mean(axis=0)
            if _is_above(charge, ring):
                yield _make_ring_contact(site, "cation-pi", owner, ring.atoms, group, charge, ring, "ligand")
    for owner, rows in charged:
        charge = site.pocket.points[rows].mean(axis=0)
        for other in site.groups.rings:
            if _is_above(charge, other):
                yield _make_ring_contact(
                    site, "cation-pi", owner, rows, other.atoms, charge, other, "receptor"
                )


def _list_residue_rings(site: _Site) -> Iterator[tuple[Owner, Ring]]:
    atoms: dict[Owner, dict[str, int]] = {}
    for row in site.near:
        chain, number, name, atom = site.pocket.owners[row]
        atoms.setdefault((chain, number, name), {})[atom] = row
    for owner, rows_by_name in atoms.items():
        for ring in _RINGS.get(owner[2], _RINGS.get(find_parent(owner[2]), ())):
            if all(atom in rows_by_name for atom in ring):
                measured = measure_ring([rows_by_name[atom] for atom in ring], site.pocket.points)
                if measured is not None:
                    yield owner, measured


def _stack(site: _Site, owner: Owner, ring: Ring, other: Ring) -> Iterator[Interaction]:
    distance = float(np.linalg.norm(ring.center - other.center))
    angle = float(np.degrees(np.arccos(np.clip(abs(ring.normal @ other.normal), 0, 1))))
    is_turned = PLANES_DEGREES < angle < 90 - PLANES_DEGREES
    offset = min(_measure_offset(other.center, ring), _measure_offset(ring.center, other))
    if distance <= STACKING_A and not is_turned and offset <= MAX_OFFSET_A:
        interaction = _make_ring_contact(
            site, "pi stacking", owner, ring.atoms, other.atoms, ring.center, other, ""
        )
        yield replace(interaction, angle=angle)


def _is_above(charge: Floats, ring: Ring) -> bool:
    is_near = float(np.linalg.norm(charge - ring.center)) <= CATION_PI_A
    return is_near and _measure_offset(charge, ring) <= MAX_OFFSET_A


def _measure_offset(point: Floats, ring: Ring) -> float:
    """Return the distance of a point from the ring's axis, Å."""
    ray = point - ring.center
    return float(np.linalg.norm(ray - (ray @ ring.normal) * ring.normal))


def _make_ring_contact(
    site: _Site,
    kind: str,
    owner: Owner,
    rows: Sequence[int],
    own: Sequence[int],
    point: Floats,
    ring: Ring,
    donor: str,
) -> Interaction:
    """Return an interaction of a ring with a point: a charge, or the centre of the receptor's ring."""
    place, ligand_place = (ring.center, point) if donor == "ligand" else (point, ring.center)
    return Interaction(
        kind,
        owner,
        " ".join(site.pocket.owners[row][3] for row in rows),
        site.name(own),
        tuple(own),
        float(np.linalg.norm(point - ring.center)),
        float("nan"),
        donor,
        place,
        ligand_place,
    )


def _list_hydrophobic(site: _Site) -> Iterator[Interaction]:
    """Yield the nearest pair of hydrophobic carbons of each residue."""
    ours = list(site.groups.hydrophobic)
    by_residue: dict[Owner, list[int]] = {}
    carbons = {row for row in site.near if site.pocket.elements[row] == "C"}
    for row in sorted(carbons):
        chain, number, name, _ = site.pocket.owners[row]
        if any(other not in carbons for other in site.bonded[row]):
            continue
        by_residue.setdefault((chain, number, name), []).append(row)
    for owner, rows in by_residue.items():
        if ours:
            yield from _connect("hydrophobic", site, owner, rows, ours, HYDROPHOBIC_A)
