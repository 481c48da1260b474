"""Read the central atom of each polymer residue (Cα or C3'), from which superpositions are computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import gemmi
import numpy as np

from foldnote.residue_names import find_letter
from foldnote.results.core.numeric import Floats
from foldnote.results.structure.structure import Structure
from foldnote.results.structure.walk import walk_polymers

_MAX_COORDINATE_A = 1e6
_CENTRES = {"protein": "CA", "DNA": "C3'", "RNA": "C3'"}


@dataclass(frozen=True, eq=False)
class CentralAtoms:
    """The central atoms of one chain: Cα of a protein, C3' of a nucleic acid.

    Attributes:
        chain: chain name assigned by the authors.
        kind: ``protein`` or ``nucleic``.
        letters: one-letter codes; ``X`` for residues without one.
        numbers: residue numbers with insertion code, such as ``112A``.
        points: float64, shape (n, 3), Å.
    """

    chain: str
    kind: str
    letters: str
    numbers: tuple[str, ...]
    points: Floats

    def __len__(self) -> int:
        """Return the number of residues with a central atom."""
        return len(self.letters)

    def cut(self, first: int, last: int) -> CentralAtoms:
        """Select the residues from index ``first`` to ``last``, exclusive."""
        part = slice(first, last)
        return CentralAtoms(self.chain, self.kind, self.letters[part], self.numbers[part], self.points[part])


def read_traces(structure: Structure) -> list[CentralAtoms]:
    """Read the polymer chains of the first model; residues without a central atom are left out.

    Raises:
        UnreadableFileError: the structure's file is damaged or holds no atoms.
    """
    return read_model_traces(structure, structure.to_gemmi()[0])


def read_model_traces(structure: Structure, model: gemmi.Model) -> list[CentralAtoms]:
    """Read the polymer chains of one model of a structure, whose kinds are those in the first model.

    Raises:
        UnreadableFileError: the structure's file is damaged or holds no atoms.
    """
    kinds = {summary.name: summary.kind for summary in structure.chains}
    traces = (
        _read_trace(chain.name, residues, kinds.get(chain.name, ""))
        for chain, residues in walk_polymers(model)
    )
    return [trace for trace in traces if trace is not None]


def _read_trace(chain: str, residues: Sequence[gemmi.Residue], kind: str) -> CentralAtoms | None:
    name = _CENTRES.get(kind, "C3'")
    atoms = [
        (residue, atom)
        for residue in residues
        if (atom := residue.find_atom(name, "*")) is not None and _has_position(atom)
    ]
    if not kind or not atoms:
        return None
    return CentralAtoms(
        chain=chain,
        kind="protein" if kind == "protein" else "nucleic",
        letters="".join(find_letter(residue.name) for residue, _ in atoms),
        numbers=tuple(str(residue.seqid) for residue, _ in atoms),
        points=np.array([atom.pos.tolist() for _, atom in atoms], dtype=np.float64),
    )


def _has_position(atom: gemmi.Atom) -> bool:
    """Return whether an atom's coordinates are finite and plausible; a damaged file may hold any number."""
    return all(abs(value) < _MAX_COORDINATE_A for value in atom.pos.tolist())
