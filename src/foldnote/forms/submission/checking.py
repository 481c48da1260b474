"""What a form asks of the service without submitting: its verdict, whether a name is free, what a job takes.

Everything here is free of charge and changes nothing but that files are uploaded before a verdict, because a
service judges files that it has.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Any

from foldnote import catalog
from foldnote.client.submission.preview import Experience, learn
from foldnote.errors import FoldnoteError, NotFoundError
from foldnote.forms.fields.field import is_same
from foldnote.forms.jobs.background_calls import call, has_running_loop, start
from foldnote.forms.jobs.job_name import identify_settings
from foldnote.forms.submission.filled_form import FilledForm
from foldnote.forms.submission.submission import FormSubmission
from foldnote.forms.submission.uploading import upload_files
from foldnote.forms.submission.verdicts import Verdicts
from foldnote.text import count, format_duration

_SETTLE_S = 0.5
"""Seconds without a change after which a typed name is looked up."""
_JOBS_LOOKED_AT = 200

_log = logging.getLogger("foldnote.forms")


class Checking:
    """The questions of one form."""

    def __init__(self, form: FilledForm, submission: FormSubmission, verdicts: Verdicts) -> None:
        self._form = form
        self._submission = submission
        self._verdicts = verdicts
        self._asked_at = 0.0
        self.is_validating = False

    def press(self) -> None:
        """Validate as the button asks."""
        if self._verdicts.is_as_shown():
            self.validate()

    def validate(self) -> Any:
        """Have the service judge the settings: its verdict stands at the field that it names."""
        form = self._form
        if self.is_validating or self._submission.is_sending or not form.show_errors():
            return None
        if form.client is None:
            form.frame.say(
                "No problem was found here. The form is not connected to a service that could judge."
            )
            return None
        self.is_validating = True
        return start(self._validate())

    def look_up_name(self) -> None:
        """Say at the job's name if another job has it, once typing has ended."""
        form = self._form
        self._asked_at = time.monotonic()
        if form.client is not None and has_running_loop() and form.typed_job_name:
            start(self._look_up(form.typed_job_name, self._asked_at))

    def learn_cost(self) -> None:
        """Say before submission what it takes; how long, where earlier jobs tell."""
        form = self._form
        if form.client is None or (self._is_own and not form.tool.available):
            return
        form.frame.show_cost(tell_cost(Experience(), is_own=self._is_own))
        if has_running_loop():
            start(self._learn())

    def learn_again(self) -> None:
        """Say it anew, because a job of the tool has ended."""
        if self._form.client is not None and has_running_loop():
            start(self._learn())

    async def _validate(self) -> None:
        form = self._form
        judged = form.snapshot()
        try:
            settings = await upload_files(form, judged.settings)
            verdict = await call(
                form.client.jobs, "validate", form.tool.type, settings, job_name=form.job_name
            )
        except Exception as error:  # noqa: BLE001 - the edge of a task: nothing may vanish
            self._verdicts.tell_fault(error, judged=judged)
            return
        finally:
            self.is_validating = False
            form.frame.show_sending("")
        if not is_same(judged, form.snapshot()):
            form.frame.say("The settings changed while the service judged them. Press Validate again.")
            return
        if verdict.valid:
            said = "The service accepts these settings. Nothing was submitted."
            self._verdicts.say(said, "well")
            return
        said = verdict.error or "The service refuses these settings and does not say why."
        is_shown = form.show_verdict(verdict.field, said)
        self._verdicts.say("The service refuses a setting; the field is marked." if is_shown else said, "bad")

    async def _look_up(self, name: str, asked_at: float) -> None:
        form = self._form
        await asyncio.sleep(_SETTLE_S)
        if asked_at != self._asked_at or form.typed_job_name != name:
            return
        try:
            job = await call(form.client.jobs, "get", name)
        except NotFoundError:
            return
        except FoldnoteError as error:
            _log.info("Whether the name %s is free could not be asked: %s", name, error)
            return
        if form.typed_job_name == name and not self._is_own_job(job):
            form.name_error = f"There is a job {name} already. Choose another name."
            form.refresh()

    def _is_own_job(self, job: Any) -> bool:
        """Whether ``job`` is what these settings became before."""
        form = self._form
        if self._submission.job is not None and self._submission.job.job_name == job.job_name:
            return True
        normalized = catalog.check(form.tool, form.value).normalized
        return bool(
            form.client.ledger.find(identify_settings(form.tool.type, normalized, form.client))
            == job.job_name
        )

    async def _learn(self) -> None:
        form = self._form
        try:
            found = await call(form.client.jobs, "list", limit=_JOBS_LOOKED_AT, include_subjobs=True)
        except FoldnoteError as error:
            _log.info("Earlier jobs could not be looked at: %s", error)
            return
        left = None if self._is_own else await self._count_left()
        experience = learn(found.page.jobs, form.tool.type)
        form.frame.show_cost(tell_cost(experience, left, is_own=self._is_own))

    @property
    def _is_own(self) -> bool:
        """Whether the service is this computer's, which counts nothing against anybody."""
        profile = getattr(self._form.client, "profile", None)
        return bool(getattr(profile, "is_embedded", False))

    async def _count_left(self) -> int | None:
        """Jobs that the account may still submit; None where the service sets no limit or does not tell."""
        try:
            account = await call(self._form.client.account, "get")
        except FoldnoteError as error:
            _log.info("The account could not be looked at: %s", error)
            return None
        return int(account.jobs_left) if account.jobs_left is not None else None


def tell_cost(experience: Experience, jobs_left: int | None = None, *, is_own: bool = False) -> str:
    """What a submission takes, in words; ``is_own`` for this computer's service, where it is time alone."""
    if is_own:
        return f"The job runs on this computer, which sets no limit to jobs{_tell_time(experience)}."
    allowance = "your allowance" if jobs_left is None else f"the {count(jobs_left, 'job')} that you have left"
    taken = f"Submitting takes 1 job of {allowance}"
    hours = experience.weighted_hours
    more = f" and {hours:.3g} weighted hours" if hours else ""
    return f"{taken}{_tell_time(experience, more)}."


def _tell_time(experience: Experience, more: str = "") -> str:
    """How long earlier jobs took, and what else they did."""
    if experience.duration_s is None:
        return "; how long it takes is not known yet"
    based = f"median of {experience.count} earlier" if experience.count > 1 else "as the one before"
    return f", about {format_duration(experience.duration_s)}{more} ({based})"
