"""Backbone traces: one point per residue of each polymer chain."""

from __future__ import annotations

from dataclasses import dataclass

import gemmi
import numpy as np
from numpy.typing import NDArray

from foldnote.results import Structure

Points = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ChainTrace:
    """Backbone trace of one polymer chain; n residues in file order.

    Attributes:
        numbers: residue numbers with insertion code.
        points: shape (n, 3), Å: Cα or C4', else the residue's first atom.
        is_calpha: shape (n,), whether the point is a Cα.
        b_factors: mean of the B-factor column over each residue's atoms, whatever the column means.
        is_bare: whether most residues lack the backbone atoms that a cartoon needs.
        secondary: secondary structure of each residue, ``H``, ``E`` or ``C``.
    """

    numbers: tuple[str, ...]
    points: Points
    is_calpha: NDArray[np.bool_]
    b_factors: tuple[float, ...]
    is_bare: bool
    secondary: str


def read_traces(structure: Structure) -> dict[str, ChainTrace]:
    """Return the traces of the polymer chains of the first model, by chain name.

    Raises:
        UnreadableFileError: the structure's file is damaged or holds no atoms.
    """
    letters = structure.secondary_letters
    traces = ((c.name, _read_trace(c, letters.get(c.name, ""))) for c in structure.to_gemmi()[0])
    return {name: trace for name, trace in traces if trace is not None}


def list_atom_positions(structure: Structure) -> Points:
    """Return the coordinates of all atoms of the first model, (n, 3), Å, for structures without polymers."""
    model = structure.to_gemmi()[0]
    return np.array([site.atom.pos.tolist() for site in model.all()]).reshape(-1, 3)


def join_points(traces: dict[str, ChainTrace]) -> Points:
    """Concatenate the points of all chains, shape (n, 3), Å."""
    return np.concatenate([*(trace.points for trace in traces.values()), np.empty((0, 3))])


def _read_trace(chain: gemmi.Chain, letters: str) -> ChainTrace | None:
    residues = [residue for residue in chain.get_polymer().first_conformer() if len(residue)]
    if not residues:
        return None
    alphas = [residue.find_atom("CA", "*", gemmi.Element("C")) for residue in residues]
    atoms = [a or r.find_atom("C4'", "*") or r[0] for a, r in zip(alphas, residues, strict=True)]
    full = sum(bool(r.find_atom("O", "*") or r.find_atom("C3'", "*")) for r in residues)
    return ChainTrace(
        numbers=tuple(str(residue.seqid) for residue in residues),
        points=np.array([atom.pos.tolist() for atom in atoms], dtype=np.float64),
        is_calpha=np.array([bool(alpha) for alpha in alphas]),
        b_factors=tuple(sum([a.b_iso for a in residue]) / len(residue) for residue in residues),
        is_bare=2 * full < len(residues),
        secondary=letters if len(letters) == len(residues) else "C" * len(residues),
    )
