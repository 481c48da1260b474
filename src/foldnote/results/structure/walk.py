"""Walk over the residues of a model in file order: the one loop behind every table of residues or atoms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import gemmi


class ResidueId(NamedTuple):
    """Chain name, number with insertion code, and residue name as the file's author gives them."""

    chain: str
    number: str
    residue: str


def walk_residues(model: gemmi.Model) -> Iterator[tuple[ResidueId, gemmi.Residue]]:
    """Every residue of a model: polymers, ligands and waters, alternative conformations included."""
    for chain in model:
        for residue in chain:
            yield ResidueId(chain.name, str(residue.seqid), residue.name), residue


def walk_polymers(model: gemmi.Model) -> Iterator[tuple[gemmi.Chain, list[gemmi.Residue]]]:
    """The chains of a model that have a polymer, each with its residues, alternatives left out."""
    for chain in model:
        residues = list(chain.get_polymer().first_conformer())
        if residues:
            yield chain, residues
