"""The structure editor of a form: opens it in the page, and validates the drawn molecule.

The editor is OpenChemLib's. Its code is in the package and is sent to the page in a message when the first
molecule is drawn, so it works offline and in every front end that runs the form's page script. The page
exchanges molfiles with the kernel, where RDKit converts them, and a field accepts only a SMILES that RDKit
accepts.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any, Final

from foldnote.errors import ConfigurationError
from foldnote.forms.fields.field import Field
from foldnote.forms.fields.kinds.molecule import DrawableField, find_fault
from foldnote.forms.files.molfile import DrawnMolecule, is_same_molecule, read_molfile, write_molfile
from foldnote.forms.wording import in_one_line

_LIBRARY: Final = "openchemlib.js"
_MAX_LISTED: Final = 200
"""Maximum number of molecules of one field that can be chosen in the editor."""
_LABEL_LETTERS: Final = 48


@cache
def read_editor() -> tuple[str, str, str]:
    """Return the editor's version, script and style sheet; the version covers them and the library."""
    package = files("foldnote.forms")
    script = package.joinpath("molecule_editor.js").read_text(encoding="utf-8")
    style = package.joinpath("molecule_editor.css").read_text(encoding="utf-8")
    version = sha256(script.encode() + style.encode() + pack_library()).hexdigest()[:16]
    return version, script, style


@cache
def pack_library() -> bytes:
    """Return OpenChemLib's JavaScript, deflated.

    Raises:
        ConfigurationError: it is missing from the installation.
    """
    try:
        return zlib.compress(files("foldnote").joinpath("static", _LIBRARY).read_bytes(), 9)
    except FileNotFoundError as exc:
        raise ConfigurationError(
            f"{_LIBRARY}, in which molecules are drawn, is missing from this installation. "
            "Install the package from its wheel, or run 'npm run build:static' in the source folder."
        ) from exc


class MoleculeEditor:
    """Handles the messages of the structure editor of one form.

    Args:
        find: returns the field that a message is about.
        send: sends a message with binary parts to the page.
    """

    def __init__(
        self,
        find: Callable[[Mapping[str, Any]], Field | None],
        send: Callable[[Mapping[str, Any], Sequence[bytes]], None],
    ) -> None:
        self._find = find
        self._send = send

    def open(self, message: Mapping[str, Any], _buffers: Sequence[Any]) -> None:
        """Send a molecule of a field to the page, with the editor if the page does not have it."""
        field = self._find_drawable(message)
        if field is None:
            return
        molecules = field.list_molecules()
        index = _read_index(message, len(molecules))
        if index is None and molecules and not field.takes_many_molecules:
            index = 0
        try:
            version, script, style = read_editor()
        except ConfigurationError as error:
            self._send({"kind": "draw", "field": field.mark, "missing": str(error)}, ())
            return
        is_known = message.get("has") == version
        opened = {
            "kind": "draw",
            "field": field.mark,
            "title": field.spec.title,
            "version": version,
            "place": index,
            "choices": _list_choices(molecules) if field.takes_many_molecules else [],
            **_describe_text(molecules[index] if index is not None else ""),
        }
        parts = {} if is_known else {"script": script, "style": style}
        self._send({**opened, **parts}, () if is_known else (pack_library(),))

    def judge(self, message: Mapping[str, Any], _buffers: Sequence[Any]) -> None:
        """Describe the drawn molecule (``molfile``), or the one typed below the drawing (``smiles``)."""
        if self._find_drawable(message) is None:
            return
        turn, molfile, text = message.get("turn"), message.get("molfile"), message.get("smiles")
        if isinstance(molfile, str):
            drawn = read_molfile(molfile)
            reply = {"smiles": drawn.smiles, "words": drawn.words, "fault": drawn.fault}
            reply["caution"] = _find_loss(drawn, message.get("original"))
        else:
            reply = _describe_text(text if isinstance(text, str) else "")
        self._send({"kind": "drawing", "turn": turn, **reply}, ())

    def use(self, message: Mapping[str, Any], _buffers: Sequence[Any]) -> None:
        """Put a drawn molecule into the field; one that is not valid is refused."""
        field, smiles = self._find_drawable(message), message.get("smiles")
        if field is None or not isinstance(smiles, str) or not smiles or find_fault(smiles):
            return
        field.take_molecule(smiles, _read_index(message, len(field.list_molecules())))

    def _find_drawable(self, message: Mapping[str, Any]) -> DrawableField | None:
        field = self._find(message)
        return field if isinstance(field, DrawableField) and not field.spec.is_read_only else None


def _read_index(message: Mapping[str, Any], total: int) -> int | None:
    index = message.get("place")
    return index if isinstance(index, int) and 0 <= index < total else None


def _list_choices(molecules: Sequence[str]) -> list[str]:
    """Return the entries of the list of molecules, at most 200."""
    return [
        f"{number}: {in_one_line(smiles, _LABEL_LETTERS)}"
        for number, smiles in enumerate(molecules[:_MAX_LISTED], 1)
    ]


def _describe_text(smiles: str) -> dict[str, Any]:
    """Return a typed SMILES, its molfile, and what is wrong with it."""
    text = smiles.strip()
    fault = find_fault(text) if text else None
    if not text or fault:
        return {"smiles": text, "molfile": "", "words": "", "fault": fault or ""}
    molfile = write_molfile(text)
    if not molfile:
        return {
            "smiles": text,
            "molfile": "",
            "words": "",
            "fault": "This molecule is too large to be drawn.",
        }
    return {"smiles": text, "molfile": molfile, "words": read_molfile(molfile).words, "fault": ""}


def _find_loss(drawn: DrawnMolecule, original: object) -> str:
    """Describe how the molecule that the editor shows differs from ``original``; empty if it does not."""
    if not isinstance(original, str) or not original or is_same_molecule(original, drawn.smiles):
        return ""
    return (
        "The editor cannot show all features of this SMILES, such as some stereocentres and bonds to metals. "
        "“Use” replaces it with the drawing; “Cancel” keeps the SMILES."
    )
