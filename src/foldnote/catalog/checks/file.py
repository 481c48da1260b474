"""Checks of file values and of settings that refer into a file: extensions, contents, columns, names."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Final

from foldnote.catalog.checks.row import CheckContext, CheckRow, Finding, shorten
from foldnote.catalog.contents import (
    find_content_fault,
    has_atoms,
    is_inline,
    list_sequence_names,
    read_columns,
    read_extension,
)

_FEWEST_SEQUENCES = 3
_MOST_COMPARED = 1000
"""Names that a misspelt one is compared with."""
_DELIMITERS = {"tsv": "\t", "csv": ","}


def _extensions(notes: Any) -> tuple[str, ...]:
    return tuple(notes.get("extensions") or ())


def check_file(value: str, place: CheckContext) -> Iterator[Finding]:
    """A name with one of the field's extensions (or none), or contents of such a file."""
    fault = _find_file_fault(value, place)
    if fault:
        yield place.find(*fault)


def check_files(value: Sequence[str], place: CheckContext) -> Iterator[Finding]:
    """At least one file, and each of them good."""
    if not value and place.required:
        yield place.find("This is empty. Give at least one file.", "empty")
    for number, item in enumerate(value):
        fault = _find_file_fault(item, place)
        if fault:
            yield place.find(*fault, number)


def check_atoms(value: str, place: CheckContext) -> Iterator[Finding]:
    """Contents of a structure have atom records."""
    if is_inline(value) and not has_atoms(value):
        message = "These contents are not a structure: they have no ATOM records. Paste a whole PDB file."
        yield place.find(message, "wrong_contents")


def check_table_columns(value: str, place: CheckContext) -> Iterator[Finding]:
    """A table's contents have the columns that the tool reads."""
    if not is_inline(value) or not value.strip():
        return
    found = _read_header(value, place.notes)
    wanted = [str(name) for name in place.notes.get("columns") or ()]
    lacking = [name for name in wanted if name not in found]
    if lacking:
        kind = " or ".join(_extensions(place.notes))
        message = f"The {kind} table lacks the column(s) {', '.join(lacking)}. It needs: {', '.join(wanted)}."
        yield place.find(message, "missing_columns")


def check_column_name(value: str, place: CheckContext) -> Iterator[Finding]:
    """The name of a column, one of the table's where its contents are given."""
    if not value.strip():
        yield place.find("This is empty. Give the name of a column.", "empty")
    elif isinstance(place.other, str) and is_inline(place.other):
        found = _read_header(place.other, place.other_notes)
        if value not in found:
            message = f"{place.other_name} has no column {shorten(value)}. It has: {_list(found)}."
            yield place.find(message, "unknown_column")


def check_alignment_size(value: str, place: CheckContext) -> Iterator[Finding]:
    """Contents with at least three sequences."""
    few = islice(list_sequence_names(value), _FEWEST_SEQUENCES) if is_inline(value) else ()
    count = len(list(few))
    if 0 < count < _FEWEST_SEQUENCES:
        message = f"There are only {count} sequence(s); at least {_FEWEST_SEQUENCES} are needed."
        yield place.find(message, "too_few_sequences")


def check_outgroup(value: str, place: CheckContext) -> Iterator[Finding]:
    """The name of a sequence in the file, exactly, where its contents are given."""
    if not value.strip() or not isinstance(place.other, str) or not is_inline(place.other):
        return
    names = tuple(islice(list_sequence_names(place.other), _MOST_COMPARED))
    if names and value not in names and value not in list_sequence_names(place.other):
        near = difflib.get_close_matches(value[:80], [name[:80] for name in names], n=1)
        hint = f" Did you mean {shorten(near[0])}?" if near else f" It has: {_list(names)}."
        yield place.find(f"{place.other_name} has no sequence {shorten(value)}.{hint}", "unknown_sequence")


def _find_file_fault(value: str, place: CheckContext) -> tuple[str, str] | None:
    if not value.strip():
        return "This is empty. Give an uploaded file's name, JobName/path, or the contents.", "empty"
    allowed = _extensions(place.notes)
    if is_inline(value):
        faults = [find_content_fault(value, extension) for extension in allowed]
        wrong = faults[0] if faults and all(faults) else None
        return (wrong, "wrong_contents") if wrong else None
    extension = read_extension(value)
    if allowed and extension and extension not in allowed:
        wanted = " or ".join(f".{name}" for name in allowed)
        return f"{shorten(value)} is a .{extension[:12]} file; a {wanted} file is needed.", "wrong_extension"
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
