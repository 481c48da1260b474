"""The append-only record of what happened to a job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import sqlalchemy as sa

from foldnote.service.store import clock
from foldnote.service.store.schema import events

_APPEND = sa.insert(events).inline()


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
