"""What the store's queries need of a database: transactions, and a sign of changes.

Queries are SQLAlchemy Core, or SQL that is not of one database only. A write transaction names the accounts
whose rows it changes, so that a database with several writers can keep others from changing them meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import AbstractContextManager
from threading import Event
from typing import Any, Protocol, TypeVar

import sqlalchemy as sa

Found = TypeVar("Found")


class StorageFaultError(Exception):
    """The database cannot be used now: the disk is full (`is_full`) or fails, or the file is locked."""

    def __init__(self, message: str, *, is_full: bool = False) -> None:
        super().__init__(message)
        self.is_full = is_full


class BareConnection(Protocol):
    """A connection of the database's own driver, for queries that must be fast."""

    def execute(self, query: str, values: Any = ..., /) -> Any:
        """Run a query, whose values are marked by `?`, and return its cursor."""
        ...


class Database(Protocol):
    """A database of the service."""

    def read(self) -> AbstractContextManager[sa.Connection]:
        """Open a read transaction, which sees one snapshot.

        Raises:
            StorageFaultError: the database cannot be read now.
        """
        ...

    def write(
        self, *owners: int, jobs: Collection[int] | None = None
    ) -> AbstractContextManager[sa.Connection]:
        """Open a write transaction: durable when the block ends, rolled back if it raises.

        No other transaction changes what belongs to these accounts, or anything if neither is given.

        Args:
            owners: accounts whose jobs, files and counters it changes.
            jobs: the same, for the accounts of these jobs; empty for none.

        Raises:
            StorageFaultError: the database cannot be written now.
        """
        ...

    def glance(self) -> AbstractContextManager[BareConnection]:
        """Open a read transaction on a bare connection.

        Raises:
            StorageFaultError: the database cannot be read now.
        """
        ...

    def repeat_while_full(self, act: Callable[[], Found]) -> Found:
        """Call `act`, and retry a few times while the disk is full.

        Raises:
            StorageFaultError: the disk is still full, or the database cannot be used.
        """
        ...

    def version(self, account_id: int = 0) -> int:
        """A number that changes when the account's rows may have changed; reading it takes microseconds.

        Raises:
            StorageFaultError: the database cannot be read now.
        """
        ...

    def reclaim(self, stop: Event, *, keeps_log: bool = False) -> bool:
        """Remove remains of deleted rows from the files, until `stop`; False if some are left.

        Raises:
            StorageFaultError: the disk is full or fails.
        """
        ...

    def close(self) -> None:
        """Close every connection."""
        ...
