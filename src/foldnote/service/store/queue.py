"""Jobs as the dispatcher sees them: waiting, claimed, running, ended, lost.

Every change names the row, the attempt and the state that it expects; it says whether it won. A final state
is never left.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from foldnote.models.status import JobStatus
from foldnote.service.store import clock
from foldnote.service.store.batches import follow_subjob
from foldnote.service.store.conditions import (
    IS_QUEUED,
    IS_RUNNING,
    IS_UNPURGED,
    OLDEST_CLAIMABLE,
)
from foldnote.service.store.counting import count_job
from foldnote.service.store.database import Database
from foldnote.service.store.events import write_event
from foldnote.service.store.insertion import Input
from foldnote.service.store.quotas import count_hours
from foldnote.service.store.records import refresh_record, write_text
from foldnote.service.store.schema import attempts, inputs, jobs


@dataclass(frozen=True)
class Waiting:
    """A job that may be claimed."""

    job_id: int
    account_id: int
    type: str
    attempt: int


@dataclass(frozen=True)
class Claim:
    """One attempt that this service owns."""

    job_id: int
    account_id: int
    attempt: int
    nonce: str
    name: str
    type: str
    normalized: str
    losses: int
    is_cancelled: bool
    claimed: str
    inputs: tuple[Input, ...] = ()
    max_runtime_s: float | None = None


@dataclass(frozen=True)
class Ending:
    """How a job ended; `state` is Complete or Stopped."""

    state: JobStatus
    error: str | None = None
    message: str | None = None
    score: dict[str, Any] | None = None
    weighted_hours: float | None = None
    result_sha256: str | None = None
    result_size: int | None = None


@dataclass(frozen=True)
class Held:
    """What a change expects: the row, the attempt and the state that it leaves."""

    job_id: int
    attempt: int
    state: JobStatus


def held_by(claim: Claim) -> Held:
    """What the owner of a claim holds."""
    return Held(claim.job_id, claim.attempt, JobStatus.RUNNING)


def _move(**values: Any) -> sa.Update:
    return (
        sa.update(jobs)
        .where(
            jobs.c.id == sa.bindparam("job"),
            jobs.c.attempt == sa.bindparam("held"),
            jobs.c.state == sa.bindparam("left"),
        )
        .values(values)
    )


# Made once: making a statement costs several times as much as running it.
_CLAIM = _move(
    state=str(JobStatus.RUNNING),
    attempt=sa.bindparam("number"),
    message=None,
    started=sa.func.coalesce(jobs.c.started, sa.bindparam("moment")),
)
_FINISH = _move(
    state=sa.bindparam("entered"),
    completed=sa.bindparam("moment"),
    **{
        name: sa.bindparam(f"new_{name}")
        for name in ("error", "message", "score", "weighted_hours", "result_sha256", "result_size")
    },
)
_REQUEUE = _move(
    state=str(JobStatus.IN_QUEUE),
    losses=jobs.c.losses + sa.bindparam("more"),
    not_before=sa.bindparam("due"),
    message=sa.bindparam("note"),
)
_BEGIN_ATTEMPT = sa.insert(attempts).inline()
_END_ATTEMPT = (
    sa.update(attempts)
    .where(attempts.c.job_id == sa.bindparam("job"), attempts.c.number == sa.bindparam("held"))
    .values(ended=sa.bindparam("moment"), outcome=sa.bindparam("how"))
)
_RUNNING = (
    sa.select(jobs, attempts.c.nonce, attempts.c.claimed)
    .join(attempts, (attempts.c.job_id == jobs.c.id) & (attempts.c.number == jobs.c.attempt))
    .where(IS_RUNNING)
    .order_by(jobs.c.id)
)
_CANCELLED = sa.select(jobs.c.id).where(IS_RUNNING, jobs.c.is_cancelled == 1)
_ANY_QUEUED = sa.select(jobs.c.id).where(IS_QUEUED).limit(1)
_ANY_RUNNING = sa.select(jobs.c.id).where(IS_RUNNING).limit(1)
_INPUTS = (
    sa.select(inputs)
    .where(inputs.c.job_id == sa.bindparam("job"))
    .order_by(inputs.c.field, inputs.c.position)
)


class QueueStore:
    """Queries of the dispatcher."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def waiting(self) -> list[Waiting]:
        """The oldest waiting job of each owner, oldest first."""
        with self._database.read() as connection:
            rows = connection.execute(OLDEST_CLAIMABLE, {"moment": time.time()})
            return [Waiting(*row) for row in rows]

    def next_due(self) -> float | None:
        """The Unix time (s) at which the next job may be tried again; None when none waits for that."""
        query = sa.select(sa.func.min(jobs.c.not_before)).where(IS_QUEUED, jobs.c.not_before > time.time())
        with self._database.read() as connection:
            found = connection.execute(query).scalar_one()
        return None if found is None else float(found)

    def claim(self, waiting: Waiting, nonce: str) -> Claim | None:
        """Start the next attempt of a waiting job; None when the race for it is lost."""
        number = waiting.attempt + 1
        moment = clock.now()
        held = Held(waiting.job_id, waiting.attempt, JobStatus.IN_QUEUE)
        values = {"number": number, "moment": moment}
        with self._database.write() as connection:
            row = _change(connection, held, JobStatus.RUNNING, _CLAIM, values)
            if row is None:
                return None
            attempt = {"job_id": waiting.job_id, "number": number, "nonce": nonce, "claimed": moment}
            connection.execute(_BEGIN_ATTEMPT, attempt)
            write_event(connection, waiting.account_id, waiting.job_id, "claimed", f"attempt {number}")
            return _read_claim(connection, {**row, "nonce": nonce, "claimed": moment})

    def running(self) -> list[Claim]:
        """Every attempt that is not known to have ended, deleted jobs included."""
        with self._database.read() as connection:
            rows = connection.execute(_RUNNING).mappings().all()
            return [_read_claim(connection, row) for row in rows]

    def cancelled(self) -> set[int]:
        """Rows that run and shall not."""
        with self._database.read() as connection:
            return set(connection.execute(_CANCELLED).scalars())

    def finish(self, claim: Claim, ending: Ending) -> bool:
        """Commit the end of an attempt exactly once; False when another end was committed before."""
        values = {
            "entered": str(ending.state),
            "moment": clock.now(),
            "new_error": ending.error,
            "new_message": ending.message,
            "new_score": None if ending.score is None else write_text(ending.score),
            "new_weighted_hours": ending.weighted_hours,
            "new_result_sha256": ending.result_sha256,
            "new_result_size": ending.result_size,
        }
        with self._database.write() as connection:
            if _change(connection, held_by(claim), ending.state, _FINISH, values) is None:
                return False
            _end_attempt(connection, claim, str(ending.state))
            if ending.weighted_hours:
                count_hours(connection, claim.account_id, ending.weighted_hours)
            return True

    def requeue(self, claim: Claim, reason: str, *, delay_s: float, is_counted: bool) -> bool:
        """Put a lost attempt's job back, not before `delay_s` from now; False for a lost race."""
        values = {
            "more": int(is_counted),
            "due": time.time() + delay_s,
            "note": f"{reason} It will be tried again." if delay_s > 0 else None,
        }
        with self._database.write() as connection:
            if _change(connection, held_by(claim), JobStatus.IN_QUEUE, _REQUEUE, values) is None:
                return False
            _end_attempt(connection, claim, "lost", reason)
            return True

    def unpurged(self) -> list[int]:
        """Deleted jobs that have ended and whose folders may still be there."""
        query = sa.select(jobs.c.id).where(IS_UNPURGED, jobs.c.state != str(JobStatus.RUNNING))
        with self._database.read() as connection:
            return list(connection.execute(query).scalars())

    def mark_purged(self, job_id: int) -> None:
        """Note that the folders of a deleted job are gone, and let its inputs and result go."""
        with self._database.write() as connection:
            connection.execute(sa.delete(inputs).where(inputs.c.job_id == job_id))
            values = {"is_purged": 1, "result_sha256": None}
            connection.execute(sa.update(jobs).where(jobs.c.id == job_id).values(values))

    def has_unfinished(self) -> bool:
        """Whether any job waits or runs."""
        with self._database.read() as connection:
            return any(connection.execute(query).first() is not None for query in (_ANY_QUEUED, _ANY_RUNNING))


