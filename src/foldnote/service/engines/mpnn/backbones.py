"""Read the protein chains of a structure with their backbone atoms, as the MPNN models need them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import gemmi
from alternate_locations import keep_most_occupied
from engine_protocol import fail
from residue_names import UNKNOWN, is_amino_acid, standardize
from structure_files import read_structure_file

BACKBONE = ("N", "CA", "C", "O")
LETTERS = "ACDEFGHIKLMNPQRSTVWY"
BROKEN = 2.5
"""C-N distance in Å from which on residues are missing between the two."""
LONGEST_GAP = 64
"""Maximum missing residues to fill in; from 33 on the models see no difference."""
Place = tuple[float, float, float]
NOWHERE: Place = (math.nan, math.nan, math.nan)


@dataclass(frozen=True)
class BackboneResidue:
    """One residue; ``number`` is empty if it is missing from the structure."""

    number: str
    letter: str
    atoms: dict[str, Place]
    source: Any = field(default=None, repr=False, compare=False)
    """The residue as gemmi read it, with all of its atoms."""

    @property
    def is_whole(self) -> bool:
        """Whether all backbone atoms are present."""
        return all(name in self.atoms for name in BACKBONE)

    @property
    def is_designable(self) -> bool:
        """Whether an amino acid can be chosen for it."""
        return self.is_whole and self.letter != UNKNOWN


@dataclass
class Backbone:
    """The protein chains of the first model by id, and the rest of the file."""

    chains: dict[str, list[BackboneResidue]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    others: list[tuple[str, Any]] = field(default_factory=list)
    """Chain id and residue, as gemmi objects, of ligands, nucleic acids, waters and everything else."""
    structure: Any = None
    """The whole file as gemmi read it."""

    @property
    def size(self) -> int:
        """Number of residues of all chains, including those missing from the structure."""
        return sum(map(len, self.chains.values()))


def read_backbone(path: Path) -> Backbone:
    """Return the backbone of a PDB or mmCIF file; fail if there is none."""
    found = Backbone()
    found.structure = structure = read_structure_file(path, found.notes)
    structure.merge_chain_parts()
    keep_most_occupied(structure[0], found.notes)
    for chain in structure[0]:
        residues, others = read_chain(chain)
        found.others += [(chain.name, each) for each in others]
        if residues:
            found.chains[chain.name] = fill_gaps(residues)
    check_backbone(found)
    return found


def read_chain(chain: Any) -> tuple[list[BackboneResidue], list[Any]]:
    """Return the amino acids of a chain, and its other residues."""
    residues: list[BackboneResidue] = []
    seen: set[str] = set()
    others: list[Any] = []
    for residue in chain:
        number = str(residue.seqid).strip()
        if number in seen:
            continue
        atoms = read_atoms(residue)
        letter = find_letter(residue)
        is_bonded = bool(residues) and measure_bond(residues[-1].atoms, atoms) < BROKEN
        is_hetero = residue.het_flag == "H" and residue.name != "MSE"
        if (
            not atoms
            or (letter == UNKNOWN and not {"N", "CA", "C"} <= set(atoms))
            or (is_hetero and not is_bonded)
        ):
            others.append(residue)
            continue
        seen.add(number)
        residues.append(BackboneResidue(number, letter, atoms, residue))
    return residues, others


def read_atoms(residue: Any) -> dict[str, Place]:
    """Return the positions of the backbone atoms."""
    atoms = pick_atoms(residue)
    return {
        name: (atom.pos.x, atom.pos.y, atom.pos.z)
        for name, atom in atoms.items()
        if name in BACKBONE and not (name == "CA" and atom.element.name not in {"C", "X"})
    }


def pick_atoms(residue: Any) -> dict[str, Any]:
    """Return the atoms by name, the first of each name."""
    atoms: dict[str, Any] = {}
    for atom in residue:
        atoms.setdefault(atom.name, atom)
    return atoms


def find_letter(residue: Any) -> str:
    """Return one letter; ``X`` for none of the 20 amino acids. Selenomethionine counts as methionine."""
    name = "MET" if residue.name == "MSE" else standardize(residue.name)
    letter = gemmi.find_tabulated_residue(name).one_letter_code if is_amino_acid(name) else UNKNOWN
    return letter if letter in LETTERS else UNKNOWN


def measure_bond(before: dict[str, Place], after: dict[str, Place]) -> float:
    """Return the distance in Å from C to the next N; infinite if one is missing."""
    if "C" not in before or "N" not in after:
        return math.inf
    return math.dist(before["C"], after["N"])


def fill_gaps(residues: list[BackboneResidue]) -> list[BackboneResidue]:
    """Return the chain with missing residues inserted where it is broken and its numbers allow it.

    Jumps of the numbers in an unbroken chain, as in antibody numbering, are not gaps.
    """
    filled = residues[:1]
    for before, after in pairwise(residues):
        room = int(digits(after.number)) - int(digits(before.number)) - 1
        if room > 0 and measure_bond(before.atoms, after.atoms) > BROKEN:
            filled += [BackboneResidue("", UNKNOWN, {})] * min(room, LONGEST_GAP)
        filled.append(after)
    return filled


def digits(number: str) -> str:
    """Return a residue number without its insertion code."""
    return number.rstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")


def check_backbone(found: Backbone) -> None:
    """Note incomplete and unknown residues; fail if nothing can be designed."""
    residues = [(chain, each) for chain, rows in found.chains.items() for each in rows]
    if not residues:
        fail("The structure has no protein chain.")
    if not any(each.is_whole for _, each in residues):
        fail(
            "No residue has all of the backbone atoms N, CA, C and O, which the model needs. A trace of CA"
            " atoms is not enough."
        )
    missing = sum(not each.number for _, each in residues)
    if missing:
        found.notes.append(f"{missing} residues are missing where chains are broken; the model sees the gap.")
    partial = [f"{chain}{each.number}" for chain, each in residues if each.number and not each.is_whole]
    if partial:
        found.notes.append(f"Not designed for lack of backbone atoms: {name_some(partial)}.")
    unknown = [
        f"{chain}{each.number}" for chain, each in residues if each.is_whole and each.letter == UNKNOWN
    ]
    if unknown:
        found.notes.append(f"Not designed, as none of the 20 amino acids: {name_some(unknown)}.")


def name_some(names: list[str], most: int = 10) -> str:
    """Return the first names, and the number of further ones."""
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown
