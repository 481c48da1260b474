"""The rows of a batch as an HTML table with a narrow mark for each verdict.

The page's script handles its buttons (``data-act``, ``data-row``); without it they are hidden.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from foldnote.forms.files.file_reference import describe_file
from foldnote.forms.wording import cut_middle
from foldnote.text import count

PAGE_ROWS = 50
_MAX_COLUMNS = 8
_HEAD, _CELL, _NAME = 22, 18, 32
_ACTS = (("edit", "Edit"), ("duplicate", "Duplicate"), ("remove", "Remove"))


@dataclass(frozen=True, slots=True)
class ColumnHead:
    """A column of the table."""

    name: str
    use: str = ""
    """Use of the column, shown in a second line; empty if the name is enough."""
    is_kept: bool = False
    """Whether it feeds no setting."""


@dataclass(frozen=True, slots=True)
class RowLine:
    """A row of the table."""

    number: int
    """Number of the row, from 1."""
    cells: Sequence[Any]
    error: str = ""
    """Why the row is invalid, as a sentence."""
    caution: str = ""
    """Why a valid row may be wrong, as a sentence."""


@dataclass(frozen=True)
class RowsPage:
    """One page of the rows."""

    heads: Sequence[ColumnHead]
    lines: Sequence[RowLine]
    total: int
    """Number of rows of the batch."""
    wrong: int = 0
    """Number of invalid rows of the batch."""
    start: int = 0
    """Number of listed rows before this page."""
    listed: int = 0
    """Number of listed rows on all pages."""
    is_filtered: bool = False
    """Whether only invalid rows are listed."""
    names: Sequence[str] = field(default=())
    """Job names of the lines; empty if the jobs are numbered after the batch."""


def write_page(page: RowsPage) -> str:
    """Return a page of rows: number, mark, job name (if given), up to eight columns, and buttons."""
    heads = page.heads[:_MAX_COLUMNS]
    job = '<th scope="col">Job</th>' if page.names else ""
    head_cells = "".join(_write_head(head) for head in heads)
    names = page.names or [""] * len(page.lines)
    body = "".join(
        _write_line(line, heads, name, bool(page.names)) for line, name in zip(page.lines, names, strict=True)
    )
    hidden = len(page.heads) - len(heads)
    columns = f"<p>{count(hidden, 'more column')} per row</p>" if hidden > 0 else ""
    return (
        '<div class="fn-scroll" tabindex="0" role="region" aria-label="Rows of the batch"><table><thead>'
        f'<tr><th scope="col">Row</th><th scope="col"><span class="fn-live">Verdict</span></th>{job}'
        f'{head_cells}<th class="fn-acts"><span class="fn-live">Actions</span></th></tr></thead><tbody>{body}'
        f"</tbody></table></div>{_write_pager(page)}{columns}"
    )


def _write_head(head: ColumnHead) -> str:
    use = f"<small>{escape(cut_middle(head.use, _HEAD))}</small>" if head.use else ""
    mark = ' class="fn-kept"' if head.is_kept else ""
    return f'<th scope="col"{mark}>{escape(cut_middle(head.name, _HEAD))}{use}</th>'


def _write_line(line: RowLine, heads: Sequence[ColumnHead], name: str, is_named: bool) -> str:
    cells = "".join(
        f"<td{_mark_kept(head)}>{_write_cell(cell)}</td>"
        for head, cell in zip(heads, line.cells, strict=False)
    )
    job = f'<td title="{escape(name)}">{escape(cut_middle(name, _NAME))}</td>' if is_named else ""
    buttons = "".join(
        f'<button type="button" data-act="{act}" data-row="{line.number}" aria-label="{label} row'
        f' {line.number}">{label}</button>'
        for act, label in _ACTS
    )
    return (
        f'<tr><th scope="row">{line.number}</th><td>{_write_mark(line)}</td>{job}{cells}'
        f'<td class="fn-acts">{buttons}</td></tr>'
    )


def _mark_kept(head: ColumnHead) -> str:
    return ' class="fn-kept"' if head.is_kept else ""


def _write_cell(cell: Any) -> str:
    return "" if cell is None or cell == "" else escape(cut_middle(describe_file(cell), _CELL))


def _write_mark(line: RowLine) -> str:
    """Write the mark of a row: ✓ valid, ! with a caution, ✕ with the first problem as tooltip."""
    if not line.error and not line.caution:
        return '<span class="fn-mark fn-fits" role="img" aria-label="valid" title="valid">✓</span>'
    kind, sign = ("fn-error", "✕") if line.error else ("fn-caution", "!")
    message = escape(line.error or line.caution)
    return (
        f'<span class="fn-mark {kind}" role="img" tabindex="0" aria-label="Row {line.number}: {message}">'
        f'{sign}<span class="fn-tip" aria-hidden="true">{message}</span></span>'
    )


def _write_pager(page: RowsPage) -> str:
    parts = []
    if page.listed > len(page.lines):
        last = page.start + len(page.lines)
        noun = "rows that need attention" if page.is_filtered else "rows"
        parts.append(f"{page.start + 1:,} to {last:,} of {page.listed:,} {noun}")
        parts.append(_write_button("previous", "Previous", is_off=page.start == 0))
        parts.append(_write_button("next", "Next", is_off=last >= page.listed))
    if page.is_filtered:
        parts.append(_write_button("all", f"Show all {page.total:,} rows"))
    elif page.wrong and page.total > page.wrong:
        rows = count(page.wrong, "row that needs", "rows that need")
        parts.append(_write_button("wrong", f"Show only the {rows} attention"))
    return f'<div class="fn-pager">{"".join(parts)}</div>' if parts else ""


def _write_button(act: str, label: str, *, is_off: bool = False) -> str:
    disabled = " disabled" if is_off else ""
    return f'<button type="button" data-act="{act}"{disabled}>{escape(label)}</button>'
