"""Residue names: those of the PDB, from gemmi, and the equivalent ones of AMBER, CHARMM and GROMACS.

Force fields have a name for every protonation state and chain end (``HIE``, ``NHID``, ``RA5``), and their own
names for nucleotides. Sources: the residue templates of ff14SB, OL3 and OL15 (AMBER) and of CHARMM36, and the
residue types of GROMACS. Looking up a name needs gemmi, so forms import this module only where they read
files.
"""

from __future__ import annotations

import re
from functools import lru_cache

import gemmi

UNKNOWN = "X"
"""Letter of a residue without a one-letter code."""
_AMINO_ACIDS = {
    "ALA": "", "ARG": "ARGN ARN", "ASN": "ASN1 NLN", "ASP": "ASH ASPH ASPP ASP1", "GLN": "QLN",
    "CYS": "CYX CYM CYN CYS1 CYS2 CYSH CYSP CYSF CYSG CYSL", "GLU": "GLH GLUH GLUP", "GLY": "GLYM",
    "HIS": "HID HIE HIP HSD HSE HSP HISA HISB HISD HISE HISH HISP HIS1 HIS2", "ILE": "", "LEU": "",
    "LYS": "LYN LYP LYSH LYSN LSN LYR", "MET": "", "PHE": "PHEH PHEU", "PRO": "", "SER": "OLS",
    "THR": "OLT", "TRP": "TRPH TRPU", "TYR": "TYM TYRH TYRU", "VAL": "", "HYP": "OLP", "ORN": "",
    "DAB": "", "NLE": "", "PCA": "PGLU", "MLE": "MELEU", "MVA": "MEVAL",
}  # fmt: skip
"""PDB names with the force-field names of protonation states and of bonded or glycosylated residues."""
BASES = {"ADE": "A", "CYT": "C", "GUA": "G", "THY": "DT", "URA": "U"}
"""PDB names of the nucleotides by the names of their bases in CHARMM."""
_NUCLEOTIDE = re.compile(r"([DR]?)([ACGTU])([35N]?)")
_PARENTS = {other: name for name, others in _AMINO_ACIDS.items() for other in others.split()}


@lru_cache(maxsize=4096)
def find_parent(name: str) -> str:
    """Return the PDB name of a polymer residue, such as ``HIS`` for ``NHID``; unknown names are unchanged."""
    is_in_pdb = gemmi.find_tabulated_residue(name).kind != gemmi.ResidueKind.UNKNOWN
    return name if is_in_pdb else find_amino_acid(name) or find_nucleotide(name) or name


@lru_cache(maxsize=4096)
def find_letter(name: str) -> str:
    """Return the one-letter code of a polymer residue; ``X`` if there is none."""
    if find_parent(name) == "PCA":
        return "Q"  # pyroglutamate: E in gemmi, but glutamine in the PDB's Chemical Component Dictionary
    letter = gemmi.find_tabulated_residue(find_parent(name)).one_letter_code.upper()
    return letter if letter.isalpha() else UNKNOWN


def find_amino_acid(name: str) -> str:
    """Return an amino acid's PDB name, ignoring the prefix N or C (chain end) or D (enantiomer); else ""."""
    for own in (name, name[1:] if name[:1] in ("N", "C", "D") and len(name) > 3 else ""):
        if own in _AMINO_ACIDS:
            return own
        if own in _PARENTS:
            return _PARENTS[own]
    return ""


def find_nucleotide(name: str) -> str:
    """Return the PDB name of a nucleotide, such as ``DA`` for ``DA5`` and ``A`` for ``RAN``; else ""."""
    if name in BASES:
        return BASES[name]
    found = _NUCLEOTIDE.fullmatch(name)
    if found is None:
        return ""
    return "D" + found[2] if found[1] == "D" or (found[2] == "T" and found[1] != "R") else found[2]
