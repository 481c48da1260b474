"""Secondary structure from the hydrogen bonds of the backbone.

The states of :mod:`foldnote.results.structure.backbone.kabsch_sander` as three: helices of any turn (H, G,
I), residues of ladders and bridges (E, B), and all others. Without whole backbones see
:mod:`foldnote.results.structure.secondary`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import gemmi
import numpy as np
from numpy.typing import NDArray

from foldnote.results.core.numeric import Floats
from foldnote.results.structure.backbone.kabsch_sander import assign_states
from foldnote.results.structure.residues import find_parent
from foldnote.results.structure.secondary import assign_secondary

BY_BONDS = "hydrogen bonds of the backbone, Kabsch and Sander 1983"
BY_TRACE = "P-SEA, from Cα atoms"
_ATOMS = ("N", "CA", "C", "O")
_MOST_RESIDUES = 20_000
"""Residues beyond which hydrogen bonds, the slower way, are not looked for."""
_LEAST_SHARE = 0.5


@dataclass(frozen=True)
class Assignment:
    """Secondary structure of some chains.

    Attributes:
        letters: by chain name, one letter a residue: ``H`` helix, ``E`` strand, ``C`` anything else.
        method: how it was found, in words.
    """

    letters: Mapping[str, str]
    method: str


def assign_chains(chains: Iterable[gemmi.Chain]) -> Assignment:
    """The secondary structure of proteins.

    By hydrogen bonds where at least half of the residues with a Cα have the whole backbone, else, and in
    structures of more than 20,000 residues, from the Cα atoms.
    """
    residues: list[tuple[str, gemmi.Residue]] = []
    for chain in chains:
        residues += [(chain.name, one) for one in chain.get_polymer().first_conformer() if len(one)]
    if len(residues) > _MOST_RESIDUES:
        return Assignment(_assign_by_trace(residues), BY_TRACE)
    places = [_read_backbone(residue) for _, residue in residues]
    whole = [row for row, place in enumerate(places) if place is not None and np.isfinite(place).all()]
    alphas = sum(bool(residue.find_atom("CA", "*", gemmi.Element("C"))) for _, residue in residues)
    if not whole or len(whole) < _LEAST_SHARE * alphas:
        return Assignment(_assign_by_trace(residues), BY_TRACE)
    letters = np.full(len(residues), "C", dtype="<U1")
    backbone = np.array([places[row] for row in whole], dtype=np.float64)
    names = [residues[row][0] for row in whole]
    prolines = np.array([find_parent(residues[row][1].name) == "PRO" for row in whole])
    letters[whole] = assign_backbone(backbone, names, prolines)
    return Assignment(_split([name for name, _ in residues], letters), BY_BONDS)


def assign_backbone(backbone: Floats, chains: Sequence[str], prolines: NDArray[np.bool_]) -> NDArray[np.str_]:
    """``H``, ``E`` or ``C`` for each residue; the arguments are those of :func:`assign_states`."""
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
    found: dict[str, str] = {}
    for name, own in chains.items():
        atoms = [residue.find_atom("CA", "*", gemmi.Element("C")) for residue in own]
        letters = np.full(len(own), "C", dtype="<U1")
        has_alpha = np.array([bool(atom) for atom in atoms])
        trace = np.array([atom.pos.tolist() for atom in atoms if atom], dtype=np.float64).reshape(-1, 3)
        letters[has_alpha] = assign_secondary(trace)
        found[name] = "".join(letters)
    return found


def _split(names: Sequence[str], letters: NDArray[np.str_]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, letter in zip(names, letters, strict=True):
        found[name] = found.get(name, "") + str(letter)
    return found
