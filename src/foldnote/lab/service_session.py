"""Operations that the browser may request from one service, each with a timeout.

A session belongs to one profile and has its only poller and connection.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TypeVar

from foldnote.client import AsyncClient
from foldnote.client.resources.shares import OpenedShare
from foldnote.errors import FoldnoteError, NotFoundError
from foldnote.lab.account import AccountCache
from foldnote.lab.connection import Connect, ProfileConnection, connect
from foldnote.lab.known_jobs import WHOLE
from foldnote.lab.local_notes import Notes
from foldnote.lab.pacing import PollingPace
from foldnote.lab.pending_deletions import PendingDeletions
from foldnote.lab.poller import JobPoller
from foldnote.lab.responses import (
    AccountResponse,
    AdviceResponse,
    Citation,
    FilesResponse,
    ToolAdvice,
    ToolInput,
    ToolResponse,
    write_settings,
)
from foldnote.models.job import Job, JobPage
from foldnote.models.settings_table import find_note, format_output, list_outputs, list_settings
from foldnote.models.share import Share, ShareList
from foldnote.models.tool import Tool
from foldnote.settings import EMBEDDED

LOG_LINES = 400
"""Number of lines from the end of a log that are sent to the browser."""

_TRANSFER_S = 3600.0
_ROUTER_S = 90.0
_Value = TypeVar("_Value")


class ServiceSession:
    """The operations on the service of one profile that the browser may request.

    Methods that make a request raise FoldnoteError when the service refuses it or cannot be reached, and
    TimeoutError when it does not answer in time.
    """

    def __init__(
        self, profile_name: str | None, open_connection: Connect = connect, pace: PollingPace | None = None
    ) -> None:
        """``profile_name`` None means the active profile; no request is made.

        Raises:
            ConfigurationError: there is no profile of this name.
        """
        self._connection = ProfileConnection(profile_name, open_connection)
        self._timeout_s = (pace or PollingPace()).timeout_s
        self.notes = Notes(self._connection.find_profile().base_url or EMBEDDED)
        self.poller = JobPoller(self._connection, pace, self.notes)
        self.pending = PendingDeletions(self.delete, self._notify)
        self.account = AccountCache(lambda: self._ask(lambda client: client.account.get()))

    async def stop(self, names: Iterable[str]) -> list[str]:
        """Stop jobs or batches; returns the failures, one sentence each."""
        return await self._each(names, lambda name, client: client.jobs.stop(name))

    async def delete(self, names: Iterable[str]) -> list[str]:
        """Delete jobs or batches with their results; returns the failures, one sentence each."""

        async def delete(name: str, client: AsyncClient) -> None:
            await client.jobs.delete(name)
            await asyncio.to_thread(self.notes.forget, [name])

        return await self._each(names, delete)

    async def tag(self, names: Iterable[str], added: Iterable[str], removed: Iterable[str]) -> None:
        """Add and remove tags of jobs; they are stored on this computer.

        Raises:
            ConfigurationError: a tag is not valid, or the tags cannot be saved.
        """
        await asyncio.to_thread(self.notes.change_tags, names, added, removed)
        self.poller.update_notes()

    async def read_log(self, name: str) -> str:
        """Return the last ``LOG_LINES`` lines of a job's log."""
        return await self._ask(lambda client: client.jobs.logs(name, max_lines=LOG_LINES))

    async def read_settings(self, name: str, member: str | None) -> str:
        """Return a job's settings as indented JSON; contents of files are shortened.

        ``member`` is the address of another member of the organization whose job it is.
        """
        job = await self._ask(lambda client: client.jobs.record(name, job_email=member))
        return write_settings(job.settings)

    async def read_account(self, *, is_fresh: bool) -> AccountResponse:
        """Return the account of the API key; no request for the embedded service, which has no accounts."""
        if self._connection.find_profile().is_embedded:
            return AccountResponse(is_own_service=True)
        return await self.account.read(is_fresh=is_fresh)

    async def list_older(self, key: str) -> JobPage:
        """Return the jobs after the continuation key."""
        return (await self._ask(lambda client: client.jobs.list(limit=WHOLE, start_key=key))).page

    async def find_job(self, name: str, member: str | None = None) -> Job | None:
        """Return a job's record; None when the service has no such job.

        ``member`` is the address of another member of the organization whose job it is.
        """
        try:
            return await self._ask(lambda client: client.jobs.record(name, job_email=member))
        except NotFoundError:
            return None

    async def list_batch(self, name: str, key: str | None, member: str | None = None) -> JobPage:
        """Return the jobs of a batch, from the continuation key on.

        ``member`` is the address of another member of the organization whose batch it is. Deployments that
        do not support both parameters together may return other jobs, which are left out.
        """
        try:
            rows = await self._ask(
                lambda client: client.jobs.list(limit=WHOLE, batch=name, start_key=key, job_email=member)
            )
        except NotFoundError:  # deleted meanwhile, or owned by another user
            return JobPage(jobs=())
        if member is None:
            return rows.page
        theirs = tuple(job for job in rows.page.jobs if job.email in (None, member))
        return rows.page.model_copy(update={"jobs": theirs})

    async def list_members(self, key: str | None) -> JobPage:
        """Return the jobs of all members of the organization, from the continuation key on."""
        rows = await self._ask(lambda client: client.jobs.list(limit=WHOLE, organization=True, start_key=key))
        return rows.page

    async def download(self, name: str, file_name: str | None = None, member: str | None = None) -> Path:
        """Return a job's result archive, or one file of it, in the cache folder of this computer.

        ``member`` is the address of another member of the organization whose job it is.
        """
        return await self._ask(
            lambda client: client.jobs.download(name, file_name, job_email=member), _TRANSFER_S
        )

    async def list_shares(self, name: str) -> ShareList:
        """Return the account's valid links to a job or batch, newest first."""
        return await self._ask(lambda client: client.shares.list(name))

    async def share(self, name: str, days: float) -> Share:
        """Make a link to a job or batch, valid for ``days``; only this response has its address."""
        return await self._ask(lambda client: client.shares.make(name, days))

    async def revoke_share(self, share: str) -> None:
        """Revoke the link of this name."""
        await self._ask(lambda client: client.shares.revoke(share))

    async def open_shared(self, url: str) -> OpenedShare:
        """Return the record of a colleague's job, and the local path of its result archive."""
        return await self._ask(lambda client: client.shares.open(url), _TRANSFER_S)

    async def fetch_shared(self, url: str, job: Job) -> Path:
        """Return the local path of an opened colleague's job's archive, if its link is still valid."""
        return await self._ask(lambda client: client.shares.fetch(url, job), _TRANSFER_S)

    async def describe(self, tool_type: str) -> ToolResponse:
        """Return the settings, outputs and citation of a tool."""
        return describe_tool(await self._ask(lambda client: client.tools.get(tool_type)))

    async def advise(self, prompt: str) -> AdviceResponse:
        """Return the tools recommended for a described task."""
        advice = await self._ask(lambda client: client.router.ask(prompt), _ROUTER_S)
        rows = tuple(ToolAdvice(tool_id=row.tool_id, reason=row.reason) for row in advice.tools)
        return AdviceResponse(tools=rows, abstain=advice.abstain, summary=advice.summary)

    async def list_files(self, limit: int, offset: int, folder: str | None = None) -> FilesResponse:
        """Return one page of the folders and files at the top, or in a folder."""
        page = await self._ask(
            lambda client: client.files.list(limit=limit, offset=offset, folder=folder, has_folders=True)
        )
        return FilesResponse(files=page.files, total=page.total, has_more=page.has_more)

    async def upload(
        self, path: Path, name: str, folder: str | None, meter: Callable[[int, int | None], None]
    ) -> str:
        """Upload a file of this computer; returns the value for a file field.

        ``meter`` is called with the bytes sent so far and the size of the file.
        """
        value = await self._ask(
            lambda client: client.files.upload(path, name, folder, progress=meter), _TRANSFER_S
        )
        return str(value)

    async def delete_file(self, path: str) -> None:
        """Delete a file of the account."""
        await self._ask(lambda client: client.files.delete(path))

    async def delete_folder(self, folder: str) -> None:
        """Delete a folder of the account with every file in it."""
        await self._ask(lambda client: client.files.delete_folder(folder))

    def poll_now(self) -> None:
        """Poll the service at once."""
        self.poller.poll_now()

    async def close(self) -> None:
        """Stop polling, close the connection and cancel pending deletions."""
        await self.pending.close()
        await self.poller.close()

    def _notify(self, leaving: frozenset[str]) -> None:
        self.notes.set_pending_deletions(leaving)
        self.poller.update_notes()

    async def _ask(
        self, work: Callable[[AsyncClient], Awaitable[_Value]], limit_s: float | None = None
    ) -> _Value:
        async with asyncio.timeout(limit_s or self._timeout_s):
            return await work((await self._connection.open()).client)

    async def _each(
        self, names: Iterable[str], act: Callable[[str, AsyncClient], Awaitable[None]]
    ) -> list[str]:
        faults = []
        for name in names:
            try:
                await self._ask(partial(act, name))
            except TimeoutError:
                faults.append(f"{name}: the service does not answer in time. Try again.")
            except FoldnoteError as exc:
                faults.append(exc.first_line)
        self.poll_now()
        return faults


def describe_tool(tool: Tool) -> ToolResponse:
    """Return the settings, outputs and citation of a tool, in prose."""
    properties = tool.settings_schema.get("properties", {})
    inputs = [
        ToolInput(
            name=name,
            title=str(properties[name].get("title", name)),
            description=str(properties[name].get("description", "")),
            kind=kind,
            default=default,
            is_required=setting.endswith(" *"),
        )
        for setting, kind, default, _ in list_settings(tool.settings_schema)
        for name in [setting.removesuffix(" *")]
        if isinstance(properties[name], dict)
    ]
    inputs.sort(key=lambda tool_input: not tool_input.is_required)
    note = find_note(tool.model_extra, tool.settings_schema, "citation")
    citation = Citation.model_validate(note) if isinstance(note, dict) else None
    if isinstance(note, str):
        citation = Citation(text=note)
    outputs = tuple(
        map(format_output, list_outputs(find_note(tool.model_extra, tool.settings_schema, "outputs")))
    )
    return ToolResponse(type=tool.type, inputs=tuple(inputs), outputs=outputs, citation=citation)
