"""The part of a form that submitting it, validating it at the service and its batch rely on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from foldnote.forms.fields.field import Field
from foldnote.forms.fields.section import Section
from foldnote.forms.fields.snapshot import Snapshot
from foldnote.models.tool import Tool


class StatusLine(Protocol):
    """Where a form shows what is going on."""

    def say(self, text: str, *, kind: str = "", more: str = "") -> None:
        """Show a sentence below the buttons; ``kind`` is ``bad``, ``well`` or nothing."""

    def show_sending(self, words: str) -> None:
        """Show on the button that something is under way; an empty text ends it."""

    def show_cost(self, words: str) -> None:
        """Show what a submission takes."""


class FilledForm(Protocol):
    """The settings in a form, and where its faults are shown."""

    name_error: str | None
    """What the service said of the job's name."""

    @property
    def tool(self) -> Tool:
        """The tool that the settings are for."""

    @property
    def client(self) -> Any:
        """The client of the service; None without one."""

    @property
    def frame(self) -> StatusLine:
        """Where the form shows what is going on."""

    @property
    def section(self) -> Section:
        """All fields, those that do not apply included."""

    @property
    def fields(self) -> dict[str, Field]:
        """The fields by name."""

    @property
    def value(self) -> dict[str, Any]:
        """The settings as they would be sent."""

    @property
    def job_name(self) -> str:
        """The name that was typed, else the proposed one."""

    @property
    def typed_job_name(self) -> str:
        """The name that was typed; empty while the proposed one stands."""

    def set(self, values: Mapping[str, Any], /) -> None:
        """Put values into fields."""

    def known_uploads(self) -> tuple[str, ...]:
        """Names of the account's uploads, as far as they were loaded."""

    def snapshot(self) -> Snapshot:
        """What would be sent now."""

    def refresh(self) -> object:
        """Read, judge and show all fields anew."""

    def show_errors(self) -> bool:
        """Show every problem; True where there is none."""

    def show_verdict(self, name: str | None, message: str) -> bool:
        """Show the service's verdict at a field; False where the form has no such field."""
