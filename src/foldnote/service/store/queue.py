"""Jobs as the dispatcher sees them: waiting, claimed, running, ended, lost.

Every change names the row, the attempt and the state that it expects; it says whether it won. A final state
is never left.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from foldnote.models.status import JobStatus
from foldnote.service.store import clock
from foldnote.service.store.batches import follow_subjob
from foldnote.service.store.counting import count_job
from foldnote.service.store.database import Database
from foldnote.service.store.events import write_event
from foldnote.service.store.insertion import Input
from foldnote.service.store.quotas import count_hours
from foldnote.service.store.records import BATCH_TYPE, refresh_record, write_text
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


class QueueStore:
    """Queries of the dispatcher."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def waiting(self) -> list[Waiting]:
        """The oldest waiting job of each owner, oldest first."""
        oldest = (
            sa.select(sa.func.min(jobs.c.id))
            .where(
                jobs.c.state == str(JobStatus.IN_QUEUE),
                jobs.c.not_before <= time.time(),
                jobs.c.type != BATCH_TYPE,
                jobs.c.is_held == 0,
            )
            .group_by(jobs.c.account_id)
        )
        query = sa.select(jobs.c.id, jobs.c.account_id, jobs.c.type, jobs.c.attempt)
        with self._database.read() as connection:
            rows = connection.execute(query.where(jobs.c.id.in_(oldest)).order_by(jobs.c.id)).all()
        return [Waiting(*row) for row in rows]

    def next_due(self) -> float | None:
        """The Unix time (s) at which the next job may be tried again; None when none waits for that."""
        query = sa.select(sa.func.min(jobs.c.not_before)).where(
            jobs.c.state == str(JobStatus.IN_QUEUE), jobs.c.not_before > time.time()
        )
        with self._database.read() as connection:
            found = connection.execute(query).scalar_one()
        return None if found is None else float(found)

    def claim(self, waiting: Waiting, nonce: str) -> Claim | None:
        """Start the next attempt of a waiting job; None when the race for it is lost."""
        number = waiting.attempt + 1
        values = {
            "state": str(JobStatus.RUNNING),
            "attempt": number,
            "message": None,
            "started": sa.func.coalesce(jobs.c.started, clock.now()),
        }
        with self._database.write() as connection:
            if not _change(connection, waiting.job_id, waiting.attempt, JobStatus.IN_QUEUE, values):
                return None
            row = {"job_id": waiting.job_id, "number": number, "nonce": nonce, "claimed": clock.now()}
            connection.execute(sa.insert(attempts).values(row))
            write_event(connection, waiting.account_id, waiting.job_id, "claimed", f"attempt {number}")
            return _read_claims(connection, jobs.c.id == waiting.job_id)[0]

    def running(self) -> list[Claim]:
        """Every attempt that is not known to have ended, deleted jobs included."""
        with self._database.read() as connection:
            return _read_claims(connection, jobs.c.state == str(JobStatus.RUNNING))

    def cancelled(self) -> set[int]:
        """Rows that run and shall not."""
        query = sa.select(jobs.c.id).where(jobs.c.state == str(JobStatus.RUNNING), jobs.c.is_cancelled == 1)
        with self._database.read() as connection:
            return set(connection.execute(query).scalars())

    def finish(self, claim: Claim, ending: Ending) -> bool:
        """Commit the end of an attempt exactly once; False when another end was committed before."""
        values = {
            "state": str(ending.state),
            "completed": clock.now(),
            "error": ending.error,
            "message": ending.message,
            "score": None if ending.score is None else write_text(ending.score),
            "weighted_hours": ending.weighted_hours,
            "result_sha256": ending.result_sha256,
            "result_size": ending.result_size,
        }
        with self._database.write() as connection:
            if not _change(connection, claim.job_id, claim.attempt, JobStatus.RUNNING, values):
                return False
            _end_attempt(connection, claim, str(ending.state))
            if ending.weighted_hours:
                count_hours(connection, claim.account_id, ending.weighted_hours)
            return True

    def requeue(self, claim: Claim, reason: str, *, delay_s: float, is_counted: bool) -> bool:
        """Put a lost attempt's job back, not before `delay_s` from now; False for a lost race."""
        values = {
            "state": str(JobStatus.IN_QUEUE),
            "losses": jobs.c.losses + int(is_counted),
            "not_before": time.time() + delay_s,
            "message": f"{reason} It will be tried again." if delay_s > 0 else None,
        }
        with self._database.write() as connection:
            if not _change(connection, claim.job_id, claim.attempt, JobStatus.RUNNING, values):
                return False
            _end_attempt(connection, claim, "lost", reason)
            return True

    def unpurged(self) -> list[int]:
        """Deleted jobs that have ended and whose folders may still be there."""
        query = sa.select(jobs.c.id).where(
            jobs.c.deleted.is_not(None), jobs.c.is_purged == 0, jobs.c.state != str(JobStatus.RUNNING)
        )
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
        open_states = [str(JobStatus.IN_QUEUE), str(JobStatus.RUNNING)]
        with self._database.read() as connection:
            query = sa.select(jobs.c.id).where(jobs.c.state.in_(open_states)).limit(1)
            return connection.execute(query).first() is not None


def _change(
    connection: sa.Connection, job_id: int, attempt: int, state: JobStatus, values: dict[str, Any]
) -> bool:
    """The one compare-and-set: move a job out of (`attempt`, `state`), with its counters and record."""
    statement = (
        sa.update(jobs)
        .where(jobs.c.id == job_id, jobs.c.attempt == attempt, jobs.c.state == str(state))
        .values(values)
    )
    if connection.execute(statement).rowcount == 0:
        return False
    query = sa.select(jobs.c.account_id, jobs.c.parent_id, jobs.c.deleted).where(jobs.c.id == job_id)
    row = connection.execute(query).one()
    if row.deleted is None:
        count_job(connection, row.account_id, row.parent_id, left=state, entered=values["state"])
    refresh_record(connection, job_id)
    if row.parent_id is not None:
        follow_subjob(connection, row.parent_id)
    return True


def _end_attempt(connection: sa.Connection, claim: Claim, outcome: str, reason: str | None = None) -> None:
    connection.execute(
        sa.update(attempts)
        .where(attempts.c.job_id == claim.job_id, attempts.c.number == claim.attempt)
        .values(ended=clock.now(), outcome=outcome)
    )
    write_event(connection, claim.account_id, claim.job_id, f"attempt {outcome.lower()}", reason)


def _read_claims(connection: sa.Connection, condition: sa.ColumnElement[bool]) -> list[Claim]:
    query = (
        sa.select(jobs, attempts.c.nonce, attempts.c.claimed)
        .join(attempts, (attempts.c.job_id == jobs.c.id) & (attempts.c.number == jobs.c.attempt))
        .where(condition)
        .order_by(jobs.c.id)
    )
    return [_read_claim(connection, row) for row in connection.execute(query).mappings().all()]


def _read_claim(connection: sa.Connection, row: sa.RowMapping) -> Claim:
    query = sa.select(inputs).where(inputs.c.job_id == row["id"]).order_by(inputs.c.field, inputs.c.position)
    found = connection.execute(query).all()
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
