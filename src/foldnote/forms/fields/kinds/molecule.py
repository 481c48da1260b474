"""Fields for molecules as SMILES: one or a list, checked as typed and drawn by RDKit as SVG."""

from __future__ import annotations

import re
from abc import abstractmethod
from base64 import b64encode
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import ipywidgets as widgets

from foldnote.forms.fields.field import Field, Reading
from foldnote.forms.fields.kinds.listing import LinesField
from foldnote.forms.fields.kinds.text import TextField
from foldnote.forms.ui.label import Excerpt
from foldnote.forms.ui.stylesheet import read_style
from foldnote.forms.wording import in_one_line
from foldnote.text import count, escape_html

if TYPE_CHECKING:
    from foldnote.catalog.checks.molecule import SmilesFault

_MAX_DRAWN: Final = 12
_WIDTH, _HEIGHT = 150, 110
_BLACK: Final = "#000000"
_ATOM_COLORS: Final = {
    -1: _BLACK, 1: "#808080", 6: _BLACK, 7: "#4a7cf0", 8: "#e0493a", 9: "#149494", 15: "#cf7212",
    16: "#9a8500", 17: "#2a9648", 35: "#b8733a", 53: "#a066d8",
}  # fmt: skip
"""Colours by atomic number (-1 for all others), with a contrast of at least 3:1 on white and on #212121;
black is replaced by the text colour."""
_STYLE: Final = "<style>svg{color:#222}@media(prefers-color-scheme:dark){svg{color:#e4e4e4}}</style>"
_AROUND: Final = 20
"""Number of characters of a SMILES that are shown on each side of a wrong one."""


def find_fault(smiles: str) -> str | None:
    """Describe what is wrong with a SMILES, as a sentence; None for a valid one."""
    fault = locate_fault(smiles)
    return fault.sentence if fault is not None else None


def locate_fault(smiles: str) -> SmilesFault | None:
    """Find a fault in a SMILES: in its syntax, or an atom that RDKit refuses; None if it is valid."""
    from foldnote.catalog.checks.molecule import locate_smiles_fault  # deferred: often not needed

    return locate_smiles_fault(smiles) or _check_with_rdkit(smiles.strip())


def cut_excerpt(smiles: str, fault: SmilesFault) -> Excerpt | None:
    """Return the wrong character of a SMILES with its context; None if no single position is at fault."""
    smiles, position = smiles.strip(), fault.position
    if position is None:
        return None
    start, end = max(0, position - _AROUND), position + 1 + _AROUND
    before = ("…" if start else "") + smiles[start:position]
    return Excerpt(before, smiles[position], smiles[position + 1 : end] + ("…" if end < len(smiles) else ""))


@lru_cache(maxsize=4096)
def _check_with_rdkit(smiles: str) -> SmilesFault | None:
    from foldnote.catalog.checks.molecule import SmilesFault, list_atom_positions

    chem: Any = import_module("rdkit.Chem")
    with import_module("rdkit.rdBase").BlockLogs():
        molecule = chem.MolFromSmiles(smiles, sanitize=False)
        if molecule is None:
            return _find_wrong_atom(chem, smiles)
        problems = chem.DetectChemistryProblems(molecule)
    if not problems:
        return None
    problem, atoms = problems[0], list_atom_positions(smiles)
    if hasattr(problem, "GetAtomIndices"):  # a ring without a Kekulé structure
        position = atoms[min(problem.GetAtomIndices())]
        return SmilesFault(
            f"{in_one_line(smiles, 40)}: the aromatic atoms from position {position + 1} on have no"
            " alternating single and double bonds. Write [nH] for a nitrogen with hydrogen, or"
            " capital letters.",
            position,
        )
    message = problem.Message().rstrip(".")
    if not hasattr(problem, "GetAtomIdx"):
        return SmilesFault(f"{in_one_line(smiles, 40)}: {message}.")
    position = atoms[problem.GetAtomIdx()]
    symbol = molecule.GetAtomWithIdx(problem.GetAtomIdx()).GetSymbol()
    valence = re.search(r"valence for atom # \d+ \w+, (\d+)", message)
    fault = f"{symbol} with the valence {valence[1]}, which is too high" if valence else message
    return SmilesFault(f"Position {position + 1} of {in_one_line(smiles, 40)}: {fault}.", position)


