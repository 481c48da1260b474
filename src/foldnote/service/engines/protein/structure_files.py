"""Read a PDB or mmCIF file with Gemmi for engines that design, or fail with a plain sentence.

It runs in the engines' own environments, with Gemmi.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from structure_text import parse_structure


def read_structure_file(path: Path, notes: list[str]) -> Any:
    """Return the structure of a file whose first model has atoms; fail if there is none.

    Args:
        path: path of the file.
        notes: a sentence is added where the file has several models, of which the first is meant.
    """
    text = path.read_bytes().decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    structure = parse_structure(text, "The structure's file", "the structure")
    if len(structure) > 1:
        notes.append(f"The first of the structure's {len(structure)} models was used.")
    return structure
