"""Polymer chains and ligands of a structure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import gemmi

from foldnote.residue_names import find_letter
from foldnote.results.structure.atoms import find_residue_kind
from foldnote.results.structure.entities import find_chain_kind
from foldnote.results.structure.walk import list_first_location


@dataclass(frozen=True)
class Chain:
    """One polymer chain.

    Attributes:
        name: chain name assigned by the authors.
        kind: ``protein``, ``DNA``, ``RNA``, ``DNA/RNA hybrid`` or ``other`` (another polymer).
        sequence: one-letter codes of the residues present; ``X`` for residues without one.
        numbers: residue numbers with insertion code, such as ``"112A"``.
    """

    name: str
    kind: str
    sequence: str
    numbers: tuple[str, ...]

    def __len__(self) -> int:
        """Return the number of residues present."""
        return len(self.numbers)


@dataclass(frozen=True)
class Ligand:
    """A residue that is neither polymer nor water.

    Attributes:
        name: residue name, such as ``ZN`` or ``ATP``.
        chain: chain name assigned by the authors.
        number: residue number.
        atoms: number of atoms, alternate locations counted once.
        kind: ``ion`` (one atom), ``glycan`` (a sugar), ``lipid`` or ``ligand``.
    """

    name: str
    chain: str
    number: str
    atoms: int
    kind: str = "ligand"


def find_ligand_kind(residue: gemmi.Residue) -> str:
    """Classify a residue as ``ion`` (a single atom), ``glycan``, ``lipid`` or ``ligand``."""
    return "ion" if len(list_first_location(residue)) == 1 else find_residue_kind(residue)


def read_chain(name: str, residues: Sequence[gemmi.Residue]) -> Chain:
    """Build a `Chain` from the residues of its polymer."""
    return Chain(
        name=name,
        kind=find_chain_kind(residues),
        sequence="".join(find_letter(residue.name) for residue in residues),
        numbers=tuple(str(residue.seqid) for residue in residues),
    )
