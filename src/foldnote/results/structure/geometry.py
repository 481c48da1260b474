"""Find geometric outliers of protein models: peptide bonds, Cα chirality and clashes.

Peptide bonds follow MolProbity's limits (Williams et al., Protein Sci. 27, 293 (2018)): twisted if ω is more
than 30° from both 0° and 180°, cis if within 30° of 0°, which is common before proline only. Cα chirality is
wrong if the chiral volume is negative in a residue that is not a D amino acid; residues with unknown names
may be D amino acids and are not judged. Two atoms clash if their van der Waals radii (Word et al., J. Mol.
Biol. 285, 1711 (1999)) overlap by 0.4 Å or more without a bond or hydrogen bond. Hydrogens are ignored, so
fewer clashes are found than with an all-atom analysis.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import gemmi
import numpy as np
import pandas as pd

from foldnote.residue_names import find_parent
from foldnote.results.core.numeric import Floats
from foldnote.results.structure.residues import find_role
from foldnote.results.structure.walk import walk_polymers, walk_residues

TWISTED, CIS, CHIRALITY, CLASH = "twisted peptide", "cis peptide", "wrong chirality", "clash"
FROM_PLANAR_DEGREES = 30.0
OVERLAP_A = 0.4
MAX_RESIDUES = 20_000
"""Larger models are not checked."""
COLUMNS = {
    "kind": "str", "chain": "str", "number": "str", "residue": "str", "atom": "str", "other_chain": "str",
    "other_number": "str", "other_residue": "str", "other_atom": "str", "value": "float64", "unit": "str",
}  # fmt: skip
_MAX_PEPTIDE_A = 2.0
"""Maximum length of a peptide bond (Å); at larger distances, residues are missing in between."""
_RADII_A = {"C": 1.70, "N": 1.55, "O": 1.40, "S": 1.80, "Se": 1.90, "P": 1.80}
_HYDROGEN_BOND_A = 2.2
"""Nitrogen and oxygen closer than this (Å) clash even if they form a hydrogen bond."""
_FOUR_BONDS_A = 2.6
"""Minimum distance (Å) of C and the N of the residue after next, which are four bonds apart."""
_BONDS_A = {"CN": 1.65, "CO": 1.6, "CS": 2.0, "SS": 2.3, "NS": 1.9, "SeSe": 2.6, "SSe": 2.45}
"""Maximum bond lengths (Å), for disulfides, cyclic peptides, isopeptides, thioethers and esters."""
_MAX_COORDINATE_A = 1e5
_ATOMS = ("N", "CA", "C", "CB")
_MISSING = [float("nan")] * 3
_SEARCH_RADIUS_A = 4.0
_MAX_CELLS = 5_000_000
"""Maximum number of grid cells of the search, 24 bytes each: a cube of 680 Å."""

_Row = tuple[str | float, ...]


def find_outliers(structure: gemmi.Structure) -> pd.DataFrame:
    """Find the outliers of the first model; see :attr:`foldnote.results.Structure.geometry`."""
    rows: list[_Row] = []
    chains = [(chain.name, residues) for chain, residues in walk_polymers(structure[0])]
    if sum(len(residues) for _, residues in chains) <= MAX_RESIDUES:
        for name, residues in chains:
            proteins = [residue for residue in residues if find_role(residue) in ("protein", "")]
            positions = _read_positions(proteins)
            rows += [
                *_find_peptides(name, proteins, positions),
                *_find_inverted_centres(name, proteins, positions),
            ]
        rows += _find_clashes(structure)
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS)


def _find_peptides(chain: str, residues: Sequence[gemmi.Residue], positions: Floats) -> Iterator[_Row]:
    """Yield peptide bonds that are twisted, or cis before a residue other than proline."""
    bonds = np.stack([positions[:-1, 1], positions[:-1, 2], positions[1:, 0], positions[1:, 1]], axis=1)
    torsions = measure_torsions(bonds)
    angles = np.abs(torsions)
    lengths = np.linalg.norm(bonds[:, 1] - bonds[:, 2], axis=1)
    with np.errstate(invalid="ignore"):
        is_cis = angles <= FROM_PLANAR_DEGREES
        is_known = (lengths < _MAX_PEPTIDE_A) & (angles < 180 - FROM_PLANAR_DEGREES)
    for row in np.flatnonzero(is_known).tolist():
        before, after = residues[row], residues[row + 1]
        if is_cis[row] and find_parent(after.name) in ("PRO", "HYP"):
            continue
        kind = CIS if is_cis[row] else TWISTED
        yield (kind, *_name(chain, after, "N"), *_name(chain, before, "C"), float(torsions[row]), "°")


def _find_inverted_centres(
    chain: str, residues: Sequence[gemmi.Residue], positions: Floats
) -> Iterator[_Row]:
    """Yield Cα atoms with inverted chirality and their chiral volume, about 2.5 Å³ in L amino acids."""
    arms = positions[:, [0, 2, 3]] - positions[:, [1]]
    volumes = np.einsum("ij,ij->i", arms[:, 0], np.cross(arms[:, 1], arms[:, 2]))
    with np.errstate(invalid="ignore"):
        suspects = np.flatnonzero(volumes < 0)
    for row in suspects.tolist():
        residue = residues[row]
        kind = gemmi.find_tabulated_residue(find_parent(residue.name)).kind
        is_known = kind not in (gemmi.ResidueKind.AAD, gemmi.ResidueKind.UNKNOWN)
        if is_known and not _is_mirrored_name(residue.name):
            yield (CHIRALITY, *_name(chain, residue, "CA"), "", "", "", "", float(volumes[row]), "Å³")


def _is_mirrored_name(name: str) -> bool:
    """Return whether the name is a force field's for a D amino acid, such as ``DALA``."""
    return len(name) == 4 and name[0] == "D" and find_parent(name) == find_parent(name[1:])


