"""Files of small molecules: which reader a file needs, and their properties as a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pandas as pd

from foldnote.results.families import strip_packing
from foldnote.results.mol2 import read_mol2
from foldnote.results.molecule import Molecule, MoleculeFile
from foldnote.results.molfile import read_sdf
from foldnote.results.pdbqt import is_ligand, read_pdbqt

_READERS: tuple[tuple[tuple[str, ...], Callable[[bytes, str], MoleculeFile]], ...] = (
    ((".sdf", ".sd", ".mol"), read_sdf),
    ((".mol2",), read_mol2),
    ((".pdbqt",), read_pdbqt),
)
PROPERTY_MARK = b"\n> "
"""What stands before a property in an SDF."""


def is_molecule_file(name: str, head: bytes) -> bool:
    """Whether a file can be read as small molecules; a rigid receptor cannot.

    Args:
        name: the file's name.
        head: its first bytes, packed as they are.
    """
    plain = strip_packing(name)
    if plain.endswith(".pdbqt") and plain == name.lower():
        return is_ligand(head)
    return any(plain.endswith(suffixes) for suffixes, _ in _READERS)


def read_molecules(data: bytes, name: str) -> MoleculeFile:
    """The molecules in a file, by the reader that its name asks for.

    Raises:
        UnreadableFileError: nothing in it can be read.
    """
    plain = strip_packing(name)
    reader = next((reader for suffixes, reader in _READERS if plain.endswith(suffixes)), read_sdf)
    return reader(data, name)


def make_property_table(molecules: Iterable[Molecule]) -> pd.DataFrame:
    """The properties of a file's molecules.

    Returns:
        One row a molecule that can be read: ``title`` str, ``formula`` str, ``heavy_atoms`` int64, then one
        column a property, with dtypes by its values.
    """
    rows = [
        {"title": each.name, "formula": each.formula, "heavy_atoms": each.heavy_atoms, **each.properties}
        for each in molecules
    ]
    return pd.DataFrame(rows)
