"""Reaching the job service without ever blocking the Jupyter server.

Starting the embedded service and reading a key ring may take seconds, so both happen in a thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from foldnote.settings import Profile

if TYPE_CHECKING:
    from foldnote.client import AsyncClient


@dataclass(frozen=True)
class Connection:
    """A client that is ready.

    Attributes:
        client: asks the service.
        url: base address of the service.
    """

    client: AsyncClient
    url: str


Connect = Callable[[Profile], Awaitable[Connection]]
"""What opens a connection for a profile; raises FoldnoteError."""


async def connect(profile: Profile) -> Connection:
    """A client for ``profile``; the embedded service is started when it does not run.

    Raises:
        FoldnoteError: the service cannot be started, or the profile cannot be used.
    """
    return await asyncio.to_thread(_open, profile)


def _open(profile: Profile) -> Connection:
    from foldnote.client import AsyncClient
    from foldnote.client.embedded import ensure_service

    url = profile.base_url or ensure_service().url
    return Connection(AsyncClient(), url)
