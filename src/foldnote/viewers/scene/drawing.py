"""Draw small molecules in 2D with RDKit, which is imported on first use.

Molecules without bonds are not drawn.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from foldnote.results import Molecule

WIDTH, HEIGHT = 320, 220
_MAX_ATOMS = 200
_SMILES = re.compile(r"^REMARK SMILES (?!IDX)(\S{1,2000})\s*$", re.M)
_NAMES = re.compile(r"\s(class|xmlns:(rdkit|xlink)|xml:space)='[^']*'")


def draw_molecules(molecules: Sequence[Molecule]) -> list[str]:
    """Return an SVG without hydrogens for each molecule; empty if it cannot be drawn.

    Poses of the same molecule share one drawing. PDBQT files have no bonds; their molecules are drawn from
    the SMILES that Meeko writes into the file.
    """
    keys = [_find_key(molecule) for molecule in molecules]
    first = dict(zip(reversed(keys), reversed(molecules), strict=True))
    made = {key: _draw_molecule(molecule) for key, molecule in first.items()}
    return [made[key] for key in keys]


def draw_smiles(smiles: str) -> str:
    """Return an SVG of the molecule; empty if RDKit cannot read it, or it is too large to be recognised."""
    return _draw("smiles", smiles)


def _find_key(molecule: Molecule) -> object:
    """Key of a drawing: name, elements, charges and bonds, without coordinates."""
    atoms = molecule.atoms[["element", "charge"]].itertuples(index=False, name=None)
    return (molecule.name, tuple(atoms), tuple(molecule.bonds.itertuples(index=False, name=None)))


def _draw_molecule(molecule: Molecule) -> str:
    if molecule.heavy_atoms > _MAX_ATOMS:
        return ""
    if molecule.format == "pdbqt":
        found = _SMILES.search(molecule.text)
        return _draw("smiles", found[1]) if found else ""
    return _draw("mol2" if molecule.format == "mol2" else "sdf", molecule.text)


def _draw(form: str, text: str) -> str:
    chem: Any = import_module("rdkit.Chem")
    drawing: Any = import_module("rdkit.Chem.Draw.rdMolDraw2D")
    with import_module("rdkit.rdBase").BlockLogs():
        try:
            molecule = _read(chem, form, text)
            if molecule is None or not molecule.GetNumAtoms():
                return ""
            import_module("rdkit.Chem.rdDepictor").Compute2DCoords(molecule)
            pen = drawing.MolDraw2DSVG(WIDTH, HEIGHT)
            pen.drawOptions().clearBackground = False
            pen.drawOptions().maxFontSize = 16
            pen.DrawMolecule(molecule)
            pen.FinishDrawing()
        except (ValueError, RuntimeError):
            return ""
    svg = str(pen.GetDrawingText())
    # Drop the XML declaration, comments and namespaces.
    return _NAMES.sub("", re.sub(r"<\?xml.*?\?>|<!--.*?-->|\n", "", svg, flags=re.S))


def _read(chem: Any, form: str, text: str) -> Any:
    if form == "smiles":
        return chem.MolFromSmiles(text)
    reader = chem.MolFromMol2Block if form == "mol2" else chem.MolFromMolBlock
    molecule = reader(text)
    # Molecules with impossible valences are drawn without sanitization.
    return molecule if molecule is not None else reader(text, sanitize=False)
