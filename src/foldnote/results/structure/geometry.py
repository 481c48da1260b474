"""Where the geometry of a protein model is not that of proteins: peptide bonds, Cα chirality, clashes.

Peptide bonds are judged by the limits of MolProbity (Williams et al., Protein Sci. 27, 293 (2018)): ω more
than 30° from 0° and 180° is twisted, within 30° of 0° cis, which only proline often is. A Cα is of the wrong
hand where its chiral volume is negative in a residue that is no D amino acid. Two atoms clash where their van
der Waals radii (Word et al., J. Mol. Biol. 285, 1711 (1999)) overlap by 0.4 Å or more and no bond or hydrogen
bond explains it; hydrogens are left out, so that fewer clashes are found than with them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import gemmi
import numpy as np
import pandas as pd

from foldnote.results.core.numeric import Floats
from foldnote.results.structure.residues import find_parent, find_role
from foldnote.results.structure.walk import walk_polymers, walk_residues

TWISTED, CIS, CHIRALITY, CLASH = "twisted peptide", "cis peptide", "wrong chirality", "clash"
FROM_PLANAR_DEGREES = 30.0
OVERLAP_A = 0.4
MOST_RESIDUES = 20_000
"""Residues of a model beyond which its geometry is not looked at."""
COLUMNS = {
    "kind": "str", "chain": "str", "number": "str", "residue": "str", "atom": "str", "other_chain": "str",
    "other_number": "str", "other_residue": "str", "other_atom": "str", "value": "float64", "unit": "str",
}  # fmt: skip
_PEPTIDE_A = 2.0
"""C and N further apart than this (Å) are no peptide bond: residues between them are missing."""
_RADII_A = {"C": 1.70, "N": 1.55, "O": 1.40, "S": 1.80, "Se": 1.90, "P": 1.80}
_HYDROGEN_BOND_A = 2.2
"""Nitrogen and oxygen nearer than this (Å) clash, although they may share a hydrogen."""
_FOUR_BONDS_A = 2.6
"""C and the N after next are four bonds apart and may be this near (Å)."""
_BONDS_A = {"CN": 1.65, "CO": 1.6, "CS": 2.0, "SS": 2.3, "NS": 1.9, "SeSe": 2.6, "SSe": 2.45}
"""Pairs nearer than this (Å) are bonded: disulfides, cyclic peptides, isopeptides, thioethers, esters."""
_FURTHEST_A = 1e5
_ATOMS = ("N", "CA", "C", "CB")
_NOWHERE = [float("nan")] * 3
_SEARCHED_A = 4.0
_MOST_CELLS = 5_000_000
"""Cells of the search's grid, 24 bytes each, beyond which coordinates are not plausible: a cube of 680 Å."""

_Row = tuple[str | float, ...]


def find_outliers(structure: gemmi.Structure) -> pd.DataFrame:
    """The outliers of the first model's polymers; the columns are those of ``Structure.geometry``."""
    rows: list[_Row] = []
    chains = [(chain.name, residues) for chain, residues in walk_polymers(structure[0])]
    if sum(len(residues) for _, residues in chains) <= MOST_RESIDUES:
        for name, residues in chains:
            proteins = [residue for residue in residues if find_role(residue) in ("protein", "")]
            places = _read_places(proteins)
            rows += [*_find_peptides(name, proteins, places), *_find_hands(name, proteins, places)]
        rows += _find_clashes(structure)
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS)


def _find_peptides(chain: str, residues: Sequence[gemmi.Residue], places: Floats) -> Iterator[_Row]:
    """Peptide bonds that are twisted, or cis before another residue than proline."""
    bonds = np.stack([places[:-1, 1], places[:-1, 2], places[1:, 0], places[1:, 1]], axis=1)
    torsions = measure_torsions(bonds)
    angles = np.abs(torsions)
    lengths = np.linalg.norm(bonds[:, 1] - bonds[:, 2], axis=1)
    with np.errstate(invalid="ignore"):
        is_cis = angles <= FROM_PLANAR_DEGREES
        is_known = (lengths < _PEPTIDE_A) & (angles < 180 - FROM_PLANAR_DEGREES)
    for row in np.flatnonzero(is_known).tolist():
        before, after = residues[row], residues[row + 1]
        if is_cis[row] and find_parent(after.name) in ("PRO", "HYP"):
            continue
        kind = CIS if is_cis[row] else TWISTED
        yield (kind, *_name(chain, after, "N"), *_name(chain, before, "C"), float(torsions[row]), "°")


def _find_hands(chain: str, residues: Sequence[gemmi.Residue], places: Floats) -> Iterator[_Row]:
    """Cα atoms of the wrong hand, with their chiral volume: about 2.5 Å³ in an L amino acid."""
    arms = places[:, [0, 2, 3]] - places[:, [1]]
    volumes = np.einsum("ij,ij->i", arms[:, 0], np.cross(arms[:, 1], arms[:, 2]))
    with np.errstate(invalid="ignore"):
        suspects = np.flatnonzero(volumes < 0)
    for row in suspects.tolist():
        residue = residues[row]
        is_mirrored = gemmi.find_tabulated_residue(residue.name).kind == gemmi.ResidueKind.AAD
        if not is_mirrored and not _is_mirrored_name(residue.name):
            yield (CHIRALITY, *_name(chain, residue, "CA"), "", "", "", "", float(volumes[row]), "Å³")


