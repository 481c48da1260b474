"""Submitting a form, once: what is said while it is under way, when it fails, and when the cell runs again.

A job that a cell submitted is remembered in the client's ledger; the same cell shows it again and submits
nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from foldnote import catalog
from foldnote.errors import (
    FoldnoteError,
    JobNameTakenError,
    NotFoundError,
    ServiceError,
    SettingsError,
    TransportError,
    UnauthorizedError,
)
from foldnote.forms.file_reference import local_path
from foldnote.forms.kinds.file import is_file
from foldnote.forms.sending import call, start, upload_file

if TYPE_CHECKING:
    from foldnote.forms.form import Form

_log = logging.getLogger("foldnote.forms")


class Submission:
    """The one submission that a form may have under way, and the job that it led to."""

    def __init__(self, form: Form, key: str | None) -> None:
        self._form = form
        self._key = key
        self.is_sending = False
        self.job: Any = None
        """Handle of the last job of this form; None before there is one."""
        self.name_error: str | None = None
        """What the service said of the job's name."""

    @property
    def closing(self) -> str:
        """The sentence below the static rendering."""
        return f"Submitted as {self.job.job_name}." if self.job is not None else ""

    def submit(self) -> Any:
        """Send the form's settings: see `Form.submit`."""
        if self.is_sending or not self._form.insist():
            return None
        if self._form.client is None:
            self._form.frame.say("The form is not connected to a service, so nothing was sent.", kind="bad")
            return None
        self._say_sending("Sending…")
        self.is_sending = True
        return start(self._send())

    def guard(self, action: Callable[[], Any]) -> None:
        """Do what a click asks; what goes wrong is said in the form and logged, for ipywidgets drops it."""
        try:
            action()
        except Exception as error:  # noqa: BLE001 - the edge of a click: nothing may vanish
            self._tell_fault(error)

    def attach(self, given: Mapping[str, Any]) -> None:
        """Show the job that this cell submitted before, if the values in the cell are still that job's."""
        if self._form.client is None or self._key is None:
            return
        name = self._form.client.ledger.cell_job(self._key)
        if name is not None:
            start(self._attach(name, dict(given)))

    async def _send(self) -> Any:
        try:
            job = await self._post()
        except Exception as error:  # noqa: BLE001 - the edge of a task: nothing may vanish
            self._tell_fault(error)
            return None
        finally:
            self.is_sending = False
            self._say_sending("")
        self.guard(lambda: self._take(job))
        return job

    async def _post(self) -> Any:
        form = self._form
        settings = form.value
        for name, value in settings.items():
            if is_file(form.fields[name].spec):
                settings[name] = await self._upload(value)
        self._say_sending("Sending…")
        name = form.job_name
        return await call(form.client.jobs.submit, form.tool.type, settings, job_name=name)

    async def _upload(self, value: Any) -> Any:
        if isinstance(value, list):
            return [await self._upload(item) for item in value]
        path = local_path(value) if isinstance(value, str) else None
        is_known = value in self._form.known_uploads()
        if path is None or is_known:
            return value
        return await upload_file(self._form.client, path, self._say_sending)

    def _take(self, job: Any) -> None:
        """Keep ``job``, remember it for this cell, and tell whoever asked."""
        self.job = job
        form = self._form
        if self._key is not None:
            form.client.ledger.remember_cell(self._key, job.job_name)
        form.frame.say(f"Submitted as {job.job_name}.", kind="well")
        if form.on_submit is not None:
            form.on_submit(job)

    async def _attach(self, name: str, given: Mapping[str, Any]) -> None:
        try:
            job = await call(self._form.client.jobs.get, name)
        except NotFoundError:
            return
        except Exception as error:  # noqa: BLE001 - the edge of a task: nothing may vanish
            self._tell_fault(error, f"The job {name}, which this cell submitted, could not be read.")
            return
        self.guard(lambda: self._show_attached(job, given))

    def _show_attached(self, job: Any, given: Mapping[str, Any]) -> None:
        form = self._form
        settings = {key: value for key, value in job.settings.items() if key in form.fields}
        kept = catalog.check(form.tool, settings).normalized
        wanted = catalog.check(form.tool, {**settings, **given}).normalized
        if job.type != form.tool.type or kept != wanted:
            return
        form.set(settings)
        self.job = job
        form.frame.say(f"This cell submitted {job.job_name}; here it is again. Nothing was sent.")
        if form.on_attach is not None:
            form.on_attach(job)

    def _say_sending(self, words: str) -> None:
        self._form.frame.show_sending(words)

    def _tell_fault(self, error: Exception, lead: str = "") -> None:
        """Say what went wrong, at the field that it names where it names one."""
        form = self._form
        if isinstance(error, SettingsError):
            for problem in error.problems:
                form.show_verdict(problem.field, problem.message)
        if isinstance(error, JobNameTakenError):
            self.name_error = error.message
            form.refresh()
            form.go_to("")
        field = error.field if isinstance(error, ServiceError) else None
        is_at_field = form.show_verdict(field, str(error)) if field else False
        if not isinstance(error, FoldnoteError):
            _log.error("A form for %s failed", form.tool.type, exc_info=error)
        said = "The service found a setting wrong; it is marked." if is_at_field else _tell(error)
        form.frame.say(" ".join(part for part in (lead, said) if part), kind="bad", more=_advise(error))


def _tell(error: Exception) -> str:
    if isinstance(error, FoldnoteError):
        return error.message
    return f"foldnote itself failed, and that is a fault of ours: {type(error).__name__}: {error}"


def _advise(error: Exception) -> str:
    """What to do next, where the exception's kind says it."""
    if isinstance(error, UnauthorizedError):
        return "Store a valid key with `foldnote login`, then submit again."
    if isinstance(error, TransportError):
        return "Nothing is lost: submit again when the service answers; a job that arrived is not sent twice."
    if isinstance(error, FoldnoteError):
        return ""
    return "The log of the kernel has the details."