def _find_clashes(structure: gemmi.Structure) -> list[_Row]:
    """List the closest two atoms of every pair of clashing residues, by distance."""
    model = structure[0].clone()
    model.remove_alternative_conformations()
    model.remove_hydrogens()
    model.remove_ligands_and_waters()
    isolated = gemmi.Structure()
    isolated.add_model(model)
    positions = np.array([atom.pos.tolist() for _, residue in walk_residues(model) for atom in residue])
    if not len(positions) or not np.isfinite(positions).all():
        return []
    if np.prod(np.ptp(positions, axis=0) / _SEARCH_RADIUS_A + 1) >= _MAX_CELLS:
        return []
    neighbours = gemmi.NeighborSearch(isolated, _SEARCH_RADIUS_A).populate()
    search = gemmi.ContactSearch(_SEARCH_RADIUS_A)
    search.ignore = gemmi.ContactSearch.Ignore.AdjacentResidues
    for symbol, radius in _RADII_A.items():
        search.set_radius(gemmi.Element(symbol), radius - OVERLAP_A / 2)
    contacts = sorted(search.find_contacts(neighbours), key=lambda contact: contact.dist)
    # Residue numbers do not give the order: 111C and 111E have the same number.
    indices = {
        (chain.name, str(residue.seqid)): index for chain in model for index, residue in enumerate(chain)
    }
    nearest: dict[_Row, _Row] = {}
    bonded: set[_Row] = set()
    for close_contact in contacts:
        first, second = close_contact.partner1, close_contact.partner2
        first_name = _name(first.chain.name, first.residue, first.atom.name)
        second_name = _name(second.chain.name, second.residue, second.atom.name)
        pair = (*first_name[:2], *second_name[:2])
        if _is_bond(first.atom.element.name, second.atom.element.name, close_contact.dist):
            bonded.add(pair)
        elif pair not in bonded and _is_clash(
            first, second, close_contact.dist, abs(indices[first_name[:2]] - indices[second_name[:2]])
        ):
            nearest.setdefault(
                pair, (CLASH, *first_name, *second_name, round(float(close_contact.dist), 3), "Å")
            )
    return list(nearest.values())


def _is_bond(first: str, second: str, distance: float) -> bool:
    return 1.0 < distance < _BONDS_A.get("".join(sorted((first, second))), 0.0)


def _is_clash(first_atom: gemmi.CRA, second_atom: gemmi.CRA, distance: float, apart: int) -> bool:
    """Return whether two atoms clash that are ``distance`` Å apart, in residues ``apart`` positions apart."""
    first, second = first_atom.atom.element.name, second_atom.atom.element.name
    if first not in _RADII_A or second not in _RADII_A:
        return False
    if {first, second} <= {"N", "O", "S"}:
        return distance < _HYDROGEN_BOND_A + (0.4 if "S" in (first, second) else 0)
    names = {first_atom.atom.name, second_atom.atom.name}
    numbers_apart = abs((first_atom.residue.seqid.num or 0) - (second_atom.residue.seqid.num or 0))
    is_along_chain = first_atom.chain.name == second_atom.chain.name and numbers_apart <= apart <= 2
    has_ends = _has_ends(first_atom.residue) and _has_ends(second_atom.residue)
    if is_along_chain and apart == 1 and not has_ends:
        return False  # the atoms that would show the peptide bond are missing, as in a file of Cα atoms
    if is_along_chain and apart == 2 and names == {"C", "N"}:
        return distance < _FOUR_BONDS_A
    return distance <= _RADII_A[first] + _RADII_A[second] - OVERLAP_A


def _has_ends(residue: gemmi.Residue) -> bool:
    return all(residue.find_atom(name, "*") is not None for name in ("N", "C"))


def measure_torsions(positions: Floats) -> Floats:
    """Return the torsion angles (n,) in degrees, -180 to 180, of positions (n, 4, 3) in Å, or NaN."""
    first, second, third = np.moveaxis(np.diff(positions, axis=1), 1, 0)
    left, right = np.cross(first, second), np.cross(second, third)
    sines = np.einsum("ij,ij->i", first, right) * np.linalg.norm(second, axis=1)
    return np.asarray(np.degrees(np.arctan2(sines, np.einsum("ij,ij->i", left, right))))


def _read_positions(residues: Sequence[gemmi.Residue]) -> Floats:
    """Return the positions of N, Cα, C and Cβ, (n, 4, 3) in Å; NaN for missing or implausible ones."""
    rows = [[_read_position(residue.find_atom(name, "*")) for name in _ATOMS] for residue in residues]
    positions = np.array(rows, dtype=np.float64).reshape(-1, 4, 3)
    return np.where(np.abs(positions) < _MAX_COORDINATE_A, positions, np.nan)


def _read_position(atom: gemmi.Atom | None) -> list[float]:
    return _MISSING if atom is None else atom.pos.tolist()


def _name(chain: str, residue: gemmi.Residue, atom: str) -> tuple[str, str, str, str]:
    return (chain, str(residue.seqid), residue.name, atom)
