"""Counters of jobs by status, moved in the transaction that moves the job, so that nobody counts rows."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

import sqlalchemy as sa
from sqlalchemy.dialects.sqlite import insert

from foldnote.models.status import JobStatus
from foldnote.service.store.schema import counters

TOP_LEVEL = 0
ALL_JOBS = -1
_WORDS = tuple(str(status) for status in JobStatus)
_SCOPES_AT_ONCE = 500
_STEP = insert(counters)
_STEP = _STEP.on_conflict_do_update(
    index_elements=["account_id", "parent_id", "state"],
    set_={"count": counters.c.count + _STEP.excluded.count},
)
_COUNTS = (
    sa.select(counters.c.parent_id, counters.c.state, sa.func.sum(counters.c.count))
    .where(
        counters.c.account_id.in_(sa.bindparam("owners", expanding=True)),
        counters.c.parent_id.in_(sa.bindparam("scopes", expanding=True)),
    )
    .group_by(counters.c.parent_id, counters.c.state)
)


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
    counts: Counter[tuple[int, int, str]] = Counter()
    add_counts(counts, account_id, parent_id, left=left, entered=entered, number=number)
    write_counts(connection, counts)


def add_counts(
    counts: Counter[tuple[int, int, str]],
    account_id: int,
    parent_id: int | None,
    *,
    left: str | None,
    entered: str | None,
    number: int = 1,
) -> None:
    """Add the steps of such a move to `counts`, by account, scope and state."""
    for scope in (parent_id or TOP_LEVEL, ALL_JOBS):
        for state, step in ((left, -number), (entered, number)):
            if state is not None:
                counts[account_id, scope, str(state)] += step


def write_counts(connection: sa.Connection, counts: Mapping[tuple[int, int, str], int]) -> None:
    """Move the counters by the steps that were added up."""
    steps = [
        {"account_id": account_id, "parent_id": scope, "state": state, "count": step}
        for (account_id, scope, state), step in counts.items()
        if step != 0
    ]
    if steps:
        connection.execute(_STEP, steps)


def read_counts(connection: sa.Connection, account_ids: Iterable[int], scope: int) -> dict[str, int]:
    """Jobs by status word, all four words present."""
    return read_many_counts(connection, account_ids, [scope])[scope]


def glance_at_counts(
    connection: sqlite3.Connection, account_ids: Iterable[int], scopes: Collection[int]
) -> dict[int, dict[str, int]]:
    """The same as `read_many_counts`, of a few scopes, where microseconds count."""
    found = {scope: dict.fromkeys(_WORDS, 0) for scope in scopes}
    owners = tuple(account_ids)
    text = (
        "SELECT parent_id, state, sum(count) FROM counters"  # noqa: S608  marks only
        f" WHERE account_id IN ({marks(owners)}) AND parent_id IN ({marks(scopes)}) GROUP BY parent_id, state"
    )
    for scope, state, count in connection.execute(text, (*owners, *scopes)):
        found[scope][state] = int(count)
    return found


def marks(values: Collection[object]) -> str:
    """As many question marks as values, for SQL as text."""
    return ",".join("?" * len(values))


def read_many_counts(
    connection: sa.Connection, account_ids: Iterable[int], scopes: Sequence[int]
) -> dict[int, dict[str, int]]:
    """For each scope the jobs by status word, all four words present."""
    found = {scope: dict.fromkeys(_WORDS, 0) for scope in scopes}
    owners = list(account_ids)
    for start in range(0, len(scopes), _SCOPES_AT_ONCE):
        some = list(scopes[start : start + _SCOPES_AT_ONCE])
        for scope, state, count in connection.execute(_COUNTS, {"owners": owners, "scopes": some}):
            found[scope][state] = int(count)
    return found
