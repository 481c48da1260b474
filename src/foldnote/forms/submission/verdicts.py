"""What a form says of its settings below the buttons: a verdict while they stay as they were, and faults."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from foldnote.errors import (
    FoldnoteError,
    JobNameTakenError,
    ServiceError,
    SettingsError,
    TransportError,
    UnauthorizedError,
)
from foldnote.forms.fields.field import is_same
from foldnote.forms.fields.snapshot import Snapshot
from foldnote.forms.submission.filled_form import FilledForm
from foldnote.settings import ENVIRONMENT

JOB_NAME = "jobName"
"""The name of the job-name box among the fields."""

_log = logging.getLogger("foldnote.forms")


class Verdicts:
    """The verdict and the faults that one form shows."""

    def __init__(self, form: FilledForm) -> None:
        self._form = form
        self._judged: Snapshot | None = None
        """The settings that the verdict below the buttons is on; None while none stands there."""
        self._shown: Snapshot | None = None
        """The settings as the fields last showed them."""

    def say(self, text: str, kind: str, judged: Snapshot | None = None, more: str = "") -> None:
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

    def guard(self, action: Callable[[], Any]) -> None:
        """Do what a click asks; what goes wrong is said in the form and logged, for ipywidgets drops it."""
        try:
            action()
        except Exception as error:  # noqa: BLE001 - the edge of a click: nothing may vanish
            self.tell_fault(error)

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
            self.say(text, "bad", more=advice)
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


def _tell(error: Exception) -> str:
    if isinstance(error, FoldnoteError):
        return error.message
    return f"Internal error in foldnote, please report it: {type(error).__name__}: {error}"


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
