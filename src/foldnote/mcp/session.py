"""State shared by the tools of one server, and the translation of errors to sentences."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec

from mcp.server.mcpserver.exceptions import ToolError

from foldnote.client import AsyncClient
from foldnote.errors import FoldnoteError
from foldnote.mcp.answers import explain, hide_paths
from foldnote.mcp.consent import Permissions

if TYPE_CHECKING:  # deferred: pandas and numpy are imported with the first result
    from datetime import datetime

    from foldnote.results import Result

P = ParamSpec("P")


@dataclass
class Session:
    """The client of one service, and the user's permissions.

    Attributes:
        folder: folder whose files may be uploaded; None for none.
    """

    client: AsyncClient
    permissions: Permissions
    folder: Path | None = None
    _results: dict[str, tuple[datetime | None, Result]] = field(default_factory=dict)

    async def open_result(self, job_name: str) -> Result:
        """Return the result of a job, opened once; the name of a deleted job may have been reused."""
        job = await self.client.jobs.get(job_name)
        known = self._results.get(job_name)
        if known is None or known[0] != job.record.created:
            known = self._results[job_name] = (job.record.created, await job.result())
        return known[1]


def find_session(context: Any) -> Session:
    """Return the session of a request."""
    session: Session = context.request_context.lifespan_context
    return session


def in_sentences(function: Callable[P, Awaitable[Any]]) -> Callable[P, Awaitable[Any]]:
    """Convert foldnote's errors to ones for assistants, and hide local paths in returned values."""

    @wraps(function)
    async def call(*args: P.args, **kwargs: P.kwargs) -> Any:
        try:
            answer = await function(*args, **kwargs)
        except (FoldnoteError, OSError) as exc:
            raise ToolError(explain(exc)) from exc
        return hide_paths(answer) if isinstance(answer, dict) else answer

    return call
