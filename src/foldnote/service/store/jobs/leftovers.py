"""Folders of ended attempts, for the cleanup that removes them from the disk."""

from __future__ import annotations

import sqlalchemy as sa

from foldnote.service.store.database import Database
from foldnote.service.store.schema import attempts


class LeftoverStore:
    """Queries about ended attempts."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def last_ended(self, most: int) -> list[str]:
        """Return the folders of the attempts that ended most recently, newest first."""
        query = sa.select(attempts.c.folder).where(attempts.c.ended.is_not(None))
        with self._database.read() as connection:
            return list(connection.execute(query.order_by(attempts.c.ended.desc()).limit(most)).scalars())

    def of_job(self, job_id: int) -> list[str]:
        """Return the folders of all attempts of a job."""
        query = sa.select(attempts.c.folder).where(attempts.c.job_id == job_id)
        with self._database.read() as connection:
            return list(connection.execute(query).scalars())
