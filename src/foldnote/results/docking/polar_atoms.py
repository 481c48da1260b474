"""Which atoms of residues give hydrogen bonds, and which take them: one table.

Protonation is that of pH 7 with both nitrogens of histidine able to do either, as a structure without
hydrogens leaves open. Atoms of residues that are not listed may do both where they are nitrogen or oxygen.
"""

from __future__ import annotations

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


def find_residue_role(residue: str, atom: str, element: str) -> tuple[bool, bool]:
    """Whether an atom of a residue can give, and can take, a hydrogen bond."""
    if element not in ("N", "O"):
        return (False, False)
    if residue in _PROTEIN:
        return (_BACKBONE_PROTEIN | _PROTEIN[residue]).get(atom, _BOTH)
    if residue in _NUCLEIC:
        return (_BACKBONE_NUCLEIC | _NUCLEIC[residue]).get(atom, _BOTH)
    return _BOTH
