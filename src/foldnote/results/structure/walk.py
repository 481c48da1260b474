"""Iterate over the residues of a model in file order, for all tables of residues and atoms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import gemmi


class ResidueId(NamedTuple):
    """Chain name, number with insertion code, and residue name, as assigned by the authors of the file."""

    chain: str
    number: str
    residue: str


def walk_residues(model: gemmi.Model) -> Iterator[tuple[ResidueId, gemmi.Residue]]:
    """Yield every residue of a model: polymers, ligands and waters, including alternative conformations."""
    for chain in model:
        for residue in chain:
            yield ResidueId(chain.name, str(residue.seqid), residue.name), residue


def walk_polymers(model: gemmi.Model) -> Iterator[tuple[gemmi.Chain, list[gemmi.Residue]]]:
    """Yield the chains that contain a polymer, with the residues of its first conformer."""
    for chain in model:
        residues = list(chain.get_polymer().first_conformer())
        if residues:
            yield chain, residues


def list_first_location(residue: gemmi.Residue) -> list[gemmi.Atom]:
    """Return the atoms of a residue without those of its second and further alternate locations.

    gemmi's ``first_conformer`` omits only atoms adjacent to their alternatives; many files list one location
    after the other.
    """
    first = next((atom.altloc for atom in residue if atom.has_altloc()), None)
    return [atom for atom in residue if not atom.has_altloc() or atom.altloc == first]
