"""The one poller: however many pages look, the service is asked once.

It asks often while jobs run, seldom when nothing happens, and not at all when nobody has looked for a while.
What it knows is answered at once, also while the service is slow or dead.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from foldnote import settings
from foldnote.errors import FoldnoteError, GatewayForbiddenError, UnauthorizedError
from foldnote.lab.answers import Answer, ServiceReport, ServiceState, write_jobs, write_tools
from foldnote.lab.connection import Connect, Connection, connect
from foldnote.models.job import JobPage
from foldnote.models.tool import Tool

LISTED_JOBS = 500
"""Jobs that are held, newest first."""

LOG_LINES = 400
"""Lines of a log's end that a page gets."""

_log = logging.getLogger(__name__)
_REFUSALS = (UnauthorizedError, GatewayForbiddenError)


@dataclass(frozen=True)
class Pace:
    """Pauses between two questions to the service, in seconds.

    Attributes:
        busy_s: while a job is unfinished, and always for this computer's own service.
        idle_s: otherwise.
        longest_s: after repeated failures; the pause doubles up to here.
        attention_s: how long after a page's last look the poller goes on.
        patience_s: how long one question may take, the client's own repetitions included.
        tools_s: how long the catalog counts as fresh.
    """

    busy_s: float = 1.5
    idle_s: float = 5.0
    longest_s: float = 30.0
    attention_s: float = 30.0
    patience_s: float = 15.0
    tools_s: float = 60.0


class Poller:
    """Keeps the jobs of one service fresh while pages look."""

    def __init__(self, open_connection: Connect = connect, pace: Pace | None = None) -> None:
        """Prepare; nothing is asked before the first look."""
        self._open_connection = open_connection
        self._pace = pace or Pace()
        self._connection: Connection | None = None
        self._connecting = asyncio.Lock()
        self._page = JobPage(jobs=())
        self._tools: tuple[Tool, ...] = ()
        self._tools_at = float("-inf")
        self._report = _first_report()
        self._answer = write_jobs(self._page, self._report)
        self._failures = 0
        self._looked_at = float("-inf")
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def is_running(self) -> bool:
        """Whether the service is being asked by itself."""
        return self._task is not None and not self._task.done()

    def look(self) -> Answer:
        """The jobs as they are known now; keeps the poller going."""
        self._looked_at = time.monotonic()
        if not self.is_running:
            self._task = asyncio.create_task(self._run(), name="foldnote-poller")
        return self._answer

    async def tools(self) -> Answer:
        """The catalog; the service is asked when what is known is not fresh."""
        if time.monotonic() - self._tools_at > self._pace.tools_s:
            if self._connection is None:
                self.look()  # the loop connects; until then the answer says that the service is starting
            else:
                await self._guard(self._ask_tools)
        return write_tools(self._tools, self._report)

    async def stop_job(self, name: str) -> None:
        """Ask the service to stop a job, and look again soon.

        Raises:
            FoldnoteError: the service cannot be reached or refuses.
        """
        async with asyncio.timeout(self._pace.patience_s):
            await (await self._connected()).client.jobs.stop(name)
        self._wake.set()

    async def delete_job(self, name: str) -> None:
        """Ask the service to delete a job, and look again soon.

        Raises:
            FoldnoteError: the service cannot be reached or refuses.
        """
        async with asyncio.timeout(self._pace.patience_s):
            await (await self._connected()).client.jobs.delete(name)
        self._wake.set()

    async def read_log(self, name: str) -> str:
        """The end of a job's log.

        Raises:
            FoldnoteError: the service cannot be reached or knows no such job.
        """
        async with asyncio.timeout(self._pace.patience_s):
            return await (await self._connected()).client.jobs.log(name, max_lines=LOG_LINES)

    async def ask_now(self) -> None:
        """Ask for the jobs; a failure becomes the report."""
        await self._guard(self._ask_jobs)

    async def close(self) -> None:
        """Stop asking and drop the connection."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        await self._disconnect()

    async def _run(self) -> None:
        while time.monotonic() - self._looked_at < self._pace.attention_s:
            await self.ask_now()
            self._wake.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), self.pause_s())

    def pause_s(self) -> float:
        """Seconds until the next question."""
        if self._failures:
            return min(self._pace.idle_s * 2.0 ** (self._failures - 1), self._pace.longest_s)
        is_busy = self._report.is_embedded or any(not job.is_final for job in self._page.jobs)
        return self._pace.busy_s if is_busy else self._pace.idle_s

    async def _guard(self, ask: Callable[[], Awaitable[None]]) -> None:
        """Ask; a failure becomes the report, and the next question begins with a new connection."""
        try:
            async with asyncio.timeout(self._pace.patience_s):
                await ask()
        except _REFUSALS as exc:
            self._note_failure(ServiceState.UNAUTHORIZED, f"{_first_line(exc)} {self._key_advice()}")
        except TimeoutError:
            self._note_failure(
                ServiceState.UNREACHABLE, f"No answer within {self._pace.patience_s:.0f} seconds."
            )
        except FoldnoteError as exc:
            self._note_failure(ServiceState.UNREACHABLE, _first_line(exc))
        except Exception:  # noqa: BLE001 - the edge of a background task: it must outlive any fault of one question
            _log.exception("The job service could not be asked.")
            self._note_failure(
                ServiceState.UNREACHABLE, "An unexpected fault; see the log of the Jupyter server."
            )
        if self._report.state is not ServiceState.OK:
            await self._disconnect()

    async def _ask_jobs(self) -> None:
        connection = await self._connected()
        page = await connection.client.jobs.list(limit=LISTED_JOBS)
        self._failures = 0
        self._page = page
        self._publish(self._report.model_copy(update=_good(connection)))

    async def _ask_tools(self) -> None:
        connection = await self._connected()
        self._tools = tuple(await connection.client.tools.list())
        self._tools_at = time.monotonic()
        self._publish(self._report.model_copy(update=_good(connection)))

    async def _connected(self) -> Connection:
        async with self._connecting:
            if self._connection is None:
                profile = settings.active_profile()
                self._publish(self._report.model_copy(update=_named(profile)))
                self._connection = await self._open_connection(profile)
            return self._connection

    async def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.client.close()

    def _note_failure(self, state: ServiceState, error: str) -> None:
        self._failures += 1
        self._publish(self._report.model_copy(update={"state": state, "error": error}))

    def _publish(self, report: ServiceReport) -> None:
        self._report = report
        self._answer = write_jobs(self._page, report)

    def _key_advice(self) -> str:
        if self._report.profile == "environment":
            return "Correct FOLDNOTE_API_KEY and start JupyterLab again."
        return f"Store a valid key on the server: foldnote profile key {self._report.profile}"


def _first_report() -> ServiceReport:
    return ServiceReport(state=ServiceState.STARTING, profile=settings.EMBEDDED, is_embedded=True)


def _first_line(exc: Exception) -> str:
    """The sentence of a fault; the lines below it may quote a log, which is not for the page."""
    return str(exc).partition("\n")[0]


def _named(profile: settings.Profile) -> dict[str, object]:
    return {"profile": profile.name, "is_embedded": profile.base_url is None, "url": profile.base_url}


def _good(connection: Connection) -> dict[str, object]:
    return {
        "state": ServiceState.OK,
        "error": None,
        "url": connection.url,
        "last_good": datetime.now(UTC),
    }
