"""The chain that a job names, written as a PDB file that ColabDesign reads correctly."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from engine_protocol import fail
from protein_files import Protein, ProteinResidue, write_protein

BACKBONE = ("N", "CA", "C")
CHAIN = "A"
"""Name of the chain in the file that ColabDesign reads."""
_NUMBERS = range(-999, 10000)
"""Residue numbers that fit the PDB format."""


@dataclass(frozen=True)
class GivenChain:
    """The residues of a chain that have a complete backbone.

    Attributes:
        residues: with chain and number as in the file.
        path: PDB file of these residues, as chain ``A``.
    """

    residues: tuple[ProteinResidue, ...]
    path: Path

    @property
    def sequence(self) -> str:
        """One-letter codes."""
        return "".join(residue.letter for residue in self.residues)


def take_chain(protein: Protein, name: str, notes: list[str], *, keeps_numbers: bool) -> GivenChain:
    """Return the chain ``name``; fail if it does not exist, or none of it can be used.

    Args:
        protein: what the file has.
        name: the chain's name in the job.
        notes: receives sentences on what was left out.
        keeps_numbers: whether to keep residue numbers, which show gaps to AlphaFold; else they count from 1.
    """
    chain = [residue for residue in protein.residues if residue.chain == name]
    if not chain:
        there = ", ".join(each or "one without a name" for each in protein.chains)
        fail(f"The structure has no protein chain {name}; it has {there}.")
    whole = [residue for residue in chain if all(map(residue.find, BACKBONE))]
    if not whole:
        fail(f"No residue of chain {name} has the backbone atoms N, CA and C.")
    if len(whole) < len(chain):
        notes.append(
            f"Residues of chain {name} left out, since they lack N, CA or C: {len(chain) - len(whole)}."
        )
    if len(protein.chains) > 1:
        others = ", ".join(each or "one without a name" for each in protein.chains if each != name)
        notes.append(f"Only chain {name} was used; left out: {others}.")
    numbers = (
        renumber_residues(whole, notes) if keeps_numbers else [str(place + 1) for place in range(len(whole))]
    )
    renamed = [replace(each, chain=CHAIN, number=new) for each, new in zip(whole, numbers, strict=True)]
    return GivenChain(tuple(whole), write_protein(Path("given"), renamed, ["CHAIN THAT COLABDESIGN READ"]))


def renumber_residues(residues: Sequence[ProteinResidue], notes: list[str]) -> list[str]:
    """Return the residues' own numbers if they ascend without insertion codes, else 1, 2, 3 and so on."""
    plain = [residue.number for residue in residues if re.fullmatch(r"-?\d+", residue.number)]
    numbers = [int(number) for number in plain]
    ascend = all(one < two for one, two in pairwise(numbers))
    if len(plain) == len(residues) and ascend and all(number in _NUMBERS for number in numbers):
        return plain
    notes.append(
        "The residue numbers do not ascend, or have insertion codes: AlphaFold got the residues as an"
        " unbroken chain in the file's order. The results have the file's numbers."
    )
    return [str(place + 1) for place in range(len(residues))]
