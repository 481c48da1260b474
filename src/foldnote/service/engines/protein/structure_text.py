"""Parse the text of a PDB or mmCIF file with Gemmi, and refuse what it would misread.

It runs in the engines' own environments.
"""

from __future__ import annotations

from typing import Any

from coordinates import check_coordinates
from engine_protocol import fail


def parse_structure(text: str, file: str, content: str) -> Any:
    """Return a Gemmi structure whose first model has an atom; fail if the text is none.

    Args:
        text: content of the file.
        file: what messages call it, such as ``The file``.
        content: what it should hold, such as ``a protein``.
    """
    import gemmi

    form = gemmi.CoorFormat.Mmcif if "_atom_site." in text else gemmi.CoorFormat.Pdb
    try:
        structure = gemmi.read_structure_string(text, format=form)
    except (RuntimeError, ValueError, OSError) as exc:
        reason = " ".join(str(exc).split())[:200].rstrip(".:")
        fail(f"{file} cannot be read: {reason}. Give a PDB or mmCIF file.")
    check_coordinates(structure, text, file, is_pdb=form == gemmi.CoorFormat.Pdb)
    if len(structure) == 0 or not any(True for _ in structure[0].all()):
        fail(f"{file} has no atoms. Give a PDB or mmCIF file of {content}.")
    return structure
