"""The interface that the store's queries need from either database: transactions and change detection.

Queries are SQLAlchemy Core or SQL that both databases understand. SQLite has one writer at a time. PostgreSQL
has one writer per account, and one for everything that belongs to no account. Thus with either database a
query may rely on what it read in its own transaction.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from threading import Event
from typing import Any, Protocol, TypeVar

import sqlalchemy as sa

Found = TypeVar("Found")
_VALUES_AT_ONCE = 500


class StorageFaultError(Exception):
    """The database cannot be used now: the disk is full (`is_full`) or fails, or the file is locked."""

    def __init__(self, message: str, *, is_full: bool = False) -> None:
        super().__init__(message)
        self.is_full = is_full


def retry_while_disk_full(act: Callable[[], Found], pauses_s: Sequence[float]) -> Found:
    """Call `act`, and retry it after each pause while the disk is full.

    Args:
        act: function that may need disk space.
        pauses_s: seconds before each retry.

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


def placeholders(values: Collection[object]) -> str:
    """Return SQL placeholders for these values, separated by commas."""
    return ",".join("?" * len(values))


def split(values: Sequence[Found]) -> Iterator[Sequence[Found]]:
    """Yield the values in blocks that are small enough for one statement."""
    for start in range(0, len(values), _VALUES_AT_ONCE):
        yield values[start : start + _VALUES_AT_ONCE]


def has_any(database: Database, query: str) -> bool:
    """Return whether a query without values finds any row, in a twentieth of the time of a read transaction.

    Raises:
        StorageFaultError: the database cannot be read now.
    """
    with database.read_raw(is_single=True) as connection:
        return connection.execute(query).fetchone() is not None


def pad_to_power_of_two(keys: Sequence[Found]) -> Sequence[Found]:
    """Pad keys to a power of two by repeating the last one, so that few distinct statements are prepared."""
    number = len(keys)
    return [keys[min(index, number - 1)] for index in range(1 << (number - 1).bit_length())] if keys else []


class RawConnection(Protocol):
    """A connection of the database's own driver, for queries that must be fast."""

    def execute(self, query: str, values: Any = ..., /) -> Any:
        """Run a query with `?` as placeholder, and return its cursor."""
        ...


class Database(Protocol):
    """A database of the service."""

    is_shared: bool
    """Whether several replicas of the service use the database, possibly from other machines."""

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

        No other transaction changes these accounts' rows; with neither argument, no other transaction writes
        at all.

        Args:
            owners: accounts whose jobs, files and counters are changed.
            jobs: in place of accounts, jobs whose accounts are changed; empty for none yet (see
                `try_lock_account`).

        Raises:
            StorageFaultError: the database cannot be written now. If the connection was lost during the
                commit, the changes may or may not have been committed.
        """
        ...

    def try_lock_account(self, connection: sa.Connection, account_id: int) -> bool:
        """Add an account to those that a write transaction may change; return False if another one does."""
        ...

    def read_raw(self, *, is_single: bool = False) -> AbstractContextManager[RawConnection]:
        """Open a read transaction on a bare connection.

        Args:
            is_single: each statement needs only its own snapshot, which saves two of three round trips to a
                server.

        Raises:
            StorageFaultError: the database cannot be read now.
        """
        ...

    def retry_while_disk_full(self, act: Callable[[], Found]) -> Found:
        """Call `act`, and retry a few times while the disk is full.

        Raises:
            StorageFaultError: the disk is still full, or the database cannot be used.
        """
        ...

    def version(self, account_id: int = 0) -> int:
        """Return a number that changes when the account's rows may have changed; takes microseconds.

        Raises:
            StorageFaultError: the database cannot be read now.
        """
        ...

    def listen(self, on_change: Callable[[], None]) -> None:
        """Register a callback, called from another thread after commits of other replicas; only a hint."""
        ...

    def hold_exclusively(self, work: str) -> AbstractContextManager[bool]:
        """Keep other replicas from this work within a block; its value is whether none is doing it already.

        It avoids duplicate work but guarantees nothing: after the connection is lost, two replicas may do it.

        Raises:
            StorageFaultError: the database cannot be used now.
        """
        ...

    def seconds(self) -> float:
        """Return the clock that leases use: Unix time (s).

        Raises:
            StorageFaultError: the database cannot be read now.
        """
        ...

    def size_bytes(self) -> int:
        """Return the size of the database and its log, in bytes.

        Raises:
            StorageFaultError: the database cannot be read now.
        """
        ...

    def reclaim(self, stop: Event, *, keeps_log: bool = False) -> bool:
        """Remove remains of deleted rows from the files, until `stop`; return False if some are left.

        Raises:
            StorageFaultError: the disk is full or fails.
        """
        ...

    def close(self) -> None:
        """Close every connection."""
        ...
