"""Submit a form once, show progress and errors, and show the job again when the cell is rerun.

The client's ledger remembers the job of a cell, so that running the cell again submits nothing.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from foldnote.errors import FoldnoteError, NotFoundError
from foldnote.forms.fields.snapshot import Snapshot
from foldnote.forms.jobs.background_calls import call, has_running_loop, start
from foldnote.forms.submission.cell import CellKey
from foldnote.forms.submission.filled_form import FilledForm
from foldnote.forms.submission.verdicts import Verdicts

_RECENT_S = 1.5
"""Seconds after the last change of a field during which another change may still be in transit."""
_SETTLE_S = 0.4
"""Seconds without a change after which typed text has arrived, even over a slow connection."""

_log = logging.getLogger("foldnote.forms")


class SubmittedForm(FilledForm, Protocol):
    """A form that can be submitted, with callbacks for its job."""

    changed_at: float
    """Time of a person's last change (monotonic clock, seconds)."""

    @property
    def on_submit(self) -> Callable[[Any], object] | None:
        """Called with the handle of a submitted job."""

    @property
    def on_attach(self) -> Callable[[Any], object] | None:
        """Called with the handle of a job that the same cell submitted before."""

    def forget_extensions(self) -> None:
        """Clear the extensions, since consent applies to one job."""

    def offer_uploads(self, names: tuple[str, ...]) -> None:
        """Suggest the uploads ``names`` in file fields."""


