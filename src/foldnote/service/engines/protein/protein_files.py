"""Read the protein of a PDB or mmCIF file for engines that score residues, and write it with new B-factors.

It runs in the engines' own environments, with Gemmi. The notes tell scientists what was left out.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from alternate_locations import keep_most_occupied
from engine_protocol import fail
from residue_names import STANDARD_NAMES
from structure_text import parse_structure

LETTERS = {
    "ALA": "A", "ARG": "R", "ASN": "N", "ASP": "D", "CYS": "C", "GLN": "Q", "GLU": "E", "GLY": "G",
    "HIS": "H", "ILE": "I", "LEU": "L", "LYS": "K", "MET": "M", "PHE": "F", "PRO": "P", "SER": "S",
    "THR": "T", "TRP": "W", "TYR": "Y", "VAL": "V",
}  # fmt: skip
"""The 20 standard residues."""
SYNONYMS = STANDARD_NAMES | {"MSE": "MET"}
"""Names of force fields for protonated and bridged residues, and selenomethionine."""
MAX_NAMED = 8
"""Maximum kinds of left-out residues in a note."""
LONGEST_CHAIN_NAME = 2
"""Characters that the PDB format has for a chain name, including the column before it."""
MAX_SHARED = 0.01
"""Share of atoms at the same place as another one above which coordinates are no structure."""
FURTHEST_A = 1e5
"""Larger coordinates are those of a damaged file, and do not fit the columns of a PDB file."""


@dataclass(frozen=True)
class ProteinResidue:
    """One residue of a protein.

    Attributes:
        chain: name of its chain; empty if the file has none.
        number: residue number with insertion code, such as ``52A``.
        name: standard three-letter name.
        atoms: its heavy atoms as Gemmi objects.
    """

    chain: str
    number: str
    name: str
    atoms: tuple[Any, ...] = field(repr=False)

    @property
    def letter(self) -> str:
        """One-letter code."""
        return LETTERS[self.name]

    def find(self, name: str) -> Any | None:
        """Return the atom called ``name``, or None."""
        return next((atom for atom in self.atoms if atom.name == name), None)


@dataclass(frozen=True)
class Protein:
    """The protein residues of a file's first model, in its order.

    Attributes:
        residues: all residues that are read.
        structure: the whole file as a Gemmi object, with all models.
        notes: sentences on what was left out or renamed.
    """

    residues: tuple[ProteinResidue, ...]
    structure: Any
    notes: list[str]

    @property
    def chains(self) -> list[str]:
        """Names of the chains, in the file's order."""
        return list(dict.fromkeys(residue.chain for residue in self.residues))


def read_protein(path: Path) -> Protein:
    """Return the standard residues of the first model without hydrogens, in their most occupied locations.

    Fail if the file cannot be read or has no protein.
    """
    structure = read_file(path)
    notes = []
    if len(structure) > 1:
        notes.append(f"The file has {len(structure)} models; the first was used.")
    model = structure[0].clone()
    keep_most_occupied(model, notes)
    model.remove_hydrogens()
    residues: list[ProteinResidue] = []
    others: Counter[str] = Counter()
    seen: Counter[tuple[str, str]] = Counter()
    waters = renamed = 0
    for chain in model:
        for residue in chain:
            if not len(residue):  # its hydrogens were appended separately, as by Open Babel
                continue
            name = residue.name.upper()
            known = SYNONYMS.get(name, name)
            if known not in LETTERS or (residue.het_flag == "H" and name in LETTERS):
                if residue.is_water():
                    waters += 1
                else:
                    others[residue.name] += 1
                continue
            renamed += name == "MSE"
            number = str(residue.seqid)
            seen[chain.name, number] += 1
            residues.append(ProteinResidue(chain.name, number, known, tuple(residue)))
    if not residues:
        fail("The file has no protein: none of its residues is one of the 20 standard amino acids.")
    check_places(residues)
    if others:
        named = ", ".join(f"{count} {name}" for name, count in others.most_common(MAX_NAMED))
        more = ", …" if len(others) > MAX_NAMED else ""
        notes.append(f"Left out, since they are not standard amino acids of a chain: {named}{more}.")
    if waters:
        notes.append(f"{waters} waters were left out.")
    if renamed:
        notes.append(f"{renamed} selenomethionines (MSE) count as methionine.")
    if twice := [where for where, count in seen.items() if count > 1]:
        chain, number = twice[0]
        notes.append(
            f"{len(twice)} residue numbers stand more than once in a chain, the first is {chain}:{number};"
            " each of their residues counts."
        )
    return Protein(tuple(residues), structure, notes)


