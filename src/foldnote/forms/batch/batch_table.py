"""The batch table of a form: rows added from the form, pasted from a spreadsheet or read from a file.

Settings that a row lacks are taken from the form. Each row is validated as it is added; the first press of
the button checks the batch and estimates its cost, the second submits it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from copy import deepcopy
from html import escape
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import ipywidgets as widgets

from foldnote import catalog
from foldnote.client.inputs.table_file import ENDINGS, read_table_bytes, read_table_file
from foldnote.client.inputs.table_text import TextTable, read_text
from foldnote.client.inputs.workbook import list_sheets
from foldnote.errors import ArgumentError, BatchSettingsError, FoldnoteError
from foldnote.forms.batch.cautions import find_differing
from foldnote.forms.batch.column_choices import ColumnChoices
from foldnote.forms.batch.column_mapping import Target, choose_uses, list_header_words
from foldnote.forms.batch.draft_batch import DraftBatch, DraftRow
from foldnote.forms.batch.mapped_table import check_sheet, write_text_table
from foldnote.forms.batch.policy_controls import PolicyControls
from foldnote.forms.batch.row_editor import RowEditor
from foldnote.forms.batch.rows_view import PAGE_ACTS, RowsView
from foldnote.forms.batch.sheet_choice import SheetChoice
from foldnote.forms.batch.sweep_controls import SweepControls, read_sweep
from foldnote.forms.fields.field import is_same
from foldnote.forms.fields.snapshot import Snapshot, take_snapshot
from foldnote.forms.files.file_reference import resolve_file
from foldnote.forms.jobs.background_calls import call, start
from foldnote.forms.schema.shapes import is_file
from foldnote.forms.schema.spec import FieldSpec
from foldnote.forms.submission.filled_form import FilledForm, StatusLine, uses_embedded_service
from foldnote.forms.submission.uploading import upload_alignment, upload_files
from foldnote.forms.submission.verdicts import Verdicts
from foldnote.forms.ui import compact_widgets
from foldnote.forms.ui.code_block import write_code_block
from foldnote.forms.ui.label import LabelParts, Notice, write_label
from foldnote.forms.ui.shared_styles import SharedStyles, set_class
from foldnote.forms.ui.stylesheet import read_style
from foldnote.text import count, describe_path

ACTS = ("edit", "duplicate", "remove", *PAGE_ACTS)
"""Valid first arguments of `BatchTable.change`."""


class BatchFrame(StatusLine, Protocol):
    """The part of a form that shows its batch."""

    def show_batch(self, parts: list[widgets.Widget]) -> None:
        """Show the widgets of the batch."""


class BatchForm(FilledForm, Protocol):
    """A form that completes the rows of a batch."""

    @property
    def styles(self) -> SharedStyles:
        """The form's shared layout and style models."""

    def forget_extensions(self) -> None:
        """Clear the extensions, since consent applies to one submission only."""

    @property
    def frame(self) -> BatchFrame:
        """The part of the form that shows its batch."""


class _Workbook(NamedTuple):
    """A file, with the names of its sheets if it is a workbook."""

    data: bytes
    name: str
    sheets: tuple[str, ...]


