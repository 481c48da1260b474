"""What the tools of one server share, and how their errors become sentences."""

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

if TYPE_CHECKING:  # pandas and numpy are imported with the first result
    from datetime import datetime

    from foldnote.results import Result

P = ParamSpec("P")


@dataclass
class Session:
    """The client of one service, and what the user allowed.

    Attributes:
        folder: folder whose files may be uploaded; None for none.
    """

    client: AsyncClient
    permissions: Permissions
    folder: Path | None = None
    _results: dict[str, tuple[datetime | None, Result]] = field(default_factory=dict)

    async def open_result(self, job_name: str) -> Result:
        """The result of a job, opened once; a deleted job's name may be another's now."""
        job = await self.client.jobs.get(job_name)
        known = self._results.get(job_name)
        if known is None or known[0] != job.record.created:
            known = self._results[job_name] = (job.record.created, await job.result())
        return known[1]


def find_session(context: Any) -> Session:
    """The session of a request."""
    session: Session = context.request_context.lifespan_context
    return session


def in_sentences(function: Callable[P, Awaitable[Any]]) -> Callable[P, Awaitable[Any]]:
    """Turn foldnote's errors into those that an assistant reads, and hide local paths in what is returned."""

    @wraps(function)
    async def call(*args: P.args, **kwargs: P.kwargs) -> Any:
        try:
            answer = await function(*args, **kwargs)
        except (FoldnoteError, OSError) as exc:
            raise ToolError(explain(exc)) from exc
        return hide_paths(answer) if isinstance(answer, dict) else answer

    return call
