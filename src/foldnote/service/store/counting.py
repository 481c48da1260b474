"""Counters of jobs by status, moved in the transaction that moves the job, so that nobody counts rows."""

from __future__ import annotations

from collections.abc import Iterable

import sqlalchemy as sa
from sqlalchemy.dialects.sqlite import insert

from foldnote.models.status import JobStatus
from foldnote.service.store.schema import counters

TOP_LEVEL = 0
ALL_JOBS = -1


def count_job(
    connection: sa.Connection,
    account_id: int,
    parent_id: int | None,
    *,
    left: str | None,
    entered: str | None,
    number: int = 1,
) -> None:
    """Take jobs out of the status `left` and put them into `entered`; None means outside the listing."""
    for scope in (parent_id or TOP_LEVEL, ALL_JOBS):
        for state, step in ((left, -number), (entered, number)):
            if state is not None:
                _add(connection, account_id, scope, state, step)


def _add(connection: sa.Connection, account_id: int, scope: int, state: str, step: int) -> None:
    values = {"account_id": account_id, "parent_id": scope, "state": str(state), "count": step}
    statement = insert(counters).values(values)
    connection.execute(
        statement.on_conflict_do_update(
            index_elements=["account_id", "parent_id", "state"], set_={"count": counters.c.count + step}
        )
    )


def read_counts(connection: sa.Connection, account_ids: Iterable[int], scope: int) -> dict[str, int]:
    """Jobs by status word, all four words present."""
    query = (
        sa.select(counters.c.state, sa.func.sum(counters.c.count))
        .where(counters.c.account_id.in_(tuple(account_ids)), counters.c.parent_id == scope)
        .group_by(counters.c.state)
    )
    counts = dict.fromkeys((str(status) for status in JobStatus), 0)
    counts.update({state: int(count) for state, count in connection.execute(query)})
    return counts
