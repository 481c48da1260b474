"""Requests to the service before submission: validate settings, look up a job name, estimate the cost.

They are free of charge. Validation first uploads local files, because the service can only check files that
it has.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any

from foldnote import catalog
from foldnote.client.local.identity import identify_content
from foldnote.errors import FoldnoteError, NotFoundError
from foldnote.forms.fields.field import is_same
from foldnote.forms.jobs.background_calls import call, has_running_loop, start
from foldnote.forms.jobs.job_name import identify_settings
from foldnote.forms.submission.filled_form import FilledForm, uses_embedded_service
from foldnote.forms.submission.submission import FormSubmission
from foldnote.forms.submission.verdicts import REJECTED_FIELD, Verdicts
from foldnote.text import about_duration, count, format_size, format_weighted_hours

if TYPE_CHECKING:
    from foldnote.client.submission.experience import Experience

_SETTLE_S = 0.5
"""Seconds without a change after which a typed name is looked up."""
_JOBS_READ = 200

_log = logging.getLogger("foldnote.forms")


class Checking:
    """The checks of one form at its service."""

    def __init__(self, form: FilledForm, submission: FormSubmission, verdicts: Verdicts) -> None:
        self._form = form
        self._submission = submission
        self._verdicts = verdicts
        self._lookup_started = 0.0
        self.is_validating = False

    def press(self) -> None:
        """Handle a press of the Validate button."""
        if self._verdicts.is_as_shown():
            self.validate()

    def validate(self) -> Any:
        """Validate the settings at the service, and show an error at the field that it names."""
        form = self._form
        if self.is_validating or self._submission.is_sending or not form.show_errors():
            return None
        if form.client is None:
            self._verdicts.show_status(
                "No problems found. The form is not connected to a service that could validate the settings.",
                "",
            )
            return None
        self.is_validating = True
        return start(self._validate())

    def look_up_name(self) -> None:
        """Check, once typing has ended, whether another job has the typed name."""
        form = self._form
        self._lookup_started = time.monotonic()
        if form.client is not None and has_running_loop() and form.typed_job_name:
            start(self._look_up(form.typed_job_name, self._lookup_started))

    def learn_cost(self) -> None:
        """Show the cost of a submission, with the run time if it is known from earlier jobs."""
        form = self._form
        if form.client is None or (uses_embedded_service(form) and not form.described.available):
            return
        form.frame.show_cost(describe_cost(is_own=uses_embedded_service(form)))
        if has_running_loop():
            start(self._load_experience())

    def learn_again(self) -> None:
        """Update the cost after a job of the tool has ended."""
        if self._form.client is not None and has_running_loop():
            start(self._load_experience())

    async def _validate(self) -> None:
        from foldnote.forms.submission.uploading import upload_alignment, upload_files

        form = self._form
        judged = form.snapshot()
        try:
            settings = await upload_files(form, judged.settings)
            extensions = await upload_alignment(form, judged.extensions)
            options: dict[str, Any] = {"extensions": extensions} if extensions else {}
            verdict = await call(
                form.client.jobs, "validate", form.described.type, settings, job_name=form.job_name, **options
            )
        except Exception as error:  # noqa: BLE001 - the edge of a task: every error is shown
            self._verdicts.show_error(error, judged=judged)
            return
        finally:
            self.is_validating = False
            form.frame.show_sending("")
        if not is_same(judged, form.snapshot()):
            form.frame.show_status("The settings changed during validation. Press Validate again.")
            return
        if verdict.valid:
            self._verdicts.show_status("The service accepts these settings. Nothing was submitted.", "well")
            return
        reason = verdict.error or "The service rejected these settings without giving a reason."
        is_shown = form.show_verdict(verdict.field, verdict.reason or reason)
        self._verdicts.show_status(REJECTED_FIELD if is_shown else reason, "bad")

    async def _look_up(self, name: str, started: float) -> None:
        import asyncio

        form = self._form
        await asyncio.sleep(_SETTLE_S)
        if started != self._lookup_started or form.typed_job_name != name:
            return
        try:
            job = await call(form.client.jobs, "get", name)
        except NotFoundError:
            return
        except FoldnoteError as error:
            _log.info("The job name %s could not be looked up: %s", name, error)
            return
        if form.typed_job_name == name and not self._is_own_job(job):
            form.name_error = f"There is already a job {name}. Choose another name."
            form.refresh()

    def _is_own_job(self, job: Any) -> bool:
        """Return whether ``job`` was submitted with these settings."""
        form = self._form
        if self._submission.has_sent(job.job_name):
            return True
        normalized = identify_content(catalog.check(form.described, form.value).normalized, form.extensions)
        return bool(
            form.client.ledger.find(identify_settings(form.described.type, normalized, form.client))
            == job.job_name
        )

    async def _load_experience(self) -> None:
        from foldnote.client.submission.experience import summarize_runs

        form = self._form
        try:
            listed = await call(form.client.jobs, "list", limit=_JOBS_READ, include_subjobs=True)
        except FoldnoteError as error:
            _log.info("Earlier jobs could not be listed: %s", error)
            return
        jobs_left = None if uses_embedded_service(form) else await self._count_jobs_left()
        experience = summarize_runs(listed.page.jobs, form.described.type)
        form.frame.show_cost(describe_cost(experience, jobs_left, is_own=uses_embedded_service(form)))

    async def _count_jobs_left(self) -> int | None:
        """Return the number of jobs that the account may still submit; None if unlimited or unknown."""
        try:
            account = await call(self._form.client.account, "get")
        except FoldnoteError as error:
            _log.info("The account could not be read: %s", error)
            return None
        return int(account.jobs_left) if account.jobs_left is not None else None


def describe_cost(
    experience: Experience | None = None, jobs_left: int | None = None, *, is_own: bool = False
) -> str:
    """Describe the cost of a submission; for the embedded service (``is_own``), only the run time."""
    if is_own:
        return f"The job runs on this computer, without a limit on jobs{_describe_time(experience)}."
    if jobs_left == 0:
        return "No jobs are left of your allowance: the service accepts no new jobs."
    hours = experience.weighted_hours if experience is not None else None
    weighted = f" and {format_weighted_hours(hours)}" if hours else ""
    allowance = "your allowance" if jobs_left is None else f"your remaining {count(jobs_left, 'job')}"
    return f"Submitting uses 1 job of {allowance}{_describe_time(experience, weighted)}."


def _describe_time(experience: Experience | None, weighted: str = "") -> str:
    """Describe the run time of earlier jobs, and the other resources that they used."""
    if experience is None or experience.duration_s is None:
        return "; the run time is not known yet"
    based = f"median of {experience.count} earlier jobs" if experience.count > 1 else "as the previous job"
    peak = experience.peak_memory_mb
    memory = "" if peak is None else f", with up to {format_size(peak * 2**20)} of memory"
    return f", {about_duration(experience.duration_s)}{weighted} ({based}){memory}"