def _is_mirrored_name(name: str) -> bool:
    """Whether a force field names a D amino acid so, such as ``DALA``."""
    return len(name) == 4 and name[0] == "D" and find_parent(name) == find_parent(name[1:])


def _find_clashes(structure: gemmi.Structure) -> list[_Row]:
    """The nearest two atoms of every pair of residues that clash, by distance."""
    model = structure[0].clone()
    model.remove_alternative_conformations()
    model.remove_hydrogens()
    model.remove_ligands_and_waters()
    alone = gemmi.Structure()
    alone.add_model(model)
    places = [atom.pos.tolist() for _, residue in walk_residues(model) for atom in residue]
    if not places or not np.prod(np.ptp(np.array(places), axis=0) / _SEARCHED_A + 1) < _MOST_CELLS:
        return []
    neighbours = gemmi.NeighborSearch(alone, _SEARCHED_A).populate()
    search = gemmi.ContactSearch(_SEARCHED_A)
    search.ignore = gemmi.ContactSearch.Ignore.AdjacentResidues
    for symbol, radius in _RADII_A.items():
        search.set_radius(gemmi.Element(symbol), radius - OVERLAP_A / 2)
    contacts = sorted(search.find_contacts(neighbours), key=lambda contact: contact.dist)
    # Residue numbers do not tell the order: 111C and 111E have the same one.
    positions = {
        (chain.name, str(residue.seqid)): position
        for chain in model
        for position, residue in enumerate(chain)
    }
    nearest: dict[_Row, _Row] = {}
    bonded: set[_Row] = set()
    for found in contacts:
        one, other = found.partner1, found.partner2
        who = _name(one.chain.name, one.residue, one.atom.name)
        whom = _name(other.chain.name, other.residue, other.atom.name)
        pair = (*who[:2], *whom[:2])
        if _is_bond(one.atom.element.name, other.atom.element.name, found.dist):
            bonded.add(pair)
        elif pair not in bonded and _is_clash(
            one, other, found.dist, abs(positions[who[:2]] - positions[whom[:2]])
        ):
            nearest.setdefault(pair, (CLASH, *who, *whom, round(float(found.dist), 3), "Å"))
    return list(nearest.values())


def _is_bond(first: str, second: str, distance: float) -> bool:
    return 1.0 < distance < _BONDS_A.get("".join(sorted((first, second))), 0.0)


def _is_clash(one: gemmi.CRA, other: gemmi.CRA, distance: float, apart: int) -> bool:
    """Whether two atoms clash that are ``distance`` Å and ``apart`` residues of the file apart."""
    first, second = one.atom.element.name, other.atom.element.name
    if first not in _RADII_A or second not in _RADII_A:
        return False
    if {first, second} <= {"N", "O", "S"}:
        return distance < _HYDROGEN_BOND_A + (0.4 if "S" in (first, second) else 0)
    names = {one.atom.name, other.atom.name}
    numbers_apart = abs((one.residue.seqid.num or 0) - (other.residue.seqid.num or 0))
    is_after_next = one.chain.name == other.chain.name and apart == 2 and numbers_apart <= 2
    if names == {"C", "N"} and is_after_next:
        return distance < _FOUR_BONDS_A
    return distance <= _RADII_A[first] + _RADII_A[second] - OVERLAP_A


def measure_torsions(places: Floats) -> Floats:
    """Torsion angles in degrees, -180 to 180, of places (n, 4, 3) in Å; NaN where one is missing."""
    first, second, third = np.moveaxis(np.diff(places, axis=1), 1, 0)
    left, right = np.cross(first, second), np.cross(second, third)
    sines = np.einsum("ij,ij->i", first, right) * np.linalg.norm(second, axis=1)
    return np.asarray(np.degrees(np.arctan2(sines, np.einsum("ij,ij->i", left, right))))


def _read_places(residues: Sequence[gemmi.Residue]) -> Floats:
    """Places of N, Cα, C and Cβ, (n, 4, 3) in Å; NaN where one is missing or not plausible."""
    found = [[_read_place(residue.find_atom(name, "*")) for name in _ATOMS] for residue in residues]
    places = np.array(found, dtype=np.float64).reshape(-1, 4, 3)
    return np.where(np.abs(places) < _FURTHEST_A, places, np.nan)


def _read_place(atom: gemmi.Atom | None) -> list[float]:
    return _NOWHERE if atom is None else atom.pos.tolist()


def _name(chain: str, residue: gemmi.Residue, atom: str) -> tuple[str, str, str, str]:
    return (chain, str(residue.seqid), residue.name, atom)
