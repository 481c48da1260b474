"""The structure for PROPKA, made from the user's, and the one in which the shifts are drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Any

import gemmi
from alternate_locations import keep_most_occupied
from engine_protocol import fail
from protein_files import LETTERS, LONGEST_CHAIN_NAME, SYNONYMS

LETTERS_OF_CHAINS = ascii_uppercase + ascii_lowercase + digits
"""Names that fit PROPKA's single column for chains."""
MAX_ATOMS = 99_999
"""Maximum number of atoms in a PDB file."""
MAX_EXTENT_A = 1000.0
"""Distance beyond which PROPKA finds no nearest pair of atoms."""
SULFUR = {"SE": "SD"}
"""Atoms of selenomethionine, with those of methionine that they replace."""
REMARK = (
    "REMARK   1 B-FACTOR COLUMN: LARGEST PKA SHIFT OF THE RESIDUE'S GROUPS BY PROPKA, IN PH UNITS.",
    "REMARK   1 0 FOR RESIDUES WITHOUT AN IONISABLE GROUP.",
)


@dataclass(frozen=True)
class ReadableStructure:
    """The input of PROPKA.

    Attributes:
        text: PDB file with one-letter chain names and standard residue names, without hydrogens and waters.
        structure: the same as a Gemmi object, all models, with the chain names of the user's file.
        chains: the file's chain name for each letter.
        residues: chain, number with insertion code and name of each standard residue of the first model.
        notes: sentences on what was changed.
    """

    text: str
    structure: Any
    chains: Mapping[str, str]
    residues: Sequence[tuple[str, str, str]]
    notes: list[str]

    def name(self, atom: Any) -> tuple[str, str, str]:
        """Return chain, number with insertion code and residue name of a PROPKA atom in the user's file."""
        return self.chains[atom.chain_id], f"{atom.res_num}{atom.icode.strip()}", atom.res_name.strip()


def prepare_structure(structure: Any, wanted: Sequence[str]) -> ReadableStructure:
    """Return the chosen chains in a form that PROPKA can read.

    Args:
        structure: the file as Gemmi read it.
        wanted: names of the chains to keep; empty for all.

    Fail if chains are missing, or if they do not fit into a PDB file.
    """
    made = structure.clone()
    notes = keep_chains(made, wanted)
    made.remove_hydrogens()
    made.remove_waters()
    made.remove_empty_chains()
    renamed: Counter[str] = Counter()
    for model in made:
        for chain in model:
            for residue in chain:
                renamed.update(standardise(residue))
    if renamed:
        named = ", ".join(f"{name} as {SYNONYMS[name]}" for name in sorted(renamed))
        notes.append(f"Residues were read under their standard names: {named}.")
    if len(made) > 1:
        notes.append(f"The pKa values are the means over the file's {len(made)} models.")
    if any(atom.atom.has_altloc() for model in made for atom in model.all()):
        notes.append("The pKa values are the means over the alternate locations.")
    names = list(dict.fromkeys(chain.name for model in made for chain in model))
    atoms = max(model.count_atom_sites() for model in made)
    if len(names) > len(LETTERS_OF_CHAINS) or atoms > MAX_ATOMS:
        fail(
            f"The structure has {len(names)} chains and {atoms} atoms; PROPKA reads PDB files, which have"
            f" room for {len(LETTERS_OF_CHAINS)} and {MAX_ATOMS}. Choose some of the chains."
        )
    if (extent_a := measure_extent(made)) > MAX_EXTENT_A:
        fail(
            f"The structure is {extent_a:.0f} Å long; PROPKA compares atoms up to {MAX_EXTENT_A:.0f} Å apart."
            " Choose some of the chains."
        )
    letters = choose_letters(names)
    short = made.clone()
    for model in short:
        for chain in model:
            chain.name = letters[chain.name]
    short.raw_remarks = []
    text = short.make_pdb_string(gemmi.PdbWriteOptions(minimal=True, ter_records=True))
    residues = [
        (chain.name, str(residue.seqid), residue.name)
        for chain in made[0]
        for residue in chain
        if residue.name in LETTERS and len(residue)
    ]
    return ReadableStructure(text, made, {letter: name for name, letter in letters.items()}, residues, notes)


def measure_extent(structure: Any) -> float:
    """Return the length of the diagonal of the box around all atoms, in Å."""
    box = gemmi.PositionBox()
    for model in structure:
        for atom in model.all():
            box.extend(atom.atom.pos)
    return float(box.get_size().length())


def keep_chains(structure: Any, wanted: Sequence[str]) -> list[str]:
    """Remove the chains that are not wanted; return a sentence on them."""
    names = list(dict.fromkeys(chain.name for chain in structure[0]))
    if missing := [name for name in wanted if name not in names]:
        fail(f"The structure has no chain {', '.join(missing)}. Its chains are {', '.join(names)}.")
    if not wanted or set(wanted) == set(names):
        return []
    for model in structure:
        for name in {chain.name for chain in model} - set(wanted):
            model.remove_chain(name)
    if not any(residue.name in LETTERS for chain in structure[0] for residue in chain):
        fail("The chosen chains have no protein.")
    left = [name for name in names if name not in wanted]
    return [f"Left out, and without influence on the pKa values: chains {', '.join(left)}."]


def standardise(residue: Any) -> list[str]:
    """Give a force field's residue or selenomethionine its standard name; return the original name."""
    name = residue.name.upper()
    if name not in SYNONYMS:
        return []
    residue.name, residue.het_flag = SYNONYMS[name], "A"
    if name == "MSE":
        for atom in residue:
            if atom.name in SULFUR:
                atom.name, atom.element = SULFUR[atom.name], gemmi.Element("S")
    return [name]


def choose_letters(names: Sequence[str]) -> dict[str, str]:
    """Return a letter for each chain: its own name if that is a letter."""
    letters = {name: name for name in names if name in LETTERS_OF_CHAINS and name}
    free = (letter for letter in LETTERS_OF_CHAINS if letter not in letters)
    return {name: letters.get(name) or next(free) for name in names}


def write_shifts(path: Path, prepared: ReadableStructure, shifts: Mapping[tuple[str, str], float]) -> Path:
    """Write the first model with each residue's shift in the B-factor column; return its path.

    Args:
        path: the file to write, without its ending.
        prepared: what PROPKA read.
        shifts: by chain and residue number, in pH units.
    """
    structure = prepared.structure.clone()
    del structure[1:]
    keep_most_occupied(structure[0], [])
    for chain in structure[0]:
        for residue in chain:
            value = shifts.get((chain.name, str(residue.seqid)), 0.0)
            for atom in residue:
                atom.b_iso = value
    structure.name = path.name
    structure.setup_entities()
    if max(len(chain.name) for chain in structure[0]) > LONGEST_CHAIN_NAME:
        target = path.with_name(path.name + ".cif")
        document = structure.make_mmcif_document()
        document[0].set_pair("_struct.title", gemmi.cif.quote(" ".join(line[13:] for line in REMARK)))
        document.write_file(str(target))
        return target
    structure.raw_remarks = list(REMARK)
    target = path.with_name(path.name + ".pdb")
    structure.write_pdb(str(target), gemmi.PdbWriteOptions(minimal=False))
    return target
