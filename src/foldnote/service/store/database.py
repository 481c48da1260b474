"""What the store's queries need of a database, whichever it is: transactions, and a sign of changes.

Queries are SQLAlchemy Core or SQL that both databases understand. SQLite has one writer at a time. PostgreSQL
has one writer per account, and one in all for what belongs to no account, so that a query may rely on what it
read in its own transaction with either.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from threading import Event
from typing import Any, Protocol, TypeVar

import sqlalchemy as sa

Found = TypeVar("Found")
KEYS_AT_ONCE = 500
"""Values that one statement looks for."""


class StorageFaultError(Exception):
    """The database cannot be used now: the disk is full (`is_full`) or fails, or the file is locked."""

    def __init__(self, message: str, *, is_full: bool = False) -> None:
        super().__init__(message)
        self.is_full = is_full


def call_while_full(act: Callable[[], Found], pauses_s: Sequence[float]) -> Found:
    """Call `act`, and call it again after each pause as long as the disk is full.

    Args:
        act: what may need space.
        pauses_s: seconds before each repetition.

    Raises:
        StorageFaultError: the disk is still full, or the database cannot be used.
    """
    for pause_s in pauses_s:
        try:
            return act()
        except StorageFaultError as exc:
            if not exc.is_full:
                raise
        time.sleep(pause_s)
    return act()


def marks(values: Collection[object]) -> str:
    """SQL placeholders for these values, separated by commas."""
    return ",".join("?" * len(values))


def has_any(database: Database, query: str) -> bool:
    """Whether a query without values finds any row; it costs a twentieth of a read transaction.

    Raises:
        StorageFaultError: the database cannot be read now.
    """
    with database.glance(is_single=True) as connection:
        return connection.execute(query).fetchone() is not None


def repeat_last(keys: Sequence[Found]) -> Sequence[Found]:
    """The keys, the last one repeated up to a power of two, so that few different statements are prepared."""
    number = len(keys)
    return [keys[min(each, number - 1)] for each in range(1 << (number - 1).bit_length())] if keys else []


class BareConnection(Protocol):
    """A connection of the database's own driver, for queries that must be fast."""

    def execute(self, query: str, values: Any = ..., /) -> Any:
        """Run a query, whose values are marked by `?`, and return its cursor."""
        ...


class Database(Protocol):
    """A database of the service."""

    is_shared: bool
    """Whether several replicas of the service use it, on other machines, too."""

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
            jobs: the same, for the accounts of these jobs; empty for none yet (see `try_own`).

        Raises:
            StorageFaultError: the database cannot be written now. If the connection was lost during the
                commit, it is not known whether it took place.
        """
        ...

    def try_own(self, connection: sa.Connection, account_id: int) -> bool:
        """Add an account to those that a write transaction may change; False if another one changes it."""
        ...

    def glance(self, *, is_single: bool = False) -> AbstractContextManager[BareConnection]:
        """Open a read transaction on a bare connection.

        Args:
            is_single: each statement needs a snapshot of its own only, so that a server is asked once for it
                and not three times.

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

    def listen(self, on_change: Callable[[], None]) -> None:
        """Call a function from another thread after commits of other replicas; it is a hint only."""
        ...

    def alone(self, work: str) -> AbstractContextManager[bool]:
        """Whether no other replica does this work, nor begins it before the block ends.

        It saves work and protects nothing: after the connection is lost, two may do it.

        Raises:
            StorageFaultError: the database cannot be used now.
        """
        ...

    def seconds(self) -> float:
        """The clock by which leases are kept: Unix time (s).

        Raises:
            StorageFaultError: the database cannot be read now.
        """
        ...

    def size_bytes(self) -> int:
        """Size of the database and its log, in bytes.

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
