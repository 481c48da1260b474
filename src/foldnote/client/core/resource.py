"""What every resource holds: the connection to the service and the transport."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from foldnote.client.core.connection import ServiceConnection
from foldnote.client.core.operations import Api
from foldnote.errors import FoldnoteError

if TYPE_CHECKING:
    from foldnote.client.local.ledger import Ledger


class Resource(Api):
    """A noun of the interface; its operations are generators over the connection.

    A subclass that is a ``SyncApi``, too, returns their values; one that is an ``AsyncApi`` awaits them.
    """

    def __init__(self, connection: ServiceConnection, transport: Any) -> None:
        self._connection = connection
        self._transport = transport

    @property
    def ledger(self) -> Ledger:
        """What was submitted to this service from here."""
        from foldnote.client.local.ledger import Ledger  # sqlite3 is loaded by what submits, not by all

        return Ledger(service=self._connection.service)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._connection.service}>"


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
