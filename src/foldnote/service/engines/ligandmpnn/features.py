"""The structure as the tensors of LigandMPNN's own reader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy
import torch
from backbones import BACKBONE, LETTERS, Backbone, digits, pick_atoms
from context import ContextResidue, place_atoms

ALPHABET = LETTERS + "X"
ATOMS = (
    "N", "CA", "C", "CB", "O", "CG", "CG1", "CG2", "OG", "OG1", "SG", "CD", "CD1", "CD2", "ND1", "ND2", "OD1",
    "OD2", "SD", "CE", "CE1", "CE2", "CE3", "NE", "NE1", "NE2", "OE1", "OE2", "CH2", "NH1", "NH2", "OH", "CZ",
    "CZ2", "CZ3", "NZ", "OXT",
)  # fmt: skip
"""The 37 atoms of all amino acids in the model's order."""
SEEN_ATOMS = frozenset(ATOMS) - {"OXT"}
"""Atoms that LigandMPNN's own reader reads."""
Order = list[tuple[str, int]]
"""Chain and index of each residue that is in the file."""


def list_residues(found: Backbone) -> Order:
    """List the residues of the tensors in order: those that the file contains."""
    return [
        (chain, place)
        for chain, residues in found.chains.items()
        for place, each in enumerate(residues)
        if each.number
    ]


def describe(
    found: Backbone, order: Order, context: Sequence[ContextResidue], chosen: Mapping[str, set[int]]
) -> dict[str, Any]:
    """Return the structure like ``parse_PDB`` of LigandMPNN, with the mask of designed residues.

    As in LigandMPNN, a residue without all four backbone atoms is masked.
    """
    residues = [found.chains[chain][place] for chain, place in order]
    everything = numpy.zeros((len(order), len(ATOMS), 3), numpy.float32)
    there = numpy.zeros((len(order), len(ATOMS)), numpy.int32)
    for row, each in enumerate(residues):
        for name, atom in pick_atoms(each.source).items():
            if name in SEEN_ATOMS and (name not in BACKBONE or name in each.atoms):
                everything[row, ATOMS.index(name)] = atom.pos.tolist()
                there[row, ATOMS.index(name)] = 1
    backbone = [ATOMS.index(name) for name in BACKBONE]
    chains = list(found.chains)
    atoms = [atom for each in context for atom in each.atoms]
    elements = [atom.element.atomic_number for atom in atoms]
    # Without context the model gets one masked atom, as from its own reader.
    empty = not atoms
    return {
        "X": torch.tensor(everything[:, backbone]),
        "mask": torch.tensor(there[:, backbone].prod(1)),
        "Y": torch.zeros((1, 3)) if empty else torch.tensor(place_atoms(atoms)),
        "Y_t": torch.tensor([0] if empty else elements, dtype=torch.int32),
        "Y_m": torch.tensor([0] if empty else [1] * len(atoms), dtype=torch.int32),
        "R_idx": torch.tensor([int(digits(each.number)) for each in residues], dtype=torch.int32),
        "chain_labels": torch.tensor([chains.index(chain) for chain, _ in order], dtype=torch.int32),
        "S": torch.tensor([ALPHABET.index(each.letter) for each in residues], dtype=torch.int32),
        "xyz_37": torch.tensor(everything),
        "xyz_37_m": torch.tensor(there),
        "chain_mask": torch.tensor(
            [int(place in chosen.get(chain, ())) for chain, place in order], dtype=torch.int32
        ),
    }


def place_betas(protein: Mapping[str, Any]) -> Any:
    """Return the model's position of each residue's Cβ, from which it measures; shape (n, 3), Å."""
    nitrogen, alpha, carbon, _ = (protein["X"][:, column].numpy() for column in range(4))
    first, second = alpha - nitrogen, carbon - alpha
    normal = numpy.cross(first, second)
    return -0.58273431 * normal + 0.56802827 * first - 0.54067466 * second + alpha


def tie(order: Order, ties: Sequence[Mapping[str, list[int]]]) -> tuple[list[Any], list[Any]]:
    """Return groups of residues that get the same amino acid, and their equal weights."""
    rows = {key: row for row, key in enumerate(order)}
    groups = [[rows[chain, number - 1] for chain, (number,) in group.items()] for group in ties]
    if not groups:
        return [[]], [[]]
    return groups, [[1 / len(group)] * len(group) for group in groups]
