"""The displayed part of a batch: a page of rows, and its columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ipywidgets as widgets

from foldnote.forms.batch.cautions import find_cautions, find_differing
from foldnote.forms.batch.column_mapping import Purpose, Target
from foldnote.forms.batch.draft_batch import DraftBatch
from foldnote.forms.batch.rows_html import PAGE_ROWS, ColumnHead, RowLine, RowsPage, write_page
from foldnote.forms.schema.spec import FieldSpec
from foldnote.forms.ui.shared_styles import SharedStyles

PAGE_ACTS = ("previous", "next", "wrong", "all")
"""Valid arguments of `RowsView.turn`."""
_FEW = 6
"""Number of settings that are shown for rows that do not differ."""


class RowsView:
    """The table of the rows, which shows one page at a time."""

    def __init__(self, styles: SharedStyles) -> None:
        self._page = 0
        self._is_filtered = False
        self.widget: widgets.HTML = styles.html("", "foldnote-table")

    def turn(self, act: str) -> None:
        """Show the previous or next page, only the rows that need attention (``wrong``), or ``all``."""
        if act in ("previous", "next"):
            self._page += 1 if act == "next" else -1
        else:
            self._page, self._is_filtered = 0, act == "wrong"

    def show(
        self,
        batch: DraftBatch,
        rows: Sequence[dict[str, Any]],
        completed: Sequence[dict[str, Any]],
        specs: Sequence[FieldSpec],
        verdicts: Sequence[str],
    ) -> None:
        """Show a page of rows with their verdicts and cautions.

        Args:
            batch: the batch.
            rows: the settings that each row gives.
            completed: the same, completed with the form's settings.
            specs: the tool's settings.
            verdicts: the first problem of each row; empty for a valid one.
        """
        if not rows:
            self._page, self._is_filtered = 0, False
            self.widget.value = ""
            return
        wrong = [index for index, verdict in enumerate(verdicts) if verdict]
        self._is_filtered = self._is_filtered and bool(wrong)
        listed: Sequence[int] = wrong if self._is_filtered else range(len(rows))
        self._page = max(0, min(self._page, (len(listed) - 1) // PAGE_ROWS))
        start = self._page * PAGE_ROWS
        page = listed[start : start + PAGE_ROWS]
        names = batch.list_names() or []
        cautions = find_cautions(completed, specs, page)
        columns = _list_columns(batch, rows, specs)
        lines = [
            RowLine(
                index + 1,
                [_find_cell(batch, rows, index, name, use) for name, use in columns],
                verdicts[index],
                cautions.get(index, ""),
            )
            for index in page
        ]
        self.widget.value = write_page(
            RowsPage(
                [_write_head(name, use, specs) for name, use in columns],
                lines,
                total=len(rows),
                wrong=len(wrong),
                start=start,
                listed=len(listed),
                is_filtered=self._is_filtered,
                names=[names[index] for index in page] if names else (),
            )
        )


def _list_columns(
    batch: DraftBatch, rows: Sequence[dict[str, Any]], specs: Sequence[FieldSpec]
) -> list[tuple[str, Target]]:
    """Return the columns of the tables without the names, and the other settings that differ between rows."""
    columns = [(name, use) for name, use in batch.mapping.targets.items() if use is not Purpose.JOB_NAME]
    fed = batch.mapping.columns
    differing = [name for name in find_differing(rows) if name not in fed]
    if not columns and not differing:
        order = [spec.name for spec in specs if spec.name in rows[0]]
        differing = order[:_FEW]
    swept = [name for name in batch.swept if name not in differing]
    settings: list[tuple[str, Target]] = [(name, name) for name in (*swept, *differing)]
    return [
        *[pair for pair in columns if isinstance(pair[1], str)],
        *settings,
        *(pair for pair in columns if pair[1] is Purpose.KEPT),
    ]


def _find_cell(batch: DraftBatch, rows: Sequence[dict[str, Any]], index: int, name: str, use: Target) -> Any:
    if isinstance(use, str):
        return rows[index].get(use)
    return " ".join(batch.rows[index].cells.get(name, "").split())  # not a file: shown on one line, unchanged


def _write_head(name: str, use: Target, specs: Sequence[FieldSpec]) -> ColumnHead:
    if not isinstance(use, str):
        return ColumnHead(name, "kept", is_kept=True)
    title = next((spec.title for spec in specs if spec.name == use), use)
    return ColumnHead(title if name == use else name, "" if name in (use, title) else title)
