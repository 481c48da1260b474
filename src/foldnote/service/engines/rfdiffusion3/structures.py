"""Read the structure around which a design is made, and write it in a form that RFdiffusion3 reads.

RFdiffusion3 identifies a residue by one letter and a number, uses the first assembly of an mmCIF file and its
internal names of chains, and requires each ligand on a separate chain. The file written for it has the chains
and numbers that users see in the structure.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gemmi
from alternate_locations import keep_most_occupied
from contigs import name_places
from engine_protocol import fail
from residue_names import is_amino_acid, standardize
from structure_files import read_structure_file

Place = tuple[str, int]
"""Chain and number of a residue."""
MOST_LIGANDS = 26
SELENOMETHIONINE = "MSE"
"""Converted to methionine, since RFdiffusion3 cannot read it in a chain."""
_LIGAND_CHAINS = "ZYXWVUTSRQPONMLKJIHGFEDCBAzyxwvutsrqponmlkjihgfedcba"


@dataclass(frozen=True)
class InputLigand:
    """A residue outside of polymers, and its chain in RFdiffusion3's file."""

    chain: str
    number: str
    """Number with its insertion code."""
    name: str
    residue: Any = field(repr=False, compare=False)
    key: str = ""
    """Chain and number in RFdiffusion3's file; empty while it is not part of it."""

    @property
    def label(self) -> str:
        """Name of the ligand for people."""
        return f"{self.name} {self.chain}{self.number}"


@dataclass
class SourceStructure:
    """The first model of a structure."""

    polymers: dict[Place, list[Any]] = field(default_factory=dict)
    """Residues of proteins, DNA and RNA; several if insertion codes share a number."""
    ligands: list[InputLigand] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    odd_chains: list[str] = field(default_factory=list)
    """Polymer chains whose names or numbers RFdiffusion3 cannot read."""

    @property
    def chains(self) -> list[str]:
        """Names of the polymer chains that can be referred to."""
        return list(dict.fromkeys(chain for chain, _ in self.polymers))

    def require(self, places: Sequence[Place], setting: str) -> None:
        """Fail if a residue does not exist or shares its number with another."""
        for chain in dict.fromkeys(chain for chain, _ in places):
            if chain not in self.chains:
                fail(
                    f"In {setting}, the structure has no chain {chain} of protein, DNA or RNA."
                    f" {self._tell_chains()}"
                )
        if missing := [place for place in places if place not in self.polymers]:
            numbers = [number for chain, number in self.polymers if chain == missing[0][0]]
            fail(
                f"In {setting}, the structure has no {name_places(missing)}. Chain {missing[0][0]} has"
                f" {name_places([(missing[0][0], number) for number in sorted(numbers)])}. Leave out what is"
                " missing, and in the contig put the length of the gap in its place, as in A1-19,5,A25-50."
            )
        if shared := [place for place in places if len(self.polymers[place]) > 1]:
            fail(
                f"In {setting}, several residues of the structure have the number of {name_places(shared)},"
                " by insertion codes or as copies, and RFdiffusion3 cannot tell them apart. Renumber the"
                " chain, or name other residues."
            )

    def count_amino_acids(self, places: Iterable[Place]) -> int:
        """Count the residues that are amino acids."""
        names = [self.polymers[place][0].name for place in places if place in self.polymers]
        return sum(map(is_amino_acid, names))

    def find_ligands(self, word: str, setting: str) -> list[InputLigand]:
        """Return the ligands with a name such as HEM, or the one at a position such as A:301 or A301."""
        found = [each for each in self.ligands if each.name.upper() == word.upper()]
        place = word.replace(":", "")
        found = found or [each for each in self.ligands if f"{each.chain}{each.number}" == place]
        if not found:
            names = list(dict.fromkeys(each.label for each in self.ligands))
            hint = (
                f"It has {', '.join(names[:8])}{', …' if len(names) > 8 else ''}."
                if names
                else "It has none."
            )
            fail(f"In {setting}, the structure has no ligand {word!r}. {hint}")
        return found

    def write(self, path: Path, ligands: Sequence[InputLigand], taken: Iterable[str]) -> list[InputLigand]:
        """Write the file for RFdiffusion3; return the ligands with their keys in it.

        Args:
            path: path of a PDB file.
            ligands: ligands of the design.
            taken: names of chains that ligands must not have, those of the design.
        """
        structure = gemmi.Structure()
        model = gemmi.Model(1)
        for name in self.chains:
            chain = gemmi.Chain(name)
            for (owner, _), residues in self.polymers.items():
                if owner == name and len(residues) == 1:
                    chain.add_residue(residues[0])
            model.add_chain(chain)
        free = [letter for letter in _LIGAND_CHAINS if letter not in {*self.chains, *taken}]
        if len(ligands) > min(MOST_LIGANDS, len(free)):
            fail(
                f"ligands are {len(ligands)} residues; at most {min(MOST_LIGANDS, len(free))} are taken here."
            )
        keyed = []
        for letter, ligand in zip(free, ligands, strict=False):
            chain, residue = gemmi.Chain(letter), ligand.residue.clone()
            residue.seqid = gemmi.SeqId(1, " ")
            residue.het_flag = "H"
            chain.add_residue(residue)
            model.add_chain(chain)
            keyed.append(InputLigand(ligand.chain, ligand.number, ligand.name, ligand.residue, f"{letter}1"))
        structure.add_model(model)
        structure.setup_entities()
        structure.assign_serial_numbers()
        options = gemmi.PdbWriteOptions(minimal=True, cryst1_record=False)
        path.write_text(structure.make_pdb_string(options), "utf-8")
        return keyed

    def _tell_chains(self) -> str:
        hint = (
            f"It has {', '.join(self.chains)}." if self.chains else "It has none that RFdiffusion3 can read."
        )
        odd = (
            f" Chains {', '.join(self.odd_chains[:5])} have names that are not a single letter."
            if self.odd_chains
            else ""
        )
        return hint + odd


