"""What a file at hand holds, in words, and whether it is what its field wants; objects of Python as files.

Only files on this computer, pasted texts and job files that were looked at are known here; what lies
elsewhere is the service's question.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Final

from foldnote.catalog.contents import find_content_fault
from foldnote.client.inputs.file_values import Contents, LocalFile
from foldnote.client.inputs.sources import open_source
from foldnote.forms.files.contents import recall
from foldnote.forms.files.file_reference import FileReference
from foldnote.forms.files.structure_outline import find_outline
from foldnote.forms.files.table_head import find_table
from foldnote.forms.schema.spec import MISSING, FieldSpec
from foldnote.text import count

_STRUCTURES: Final = frozenset(("pdb", "cif", "ent", "mmcif"))
_TABLES: Final = frozenset(("csv", "tsv"))
_LOOKED_AT_BYTES: Final = 5_000_000


@dataclass(frozen=True, slots=True)
class Insight:
    """What was seen in a file."""

    words: str = ""
    fault: str = ""
    """Why the file is not what is wanted, as a sentence; empty where nothing speaks against it."""


def look_into(value: str, reference: FileReference, spec: FieldSpec, uploads: Iterable[str]) -> Insight:
    """What the file holds, as far as it is at hand and of a kind that is known."""
    wanted = set(spec.extensions)
    is_inline = reference.place == "text"
    kind = "" if is_inline else value.lower().removesuffix(".gz").rpartition(".")[2]
    if kind in _STRUCTURES or (is_inline and wanted and wanted <= _STRUCTURES):
        outline = find_outline(value, uploads)
        if outline is not None:
            return Insight(outline.words)
    elif kind in _TABLES or (is_inline and wanted and wanted <= _TABLES):
        return _look_into_table(value, spec, uploads)
    if is_inline:
        return Insight()  # the catalog judges pasted contents
    text = _read(value, reference)
    fault = find_content_fault(text, kind) if text is not None else None
    return Insight(fault=_tell(fault, PurePath(value).name) if fault else "")


def read_object(value: Any, spec: FieldSpec) -> Any:
    """A path or an object that can be written as a file, as a setting has it; anything else as it is.

    Raises:
        FoldnoteError: the object cannot be written as a file.
    """
    if value is None or value is MISSING or isinstance(value, str | int | float | list | tuple | dict):
        return value
    if isinstance(value, PurePath):
        return LocalFile(value)
    content, _ = open_source(value, f"object.{spec.extensions[0] if spec.extensions else ''}".rstrip("."))
    text = content.read_text() if not isinstance(content, bytes) else content.decode()
    return Contents(text if "\n" in text else f"{text}\n")


def _look_into_table(value: str, spec: FieldSpec, uploads: Iterable[str]) -> Insight:
    table = find_table(value, uploads)
    if table is None:
        return Insight()
    wanted = [str(name) for name in spec.notes.get("columns") or ()]
    lacking = [name for name in wanted if name not in table.columns]
    if lacking:
        needs = f"It needs: {', '.join(wanted)}."
        return Insight(fault=f"{table.name} lacks the column(s) {', '.join(lacking)}. {needs}")
    shown = ", ".join(table.columns[:6]) + (" …" if len(table.columns) > 6 else "")
    return Insight(f"{count(len(table.columns), 'column')}: {shown}")


def _read(value: str, reference: FileReference) -> str | None:
    path = reference.path
    if path is None:
        return recall(value)
    if path.suffix == ".gz" or path.stat().st_size > _LOOKED_AT_BYTES:
        return None
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


def _tell(fault: str, name: str) -> str:
    """What the catalog says of pasted contents, said of a file."""
    told = fault.partition(" Paste ")[0]
    for contents, file in (
        ("These contents are", f"{name} is"),
        ("they have", "it has"),
        ("they lack", "it lacks"),
    ):
        told = told.replace(contents, file)
    return told if name in told else f"{name}: {told[:1].lower()}{told[1:]}"
