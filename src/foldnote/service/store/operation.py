"""Totals over all accounts for monitoring, and a check that the database is writable."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from foldnote.service.store import clock
from foldnote.service.store.database import Database
from foldnote.service.store.jobs.conditions import IS_QUEUED, IS_RUNNING
from foldnote.service.store.jobs.counting import ALL_JOBS, FAILED
from foldnote.service.store.jobs.records import BATCH_TYPE
from foldnote.service.store.schema import counters, files, identity, jobs, leavings

_BY_STATE = (
    sa.select(counters.c.state, sa.func.sum(counters.c.count))
    .where(counters.c.parent_id == ALL_JOBS, counters.c.state != FAILED)
    .group_by(counters.c.state)
)
_UNFINISHED = tuple(
    sa.select(jobs.c.type, jobs.c.state, sa.func.count())
    .where(condition, jobs.c.type != BATCH_TYPE)
    .group_by(jobs.c.type, jobs.c.state)
    for condition in (IS_QUEUED, IS_RUNNING)
)
_CREATED = sa.select(jobs.c.created).where(jobs.c.id == sa.bindparam("job"))
_STORED = (
    sa.select(sa.func.sum(files.c.size)).where(files.c.deleted.is_(None)),
    sa.select(sa.func.sum(jobs.c.stored_bytes + sa.func.coalesce(jobs.c.result_size, 0))).where(
        jobs.c.is_purged == 0
    ),
    sa.select(sa.func.sum(leavings.c.bytes)),
)
_UNCHANGED = sa.update(identity).values(since=identity.c.since)


@dataclass(frozen=True)
class JobTotals:
    """Numbers of jobs.

    Attributes:
        states: jobs by status, batches included.
        unfinished: jobs that wait or run, by tool and status, without batches.
    """

    states: dict[str, int]
    unfinished: dict[tuple[str, str], int]


class OperationStore:
    """Queries of administration and monitoring; only `stored_bytes` scans the ended jobs."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def job_totals(self) -> JobTotals:
        """Return the numbers of jobs of all accounts."""
        with self._database.read() as connection:
            states = {state: int(number) for state, number in connection.execute(_BY_STATE)}
            rows = [row for query in _UNFINISHED for row in connection.execute(query)]
        return JobTotals(states, {(tool, state): int(number) for tool, state, number in rows})

    def age_s(self, job_id: int) -> float:
        """Return the seconds since a job was submitted; 0 if it was deleted meanwhile."""
        with self._database.read() as connection:
            created = connection.execute(_CREATED, {"job": job_id}).scalar_one_or_none()
        if created is None:
            return 0.0
        return max(0.0, (clock.read(clock.now()) - clock.read(created)).total_seconds())

    def stored_bytes(self) -> int:
        """Return the bytes that all accounts use, as counted for their storage limits."""
        with self._database.read() as connection:
            return sum(int(connection.execute(query).scalar_one() or 0) for query in _STORED)

    def check_writable(self) -> None:
        """Change a row and roll back, which fails like any write but leaves no trace.

        Raises:
            StorageFaultError: the database cannot be written now.
        """
        try:
            with self._database.write(jobs=()) as connection:
                connection.execute(_UNCHANGED)
                raise _RolledBack
        except _RolledBack:
            return


class _RolledBack(Exception):  # noqa: N818  no error: it rolls a transaction back
    pass
