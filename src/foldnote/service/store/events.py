"""The append-only log of what happened to jobs; its last entry serves as the state token of an account."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import sqlalchemy as sa

from foldnote.service.store import clock
from foldnote.service.store.database import Database, pad_to_power_of_two, placeholders, split
from foldnote.service.store.schema import events

_APPEND = sa.insert(events).inline()
_LAST = """
    SELECT id, (SELECT max(events.id) FROM events WHERE account_id = accounts.id)
    FROM accounts WHERE id IN"""


def write_event(
    connection: sa.Connection, account_id: int, job_id: int | None, kind: str, detail: str | None = None
) -> None:
    """Append one event within the transaction of the change that it describes."""
    row = {"at": clock.now(), "account_id": account_id, "job_id": job_id, "kind": kind, "detail": detail}
    connection.execute(_APPEND, row)


def write_events(connection: sa.Connection, rows: Sequence[Mapping[str, object]]) -> None:
    """Append several events in order; each has `at`, `account_id`, `job_id`, `kind` and `detail`."""
    if rows:
        connection.execute(_APPEND, rows)


def read_state_tokens(database: Database, account_ids: Sequence[int]) -> dict[int, str]:
    """Return the state token of each account: its last event; every change of a job's status writes one.

    Raises:
        StorageFaultError: the database cannot be read now.
    """
    tokens: dict[int, str] = {}
    with database.read_raw(is_single=True) as connection:
        for block in split(account_ids):
            some = pad_to_power_of_two(block)
            for account_id, last in connection.execute(f"{_LAST} ({placeholders(some)})", some):
                tokens[account_id] = str(last or 0)
    return tokens