def _find_wrong_atom(chem: Any, smiles: str) -> SmilesFault:
    """Return the first atom in brackets that RDKit cannot read, or else the whole text."""
    from foldnote.catalog.checks.molecule import SmilesFault, list_atom_positions

    for position in list_atom_positions(smiles):
        atom = smiles[position : smiles.index("]", position) + 1] if smiles[position] == "[" else ""
        if atom and chem.MolFromSmiles(atom, sanitize=False) is None:
            sentence = f"Position {position + 1} of {in_one_line(smiles, 40)}: {atom} is not an atom."
            return SmilesFault(sentence, position)
    return SmilesFault(f"{in_one_line(smiles, 40)} is not a valid SMILES.")


@lru_cache(maxsize=256)
def draw_svg(smiles: str) -> str:
    """Return the molecule as an SVG document of 150 × 110 px; empty if it cannot be drawn.

    It has no background, and is legible on light and dark ones through the ``color-scheme`` of the image.
    """
    drawing: Any = import_module("rdkit.Chem.Draw.rdMolDraw2D")
    molecule = import_module("rdkit.Chem").MolFromSmiles(smiles)
    if molecule is None or not molecule.GetNumAtoms():
        return ""
    pen = drawing.MolDraw2DSVG(_WIDTH, _HEIGHT)
    pen.drawOptions().clearBackground = False
    pen.drawOptions().setAtomPalette({number: _split_color(ink) for number, ink in _ATOM_COLORS.items()})
    pen.DrawMolecule(molecule)
    pen.FinishDrawing()
    head, end, body = str(pen.GetDrawingText()).partition("<!-- END OF HEADER -->")
    return head + end + _STYLE + body.replace(_BLACK, "currentColor")


def _split_color(color: str) -> tuple[float, ...]:
    """Return red, green and blue of ``#rrggbb``, each 0 to 1."""
    return tuple(int(color[start : start + 2], 16) / 255 for start in (1, 3, 5))


def write_drawings(molecules: list[str]) -> str:
    """Return the HTML of the first 12 molecules side by side; empty if none can be drawn."""
    figures = []
    for number, smiles in enumerate(molecules[:_MAX_DRAWN], 1):
        svg = draw_svg(smiles.strip()) if find_fault(smiles) is None else ""
        if svg:
            source = f"data:image/svg+xml;base64,{b64encode(svg.encode()).decode()}"
            label = escape_html(in_one_line(smiles, 60))
            name = f"Molecule {number}" if len(molecules) > 1 else "2D drawing"
            caption = f"<figcaption>{number}</figcaption>" if len(molecules) > 1 else ""
            figures.append(
                f'<figure><img src="{source}" alt="{name}: {label}" '
                f'width="{_WIDTH}" height="{_HEIGHT}">'
                f"{caption}</figure>"
            )
    hidden = len(molecules) - _MAX_DRAWN
    note = f"<figcaption>and {hidden} more</figcaption>" if hidden > 0 and figures else ""
    style = f"<style>{read_style('science')}</style>"
    return f'{style}<div class="fn-molecules">{"".join(figures)}{note}</div>' if figures else ""


class _Drawing:
    """The drawing below a text box, created once there is a molecule to draw."""

    def __init__(self, field: Field, box: widgets.Box) -> None:
        self._field = field
        self.widget = box
        self._picture: widgets.HTML | None = None

    def show(self, molecules: list[str]) -> None:
        """Draw ``molecules``."""
        html = write_drawings(molecules) if molecules else ""
        if html and self._picture is None:
            self._picture = self._field.host.styles.html("", "foldnote-part")
            self.widget.children = (*self.widget.children, self._picture)
        if self._picture is not None and self._picture.value != html:
            self._picture.value = html


class DrawableField(Field):
    """A field whose molecules may be drawn in the structure editor."""

    takes_many_molecules = False

    @abstractmethod
    def list_molecules(self) -> list[str]:
        """Return the SMILES of the molecules that the field holds, valid or not."""

    @abstractmethod
    def take_molecule(self, smiles: str, index: int | None) -> None:
        """Hold a molecule that a person drew.

        Args:
            smiles: a valid SMILES.
            index: 0-based index of the molecule that it replaces; None for a new one.
        """

    def make_links(self, line: widgets.Widget) -> widgets.Box:
        """Return the line, with a placeholder for the link that the page adds."""
        styles = self.host.styles
        return styles.box(
            [line, styles.box([], "foldnote-links")], "foldnote-file", "foldnote-draws", self.mark
        )


