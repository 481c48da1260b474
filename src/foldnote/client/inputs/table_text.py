"""Parse the text of a table: delimiter, header line, duplicate names, empty lines, formulas.

Every assumption about a table is listed in its ``notes``; ambiguous tables are refused. Values are not
interpreted here: a cell is text.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from foldnote.catalog.sequences import is_fasta
from foldnote.client.inputs.fasta import split_records
from foldnote.client.inputs.measured import is_missing_mark, split_limit
from foldnote.errors import ArgumentError

DELIMITERS = ("\t", ";", ",", "|")
_NAMES = {"\t": "tabs", ";": "semicolons", ",": "commas", "|": "vertical bars"}
_MAX_ROWS = 100_000
_MAX_COLUMNS = 1_000
_SAMPLE = 50
_MAX_TITLE_LETTERS = 80
_MAX_TITLE_LINES = 10
"""Maximum number of lines (title, comments or column groups) above the header line."""
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?")
_SEQUENCE = re.compile(r"[A-Za-z*-]{25,}")
_FORMULA = re.compile(r"=[A-Za-z0-9_+(\[$'\"{@-]")
_QUOTED = re.compile(r'="([^"]*)"')
_SEPARATOR_LINE = re.compile(r"sep=(.)\s*(?:\r\n|\r|\n)", re.IGNORECASE)
_COMMA_NUMBER = re.compile(r"-?(0|[1-9]\d*)(,\d+)?([eE][+-]?\d{1,2})?", re.ASCII)
DECIMAL_COMMA = re.compile(r"[+-]?(0,\d+|[1-9]\d*,(?!\d{3}$)\d+)([eE][+-]?\d+)?", re.ASCII)
"""Pattern of a number whose comma cannot be a thousands separator."""
_NO_ROWS = "A table needs a header line with the names of settings and one line per job."


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table of text."""

    columns: tuple[str, ...]
    """Unique names."""
    rows: tuple[tuple[str, ...], ...]
    """Cells without surrounding white space; each row has one cell per column."""
    notes: tuple[str, ...] = ()
    """What was assumed or left out, as sentences."""
    decimal_commas: frozenset[str] = frozenset()
    """Columns of numbers with decimal commas, as spreadsheets write and copy them in many languages."""
    sheet: str = ""
    """Name of the sheet that was read, for a workbook with several sheets; empty for other tables."""

    def cells(self, column: str) -> list[str]:
        """Return the cells of a column."""
        place = self.columns.index(column)
        return [row[place] for row in self.rows]


