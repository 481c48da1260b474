"""Connect to one job service without blocking the Jupyter server.

Starting the embedded service and reading a keyring may take seconds, so both happen in a thread.
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
    """A client and the address of its service.

    Attributes:
        client: the client.
        url: base address of the service.
    """

    client: AsyncClient
    url: str


Connect = Callable[[Profile], Awaitable[ReadyClient]]
"""Opens a connection for a profile; raises FoldnoteError."""


async def connect(profile: Profile) -> ReadyClient:
    """Return a client for ``profile``; the embedded service is started if it is not running.

    Raises:
        FoldnoteError: the service cannot be started, or the profile cannot be used.
    """
    return await asyncio.to_thread(_open, profile)


class ProfileConnection:
    """The connection to the service of one profile, opened on first use and dropped after an error."""

    def __init__(self, profile_name: str | None, connect: Connect = connect) -> None:
        """``profile_name`` None means the profile that is active when the connection is opened."""
        self._profile_name = profile_name
        self._connect = connect
        self._connection: ReadyClient | None = None
        self._opening = asyncio.Lock()

    @property
    def is_open(self) -> bool:
        """Whether a client is ready."""
        return self._connection is not None

    def find_profile(self) -> Profile:
        """Return the profile of the connection.

        Raises:
            ConfigurationError: there is no profile of this name.
        """
        return settings.active_profile(self._profile_name)

    async def open(self) -> ReadyClient:
        """Return the open connection.

        Raises:
            FoldnoteError: the service cannot be started, or the profile cannot be used.
        """
        async with self._opening:
            if self._connection is None:
                self._connection = await self._connect(self.find_profile())
            return self._connection

    async def close(self) -> None:
        """Close the connection."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.client.close()


def _open(profile: Profile) -> ReadyClient:
    from foldnote.client import AsyncClient
    from foldnote.client.local.embedded import ensure_service

    url = profile.base_url or ensure_service().url
    return ReadyClient(AsyncClient(profile.name), url)
