"""Submitting a form, once: what is said while it is under way, when it fails, and when the cell runs again.

A job that a cell submitted is remembered in the client's ledger; the same cell shows it again and submits
nothing.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from foldnote.client.core.operations import AsyncApi
from foldnote.client.inputs.file_values import LocalFile, name_uploads
from foldnote.errors import (
    FoldnoteError,
    JobNameTakenError,
    NotFoundError,
    ServiceError,
    SettingsError,
    TransportError,
    UnauthorizedError,
)
from foldnote.forms.fields.container import HolderField
from foldnote.forms.fields.field import Field, is_same
from foldnote.forms.fields.kinds.file import is_file
from foldnote.forms.fields.kinds.variant import VariantField
from foldnote.forms.files.contents import UploadedFile
from foldnote.forms.files.file_reference import local_path, settle
from foldnote.forms.jobs.background_calls import call, has_running_loop, start, upload_file
from foldnote.forms.submission.cell import CellKey
from foldnote.forms.submission.reopening import show_kept
from foldnote.models import JobStatus
from foldnote.settings import ENVIRONMENT

if TYPE_CHECKING:
    from foldnote.forms.form import Form

JOB_NAME = "jobName"
"""The name of the job-name box among the fields."""

_RECENT_S = 1.5
"""Seconds since the last change of a field within which another one may still be on its way."""
_SETTLE_S = 0.4
"""Seconds without a change after which what was typed has arrived, over a slow line too."""

_log = logging.getLogger("foldnote.forms")


class FormSubmission:
    """The one submission that a form may have under way, and the job that it led to."""

    def __init__(self, form: Form, key: CellKey | None) -> None:
        self._form = form
        self._key = key
        self.is_sending = False
        self._is_settling = False
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
        if self.is_sending or not self._form.show_errors():
            return None
        if self._form.client is None:
            self._form.frame.say("The form is not connected to a service, so nothing was sent.", kind="bad")
            return None
        self._say_sending("Sending…")
        self.is_sending = True
        return start(self._send())

    def press(self) -> None:
        """Submit as the button asks, once what was typed just before has arrived.

        A front end holds the newest text back while the kernel works on the one before; a click overtakes it.
        """
        if self.is_sending or self._is_settling:
            return
        is_recent = time.monotonic() - self._form.changed_at < _RECENT_S
        if is_recent and has_running_loop():
            self._is_settling = True
            start(self._settle())
        else:
            self.guard(self._submit_shown)

    async def _settle(self) -> None:
        clicked = time.monotonic()
        while (quiet_s := time.monotonic() - max(clicked, self._form.changed_at)) < _SETTLE_S:
            await asyncio.sleep(_SETTLE_S - quiet_s)
        self._is_settling = False
        self.guard(self._submit_shown)

    def _submit_shown(self) -> None:
        if self._form.checking.is_as_shown():
            self._form.submit()

    def guard(self, action: Callable[[], Any]) -> None:
        """Do what a click asks; what goes wrong is said in the form and logged, for ipywidgets drops it."""
        try:
            action()
        except Exception as error:  # noqa: BLE001 - the edge of a click: nothing may vanish
            self.tell_fault(error)

    def attach(self, given: Mapping[str, Any]) -> None:
        """Show the job that this cell submitted before, if the values in the cell are still that job's."""
        if self._form.client is None or self._key is None:
            return
        ledger = self._form.client.ledger
        found = (ledger.cell_job(key) for key in self._key.names)
        name = next(filter(None, found), None)
        if name is None:
            return
        if isinstance(self._form.client.jobs, AsyncApi):
            start(self._attach(name, dict(given)))
            return
        try:  # at once, so that the next cell finds the job here when all cells are run
            job = self._form.client.jobs.get(name)
        except FoldnoteError as error:
            self._tell_lost(error, name)
        else:
            self.guard(lambda: self._show_attached(job, given))

    def load_uploads(self) -> None:
        """Learn which files the account has, in a notebook and where a field can use them."""
        fields = self._form.section.fields
        has_files = any(is_file(inside.spec) for field in fields for inside in field.walk())
        self._form.bindings.listen(has_files)
        if self._form.client is not None and has_running_loop() and has_files:
            start(self._load_uploads())

    async def _send(self) -> Any:
        sent = self._form.snapshot()
        try:
            job = await self._post()
        except Exception as error:  # noqa: BLE001 - the edge of a task: nothing may vanish
            self.tell_fault(error, judged=sent)
            return None
        finally:
            self.is_sending = False
            self._say_sending("")
        self.guard(lambda: self._take(job))
        return job

    async def _post(self) -> Any:
        form = self._form
        wished = form.typed_job_name or None
        settings = await self.prepare()
        self._say_sending("Sending…")
        job = await call(form.client.jobs, "submit", form.tool, settings, job_name=wished)
        if job.status is JobStatus.STOPPED:  # failed or stopped: who submits it again wants another run
            return await call(form.client.jobs, "submit", form.tool, settings, job_name=wished, again=True)
        return job

    async def prepare(self, given: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The form's settings, or ``given`` ones, with the files of this computer uploaded."""
        form = self._form
        settings = dict(form.value if given is None else given)
        fields = form.fields
        for name, value in settings.items():
            if name in fields:
                settings[name] = await self._send_files(fields[name], value)
        return dict(name_uploads(form.tool, settings))  # the fields have said what each text means

    async def _load_uploads(self) -> None:
        try:
            page = await call(self._form.client.files, "list", limit=100)
        except FoldnoteError as error:
            _log.info("The account's files could not be listed: %s", error)
            return
        names = [UploadedFile.of(record.path, record.file_size) for record in page.files]
        self._form.offer_uploads(tuple(names))

    async def _send_files(self, field: Field, value: Any) -> Any:
        """The value with every file in it uploaded, however deep it lies."""
        if is_file(field.spec):
            return await self._upload(value)
        if not isinstance(field, HolderField):
            return value
        if isinstance(field, VariantField):
            return await self._send_files(field.inside()[0], value) if field.inside() else value
        parts = field.parts(value)
        if isinstance(value, dict):
            return {
                name: await self._send_files(parts[name], item) if name in parts else item
                for name, item in value.items()
            }
        if isinstance(value, list) and len(parts) == len(value):
            return [await self._send_files(parts[place], item) for place, item in enumerate(value)]
        return value

    async def _upload(self, value: Any) -> Any:
        if isinstance(value, list):
            return [await self._upload(item) for item in value]
        file = settle(value, self._form.known_uploads())
        if not isinstance(file, LocalFile):
            return file
        path = local_path(file)
        if path is None:
            raise FoldnoteError(f"There is no file {str(file)!r} on this computer, so nothing was sent.")
        return await upload_file(self._form.client, path, self._say_sending)

    def _take(self, job: Any) -> None:
        """Keep ``job``, remember it for this cell, and tell whoever asked."""
        self.job = job
        form = self._form
        if self._key is not None:
            for name in self._key.names:
                form.client.ledger.remember_cell(name, job.job_name)
        form.frame.say(_tell_outcome(job), kind="well")
        if form.on_submit is not None:
            form.on_submit(job)

    async def _attach(self, name: str, given: Mapping[str, Any]) -> None:
        try:
            job = await call(self._form.client.jobs, "get", name)
        except Exception as error:  # noqa: BLE001 - the edge of a task: nothing may vanish
            self._tell_lost(error, name)
            return
        self.guard(lambda: self._show_attached(job, given))

    def _tell_lost(self, error: Exception, name: str) -> None:
        """Say that this cell's job could not be read; one that was deleted is no news."""
        if not isinstance(error, NotFoundError):
            self.tell_fault(error, f"The job {name}, which this cell submitted, could not be read.")

    def _show_attached(self, job: Any, given: Mapping[str, Any]) -> None:
        form = self._form
        if not show_kept(form, job, given):
            return
        self.job = job
        form.frame.say(f"This cell submitted {job.job_name}; here it is again. Nothing was sent.")
        if form.on_attach is not None:
            form.on_attach(job)

    def _say_sending(self, words: str) -> None:
        self._form.frame.show_sending(words)

    def tell_fault(self, error: Exception, lead: str = "", judged: Any = None) -> None:
        """Say what went wrong, at the field that it names where it names one.

        ``judged`` are the settings that were sent; a verdict on others than the form's stands at no field.
        """
        form = self._form
        is_late = judged is not None and not is_same(judged, form.snapshot())
        verdicts = [] if is_late else _read_verdicts(error)
        at_fields = [form.show_verdict(name, said) for name, said in verdicts]
        if not isinstance(error, FoldnoteError):
            _log.error("A form for %s failed", form.tool.type, exc_info=error)
        said = "The service refused this; the field is marked." if any(at_fields) else _tell(error)
        advice = _advise(error, getattr(getattr(form.client, "profile", None), "name", ""))
        text = " ".join(part for part in (lead, said) if part)
        if any(at_fields):
            form.checking.say_verdict(text, "bad", more=advice)
        else:
            form.frame.say(text, kind="bad", more=advice)


def _read_verdicts(error: Exception) -> list[tuple[str, str]]:
    """The fields that a refusal names, each with its sentence."""
    if isinstance(error, SettingsError):
        return [(problem.field, problem.message) for problem in error.problems]
    if isinstance(error, JobNameTakenError):
        return [(JOB_NAME, error.message)]
    if isinstance(error, ServiceError) and error.field:
        return [(error.field, error.message)]
    return []


def _tell_outcome(job: Any) -> str:
    """Whether a job is new, or one that these settings became before."""
    if job.created is None:
        return f"Submitted as {job.job_name}."
    return f"These settings are the job {job.job_name} already; here it is. Nothing was sent twice."


def _tell(error: Exception) -> str:
    if isinstance(error, FoldnoteError):
        return error.message
    return f"foldnote itself failed, and that is a fault of ours: {type(error).__name__}: {error}"


def _advise(error: Exception, profile: str) -> str:
    """What to do next, where the exception's kind says it."""
    if isinstance(error, UnauthorizedError):
        if profile == ENVIRONMENT:
            return "Set `FOLDNOTE_API_KEY` to a valid key, restart the kernel, then submit again."
        return "Store a valid key with `foldnote profile key NAME`, then submit again."
    if isinstance(error, TransportError):
        return "Nothing is lost: submit again when the service answers; a job that arrived is not sent twice."
    if isinstance(error, FoldnoteError):
        return ""
    return "The log of the kernel has the details."
