"""Draw small molecules in 2D with RDKit, which is imported on first use.

Drawings follow light and dark themes through the ``color-scheme`` of the page that shows them as images.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foldnote.results import Molecule
from foldnote.results.docking.bonding import list_neighbours

WIDTH, HEIGHT = 320, 220
MAX_ATOMS = 200
"""Maximum number of heavy atoms of a molecule that is drawn."""
_SMILES = re.compile(r"^REMARK SMILES (?!IDX)(\S{1,2000})\s*$", re.M)
_NAMES = re.compile(r"\s(class|xmlns:(rdkit|xlink)|xml:space)='[^']*'")
_HYDROGENS = ("H", "D")
_ATOM_FONT_PX = 15
_ATOM_COLORS = {
    "#000000": "#e4e4e4", "#0000FF": "#8fb4ff", "#FF0000": "#ff8f80", "#33CCCC": "#5fdcdc",
    "#7F4C19": "#d9a066", "#7F7F00": "#d6d64a", "#00CC00": "#4ade4a", "#7F7F7F": "#a8a8a8",
    "#FF7F00": "#ffa64d", "#A01EEF": "#c98bff",
}  # fmt: skip
"""RDKit's colours of elements, and their replacements on a dark background."""
DARK = "@media(prefers-color-scheme:dark){{svg{{color:#ddd;background:#111}}{}{}{}}}".format(
    "".join(f"[style*='stroke:{ink}']{{stroke:{dark}!important}}" for ink, dark in _ATOM_COLORS.items()),
    "".join(f"[style*='fill:{ink}']{{fill:{dark}!important}}" for ink, dark in _ATOM_COLORS.items()),
    "".join(f"[fill='{ink}']{{fill:{dark}}}" for ink, dark in _ATOM_COLORS.items()),
)
"""Style of drawings in dark themes."""

