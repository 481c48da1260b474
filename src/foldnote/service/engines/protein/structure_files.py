"""Read a PDB or mmCIF file with Gemmi for engines that design, or fail with a plain sentence.

It runs in the engines' own environments, with Gemmi.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine_protocol import fail
from pdb_coordinates import check_coordinates


def read_structure_file(path: Path, notes: list[str]) -> Any:
    """Return the structure of a file whose first model has atoms; fail if there is none.

    Args:
        path: path of the file.
        notes: a sentence is added where the file has several models, of which the first is meant.
    """
    import gemmi

    text = path.read_bytes().decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    try:
        if "_atom_site." in text:
            structure = gemmi.make_structure_from_block(gemmi.cif.read_string(text).sole_block())
        else:
            structure = gemmi.read_pdb_string(text)
            check_coordinates(text, "The structure's file")
    except (RuntimeError, ValueError, IndexError) as exc:
        fail(f"The structure cannot be read: {' '.join(str(exc).split())[:200].rstrip('.')}.")
    if not len(structure) or not structure[0].count_atom_sites():
        fail("The structure's file holds no atoms. Give a PDB or mmCIF file.")
    if len(structure) > 1:
        notes.append(f"The first of the structure's {len(structure)} models was used.")
    return structure
