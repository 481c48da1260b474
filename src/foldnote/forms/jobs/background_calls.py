"""From a form's settings to a job, without blocking the kernel.

A running loop (a notebook) gets a task, a plain interpreter a blocking call; either kind of client serves.
Files of this computer are uploaded first, under a folder named by their contents, so that the same file
always has the same name and a run with other contents another one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from foldnote.client.core.operations import AsyncApi
from foldnote.forms.jobs.job_name import name_folder
from foldnote.io import hash_file

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


async def call(resource: Any, name: str, *args: Any, **more: Any) -> Any:
    """What the operation ``name`` of a client's resource gives.

    A blocking client gets a thread, so that the kernel goes on serving.
    """
    operation = getattr(resource, name)
    if isinstance(resource, AsyncApi):
        return await operation(*args, **more)
    return await asyncio.to_thread(operation, *args, **more)


async def upload_file(client: Any, path: Path, say: Say) -> str:
    """Upload a file of this computer and give the name under which settings can use it."""
    say(f"Uploading {path.name}…")
    folder = name_folder(await asyncio.to_thread(hash_file, path))
    return str(await call(client.files, "upload", path, folder=folder))
