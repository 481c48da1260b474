"""Summarise and check the contents of a file.

Only local files, pasted texts and cached contents are checked; the service checks the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import Final, NamedTuple

from foldnote.catalog.contents import find_content_fault
from foldnote.forms.files.contents import recall
from foldnote.forms.files.file_reference import FileReference
from foldnote.forms.files.receptor_outline import find_receptor
from foldnote.forms.files.structure_outline import find_outline
from foldnote.forms.files.table_head import find_table
from foldnote.forms.schema.spec import FieldSpec
from foldnote.forms.wording import begin_sentence
from foldnote.text import count

_STRUCTURES: Final = frozenset(("pdb", "cif", "ent", "mmcif"))
_TABLES: Final = frozenset(("csv", "tsv"))
_LARGEST_CHECKED_BYTES: Final = 5_000_000


class Insight(NamedTuple):
    """Summary and fault of a file's contents."""

    words: str = ""
    fault: str = ""
    """Why the file is not suitable, as a sentence; empty if no fault was found."""


def inspect_file(value: str, reference: FileReference, spec: FieldSpec, uploads: Iterable[str]) -> Insight:
    """Summarise and check a file; the insight is empty for unavailable contents and unknown formats."""
    extensions = set(spec.extensions)
    is_inline = reference.place == "text"
    kind = "" if is_inline else value.lower().removesuffix(".gz").rpartition(".")[2]
    if kind in _STRUCTURES or (is_inline and extensions and extensions <= _STRUCTURES):
        outline, rule = find_outline(value, uploads), spec.notes.get("receptor")
        receptor = find_receptor(value, uploads, rule)
        if receptor is None and outline is not None and isinstance(rule, Mapping):
            return Insight(
                outline.words, f"{begin_sentence(outline.name)} has no protein or nucleic acid to dock to."
            )
        summaries = [part.words for part in (outline, receptor) if part is not None]
        if summaries:
            return Insight("; ".join(summaries))
    elif kind in _TABLES or (is_inline and extensions and extensions <= _TABLES):
        return _inspect_table(value, spec, uploads)
    if is_inline:
        return Insight()  # the catalog validates pasted contents
    text = _read_text(value, reference)
    fault = find_content_fault(text, kind) if text is not None else None
    return Insight(fault=_name_file(fault, PurePath(value).name) if fault else "")


def _inspect_table(value: str, spec: FieldSpec, uploads: Iterable[str]) -> Insight:
    table = find_table(value, uploads)
    if table is None:
        return Insight()
    required = [str(name) for name in spec.notes.get("columns") or ()]
    missing = [name for name in required if name not in table.columns]
    if missing:
        advice = f"Required columns: {', '.join(required)}."
        return Insight(
            fault=f"{begin_sentence(table.name)} lacks these columns: {', '.join(missing)}. {advice}"
        )
    listed = ", ".join(table.columns[:6]) + (" …" if len(table.columns) > 6 else "")
    return Insight(f"{count(len(table.columns), 'column')}: {listed}")


def _read_text(value: str, reference: FileReference) -> str | None:
    path = reference.path
    if path is None:
        return recall(value)
    if path.suffix == ".gz" or path.stat().st_size > _LARGEST_CHECKED_BYTES:
        return None
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


def _name_file(fault: str, name: str) -> str:
    """Return the catalog's message about pasted contents as one about the file ``name``."""
    message = fault.partition(" Paste ")[0]
    for contents, file in (
        ("These contents are", f"{name} is"),
        ("they have", "it has"),
        ("they lack", "it lacks"),
    ):
        message = message.replace(contents, file)
    return message if name in message else f"{name}: {message[:1].lower()}{message[1:]}"
