"""The poller of one service, shared by all pages.

It uses long polling where the service supports it; otherwise it polls often while jobs run and seldom at
other times. It stops when no page has made a request for a while. Pages are answered from memory, even while
the service is slow or unreachable.
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
from foldnote.errors import (
    BadRequestError,
    ConfigurationError,
    FoldnoteError,
    GatewayForbiddenError,
    UnauthorizedError,
)
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
_MAX_POLL_S = 55.0
MAX_PAUSE_S = 600.0
"""Upper limit of the polling interval that a user can set, in seconds."""


class JobPoller:
    """Keeps the jobs of one service up to date while pages request them."""

    def __init__(
        self, connection: ProfileConnection, pace: PollingPace | None = None, notes: Notes | None = None
    ) -> None:
        """Create the poller; polling starts at the first call of ``read``.

        Raises:
            ConfigurationError: the profile does not exist.
        """
        self._connection = connection
        self._pace = pace or PollingPace()
        self._budget = RequestBudget(self._pace)
        self._known = KnownJobs(notes)
        self._mark = ""
        self._supports_waiting = True
        self._full_list_at = float("-inf")
        self._tools: tuple[Tool, ...] = ()
        self._tools_at = float("-inf")
        self._report = ServiceReport(state=ServiceState.STARTING, **_named(connection.find_profile()))
        self._tag = self._read_tag()
        self._changed = asyncio.Event()
        self._failures = 0
        self.waiting_pages = 0
        """Number of pages that wait for a change."""
        self._least_pause_s = 0.0
        self._last_read_at = float("-inf")
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._is_closed = False

    @property
    def is_running(self) -> bool:
        """Whether the polling task is running."""
        return self._task is not None and not self._task.done()

    def read(self, tag: str | None = None, pause_s: float = 0.0) -> PageResponse:
        """Return the known jobs, or the changes since ``tag``; start the polling task if it is not running.

        ``pause_s`` is the minimum polling interval that the user has set, in seconds; the latest call
        applies.
        """
        self._last_read_at = time.monotonic()
        self._least_pause_s = min(pause_s, MAX_PAUSE_S)
        if not (self.is_running or self._is_closed):
            self._task = asyncio.create_task(self._run(), name="foldnote-poller")
        jobs_mark = (tag or "").partition(".")[0]
        return write_jobs(self._known, jobs_mark, self._report, self._tag)

    async def read_when_changed(self, tag: str | None, wait_s: float, pause_s: float = 0.0) -> PageResponse:
        """Return what ``read`` does, when something has changed since ``tag`` or after ``wait_s`` seconds."""
        self.waiting_pages += 1
        try:
            self.read(tag, pause_s)
            with suppress(TimeoutError):
                async with asyncio.timeout(min(wait_s, _MAX_POLL_S)):
                    while self._tag == tag and not self._is_closed:
                        await self._changed.wait()
            return self.read(tag, pause_s)
        finally:
            self.waiting_pages -= 1

    def poll_now(self) -> None:
        """Poll at once, without waiting for the service to report a change."""
        self._failures = 0
        self._mark = ""
        self._wake.set()

    def find_label(self, job_name: str) -> str:
        """Return the label of a job at the service; empty for one that was not listed."""
        return self._known.find_label(job_name)

    def update_notes(self) -> None:
        """Update the records of jobs whose notes have changed, and notify waiting pages."""
        self._known.update_notes()
        self._publish(self._report)

    async def tools(self) -> PageResponse:
        """Return the catalog, requested again when the cached one is out of date."""
        if time.monotonic() - self._tools_at > self._pace.tools_s:
            if self._connection.is_open:
                await self._guard(self._poll_tools, self._pace.timeout_s)
            else:
                self.read()  # connects; until then the state is "starting"
        return write_tools(self._tools, self._report)

    def forget_tools(self) -> None:
        """Discard the cached catalog."""
        self._tools_at = float("-inf")

    async def poll_once(self) -> None:
        """Request the jobs once; a failure is stored in the report."""
        wait_s = self._wait_s()
        await self._guard(lambda: self._poll_jobs(wait_s), wait_s + self._pace.timeout_s)

    async def close(self) -> None:
        """Stop polling, close the connection and release waiting pages."""
        self._is_closed = True
        self._changed.set()
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        await self._connection.close()

    def pause_s(self) -> float:
        """Return the seconds until the next request."""
        if self._failures:
            return min(self._pace.busy_s * 2.0 ** (self._failures - 1), self._pace.max_s)
        pause_s = 0.0 if self._mark else self._pace.busy_s if self._known.is_busy else self._pace.idle_s
        return max(pause_s, self._least_pause_s, self._budget.pause_s())

    async def _run(self) -> None:
        while self.waiting_pages > 0 or time.monotonic() - self._last_read_at < self._pace.attention_s:
            self._wake.clear()
            await _run_until(self._wake, self.poll_once())
            if not self._wake.is_set():
                await _run_until(self._wake, asyncio.sleep(self.pause_s()))

    def _wait_s(self) -> float:
        if not self._mark:
            return 0.0
        is_short = self._known.is_busy and self._budget.is_full
        return self._pace.busy_wait_s if is_short else self._pace.idle_wait_s

    async def _guard(self, poll: Callable[[], Awaitable[None]], limit_s: float) -> None:
        """Make a request; a failure is stored in the report and closes the connection."""
        try:
            async with asyncio.timeout(limit_s):
                await poll()
        except _REFUSALS as exc:
            self._note_failure(ServiceState.UNAUTHORIZED, f"{exc.first_line} {self._key_advice()}".rstrip())
        except TimeoutError:
            self._note_failure(
                ServiceState.UNREACHABLE, f"No answer within {self._pace.timeout_s:.0f} seconds."
            )
        except FoldnoteError as exc:
            self._note_failure(ServiceState.UNREACHABLE, exc.first_line)
        except Exception:  # noqa: BLE001 - the background task must survive any error of one request
            _log.exception("Polling the job service failed.")
            self._note_failure(
                ServiceState.UNREACHABLE, "An unexpected error; see the log of the Jupyter server."
            )
        if self._report.state is not ServiceState.OK:
            self._mark = ""
            await self._connection.close()

    async def _poll_jobs(self, wait_s: float) -> None:
        connection = await self._open()
        is_fresh = time.monotonic() - self._full_list_at < self._pace.whole_s
        limit = self._known.poll_size if is_fresh else WHOLE
        page = await self._list(connection, limit, self._mark, wait_s)
        await asyncio.to_thread(self._known.notes.reload)
        if limit < WHOLE and not self._known.update_newest(page):
            limit = WHOLE
            page = await self._list(connection, limit, "", 0.0)
        if limit == WHOLE:
            self._known.replace_all(page)
            self._full_list_at = time.monotonic()
        self._mark = page.mark or ""
        self._failures = 0
        self._publish(self._report.model_copy(update=_make_ok_state(connection)))

    async def _list(self, connection: ReadyClient, limit: int, mark: str, wait_s: float) -> JobPage:
        """List a page of jobs; with ``mark``, wait for a change or ``wait_s`` seconds."""
        self._budget.take()
        jobs = connection.client.jobs
        if not self._supports_waiting:
            return (await jobs.list(limit=limit)).page
        try:
            return (await jobs.list(limit=limit, since=mark, wait_s=wait_s)).page
        except BadRequestError:
            self._supports_waiting = False  # this deployment refuses unknown parameters
            return (await jobs.list(limit=limit)).page

    async def _poll_tools(self) -> None:
        connection = await self._open()
        self._tools = tuple(await connection.client.tools.list())
        self._tools_at = time.monotonic()
        self._publish(self._report.model_copy(update=_make_ok_state(connection)))

    async def _open(self) -> ReadyClient:
        if not self._connection.is_open:
            self._publish(self._report.model_copy(update=_named(self._connection.find_profile())))
        return await self._connection.open()

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
        try:
            if self._connection.find_profile().is_of_hub:
                return ""  # the message of the error says what to do
        except ConfigurationError:
            return ""  # the profile was removed meanwhile
        name = self._report.profile
        return f"Store a valid key: choose Store a key … here, or run: foldnote profile key {name}"


async def _run_until(event: asyncio.Event, work: Awaitable[None]) -> None:
    """Wait until ``work`` is done; cancel it when ``event`` is set."""
    task = asyncio.ensure_future(work)
    signal = asyncio.ensure_future(event.wait())
    try:
        await asyncio.wait({task, signal}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for pending in (task, signal):
            pending.cancel()
        await asyncio.gather(task, signal, return_exceptions=True)


def _named(profile: settings.Profile) -> dict[str, Any]:
    return {"profile": profile.name, "is_embedded": profile.base_url is None, "url": profile.base_url}


def _make_ok_state(connection: ReadyClient) -> dict[str, object]:
    return {
        "state": ServiceState.OK,
        "error": None,
        "url": connection.url,
        "last_good": datetime.now(UTC),
    }