Points = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Skeleton:
    """A molecule drawn without hydrogens.

    Attributes:
        molecule: the molecule of RDKit, heavy atoms only, with 2D coordinates.
        places: the atom of the drawing for each row of :attr:`Molecule.atoms`; -1 for hydrogens.
        has_orders: whether bond orders are known.
    """

    molecule: Any = field(repr=False)
    places: Sequence[int]
    has_orders: bool

    @property
    def positions(self) -> Points:
        """Coordinates of the atoms in 2D, shape (n, 2), Å."""
        return np.asarray(self.molecule.GetConformer().GetPositions(), np.float64)[:, :2]

    @property
    def bonds(self) -> list[tuple[int, int]]:
        """The atoms of each bond."""
        return [(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in self.molecule.GetBonds()]

    def draw(self, scale: float, *, is_png: bool = False, zoom: float = 1.0) -> tuple[Any, Points]:
        """Draw it with ``scale`` pixels per Å.

        Args:
            scale: pixels per Å, where a bond has about 1.5 Å.
            is_png: whether to draw a PNG rather than the elements of an SVG.
            zoom: a factor of the whole drawing, lines and letters included.

        Returns:
            The SVG's elements or the PNG's bytes, and the positions of the atoms, shape (n, 2), in pixels.
        """
        drawing: Any = import_module("rdkit.Chem.Draw.rdMolDraw2D")
        pen = (drawing.MolDraw2DCairo if is_png else drawing.MolDraw2DSVG)(-1, -1)
        options = pen.drawOptions()
        options.clearBackground = False
        options.scalingFactor = scale * zoom
        options.padding = 0.15
        options.bondLineWidth = 1.7 * zoom
        options.scaleBondWidth = False
        options.minFontSize = options.maxFontSize = round(_ATOM_FONT_PX * min(1.0, scale / 18) * zoom)
        options.prepareMolsBeforeDrawing = False
        options.includeRadicals = False  # caused by hydrogens that the file does not have
        pen.DrawMolecule(_prepare(drawing, self.molecule))
        pen.FinishDrawing()
        count = self.molecule.GetNumAtoms()
        spots = np.array([(at.x, at.y) for at in map(pen.GetDrawCoords, range(count))], np.float64)
        if is_png:
            return bytes(pen.GetDrawingText()), spots
        elements = re.search(r"<svg.*?>(.*)</svg>", _shorten(str(pen.GetDrawingText())), re.S)
        return (elements[1] if elements else ""), spots


def draw_molecules(molecules: Sequence[Molecule]) -> list[str]:
    """Return an SVG without hydrogens for each molecule; empty if it cannot be drawn.

    Poses of the same molecule share one drawing. Molecules without bonds are not drawn. PDBQT files have
    none; their molecules are drawn from the SMILES that Meeko writes into the file.
    """
    keys = [find_key(molecule) for molecule in molecules]
    first = dict(zip(reversed(keys), reversed(molecules), strict=True))
    drawings = {key: _draw_molecule(molecule) for key, molecule in first.items()}
    return [drawings[key] for key in keys]


def draw_smiles(smiles: str) -> str:
    """Return an SVG of the molecule; empty if RDKit cannot read it, or it is too large to be recognised."""
    return _draw("smiles", smiles)


def make_skeleton(molecule: Molecule) -> Skeleton | None:
    """Lay a molecule out in 2D; None if RDKit cannot or if it has more than 200 heavy atoms.

    Bonds are taken from the file or, if it has none, from interatomic distances, as single bonds.
    """
    if not 0 < molecule.heavy_atoms <= MAX_ATOMS:
        return None
    chem: Any = import_module("rdkit.Chem")
    with import_module("rdkit.rdBase").BlockLogs():
        try:
            drawable, indices, has_orders = _build(chem, molecule)
            import_module("rdkit.Chem.rdDepictor").Compute2DCoords(drawable, canonOrient=True)
        except (ValueError, RuntimeError):
            return None
    return Skeleton(drawable, indices, has_orders)


def _build(chem: Any, molecule: Molecule) -> tuple[Any, list[int], bool]:
    """Return the molecule in RDKit, the index of each row, and whether orders are known."""
    elements, neighbours = molecule.elements, list_neighbours(molecule)
    orders = {frozenset((a, b)): order for a, b, order in molecule.bond_rows}
    has_orders = bool(orders) and all(np.isfinite(list(orders.values())))
    has_hydrogens = any(element in _HYDROGENS for element in elements)
    charges = np.nan_to_num(molecule.charges) if molecule.format == "sdf" else None
    built, indices = chem.RWMol(), [-1] * len(elements)
    for row, element in enumerate(elements):
        if element in _HYDROGENS:
            continue
        atom = chem.Atom(element)
        bonded = neighbours[row]
        attached = sum(elements[partner] in _HYDROGENS for partner in bonded)
        valence = round(sum(orders.get(frozenset((row, partner)), 1.0) for partner in bonded))
        if charges is not None:
            atom.SetFormalCharge(round(float(charges[row])))
        elif has_hydrogens and has_orders:
            atom.SetFormalCharge(_find_charge(element, valence))
        if attached or not has_orders or (has_hydrogens and element in ("N", "O")):
            atom.SetNumExplicitHs(attached)
            atom.SetNoImplicit(True)
        indices[row] = built.AddAtom(atom)
    kinds = {1: chem.BondType.SINGLE, 2: chem.BondType.DOUBLE, 3: chem.BondType.TRIPLE}
    for row, bonded in enumerate(neighbours):
        for partner in bonded:
            if row < partner and indices[row] >= 0 and indices[partner] >= 0:
                order = orders.get(frozenset((row, partner)), 1.0) if has_orders else 1.0
                kind = chem.BondType.AROMATIC if order == 1.5 else kinds.get(round(order), kinds[1])
                built.AddBond(indices[row], indices[partner], kind)
                if order == 1.5:
                    built.GetBondBetweenAtoms(indices[row], indices[partner]).SetIsAromatic(True)
                    for end in (row, partner):
                        built.GetAtomWithIdx(indices[end]).SetIsAromatic(True)
    return _finish(chem, built, molecule, indices), indices, has_orders


def _find_charge(element: str, valence: int) -> int:
    """Return the formal charge of nitrogen or oxygen, whose hydrogens are all known."""
    return {("N", 4): 1, ("O", 1): -1}.get((element, valence), 0)


def _finish(chem: Any, built: Any, molecule: Molecule, indices: Sequence[int]) -> Any:
    """Perceive rings, and the stereochemistry of the coordinates."""
    chain = chem.Conformer(built.GetNumAtoms())
    for index, point in zip(indices, molecule.coordinates, strict=True):
        if index >= 0:
            chain.SetAtomPosition(index, [float(value) for value in point])
    chain.Set3D(True)
    built.AddConformer(chain)
    finished = built.GetMol()
    try:
        chem.SanitizeMol(finished)
        chem.AssignStereochemistryFrom3D(finished)
    except ValueError:  # impossible valences are drawn as they are
        finished.UpdatePropertyCache(strict=False)
        chem.FastFindRings(finished)
    return finished


def _prepare(drawing: Any, molecule: Any) -> Any:
    """Kekulize and wedge for drawing, if possible."""
    try:
        return drawing.PrepareMolForDrawing(molecule, addChiralHs=False)
    except (ValueError, RuntimeError):
        return drawing.PrepareMolForDrawing(molecule, kekulize=False, addChiralHs=False, wedgeBonds=False)


def find_key(molecule: Molecule) -> object:
    """Return the key of a drawing: name, elements, charges and bonds, without coordinates."""
    atoms = molecule.atoms[["element", "charge"]].itertuples(index=False, name=None)
    return (molecule.name, tuple(atoms), tuple(molecule.bonds.itertuples(index=False, name=None)))


def _draw_molecule(molecule: Molecule) -> str:
    if molecule.heavy_atoms > MAX_ATOMS:
        return ""
    if molecule.format == "pdbqt":
        match = _SMILES.search(molecule.text)
        return _draw("smiles", match[1]) if match else ""
    if molecule.format == "pdb":
        return ""  # without bond orders
    return _draw("mol2" if molecule.format == "mol2" else "sdf", molecule.text)


def _draw(form: str, text: str) -> str:
    chem: Any = import_module("rdkit.Chem")
    drawing: Any = import_module("rdkit.Chem.Draw.rdMolDraw2D")
    with import_module("rdkit.rdBase").BlockLogs():
        try:
            molecule = _read_molecule(chem, form, text)
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
    head, _, body = _shorten(str(pen.GetDrawingText())).partition(">")
    return f"{head}><style>svg{{background:#fff}}{DARK}</style>{body}"


def _shorten(svg: str) -> str:
    """Drop the XML declaration, comments, classes and namespaces."""
    return _NAMES.sub("", re.sub(r"<\?xml.*?\?>|<!--.*?-->|\n", "", svg, flags=re.S))


def _read_molecule(chem: Any, form: str, text: str) -> Any:
    if form == "smiles":
        return chem.MolFromSmiles(text)
    reader = chem.MolFromMol2Block if form == "mol2" else chem.MolFromMolBlock
    molecule = reader(text)
    # Molecules with impossible valences are drawn without sanitization.
    return molecule if molecule is not None else reader(text, sanitize=False)