def read_file(path: Path) -> Any:
    """Read the file with Gemmi; it has at least one model with an atom."""
    text = path.read_bytes().decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    if not text.strip():
        fail("The file is empty. Give a PDB file of a protein.")
    return parse_structure(text, "The file", "a protein")


def check_places(residues: Sequence[ProteinResidue]) -> None:
    """Fail if an atom has no coordinates, or the same ones as another atom."""
    places = [tuple(atom.pos.tolist()) for residue in residues for atom in residue.atoms]
    shared = len(places) - len(set(places))
    if shared > MAX_SHARED * len(places):
        fail(f"{shared} of {len(places)} atoms lie exactly on others. Correct the file.")
    for residue in residues:
        names = Counter(atom.name for atom in residue.atoms)
        if twice := [name for name, count in names.items() if count > 1]:
            fail(
                f"{residue.name} {residue.chain}:{residue.number} has the atom {twice[0]} twice:"
                " several molecules seem to have one chain name. Give each a chain name of its own."
            )
        for atom in residue.atoms:
            if not all(math.isfinite(value) and abs(value) < FURTHEST_A for value in atom.pos.tolist()):
                fail(
                    f"The coordinates of {atom.name} in {residue.name} {residue.chain}:{residue.number} are"
                    " damaged. Correct the file."
                )


def write_protein(
    path: Path,
    residues: Sequence[ProteinResidue],
    remark: Sequence[str],
    values: Sequence[float] | None = None,
) -> Path:
    """Write residues as PDB, with a number for each in the B-factor column; return the path.

    The format is mmCIF if chain names or the number of atoms do not fit into a PDB file. The header of the
    original file is not repeated, since it would describe the B-factors wrongly.

    Args:
        path: the file to write, without its extension.
        residues: residues to write, chain by chain.
        remark: lines that describe the content of the file.
        values: a number for each residue; without them the B-factors are kept.
    """
    import gemmi

    model = gemmi.Model(1)
    for index, residue in enumerate(residues):
        if len(model) == 0 or model[-1].name != residue.chain:
            model.add_chain(gemmi.Chain(residue.chain))
        made = gemmi.Residue()
        made.name, made.seqid = residue.name, gemmi.SeqId(residue.number)
        made.entity_type, made.het_flag = gemmi.EntityType.Polymer, "A"
        for atom in residue.atoms:
            copy = atom.clone()
            copy.altloc = "\0"
            if values is not None:
                copy.b_iso = values[index]
            made.add_atom(copy)
        model[-1].add_residue(made)
    structure = gemmi.Structure()
    structure.name = path.name
    structure.add_model(model)
    structure.merge_chain_parts()
    structure.setup_entities()
    longest = max(len(residue.chain) for residue in residues)
    if longest > LONGEST_CHAIN_NAME:
        target = path.with_name(path.name + ".cif")
        document = structure.make_mmcif_document()
        document[0].set_pair("_struct.title", gemmi.cif.quote(" ".join(remark)))
        document.write_file(str(target))
        return target
    structure.raw_remarks = [f"REMARK   1 {line}" for line in remark]
    target = path.with_name(path.name + ".pdb")
    structure.write_pdb(str(target))
    return target
