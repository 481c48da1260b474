"""Ligands in a structure file, as molecules without bonds, since such files have none."""

from __future__ import annotations

import gemmi

from foldnote.errors import ArgumentError
from foldnote.results.molecules.molecule import Molecule
from foldnote.results.structure.structure import Structure
from foldnote.results.structure.walk import list_first_location

MAX_LIGAND_ATOMS = 500
"""Maximum number of atoms of a ligand."""
MIN_LIGAND_ATOMS = 6
"""Minimum number of heavy atoms of a ligand if no residue is named."""
_ADDITIVES = frozenset((
    "GOL", "EDO", "PEG", "PGE", "PG4", "1PE", "P6G", "MPD", "DMS", "ACT", "ACY", "FMT", "SO4", "PO4", "BME",
    "TRS", "MES", "EPE", "CIT", "TLA", "IMD", "IPA", "EOH", "BOG",
))  # fmt: skip
"""Components of crystallization solutions, cryoprotectants and buffers."""


def list_residue_molecules(structure: Structure, residue: str = "") -> list[Molecule]:
    """Return the residues of the first model with two atoms or more, waters excepted, as molecules.

    Args:
        structure: the structure.
        residue: chain and number (``A:163``) or number alone; by default every residue.

    Raises:
        ArgumentError: there is no such residue.
        UnreadableFileError: the structure's file is damaged or holds no atoms.
    """
    chain, _, number = residue.strip().rpartition(":")
    molecules = [
        _make_molecule(component, f"{component.name} {owner.name}:{component.seqid}", structure.name)
        for owner in structure.to_gemmi()[0]
        for component in owner.first_conformer()
        if component.entity_type != gemmi.EntityType.Water
        and 1 < len(list_first_location(component)) <= MAX_LIGAND_ATOMS
        and (not residue or (owner.name, str(component.seqid)) == (chain or owner.name, number.strip()))
    ]
    if residue and not molecules:
        raise ArgumentError(
            f"{structure.name} has no residue {residue!r}; write chain and number, such as 'A:163'."
        )
    return molecules


def list_ligands(structure: Structure) -> list[Molecule]:
    """Return the ligands of the first model, largest first, without polymers, waters, ions and additives.

    Raises:
        UnreadableFileError: the structure's file is damaged or holds no atoms.
    """
    molecules = [
        _make_molecule(component, f"{component.name} {owner.name}:{component.seqid}", structure.name)
        for owner in structure.to_gemmi()[0]
        for component in owner.first_conformer()
        if component.entity_type not in (gemmi.EntityType.Polymer, gemmi.EntityType.Water)
        and component.name not in _ADDITIVES
        and len(list_first_location(component)) <= MAX_LIGAND_ATOMS
    ]
    large = [molecule for molecule in molecules if molecule.heavy_atoms >= MIN_LIGAND_ATOMS]
    return sorted(large, key=lambda molecule: -molecule.heavy_atoms)


def _make_molecule(residue: gemmi.Residue, name: str, file: str) -> Molecule:
    rows = [
        (atom.name, atom.element.name, atom.pos.x, atom.pos.y, atom.pos.z, float("nan"))
        for atom in list_first_location(residue)
    ]
    return Molecule(name, file, 0, "pdb", {}, "", rows, ())
