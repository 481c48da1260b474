"""Coordinates that are not numbers, such as ``********`` for a number too wide for its columns.

It runs in the engines' own environments.
"""

from __future__ import annotations

import math
from typing import Any

from engine_protocol import fail

RECORDS = ("ATOM  ", "HETATM")
COLUMNS = ((30, 38), (38, 46), (46, 54))
"""Where x, y and z of an atom are in its line."""


def check_coordinates(structure: Any, text: str, file: str, *, is_pdb: bool) -> None:
    """Fail if an atom of the first model has a coordinate that is not a finite number.

    Gemmi reads such coordinates of mmCIF as NaN. Those of PDB files it reads as 0, or up to the first
    character that belongs to no number, so they are found in the text.

    Args:
        structure: Gemmi's structure of ``text``.
        text: content of a PDB or mmCIF file.
        file: what the message calls it.
        is_pdb: whether the file is PDB.
    """
    if is_pdb:
        _check_lines(text, file)
    for each in structure[0].all() if len(structure) else ():
        if not all(map(math.isfinite, each.atom.pos.tolist())):
            where = f"{each.residue.name} {each.chain.name}:{each.residue.seqid}"
            fail(f"{file} has no coordinates for atom {each.atom.name} of {where}. Correct the file.")


def _check_lines(text: str, file: str) -> None:
    """Check a PDB file's lines; Gemmi itself rejects those that end before their coordinates."""
    for number, line in enumerate(text.splitlines(), start=1):
        record = line[:6].upper()
        if record == "ENDMDL":
            return
        if record in RECORDS and len(line) >= COLUMNS[-1][1] and not _has_numbers(line):
            fail(
                f"{file} has coordinates that are not numbers in line {number}: {line[:54].rstrip()!r}."
                " Correct the file."
            )


def _has_numbers(line: str) -> bool:
    try:
        return all(math.isfinite(float(line[start:end])) for start, end in COLUMNS)
    except ValueError:
        return False
