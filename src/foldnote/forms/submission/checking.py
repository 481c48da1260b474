"""What a form asks of the service without submitting: its verdict, whether a name is free, what a job takes.

Everything here is free of charge and changes nothing but that files are uploaded before a verdict, because a
service judges files that it has.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING, Any

from foldnote import catalog
from foldnote.client.submission.preview import Experience, learn
from foldnote.errors import FoldnoteError, NotFoundError
from foldnote.forms.fields.field import is_same
from foldnote.forms.fields.snapshot import Snapshot
from foldnote.forms.jobs.background_calls import call, has_running_loop, start
from foldnote.forms.jobs.job_name import identify_settings
from foldnote.text import count, format_duration

if TYPE_CHECKING:
    from foldnote.forms.form import Form

_SETTLE_S = 0.5
"""Seconds without a change after which a typed name is looked up."""
_JOBS_LOOKED_AT = 200

_log = logging.getLogger("foldnote.forms")


class Checking:
    """The questions of one form."""

    def __init__(self, form: Form) -> None:
        self._form = form
        self._asked_at = 0.0
        self.is_validating = False
        self._judged: Snapshot | None = None
        """The settings that the verdict below the buttons is on; None while none stands there."""
        self._shown: Snapshot | None = None
        """The settings as the fields last showed them."""

    def press(self) -> None:
        """Validate as the button asks."""
        if self.is_as_shown():
            self.validate()

    def validate(self) -> Any:
        """Have the service judge the settings: its verdict stands at the field that it names."""
        form = self._form
        if self.is_validating or form.submission.is_sending or not form.show_errors():
            return None
        if form.client is None:
            form.frame.say(
                "No problem was found here. The form is not connected to a service that could judge."
            )
            return None
        self.is_validating = True
        return start(self._validate())

    def say_verdict(self, text: str, kind: str, judged: Snapshot | None = None, more: str = "") -> None:
        """Show a verdict on the settings as they were ``judged``; it goes as soon as they change."""
        self._form.frame.say(text, kind=kind, more=more)
        self._judged = judged or self._form.snapshot()

    def drop_stale(self, now: Snapshot) -> None:
        """Take note of what the form shows, and take a verdict away that was on other settings."""
        self._shown = now
        if self._judged is not None and not is_same(now, self._judged):
            self._judged = None
            self._form.frame.say("")

    def look_at_files(self) -> None:
        """Show the files of this computer anew where one came, went or changed."""
        if self._shown is not None and self._shown.restamped() != self._shown:
            self._form.refresh()

    def is_as_shown(self) -> bool:
        """Whether the form still means what it shows; if not, it is shown and said.

        A text that was taken for an upload may have become the path of a file of this computer since.
        """
        shown, form = self._shown, self._form
        if shown is None or is_same(shown.settings, form.value):
            return True
        form.refresh()
        form.frame.say(
            "A file came to this computer under a name that was shown as an upload, so nothing was sent. Look"
            " at the field, then press the button again.",
            kind="bad",
        )
        return False

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
            settings = await form.submission.prepare()
            verdict = await call(
                form.client.jobs, "validate", form.tool.type, settings, job_name=form.job_name
            )
        except Exception as error:  # noqa: BLE001 - the edge of a task: nothing may vanish
            form.submission.tell_fault(error, judged=judged)
            return
        finally:
            self.is_validating = False
            form.frame.show_sending("")
        if not is_same(judged, form.snapshot()):
            form.frame.say("The settings changed while the service judged them. Press Validate again.")
            return
        if verdict.valid:
            said = "The service finds nothing wrong with these settings. Nothing was submitted."
            self.say_verdict(said, "well")
            return
        said = verdict.error or "The service refuses these settings and does not say why."
        is_shown = form.show_verdict(verdict.field, said)
        self.say_verdict("The service found this wrong; the field is marked." if is_shown else said, "bad")

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
            form.submission.name_error = f"There is a job {name} already. Choose another name."
            form.refresh()

    def _is_own_job(self, job: Any) -> bool:
        """Whether ``job`` is what these settings became before."""
        form = self._form
        if form.submission.job is not None and form.submission.job.job_name == job.job_name:
            return True
        normalized = catalog.check(form.tool, form.value).normalized
        return bool(form.client.ledger.find(identify_settings(form, normalized)) == job.job_name)

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
