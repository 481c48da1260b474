"""Protocols of a form on which submission, validation at the service and the batch table rely."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from foldnote.forms.fields.field import Field
from foldnote.forms.fields.section import Section
from foldnote.forms.fields.snapshot import Snapshot

if TYPE_CHECKING:
    from foldnote.catalog.described_tool import DescribedTool
    from foldnote.models.tool import Tool


def uses_embedded_service(form: FilledForm) -> bool:
    """Return whether the form's service is the embedded one, which has no costs and no allowance."""
    profile = getattr(form.client, "profile", None)
    return bool(getattr(profile, "is_embedded", False))


class StatusLine(Protocol):
    """The status messages of a form."""

    def show_status(self, text: str, *, kind: str = "", detail: str = "") -> None:
        """Show a message below the buttons; ``kind`` is ``bad``, ``well`` or empty."""

    def show_sending(self, words: str) -> None:
        """Show on the button what is in progress; an empty text ends it."""

    def show_cost(self, words: str) -> None:
        """Show what a submission will cost."""


class FilledForm(Protocol):
    """The settings of a form, and the places where it shows problems."""

    name_error: str | None
    """The service's error on the job's name; None without one."""

    @property
    def described(self) -> DescribedTool:
        """The tool to which the settings belong, as far as it is known."""

    @property
    def wanted(self) -> Tool | str:
        """The service's record of the tool; the tool's type until the service has described it."""

    @property
    def client(self) -> Any:
        """The client of the service; None without one."""

    @property
    def frame(self) -> StatusLine:
        """The form's status messages."""

    @property
    def section(self) -> Section:
        """All fields, including those that do not apply."""

    @property
    def fields(self) -> dict[str, Field]:
        """The fields by name."""

    @property
    def value(self) -> dict[str, Any]:
        """The settings as they would be sent."""

    @property
    def extensions(self) -> dict[str, Any]:
        """Extensions beside the settings; empty for none."""

    @property
    def job_name(self) -> str:
        """The typed name, else the proposed one."""

    @property
    def typed_job_name(self) -> str:
        """The typed name; empty while the proposed one is used."""

    @property
    def label(self) -> str:
        """The job's label; empty without one."""

    def set(self, values: Mapping[str, Any], /) -> None:
        """Set fields."""

    def reset(self, *names: str) -> None:
        """Restore the defaults of the named fields, or of all."""

    def known_uploads(self) -> tuple[str, ...]:
        """Return the names of the account's uploads that were loaded so far."""

    def snapshot(self) -> Snapshot:
        """Return the current job name, settings and local files."""

    def refresh(self) -> object:
        """Read and validate all fields, and show the problems at each."""

    def show_errors(self) -> bool:
        """Show all problems; True if there are none."""

    def show_verdict(self, name: str | None, message: str) -> bool:
        """Show the service's error at the field ``name``; False if there is no such field."""