class MoleculeField(DrawableField, TextField):
    """One molecule."""

    width = "broad"
    takes_empty_text = False

    def build(self) -> widgets.DOMWidget:
        """Return a text box with the drawing below it."""
        self._drawing = _Drawing(self, self.make_links(self.make_line(self.hint(), "path", "lines")))
        return self._drawing.widget

    def list_molecules(self) -> list[str]:
        """Return the SMILES."""
        value = self.read().value
        return [value] if isinstance(value, str) and value else []

    def take_molecule(self, smiles: str, _index: int | None) -> None:
        """Hold the drawn molecule."""
        self.control.value = smiles

    def hint(self) -> str:
        """Return the placeholder text."""
        return super().hint() or "SMILES, e.g. CC(=O)Oc1ccccc1C(=O)O"

    def describe(self, value: Any) -> Reading:
        """Return the SMILES, with an error if it is not valid."""
        from foldnote.forms.biology.unbonded_parts import find_unbonded  # deferred: often not needed

        fault = locate_fault(value) if isinstance(value, str) and value else None
        if fault:
            return Reading(value, (fault.sentence,), cut_excerpt(value, fault))
        caution = find_unbonded(value) if isinstance(value, str) else None
        return Reading(value, cautions=(caution,) if caution else ())

    def express(self, reading: Reading, problems: Any) -> None:
        """Draw the molecule."""
        self._drawing.show([reading.value] if isinstance(reading.value, str) and reading.value else [])
        super().express(reading, problems)


class MoleculesField(DrawableField, LinesField):
    """Molecules, one per line; code may pass a column of a DataFrame."""

    takes_many_molecules = True

    def build(self) -> widgets.DOMWidget:
        """Return a text area with the drawings below it."""
        self._drawing = _Drawing(self, self.make_links(self.make_line(self.hint(), "path", "lines", rows=3)))
        return self._drawing.widget

    def list_molecules(self) -> list[str]:
        """Return the SMILES of all lines."""
        value = self.read().value
        return [str(item) for item in value] if isinstance(value, list) else []

    def take_molecule(self, smiles: str, index: int | None) -> None:
        """Add the drawn molecule as a line, or replace another molecule."""
        molecules = self.list_molecules()
        if index is None or index >= len(molecules):
            molecules.append(smiles)
        else:
            molecules[index] = smiles
        with self.writing():
            self.render(molecules)
        self.changed()

    def hint(self) -> str:
        """Return the placeholder text."""
        return "SMILES, one per line"

    def write(self, value: Any) -> None:
        """Hold ``value``; missing cells of a column or an array are left out."""
        super().write(read_column(value))

    def describe(self, value: Any) -> Reading:
        """Return the number of molecules, and an error for each that is not valid."""
        if not isinstance(value, list) or not value:
            return Reading(value)
        from foldnote.forms.biology.unbonded_parts import find_unbonded_lines

        faults = [(number, find_fault(str(item))) for number, item in enumerate(value, 1)]
        errors = tuple(f"Line {number}: {fault}" for number, fault in faults if fault)
        caution = find_unbonded_lines(
            ["" if fault else str(item) for item, (_, fault) in zip(value, faults, strict=True)]
        )
        cautions = (caution,) if caution else ()
        return Reading(value, errors, readout=count(len(value), "molecule"), cautions=cautions)

    def express(self, reading: Reading, problems: Any) -> None:
        """Draw the molecules."""
        self._drawing.show([str(item) for item in reading.value] if isinstance(reading.value, list) else [])
        super().express(reading, problems)


def read_column(value: Any) -> Any:
    """Return a DataFrame column, an array or a tuple as a list without missing cells; keep other values."""
    if hasattr(value, "tolist") and not isinstance(value, str):
        value = value.tolist()
    if isinstance(value, tuple):
        value = list(value)
    return [item for item in value if item is not None and item == item] if isinstance(value, list) else value