def _change(
    connection: sa.Connection, held: Held, entered: JobStatus, statement: sa.Update, values: dict[str, Any]
) -> sa.RowMapping | None:
    """The one compare-and-set: move a job out of what is held, with its counters and record.

    Gives the row as it is then, None when the race is lost.
    """
    found = {"job": held.job_id, "held": held.attempt, "left": str(held.state)}
    if connection.execute(statement, found | values).rowcount == 0:
        return None
    row = refresh_record(connection, held.job_id)
    if row["deleted"] is None:
        count_job(connection, row["account_id"], row["parent_id"], left=held.state, entered=entered)
    if row["parent_id"] is not None:
        follow_subjob(connection, row["parent_id"])
    return row


def _end_attempt(connection: sa.Connection, claim: Claim, outcome: str, reason: str | None = None) -> None:
    values = {"job": claim.job_id, "held": claim.attempt, "moment": clock.now(), "how": outcome}
    connection.execute(_END_ATTEMPT, values)
    write_event(connection, claim.account_id, claim.job_id, f"attempt {outcome.lower()}", reason)


def _read_claim(connection: sa.Connection, row: Mapping[Any, Any]) -> Claim:
    found = connection.execute(_INPUTS, {"job": row["id"]}).all()
    return Claim(
        job_id=row["id"],
        account_id=row["account_id"],
        attempt=row["attempt"],
        nonce=row["nonce"],
        name=row["name"],
        type=row["type"],
        normalized=row["normalized"],
        losses=row["losses"],
        is_cancelled=bool(row["is_cancelled"]),
        claimed=row["claimed"],
        max_runtime_s=row["max_runtime_s"],
        inputs=tuple(Input(each.field, each.name, each.sha256) for each in found),
    )
