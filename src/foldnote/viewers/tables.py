"""A DataFrame as a table in a cell: a few rows, how many there are, and where the rest is."""

from __future__ import annotations

from html import escape

import pandas as pd

from foldnote.viewers.describe import count

SHOWN_ROWS = 10
SHOWN_COLUMNS = 20


def write_table(frame: pd.DataFrame, title: str = "", *, rows: int = SHOWN_ROWS) -> str:
    """The first ``rows`` rows as HTML, with every value escaped."""
    heading = f"<p><b>{escape(title)}</b> <span>{escape(_write_shape(frame, rows))}</span></p>"
    body = _first_rows(frame, rows).to_html(
        max_cols=SHOWN_COLUMNS, border=0, escape=True, index=False, na_rep="", float_format=_write_float
    )
    return f'<div class="fnv-table" style="overflow-x:auto">{heading}{body}</div>'


def write_plain_table(frame: pd.DataFrame, title: str = "", *, rows: int = SHOWN_ROWS) -> str:
    """The first ``rows`` rows as text."""
    body = _first_rows(frame, rows).to_string(max_cols=SHOWN_COLUMNS, index=False, na_rep="")
    return f"{title} {_write_shape(frame, rows)}\n{body}".strip()


def _first_rows(frame: pd.DataFrame, rows: int) -> pd.DataFrame:
    """The rows to show; an index that says more than the place of a row becomes the first column."""
    first = frame.head(rows)
    return first if isinstance(frame.index, pd.RangeIndex) else first.reset_index()


def _write_shape(frame: pd.DataFrame, rows: int) -> str:
    shape = f"{count(len(frame), 'row')} × {count(len(frame.columns), 'column')}"
    return f"{shape}; the first {rows} are shown" if len(frame) > rows else shape


def _write_float(value: float) -> str:
    return f"{value:.4g}"
