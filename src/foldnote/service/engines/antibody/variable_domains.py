"""Say which ends of a variable domain a sequence lacks, before a model predicts its structure.

It runs inside the engines' own environments and uses only the standard library. Numbers are those of IMGT.
"""

from __future__ import annotations

from collections.abc import Iterable

_FIRST, _LAST = 7, 121
"""A complete domain begins at or before the first and ends at or after the last, as ImmuneBuilder
requires."""


def explain_missing_ends(field: str, numbers: Iterable[int]) -> str:
    """Return a sentence for the user if residues at an end of the domain are missing; else empty.

    Args:
        field: the setting that contains the sequence.
        numbers: IMGT numbers of the residues that are present.
    """
    there = list(numbers)
    if max(there) >= _LAST and min(there) <= _FIRST:
        return ""
    return (
        f"The {field} sequence lacks residues at an end of its variable domain (IMGT {min(there)} to"
        f" {max(there)} are there). Give the whole domain."
    )
