"""The batch table of a form: rows added from the form, pasted from a spreadsheet or read from a file.

Settings that a row does not give are those of the form. Each row is validated as it is added; the first press
of the button checks and prices the batch, the second submits it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from html import escape
from typing import Any, Protocol

import ipywidgets as widgets

from foldnote import catalog
from foldnote.client.inputs.table_file import ENDINGS, read_table_bytes
from foldnote.client.inputs.table_text import TextTable, read_text
from foldnote.errors import BatchSettingsError, FoldnoteError
from foldnote.forms.batch.column_mapping import list_header_words
from foldnote.forms.batch.draft_batch import DraftBatch, DraftRow
from foldnote.forms.fields.field import is_same
from foldnote.forms.fields.kinds.file import is_file
from foldnote.forms.fields.snapshot import Snapshot, take_snapshot
from foldnote.forms.files.file_reference import describe_file, settle
from foldnote.forms.jobs.background_calls import call, start
from foldnote.forms.schema.spec import FieldSpec
from foldnote.forms.submission.filled_form import FilledForm, StatusLine
from foldnote.forms.submission.uploading import upload_alignment, upload_files
from foldnote.forms.submission.verdicts import Verdicts
from foldnote.forms.ui import compact_widgets
from foldnote.forms.ui.shared_styles import Looks
from foldnote.forms.ui.stylesheet import read_style
from foldnote.forms.wording import in_one_line
from foldnote.text import count

_MAX_SHOWN = 50
_MAX_COLUMNS = 6


class BatchFrame(StatusLine, Protocol):
    """The part of a form that shows its batch."""

    def show_batch(self, parts: list[widgets.Widget]) -> None:
        """Show the widgets of the batch."""


class BatchForm(FilledForm, Protocol):
    """A form that completes the rows of a batch."""

    @property
    def looks(self) -> Looks:
        """The form's shared layout and style models."""

    def forget_extensions(self) -> None:
        """Empty what was sent beside the settings, since consent is for one submission."""

    @property
    def frame(self) -> BatchFrame:
        """The part of the form that shows its batch."""


