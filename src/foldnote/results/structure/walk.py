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
