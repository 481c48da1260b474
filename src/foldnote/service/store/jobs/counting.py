"""Counters of jobs by status, updated in the transaction that changes the job."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.sqlite import insert

from foldnote.models.status import JobStatus
from foldnote.service.store.database import RawConnection, placeholders
from foldnote.service.store.schema import counters

TOP_LEVEL = 0
ALL_JOBS = -1
FAILED = "failed"
"""Counter of the failed ones among the stopped subjobs of a batch, in addition to those of the statuses."""
_STATUS_NAMES = tuple(str(status) for status in JobStatus)
_ADD_TO_COUNTER = insert(counters)
_ADD_TO_COUNTER = _ADD_TO_COUNTER.on_conflict_do_update(
    index_elements=["account_id", "parent_id", "state"],
    set_={"count": counters.c.count + _ADD_TO_COUNTER.excluded.count},
)


@dataclass(frozen=True)
class StatusChange:
    """Jobs that changed from status `left` to `entered`; None means that they are not listed.

    Attributes:
        account_id: owner of the jobs.
        parent_id: the batch of subjobs.
        left: the status before.
        entered: the status after.
        number: number of jobs.
        failed: change in the number of jobs that are stopped because they failed.
    """

    account_id: int
    parent_id: int | None
    left: str | None
    entered: str | None
    number: int = 1
    failed: int = 0


def apply_status_changes(connection: sa.Connection, moves: Iterable[StatusChange]) -> None:
    """Apply these changes to the counters."""
    counts: Counter[tuple[int, int, str]] = Counter()
    for move in moves:
        for scope in (move.parent_id or TOP_LEVEL, ALL_JOBS):
            for state, step in ((move.left, -move.number), (move.entered, move.number)):
                if state is not None:
                    counts[move.account_id, scope, str(state)] += step
        if move.parent_id is not None:
            counts[move.account_id, move.parent_id, FAILED] += move.failed
    steps = [
        {"account_id": account_id, "parent_id": scope, "state": state, "count": step}
        for (account_id, scope, state), step in counts.items()
        if step != 0
    ]
    if steps:
        connection.execute(_ADD_TO_COUNTER, steps)


@dataclass
class Counts:
    """Number of jobs by status (all four present), and the number of a batch's stopped jobs that failed."""

    statuses: dict[str, int]
    failed: int = 0


def zero_counts() -> Counts:
    """Return the counts of an empty listing."""
    return Counts(dict.fromkeys(_STATUS_NAMES, 0))


def read_counts(connection: sa.Connection, account_ids: Iterable[int], scope: int) -> Counts:
    """Return the counts of one scope."""
    query, values = _build_query(tuple(account_ids), [scope])
    if connection.dialect.name != "sqlite":
        query = query.replace("?", "%s")
    return counts_by_scope([scope], connection.exec_driver_sql(query, values))[scope]


def read_counts_raw(
    connection: RawConnection, account_ids: Iterable[int], scopes: Collection[int]
) -> dict[int, Counts]:
    """Return the counts of several scopes, on a bare connection for speed."""
    return counts_by_scope(scopes, connection.execute(*_build_query(tuple(account_ids), scopes)))


def _build_query(owners: tuple[int, ...], scopes: Collection[int]) -> tuple[str, tuple[int, ...]]:
    text = (
        "SELECT parent_id, state, sum(count) FROM counters"  # noqa: S608  placeholders only
        f" WHERE account_id IN ({placeholders(owners)}) AND parent_id IN ({placeholders(scopes)})"
        " GROUP BY parent_id, state"
    )
    return text, (*owners, *scopes)


def counts_by_scope(scopes: Iterable[int], rows: Iterable[Any]) -> dict[int, Counts]:
    """Return the counts of these scopes from rows of scope, state and number."""
    counts = {scope: zero_counts() for scope in scopes}
    for scope, state, count in rows:
        if state == FAILED:
            counts[scope].failed = int(count)
        else:
            counts[scope].statuses[state] = int(count)
    return counts
