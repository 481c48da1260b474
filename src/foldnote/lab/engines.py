"""List, install and remove engines by running ``foldnote engines`` as a subprocess.

It is a subprocess because an installation takes minutes and ``lab`` does not import ``service``. Its output
is read line by line, and every page sees the same progress.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from foldnote import settings
from foldnote.errors import FoldnoteError
from foldnote.lab.responses import EngineRecord, EnginesResponse, EngineTermsRecord, EngineWeightsRecord

LIST_LIMIT_S = 60.0
"""Seconds that listing the engines may take."""
_END_S = 10.0
_MAX_LINE_BYTES = 16 << 20
"""Maximum length of one report of the command: an error may quote all output of a failed build."""
_SERVICE_NOTICES_S = 3.5
"""Longer than the 3 s after which the service checks for new engines."""
_CANCELLED = {
    "install": "Cancelled. Downloaded files are kept for the next attempt.",
    "remove": "Cancelled. Some files may already be deleted: remove the engine again, or reinstall it.",
}


@dataclass
class _EngineChange:
    """The state of an installation or removal, in progress or ended."""

    action: str = ""
    is_done: bool = False
    is_over: bool = False
    fraction: float | None = None
    message: str = ""
    has_failed: bool = False
    task: asyncio.Task[None] | None = None


class EngineManager:
    """Lists, installs and removes the engines of this computer."""

    def __init__(
        self, on_change: Callable[[], None] = lambda: None, list_limit_s: float = LIST_LIMIT_S
    ) -> None:
        """``on_change`` is called after an engine was installed or removed."""
        self._on_change = on_change
        self._list_limit_s = list_limit_s
        self._changes: dict[str, _EngineChange] = {}
        self._rows: list[dict[str, Any]] | None = None

    async def list_engines(self) -> EnginesResponse:
        """Return every engine, with the progress of installations and removals.

        While one is in progress, the previous list is reused and only the progress is updated.

        Raises:
            FoldnoteError: the engines cannot be listed.
        """
        if self._rows is None or all(change.is_over for change in self._changes.values()):
            self._rows = await self._read_rows()
        return EnginesResponse(engines=tuple(self._merge(self._rows)))

    async def _read_rows(self) -> list[dict[str, Any]]:
        process = await _start("list", "--json")
        try:
            async with asyncio.timeout(self._list_limit_s):
                output, complaint = await process.communicate()
        except TimeoutError as exc:
            await _end(process)
            raise FoldnoteError(
                f"Listing the engines takes longer than {self._list_limit_s:g} s. Try again."
            ) from exc
        if process.returncode:
            lines = complaint.decode(errors="replace").strip().splitlines()
            ended = f"The engines cannot be listed: the command ended with {process.returncode}. Try again."
            raise FoldnoteError(lines[-1] if lines else ended)
        rows: list[dict[str, Any]] = json.loads(output)
        return rows

    def begin(
        self, action: str, name: str, *, has_accepted: bool = False, with_optional: bool = False
    ) -> None:
        """Start to ``install`` or ``remove`` an engine.

        Args:
            action: ``install`` or ``remove``.
            name: the engine.
            has_accepted: whether the user has accepted the terms of the engine and of its weights.
            with_optional: whether to install its optional weights as well.

        Raises:
            FoldnoteError: the engine is already being installed or removed.
        """
        change = self._changes.get(name)
        if change is not None and not change.is_over:
            raise FoldnoteError(
                f"{name} is already being installed or removed. Wait until that has finished."
            )
        self._changes[name] = change = _EngineChange(action, message="Starting")
        options = ["--json"] if action == "install" else []
        options += ["--accept-licences"] if action == "install" and has_accepted else []
        options += ["--optional-weights"] if action == "install" and with_optional else []
        change.task = asyncio.create_task(
            self._follow(action, name, options, change), name=f"foldnote-engine-{name}"
        )

    async def cancel(self, name: str) -> None:
        """Cancel the installation or removal of an engine; downloaded files are kept for the next attempt.

        Raises:
            FoldnoteError: the engine is not being installed or removed.
        """
        change = self._changes.get(name)
        if change is None or change.is_over or change.task is None:
            raise FoldnoteError(f"{name} is not being installed or removed.")
        await _cancel([change.task])
        change.is_over, change.fraction = True, None  # the task may not have started
        change.message = "" if change.is_done else _CANCELLED[change.action]

    async def close(self) -> None:
        """Cancel all installations and removals; an interrupted installation leaves no usable engine."""
        await _cancel([change.task for change in self._changes.values() if change.task is not None])

    async def _follow(self, action: str, name: str, options: Sequence[str], change: _EngineChange) -> None:
        """Install or remove the engine, then wait until the service has noticed it."""
        try:
            await _run_change(action, name, options, change)
            if change.is_done:
                await asyncio.sleep(_SERVICE_NOTICES_S)
                change.message = ""
        finally:
            self._on_change()
            change.is_over, change.fraction = True, None

    def _merge(self, rows: Iterable[dict[str, Any]]) -> list[EngineRecord]:
        """Return one record per engine, from one row per tool; an add-on's row has no tool."""
        records: dict[str, EngineRecord] = {}
        for row in rows:
            name = row.get("engine")
            if not name:
                continue
            previous = records.get(name)
            change = self._changes.get(name, _EngineChange(is_over=True))
            records[name] = EngineRecord(
                name=name,
                method=row.get("method") or name,
                kind=row.get("kind") or "genuine",
                licence=row.get("licence") or "",
                licence_note=row.get("licence_note") or "",
                weights=tuple(map(_read_weights, row.get("weights") or ())),
                terms=tuple(map(_read_terms, row.get("terms") or ())),
                weights_note=row.get("weights_note") or "",
                optional_method=row.get("optional_method") or "",
                disk_mb=row.get("disk_mb") or 0,
                installed_mb=row.get("installed_mb") or 0,
                tools=(*(previous.tools if previous else ()), *([row["tool"]] if row["tool"] else [])),
                adds_to=tuple(row.get("adds_to") or ()),
                has_environment=bool(row.get("has_environment")),
                is_installed=bool(row.get("runs")),
                has_files=bool(row.get("has_files")),
                how=row.get("how") or "",
                is_busy=not change.is_over,
                fraction=change.fraction,
                message=change.message,
                has_failed=change.has_failed,
            )
        return list(records.values())


