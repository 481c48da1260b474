"""2D drawings of small molecules by RDKit, which is imported when the first one is drawn.

A molecule whose file gives no bonds is not drawn.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from foldnote.results import Molecule

WIDTH, HEIGHT = 320, 220
_MOST_ATOMS = 200
_SMILES = re.compile(r"^REMARK SMILES (?!IDX)(\S{1,2000})\s*$", re.M)
_NAMES = re.compile(r"\s(class|xmlns:(rdkit|xlink)|xml:space)='[^']*'")


def draw_molecules(molecules: Sequence[Molecule]) -> list[str]:
    """Each molecule without its hydrogens as an SVG, or "" where it cannot be drawn.

    Poses of one molecule are drawn once and alike. PDBQT files have no bonds; of these, molecules are drawn
    whose SMILES the file carries, as Meeko writes it.
    """
    keys = [_find_key(molecule) for molecule in molecules]
    first = dict(zip(reversed(keys), reversed(molecules), strict=True))
    made = {key: _draw_molecule(molecule) for key, molecule in first.items()}
    return [made[key] for key in keys]


def _find_key(molecule: Molecule) -> object:
    """What the drawing is made of: name, elements, charges and bonds, and not the places."""
    atoms = molecule.atoms[["element", "charge"]].itertuples(index=False, name=None)
    return (molecule.name, tuple(atoms), tuple(molecule.bonds.itertuples(index=False, name=None)))


def _draw_molecule(molecule: Molecule) -> str:
    if molecule.heavy_atoms > _MOST_ATOMS:
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
    # Comments and names in it are for programs that nobody runs here.
    return _NAMES.sub("", re.sub(r"<\?xml.*?\?>|<!--.*?-->|\n", "", svg, flags=re.S))


def _read(chem: Any, form: str, text: str) -> Any:
    if form == "smiles":
        return chem.MolFromSmiles(text)
    reader = chem.MolFromMol2Block if form == "mol2" else chem.MolFromMolBlock
    molecule = reader(text)
    # What no chemistry allows is drawn as it is written.
    return molecule if molecule is not None else reader(text, sanitize=False)
