"""LigandMPNN's context of the protein: atoms of ligands, nucleic acids, ions and modified residues."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from backbones import Backbone, name_some, pick_atoms
from engine_protocol import fail

HEAVIEST = 118
"""Atomic number of the last element that the model knows."""
UNSEEN = ("water", "ignored", "no heavy atoms", "zero occupancy")
"""Reasons for which the model does not see a residue."""


@dataclass(frozen=True)
class ContextResidue:
    """One residue outside of the protein chains."""

    name: str
    chain: str
    number: str
    reason: str
    """Why the model does not see it; empty if it does."""
    atoms: tuple[Any, ...] = field(repr=False)
    """Its visible atoms, as gemmi objects."""


def read_context(found: Backbone, ignored: Sequence[str]) -> list[ContextResidue]:
    """Return the residues outside of the protein chains, in the order of the file.

    Args:
        found: the structure.
        ignored: residues to hide from the model: component names (``SO4``), or single residues (``A:301``).
    """
    context = [read_residue(chain, residue, set(ignored)) for chain, residue in found.others]
    known = {name for each in context for name in (each.name, f"{each.chain}:{each.number}")}
    if lacking := [name for name in ignored if name not in known]:
        kinds = list(dict.fromkeys(each.name for each in context if each.reason != "water"))
        fail(
            f"The structure has no {lacking[0]} to ignore. Beside the protein it has"
            f" {name_some(kinds) or 'nothing'}."
        )
    return context


def read_residue(chain: str, residue: Any, ignored: set[str]) -> ContextResidue:
    """Return one residue, with the reason if the model does not see it."""
    number = str(residue.seqid).strip()
    heavy = [
        atom
        for atom in pick_atoms(residue).values()
        if 1 < atom.element.atomic_number <= HEAVIEST and atom.element.name != "D"
    ]
    atoms = tuple(atom for atom in heavy if atom.occ > 0)
    reason = ""
    if residue.is_water():
        reason = "water"
    elif residue.name in ignored or f"{chain}:{number}" in ignored:
        reason = "ignored"
    elif not atoms:
        reason = "zero occupancy" if heavy else "no heavy atoms"
    return ContextResidue(residue.name, chain, number, reason, () if reason else atoms)


def note_context(context: Sequence[ContextResidue], is_used: bool) -> str:
    """Return a sentence on the visible context."""
    seen = [each for each in context if not each.reason]
    if not is_used:
        return "The context was not used: the sequences are designed as if nothing were beside the protein."
    if not seen:
        return "Nothing beside the protein was seen as context, so LigandMPNN designs as without a ligand."
    named = name_some([f"{count} {name}" for name, count in Counter(each.name for each in seen).items()], 12)
    atoms = sum(len(each.atoms) for each in seen)
    left = Counter(each.reason for each in context if each.reason)
    unseen = ", ".join(f"{left[reason]} {reason}" for reason in UNSEEN if left[reason])
    return f"Seen as context: {named} ({atoms} heavy atoms)." + (f" Not seen: {unseen}." if unseen else "")


def find_distances(places: Any, atoms: Any) -> Any:
    """Return the distance in Å from each of ``places`` to the nearest of ``atoms``; infinite without atoms.

    Args:
        places: shape (n, 3).
        atoms: shape (m, 3).
    """
    import numpy
    from scipy.spatial import cKDTree

    if not len(atoms):
        return numpy.full(len(places), numpy.inf)
    return cKDTree(atoms).query(places)[0]


def place_atoms(atoms: Sequence[Any]) -> Any:
    """Return coordinates, shape (n, 3), Å."""
    import numpy

    return numpy.array([atom.pos.tolist() for atom in atoms], dtype=numpy.float32).reshape(-1, 3)
