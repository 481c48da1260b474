"""Secondary structure in three states: helix, strand and coil.

The states of :mod:`foldnote.results.structure.backbone.kabsch_sander` are reduced to helix (H, G, I), strand
(E, B) and coil (all others). Without complete backbones, :mod:`foldnote.results.structure.secondary` assigns
them from the Cα atoms.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import gemmi
import numpy as np
from numpy.typing import NDArray

from foldnote.residue_names import find_parent
from foldnote.results.core.numeric import Floats
from foldnote.results.structure.backbone.kabsch_sander import assign_states
from foldnote.results.structure.secondary import assign_secondary

BY_BONDS = "hydrogen bonds of the backbone, Kabsch and Sander 1983"
BY_TRACE = "P-SEA, from Cα atoms"
_ATOMS = ("N", "CA", "C", "O")
_MAX_RESIDUES = 20_000
"""Larger structures are assigned from Cα atoms, which is faster."""
_MIN_SHARE = 0.5


@dataclass(frozen=True)
class Assignment:
    """Secondary structure of some chains.

    Attributes:
        letters: one letter per residue (``H`` helix, ``E`` strand, ``C`` coil) of each chain, by chain name.
        method: name of the method.
    """

    letters: Mapping[str, str]
    method: str


def assign_chains(chains: Iterable[gemmi.Chain]) -> Assignment:
    """Assign the secondary structure of protein chains.

    From backbone hydrogen bonds if at least half of the residues with a Cα have a complete backbone;
    otherwise, and in structures of more than 20,000 residues, from the Cα atoms.
    """
    residues: list[tuple[str, gemmi.Residue]] = []
    for chain in chains:
        residues += [(chain.name, one) for one in chain.get_polymer().first_conformer() if len(one)]
    if len(residues) > _MAX_RESIDUES:
        return Assignment(_assign_by_trace(residues), BY_TRACE)
    positions = [_read_backbone(residue) for _, residue in residues]
    complete = [
        row for row, position in enumerate(positions) if position is not None and np.isfinite(position).all()
    ]
    alphas = sum(bool(residue.find_atom("CA", "*", gemmi.Element("C"))) for _, residue in residues)
    if not complete or len(complete) < _MIN_SHARE * alphas:
        return Assignment(_assign_by_trace(residues), BY_TRACE)
    letters = np.full(len(residues), "C", dtype="<U1")
    backbone = np.array([positions[row] for row in complete], dtype=np.float64)
    names = [residues[row][0] for row in complete]
    prolines = np.array([find_parent(residues[row][1].name) == "PRO" for row in complete])
    letters[complete] = assign_backbone(backbone, names, prolines)
    return Assignment(_split([name for name, _ in residues], letters), BY_BONDS)


def assign_backbone(backbone: Floats, chains: Sequence[str], prolines: NDArray[np.bool_]) -> NDArray[np.str_]:
    """Assign ``H``, ``E`` or ``C`` to each residue, shape (n,); for the arguments see `assign_states`."""
    states = assign_states(backbone, chains, prolines)
    letters = np.full(len(states), "C", dtype="<U1")
    letters[np.isin(states, ("H", "G", "I"))] = "H"
    letters[np.isin(states, ("E", "B"))] = "E"
    return letters


def _read_backbone(residue: gemmi.Residue) -> list[list[float]] | None:
    atoms = [residue.find_atom(name, "*") for name in _ATOMS]
    return [atom.pos.tolist() for atom in atoms] if all(atoms) else None


def _assign_by_trace(residues: Sequence[tuple[str, gemmi.Residue]]) -> dict[str, str]:
    chains: dict[str, list[gemmi.Residue]] = {}
    for name, residue in residues:
        chains.setdefault(name, []).append(residue)
    letters_by_chain: dict[str, str] = {}
    for name, own in chains.items():
        atoms = [residue.find_atom("CA", "*", gemmi.Element("C")) for residue in own]
        letters = np.full(len(own), "C", dtype="<U1")
        has_alpha = np.array([bool(atom) for atom in atoms])
        trace = np.array([atom.pos.tolist() for atom in atoms if atom], dtype=np.float64).reshape(-1, 3)
        letters[has_alpha] = assign_secondary(trace)
        letters_by_chain[name] = "".join(letters)
    return letters_by_chain


def _split(names: Sequence[str], letters: NDArray[np.str_]) -> dict[str, str]:
    letters_by_chain: dict[str, str] = {}
    for name, letter in zip(names, letters, strict=True):
        letters_by_chain[name] = letters_by_chain.get(name, "") + str(letter)
    return letters_by_chain
