"""FASTA records as the rows of a batch, one job per record, for tools that need one sequence.

Job names are derived from the records' names. The catalog validates the sequences.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from foldnote.catalog.sequences import BEFORE_HEADER
from foldnote.errors import ArgumentError
from foldnote.models import Tool, clean_job_name
from foldnote.models.names import STEM_LENGTH

ENDINGS = (".fasta", ".fa", ".faa", ".fas", ".fna", ".seq")
"""File name extensions of FASTA."""
_SEQUENCE_ROLES = ("sequence", "sequences")


def split_records(text: str) -> list[tuple[str, str, str]]:
    """Split FASTA into records: identifier, letters without white space, and the rest of the header line.

    Raises:
        ArgumentError: a record has no sequence.
    """
    records = []
    plain = text.lstrip(BEFORE_HEADER).replace("\r\n", "\n").replace("\r", "\n")
    for number, record in enumerate(plain[1:].split("\n>"), start=1):
        head, _, letters = record.partition("\n")
        name, _, more = head.strip().partition(" ")
        name = name or f"record-{number}"
        sequence = "".join(letters.split())
        if not sequence:
            raise ArgumentError(f"The text: record {number} ({name}) has no sequence.")
        records.append((name, sequence, more.strip()))
    return records


def find_sequence_setting(tool: Tool) -> str:
    """Return the one required setting of the tool that takes a sequence.

    Raises:
        ArgumentError: it has none or several, or requires other settings; the message names the columns.
    """
    schema: Mapping[str, object] = tool.settings_schema or {}
    required = list(schema.get("required") or ())  # type: ignore[call-overload]
    fields = schema.get("properties") or {}
    found = [name for name in required if _is_sequence(fields.get(name))]  # type: ignore[attr-defined]
    if len(found) == 1 and len(required) == 1:
        return str(found[0])
    needed = ", ".join(required) or "(none is required)"
    raise ArgumentError(
        f"FASTA has one sequence per job, but {tool.type} needs the settings {needed}."
        " Use a table with these columns, such as a DataFrame or a CSV file."
    )


def make_names(wished: Iterable[str]) -> list[str]:
    """Make valid, unique job names from identifiers: ``mAb 1`` becomes ``mAb-1``."""
    names: dict[str, None] = {}
    last: dict[str, int] = {}
    for wish in wished:
        stem = clean_job_name(wish)
        name, number = stem, last.get(stem, 1)
        while name in names:
            number += 1
            name = f"{stem[:STEM_LENGTH]}-{number}"
        last[stem] = number
        names[name] = None
    return list(names)


def _is_sequence(field: object) -> bool:
    notes = field.get("x-foldnote") if isinstance(field, Mapping) else None
    return isinstance(notes, Mapping) and notes.get("role") in _SEQUENCE_ROLES
