"""Identify the polymer residues of a chain by their atoms and bonds, for the outline of a structure.

ATOM and HETATM records are not conclusive: programs write waters, ions and ligands as ATOM, and both modified
amino acids of a chain and free ones as HETATM. `foldnote.results` also classifies residues by name; but
importing it takes a second, too long while a user types into a form.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import gemmi

_BOND_A: Final = 2.0
"""Maximum bond length between two residues, Å; the mean is 1.33 for C to N, and 1.61 for O3' to P."""
_TRACE_A: Final = {"CA": 4.5, "P": 8.0, "C4'": 8.0}
"""Maximum distance of neighbours that have only a trace atom, Å."""


def find_polymer(chain: Sequence[gemmi.Residue]) -> list[gemmi.Residue]:
    """Return the polymer residues in order; none for a chain of waters and ligands.

    They have a backbone, and are bonded to a neighbour or ATOM records before the chain's TER: a free amino
    acid follows it, or is a HETATM record.
    """
    import gemmi

    candidates = [residue for residue in chain if _has_backbone(residue)]
    bonded = {id(each) for pair in pairwise(candidates) if _are_bonded(*pair) for each in pair}
    after_end = gemmi.EntityType.NonPolymer
    return [
        residue
        for residue in candidates
        if id(residue) in bonded or (residue.het_flag != "H" and residue.entity_type != after_end)
    ]


def is_water(residue: gemmi.Residue) -> bool:
    """Return whether a residue is water, whatever its name: an oxygen with hydrogens or massless sites."""
    import gemmi

    if gemmi.find_tabulated_residue(residue.name).is_water():
        return True
    heavy = [atom.element.name for atom in residue if not atom.is_hydrogen() and atom.element.name != "X"]
    return heavy == ["O"]


def is_nucleotide(residue: gemmi.Residue) -> bool:
    """Return whether a residue of a polymer is one of a nucleic acid."""
    names = {atom.name.replace("*", "'") for atom in residue}
    return "CA" not in names and bool(names & {"P", "C4'"})


def _has_backbone(residue: gemmi.Residue) -> bool:
    """Return whether a residue has the atoms that bond it to others, or the single atom of a trace."""
    names = {atom.name.replace("*", "'") for atom in residue if not atom.is_hydrogen()}
    if names >= {"N", "CA", "C"} or names >= {"C3'", "C4'"}:
        return True
    return len(names) == 1 and names <= _TRACE_A.keys() and not _is_calcium(residue)


def _is_calcium(residue: gemmi.Residue) -> bool:
    return residue.name == "CA" or residue[0].element.name == "Ca"


def _are_bonded(first: gemmi.Residue, second: gemmi.Residue) -> bool:
    """Return whether a residue follows another in their polymer."""
    for first_atom, second_atom in (("C", "N"), ("O3'", "P")):
        ends = _find(first, first_atom), _find(second, second_atom)
        if all(ends):
            return any(a.pos.dist(b.pos) < _BOND_A for a in ends[0] for b in ends[1])
    return any(
        a.pos.dist(b.pos) < distance
        for name, distance in _TRACE_A.items()
        for a in _find(first, name)
        for b in _find(second, name)
    )


def _find(residue: gemmi.Residue, name: str) -> list[gemmi.Atom]:
    """Return the atoms of a name; alternate locations are several atoms."""
    return [atom for atom in residue if atom.name.replace("*", "'") == name]
