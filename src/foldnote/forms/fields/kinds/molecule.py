"""Fields for molecules as SMILES: one or a list, checked as typed and drawn by RDKit as SVG."""

from __future__ import annotations

from base64 import b64encode
from functools import lru_cache
from html import escape
from importlib import import_module
from typing import Any, Final

import ipywidgets as widgets

from foldnote.catalog.checks.molecule import find_smiles_fault
from foldnote.forms.fields.field import Field, Reading
from foldnote.forms.fields.kinds.listing import LinesField
from foldnote.forms.fields.kinds.text import TextField
from foldnote.forms.ui.stylesheet import read_style
from foldnote.forms.wording import in_one_line
from foldnote.text import count

_MAX_DRAWN: Final = 12
_WIDTH, _HEIGHT = 150, 110


def find_fault(smiles: str) -> str | None:
    """What is wrong with a SMILES, as a sentence; None for a valid one."""
    return find_smiles_fault(smiles) or _check_with_rdkit(smiles.strip())


@lru_cache(maxsize=4096)
def _check_with_rdkit(smiles: str) -> str | None:
    chem: Any = import_module("rdkit.Chem")
    import_module("rdkit.RDLogger").DisableLog("rdApp.error")
    molecule = chem.MolFromSmiles(smiles, sanitize=False)
    if molecule is None:
        return f"{in_one_line(smiles, 40)} is not a valid SMILES."
    problems = chem.DetectChemistryProblems(molecule)
    return f"{in_one_line(smiles, 40)}: {problems[0].Message().rstrip('.')}." if problems else None


@lru_cache(maxsize=256)
def draw_svg(smiles: str) -> str:
    """The molecule as an SVG document of 150 × 110 px; empty if it cannot be drawn."""
    drawing: Any = import_module("rdkit.Chem.Draw.rdMolDraw2D")
    molecule = import_module("rdkit.Chem").MolFromSmiles(smiles)
    if molecule is None or not molecule.GetNumAtoms():
        return ""
    pen = drawing.MolDraw2DSVG(_WIDTH, _HEIGHT)
    pen.drawOptions().clearBackground = True
    pen.DrawMolecule(molecule)
    pen.FinishDrawing()
    return str(pen.GetDrawingText())


def write_drawings(molecules: list[str]) -> str:
    """HTML of the first 12 molecules side by side; empty if none can be drawn."""
    drawn = []
    for number, smiles in enumerate(molecules[:_MAX_DRAWN], 1):
        svg = draw_svg(smiles.strip()) if find_fault(smiles) is None else ""
        if svg:
            source = f"data:image/svg+xml;base64,{b64encode(svg.encode()).decode()}"
            label = escape(in_one_line(smiles, 60))
            drawn.append(
                f'<figure><img src="{source}" alt="Molecule {number}: {label}" '
                f'width="{_WIDTH}" height="{_HEIGHT}">'
                f"<figcaption>{number}</figcaption></figure>"
            )
    rest = len(molecules) - _MAX_DRAWN
    more = f"<figcaption>and {rest} more</figcaption>" if rest > 0 and drawn else ""
    style = f"<style>{read_style('science')}</style>"
    return f'{style}<div class="fn-molecules">{"".join(drawn)}{more}</div>' if drawn else ""


class _Drawing:
    """The drawing below a text box, created once there is a molecule to draw."""

    def __init__(self, field: Field, line: widgets.Widget) -> None:
        self._field = field
        self.widget = field.host.looks.box([line], "foldnote-file")
        self._picture: widgets.HTML | None = None

    def show(self, molecules: list[str]) -> None:
        """Draw ``molecules``."""
        drawn = write_drawings(molecules) if molecules else ""
        if drawn and self._picture is None:
            self._picture = self._field.host.looks.html("", "foldnote-part")
            self.widget.children = (*self.widget.children, self._picture)
        if self._picture is not None and self._picture.value != drawn:
            self._picture.value = drawn


class MoleculeField(TextField):
    """One molecule."""

    width = "broad"
    takes_empty_text = False

    def build(self) -> widgets.DOMWidget:
        """A text box with the drawing below it."""
        self._drawing = _Drawing(self, self.make_line(self.hint(), "path", "lines"))
        return self._drawing.widget

    def hint(self) -> str:
        """Placeholder text."""
        return super().hint() or "SMILES, e.g. CC(=O)Oc1ccccc1C(=O)O"

    def describe(self, value: Any) -> Reading:
        """The SMILES, with an error if it is not valid."""
        fault = find_fault(value) if isinstance(value, str) and value else None
        return Reading(value, (fault,) if fault else ())

    def express(self, read: Reading, problems: Any) -> None:
        """Draw the molecule."""
        self._drawing.show([read.value] if isinstance(read.value, str) and read.value else [])
        super().express(read, problems)


class MoleculesField(LinesField):
    """Molecules, one per line; code may pass a column of a DataFrame."""

    def build(self) -> widgets.DOMWidget:
        """A text area with the drawings below it."""
        self._drawing = _Drawing(self, self.make_line(self.hint(), "path", "lines", rows=3))
        return self._drawing.widget

    def hint(self) -> str:
        """Placeholder text."""
        return "SMILES, one per line"

    def write(self, value: Any) -> None:
        """Hold ``value``; missing cells of a column or an array are left out."""
        super().write(read_column(value))

    def describe(self, value: Any) -> Reading:
        """The number of molecules, and an error for each that is not valid."""
        if not isinstance(value, list) or not value:
            return Reading(value)
        faults = [(number, find_fault(str(item))) for number, item in enumerate(value, 1)]
        errors = tuple(f"Line {number}: {fault}" for number, fault in faults if fault)
        return Reading(value, errors, readout=count(len(value), "molecule"))

    def express(self, read: Reading, problems: Any) -> None:
        """Draw the molecules."""
        self._drawing.show([str(item) for item in read.value] if isinstance(read.value, list) else [])
        super().express(read, problems)


def read_column(value: Any) -> Any:
    """A column of a DataFrame, an array or a tuple as a list without missing cells; else the value itself."""
    if hasattr(value, "tolist") and not isinstance(value, str):
        value = value.tolist()
    if isinstance(value, tuple):
        value = list(value)
    return [item for item in value if item is not None and item == item] if isinstance(value, list) else value