def _read_weights(row: Mapping[str, Any]) -> EngineWeightsRecord:
    return EngineWeightsRecord(
        name=row["name"],
        host=urlsplit(row["url"]).hostname or "",
        source=row["source"],
        licence=row["licence"],
        size_bytes=row["size_bytes"],
        is_exact=row["is_exact"],
        is_optional=row["optional"],
        is_installed=row["state"] == "published",
    )


def _read_terms(row: Mapping[str, Any]) -> EngineTermsRecord:
    return EngineTermsRecord(
        name=row["name"],
        licence=row["licence"],
        source=row["source"],
        url=row["url"],
        is_optional=row["optional"],
        is_asked=row["asked"],
        user=row["user"] or "",
        accepted=row["accepted"],
    )


async def _start(action: str, *arguments: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "foldnote", "engines", action, *arguments),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=settings.process_environment(),
        limit=_MAX_LINE_BYTES,
        start_new_session=True,  # so that _end can kill its child processes, too
    )


async def _cancel(tasks: Iterable[asyncio.Task[None]]) -> None:
    waiting = list(tasks)
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)


async def _end(process: asyncio.subprocess.Process) -> None:
    """Terminate a process and its children; kill them if they are still running after ``_END_S``."""
    for is_forced in (False, True):
        with suppress(ProcessLookupError):
            if sys.platform == "win32":
                process.kill()
            else:
                os.killpg(process.pid, signal.SIGKILL if is_forced else signal.SIGTERM)
        with suppress(TimeoutError):
            async with asyncio.timeout(_END_S):
                await process.wait()
                return


async def _run_change(action: str, name: str, options: Sequence[str], change: _EngineChange) -> None:
    """Run the command and copy its progress into ``change``."""
    process, error = None, ""
    try:
        process = await _start(action, name, *options)
        async with asyncio.TaskGroup() as group:  # a full pipe would stop the command
            complaint = group.create_task(_read_last_line(process))
            async for event in _read_events(process):
                change.fraction = event.get("fraction", change.fraction)
                error = str(event.get("error") or error)
                change.message = str(event.get("message") or change.message)
        change.has_failed = await process.wait() != 0
        change.is_done = not change.has_failed
        if change.has_failed:
            change.message = error or complaint.result() or change.message
    except OSError as exc:
        change.has_failed, change.message = True, f"The installer cannot be started: {exc}. Try again."
    finally:
        if process is not None and process.returncode is None:
            await _end(process)


async def _read_last_line(process: asyncio.subprocess.Process) -> str:
    """Return the last line on standard error, once the stream has ended."""
    output = await process.stderr.read() if process.stderr else b""
    return next(iter(output.decode(errors="replace").strip().splitlines()[-1:]), "")


async def _read_events(process: asyncio.subprocess.Process) -> AsyncIterator[dict[str, Any]]:
    while process.stdout and (line := await process.stdout.readline()):
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict):
            yield event
