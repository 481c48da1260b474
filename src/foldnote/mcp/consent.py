"""Ask the user before anything changes at the service, and keep to the limits of this session."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.resolve import Elicit
from pydantic import BaseModel, Field

from foldnote.text import count

ACTIONS = ("submit", "stop", "delete", "upload")
"""Actions that need the user's consent."""


class Consent(BaseModel):
    """The user's answer."""

    agree: bool = Field(description="Do it")


@dataclass
class Permissions:
    """Permissions that the user set when starting the server.

    Attributes:
        allowed: actions that need no question.
        max_jobs: maximum number of new jobs in this session.
        max_weighted_hours: maximum estimated cost of one job; None for no limit in addition to the service's.
        max_runtime_s: time limit of one job in seconds; None for no limit in addition to the service's.
        submitted: new jobs so far.
    """

    allowed: frozenset[str] = field(default_factory=frozenset)
    max_jobs: int = 20
    max_weighted_hours: float | None = None
    max_runtime_s: float | None = None
    submitted: int = 0

    def ask(self, context: Any, action: str, question: str) -> Consent | Elicit[Consent]:
        """Return the consent, or the question to the user.

        Raises:
            ToolError: the client cannot ask the user, or all jobs of the session are used.
        """
        if action == "submit":
            self._require_job()
        if action in self.allowed:
            return Consent(agree=True)
        capabilities = context.client_capabilities
        if capabilities is None or capabilities.elicitation is None:
            raise ToolError(
                "This needs the user's consent, and the client cannot ask for it. The user can start the"
                f" server as `foldnote mcp --allow {action}`."
            )
        return Elicit(question, Consent)

    @contextmanager
    def count_job(self) -> Iterator[None]:
        """Count a new job before it is submitted, so that concurrent submissions cannot exceed the limit.

        Raises:
            ToolError: all jobs of the session are used.
        """
        self._require_job()
        self.submitted += 1
        try:
            yield
        except BaseException:
            self.submitted -= 1
            raise

    def _require_job(self) -> None:
        if self.submitted >= self.max_jobs:
            raise ToolError(
                f"This session has submitted its {count(self.max_jobs, 'job')}. The user can start the server"
                " again with a larger --max-jobs."
            )


def lower_limit(asked: float | None, limit: float | None) -> float | None:
    """Return the stricter of two limits; None if there is none."""
    given = [each for each in (asked, limit) if each is not None]
    return min(given) if given else None
