"""A field for a small-molecule file or its SMILES: checked as typed and drawn in 2D."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import ipywidgets as widgets

from foldnote.client.inputs.file_values import Contents, FileValue, LocalFile
from foldnote.forms.fields.field import Reading
from foldnote.forms.fields.kinds.file import FileField
from foldnote.forms.fields.kinds.molecule import DrawableField, cut_excerpt, locate_fault, write_drawings
from foldnote.forms.files.file_reference import has_extension, is_smiles, local_path, resolve_file

if TYPE_CHECKING:
    from foldnote.forms.files.molecule_outline import MoleculeOutline

_LETTERS: Final = r"[A-Za-z0-9@+\-\[\]()\\/%=#$.:*~]+"
_SIGNS: Final = r"[=#()\[\]@]"
_ATOMS_AND_RINGS: Final = r"(?=.*[a-zC])(?:Cl|Br|[BCNOPSFIbcnops]|\d)+"
_FILE_ENDING: Final = r"\.[A-Za-z]\w{1,4}$"


def seems_smiles(text: str) -> bool:
    """Return whether a text that names no file was meant as a SMILES, valid or not, or is an InChI."""
    from foldnote.catalog.checks.molecule import is_inchi  # deferred: needed only if a text is given

    if is_inchi(text):
        return True
    if not re.fullmatch(_LETTERS, text) or re.search(_FILE_ENDING, text):
        return False
    return bool(re.search(_SIGNS, text) or re.fullmatch(_ATOMS_AND_RINGS, text))


class LigandField(FileField, DrawableField):
    """One molecule: a file, or a SMILES."""

    def build(self) -> widgets.DOMWidget:
        """Return the line of a file field; the 2D drawing is added once there is a molecule."""
        self._pictures: list[widgets.HTML] = []
        box = super().build()
        box.add_class("foldnote-draws")
        self.control.placeholder = f"SMILES, {self.control.placeholder}"
        return box

    def list_molecules(self) -> list[str]:
        """Return the SMILES, or that of the only molecule of a file."""
        value = self.read().value
        if not isinstance(value, str) or not value:
            return []
        if smiles := self._find_smiles(value):
            return [smiles]
        outline = self._find_molecules(value)
        return [*outline.smiles] if outline is not None and outline.total == 1 and outline.smiles[0] else []

    def _find_molecules(self, value: str) -> MoleculeOutline | None:
        """Return the molecules of a given file."""
        from foldnote.forms.files.molecule_outline import find_molecules

        return find_molecules(value, self.host.known_uploads(), self.spec.extensions)

    def take_molecule(self, smiles: str, _index: int | None) -> None:
        """Hold the SMILES of the drawn molecule."""
        self.control.value = smiles

    def describe(self, value: Any) -> Reading:
        """Return a readout of the molecule, or what is wrong with it and where."""
        if not isinstance(value, str) or not value:
            return super().describe(value)
        smiles = self._find_smiles(value)
        fault = locate_fault(smiles) if smiles else None
        if smiles and fault is not None:
            return Reading(value, (fault.sentence,), cut_excerpt(smiles, fault))
        reading = super().describe(value)
        if reading.errors:
            return reading
        outline = self._find_molecules(value)
        if outline is None:
            return reading
        readout = "; ".join(filter(None, (reading.readout, outline.words)))
        problem = outline.fault or self._find_excess(outline.total)
        return Reading(value, (problem,) if problem else (), None, readout)

    def _find_excess(self, total: int) -> str:
        """Explain why a file has too many molecules for the field; empty if it does not."""
        if "one-molecule" not in (self.spec.notes.get("check") or ()):
            return ""
        from foldnote.catalog.checks.molecule import explain_several

        return explain_several(total)

    def express(self, reading: Reading, problems: Any) -> None:
        """Draw the molecules."""
        is_drawn = isinstance(reading.value, str) and bool(reading.value) and not reading.errors
        outline = self._find_molecules(reading.value) if is_drawn else None
        self._draw([smiles for smiles in outline.smiles if smiles] if outline else [])
        super().express(reading, problems)

    def arrange(self) -> None:
        """Show the line, its links, what is open below them, and the drawing."""
        super().arrange()
        self.widget.children = (*self.widget.children, *self._pictures)

    def _draw(self, molecules: list[str]) -> None:
        html = write_drawings(molecules) if molecules else ""
        if html and not self._pictures:
            self._pictures = [self.host.styles.html("", "foldnote-part")]
            self.arrange()
        for picture in self._pictures:
            if picture.value != html:
                picture.value = html

    def _find_smiles(self, value: str) -> str:
        """Return a text that is, or was meant as, a SMILES; empty for a file, its name or its contents."""
        uploads, extensions = self.host.known_uploads(), self.spec.extensions
        current = resolve_file(value, uploads, extensions)
        text = str(current).strip()
        is_named = isinstance(current, FileValue | LocalFile) and not isinstance(current, Contents)
        if is_named or "\n" in text or local_path(text) is not None:
            return ""
        if not text or has_extension(text, extensions):
            return ""
        first = text.split(None, 1)[0]
        return first if is_smiles(text, extensions) or seems_smiles(first) else ""
