"""Copy a service's whole database into an empty one of either kind: to PostgreSQL, and back for a backup."""

from __future__ import annotations

from contextlib import closing, suppress
from pathlib import Path

import sqlalchemy as sa

from foldnote.errors import ConfigurationError
from foldnote.service.backups.swapping import require_complete
from foldnote.service.layout import DATABASE, REPLICAS
from foldnote.service.lock import FolderLock
from foldnote.service.store.address import StoreAddress
from foldnote.service.store.database import Database
from foldnote.service.store.schema import accounts, identity, jobs, metadata, replicas
from foldnote.service.store.sqlite_database import SqliteDatabase
from foldnote.service.store.store import open_database

_ROWS = 1000
MOVED = f"{DATABASE}.moved"


def copy_rows(source: Database, target: Database) -> None:
    """Copy every row from one snapshot, in one transaction; the target must be empty.

    Raises:
        StorageFaultError: one of them cannot be used now; nothing was copied.
    """
    with source.read() as original, target.write() as copy:
        copy.execute(sa.delete(identity))
        for table in metadata.sorted_tables:
            if table is replicas:  # no replica is alive
                continue
            query = sa.select(table).order_by(*table.primary_key)
            found = original.execution_options(yield_per=_ROWS).execute(query)
            for rows in found.mappings().partitions():
                copy.execute(sa.insert(table), [dict(row) for row in rows])
            if target.is_shared:
                _continue_numbers(copy, table)


def _continue_numbers(connection: sa.Connection, table: sa.Table) -> None:
    """Let new rows continue the numbers of the copied rows."""
    key = list(table.primary_key)
    last = connection.execute(sa.select(sa.func.max(key[0]))).scalar()
    if len(key) == 1 and isinstance(last, int) and last > 0:
        sequence = sa.func.pg_get_serial_sequence(table.name, key[0].name)
        connection.execute(sa.select(sa.func.setval(sequence, last)))


def move_to_server(folder: Path, address: StoreAddress) -> int:
    """Move the database of a stopped service from its data folder to PostgreSQL; return the number of jobs.

    The file stays in the folder under another name. If a move was interrupted after the copy was committed,
    the next one completes it.

    Raises:
        ConfigurationError: the service is running, there is no database to move, or the one at the server has
            data.
        StorageFaultError: a database cannot be used now; nothing was changed.
    """
    if not (folder / DATABASE).is_file():
        raise ConfigurationError(f"{folder} has no {DATABASE} to move.")
    lock = FolderLock(folder, "data folder")
    lock.take()
    try:
        require_complete(folder)
        with (
            closing(SqliteDatabase(folder / DATABASE)) as source,
            closing(open_database(address, lambda: None)) as target,
        ):
            if _name_of(source) != _name_of(target):
                _require_empty(target, address)
                copy_rows(source, target)
            with target.read() as connection:
                number = connection.execute(sa.select(sa.func.count()).select_from(jobs)).scalar_one()
        for ending in ("", "-wal", "-shm", "-run"):
            with suppress(FileNotFoundError):
                (folder / f"{DATABASE}{ending}").rename(folder / f"{MOVED}{ending}")
    finally:
        lock.release()
    return int(number)


def _name_of(database: Database) -> str:
    with database.read() as connection:
        return str(connection.execute(sa.select(identity.c.name)).scalar_one())


def require_new(folder: Path, address: StoreAddress | None) -> None:
    """Check that replicas have not used a folder and a database, if any, before a restore into them.

    Raises:
        ConfigurationError: one of them has.
    """
    if (folder / REPLICAS).exists():
        raise ConfigurationError(f"{folder} is used by replicas. Restore to a new data folder.")
    if address is not None:
        with closing(open_database(address, lambda: None)) as database:
            _require_empty(database, address)


def _require_empty(database: Database, address: StoreAddress) -> None:
    with database.read() as connection:
        if connection.execute(sa.select(accounts.c.id).limit(1)).first() is not None:
            raise ConfigurationError(
                f"The database {address.shown} already has a service's data. Give the address of an empty"
                " one."
            )
