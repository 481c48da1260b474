"""FASTA records as the rows of a batch, one job per record, for tools that need one sequence.

Job names are derived from the records' names. The catalog validates the sequences.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from foldnote.errors import ArgumentError
from foldnote.models import Tool, clean_job_name

ENDINGS = (".fasta", ".fa", ".faa", ".fas", ".fna", ".seq")
"""File name extensions of FASTA."""
_SEQUENCE_ROLES = ("sequence", "sequences")


def is_fasta(text: str) -> bool:
    """Whether a text is FASTA: its first non-empty line is a header."""
    return text.lstrip("\ufeff \t\r\n").startswith(">")


def read_fasta_file(path: str | Path, tool: Tool) -> list[dict[str, str]]:
    """Read the records of a FASTA file; see `read_fasta`.

    Raises:
        ArgumentError: the file cannot be read or is not FASTA, or the tool does not take one sequence.
    """
    place = Path(path).expanduser()
    if place.suffix.lower() not in ENDINGS:
        raise ArgumentError(
            f"{str(path)[:60]!r} does not have a FASTA extension ({', '.join(ENDINGS)}). Read a table first:"
            f" fn.submit_batch({tool.type!r}, pandas.read_csv('table.csv'))"
        )
    try:
        text = place.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as exc:
        reason = exc.strerror if isinstance(exc, OSError) else "it is not UTF-8 text"
        raise ArgumentError(f"The FASTA file {str(path)!r} cannot be read: {reason}.") from exc
    return read_fasta(text, tool, f"The file {str(path)!r}")


def read_fasta(text: str, tool: Tool, where: str = "The text") -> list[dict[str, str]]:
    """Read one row per record: ``name`` (a valid, unique job name) and the tool's sequence setting.

    Raises:
        ArgumentError: the text is not FASTA, a record is empty, or the tool does not take one sequence.
    """
    field = find_sequence_setting(tool)
    if not is_fasta(text):
        raise ArgumentError(f"{where} is not FASTA: it does not begin with a header line '>name'.")
    rows = [{"name": name, field: letters} for name, letters, _ in split_records(text, where)]
    for row, name in zip(rows, make_names(row["name"] for row in rows), strict=True):
        row["name"] = name
    return rows


def split_records(text: str, where: str = "The text") -> list[tuple[str, str, str]]:
    """Split FASTA into records: identifier, letters without white space, and the rest of the header line.

    Raises:
        ArgumentError: a record has no sequence.
    """
    records = []
    plain = text.lstrip("\ufeff \t\r\n").replace("\r\n", "\n").replace("\r", "\n")
    for number, record in enumerate(plain[1:].split("\n>"), start=1):
        head, _, letters = record.partition("\n")
        name, _, more = head.strip().partition(" ")
        name = name or f"record-{number}"
        sequence = "".join(letters.split())
        if not sequence:
            raise ArgumentError(f"{where}: record {number} ({name}) has no sequence.")
        records.append((name, sequence, more.strip()))
    return records


def find_sequence_setting(tool: Tool) -> str:
    """The one required setting of the tool that takes a sequence.

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
            name = f"{stem[:90]}-{number}"
        last[stem] = number
        names[name] = None
    return list(names)


def _is_sequence(field: object) -> bool:
    notes = field.get("x-foldnote") if isinstance(field, Mapping) else None
    return isinstance(notes, Mapping) and notes.get("role") in _SEQUENCE_ROLES