class BatchTable:
    """The batch of one form; its widgets are built when it is first opened."""

    def __init__(self, form: BatchForm, verdicts: Verdicts, on_submit: Callable[[Any], object]) -> None:
        self._form = form
        self._verdicts = verdicts
        self.on_submit = on_submit
        self.batch = DraftBatch()
        self.rows: list[dict[str, Any]] = []
        """Settings of each row, with resolved files and without settings taken from the form."""
        self._preview: Any = None
        self._priced: Snapshot | None = None
        """The rows and files for which the cost was estimated; None without an estimate."""
        self._refused: dict[int, str] = {}
        self._opening: tuple[DraftRow, DraftRow] | None = None
        """The row added when the batch was opened, and a copy of its initial state; None if there is none."""
        self._workbook = _Workbook(b"", "", ())
        """The file added last, if it is a workbook."""
        self._is_busy = False
        self._is_built = self._is_code_shown = False
        self.write_code: Callable[[], str] = str
        """Writes the equivalent Python call."""

    def add_current(self) -> None:
        """Add the form's settings as a row.

        The first row of a batch is replaced by the rows of a table if it is the only one and unchanged.
        """
        self._open()
        if self._form.show_errors():
            self.batch.add_settings(self._form.value)
            row = self.batch.rows[-1]
            self._opening = (row, row.copy()) if len(self.batch) == 1 else None
            self._show_added("1 row added.")
        else:
            self._show_message(
                "No row was added: the form's settings need attention. Rows can be pasted here."
            )

    def add_text(self, text: str) -> bool:
        """Add the rows of a table or FASTA text; if it cannot be read, show why and return False."""
        return self._add(lambda header_names: read_text(text, header_names))

    def add_file(self, data: bytes, name: str, sheet: str | None = None) -> bool:
        """Add the rows of a file, by its bytes; if it cannot be read, show why and return False.

        Args:
            data: contents of the file.
            name: its name.
            sheet: read this sheet of a workbook, whose rows replace all others.
        """
        if not self._add(
            lambda header_names: read_table_bytes(data, name, header_names, sheet), name, is_new=sheet is None
        ):
            return False
        sheets = list_sheets(data, name) if self.batch.sheet else ()
        self._workbook = _Workbook(data if sheets else b"", name, sheets)
        self._show_sheets()
        return True

    def _choose_sheet(self, sheet: str) -> None:
        """Replace the rows that were read from one sheet by those of another."""
        if not self.add_file(self._workbook.data, self._workbook.name, sheet):
            self._show_sheets()

    def _show_sheets(self) -> None:
        data, name, sheets = self._workbook
        is_own = bool(data) and self.batch.file_name == name and self.batch.sheet in sheets
        self._sheets.show(sheets if is_own else (), self.batch.sheet)

    def add_table(
        self,
        table: Any,
        columns: Mapping[str, str] | None = None,
        names: str | None = None,
        *,
        sheet: str | None = None,
        sweep: Mapping[str, Sequence[Any]] | None = None,
        on_failure: str | None = None,
        retries: int | None = None,
    ) -> None:
        """Add the rows of a table, and optionally set a sweep and policies of the batch.

        Args:
            table: a DataFrame, a list of mappings, or the path of a file.
            columns: which column feeds which setting, in either direction; other columns are kept without a
                use.
            names: the column of the jobs' names.
            sheet: the sheet of a workbook.
            sweep: values of a setting, for each of which all rows of the batch are repeated.
            on_failure: ``"continue"`` or ``"stop"``, if the service offers it; None leaves it unchanged.
            retries: number of times a job is run again, if the service offers it; None leaves it unchanged.

        Raises:
            ArgumentError: the table cannot be read, a column or setting is unknown, or a sweep or policy is
                invalid. No row was added.
        """
        specs, path = self._specs(), Path(table) if isinstance(table, str | Path) else None
        swept = read_sweep(sweep or {}, specs)
        if path is None:
            check_sheet(sheet)
        text = read_table_file(path, list_header_words(specs), sheet) if path else write_text_table(table)
        uses = choose_uses(text, [spec.name for spec in specs], columns, names)
        self._open()
        self._policy.choose(on_failure, retries)
        self._take_table(text, path.name if path else "", uses, swept)

    def _add(
        self, read_table: Callable[[Collection[str]], TextTable], file_name: str = "", *, is_new: bool = True
    ) -> bool:
        """Add the rows of a table; unless it is new, they replace all other rows."""
        self._open()
        specs = self._specs()
        try:
            table = read_table(list_header_words(specs))
        except FoldnoteError as error:
            self._show_message(error.message, is_bad=True)
            return False
        if not is_new:
            self._editor.close()
            self.batch.clear()
        self._take_table(table, file_name)
        return True

    def _take_table(
        self,
        table: TextTable,
        file_name: str,
        uses: Mapping[str, Target] | None = None,
        swept: Mapping[str, Sequence[Any]] | None = None,
    ) -> None:
        """Add the rows of a table, replacing a row that only opened the batch, and sweep: all or nothing."""
        before = deepcopy(self.batch) if swept else self.batch
        is_replaced = self._is_only_opened and bool(table.rows)
        if is_replaced:
            self.batch.clear()
        notes = [*self.batch.add_table(table, self._specs(), file_name, uses)]
        if swept:
            unswept = len(self.batch)
            try:
                for setting, values in swept.items():
                    self.batch.sweep(setting, values)
            except ArgumentError:
                self.batch = before
                raise
            notes.append(f"The sweep makes {count(len(self.batch), 'row')} of {unswept:,}.")
        placement = " in place of the row with the form's settings" if is_replaced else ""
        self._show_added(" ".join((f"{count(len(table.rows), 'row')} added{placement}.", *notes)))

    @property
    def _is_only_opened(self) -> bool:
        """Return whether the batch contains only the unchanged row that was added when it was opened."""
        if self._opening is None:
            return False
        row, before = self._opening
        is_unchanged = is_same(row.own, before.own) and not (row.cells or row.suffix)
        return self.batch.rows == [row] and is_unchanged and not self.batch.swept

    @property
    def policy(self) -> dict[str, Any]:
        """The policies on failures, as arguments of ``fn.submit_batch``; empty for the defaults."""
        return self._policy.list_arguments() if self._is_built else {}

    def settings(self) -> list[dict[str, Any]]:
        """Return the rows as they would be sent, completed with the form's settings."""
        shared = self._form.value
        return [{**shared, **row} for row in self.rows]

    def verdicts(self) -> list[str]:
        """Return the first problem of each row, as a sentence; empty for a valid row."""
        pairs = zip(self.batch.rows, self.settings(), strict=True)
        return [
            self._validate(row, settings) or self._refused.get(position, "")
            for position, (row, settings) in enumerate(pairs)
        ]

    def _validate(self, row: DraftRow, settings: dict[str, Any]) -> str:
        """Return the first problem of a row; unchanged completed settings are not validated again."""
        if row.validated is None or not is_same(row.validated[0], settings):
            problems = catalog.check(self._form.described, settings).problems
            first = problems[0] if problems else None
            message = f"{describe_path(first.field, settings)}: {first.message}" if first else ""
            row.validated = settings, message
        return row.validated[1]

    def refresh(self) -> None:
        """Show the rows with their verdicts, completed with the form's current settings."""
        if not self._is_built:
            return
        self._read_rows()
        if self._priced is not None and not is_same(self._priced, self._snapshot()):
            self._preview, self._priced, self._refused = None, None, {}
            self._show_message("")
        verdicts = self.verdicts()
        wrong = sum(map(bool, verdicts))
        specs = self._specs()
        self._view.show(self.batch, self.rows, self.settings(), specs, verdicts)
        self._columns.show(self.batch.mapping, specs)
        self._show_sheets()
        self._sweep.show(specs, {*self.batch.mapping.columns, *self.batch.swept}, len(self.rows))
        for widget in (self._editor.chooser, self._clear, self._code):
            set_class(widget, "foldnote-hidden", not self.rows)
        jobs = count(len(self.rows), "job")
        ready = f"Submit {jobs}" if self._preview is not None else f"{self._check} {jobs}"
        ready = ready if self.rows else self._check
        self._send.description = f"{count(wrong, 'row needs', 'rows need')} attention" if wrong else ready
        self._send.disabled = bool(wrong) or not self.rows
        if self._is_code_shown:
            self._code_block.value = write_code_block(self.write_code())

    def change(self, act: str, number: int = 0) -> None:
        """Perform the action of a button of the table: edit, duplicate or remove a row, or show other rows.

        Args:
            act: ``edit``, ``duplicate``, ``remove``, ``previous``, ``next``, ``wrong`` or ``all``.
            number: the row's number, from 1.
        """
        if act in PAGE_ACTS:
            self._view.turn(act)
            self.refresh()
        else:
            self._change_row(act, number - 1)

    def _change_row(self, act: str, index: int) -> None:
        if not 0 <= index < len(self.batch):
            self._show_message(
                f"There is no row {index + 1}; the rows are 1 to {len(self.batch)}.", is_bad=True
            )
            return
        if act == "edit":
            self._editor.open(index, self._list_editable(index))
            return
        self._editor.close()
        if act == "duplicate":
            self.batch.duplicate(index)
            message = f"Row {index + 1} was duplicated; the copy is row {index + 2}."
        else:
            self.batch.remove(index)
            message = f"Row {index + 1} was removed."
        self.forget_preview()
        self._show_message(message)

    def _list_editable(self, index: int) -> list[tuple[FieldSpec, Any]]:
        """Return the settings of a row that its table gives, are required, or differ between rows."""
        differing = find_differing(self.rows)
        names = {*self.batch.mapping.columns, *differing}
        specs = [spec for spec in self._specs() if spec.name in names or spec.required]
        row = self.batch.rows[index]
        columns = self.batch.mapping.columns
        return [
            (spec, row.own.get(spec.name, row.cells.get(columns.get(spec.name, ""))))
            for spec in specs
            if not spec.is_secret
        ]

    def _save_row(self, index: int, texts: Mapping[str, str]) -> None:
        kinds = {spec.name: spec for spec in self._specs()}
        for name, text in texts.items():
            self.batch.edit(index, kinds[name], text)
        self.forget_preview()
        self._show_message(f"Row {index + 1} was changed." if texts else "")

    def _map(self, column: str, target: Target) -> None:
        try:
            notes = self.batch.remap(column, target)
        except FoldnoteError as error:
            self.refresh()
            self._show_message(error.message, is_bad=True)
            return
        self._editor.close()
        self.forget_preview()
        self._show_message(" ".join(notes))

    def _find_sweep_fault(self, spec: FieldSpec, values: list[Any]) -> str:
        """Explain why the values cannot be swept over, tested on the first row; empty if they can."""
        first = next(iter(self.settings()), self._form.value)
        for value in values:
            problems = catalog.check(self._form.described, {**first, spec.name: value}).problems
            messages = [problem.message for problem in problems if problem.field == spec.name]
            if messages:
                return messages[0]
        return ""

    def _apply_sweep(self, spec: FieldSpec, values: list[Any]) -> None:
        if not self.rows:
            self.add_current()
        if not self.rows:
            return
        before = len(self.batch)
        self.batch.sweep(spec.name, values)
        self._editor.close()
        self.forget_preview()
        self._show_message(
            f"{count(before, 'row')} × {count(len(values), 'value')} = {len(self.batch):,} rows."
        )

    @property
    def _check(self) -> str:
        """Return the label of the first press; the embedded service has no costs."""
        return "Validate" if uses_embedded_service(self._form) else "Validate and estimate"

    def job_names(self) -> list[str] | None:
        """Return a name for each job if the table names any; None if they are numbered after the batch."""
        return self.batch.list_names()

    def forget_preview(self) -> None:
        """Discard the service's cost estimate and verdicts, because the rows have changed."""
        self._preview, self._priced, self._refused = None, None, {}
        self.refresh()

    def press(self, _button: object = None) -> Any:
        """Check the batch and estimate its cost, or else submit it; returns the result or its task."""
        form = self._form
        if self._is_busy or not self.rows or not self._is_as_shown() or any(self.verdicts()):
            return None
        if form.client is None:
            self._show_message("The form is not connected to a service, so nothing was sent.", is_bad=True)
            return None
        self._is_busy = True
        return start(self._price() if self._preview is None else self._submit())

    def _is_as_shown(self) -> bool:
        """Return whether the rows name the files in the table; if not, update the table first.

        A changed file invalidates the estimate, so this press estimates the cost again.
        """
        shown_rows = self.rows
        self.refresh()
        if is_same(shown_rows, self.rows):
            return True
        message = "A local file now has the name of an upload. Check the rows, then press the button again."
        self._show_message(message, is_bad=True)
        return False

    def _snapshot(self) -> Snapshot:
        """Return the completed rows and their local files."""
        return take_snapshot(self._form.section.by_name, {"rows": self.settings()}, "", self._form.extensions)

    async def _price(self) -> None:
        form = self._form
        self._show_message("Validating the rows at the service…")
        try:
            priced = self._snapshot()
            rows = [await upload_files(form, settings) for settings in priced.settings["rows"]]
            extensions = await upload_alignment(form, priced.extensions)
            options: dict[str, Any] = {"extensions": extensions} if extensions else {}
            options |= self.policy
            batch = self.batch.to_rows(rows, self._specs())
            preview = await call(form.client.batches, "preview", form.wanted, batch, **options)
        except Exception as error:  # noqa: BLE001 - the edge of a task: every error is shown
            self._show_error(error)
            return
        finally:
            self._is_busy = False
        self._refused = {
            row.index: f"{row.field or 'settings'}: {row.reason}" for row in preview.verdicts if not row.valid
        }
        self._preview, self._priced = preview if preview.is_valid else None, priced
        sentences = [line if line.endswith((".", ":")) else f"{line}." for line in preview.summary()]
        self._show_message(" ".join(sentences), is_bad=not preview.is_valid)
        self.refresh()

    async def _submit(self) -> None:
        try:
            batch = await call(self._form.client.batches, "send", self._preview)
        except Exception as error:  # noqa: BLE001 - the edge of a task: every error is shown
            self._show_error(error)
            return
        finally:
            self._is_busy = False
        self._form.forget_extensions()
        self._show_message(f"Submitted as the batch {batch.job_name}.")
        self._verdicts.guard(lambda: self.on_submit(batch))

    def _show_added(self, message: str) -> None:
        self.forget_preview()
        self._show_message(message)

    def _specs(self) -> list[FieldSpec]:
        return [field.spec for field in self._form.section.fields]

    def _read_rows(self) -> None:
        """Read the rows of the batch, resolving files as local files, uploads, job files or contents."""
        uploads = self._form.known_uploads()
        files = {
            name: field.spec for name, field in self._form.section.by_name.items() if is_file(field.spec)
        }
        self.rows = [
            row
            | {
                name: resolve_file(row[name], uploads, files[name].extensions)
                for name in files
                if name in row
            }
            for row in self.batch.list_settings(self._specs())
        ]

    def _show_error(self, error: Exception) -> None:
        if isinstance(error, BatchSettingsError):
            self._refused = {row.index: str(row.error) for row in error.verdicts if not row.valid}
            self._priced = self._snapshot()
        self._preview = None
        self.refresh()
        message = error.message if isinstance(error, FoldnoteError) else f"{type(error).__name__}: {error}"
        self._show_message(message, is_bad=True)

    def _show_message(self, text: str, *, is_bad: bool = False) -> None:
        mark, role = (" fn-bad", "alert") if is_bad else ("", "status")
        self._message.value = f'<div class="fn-said{mark}" role="{role}">{escape(text)}</div>' if text else ""

    def _open(self) -> None:
        """Build the widgets and show them, unless this was done before."""
        if self._is_built:
            return
        self._is_built = True
        styles = self._form.styles
        self._view = RowsView(styles)
        self._columns = ColumnChoices(styles, self._map)
        self._sheets = SheetChoice(styles, self._choose_sheet)
        self._editor = RowEditor(styles, self._change_row, self._save_row)
        self._sweep = SweepControls(styles, self._apply_sweep, self._find_sweep_fault)
        self._message = styles.html("", "foldnote-part")
        self._code_block = styles.html("", "foldnote-part")
        self._policy = PolicyControls(styles, self.forget_preview)
        heading = '<div class="fn-group" role="heading" aria-level="3">Batch</div>'
        title = styles.html(f"<style>{read_style('batch')}</style>{heading}", "foldnote-part")
        parts = [
            title,
            *self._build_sources(styles),
            self._sheets.widget,
            self._columns.widget,
            self._view.widget,
            self._editor.chooser,
            self._editor.widget,
            self._sweep.widget,
            self._policy.widget,
            self._build_buttons(styles),
            self._message,
            self._code_block,
        ]
        self.show_policy()
        self._form.frame.show_batch(parts)
        self.refresh()

    def _build_sources(self, styles: SharedStyles) -> list[widgets.Widget]:
        """Build the controls with which rows are pasted or read from a file."""
        self._paste = compact_widgets.Textarea(
            rows=3,
            description=write_label(LabelParts("Rows to add", "", "", ""), Notice()),
            description_allow_html=True,
            placeholder="Paste cells of a spreadsheet, if possible with their header line, or FASTA",
            layout=styles.layout,
            style=styles.text,
            _dom_classes=("foldnote-field", "foldnote-lines", "foldnote-wide"),
        )
        add = styles.button("Add pasted rows", "foldnote-second")
        add.on_click(lambda _button: self._add_pasted())
        self._file = widgets.FileUpload(
            accept=",".join(ENDINGS),
            description="Choose a table or FASTA file",
            layout=styles.layout,
        )
        self._file.add_class("foldnote-second")
        self._file.observe(self._read_file, "value")
        return [self._paste, styles.box([add, self._file], "foldnote-actions")]

    def _build_buttons(self, styles: SharedStyles) -> widgets.Widget:
        """Build the buttons that submit the batch, show its code, and remove its rows."""
        self._clear = styles.button("Remove all rows", "foldnote-second")
        self._clear.on_click(lambda _button: self._remove_all())
        self._code = styles.button(
            "Copy batch as Python", "foldnote-second", tooltip="The equivalent Python call"
        )
        self._code.on_click(lambda _button: self._toggle_code())
        self._send = styles.button(self._check, "foldnote-submit")
        self._send.on_click(self.press)
        return styles.box([self._send, self._code, self._clear], "foldnote-actions")

    def show_policy(self) -> None:
        """Show the policies on failures that the service offers, as far as it has answered."""
        if self._is_built:
            has_answer = self._form.client is not None and not isinstance(self._form.wanted, str)
            self._policy.show(self._form.described.extensions, has_answer=has_answer)

    def _add_pasted(self) -> None:
        if self.add_text(str(self._paste.value)):
            self._paste.value = ""

    def _read_file(self, change: Mapping[str, Any]) -> None:
        for file in change["new"]:
            self.add_file(bytes(file["content"]), str(file["name"]))
        if change["new"]:
            self._file.value = ()  # drops the contents from the widget

    def _remove_all(self) -> None:
        self._editor.close()
        self.batch.clear()
        self.forget_preview()
        self._show_message("All rows were removed.")

    def _toggle_code(self) -> None:
        self._is_code_shown = not self._is_code_shown
        self._code_block.value = write_code_block(self.write_code() if self._is_code_shown else "")
