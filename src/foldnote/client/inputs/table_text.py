"""The text of a table to columns and rows: delimiter, header line, duplicate names, empty lines, formulas.

What is assumed about a table is said in its ``notes``; what can be read in two ways is refused. Values are
not interpreted here: a cell is text.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from foldnote.client.inputs.fasta import is_fasta, split_records
from foldnote.errors import ArgumentError

DELIMITERS = ("\t", ";", ",", "|")
_NAMES = {"\t": "tabs", ";": "semicolons", ",": "commas", "|": "vertical bars"}
_MAX_ROWS = 100_000
_MAX_COLUMNS = 1_000
_SAMPLE = 50
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?")
_SEQUENCE = re.compile(r"[A-Za-z*-]{25,}")
_FORMULA = re.compile(r"=[A-Za-z0-9_+(\[$'\"{@-]")
_QUOTED = re.compile(r'="([^"]*)"')
_SEPARATOR_LINE = re.compile(r"sep=(.)\s*(?:\r\n|\r|\n)", re.IGNORECASE)
_NO_ROWS = "A table needs a header line with the names of settings and one line per job."


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table of text."""

    columns: tuple[str, ...]
    """Unique names."""
    rows: tuple[tuple[str, ...], ...]
    """Cells without surrounding white space; each row has one for every column."""
    notes: tuple[str, ...] = ()
    """What was assumed or left out, as sentences."""

    def cells(self, column: str) -> list[str]:
        """The cells of a column."""
        place = self.columns.index(column)
        return [row[place] for row in self.rows]


def read_text(text: str, known: Collection[str] = (), delimiter: str | None = None) -> TextTable:
    """Read delimited text, or FASTA with the columns ``name``, ``sequence`` and (if any) ``description``.

    Args:
        text: the table; the delimiter is that which cuts the lines evenly.
        known: names that only a header line has, such as those of settings.
        delimiter: the delimiter, if it is known.

    Raises:
        ArgumentError: there is no row, a row has more cells than the table has columns, a quotation mark is
            not closed, a cell is a formula, or the table is too large.
    """
    text = text.lstrip("\ufeff")
    if is_fasta(text):
        return _read_records(text)
    if found := _SEPARATOR_LINE.match(text):
        text, delimiter = text[found.end() :], found[1]
    mark = delimiter or find_delimiter(text)
    return make_table(_split(text, mark), known)


def find_delimiter(text: str) -> str:
    """The delimiter that gives most rows as many cells as the first; a comma if there is only one column."""
    return max(DELIMITERS, key=lambda mark: (*_score(text, mark), mark == ","))


def make_table(lines: Iterable[Sequence[str]], known: Collection[str] = ()) -> TextTable:
    """Make a table of the cells of its lines, of which the first may be the header.

    Raises:
        ArgumentError: see `read_text`.
    """
    filled = [[cell.strip() for cell in line] for line in lines]
    filled = [line for line in filled if any(line)]
    if not filled:
        raise ArgumentError(_NO_ROWS)
    has_header = _is_header(filled[0], filled[1 : _SAMPLE + 1], known)
    body = filled[1:] if has_header else filled
    if not body:
        raise ArgumentError(_NO_ROWS)
    if len(body) > _MAX_ROWS:
        raise ArgumentError(f"The table has {len(body):,} rows; at most {_MAX_ROWS:,} can be read at once.")
    width = len(filled[0]) if has_header else max(map(len, body))
    rows = [_fit(number, row, width) for number, row in enumerate(body, start=1)]
    heads = filled[0] if has_header else [""] * width
    kept = [place for place in range(width) if heads[place] or any(row[place] for row in rows)]
    if len(kept) > _MAX_COLUMNS:
        raise ArgumentError(f"The table has {len(kept):,} columns; at most {_MAX_COLUMNS:,} can be read.")
    columns, notes = _name_columns([heads[place] for place in kept])
    if not has_header:
        notes = ["The first line looks like data, not like names, so the columns are numbered."]
    plain = tuple(
        tuple(_read_plain(row[place], number, name) for place, name in zip(kept, columns, strict=True))
        for number, row in enumerate(rows, start=1)
    )
    return TextTable(tuple(columns), plain, tuple(notes))


def _read_records(text: str) -> TextTable:
    records = split_records(text)
    rows = [(name, letters, more) for name, letters, more in records]
    width = 3 if any(row[2] for row in rows) else 2
    return TextTable(("name", "sequence", "description")[:width], tuple(row[:width] for row in rows))


def _split(text: str, mark: str) -> list[list[str]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=mark, strict=True)
    try:
        return list(reader)
    except csv.Error as exc:
        raise ArgumentError(
            f"The table cannot be read at line {reader.line_num}, with {_NAMES.get(mark, repr(mark))} between"
            f" cells: {exc}. A quotation mark may be missing; inside a quoted cell it is doubled."
        ) from exc


def _score(text: str, mark: str) -> tuple[float, int]:
    """The share of the first rows that have as many cells as the first, and that number."""
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=mark)
        widths = [len(row) for row in islice((row for row in reader if any(row)), _SAMPLE)]
    except csv.Error:
        return 0, 0
    if not widths or widths[0] < 2:
        return 0, 0
    return sum(width == widths[0] for width in widths) / len(widths), widths[0]


def _is_header(first: Sequence[str], others: Sequence[Sequence[str]], known: Collection[str]) -> bool:
    """Whether the first line names the columns.

    It is data if one of its cells is a sequence, or a number above numbers, and none is a known name.
    """
    if any(fold(cell) in known for cell in first):
        return True
    if any(_SEQUENCE.fullmatch(cell) for cell in first):
        return False
    for place, cell in enumerate(first):
        below = [row[place] for row in others if place < len(row) and row[place]]
        if _NUMBER.fullmatch(cell) and all(_NUMBER.fullmatch(other) for other in below):
            return False
    return True


def _fit(number: int, row: list[str], width: int) -> list[str]:
    if any(row[width:]):
        raise ArgumentError(
            f"Row {number} has {len(row)} cells, but there are {width} columns. A cell that contains the"
            " delimiter must be in quotation marks."
        )
    return [*row[:width], *[""] * (width - len(row))]


def _name_columns(heads: Sequence[str]) -> tuple[list[str], list[str]]:
    """Unique names of the columns, and notes on those that had none of their own."""
    names: dict[str, None] = {}
    notes = []
    for place, head in enumerate(heads, start=1):
        stem = " ".join(head.split()) or f"Column {place}"
        name, number = stem, 1
        while name in names or (number > 1 and name in heads):
            number += 1
            name = f"{stem} ({number})"
        if head and number > 1:
            notes.append(f"Several columns are named {stem!r}; column {place} is called {name!r} here.")
        names[name] = None
    return list(names), notes


def _read_plain(cell: str, row: int, column: str) -> str:
    if not _FORMULA.match(cell):
        return cell
    if literal := _QUOTED.fullmatch(cell):  # spreadsheets protect leading zeros this way
        return literal[1].strip()
    raise ArgumentError(
        f"Row {row}, column {column!r} has the formula {cell[:40]}, not its value. Save the table with values"
        " (in a spreadsheet: copy, then paste values only)."
    )


def fold(name: str) -> str:
    """A name without case, spaces and punctuation, as names of columns are compared."""
    return re.sub(r"[\W_]+", "", name).lower()