def read_text(text: str, known: Collection[str] = (), delimiter: str | None = None) -> TextTable:
    """Read delimited text, or FASTA with the columns ``name``, ``sequence`` and (if any) ``description``.

    Args:
        text: the table; the delimiter is the one that gives the lines equally many cells.
        known: names that occur only in a header line, such as those of settings.
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
    return make_table(_split(text, mark), known, mark)


def find_delimiter(text: str) -> str:
    """Return the delimiter that gives the most rows the same number of cells; a comma for a single column."""
    return max(DELIMITERS, key=lambda mark: (*_score(text, mark), mark == ","))


def make_table(lines: Iterable[Sequence[str]], known: Collection[str] = (), delimiter: str = "") -> TextTable:
    """Make a table from the cells of its lines, the first of which may be the header.

    Lines of a title, of comments or of groups of columns above the header are left out, with a note.

    Raises:
        ArgumentError: see `read_text`.
    """
    filled = [[cell.strip() for cell in line] for line in lines]
    filled = [line for line in filled if any(line)]
    if not filled:
        raise ArgumentError(_NO_ROWS)
    above = _count_title_lines(filled, known)
    titles, filled = filled[:above], filled[above:]
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
    if titles:
        notes.insert(0, _describe_titles(titles))
    plain = tuple(
        tuple(_read_plain(row[place], number, name) for place, name in zip(kept, columns, strict=True))
        for number, row in enumerate(rows, start=1)
    )
    table = TextTable(tuple(columns), plain, tuple(notes))
    return replace(table, decimal_commas=_find_decimal_commas(table, delimiter))


def _read_records(text: str) -> TextTable:
    records = split_records(text)
    width = 3 if any(description for _, _, description in records) else 2
    return TextTable(("name", "sequence", "description")[:width], tuple(row[:width] for row in records))


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
    """Return the share of the first rows that have the same number of cells, and that number.

    The first row alone is not conclusive: it may be a title.
    """
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=mark)
        widths = [len(row) for row in islice((row for row in reader if any(row)), _SAMPLE)]
    except csv.Error:
        return 0, 0
    if not widths:
        return 0, 0
    width, rows = Counter(widths).most_common(1)[0]
    return (rows / len(widths), width) if width > 1 else (0, 0)


def _count_title_lines(lines: Sequence[Sequence[str]], known: Collection[str]) -> int:
    """Count the lines above the header line, each with fewer filled cells than the header.

    The header line contains a known name. If no line does, it is the first line with several cells, all of
    them words, after lines with one cell.
    """
    for place, line in enumerate(lines[: _MAX_TITLE_LINES + 1]):
        cells = [cell for cell in line if cell]
        if any(fold(cell) in known for cell in cells):
            return place if _are_names(cells) and _is_wider(cells, lines[:place]) else 0
        if any(_SEQUENCE.fullmatch(cell) for cell in cells):
            break
    widths = [sum(map(bool, line)) for line in lines]
    above = next((place for place, width in enumerate(widths) if width > 1), 0)
    is_title = 0 < above <= _MAX_TITLE_LINES and min(widths[above:]) > 1 and len(lines) > above + 1
    cells = [cell for line in lines[: above + 1] for cell in line if cell]
    return above if is_title and _are_names(cells) else 0


def _is_wider(cells: Sequence[str], above: Sequence[Sequence[str]]) -> bool:
    """Return whether a line has more filled cells than each line above it that is not a comment."""
    return all(line[0].startswith("#") or len(cells) > sum(map(bool, line)) for line in above)


def _are_names(cells: Sequence[str]) -> bool:
    return not any(_SEQUENCE.fullmatch(cell) or _NUMBER.fullmatch(cell) for cell in cells)


def _describe_titles(titles: Sequence[Sequence[str]]) -> str:
    words = " ".join(" ".join(cell for cell in line if cell) for line in titles)
    shown = words if len(words) <= _MAX_TITLE_LETTERS else f"{words[: _MAX_TITLE_LETTERS - 1]}…"
    what = "The line" if len(titles) == 1 else f"The {len(titles)} lines"
    return f"{what} above the header line {'was' if len(titles) == 1 else 'were'} left out: {shown!r}."


def _find_decimal_commas(table: TextTable, mark: str) -> frozenset[str]:
    """Find the columns of numbers with decimal commas.

    ``10,25`` could also be two numbers, and ``1,500`` a number with a thousands separator. Programs write
    semicolons between cells where the comma is the decimal mark; there a cell like ``1,5`` decides, elsewhere
    only one like ``0,5``.
    """
    found = []
    for name in table.columns:
        measured = [cell for cell in table.cells(name) if cell and not is_missing_mark(cell)]
        filled = [split_limit(cell)[1] for cell in measured]
        if not any("," in cell for cell in filled) or not all(map(_COMMA_NUMBER.fullmatch, filled)):
            continue
        clear = [cell for cell in filled if DECIMAL_COMMA.fullmatch(cell)]
        if clear and (mark == ";" or any(cell.lstrip("-").startswith("0,") for cell in clear)):
            found.append(name)
    return frozenset(found)


def _is_header(first: Sequence[str], others: Sequence[Sequence[str]], known: Collection[str]) -> bool:
    """Return whether the first line names the columns.

    The line is data if none of its cells is a known name and one is a sequence, or a number above numbers.
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
    """Return unique names for the columns, and notes on columns that had none."""
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
    """Normalise a name for comparison: without case, spaces and punctuation."""
    return re.sub(r"[\W_]+", "", name).lower()
