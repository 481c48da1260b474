"""Non-blocking calls of a sync or async client.

With a running event loop (in a notebook) they are tasks, in a plain interpreter blocking calls.
"""

from __future__ import annotations

import sys
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio

_tasks: set[asyncio.Task[Any]] = set()


def has_running_loop() -> bool:
    """Return whether this thread runs an event loop, as a notebook's kernel does."""
    asyncio = sys.modules.get("asyncio")  # already imported if a loop is running
    if asyncio is None:
        return False
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def start(work: Coroutine[Any, Any, Any]) -> Any:
    """Run ``work`` and return its result; with a running event loop, start it and return its task."""
    import asyncio

    if not has_running_loop():
        return asyncio.run(work)
    task = asyncio.get_running_loop().create_task(work)
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)
    return task


async def call(resource: Any, name: str, *args: Any, **options: Any) -> Any:
    """Call the operation ``name`` of a client's resource; a sync client is called in a thread."""
    import asyncio

    from foldnote.client.core.operations import AsyncApi

    operation = getattr(resource, name)
    if isinstance(resource, AsyncApi):
        return await operation(*args, **options)
    return await asyncio.to_thread(operation, *args, **options)
