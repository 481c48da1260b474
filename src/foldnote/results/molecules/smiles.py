"""Lists of SMILES, read by RDKit.

A SMILES has no coordinates. Those of a CXSMILES extension are used; otherwise RDKit generates one
of many possible conformers, and the molecule's property ``coordinates`` says so.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from foldnote.results.molecules.molecule import Molecule, MoleculeFile, RecordError, read_records
from foldnote.results.molecules.molfile import read_record

SMILES_SUFFIXES = (".smi", ".smiles", ".cxsmiles")
MADE = "made by RDKit (ETKDGv3), not in the file"
GIVEN = "in the file"
FLAT = "none: a drawing's places"
_SEED = 20
_MOST_LINES = 10_000
_MOST_SHAPES = 50
_MOST_LETTERS = 2_000
_MOST_ATOMS_SHAPED = 150


def read_smiles(data: bytes, name: str) -> MoleculeFile:
    """The molecules of a list of SMILES, one per line, with a title after a space or tab.

    The property ``coordinates`` gives their source. Conformers are generated for the first 50 molecules; the
    others have 2D coordinates.

    Raises:
        UnreadableFileError: no line can be read.
    """
    from rdkit import rdBase

    lines = [line.strip() for line in data.decode("utf-8", "replace").splitlines()]
    wanted = [(place, line) for place, line in enumerate(lines, 1) if line and not line.startswith("#")]
    if wanted and wanted[0][1].split()[0].lower() in ("smiles", "cxsmiles"):
        wanted = wanted[1:]
    records = [(f"Line {place}", line) for place, line in wanted[:_MOST_LINES]]
    with rdBase.BlockLogs():
        found = read_records(records, lambda line, index: _read_line(line, name, index), name)
    if len(wanted) > _MOST_LINES:
        note = f"Of {name} the first {_MOST_LINES:,} molecules are read."
        return replace(found, problems=(*found.problems, note))
    return found


def _read_line(line: str, name: str, index: int) -> Molecule:
    from rdkit import Chem

    if len(line) > _MOST_LETTERS:
        raise RecordError(f"it has more than {_MOST_LETTERS:,} letters")
    smiles, title = _split(line)
    options: Any = Chem.SmilesParserParams()
    options.allowCXSMILES, options.strictCXSMILES, options.parseName = True, False, False
    molecule: Any = Chem.MolFromSmiles(smiles, options)
    if molecule is None or not molecule.GetNumAtoms():
        raise RecordError("it is not a valid SMILES")
    molecule, source = _place(molecule, index)
    molecule.SetProp("_Name", title)
    block = Chem.MolToMolBlock(molecule, forceV3000=molecule.GetNumAtoms() > 999)
    properties = {"SMILES": smiles.split(" |")[0], "coordinates": source}
    return replace(read_record(block, name, index), name=title, format="smiles", properties=properties)


def _split(line: str) -> tuple[str, str]:
    """The SMILES with its extension in bars, and the title."""
    first, _, rest = line.replace("\t", " ").partition(" ")
    if rest.startswith("|") and "|" in rest[1:]:
        end = rest.index("|", 1) + 1
        return f"{first} {rest[:end]}", rest[end:].strip()
    return first, rest.strip().split("  ")[0]


def _place(molecule: Any, index: int) -> tuple[Any, str]:
    """The molecule with coordinates, and their source."""
    from rdkit.Chem import rdDepictor, rdDistGeom, rdmolops

    if molecule.GetNumConformers() and molecule.GetConformer().Is3D():
        return molecule, GIVEN
    if index < _MOST_SHAPES and molecule.GetNumAtoms() <= _MOST_ATOMS_SHAPED:
        full = rdmolops.AddHs(molecule)
        how: Any = rdDistGeom.ETKDGv3()
        how.randomSeed, how.maxIterations, how.timeout = _SEED, 20, 5
        if rdDistGeom.EmbedMolecule(full, how) == 0:
            return full, MADE
    rdDepictor.Compute2DCoords(molecule)
    return molecule, FLAT
