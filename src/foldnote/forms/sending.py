"""From a form's settings to a job, without blocking the kernel.

A running loop (a notebook) gets a task, a plain interpreter a blocking call; either kind of client serves.
Files of this computer are uploaded first, under a folder named by their contents, so that the same file
always has the same name and a run with other contents another one.
"""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import json
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any

from foldnote.models.names import propose_job_name

Say = Callable[[str], None]
_tasks: set[asyncio.Task[Any]] = set()


def has_running_loop() -> bool:
    """Whether this thread runs an event loop: true in a notebook's kernel."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def start(work: Coroutine[Any, Any, Any]) -> Any:
    """Run ``work`` to its end and give its result; in a running loop, give its task."""
    if not has_running_loop():
        return asyncio.run(work)
    task = asyncio.get_running_loop().create_task(work)
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)
    return task


async def call(function: Callable[..., Any], *args: Any, **more: Any) -> Any:
    """The result of a client's method, whether the client blocks or is awaited."""
    if inspect.iscoroutinefunction(function):
        return await function(*args, **more)
    result = await asyncio.to_thread(function, *args, **more)
    return await result if inspect.isawaitable(result) else result


def identify(tool_type: str, normalized: Mapping[str, Any]) -> str:
    """A short text that is the same for the same tool with the same settings."""
    written = json.dumps([tool_type, normalized], sort_keys=True, ensure_ascii=True, default=str)
    return hashlib.sha256(written.encode()).hexdigest()[:16]


def propose_name(tool_type: str, normalized: Mapping[str, Any]) -> str:
    """The job name that these settings get when nobody types one."""
    return propose_job_name(tool_type, identify(tool_type, normalized))


async def upload_file(client: Any, path: Path, say: Say) -> str:
    """Upload a file of this computer and give the name under which settings can use it."""
    say(f"Uploading {path.name}…")
    folder = f"foldnote-{await asyncio.to_thread(_hash_file, path)}"
    await call(client.files.upload, path, folder=folder)
    return f"{folder}/{path.name}"


def _hash_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:12]
