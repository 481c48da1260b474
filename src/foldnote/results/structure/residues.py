"""Classify residues by their names and atoms, as protein, nucleic acid, water, ion, glycan or lipid.

Force fields have their own names for waters, ions, sugars and lipids. Sources: the residue templates of
ff14SB, OL3, OL15, GLYCAM_06j and Lipid21 (AMBER) and of CHARMM36, and the residue types of GROMACS. Some of
these names have another meaning in the PDB (``CLA`` is chloride or chlorophyll, ``ADE`` a nucleotide or the
free base); these are distinguished by their atoms.
"""

from __future__ import annotations

import re
from functools import lru_cache

import gemmi

from foldnote.residue_names import BASES, find_amino_acid, find_nucleotide

_CAPS = frozenset(["ACE", "FOR", "NAC", "NH2", "NHE", "NME", "NMA", "CT1", "CT2", "CT3"])
_WATERS = frozenset(
    [
        "HOH", "WAT", "DOD", "H2O", "HHO", "OHH", "OH2", "SOL", "TIP", "TIP2", "TIP3", "TIP4", "TIP5",
        "TP3", "TP4", "TP5", "T3P", "T4P", "T5P", "T3H", "T4E", "T4H", "SPC", "SPCE", "SPF", "OPC",
        "OPC3", "SWM", "SWM4",
    ]
)  # fmt: skip
_MAX_WATER_SITES = 6
_IONS = {
    "LIT": "Li", "LI+": "Li", "SOD": "Na", "NA+": "Na", "IP": "Na", "IB": "Na", "IB+": "Na", "POT": "K",
    "K+": "K", "MK": "K", "RUB": "Rb", "RB+": "Rb", "CES": "Cs", "CS+": "Cs", "CIO": "Cs", "CAL": "Ca",
    "CA2+": "Ca", "BAR": "Ba", "MG2": "Mg", "MG2+": "Mg", "ZN2": "Zn", "ZN2+": "Zn", "CD2": "Cd",
    "CLA": "Cl", "CL-": "Cl", "IM": "Cl", "BR-": "Br", "F-": "F", "I-": "I",
}  # fmt: skip
"""Elements of monatomic ions, by residue name in upper case."""
_GLYCAM = re.compile(r"[0-9PQRSTUVWXYZ]([A-Za-z][ABCDU]|[Tt][Vv])|[0-9A-K][Gg]L|[A-K4789][Ss][AB]")
"""GLYCAM's codes of linkage, sugar, ring size and anomer."""
_SUGARS = frozenset(
    [
        "ROH", "OME", "TBT", "ACX", "MEX", "AGLC", "BGLC", "AALT", "BALT", "AALL", "BALL", "AGAL", "BGAL",
        "AGUL", "BGUL", "AIDO", "BIDO", "AMAN", "BMAN", "ATAL", "BTAL", "AXYL", "BXYL", "AFUC", "BFUC",
        "ARHM", "BRHM", "AGLCA", "BGLCA", "AGLCN", "BGLCN", "AGLCNA", "BGLCNA", "AGALNA", "BGALNA",
        "AMANNA", "BMANNA", "AIDOA", "BIDOA", "ANE5", "BNE5", "ANE5AC", "BNE5AC", "AARB", "BARB", "ALYF",
        "BLYF", "ARIB", "BRIB", "AFRU", "BFRU", "ADEO", "BDEO",
    ]
)  # fmt: skip
_LIPIDS = frozenset(
    [
        "CHL1", "CHL", "ERG", "CHNS", "CHM1", "SDS", "PSM", "SSM", "OSM", "ASM", "BSM", "LSM", "NSM",
        "CER2", "SAPI", "DMPI", "POPI", "PNPI", "PLPI", "PYPI", "BDDM", "DPC", "DHPC", "LMPG", "LPPC",
        "PA", "PC", "PE", "PS", "PGR", "PH-", "LAL", "OL", "MY", "ST", "AR", "DHA", "SPM", "SA",
    ]
)  # fmt: skip
_LIPID = re.compile(r"(D[ABDEGLMNOPSTUXY]|P[ABDHLMNOPSVXY]|S[ADLOPST]|Y[OP]|O[PSO]|L[LOPY]|QM|AP|IP)P[ACEGS]")
"""Abbreviations of two acyl chains and a head group in CHARMM36 and Lipid21."""
_PROTEIN_KINDS = (
    gemmi.ResidueKind.AA, gemmi.ResidueKind.AAD, gemmi.ResidueKind.PAA, gemmi.ResidueKind.MAA,
)  # fmt: skip
_NUCLEIC_KINDS = {gemmi.ResidueKind.RNA: "RNA", gemmi.ResidueKind.DNA: "DNA"}
_SUGAR_KINDS = (gemmi.ResidueKind.PYR, gemmi.ResidueKind.KET)
_BACKBONE = frozenset(["N", "CA", "C"])
_PYRANOSE = frozenset(["C1", "C2", "C3", "C4"])
_RING_OXYGENS = frozenset(["O4", "O5", "O6"])
_RIBOSE = frozenset(["C1'", "C3'", "C4'", "C5'"])


