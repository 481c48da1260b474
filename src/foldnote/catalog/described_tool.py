"""The properties of a tool that forms and checks of settings need, for both kinds of tool records.

A service's catalog contains `Tool` records. The bundled catalog also provides `PlainTool`, which needs no
pydantic: a form shows it until its service has answered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from foldnote.models.tool import ToolEngine


class DescribedTool(Protocol):
    """A tool with its settings, and whether and how it can run; see `foldnote.models.Tool`."""

    @property
    def type(self) -> str:
        """Identifier of the tool in submissions."""

    @property
    def display_name(self) -> str:
        """The displayed name."""

    @property
    def description(self) -> str:
        """What it does."""

    @property
    def settings_schema(self) -> dict[str, Any]:
        """JSON Schema of the settings object."""

    @property
    def example_job(self) -> dict[str, Any] | None:
        """A valid submission; None without one."""

    @property
    def available(self) -> bool:
        """Whether the service can run it now."""

    @property
    def unavailable_reason(self) -> str | None:
        """Why it cannot run, and what to do; None if available or unknown."""

    @property
    def engine(self) -> ToolEngine | None:
        """The engine that runs it; None for none or if unknown."""

    @property
    def extensions(self) -> tuple[str, ...]:
        """Extensions that the service accepts beside the settings."""


class PlainTool(NamedTuple):
    """A tool whose availability is not yet known, because no service has answered."""

    type: str
    display_name: str
    description: str
    settings_schema: dict[str, Any]
    example_job: dict[str, Any] | None = None
    available: bool = False
    unavailable_reason: str | None = None
    engine: ToolEngine | None = None
    extensions: tuple[str, ...] = ()
    has_tested_defaults: bool = False
    """Whether the defaults are known to be valid, as those of the bundled catalog are."""
