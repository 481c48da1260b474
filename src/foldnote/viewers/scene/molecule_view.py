"""Scenes of small molecules without a receptor: 3D structure, 2D drawing and the properties in the file.

Several molecules are shown one at a time. Properties are read from the file, not predicted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from foldnote.errors import UnreadableFileError
from foldnote.results import Molecule, Structure, find_metric
from foldnote.results.docking.bonding import list_neighbours
from foldnote.results.molecules.molecule_files import read_molecules
from foldnote.results.molecules.pdbqt import list_ligand_lines
from foldnote.results.molecules.smiles import FLAT, MADE
from foldnote.text import count, format_figure
from foldnote.viewers.scene import palette
from foldnote.viewers.scene.description import Facts
from foldnote.viewers.scene.drawings.molecules import draw_molecules
from foldnote.viewers.scene.model import Scene, SceneModel, Step
from foldnote.viewers.scene.orientation import find_rotation

MAX_MOLECULES = 50
_MAX_PROPERTIES = 12
_MAX_LETTERS = 200
_FORMATS = ("sdf", "mol2", "pdbqt")


def compose_molecules(molecules: Sequence[Molecule], *, title: str = "", height_px: int = 360) -> Scene:
    """Return a scene that shows molecules one at a time.

    Args:
        molecules: molecules to show; only the first 50 are used.
        title: heading; defaults to the file name, or to the name of a single molecule.
        height_px: height of the picture in pixels.

    Raises:
        UnreadableFileError: ``molecules`` is empty.
    """
    selected = list(molecules[:MAX_MOLECULES])
    if not selected:
        raise UnreadableFileError("There is no molecule to show.")
    drawings = draw_molecules(selected)
    steps = [
        Step(
            label=name_molecule(molecule), models=(index,), drawing=drawing, facts=describe_molecule(molecule)
        )
        for index, (molecule, drawing) in enumerate(zip(selected, drawings, strict=True))
    ]
    facts = [(step.label, "; ".join(f"{term} {text}" for term, text in step.facts)) for step in steps]
    omitted = len(molecules) - len(selected)
    omission = [f"Only the first {len(selected)} of {len(molecules)} molecules are shown."] if omitted else []
    return Scene(
        models=tuple(make_molecule_model(molecule, index) for index, molecule in enumerate(selected)),
        title=title or (selected[0].file if len(selected) > 1 else name_molecule(selected[0])),
        rotation=find_rotation(selected[0].coordinates),
        facts=tuple(facts),
        notes=(*omission, *_note_shapes(selected), *note_drawings(selected, drawings)),
        steps=tuple(steps),
        step_noun="molecule",
        height_px=height_px,
    )


def compose_molecule_file(structure: Structure, *, title: str = "", height_px: int = 360) -> Scene:
    """Return a scene of the molecules in a file.

    Raises:
        UnreadableFileError: no molecule in the file can be read.
    """
    contents = read_molecules(structure.text.encode(), structure.name)
    scene = compose_molecules(contents.molecules, title=title or structure.name, height_px=height_px)
    return scene.model_copy(update={"notes": (*scene.notes, *contents.problems[:5])})


def make_molecule_model(molecule: Molecule, index: int, label: str = "") -> SceneModel:
    """Convert a molecule to a model of a scene, with green carbons; ``index`` is 0-based."""
    form = molecule.format if molecule.format in _FORMATS else "sdf"
    text = _write_molfile(molecule) if molecule.format == "pdb" else molecule.text
    return SceneModel.model_validate(
        {
            "name": f"molecule-{index + 1}.{form}",
            "label": label or name_molecule(molecule),
            "format": form,
            "text": _list_atom_lines(text) if form == "pdbqt" else text,
            "color": palette.MOLECULE,
        }
    )


def _list_atom_lines(text: str) -> str:
    """Return the atom lines of the ligand in a PDBQT record; 3Dmol.js would stop reading at ENDROOT."""
    return "\n".join(list_ligand_lines(text)) + "\n"


def _write_molfile(molecule: Molecule) -> str:
    """Write a residue of a structure (up to 999 atoms) as a molfile (V2000) with single bonds by distance."""
    atoms = zip(molecule.elements, molecule.coordinates, strict=True)
    lines = [f"{x:10.4f}{y:10.4f}{z:10.4f} {element:<3} 0  0" for element, (x, y, z) in atoms]
    rows = enumerate(list_neighbours(molecule), start=1)
    bonds = [
        f"{row:3}{neighbour + 1:3}  1  0"
        for row, neighbours in rows
        for neighbour in neighbours
        if row <= neighbour
    ]
    counts = f"{len(lines):3}{len(bonds):3}  0  0  0  0  0  0  0  0999 V2000"
    return "\n".join([molecule.name, "", "", counts, *lines, *bonds, "M  END", "$$$$", ""])


def name_molecule(molecule: Molecule) -> str:
    """Return the title of a molecule, else its position in the file."""
    return molecule.name or f"Molecule {molecule.index + 1}"


def write_size(molecule: Molecule) -> str:
    """Return the formula; for a PDBQT file without all hydrogens, the number of heavy atoms."""
    if molecule.format == "pdbqt" and not molecule.has_all_hydrogens:
        return count(molecule.heavy_atoms, "heavy atom")
    return molecule.formula


def describe_molecule(molecule: Molecule) -> Facts:
    """Return the formula, size and the properties in the file, with their units if known."""
    size = f"{count(molecule.heavy_atoms, 'heavy atom')}, charge {_find_charge(molecule)}"
    size = size if molecule.format == "sdf" else count(molecule.heavy_atoms, "heavy atom")
    size += "" if molecule.mass is None else f", {molecule.mass:.2f} g/mol"
    has_formula = molecule.format != "pdbqt" or molecule.has_all_hydrogens
    facts = [("Formula", f"{molecule.formula} ({size})") if has_formula else ("Size", size)]
    properties = list(molecule.properties.items())
    labels = label_figures([key for key, _ in properties])
    facts += [(labels[key], _write(key, value)) for key, value in properties[:_MAX_PROPERTIES]]
    omitted = len(properties) - _MAX_PROPERTIES
    return tuple([*facts, ("More", f"{omitted} in the table of molecules")] if omitted > 0 else facts)


def note_drawings(molecules: Sequence[Molecule], drawings: Sequence[str]) -> tuple[str, ...]:
    """Explain why there are no 2D drawings; empty if there are any."""
    if any(drawings):
        return ()
    if all(molecule.format == "pdbqt" for molecule in molecules):
        return ("No 2D drawing: PDBQT files have no bonds, and this one contains no SMILES.",)
    if all(molecule.format == "pdb" for molecule in molecules):
        return ("No 2D drawing: the structure's file has no bond orders of its ligands.",)
    return ("No 2D drawing: RDKit cannot read this molecule.",)


def _note_shapes(molecules: Sequence[Molecule]) -> tuple[str, ...]:
    if any(
        molecule.properties.get("coordinates") == MADE
        for molecule in molecules
        if molecule.format == "smiles"
    ):
        return ("The 3D conformer was generated by RDKit (ETKDGv3) from the SMILES; it is one of many.",)
    if all(molecule.is_flat and _is_drawing(molecule) for molecule in molecules):
        return ("The file has 2D coordinates only: all atoms lie in one plane.",)
    return ()


def _is_drawing(molecule: Molecule) -> bool:
    """Return whether the coordinates are those of a 2D drawing."""
    head = molecule.text.split("\n")[1:2]
    return molecule.properties.get("coordinates") == FLAT or bool(head and head[0][20:22] == "2D")


def _find_charge(molecule: Molecule) -> str:
    total = round(float(molecule.atoms["charge"].sum()))
    return f"{total:+d}" if total else "0"


def label_figures(keys: Sequence[str]) -> dict[str, str]:
    """Return labels of properties that begin a line, by key; ambiguous ones as named in the file."""
    metrics = {key: find_metric(key) for key in keys}
    labels = {key: _capitalise(metric.label) if metric else key for key, metric in metrics.items()}
    counts = Counter(labels.values())
    return {
        key: label if counts[label] == 1 else _make_unique_label(key, label) for key, label in labels.items()
    }


def _make_unique_label(key: str, label: str) -> str:
    """Make ambiguous labels unique: ``rmsd_lower`` becomes ``RMSD lower``."""
    words, first = key.replace("_", " "), label.partition(" ")[0]
    return first + words[len(first) :] if words.lower().startswith(first.lower()) else words


def _capitalise(label: str) -> str:
    """Capitalise a label, unless its first word is a symbol, such as ``pLDDT`` or ``p(bind)``."""
    first_word = label.partition(" ")[0]
    return label[:1].upper() + label[1:] if first_word.isalpha() and first_word.islower() else label


def _write(key: str, value: object) -> str:
    metric = find_metric(key)
    text = format_figure(value) if isinstance(value, float) else str(value)
    short = text if len(text) <= _MAX_LETTERS else f"{text[:_MAX_LETTERS]}…"
    return f"{short} {metric.unit}" if metric and metric.unit else short
