"""Bytes that an account stores: uploads, settings, results, and deleted contents not yet removed."""

from __future__ import annotations

import sqlalchemy as sa

from foldnote.service.store.database import Database
from foldnote.service.store.schema import files, jobs, leavings

_HELD = sa.select(
    sa.select(sa.func.coalesce(sa.func.sum(files.c.size), 0))
    .where(files.c.account_id == sa.bindparam("account"), files.c.deleted.is_(None))
    .scalar_subquery()
    + sa.select(
        sa.func.coalesce(sa.func.sum(jobs.c.stored_bytes + sa.func.coalesce(jobs.c.result_size, 0)), 0)
    )
    .where(jobs.c.account_id == sa.bindparam("account"), jobs.c.is_purged == 0)
    .scalar_subquery()
    + sa.select(sa.func.coalesce(sa.func.sum(leavings.c.bytes), 0))
    .where(leavings.c.account_id == sa.bindparam("account"))
    .scalar_subquery()
)


class StorageStore:
    """Queries for the storage that accounts use and for contents to be removed."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def used(self, account_id: int) -> int:
        """Return the bytes used by an account; a content under several names counts once for each name."""
        with self._database.read() as connection:
            return int(connection.execute(_HELD, {"account": account_id}).scalar_one())

    def leavings(self) -> list[tuple[int, str]]:
        """Return row and SHA-256 of each released content that may still exist."""
        with self._database.read() as connection:
            rows = connection.execute(sa.select(leavings.c.id, leavings.c.sha256).order_by(leavings.c.id))
            return [(row.id, row.sha256) for row in rows]

    def forget(self, rows: list[int]) -> None:
        """Delete the rows of contents that were removed or are still used elsewhere."""
        with self._database.write(jobs=()) as connection:
            connection.execute(
                sa.delete(leavings).where(leavings.c.id == sa.bindparam("row")),
                [{"row": row} for row in rows],
            )


def release_contents(connection: sa.Connection, rows: list[dict[str, object]]) -> None:
    """Record released contents (`account_id`, `sha256`, `bytes`); they count until they are removed."""
    if rows:
        connection.execute(sa.insert(leavings), rows)
