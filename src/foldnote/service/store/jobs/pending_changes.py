"""Collect the side effects of several job changes in one transaction, and write them together.

Counters, attempts, events and the states of batches change with each job. Written together, they cost a few
statements per transaction instead of a few per job. This module changes no job itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from foldnote.service.store import clock
from foldnote.service.store.events import write_events
from foldnote.service.store.jobs.batches import update_parent_of_subjob
from foldnote.service.store.jobs.counting import StatusChange, apply_status_changes
from foldnote.service.store.jobs.records import replace_records
from foldnote.service.store.quotas import count_hours
from foldnote.service.store.schema import attempts

_BEGIN_ATTEMPT = sa.insert(attempts).inline()
_END_ATTEMPT = (
    sa.update(attempts)
    .where(attempts.c.job_id == sa.bindparam("job"), attempts.c.number == sa.bindparam("held"))
    .values(ended=sa.bindparam("moment"), outcome=sa.bindparam("how"))
)


class PendingJobChanges:
    """Collects the changes of one transaction until `write`.

    Attributes:
        moment: the time of all these changes.
        has_limit: whether any affected batch may have reached a limit: its budget, or its first failure.
    """

    def __init__(self) -> None:
        self.moment = clock.now()
        self.has_limit = False
        self._status_changes: list[StatusChange] = []
        self._parents: dict[int, None] = {}
        self._hours: dict[int, float] = {}
        self._started_attempts: list[dict[str, Any]] = []
        self._ended_attempts: list[dict[str, Any]] = []
        self._events: list[dict[str, Any]] = []
        self._records: list[dict[str, object]] = []

    def add_status_change(self, row: sa.RowMapping, entered: str, *, has_failed: bool) -> None:
        """Count a job that left the state in its row; deleted jobs are not counted."""
        parent_id = row["parent_id"]
        if row["deleted"] is None:
            failed = int(has_failed)
            self._status_changes.append(
                StatusChange(row["account_id"], parent_id, row["state"], entered, failed=failed)
            )
        if parent_id is not None:
            self._parents[parent_id] = None
            stops = has_failed and row["batch_extensions"] is not None
            self.has_limit |= stops or row["batch_budget"] is not None

    def add_record(self, record: dict[str, object]) -> None:
        """Add the new record of a job."""
        self._records.append(record)

    def add_started_attempt(self, row: sa.RowMapping, number: int, values: Mapping[str, object]) -> None:
        """Add a started attempt, with the values of its other columns."""
        self._started_attempts.append({"job_id": row["id"], "number": number, **values})
        self._add_event(row, "claimed", f"attempt {number}")

    def add_ended_attempt(self, row: sa.RowMapping, outcome: str, reason: str | None = None) -> None:
        """Add the end of the row's attempt."""
        self._ended_attempts.append(
            {"job": row["id"], "held": row["attempt"], "moment": self.moment, "how": outcome}
        )
        self._add_event(row, f"attempt {outcome.lower()}", reason)

    def use_hours(self, account_id: int, hours: float | None) -> None:
        """Add weighted hours that an account used."""
        if hours:
            self._hours[account_id] = self._hours.get(account_id, 0.0) + hours

    def _add_event(self, row: sa.RowMapping, kind: str, detail: str | None) -> None:
        self._events.append(
            {
                "at": self.moment,
                "account_id": row["account_id"],
                "job_id": row["id"],
                "kind": kind,
                "detail": detail,
            }
        )

    def write(self, connection: sa.Connection) -> None:
        """Write everything collected, update the parents' states, and clear the collection."""
        if self._started_attempts:
            connection.execute(_BEGIN_ATTEMPT, self._started_attempts)
        if self._ended_attempts:
            connection.execute(_END_ATTEMPT, self._ended_attempts)
        replace_records(connection, self._records)
        write_events(connection, self._events)
        apply_status_changes(connection, self._status_changes)
        for account_id, hours in self._hours.items():
            count_hours(connection, account_id, hours)
        for parent_id in self._parents:
            update_parent_of_subjob(connection, parent_id)
        for pending in (
            self._started_attempts,
            self._ended_attempts,
            self._records,
            self._events,
            self._status_changes,
            self._hours,
            self._parents,
        ):
            pending.clear()
