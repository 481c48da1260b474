"""The one poller of a service: however many pages look, the service is asked once.

It asks a service that can wait to answer when something changes, asks another one often while jobs run and
seldom when nothing happens, and asks nothing when nobody has looked for a while. What it knows is answered at
once, also while the service is slow or dead.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from foldnote import settings
from foldnote.errors import BadRequestError, FoldnoteError, GatewayForbiddenError, UnauthorizedError
from foldnote.lab.connection import ProfileConnection, ReadyClient
from foldnote.lab.known_jobs import WHOLE, KnownJobs
from foldnote.lab.local_notes import Notes
from foldnote.lab.pacing import PollingPace, RequestBudget
from foldnote.lab.responses import (
    PageResponse,
    ServiceReport,
    ServiceState,
    tag_report,
    write_jobs,
    write_tools,
)
from foldnote.models.job import JobPage
from foldnote.models.tool import Tool

_log = logging.getLogger(__name__)
_REFUSALS = (UnauthorizedError, GatewayForbiddenError)
_LONGEST_LOOK_S = 55.0
LONGEST_WISH_S = 600.0
"""The longest time between two questions that a person can wish, in seconds."""


class JobPoller:
    """Keeps the jobs of one service fresh while pages look."""

    def __init__(
        self, line: ProfileConnection, pace: PollingPace | None = None, notes: Notes | None = None
    ) -> None:
        """Prepare; nothing is asked before the first look.

        Raises:
            ConfigurationError: no profile is called as the line says.
        """
        self._line = line
        self._pace = pace or PollingPace()
        self._allowance = RequestBudget(self._pace)
        self._known = KnownJobs(notes)
        self._mark = ""
        self._may_wait = True
        self._whole_at = float("-inf")
        self._tools: tuple[Tool, ...] = ()
        self._tools_at = float("-inf")
        self._report = ServiceReport(state=ServiceState.STARTING, **_named(line.find_profile()))
        self._tag = self._read_tag()
        self._changed = asyncio.Event()
        self._failures = 0
        self.waiting_pages = 0
        """How many pages wait for something new."""
        self._wished_s = 0.0
        self._looked_at = float("-inf")
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._is_closed = False

    @property
    def is_running(self) -> bool:
        """Whether the service is being asked by itself."""
        return self._task is not None and not self._task.done()

    def look(self, tag: str | None = None, pause_s: float = 0.0) -> PageResponse:
        """The jobs as they are known now, or what is other than at ``tag``; keeps the poller going.

        ``pause_s`` is the least time between two questions that a person wishes; the last look counts.
        """
        self._looked_at = time.monotonic()
        self._wished_s = min(pause_s, LONGEST_WISH_S)
        if not (self.is_running or self._is_closed):
            self._task = asyncio.create_task(self._run(), name="foldnote-poller")
        jobs_mark = (tag or "").partition(".")[0]
        return write_jobs(self._known, jobs_mark, self._report, self._tag)

    async def look_later(self, tag: str | None, wait_s: float, pause_s: float = 0.0) -> PageResponse:
        """The same, as soon as it is other than at ``tag``, or after ``wait_s`` seconds."""
        self.waiting_pages += 1
        try:
            self.look(tag, pause_s)
            with suppress(TimeoutError):
                async with asyncio.timeout(min(wait_s, _LONGEST_LOOK_S)):
                    while self._tag == tag and not self._is_closed:
                        await self._changed.wait()
            return self.look(tag, pause_s)
        finally:
            self.waiting_pages -= 1

    def hurry(self) -> None:
        """Ask now, and without waiting for a change: somebody knows that there is something new."""
        self._failures = 0
        self._mark = ""
        self._wake.set()

    def note_anew(self) -> None:
        """Tell pages what this computer has learned of the jobs."""
        self._known.note_anew()
        self._publish(self._report)

    async def tools(self) -> PageResponse:
        """The catalog; the service is asked when what is known is not fresh."""
        if time.monotonic() - self._tools_at > self._pace.tools_s:
            if self._line.is_open:
                await self._guard(self._ask_tools, self._pace.timeout_s)
            else:
                self.look()  # the loop connects; until then the answer says that the service is starting
        return write_tools(self._tools, self._report)

    def forget_tools(self) -> None:
        """Ask the service anew when the catalog is next wanted."""
        self._tools_at = float("-inf")

    async def ask_now(self) -> None:
        """Ask for the jobs; a failure becomes the report."""
        wait_s = self._wait_s()
        await self._guard(lambda: self._ask_jobs(wait_s), wait_s + self._pace.timeout_s)

    async def close(self) -> None:
        """Stop asking, drop the connection, and let nobody wait any more."""
        self._is_closed = True
        self._changed.set()
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        await self._line.close()

    def pause_s(self) -> float:
        """Seconds until the next question."""
        if self._failures:
            return min(self._pace.busy_s * 2.0 ** (self._failures - 1), self._pace.longest_s)
        pause_s = 0.0 if self._mark else self._pace.busy_s if self._known.is_busy else self._pace.idle_s
        return max(pause_s, self._wished_s, self._allowance.pause_s())

    def _is_wanted(self) -> bool:
        return self.waiting_pages > 0 or time.monotonic() - self._looked_at < self._pace.attention_s

    async def _run(self) -> None:
        while self._is_wanted():
            self._wake.clear()
            await _until(self._wake, self.ask_now())
            if not self._wake.is_set():
                await _until(self._wake, asyncio.sleep(self.pause_s()))

    def _wait_s(self) -> float:
        if not self._mark:
            return 0.0
        is_short = self._known.is_busy and self._allowance.is_full
        return self._pace.busy_wait_s if is_short else self._pace.idle_wait_s

    async def _guard(self, ask: Callable[[], Awaitable[None]], limit_s: float) -> None:
        """Ask; a failure becomes the report, and the next question begins with a new connection."""
        try:
            async with asyncio.timeout(limit_s):
                await ask()
        except _REFUSALS as exc:
            self._note_failure(ServiceState.UNAUTHORIZED, f"{_first_line(exc)} {self._key_advice()}")
        except TimeoutError:
            self._note_failure(
                ServiceState.UNREACHABLE, f"No answer within {self._pace.timeout_s:.0f} seconds."
            )
        except FoldnoteError as exc:
            self._note_failure(ServiceState.UNREACHABLE, _first_line(exc))
        except Exception:  # noqa: BLE001 - the edge of a background task: it must outlive any fault of one question
            _log.exception("The job service could not be asked.")
            self._note_failure(
                ServiceState.UNREACHABLE, "An unexpected fault; see the log of the Jupyter server."
            )
        if self._report.state is not ServiceState.OK:
            self._mark = ""
            await self._line.close()

    async def _ask_jobs(self, wait_s: float) -> None:
        connection = await self._open()
        is_fresh = time.monotonic() - self._whole_at < self._pace.whole_s
        limit = self._known.window if is_fresh else WHOLE
        page = await self._list(connection, limit, self._mark, wait_s)
        await asyncio.to_thread(self._known.notes.reload)
        if limit < WHOLE and not self._known.take_newest(page):
            limit = WHOLE
            page = await self._list(connection, limit, "", 0.0)
        if limit == WHOLE:
            self._known.take_all(page)
            self._whole_at = time.monotonic()
        self._mark = page.mark or ""
        self._failures = 0
        self._publish(self._report.model_copy(update=_good(connection)))

    async def _list(self, connection: ReadyClient, limit: int, mark: str, wait_s: float) -> JobPage:
        """A page of jobs; with a mark, when the service has something else to tell or has waited enough."""
        self._allowance.take()
        jobs = connection.client.jobs
        if not self._may_wait:
            return (await jobs.list(limit=limit)).page
        try:
            return (await jobs.list(limit=limit, since=mark, wait_s=wait_s)).page
        except BadRequestError:
            self._may_wait = False  # a deployment that refuses parameters which it does not know
            return (await jobs.list(limit=limit)).page

    async def _ask_tools(self) -> None:
        connection = await self._open()
        self._tools = tuple(await connection.client.tools.list())
        self._tools_at = time.monotonic()
        self._publish(self._report.model_copy(update=_good(connection)))

    async def _open(self) -> ReadyClient:
        if not self._line.is_open:
            self._publish(self._report.model_copy(update=_named(self._line.find_profile())))
        return await self._line.open()

    def _note_failure(self, state: ServiceState, error: str) -> None:
        self._failures += 1
        self._publish(self._report.model_copy(update={"state": state, "error": error}))

    def _publish(self, report: ServiceReport) -> None:
        self._report = report
        tag = self._read_tag()
        if tag != self._tag:
            self._tag = tag
            self._changed.set()
            self._changed = asyncio.Event()

    def _read_tag(self) -> str:
        return f"{self._known.mark()}.{tag_report(self._known, self._report)}"

    def _key_advice(self) -> str:
        if self._report.profile == settings.ENVIRONMENT:
            return "Correct FOLDNOTE_API_KEY and start JupyterLab again."
        return f"Store a valid key: choose Connect… here, or run: foldnote profile key {self._report.profile}"


async def _until(event: asyncio.Event, work: Awaitable[None]) -> None:
    """Wait for the end of ``work``, or give it up when ``event`` is set."""
    task = asyncio.ensure_future(work)
    bell = asyncio.ensure_future(event.wait())
    try:
        await asyncio.wait({task, bell}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for each in (task, bell):
            each.cancel()
        await asyncio.gather(task, bell, return_exceptions=True)


def _first_line(exc: Exception) -> str:
    """The sentence of a fault; the lines below it may quote a log, which is not for the page."""
    return str(exc).partition("\n")[0]


def _named(profile: settings.Profile) -> dict[str, Any]:
    return {"profile": profile.name, "is_embedded": profile.base_url is None, "url": profile.base_url}


def _good(connection: ReadyClient) -> dict[str, object]:
    return {
        "state": ServiceState.OK,
        "error": None,
        "url": connection.url,
        "last_good": datetime.now(UTC),
    }
