"""Names of amino acids: those of the PDB, by Gemmi, and those of force fields.

AMBER and CHARMM have a name for every protonation state and bridge of a residue; structures that were
prepared for a simulation contain them.
"""

from __future__ import annotations

import gemmi

UNKNOWN = "X"
"""Letter of a residue that has none."""
STANDARD_NAMES = {
    "HID": "HIS", "HIE": "HIS", "HIP": "HIS", "HSD": "HIS", "HSE": "HIS", "HSP": "HIS",
    "CYX": "CYS", "CYM": "CYS", "ASH": "ASP", "GLH": "GLU", "LYN": "LYS",
}  # fmt: skip
"""Names in the PDB for those of force fields."""


def standardize(name: str) -> str:
    """Return the PDB name of an amino acid with a force field's name; other names are unchanged."""
    return STANDARD_NAMES.get(name, name)


def is_amino_acid(name: str) -> bool:
    """Return whether the name is that of an amino acid, possibly a modified one."""
    return bool(gemmi.find_tabulated_residue(standardize(name)).is_amino_acid())


def find_letter(name: str) -> str:
    """Return a residue's letter, for a modified one its parent's; `UNKNOWN` if there is none."""
    if name == "PCA":
        return "Q"  # pyroglutamate: gemmi has E, the PDB's Chemical Component Dictionary glutamine
    letter = gemmi.find_tabulated_residue(standardize(name)).one_letter_code.upper()
    return letter if letter.isalpha() else UNKNOWN