class BatchTable:
    """The batch of one form; its widgets are built when it is first opened."""

    def __init__(self, form: BatchForm, verdicts: Verdicts, on_submit: Callable[[Any], object]) -> None:
        self._form = form
        self._verdicts = verdicts
        self.on_submit = on_submit
        self.batch = DraftBatch()
        self.rows: list[dict[str, Any]] = []
        """Settings of each row with settled files, without those taken from the form."""
        self._preview: Any = None
        self._priced: Snapshot | None = None
        """The rows and their files that the price is for; None without one."""
        self._refused: dict[int, str] = {}
        self._is_busy = False
        self._is_built = False

    def add_current(self) -> None:
        """Add the form's settings as a row."""
        self._open()
        if self._form.show_errors():
            self.batch.add_settings(self._form.value)
            self._show_added("1 row added.")
        else:
            self._say("No row was added: the form's settings need attention. Rows can be pasted here.")

    def add_text(self, text: str) -> bool:
        """Add the rows of a table or FASTA text; if it cannot be read, show why and return False."""
        return self._add(lambda words: read_text(text, words))

    def add_file(self, data: bytes, name: str) -> bool:
        """Add the rows of a file, by its bytes; if it cannot be read, show why and return False."""
        return self._add(lambda words: read_table_bytes(data, name, words), name)

    def _add(self, read: Callable[[Collection[str]], TextTable], file_name: str = "") -> bool:
        self._open()
        specs = self._specs()
        try:
            table = read(list_header_words(specs))
        except FoldnoteError as error:
            self._say(error.message, is_bad=True)
            return False
        notes = self.batch.add_table(table, specs, file_name)
        self._show_added(" ".join((f"{count(len(table.rows), 'row')} added.", *notes)))
        return True

    def settings(self) -> list[dict[str, Any]]:
        """The rows as they would be sent, completed with the form's settings."""
        shared = self._form.value
        return [{**shared, **row} for row in self.rows]

    def verdicts(self) -> list[str]:
        """The first problem of each row, as a sentence; empty for a valid row."""
        pairs = zip(self.batch.rows, self.settings(), strict=True)
        return [
            self._judge(row, settings) or self._refused.get(position, "")
            for position, (row, settings) in enumerate(pairs)
        ]

    def _judge(self, row: DraftRow, settings: dict[str, Any]) -> str:
        """The first problem of a row; one whose completed settings are the same is not validated again."""
        if row.judged is None or not is_same(row.judged[0], settings):
            problems = catalog.check(self._form.tool, settings).problems
            row.judged = settings, f"{problems[0].field}: {problems[0].message}" if problems else ""
        return row.judged[1]

    def refresh(self) -> None:
        """Show the rows with their verdicts, completed with the form's current settings."""
        if not self._is_built or not len(self.batch):
            return
        self._read_rows()
        if self._priced is not None and not is_same(self._priced, self._snapshot()):
            self._preview, self._priced, self._refused = None, None, {}
            self._say("")
        verdicts = self.verdicts()
        wrong = sum(map(bool, verdicts))
        self._table.value = write_rows(self.rows, verdicts, self.job_names() or ())
        jobs = count(len(self.rows), "job")
        ready = f"Submit {jobs}" if self._preview is not None else f"{self._check} {jobs}"
        self._send.description = f"{count(wrong, 'row needs', 'rows need')} attention" if wrong else ready
        self._send.disabled = bool(wrong)

    @property
    def _check(self) -> str:
        """Label of the first press; the embedded service has no prices."""
        profile = getattr(self._form.client, "profile", None)
        return "Check" if getattr(profile, "is_embedded", False) else "Check and price"

    def job_names(self) -> list[str] | None:
        """A name for each job if the table names any; None if they are numbered after the batch."""
        return self.batch.list_names()

    def forget_preview(self) -> None:
        """Drop price and verdicts of the service, because the rows changed."""
        self._preview, self._priced, self._refused = None, None, {}
        self.refresh()

    def press(self, _button: object = None) -> Any:
        """Check and price the batch, or submit it if that was done; returns the result or its task."""
        form = self._form
        if self._is_busy or not self.rows or not self._is_as_shown() or any(self.verdicts()):
            return None
        if form.client is None:
            self._say("The form is not connected to a service, so nothing was sent.", is_bad=True)
            return None
        self._is_busy = True
        return start(self._price() if self._preview is None else self._submit())

    def _is_as_shown(self) -> bool:
        """Whether the rows name the files that the table shows; if not, update the table and return False.

        A file whose contents changed voids the price, so that this press prices the batch again.
        """
        shown = self.rows
        self.refresh()
        if is_same(shown, self.rows):
            return True
        message = "A local file now has the name of an upload. Check the rows, then press the button again."
        self._say(message, is_bad=True)
        return False

    def _snapshot(self) -> Snapshot:
        """The completed rows and their local files."""
        return take_snapshot(self._form.fields, {"rows": self.settings()}, "", self._form.extensions)

    async def _price(self) -> None:
        form = self._form
        self._say("Checking the rows at the service…")
        try:
            priced = self._snapshot()
            rows = [await upload_files(form, settings) for settings in priced.settings["rows"]]
            extensions = await upload_alignment(form, priced.extensions)
            more: dict[str, Any] = {"extensions": extensions} if extensions else {}
            batch = self.batch.to_rows(rows, self._specs())
            found = await call(form.client.batches, "preview", form.tool, batch, **more)
        except Exception as error:  # noqa: BLE001 - the edge of a task: every error is shown
            self._show_error(error)
            return
        finally:
            self._is_busy = False
        self._refused = {
            row.index: f"{row.field or 'settings'}: {row.error}" for row in found.verdicts if not row.valid
        }
        self._preview, self._priced = found if found.is_valid else None, priced
        sentences = [line if line.endswith((".", ":")) else f"{line}." for line in found.summary()]
        self._say(" ".join(sentences), is_bad=not found.is_valid)
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
        self._say(f"Submitted as the batch {batch.job_name}.")
        self._verdicts.guard(lambda: self.on_submit(batch))

    def _show_added(self, words: str) -> None:
        self.forget_preview()
        self._say(words)

    def _specs(self) -> list[FieldSpec]:
        return [field.spec for field in self._form.section.fields]

    def _read_rows(self) -> None:
        """Read the rows of the batch, with their files settled."""
        self.rows = [self._settle(row) for row in self.batch.list_settings(self._specs())]

    def _settle(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """The row with its files settled as local files, uploads, job files or contents."""
        uploads = self._form.known_uploads()
        files = {name: field.spec for name, field in self._form.fields.items() if is_file(field.spec)}
        return {
            name: settle(value, uploads, files[name].extensions) if name in files else value
            for name, value in row.items()
        }

    def _show_error(self, error: Exception) -> None:
        if isinstance(error, BatchSettingsError):
            self._refused = {row.index: str(row.error) for row in error.verdicts if not row.valid}
            self._priced = self._snapshot()
        self._preview = None
        self.refresh()
        message = error.message if isinstance(error, FoldnoteError) else f"{type(error).__name__}: {error}"
        self._say(message, is_bad=True)

    def _say(self, text: str, *, is_bad: bool = False) -> None:
        mark, role = (" fn-bad", "alert") if is_bad else ("", "status")
        self._message.value = f'<div class="fn-said{mark}" role="{role}">{escape(text)}</div>' if text else ""

    def _open(self) -> None:
        if self._is_built:
            return
        self._is_built = True
        looks = self._form.looks
        self._table = looks.html("", "foldnote-table")
        self._message = looks.html("", "foldnote-part")
        self._paste = compact_widgets.Textarea(
            rows=3,
            description="Rows to add",
            placeholder="Paste cells from a spreadsheet (the first line names the settings), or FASTA",
            layout=looks.layout,
            style=looks.text,
            _dom_classes=("foldnote-field", "foldnote-lines", "foldnote-wide"),
        )
        add = looks.button("Add pasted rows", "foldnote-second")
        add.on_click(lambda _button: self._add_pasted())
        self._file = widgets.FileUpload(
            accept=",".join(ENDINGS),
            description="Choose a table or FASTA file",
            layout=looks.layout,
        )
        self._file.add_class("foldnote-second")
        self._file.observe(self._read_file, "value")
        drop = looks.button("Remove last row", "foldnote-second")
        drop.on_click(lambda _button: self._remove(1))
        clear = looks.button("Clear", "foldnote-second")
        clear.on_click(lambda _button: self._remove(len(self.rows)))
        self._send = looks.button(self._check, "foldnote-submit")
        self._send.on_click(self.press)
        buttons = looks.box([self._send, add, self._file, drop, clear], "foldnote-actions")
        heading = '<div class="fn-group" role="heading" aria-level="3">Batch</div>'
        title = looks.html(f"<style>{read_style('batch')}</style>{heading}", "foldnote-part")
        self._form.frame.show_batch([title, self._table, self._paste, buttons, self._message])

    def _add_pasted(self) -> None:
        if self.add_text(str(self._paste.value)):
            self._paste.value = ""

    def _read_file(self, change: Mapping[str, Any]) -> None:
        for file in change["new"]:
            self.add_file(bytes(file["content"]), str(file["name"]))
        if change["new"]:
            self._file.value = ()  # drop the contents from the widget

    def _remove(self, number: int) -> None:
        for _ in range(min(number, len(self.batch))):
            self.batch.remove(len(self.batch) - 1)
        self._read_rows()
        self.forget_preview()
        if not self.rows:
            self._table.value = ""
            self._send.description = self._check
        self._say("")


def _write_name(names: Sequence[str], number: int) -> str:
    return f"<td>{escape(in_one_line(names[number - 1], 30))}</td>" if names else ""


def _write_cell(value: Any) -> str:
    return escape(in_one_line(describe_file(value), 30))


def write_rows(rows: list[dict[str, Any]], verdicts: list[str], jobs: Sequence[str] = ()) -> str:
    """The rows as an HTML table: number, verdict, job name (if given), and up to six settings."""
    named = list(jobs)
    names = list(dict.fromkeys(name for row in rows for name in row))
    shown = names[:_MAX_COLUMNS]
    heads = '<th scope="col">Job</th>' if named else ""
    heads += "".join(f'<th scope="col">{escape(name)}</th>' for name in shown)
    body = "".join(
        f'<tr><th scope="row">{number}</th><td class="{"fn-error" if verdict else "fn-fits"}">'
        f"{escape(verdict) if verdict else 'valid'}</td>{_write_name(named, number)}"
        + "".join(f"<td>{_write_cell(row[name]) if name in row else ''}</td>" for name in shown)
        + "</tr>"
        for number, (row, verdict) in enumerate(zip(rows, verdicts, strict=True), start=1)
        if number <= _MAX_SHOWN
    )
    more = f"<p>and {len(rows) - _MAX_SHOWN} more</p>" if len(rows) > _MAX_SHOWN else ""
    columns = f"<p>{len(names) - len(shown)} more settings per row</p>" if len(names) > len(shown) else ""
    return (
        '<div class="fn-scroll" tabindex="0" role="region" aria-label="Rows of the batch"><table><thead>'
        f'<tr><th scope="col">Row</th><th scope="col">Verdict</th>{heads}</tr></thead>'
        f"<tbody>{body}</tbody></table>"
        f"</div>{more}{columns}"
    )
