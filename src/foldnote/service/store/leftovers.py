"""What ended, for whoever removes what it left on the disk."""

from __future__ import annotations

import sqlalchemy as sa

from foldnote.service.store.database import Database
from foldnote.service.store.schema import attempts


class LeftoverStore:
    """Queries about attempts that are over."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def last_ended(self, most: int) -> list[tuple[int, int]]:
        """Row and number of the attempts that ended last, the newest first."""
        query = sa.select(attempts.c.job_id, attempts.c.number).where(attempts.c.ended.is_not(None))
        with self._database.read() as connection:
            rows = connection.execute(query.order_by(attempts.c.ended.desc()).limit(most))
            return [(row.job_id, row.number) for row in rows]
