"""Reduce structures to one alternate location of each residue, the most occupied one.

As in biotite, the occupancies of all atoms of a location are summed for each residue; of equally occupied
locations the first in alphabetical order is kept. It runs in the engines' own environments, with Gemmi.
"""

from __future__ import annotations

from itertools import groupby
from typing import Any


def keep_most_occupied(model: Any, notes: list[str], owner: str = "") -> None:
    """Remove all atoms of a Gemmi model that are not in the most occupied location of their residue.

    Of different residues that are alternatives at one position, the most occupied is kept.

    Args:
        model: it is changed.
        notes: a sentence is added if residues have alternate locations.
        owner: whose locations they are, such as ``the receptor's``, for the sentence.
    """
    positions = 0
    for chain in model:
        unused: list[int] = []
        for _, group in groupby(enumerate(chain), key=lambda pair: str(pair[1].seqid)):
            here = list(group)
            if not any(atom.has_altloc() for _, residue in here for atom in residue):
                continue
            positions += 1
            unused += _find_unused(here)
            for index, residue in here:
                if index not in unused:
                    _keep_atoms(residue)
        for index in reversed(unused):
            del chain[index]
    if positions:
        whose = " ".join(["Of", *owner.split(), "alternate locations"])
        where = "1 residue" if positions == 1 else f"{positions} residues"
        notes.append(f"{whose} the most occupied one was used ({where}).")


def list_most_occupied(residue: Any) -> list[Any]:
    """Return the atoms of a Gemmi residue in its most occupied location, in file order.

    An atom that is not in this location is taken from the location where its own occupancy is highest.
    """
    places: dict[str, dict[str, float]] = {}
    for atom in residue:
        known = places.setdefault(atom.name, {})
        known[atom.altloc] = max(known.get(atom.altloc, 0.0), atom.occ)
    chosen = _weigh(residue)[0]
    kept = {
        name: chosen if chosen in known else max(sorted(known), key=lambda label: known[label])
        for name, known in places.items()
    }
    return [atom for atom in residue if atom.altloc == kept[atom.name]]


def _find_unused(here: list[tuple[int, Any]]) -> list[int]:
    """Return the indices of the residues at one position that are alternatives to the most occupied one."""
    alternatives = [
        (index, residue)
        for index, residue in here
        if len(residue) > 0 and all(atom.has_altloc() for atom in residue)
    ]
    if len(alternatives) < 2:
        return []
    used, _ = max(alternatives, key=lambda pair: _weigh(pair[1])[1])
    return [index for index, _ in alternatives if index != used]


def _weigh(residue: Any) -> tuple[str, float]:
    """Return the most occupied location of a residue, and the sum of its occupancies.

    An atom without a location counts if another atom has its name and a location.
    """
    names = {atom.name for atom in residue if atom.has_altloc()}
    sums: dict[str, float] = {}
    for atom in residue:
        if atom.name in names:
            sums[atom.altloc] = sums.get(atom.altloc, 0.0) + atom.occ
    return max(sorted(sums.items()), key=lambda pair: pair[1], default=("", 0.0))


def _keep_atoms(residue: Any) -> None:
    """Remove the atoms of all other locations; the kept ones have none any more."""
    kept = [atom.clone() for atom in list_most_occupied(residue)]
    for index in reversed(range(len(residue))):
        del residue[index]
    for atom in kept:
        atom.altloc = "\0"
        residue.add_atom(atom)
