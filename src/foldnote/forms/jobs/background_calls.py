"""Calls of a client that do not block the kernel.

A running loop (a notebook) gets a task, a plain interpreter a blocking call; either kind of client serves.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from foldnote.client.core.operations import AsyncApi

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
