"""What every resource holds: the connection to the service and the transport."""

from __future__ import annotations

from urllib.parse import quote

from foldnote.client.core.connection import ServiceConnection
from foldnote.client.core.operations import AsyncApi, AsyncTransport, SyncApi, Transport
from foldnote.errors import FoldnoteError


class Resource:
    """A noun of the interface; its operations are generators over the connection."""

    _connection: ServiceConnection

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._connection.service}>"


class SyncResource(SyncApi):
    """A resource whose operations return their value."""

    def __init__(self, connection: ServiceConnection, transport: Transport) -> None:
        self._connection = connection
        self._transport = transport


class AsyncResource(AsyncApi):
    """A resource whose operations return an awaitable."""

    def __init__(self, connection: ServiceConnection, transport: AsyncTransport) -> None:
        self._connection = connection
        self._transport = transport


def path_part(name: str) -> str:
    """``name`` as one segment of a path.

    Raises:
        FoldnoteError: it holds what no address can have.
    """
    try:
        return quote(name, safe="")
    except UnicodeEncodeError as exc:
        raise FoldnoteError(
            f"{name!r} holds a letter that no address can have. Choose another name."
        ) from exc
