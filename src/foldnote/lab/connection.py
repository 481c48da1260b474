"""Reaching one job service without ever blocking the Jupyter server.

Starting the embedded service and reading a key ring may take seconds, so both happen in a thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from foldnote import settings
from foldnote.settings import Profile

if TYPE_CHECKING:
    from foldnote.client import AsyncClient


@dataclass(frozen=True)
class ReadyClient:
    """A client that is ready.

    Attributes:
        client: asks the service.
        url: base address of the service.
    """

    client: AsyncClient
    url: str


Connect = Callable[[Profile], Awaitable[ReadyClient]]
"""What opens a connection for a profile; raises FoldnoteError."""


async def connect(profile: Profile) -> ReadyClient:
    """A client for ``profile``; the embedded service is started when it does not run.

    Raises:
        FoldnoteError: the service cannot be started, or the profile cannot be used.
    """
    return await asyncio.to_thread(_open, profile)


class ProfileConnection:
    """The connection to the service of one profile; made when it is needed, dropped after a fault."""

    def __init__(self, profile_name: str | None, connect: Connect = connect) -> None:
        """Nothing is opened yet; ``profile_name`` None means the profile that is active then."""
        self._profile_name = profile_name
        self._connect = connect
        self._connection: ReadyClient | None = None
        self._opening = asyncio.Lock()

    @property
    def is_open(self) -> bool:
        """Whether a client is ready."""
        return self._connection is not None

    def find_profile(self) -> Profile:
        """The profile that is meant.

        Raises:
            ConfigurationError: no profile is called so.
        """
        return settings.active_profile(self._profile_name)

    async def open(self) -> ReadyClient:
        """The connection.

        Raises:
            FoldnoteError: the service cannot be started, or the profile cannot be used.
        """
        async with self._opening:
            if self._connection is None:
                self._connection = await self._connect(self.find_profile())
            return self._connection

    async def close(self) -> None:
        """Drop the connection."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.client.close()


def _open(profile: Profile) -> ReadyClient:
    from foldnote.client import AsyncClient
    from foldnote.client.local.embedded import ensure_service

    url = profile.base_url or ensure_service().url
    return ReadyClient(AsyncClient(profile.name), url)
