"""Messages below a form's buttons: verdicts, which are removed when the settings change, and errors."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from foldnote.settings import Profile

JOB_NAME = "jobName"
"""The name of the job-name box among the fields."""
REJECTED_FIELD = "The service rejected a setting; see the marked field."
MISSING_FILE = "file_not_uploaded"
"""The service's code for a value that names no file."""

_log = logging.getLogger("foldnote.forms")


class Verdicts:
    """The verdicts and errors that one form shows."""

    def __init__(self, form: FilledForm) -> None:
        self._form = form
        self._validated: Snapshot | None = None
        """The settings that the shown verdict is about; None without a verdict."""
        self._shown: Snapshot | None = None
        """The settings that the fields last showed."""

    def show_status(self, text: str, kind: str, judged: Snapshot | None = None, detail: str = "") -> None:
        """Show a verdict on the settings ``judged`` (by default the current ones) until they change."""
        self._form.frame.show_status(text, kind=kind, detail=detail)
        self._validated = judged or self._form.snapshot()

    def drop_stale(self, current: Snapshot, *, is_readable: bool = True) -> None:
        """Record the settings that the form shows, and remove a verdict on other settings.

        Args:
            current: the settings.
            is_readable: whether all fields can be read; otherwise typed text is missing from the settings.
        """
        self._shown = current
        if self._validated is not None and not (is_readable and is_same(current, self._validated)):
            self._validated = None
            self._form.frame.show_status("")

    def look_at_files(self) -> None:
        """Refresh the form if a local file appeared, disappeared or changed."""
        if self._shown is not None and self._shown.restamped() != self._shown:
            self._form.refresh()

    def is_as_shown(self) -> bool:
        """Return whether the settings are those shown; if not, refresh the form and show a message.

        A text shown as the name of an upload may have become the path of a local file.
        """
        shown, form = self._shown, self._form
        if shown is None or is_same(shown.settings, form.value):
            return True
        form.refresh()
        form.frame.show_status(
            "A local file now has the name of an upload, so nothing was sent. Check the field, then press the"
            " button again.",
            kind="bad",
        )
        return False

    def guard(self, action: Callable[[], Any]) -> None:
        """Run the action of a click; errors, which ipywidgets would drop, are shown and logged."""
        try:
            action()
        except Exception as error:  # noqa: BLE001 - the edge of a click: every error is shown
            self.show_error(error)

    def show_error(self, error: Exception, lead: str = "", judged: Any = None) -> None:
        """Show an error, at the field that it names, if any.

        Args:
            error: the exception.
            lead: a sentence before the message.
            judged: the settings that were sent; if they differ from the form's, no field is marked.
        """
        form = self._form
        is_late = judged is not None and not is_same(judged, form.snapshot())
        verdicts = [] if is_late else _read_verdicts(error)
        at_fields = [form.show_verdict(name, message) for name, message in verdicts]
        if not isinstance(error, FoldnoteError):
            _log.error("A form for %s failed", form.described.type, exc_info=error)
        message = REJECTED_FIELD if any(at_fields) else _describe(error)
        advice = _advise(error, getattr(form.client, "profile", None))
        text = " ".join(part for part in (lead, message) if part)
        if any(at_fields):
            self.show_status(text, "bad", detail=advice)
        else:
            form.frame.show_status(text, kind="bad", detail=advice)


def _read_verdicts(error: Exception) -> list[tuple[str, str]]:
    """Return the fields that an error names, with their messages."""
    if isinstance(error, SettingsError):
        return [(problem.field, problem.message) for problem in error.problems]
    if isinstance(error, JobNameTakenError):
        return [(JOB_NAME, error.message)]
    if isinstance(error, ServiceError) and error.field:
        return [(error.field, _describe_service_error(error))]
    return []


def _describe_service_error(error: ServiceError) -> str:
    """Return the service's message; if a file is missing, add how the form accepts one."""
    if error.code != MISSING_FILE:
        return error.message
    reason = error.message.partition(" Upload ")[0]
    return f"{reason} Choose the file, paste its contents, or write <JobName>/<path> for a file of a job."


def _describe(error: Exception) -> str:
    if isinstance(error, FoldnoteError):
        return error.message
    return f"Internal error in foldnote, please report it: {type(error).__name__}: {error}"


def _advise(error: Exception, profile: Profile | None) -> str:
    """Return what to do next; empty if the message says enough."""
    if isinstance(error, UnauthorizedError):
        if profile is not None and profile.is_of_hub:
            return ""  # the message already says what to do
        from foldnote.settings import ENVIRONMENT

        if profile is not None and profile.name == ENVIRONMENT:
            return "Set `FOLDNOTE_API_KEY` to a valid key, restart the kernel and submit again."
        return "Store a valid key with `foldnote profile key NAME` and submit again."
    if isinstance(error, TransportError):
        return "Submit again when the service answers; a job that it already has is not submitted twice."
    if isinstance(error, FoldnoteError):
        return ""
    return "See the kernel's log for details."
