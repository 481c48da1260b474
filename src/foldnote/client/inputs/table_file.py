"""Table files: CSV, TSV, FASTA and Excel workbooks, in the encodings that common programs write."""

from __future__ import annotations

import codecs
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from foldnote.catalog.sequences import is_fasta
from foldnote.client.inputs.fasta import ENDINGS as FASTA_ENDINGS
from foldnote.client.inputs.table_text import TextTable, read_text
from foldnote.client.inputs.workbook import ZIP, read_workbook
from foldnote.errors import ArgumentError
from foldnote.text import format_size, join_words

ENDINGS = (".csv", ".tsv", ".tab", ".txt", ".xlsx", *FASTA_ENDINGS)
"""File name extensions of tables."""
_MAX_BYTES = 100_000_000
_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_UNREADABLE = (
    (b"\xd0\xcf\x11\xe0", "is an old or password-protected Excel workbook. Save it as .xlsx or .csv"),
    (b"\x1f\x8b", "is compressed. Unpack it first"),
    (b"%PDF", "is a PDF. Save the table as .csv"),
    (b"PAR1", "is a Parquet file. Read it first: pandas.read_parquet"),
)


def read_table_file(path: str | Path, known: Collection[str] = (), sheet: str | None = None) -> TextTable:
    """Read a file; see `read_table_bytes`.

    Raises:
        ArgumentError: the file cannot be read, or is not a table.
    """
    place = Path(path).expanduser()
    if place.suffix.lower() not in ENDINGS:
        raise ArgumentError(
            f"{str(path)[:60]!r} is not the path of a table, whose name ends in {join_words(ENDINGS)}."
        )
    try:
        size = place.stat().st_size
        if size > _MAX_BYTES:
            raise ArgumentError(f"{str(path)!r} has {format_size(size)}; a table may have 100 MB.")
        data = place.read_bytes()
    except OSError as exc:
        raise ArgumentError(f"The table {str(path)!r} cannot be read: {exc.strerror}.") from exc
    return read_table_bytes(data, place.name, known, sheet)


def read_table_bytes(
    data: bytes, name: str = "The table", known: Collection[str] = (), sheet: str | None = None
) -> TextTable:
    """Read a table from the bytes of a file; the format is inferred from the bytes, not from the name.

    Args:
        data: CSV, TSV or FASTA in UTF-8, UTF-16 or Windows-1252 (Latin-1), or an Excel workbook (.xlsx).
        name: name of the file in messages.
        known: names that occur only in a header line, see `read_text`.
        sheet: name of the sheet of a workbook, see `read_workbook`.

    Raises:
        ArgumentError: it is another kind of file, not a table, or has no such sheet; the message says what to
            do.
    """
    if data.startswith(ZIP):
        return read_workbook(data, name, known, sheet)
    if sheet is not None:
        raise ArgumentError(f"{name} is not a workbook, so it has no sheet {str(sheet)[:60]!r}.")
    for start, sentence in _UNREADABLE:
        if data.startswith(start):
            raise ArgumentError(f"{name} {sentence}.")
    text, notes = decode(data, name)
    if Path(name).suffix.lower() in FASTA_ENDINGS and not is_fasta(text):
        raise ArgumentError(f"{name} is not FASTA: it does not begin with a header line '>name'.")
    try:
        table = read_text(text, known)
    except ArgumentError as exc:
        raise ArgumentError(f"{name}: {exc.message}") from exc
    return replace(table, notes=(*notes, *table.notes))


def decode(data: bytes, name: str = "The table") -> tuple[str, tuple[str, ...]]:
    """Decode the text of a file; return it with a note if its encoding had to be assumed.

    Raises:
        ArgumentError: the bytes are not text.
    """
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return _decode_as(data, encoding, name), ()
    if b"\0" in data[:4096]:
        return _decode_as(data, _guess_utf16(data, name), name), ()
    try:
        return _refuse_binary(data.decode("utf-8"), name), ()
    except UnicodeDecodeError:
        note = f"{name} is not UTF-8, so it was read as Windows-1252 (Latin-1): look at its accented letters."
        return _refuse_binary(data.decode("cp1252", "replace"), name), (note,)


def _guess_utf16(data: bytes, name: str) -> str:
    """Return the codec of UTF-16 text without a byte order mark, from the position of its zero bytes.

    In Latin text every second byte is zero.

    Raises:
        ArgumentError: the zero bytes do not fit UTF-16.
    """
    start = data[:4096]
    odd, even = start[1::2].count(0), start[::2].count(0)
    if max(odd, even) >= 0.4 * len(start) and min(odd, even) == 0:
        return "utf-16-le" if odd else "utf-16-be"
    raise ArgumentError(f"{name} is not a table of text: it has binary contents. Save it as .csv or .xlsx.")


def _decode_as(data: bytes, encoding: str, name: str) -> str:
    try:
        return _refuse_binary(data.decode(encoding), name)
    except UnicodeDecodeError as exc:
        raise ArgumentError(f"{name} is damaged: it is not valid {encoding.upper()} text.") from exc


def _refuse_binary(text: str, name: str) -> str:
    if "\0" in text:
        raise ArgumentError(f"{name} is not a table of text: it has binary contents. Save it as .csv.")
    return text
