"""Ended jobs of all accounts with their stored size, for an administrator who removes old or large ones."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from foldnote.models.status import FINAL_STATUSES
from foldnote.service.store.database import Database
from foldnote.service.store.schema import accounts, jobs

_subjobs = jobs.alias("subjobs")
_SIZES = (
    sa.select(
        _subjobs.c.parent_id,
        sa.func.sum(_subjobs.c.stored_bytes + sa.func.coalesce(_subjobs.c.result_size, 0)).label("bytes"),
        sa.func.sum(sa.case((_subjobs.c.state.in_(FINAL_STATUSES), 0), else_=1)).label("unfinished"),
    )
    .where(_subjobs.c.parent_id.is_not(None), _subjobs.c.deleted.is_(None))
    .group_by(_subjobs.c.parent_id)
    .subquery()
)
_ended = sa.func.coalesce(jobs.c.completed, jobs.c.created)
_ENDED = (
    sa.select(
        jobs.c.id,
        jobs.c.account_id,
        accounts.c.email,
        jobs.c.name,
        sa.func.coalesce(jobs.c.tool, jobs.c.type),
        _ended,
        jobs.c.stored_bytes + sa.func.coalesce(jobs.c.result_size, 0) + sa.func.coalesce(_SIZES.c.bytes, 0),
    )
    .join(accounts, accounts.c.id == jobs.c.account_id)
    .outerjoin(_SIZES, _SIZES.c.parent_id == jobs.c.id)
    .where(
        jobs.c.parent_id.is_(None),
        jobs.c.deleted.is_(None),
        jobs.c.state.in_(FINAL_STATUSES),
        sa.func.coalesce(_SIZES.c.unfinished, 0) == 0,
    )
    .order_by(_ended, jobs.c.id)
)


@dataclass(frozen=True)
class EndedJob:
    """A job, or a batch with all its jobs, that has ended.

    Attributes:
        job_id: row of the job or batch.
        account_id: its owner.
        email: address of the owner.
        name: name of the job or batch.
        tool: type of its tool.
        ended: RFC 3339, UTC.
        size_bytes: size of settings and results, as counted for the owner's storage limit.
    """

    job_id: int
    account_id: int
    email: str
    name: str
    tool: str
    ended: str
    size_bytes: int


class RetentionStore:
    """Queries over the jobs of all accounts, which may take seconds in a large database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def ended(self) -> list[EndedJob]:
        """Return the jobs and batches that have ended, oldest end first, without the jobs of batches."""
        with self._database.read() as connection:
            return [EndedJob(*row) for row in connection.execute(_ENDED)]