class FormSubmission:
    """The submission of a form (one at a time), and its job."""

    def __init__(self, form: SubmittedForm, verdicts: Verdicts, key: CellKey | None) -> None:
        self._form = form
        self._verdicts = verdicts
        self._key = key
        self.is_sending = False
        self._is_settling = False
        self.job: Any = None
        """Handle of the last job of this form; None before."""
        self._sent_name = ""

    def has_sent(self, job_name: str) -> bool:
        """Return whether this form has submitted, or is submitting, a job of this name."""
        return job_name in (self._sent_name, getattr(self.job, "job_name", None))

    @property
    def closing(self) -> str:
        """The sentence below the static rendering."""
        return f"Submitted as {self.job.job_name}." if self.job is not None else ""

    def submit(self) -> Any:
        """Send the form's settings: see `Form.submit`."""
        if self.is_sending or not self._form.show_errors():
            return None
        if self._form.client is None:
            message = "The form is not connected to a service, so nothing was sent."
            self._form.frame.show_status(message, kind="bad")
            return None
        self._form.frame.show_sending("Sending…")
        self.is_sending = True
        self._sent_name = self._form.typed_job_name
        return start(self._send())

    def press(self) -> None:
        """Handle a press of the Submit button, after text typed just before has arrived.

        A front end delays a change while the kernel handles the previous one, but it does not delay a click.
        """
        if self.is_sending or self._is_settling:
            return
        is_recent = time.monotonic() - self._form.changed_at < _RECENT_S
        if is_recent and has_running_loop():
            self._is_settling = True
            start(self._settle())
        else:
            self._verdicts.guard(self._submit_shown)

    async def _settle(self) -> None:
        import asyncio

        clicked = time.monotonic()
        while (quiet_s := time.monotonic() - max(clicked, self._form.changed_at)) < _SETTLE_S:
            await asyncio.sleep(_SETTLE_S - quiet_s)
        self._is_settling = False
        self._verdicts.guard(self._submit_shown)

    def _submit_shown(self) -> None:
        if self._verdicts.is_as_shown():
            self.submit()

    def attach(self, values: Mapping[str, Any]) -> None:
        """Show the job that this cell submitted before, if its values are still those of the job."""
        if self._form.client is None or self._key is None:
            return
        ledger = self._form.client.ledger
        names = (ledger.cell_job(key) for key in self._key.names)
        name = next(filter(None, names), None)
        if name is None:
            return
        from foldnote.client.core.operations import AsyncApi

        if isinstance(self._form.client.jobs, AsyncApi):
            start(self._attach(name, dict(values)))
            return
        try:  # not in the background, so that the next cell finds the job when all cells are run
            job = self._form.client.jobs.get(name)
        except FoldnoteError as error:
            self._show_unreadable(error, name)
        else:
            self._verdicts.guard(lambda: self._show_attached(job, values))

    def load_uploads(self) -> None:
        """In a notebook, load the names of the account's files."""
        if self._form.client is not None and has_running_loop():
            start(self._load_uploads())

    async def _send(self) -> Any:
        sent = self._form.snapshot()
        try:
            job = await self._post(sent)
        except Exception as error:  # noqa: BLE001 - the edge of a task: every error is shown
            self._sent_name = ""
            self._verdicts.show_error(error, judged=sent)
            return None
        finally:
            self.is_sending = False
            self._form.frame.show_sending("")
        self._verdicts.guard(lambda: self._take(job))
        return job

    async def _post(self, sent: Snapshot) -> Any:
        from foldnote.forms.submission.uploading import upload_alignment, upload_files
        from foldnote.models import JobStatus

        form, job_name = self._form, sent.job_name or None
        settings = await upload_files(form, sent.settings)
        extensions = await upload_alignment(form, sent.extensions)
        form.frame.show_sending("Sending…")
        options: dict[str, Any] = {"job_name": job_name} | ({"extensions": extensions} if extensions else {})
        options |= {"label": form.label} if form.label else {}
        job = await call(form.client.jobs, "submit", form.wanted, settings, **options)
        if job.status is JobStatus.STOPPED:  # failed or stopped: submitting again means another run
            return await call(form.client.jobs, "submit", form.wanted, settings, **options, again=True)
        return job

    async def _load_uploads(self) -> None:
        try:
            page = await call(self._form.client.files, "list", limit=100)
        except FoldnoteError as error:
            _log.info("The account's files could not be listed: %s", error)
            return
        from foldnote.forms.files.contents import UploadedFile

        names = [UploadedFile.of(record.path, record.file_size) for record in page.files]
        self._form.offer_uploads(tuple(names))

    def _take(self, job: Any) -> None:
        """Keep ``job``, remember it for this cell, and call ``on_submit``."""
        self.job = job
        form = self._form
        if self._key is not None:
            for name in self._key.names:
                form.client.ledger.remember_cell(name, job.job_name)
        form.forget_extensions()
        form.frame.show_status(_describe_submission(job), kind="well")
        if form.on_submit is not None:
            form.on_submit(job)

    async def _attach(self, name: str, values: Mapping[str, Any]) -> None:
        try:
            job = await call(self._form.client.jobs, "get", name)
        except Exception as error:  # noqa: BLE001 - the edge of a task: every error is shown
            self._show_unreadable(error, name)
            return
        self._verdicts.guard(lambda: self._show_attached(job, values))

    def _show_unreadable(self, error: Exception, name: str) -> None:
        """Report that this cell's job could not be read; a deleted job is not reported."""
        if not isinstance(error, NotFoundError):
            self._verdicts.show_error(
                error, f"The job {name}, which this cell submitted, could not be loaded."
            )

    def _show_attached(self, job: Any, values: Mapping[str, Any]) -> None:
        from foldnote.forms.submission.reopening import show_job_settings

        form = self._form
        if not show_job_settings(form, job, values):
            return
        self.job = job
        form.frame.show_status(
            f"This cell submitted {job.job_name} before; that job is shown. Nothing was sent."
        )
        if form.on_attach is not None:
            form.on_attach(job)


def _describe_submission(job: Any) -> str:
    """Return a sentence that says whether the job is new, or was submitted before with the same settings."""
    if job.created is None:
        return f"Submitted as {job.job_name}."
    return f"These settings were submitted before as {job.job_name}, which is shown. Nothing was sent again."