def read_structure(path: Path) -> SourceStructure:
    """Return the structure of a PDB or mmCIF file; fail if there is none."""
    found = SourceStructure()
    structure = read_structure_file(path, found.notes)
    structure.setup_entities()
    structure.merge_chain_parts()
    structure.remove_hydrogens()
    keep_most_occupied(structure[0], found.notes)
    for chain in structure[0]:
        for residue in chain:
            _add_residue(found, chain.name, residue)
    found.odd_chains = list(dict.fromkeys(found.odd_chains))
    if not found.polymers and not found.ligands:
        fail(
            "The structure has neither residues of a protein, DNA or RNA that RFdiffusion3 can read, nor"
            " ligands."
        )
    return found


def _add_residue(found: SourceStructure, chain: str, residue: Any) -> None:
    kept = _keep_single_atoms(residue)
    if residue.is_water() or not len(kept):
        return
    for atom in kept:
        if not all(map(math.isfinite, atom.pos.tolist())):
            fail(
                f"The structure's atom {atom.name} of {residue.name} {chain}{residue.seqid} has no"
                " coordinates."
            )
    if residue.entity_type != gemmi.EntityType.Polymer:
        if len(residue.name) <= 3:  # longer names do not fit into a PDB file
            found.ligands.append(InputLigand(chain, str(residue.seqid).strip(), residue.name, kept))
    elif len(chain) != 1 or not chain.isascii() or not chain.isalpha():
        found.odd_chains.append(chain or "without a name")
    elif 0 <= residue.seqid.num <= 9999:
        here = found.polymers.setdefault((chain, residue.seqid.num), [])
        if not any(each.seqid == residue.seqid and each.name != residue.name for each in here):
            here.append(kept)  # the first of several kinds of residue at one position


def _keep_single_atoms(residue: Any) -> Any:
    """Return the residue with the first atom of each name."""
    single: dict[str, Any] = {}
    for atom in residue:
        single.setdefault(atom.name, atom)
    is_in_chain = residue.entity_type == gemmi.EntityType.Polymer  # a ligand may be called HIP, too
    if is_in_chain:
        residue.name = standardize(residue.name)
    if is_in_chain and residue.name == SELENOMETHIONINE:
        residue.name, residue.het_flag = "MET", "A"
        if (selenium := single.pop("SE", None)) is not None:
            selenium.name, selenium.element = "SD", gemmi.Element("S")
            single["SD"] = selenium
    kept = gemmi.Residue()
    kept.name, kept.seqid, kept.het_flag, kept.entity_type = (
        residue.name,
        residue.seqid,
        residue.het_flag,
        residue.entity_type,
    )
    for atom in single.values():
        kept.add_atom(atom)
    return kept
