"""Checks of file values and of settings that refer into a file: extensions, contents, columns, names."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Final

from foldnote.catalog.checks.molecule import is_file_smiles
from foldnote.catalog.checks.row import CheckContext, CheckRow, Finding, shorten
from foldnote.catalog.contents import (
    SMILES,
    find_content_fault,
    has_atoms,
    is_inline,
    list_sequence_names,
    read_columns,
    read_extension,
)
from foldnote.text import count

_MIN_SEQUENCES = 3
_MAX_COMPARED = 1000
"""Maximum number of names compared with a misspelt one."""
_DELIMITERS = {"tsv": "\t", "csv": ","}


def _extensions(notes: Any) -> tuple[str, ...]:
    return tuple(notes.get("extensions") or ())


def check_file(value: str, context: CheckContext) -> Iterator[Finding]:
    """Check that the value is a file name with a valid extension or none, or the contents of such a file."""
    fault = _find_file_fault(value, context)
    if fault:
        yield context.find(*fault)


def check_files(value: Sequence[str], context: CheckContext) -> Iterator[Finding]:
    """Check that there is at least one file if required, and that each is valid."""
    if not value and context.required:
        yield context.find("This is empty. Give at least one file.", "empty")
    for number, item in enumerate(value):
        fault = _find_file_fault(item, context)
        if fault:
            yield context.find(*fault, number)


def check_atoms(value: str, context: CheckContext) -> Iterator[Finding]:
    """Check that the contents of a structure file have atom records."""
    if is_inline(value) and not has_atoms(value):
        message = "These contents are not a structure: they have no ATOM records. Paste a complete PDB file."
        yield context.find(message, "wrong_contents")


def check_table_columns(value: str, context: CheckContext) -> Iterator[Finding]:
    """Check that the contents of a table have the columns that the tool reads."""
    if not is_inline(value) or not value.strip():
        return
    found = _read_header(value, context.notes)
    required = [str(name) for name in context.notes.get("columns") or ()]
    missing = [name for name in required if name not in found]
    if missing:
        kind = " or ".join(_extensions(context.notes))
        message = (
            f"The {kind} table lacks these columns: {', '.join(missing)}."
            f" Required columns: {', '.join(required)}."
        )
        yield context.find(message, "missing_columns")


def check_column_name(value: str, context: CheckContext) -> Iterator[Finding]:
    """Check the name of a column, against the table if its contents are given."""
    if not value.strip():
        yield context.find("This is empty. Give the name of a column.", "empty")
    elif isinstance(context.other, str) and is_inline(context.other):
        found = _read_header(context.other, context.other_notes)
        if value not in found:
            message = f"{context.other_name} has no column {shorten(value)}. It has: {_list(found)}."
            yield context.find(message, "unknown_column")


def check_alignment_size(value: str, context: CheckContext) -> Iterator[Finding]:
    """Check that the contents have at least three sequences."""
    few = islice(list_sequence_names(value), _MIN_SEQUENCES) if is_inline(value) else ()
    number = len(list(few))
    if 0 < number < _MIN_SEQUENCES:
        message = f"This file has only {count(number, 'sequence')}; at least {_MIN_SEQUENCES} are needed."
        yield context.find(message, "too_few_sequences")


def check_outgroup(value: str, context: CheckContext) -> Iterator[Finding]:
    """Check that the value is the exact name of a sequence in the file, if its contents are given."""
    if not value.strip() or not isinstance(context.other, str) or not is_inline(context.other):
        return
    names = tuple(islice(list_sequence_names(context.other), _MAX_COMPARED))
    if names and value not in names and value not in list_sequence_names(context.other):
        near = difflib.get_close_matches(value[:80], [name[:80] for name in names], n=1)
        hint = f" Did you mean {shorten(near[0])}?" if near else f" It has: {_list(names)}."
        yield context.find(
            f"{context.other_name} has no sequence {shorten(value)}.{hint}", "unknown_sequence"
        )


def _find_file_fault(value: str, context: CheckContext) -> tuple[str, str] | None:
    if not value.strip():
        return "This is empty. Give the name of an uploaded file, JobName/path, or the contents.", "empty"
    allowed = _extensions(context.notes)
    if is_inline(value):
        faults = [find_content_fault(value, extension) for extension in allowed]
        wrong = faults[0] if faults and all(faults) else None
        return (wrong, "wrong_contents") if wrong else None
    if SMILES in allowed and is_file_smiles(value, allowed):
        return None
    extension = read_extension(value)
    if allowed and extension and extension not in allowed:
        required = " or ".join(f".{name}" for name in allowed)
        return (
            f"{shorten(value)} is a .{extension[:12]} file; a {required} file is needed.",
            "wrong_extension",
        )
    return None


def _read_header(text: str, notes: Any) -> tuple[str, ...]:
    extensions = _extensions(notes) or ("csv",)
    return read_columns(text, _DELIMITERS.get(extensions[0], ","))


def _list(names: Sequence[str]) -> str:
    shown = ", ".join(shorten(name) for name in names[:10])
    return f"{shown} and {len(names) - 10} more" if len(names) > 10 else shown or "none"


ROWS: Final = (
    CheckRow("file", check_file, "a file of the right kind"),
    CheckRow("files", check_files, "files of the right kind", "texts"),
    CheckRow("has-atoms", check_atoms, "a structure with atoms"),
    CheckRow("table-columns", check_table_columns, "a table with the columns that the tool reads"),
    CheckRow("column-name", check_column_name, "a column of the table"),
    CheckRow("alignment-size", check_alignment_size, "at least three sequences"),
    CheckRow("outgroup-name", check_outgroup, "a sequence of the file, by its exact name"),
)
