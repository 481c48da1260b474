"""Say what a sequence lacks of a whole variable domain, before a model makes a structure of it.

It runs inside the engines' own environments and uses the standard library only. Numbers are those of IMGT.
"""

from __future__ import annotations

from collections.abc import Iterable

_FIRST, _LAST = 7, 121
"""A domain begins at the first or before it, and ends at the last or after it, as ImmuneBuilder asks."""


def explain_missing_ends(field: str, numbers: Iterable[int]) -> str:
    """A sentence for the user if residues at an end of the domain lack; else empty.

    Args:
        field: the setting with the sequence.
        numbers: IMGT numbers of the residues that are there.
    """
    there = list(numbers)
    if max(there) >= _LAST and min(there) <= _FIRST:
        return ""
    return (
        f"The {field} sequence lacks residues at an end of its variable domain (IMGT {min(there)} to"
        f" {max(there)} are there). Give the whole domain."
    )
