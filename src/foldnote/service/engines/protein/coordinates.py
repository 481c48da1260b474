"""Coordinates of PDB files that are not numbers, such as ``********`` for a number too wide for its columns.

Gemmi reads them as 0, or up to the first character that belongs to no number, so they are found in the text.
It runs in the engines' own environments.
"""

from __future__ import annotations

import math

from engine_protocol import fail

RECORDS = ("ATOM  ", "HETATM")
COLUMNS = ((30, 38), (38, 46), (46, 54))
"""Where x, y and z of an atom are in its line."""


def check_coordinates(text: str, file: str) -> None:
    """Fail if an atom of the first model has a coordinate that is not a finite number.

    Lines that end before their coordinates are left to Gemmi, which rejects them.

    Args:
        text: content of a PDB file.
        file: what the message calls it.
    """
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
