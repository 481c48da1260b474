"""The engines view's side of this computer: ``foldnote engines`` as a program of its own.

A program, because installing takes minutes and the service's room is none of this one's; what it prints is
read as it comes, and every page is told the same.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from typing import Any

from foldnote import settings
from foldnote.errors import FoldnoteError
from foldnote.lab.answers import EngineRecord, EnginesAnswer

_LIST_S = 60.0


@dataclass
class _Work:
    """An installation or a removal, while it goes on and after it has failed."""

    is_over: bool = False
    fraction: float | None = None
    message: str = ""
    has_failed: bool = False


class EngineDesk:
    """Lists, installs and removes engines of this computer."""

    def __init__(self) -> None:
        """Nothing is asked yet."""
        self._works: dict[str, _Work] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def list_engines(self) -> EnginesAnswer:
        """Every engine that is known here, with what goes on.

        Raises:
            FoldnoteError: the list cannot be made.
        """
        process = await _start("list", "--json")
        try:
            async with asyncio.timeout(_LIST_S):
                written, complaint = await process.communicate()
        except TimeoutError:
            process.kill()
            raise
        if process.returncode:
            raise FoldnoteError(complaint.decode(errors="replace").strip().splitlines()[-1])
        return EnginesAnswer(engines=tuple(self._merge(json.loads(written))))

    def begin(self, action: str, name: str) -> None:
        """Begin to ``install`` or ``remove`` an engine.

        Raises:
            FoldnoteError: it is under way already.
        """
        work = self._works.get(name)
        if work is not None and not work.is_over:
            raise FoldnoteError(f"{name} is being changed already. Wait for the end.")
        self._works[name] = work = _Work(message="Starting")
        task = asyncio.create_task(_follow(action, name, work), name=f"foldnote-engine-{name}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """End what is under way; an installation that is cut off leaves no half engine behind."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _merge(self, rows: Iterable[dict[str, Any]]) -> list[EngineRecord]:
        """One record an engine, from one row a tool."""
        found: dict[str, EngineRecord] = {}
        for row in rows:
            name = row.get("engine")
            if not name:
                continue
            before = found.get(name)
            work = self._works.get(name, _Work(is_over=True))
            found[name] = EngineRecord(
                name=name,
                method=row.get("method") or name,
                kind=row.get("kind") or "genuine",
                licence=row.get("licence") or "",
                tools=(*(before.tools if before else ()), row["tool"]),
                is_installed=bool(row.get("runs")),
                how=row.get("how") or "",
                is_busy=not work.is_over,
                fraction=work.fraction,
                message=work.message,
                has_failed=work.has_failed,
            )
        return list(found.values())


async def _start(action: str, *arguments: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "foldnote", "engines", action, *arguments),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=settings.process_environment(),
    )


async def _follow(action: str, name: str, work: _Work) -> None:
    """Read what the program prints until it ends."""
    process = await _start(action, name, *(["--json"] if action == "install" else []))
    try:
        async for event in _read_events(process):
            work.fraction = event.get("fraction", work.fraction)
            work.message = str(event.get("error") or event.get("message") or work.message)
        complaint = await process.stderr.read() if process.stderr else b""
        work.has_failed = await process.wait() != 0
        if not work.has_failed:
            work.message = ""
        elif complaint.strip():
            work.message = complaint.decode(errors="replace").strip().splitlines()[-1]
    finally:
        work.is_over, work.fraction = True, None
        if process.returncode is None:
            process.terminate()
            await process.wait()


async def _read_events(process: asyncio.subprocess.Process) -> AsyncIterator[dict[str, Any]]:
    while process.stdout and (line := await process.stdout.readline()):
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict):
            yield event
