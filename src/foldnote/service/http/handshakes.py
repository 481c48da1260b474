"""Limit the time and the number of TLS handshakes that are not complete.

uvicorn's limits do not apply before the handshake is complete, yet each such connection is an open file.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from socket import socket

from foldnote.service.http.connections import ACCEPTED_AT_ONCE

HANDSHAKE_S = 10.0
_CLOSED_S = HANDSHAKE_S + 1.0
"""Time after which a connection whose handshake failed is closed in any case."""


class PendingHandshakes:
    """Accepts connections for `asyncio`, which closes a connection if this raises.

    Args:
        connect: creates the protocol of a connection whose handshake is complete.
        limit: maximum number of handshakes at once. A failed one counts until its time is over, since
            `asyncio` does not report the failure.
    """

    def __init__(self, connect: Callable[[], asyncio.Protocol], limit: int) -> None:
        self._connect = connect
        self._limit = limit
        self._pending: dict[_PendingHandshake, float] = {}

    def accept(self) -> asyncio.Protocol:
        """Accept a connection.

        Raises:
            ConnectionAbortedError: too many others have not completed their handshake.
        """
        now = asyncio.get_running_loop().time()
        while self._pending and next(iter(self._pending.values())) < now - _CLOSED_S:
            del self._pending[next(iter(self._pending))]
        if len(self._pending) >= self._limit:
            raise ConnectionAbortedError("There are too many incomplete handshakes.")
        handshake = _PendingHandshake(self._on_handshake_done)
        self._pending[handshake] = now
        return handshake

    def _on_handshake_done(self, handshake: _PendingHandshake, transport: asyncio.BaseTransport) -> None:
        self._pending.pop(handshake, None)
        connection = self._connect()
        transport.set_protocol(connection)
        connection.connection_made(transport)


class _PendingHandshake(asyncio.Protocol):
    def __init__(self, on_handshake_done: Callable[[_PendingHandshake, asyncio.BaseTransport], None]) -> None:
        self._on_handshake_done = on_handshake_done

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Note that the handshake is complete."""
        self._on_handshake_done(self, transport)


async def listen_with_tls(
    listener: socket, context: ssl.SSLContext, connect: Callable[[], asyncio.Protocol], limit: int
) -> asyncio.Server:
    """Accept connections with TLS, and refuse new ones while ``limit`` handshakes are incomplete."""
    return await asyncio.get_running_loop().create_server(
        PendingHandshakes(connect, limit).accept,
        sock=listener,
        ssl=context,
        ssl_handshake_timeout=HANDSHAKE_S,
        backlog=ACCEPTED_AT_ONCE,
    )