@lru_cache(maxsize=4096)
def is_force_field_name(name: str) -> bool:
    """Return whether a known force field has a residue of this name."""
    is_polymer = bool(find_amino_acid(name) or find_nucleotide(name))
    is_solvent = name.upper() in _WATERS or name.upper() in _IONS
    return is_polymer or is_solvent or name in _SUGARS or name in _LIPIDS or bool(_LIPID.fullmatch(name))


def find_role(residue: gemmi.Residue) -> str:
    """Classify a residue by its name and atoms.

    Returns:
        ``protein``, ``DNA``, ``RNA``, ``cap`` (of a chain's end), ``water``, ``ion``, ``glycan`` or
        ``lipid``; "" if the name is neither in the PDB nor in a known force field.
    """
    name = residue.name
    role = _find_known_role(name)
    if role in ("protein", "water"):
        return role
    atoms = frozenset(atom.name.replace("*", "'").upper() for atom in residue)
    if role in ("RNA", "DNA") and (len(name) < 3 or _has_ribose(atoms)):
        return "DNA" if name in ("A", "C", "G", "I", "N") and _lacks_hydroxyl(atoms) else role
    return ("" if role in ("RNA", "DNA") else role) or _find_force_field_role(name, atoms)


def find_ion_element(residue: gemmi.Residue) -> str:
    """Return the element of an ion with a force-field name, such as ``K`` for ``POT``; else ""."""
    is_ion = (
        len(residue) == 1 and gemmi.find_tabulated_residue(residue.name).kind == gemmi.ResidueKind.UNKNOWN
    )
    return _IONS.get(residue.name.upper(), "") if is_ion else ""


def has_backbone(residue: gemmi.Residue) -> bool:
    """Return whether a residue has the backbone of a protein or nucleic acid, or only its trace atom."""
    atoms = frozenset(atom.name.replace("*", "'") for atom in residue)
    is_whole = atoms >= _BACKBONE or {"C4'", "C3'"} <= atoms
    return is_whole or (len(atoms) == 1 and bool(atoms & {"CA", "P", "C4'", "C3'"}))


@lru_cache(maxsize=4096)
def _find_known_role(name: str) -> str:
    """Classify by the PDB name alone; "" if the atoms must be considered."""
    info = gemmi.find_tabulated_residue(name)
    if name in _CAPS:
        return "cap"
    if info.is_water():
        return "water"
    if info.kind in _PROTEIN_KINDS:
        return "protein" if name != "DHA" else ""
    if info.kind in _SUGAR_KINDS or name == "FUL":
        return "glycan"
    return _NUCLEIC_KINDS.get(info.kind, "")


def _find_force_field_role(name: str, atoms: frozenset[str]) -> str:
    upper = name.upper()
    info = gemmi.find_tabulated_residue(name)
    is_named = info.kind != gemmi.ResidueKind.UNKNOWN
    if (
        upper in _WATERS
        and len(atoms) <= _MAX_WATER_SITES
        and {atom[0] for atom in atoms} & set("OCN") == {"O"}
    ):
        return "water"
    if len(atoms) == 1 and (upper in _IONS or _is_ionic(upper)):
        return "ion"
    if find_amino_acid(name) and atoms & _BACKBONE:
        return "protein"
    if (parent := find_nucleotide(name)) and _has_ribose(atoms):
        is_dna = parent.startswith("D") or (upper in BASES and _lacks_hydroxyl(atoms))
        return "DNA" if is_dna else "RNA"
    if name in _SUGARS or (_GLYCAM.fullmatch(name) and atoms >= _PYRANOSE and atoms & _RING_OXYGENS):
        return "glycan"
    is_lipid = len(atoms) > 1 and (name in _LIPIDS or _LIPID.fullmatch(name))
    return "lipid" if is_lipid and (not is_named or name in ("DHA", "SPM")) else ""


def _is_ionic(name: str) -> bool:
    """Return whether a name is the symbol of a halogen or metal, with or without a charge."""
    symbol = name.rstrip("0123456789+-")
    return symbol in ("F", "CL", "BR", "I", "IOD") or (len(symbol) < 3 and gemmi.Element(symbol).is_metal)


def _has_ribose(atoms: frozenset[str]) -> bool:
    """Return whether there are ribose atoms, or only the phosphorus of a trace."""
    return bool(atoms & _RIBOSE) or atoms == {"P"}


def _lacks_hydroxyl(atoms: frozenset[str]) -> bool:
    """Return whether a nucleotide has the 2' carbon but not the 2' oxygen."""
    return "C2'" in atoms and "O2'" not in atoms
