"""Hydrogen bonds by distance and angle, and which atoms of residues can be donors and acceptors.

The criterion is that of Baker and Hubbard, Prog. Biophys. Mol. Biol. 44, 97 (1984), applied to heavy atoms:
donor and acceptor are nitrogen or oxygen, at most 3.5 Å apart; if the file has hydrogens at the donor, one of
them has a donor-hydrogen-acceptor angle of at least 120°. With hydrogens in the file, the bonds between 39
ligands and their proteins are those that ProLIF 2.2.3 finds with these limits.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from foldnote.results.core.numeric import Floats

Roles = NDArray[np.bool_]
HYDROGEN_BOND_A = 3.5
MIN_ANGLE_DEGREES = 120.0
_MAX_HYDROGEN_A = 1.3
_BACKBONE_PROTEIN = {"N": (True, False), "O": (False, True), "OXT": (False, True)}
_BACKBONE_NUCLEIC = dict.fromkeys(["OP1", "OP2", "OP3", "O3'", "O5'", "O4'"], (False, True)) | {
    "O2'": (True, True)
}
_DONOR, _ACCEPTOR, _EITHER = (True, False), (False, True), (True, True)
_PROTEIN: dict[str, dict[str, tuple[bool, bool]]] = {
    "ALA": {}, "CYS": {}, "GLY": {}, "ILE": {}, "LEU": {}, "MET": {}, "PHE": {}, "VAL": {}, "MSE": {},
    "PRO": {"N": (False, False)},
    "ARG": {"NE": _DONOR, "NH1": _DONOR, "NH2": _DONOR},
    "ASN": {"OD1": _ACCEPTOR, "ND2": _DONOR}, "GLN": {"OE1": _ACCEPTOR, "NE2": _DONOR},
    "ASP": {"OD1": _ACCEPTOR, "OD2": _ACCEPTOR}, "GLU": {"OE1": _ACCEPTOR, "OE2": _ACCEPTOR},
    "HIS": {"ND1": _EITHER, "NE2": _EITHER}, "LYS": {"NZ": _DONOR}, "TRP": {"NE1": _DONOR},
    "SER": {"OG": _EITHER}, "THR": {"OG1": _EITHER}, "TYR": {"OH": _EITHER},
}  # fmt: skip
_ADENINE = {"N1": _ACCEPTOR, "N3": _ACCEPTOR, "N6": _DONOR, "N7": _ACCEPTOR, "N9": (False, False)}
_GUANINE = {
    "N1": _DONOR, "N2": _DONOR, "N3": _ACCEPTOR, "N7": _ACCEPTOR, "O6": _ACCEPTOR, "N9": (False, False)
}  # fmt: skip
_CYTOSINE = {"N1": (False, False), "N3": _ACCEPTOR, "N4": _DONOR, "O2": _ACCEPTOR}
_URACIL = {"N1": (False, False), "N3": _DONOR, "O2": _ACCEPTOR, "O4": _ACCEPTOR}
_NUCLEIC = {
    "A": _ADENINE, "DA": _ADENINE, "G": _GUANINE, "DG": _GUANINE, "C": _CYTOSINE, "DC": _CYTOSINE,
    "U": _URACIL, "DT": _URACIL,
}  # fmt: skip

PROTONATED_HISTIDINES = ("HID", "HIE", "HIP", "HSD", "HSE", "HSP")
"""Names of protonation states of histidine in simulation files."""
_OTHER_NAMES = dict.fromkeys(PROTONATED_HISTIDINES, "HIS") | {
    "CYX": "CYS", "CYM": "CYS", "ASH": "ASP", "GLH": "GLU", "LYN": "LYS",
}  # fmt: skip


def list_roles() -> dict[str, dict[str, int]]:
    """Return the role of each named atom, by residue name: 1 donor, 2 acceptor, 3 either, 0 none.

    Nitrogens and oxygens that are not listed, and those of other residues, can be either.
    """
    tables = {name: _BACKBONE_PROTEIN | table for name, table in _PROTEIN.items()}
    tables |= {name: _BACKBONE_NUCLEIC | table for name, table in _NUCLEIC.items()}
    tables |= {name: tables[parent] for name, parent in _OTHER_NAMES.items()}
    return {
        name: {atom: int(is_donor) + 2 * int(is_acceptor) for atom, (is_donor, is_acceptor) in table.items()}
        for name, table in tables.items()
    }


def find_hydrogens(hydrogens: Floats, donor: Sequence[float]) -> Floats:
    """Return the positions (n, 3) in Å of those hydrogens that are bonded to an atom at ``donor``."""
    if not len(hydrogens):
        return hydrogens
    distances = np.linalg.norm(hydrogens - np.array(donor), axis=1)
    return np.asarray(hydrogens[distances < _MAX_HYDROGEN_A])


def find_widest_angle(donor: Floats, hydrogens: Floats | None, acceptor: Floats) -> float:
    """Return the widest donor-hydrogen-acceptor angle in degrees; NaN if no hydrogen is known."""
    if hydrogens is None:
        return float("nan")
    back, forth = donor - hydrogens, acceptor - hydrogens
    cosines = (back * forth).sum(axis=1) / np.maximum(
        np.linalg.norm(back, axis=1) * np.linalg.norm(forth, axis=1), 1e-9
    )
    return float(np.degrees(np.arccos(np.clip(cosines, -1, 1))).max())


def find_residue_roles(
    residue: str, atoms: Sequence[tuple[str, str]], have_hydrogens: Sequence[bool]
) -> list[tuple[bool, bool]]:
    """Return whether each heavy atom of a residue can be a hydrogen-bond donor, and whether an acceptor.

    Protonation is that at pH 7, unless hydrogens in the file show another one: an oxygen or nitrogen with a
    hydrogen is a donor, such as the oxygen of a protonated aspartate. In a histidine, a ring nitrogen with a
    hydrogen is only a donor, and one without only an acceptor; if the file has no hydrogens, the tautomer is
    unknown and both can be either. Every nitrogen and oxygen of unknown residues can be either.

    Args:
        residue: three-letter name of the parent residue.
        atoms: name and element of each heavy atom.
        have_hydrogens: whether the file has a hydrogen bonded to it.
    """
    ring = _PROTEIN["HIS"] if residue == "HIS" else {}
    is_told = any(has and name in ring for (name, _), has in zip(atoms, have_hydrogens, strict=True))
    roles = []
    for (name, element), has_hydrogen in zip(atoms, have_hydrogens, strict=True):
        is_donor, is_acceptor = _find_role(residue, name, element)
        if is_told and name in ring:
            is_donor, is_acceptor = has_hydrogen, not has_hydrogen
        roles.append((is_donor or (has_hydrogen and element in ("N", "O")), is_acceptor))
    return roles


def _find_role(residue: str, atom: str, element: str) -> tuple[bool, bool]:
    """Return the role of an atom from the table, regardless of the hydrogens in the file."""
    if element not in ("N", "O"):
        return (False, False)
    if residue in _PROTEIN:
        return (_BACKBONE_PROTEIN | _PROTEIN[residue]).get(atom, _EITHER)
    if residue in _NUCLEIC:
        return (_BACKBONE_NUCLEIC | _NUCLEIC[residue]).get(atom, _EITHER)
    return _EITHER
