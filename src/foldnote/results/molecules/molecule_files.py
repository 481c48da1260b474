"""Files of small molecules: which reader a file needs, and their properties as a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pandas as pd

from foldnote.results.archives.files import Reader
from foldnote.results.molecules.mol2 import read_mol2
from foldnote.results.molecules.molecule import Molecule, MoleculeFile
from foldnote.results.molecules.molfile import read_sdf
from foldnote.results.molecules.pdbqt import is_ligand, read_pdbqt
from foldnote.results.molecules.smiles import SMILES_SUFFIXES, read_smiles
from foldnote.results.naming.families import strip_packing
from foldnote.results.naming.file_kinds import FileKind
from foldnote.results.tables.score_rows import find_stem

_READERS: tuple[tuple[tuple[str, ...], Callable[[bytes, str], MoleculeFile]], ...] = (
    ((".sdf", ".sd", ".mol"), read_sdf),
    ((".mol2",), read_mol2),
    ((".pdbqt",), read_pdbqt),
    (SMILES_SUFFIXES, read_smiles),
)
HEAD_BYTES = 4000
"""Bytes of a PDBQT file that suffice to distinguish a ligand from a receptor."""
_PROPERTY_MARK = b"\n> "
"""Mark before a property in an SDF file."""


def find_molecule_files(reader: Reader) -> list[str]:
    """Return the names of the files that can be read as small molecules; a rigid receptor cannot."""
    readable = [name for name in reader.named(FileKind.MOLECULE) if _find_reader(name)]
    receptors = set(_list_rigid(reader, readable))
    return [name for name in readable if name not in receptors]


def find_receptors(reader: Reader) -> list[str]:
    """Return the names of the PDBQT files of rigid receptors without a structure file of the same name."""
    structure_stems = {find_stem(name) for name in reader.named(FileKind.STRUCTURE)}
    rigid = _list_rigid(reader, reader.named(FileKind.MOLECULE))
    return [name for name in rigid if find_stem(name).removesuffix(".pdbqt") not in structure_stems]


def find_described(reader: Reader) -> list[str]:
    """Return the names of the SDF files with properties."""
    names = reader.named(FileKind.MOLECULE)
    selected = [name for name in names if strip_packing(name).endswith((".sdf", ".sd"))]
    return [name for name in selected if _PROPERTY_MARK in (reader.attempt(name, reader.read, name) or b"")]


def _list_rigid(reader: Reader, names: Iterable[str]) -> list[str]:
    selected = [name for name in names if name.lower().endswith(".pdbqt")]
    heads = ((n, reader.attempt(n, reader.archive.read_head, n, HEAD_BYTES)) for n in selected)
    return [name for name, head in heads if head is not None and not is_ligand(head)]


def _find_reader(name: str) -> Callable[[bytes, str], MoleculeFile] | None:
    plain = strip_packing(name)
    return next((reader for suffixes, reader in _READERS if plain.endswith(suffixes)), None)


def read_molecules(data: bytes, name: str) -> MoleculeFile:
    """Return the molecules in a file, whose name determines the format.

    Raises:
        UnreadableFileError: nothing in it can be read.
    """
    return (_find_reader(name) or read_sdf)(data, name)


def make_property_table(molecules: Iterable[Molecule]) -> pd.DataFrame:
    """Return the properties of a file's molecules.

    Returns:
        One row per readable molecule: ``title`` str, ``formula`` str, ``heavy_atoms`` int64, then one
        column per property, with a dtype that fits its values.
    """
    rows = [
        {
            "title": molecule.name,
            "formula": molecule.formula,
            "heavy_atoms": molecule.heavy_atoms,
            **molecule.properties,
        }
        for molecule in molecules
    ]
    return pd.DataFrame(rows)
