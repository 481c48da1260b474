"""Convert SMILES to molfiles with 2D coordinates, for the structure editor, and its molfiles to SMILES.

RDKit converts in both directions, so that drawn molecules follow the same rules as typed ones. It is imported
on first use.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

from foldnote.forms.files.molecule_outline import describe_molecule

_MAX_HEAVY_ATOMS: Final = 250
"""Heavy atoms beyond which a drawing is not legible."""


@dataclass(frozen=True, slots=True)
class DrawnMolecule:
    """The molecule of a molfile."""

    smiles: str = ""
    """Canonical isomeric SMILES; empty without atoms or with a fault."""
    words: str = ""
    """``C9H8O4, 13 heavy atoms``."""
    fault: str = ""
    """Why it cannot be used, as a sentence."""


def write_molfile(smiles: str) -> str:
    """Return a molfile (V2000) of a valid SMILES with 2D coordinates; empty for one too large to draw.

    Stereocentres are marked as absolute (chiral flag), as in the SMILES.
    """
    chem: Any = import_module("rdkit.Chem")
    molecule = chem.MolFromSmiles(smiles)
    if molecule is None or molecule.GetNumHeavyAtoms() > _MAX_HEAVY_ATOMS:
        return ""
    import_module("rdkit.Chem.rdDepictor").Compute2DCoords(molecule)
    molecule.SetIntProp("_MolFileChiralFlag", 1)
    return str(chem.MolToMolBlock(molecule))


def read_molfile(text: str) -> DrawnMolecule:
    """Return the molecule that a person drew, or what is wrong with it."""
    chem: Any = import_module("rdkit.Chem")
    with import_module("rdkit.rdBase").BlockLogs():
        molecule = chem.MolFromMolBlock(text, sanitize=False)
        if molecule is None:
            return DrawnMolecule(fault="The drawing cannot be read as a molecule.")
        if any(atom.GetAtomicNum() == 0 for atom in molecule.GetAtoms()):
            fault = "An atom of the drawing, such as R or A, is not an element: replace it."
            return DrawnMolecule(fault=fault)
        problems = chem.DetectChemistryProblems(molecule)
        if problems:
            return DrawnMolecule(fault=_explain(molecule, problems[0]))
        checked = chem.MolFromMolBlock(text)
        if not checked.GetNumAtoms():
            return DrawnMolecule()
        checked.RemoveAllConformers()
        return DrawnMolecule(chem.MolToSmiles(checked), describe_molecule(chem, checked))


def _explain(molecule: Any, problem: Any) -> str:
    if problem.GetType() != "AtomValenceException":
        return f"{problem.Message().rstrip('.')}."
    atom = molecule.GetAtomWithIdx(problem.GetAtomIdx())
    bonds = round(sum(bond.GetBondTypeAsDouble() for bond in atom.GetBonds()))
    return f"{atom.GetSymbol()} with {bonds} bonds is too many: remove a bond, or give the atom a charge."


def is_same_molecule(smiles: str, other: str) -> bool:
    """Return whether two valid SMILES are of the same molecule, with the same configuration and isotopes."""
    chem: Any = import_module("rdkit.Chem")
    first, second = chem.MolFromSmiles(smiles), chem.MolFromSmiles(other)
    return first is not None and second is not None and chem.MolToSmiles(first) == chem.MolToSmiles(second)
