"""HTML of tables on paper: every column, and rows that continue on the next page below a repeated heading.

A table that is too wide for a page is put on a landscape page, or its columns are split into several tables
that all begin with the first column.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from foldnote.text import format_figure
from foldnote.viewers.scene.drawings.thumbnails import write_thumbnail
from foldnote.viewers.tables.molecule_column import ColumnPictures

MAX_ROWS, FIRST_ROWS = 60, 15
"""Maximum number of rows of a table that is printed in full although it is not the subject of a report,
and the number of rows printed of a longer one, such as the numbering of each residue."""
_PORTRAIT_PT, _LANDSCAPE_PT = 490.0, 737.0
"""Text widths in ``print.css``."""
_LETTER_PT, _WIDE_LETTER_PT, _GAP_PT = 4.2, 4.7, 10.0
"""Width of an average letter, of a letter of a heading, and of the space between columns."""
_PICTURE_PT = 70.0
_MAX_LETTERS, _MIN_LETTERS = 38, 14
"""Maximum and minimum number of letters per line of a long text."""
_MANY_ROWS = 12
"""Minimum number of rows of a table that is put on its own page rather than split."""
SAME = {"all": "Same in all rows", "known": "Same in all rows that have it"}
"""Headings of values that all rows share, by the kind of column."""
SAID = "said"
"""The kind of a column that repeats another one, such as a setting and the corresponding figure."""
_SHORT = 24
"""Maximum length of a value that is listed before long ones, such as sequences."""
_BREAK = re.compile(r"(?<=[_./])(?=\w)")


def write_printed_table(
    title: str, table: Mapping[str, Any], pictures: ColumnPictures | None, rows: int, note: str
) -> str:
    """Return a table as HTML for paper; columns without any value are left out.

    Args:
        title: heading; "" for none.
        table: ``columns`` with their descriptions and ``values`` by column, as for the page's program.
        pictures: the drawings of molecules of one column.
        rows: number of rows to write.
        note: text next to the heading, such as the number of omitted rows.
    """
    columns = [
        position
        for position, (described, values) in enumerate(zip(table["columns"], table["values"], strict=True))
        if not described["same"] and any(value not in (None, "") for value in values[:rows])
    ]
    texts = {position: _write_values(table, position, rows) for position in columns}
    widths = {position: _measure(table, position, texts[position], pictures) for position in columns}
    available = _LANDSCAPE_PT if rows > _MANY_ROWS and sum(widths.values()) > _PORTRAIT_PT else _PORTRAIT_PT
    groups = _split(columns, widths, available)
    parts: list[str] = []
    for group in groups:
        part_name = (
            f' <span class="fnt-part">{_name_part(group, groups, len(columns))}</span>' if groups[1:] else ""
        )
        head = f"<b>{escape(title)}</b> " if title else ""
        note_html = f"<span>{escape(note)}</span>" if note else ""
        caption = f"<p>{head}{note_html}{part_name}</p>" if head or note_html or part_name else ""
        same = "" if parts else _write_same(table)
        parts.append(caption + same + _write_group(table, group, texts, widths, pictures, rows))
    position = " fnv-wide" if available == _LANDSCAPE_PT else ""
    return f'<div class="fnv-table{position}">{"".join(parts)}</div>'


def write_value(value: Any, decimals: int | None) -> str:
    """Format a value like the program of tables does in a cell."""
    if value is None:
        return ""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return str(value)
    if abs(value) > 1.7e308:
        return "∞" if value > 0 else "−∞"
    if decimals:
        return f"{value:.{decimals}f}"
    return str(int(value)) if float(value).is_integer() and abs(value) < 2**53 else format_figure(value)


def _write_values(table: Mapping[str, Any], column: int, rows: int) -> list[str]:
    decimals = table["columns"][column]["decimals"]
    return [write_value(value, decimals) for value in table["values"][column][:rows]]


def _write_same(table: Mapping[str, Any]) -> str:
    """Return the values that all rows share, to be put above the table; empty if there are none."""
    lines = []
    for kind, heading in SAME.items():
        pairs = [
            (_name(column), _find_value(column, values))
            for column, values in zip(table["columns"], table["values"], strict=True)
            if column["same"] == kind
        ]
        listed = "; ".join(f"{escape(name)} <b>{escape(value)}</b>" for name, value in put_long_last(pairs))
        if listed:
            lines.append(f'<p class="fnt-same">{heading}: {listed}.</p>')
    return "".join(lines)


def put_long_last(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the names and values with long values, such as sequences, last."""
    return sorted(pairs, key=lambda pair: len(pair[1]) > _SHORT)


