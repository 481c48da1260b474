"""Small tables that show a record in a cell or a terminal, with all text escaped.

Styles are inline, not by class, because the tables appear in any front end and in saved notebooks. JupyterLab
aligns cells to the right, so each cell sets its own alignment.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from html import escape

_LEFT = "text-align:left;vertical-align:top;white-space:normal"
_LONGEST = 48


def show_pairs(title: str, pairs: Mapping[str, object]) -> str:
    """Format a record as HTML, one row per name; None and empty values are left out."""
    rows = "".join(
        f'<tr><th scope="row" style="{_LEFT};white-space:nowrap">{escape(name)}</th>'
        f'<td style="{_LEFT};max-width:44em">{escape(_text(value))}</td></tr>'
        for name, value in pairs.items()
        if value not in (None, "", (), [], {})
    )
    return f"<div><b>{escape(title)}</b></div><table>{rows}</table>"


def show_grid(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Format records of one kind as HTML, one row per record; without records only the title."""
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    head = "".join(f'<th scope="col" style="{_LEFT}">{escape(name)}</th>' for name in columns)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" if body else ""
    return (f'<div style="max-width:60em">{escape(title)}</div>' if title else "") + table


def write_grid(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Format records of one kind as text in columns; long cells are shortened, the last one is not padded."""
    texts = [[_shorten(_text(cell)) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(columns, *texts, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in ([*columns], *texts)
    ]
    return "\n".join([title, *(lines if texts else [])])


def _cell(value: object) -> str:
    return f'<td style="{_LEFT};max-width:32em">{escape(_text(value))}</td>'


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return f"{value.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return str(value)


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