def _find_value(column: Mapping[str, Any], values: Sequence[Any]) -> str:
    return write_value(next(value for value in values if value is not None), column["decimals"])


def _name(column: Mapping[str, Any]) -> str:
    unit = column["unit"].removesuffix("↑").removesuffix("↓").removesuffix(", ")
    return f"{column['label']} ({unit})" if unit else str(column["label"])


def _measure(
    table: Mapping[str, Any], position: int, texts: Sequence[str], pictures: ColumnPictures | None
) -> float:
    """Return the least width of a column in points."""
    column = table["columns"][position]
    if pictures and column["name"] == pictures["column"]:
        return _PICTURE_PT + _GAP_PT
    heading = f"{column['label']} {column['unit']}".replace("_", " ").replace(".", " ")
    longest_word = max(map(len, heading.split()), default=1) * _WIDE_LETTER_PT
    longest = max(map(len, texts), default=0)
    if not column["isNumber"]:
        longest = max(min(longest, _MIN_LETTERS), min(_find_longest_word(texts), _MAX_LETTERS))
    return max(longest_word, longest * _LETTER_PT) + _GAP_PT


def _find_longest_word(texts: Sequence[str]) -> int:
    return max((len(word) for text in texts for word in text.split()), default=0)


def _split(columns: Sequence[int], widths: Mapping[int, float], available: float) -> list[list[int]]:
    """Return the columns of each table; all begin with the first column."""
    if sum(widths.values()) <= available or len(columns) < 3:
        return [list(columns)]
    first, *following = columns
    groups, remaining = [[first]], available - widths[first]
    for column in following:
        if widths[column] > remaining and len(groups[-1]) > 1:
            groups.append([first])
            remaining = available - widths[first]
        groups[-1].append(column)
        remaining -= widths[column]
    return groups


def _name_part(group: Sequence[int], groups: Sequence[Sequence[int]], columns: int) -> str:
    """Name the columns of a partial table, beside the first, such as ``columns 8 to 13 of 20``."""
    before = sum(len(part) - 1 for part in groups[: list(groups).index(group)])
    start, end = before + 2, before + len(group)
    start = 1 if before == 0 else start
    return f"columns {start} to {end} of {columns}" if start < end else f"column {end} of {columns}"


def _write_group(
    table: Mapping[str, Any],
    group: Sequence[int],
    texts: Mapping[int, Sequence[str]],
    widths: Mapping[int, float],
    pictures: ColumnPictures | None,
    rows: int,
) -> str:
    columns = table["columns"]
    head = "".join(
        _write_heading(columns[column], widths[column] if _is_long(texts[column]) else None)
        for column in group
    )
    pictured = {column for column in group if pictures and columns[column]["name"] == pictures["column"]}
    body = []
    for row in range(rows):
        cells = (
            _write_molecule_cell(texts[column][row], pictures)
            if column in pictured
            else _write_cell(columns[column], texts[column][row])
            for column in group
        )
        body.append(f"<tr>{''.join(cells)}</tr>")
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"


def _is_long(texts: Sequence[str]) -> bool:
    """Return whether a text does not fit into one line, such as a sequence."""
    return max(map(len, texts), default=0) > _MAX_LETTERS


def _write_heading(column: Mapping[str, Any], width: float | None) -> str:
    unit = f" <span>({escape(column['unit'])})</span>" if column["unit"] else ""
    kind = ' class="fnt-number"' if column["isNumber"] else ""
    kind += f' style="width:{width:.0f}pt"' if width else ""
    return f'<th scope="col"{kind}>{_BREAK.sub("<wbr>", escape(column["label"]))}{unit}</th>'


def _write_cell(column: Mapping[str, Any], text: str) -> str:
    if column["isNumber"]:
        return f'<td class="fnt-number">{escape(text)}</td>'
    kind = ' class="fnt-long"' if len(text) > _MAX_LETTERS else ""
    return f"<td{kind}>{escape(text)}</td>"


def _write_molecule_cell(text: str, pictures: ColumnPictures | None) -> str:
    """Return the cell of a molecule: its drawing, or its text if there is none."""
    drawing = pictures["drawn"].get(text) if pictures else None
    if drawing is None:
        return f"<td>{escape(text)}</td>"
    assert not isinstance(drawing, str)  # structures of jobs are printed separately, and larger
    source = base64.b64encode(write_thumbnail(drawing).encode()).decode("ascii")
    description = escape(f"2D drawing of {text}")
    return f'<td><img class="fnt-molecule" alt="{description}" src="data:image/svg+xml;base64,{source}"></td>'
