"""Jobs as the dispatcher sees them: queued, claimed, running, ended or lost.

Every change names the row, attempt and state that it expects, and returns whether it succeeded. A final state
never changes. Concurrent ends and claims share one transaction and therefore one sync.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import sqlalchemy as sa

from foldnote.models.extensions import RETRIES
from foldnote.models.status import JobStatus
from foldnote.service.store import clock
from foldnote.service.store.database import Database, split
from foldnote.service.store.jobs.batches import stops_at_failure
from foldnote.service.store.jobs.conditions import (
    IS_QUEUED,
    IS_RUNNING,
    IS_UNPURGED,
    OLDEST_CLAIMABLE,
    OLDEST_OF_OTHER_TYPES,
)
from foldnote.service.store.jobs.insertion import Input
from foldnote.service.store.jobs.pending_changes import PendingJobChanges
from foldnote.service.store.jobs.records import CLEARED, make_record, write_text
from foldnote.service.store.schema import MEASURED, accounts, attempts, identity, inputs, jobs, records
from foldnote.service.store.storage import release_contents

_JOBS_PER_FOLDER = 1000
MAX_DELAY_S = 60.0
"""Maximum delay between two attempts of a job."""
STOPPED_MESSAGE = "Stopped on request."
NOT_REPEATED = "It was not run again, since every run would refuse the same input."


@dataclass(frozen=True)
class QueuedJob:
    """A job that may be claimed."""

    job_id: int
    account_id: int
    type: str
    attempt: int
    executor: str = "local"
    """The executor that was chosen for it."""
    is_claimed_ahead: bool = False
    """Whether it must wait for the end of another run; jobs of a batch with limits never do."""


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
    folder: str
    """Path of the attempt below the folder of all attempts; unique among all databases."""
    inputs: tuple[Input, ...] = ()
    max_runtime_s: float | None = None
    extensions: str | None = None
    """JSON: what was submitted besides the settings; None for nothing."""
    executor: str = "local"
    """Name of the executor that runs the attempt."""
    replica: str = ""
    """Name of the replica that watches it; empty if there is only one."""


@dataclass(frozen=True)
class AttemptLocation:
    """Folder of an attempt's files, below the folder of all attempts, and the nonce in these files."""

    folder: str
    nonce: str


@dataclass(frozen=True)
class JobEnd:
    """How a job ended; `state` is Complete or Stopped."""

    state: JobStatus
    error: str | None = None
    message: str | None = None
    score: dict[str, Any] | None = None
    measures: Mapping[str, Any] = field(default_factory=dict)
    """Values of the columns marked ``MEASURED``: measurements of the run."""
    result_sha256: str | None = None
    result_size: int | None = None
    is_tool_failure: bool = False
    """Whether the tool itself failed; another run may succeed."""
    is_input_refused: bool = False
    """Whether the tool rejected its settings or files, as it would in every run."""


@dataclass(frozen=True)
class ExpectedState:
    """Precondition of a change: the row, the attempt and the state before it."""

    job_id: int
    attempt: int
    state: JobStatus


def expected_by(claim: Claim) -> ExpectedState:
    """Return the row, attempt and state that the owner of a claim expects."""
    return ExpectedState(claim.job_id, claim.attempt, JobStatus.RUNNING)


Chooser = Callable[[Callable[[Collection[str]], Sequence[QueuedJob]]], QueuedJob | None]
"""A function that chooses the next job to claim; None if none fits now. It calls its argument for the oldest
job of each owner, excluding jobs of the given types, and only if there is any room."""


@dataclass(frozen=True)
class AdvanceResult:
    """The result of one transaction: for each end, whether it was committed now, and the new claims."""

    was_committed: list[bool]
    claims: list[Claim]
    is_incomplete: bool = False
    """Whether jobs were left out because another replica was changing their accounts."""
    ahead: frozenset[int] = frozenset()
    """Numbers of the jobs that were claimed ahead."""
    refused_ahead: tuple[QueuedJob, ...] = ()
    """Jobs that were not claimed ahead, since an earlier job may end their batch."""


def _change(*names: str) -> sa.Update:
    """Build a compare-and-set update of these columns and the state."""
    return (
        sa.update(jobs)
        .where(
            jobs.c.id == sa.bindparam("job"),
            jobs.c.attempt == sa.bindparam("held"),
            jobs.c.state == sa.bindparam("left"),
        )
        .values({name: sa.bindparam(f"new_{name}") for name in (*names, "state")})
    )


# Built once: building a statement takes several times as long as executing it.
_CLAIM = _change("attempt", "message", "started")
_MEASURED = tuple(column.name for column in jobs.columns if column.info == MEASURED)
_FINISH = _change("completed", "error", "message", "score", "result_sha256", "result_size", *_MEASURED)
_REQUEUE = _change("losses", "not_before", "message")
_REPEAT = _change("retries", "weighted_hours", "message")
_PARENTS = jobs.alias()
_FIND_WITH_PARENT = (
    sa.select(
        jobs,
        accounts.c.email,
        _PARENTS.c.hours_budget.label("batch_budget"),
        _PARENTS.c.extensions.label("batch_extensions"),
    )
    .join(accounts, accounts.c.id == jobs.c.account_id)
    .join(_PARENTS, _PARENTS.c.id == jobs.c.parent_id, isouter=True)
    .where(jobs.c.id == sa.bindparam("job"))
)
OF_JOB = (attempts.c.job_id == jobs.c.id) & (attempts.c.number == jobs.c.attempt)
"""Selects an attempt that is the latest of its job."""
_RUNNING = (
    sa.select(
        jobs,
        attempts.c.nonce,
        attempts.c.claimed,
        attempts.c.folder,
        attempts.c.executor,
        attempts.c.replica,
    )
    .join(attempts, OF_JOB)
    .where(IS_RUNNING)
    .order_by(jobs.c.id)
)
_CANCELLED = sa.select(jobs.c.id).where(IS_RUNNING, jobs.c.is_cancelled == 1)
_ANY_QUEUED = sa.select(jobs.c.id).where(IS_QUEUED).limit(1)
_ANY_RUNNING = sa.select(jobs.c.id).where(IS_RUNNING).limit(1)
_INPUTS = (
    sa.select(inputs)
    .where(inputs.c.job_id.in_(sa.bindparam("jobs", expanding=True)))
    .order_by(inputs.c.job_id, inputs.c.field, inputs.c.position)
)


class QueueStore:
    """The dispatcher's queries."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.replica = ""
        """Name of this replica."""
        with database.read() as connection:
            self._identity = str(connection.execute(sa.select(identity.c.name)).scalar_one())

    @property
    def identity(self) -> str:
        """The name of the database, which only its copies share."""
        return self._identity

    def renew_identity(self) -> None:
        """Give the database a new identity, so that its new attempts share no folder with its copies'."""
        name = secrets.token_hex(8)
        with self._database.write() as connection:
            connection.execute(sa.update(identity).values(name=name, since=clock.now()))
        self._identity = name

    def waiting(self, without: Collection[str] = ()) -> list[QueuedJob]:
        """Return the oldest queued job of each owner, oldest first, excluding the types ``without``."""
        with self._database.read() as connection:
            return _find_waiting(connection, without)

    def next_due(self) -> float | None:
        """Return the Unix time (s) of the next retry; None if no job waits for one."""
        moment = time.time()
        is_waiting = jobs.c.not_before.between(moment, moment + MAX_DELAY_S)
        query = sa.select(sa.func.min(jobs.c.not_before)).where(IS_QUEUED, is_waiting)
        with self._database.read() as connection:
            due = connection.execute(query).scalar_one()
        return None if due is None else float(due)

    def claim(self, waiting: QueuedJob, nonce: str) -> Claim | None:
        """Start the next attempt of a queued job; return None if another claim won the race."""
        changes = PendingJobChanges()
        with self._database.write(jobs=[waiting.job_id]) as connection:
            row = _find_expected(
                connection, ExpectedState(waiting.job_id, waiting.attempt, JobStatus.IN_QUEUE)
            )
            if row is None:
                return None
            claimed = self._claim(changes, connection, row, waiting.executor, nonce)
            changes.write(connection)
            return _read_claims(connection, [claimed])[0]

    def advance(self, ends: Sequence[tuple[Claim, JobEnd]], choose: Chooser) -> AdvanceResult:
        """Commit the ends of attempts and claim the chosen jobs, in one transaction."""
        changes = PendingJobChanges()
        rows: list[Mapping[str, Any]] = []
        with self._database.write(jobs=[job.job_id for job, _ in ends]) as connection:
            was_committed = [_finish(connection, changes, claim, ending) for claim, ending in ends]
            if changes.has_limit:  # a batch at its limit stops its queued jobs before the choice
                changes.write(connection)
            busy: set[int] = set()
            limited: dict[int, QueuedJob] = {}
            ahead: set[int] = set()

            def find(without: Collection[str] = ()) -> list[QueuedJob]:
                found = _find_waiting(connection, without)
                return [job for job in found if job.account_id not in busy | limited.keys()]

            while (waiting := choose(find)) is not None:
                row = None
                if self._database.try_lock_account(connection, waiting.account_id):
                    row = _find_expected(
                        connection, ExpectedState(waiting.job_id, waiting.attempt, JobStatus.IN_QUEUE)
                    )
                if row is None:  # another replica is changing the account, or has just claimed the job
                    busy.add(waiting.account_id)
                elif waiting.is_claimed_ahead and _may_end_early(row):
                    limited[waiting.account_id] = waiting
                else:
                    if waiting.is_claimed_ahead:
                        ahead.add(waiting.job_id)
                    rows.append(
                        self._claim(changes, connection, row, waiting.executor, secrets.token_hex(16))
                    )
            changes.write(connection)
            claims = _read_claims(connection, rows)
            return AdvanceResult(was_committed, claims, bool(busy), frozenset(ahead), tuple(limited.values()))

    def _claim(
        self,
        changes: PendingJobChanges,
        connection: sa.Connection,
        row: sa.RowMapping,
        executor: str,
        nonce: str,
    ) -> Mapping[str, Any]:
        """Start the next attempt of a queued job; return its row with nonce, time and folder."""
        number = row["attempt"] + 1
        values = {
            "state": str(JobStatus.RUNNING),
            "attempt": number,
            "message": None,
            "started": row["started"] or changes.moment,
        }
        _apply_change(connection, changes, _CLAIM, row, values)
        folder = f"{self._identity}/{row['id'] // _JOBS_PER_FOLDER}/{row['id']}/{number}-{nonce}"
        attempt_values = {
            "nonce": nonce,
            "claimed": changes.moment,
            "folder": folder,
            "executor": executor,
            "replica": self.replica,
        }
        changes.add_started_attempt(row, number, attempt_values)
        return {**row, **values, **attempt_values}

    def running(self) -> list[Claim]:
        """Return every attempt not known to have ended, including those of deleted jobs."""
        with self._database.read() as connection:
            return _read_claims(connection, connection.execute(_RUNNING).mappings().all())

    def cancelled(self) -> set[int]:
        """Return the rows of running jobs that were cancelled."""
        with self._database.read() as connection:
            return set(connection.execute(_CANCELLED).scalars())

    def finish(self, claim: Claim, ending: JobEnd) -> bool:
        """Commit the end of an attempt exactly once.

        Return False if another end was committed before; the result of this one is soon removed.
        """
        changes = PendingJobChanges()
        with self._database.write(jobs=[claim.job_id]) as connection:
            was_committed = _finish(connection, changes, claim, ending)
            changes.write(connection)
            return was_committed

    def requeue(self, claim: Claim, reason: str, *, delay_s: float, is_counted: bool) -> bool:
        """Requeue the job of a lost attempt, to start after `delay_s`; return False for a lost race.

        No delay exceeds `MAX_DELAY_S`: a job with a longer one is due, because the clock was set back after
        it was requeued.
        """
        changes = PendingJobChanges()
        with self._database.write(jobs=[claim.job_id]) as connection:
            row = _find_expected(connection, expected_by(claim))
            if row is None:
                return False
            values = {
                "state": str(JobStatus.IN_QUEUE),
                "losses": row["losses"] + int(is_counted),
                "not_before": time.time() + min(delay_s, MAX_DELAY_S),
                "message": f"{reason} It will be retried." if delay_s > 0 else None,
            }
            _apply_change(connection, changes, _REQUEUE, row, values)
            changes.add_ended_attempt(row, "lost", reason)
            changes.write(connection)
            return True

    def find_attempt(self, job_id: int, number: int) -> AttemptLocation | None:
        """Return folder and nonce of an attempt; None if there is no attempt of this number."""
        query = sa.select(attempts.c.folder, attempts.c.nonce)
        with self._database.read() as connection:
            row = connection.execute(
                query.where(attempts.c.job_id == job_id, attempts.c.number == number)
            ).first()
        return None if row is None else AttemptLocation(row.folder, row.nonce)

    def find_running_folder(self, job_id: int) -> str | None:
        """Return the folder of a running job's attempt; None if the job is not running."""
        query = sa.select(attempts.c.folder).select_from(jobs.join(attempts, OF_JOB))
        with self._database.read() as connection:
            return connection.execute(query.where(jobs.c.id == job_id, IS_RUNNING)).scalar()

    def unpurged(self) -> list[int]:
        """Return deleted jobs that have ended and whose folders may still exist."""
        query = sa.select(jobs.c.id).where(IS_UNPURGED, jobs.c.state != str(JobStatus.RUNNING))
        with self._database.read() as connection:
            return list(connection.execute(query).scalars())

    def mark_purged(self, job_id: int) -> None:
        """Record the removal of a deleted job's folders, and release its inputs, record and result."""
        with self._database.write(jobs=[job_id]) as connection:
            job = connection.execute(sa.select(jobs).where(jobs.c.id == job_id)).mappings().one()
            if job["is_purged"]:  # another replica has done it
                return
            digests = connection.execute(
                sa.select(inputs.c.sha256).where(inputs.c.job_id == job_id)
            ).scalars()
            rows = [{"sha256": digest, "bytes": 0} for digest in digests]
            if rows:
                rows[0]["bytes"] = job["stored_bytes"]
            if job["result_sha256"] is not None:
                rows.append({"sha256": job["result_sha256"], "bytes": job["result_size"] or 0})
            release_contents(connection, [{"account_id": job["account_id"], **row} for row in rows])
            connection.execute(sa.delete(inputs).where(inputs.c.job_id == job_id))
            connection.execute(sa.delete(records).where(records.c.number == -job_id))
            values = {"is_purged": 1, "result_sha256": None}  # a run may have ended after the deletion
            connection.execute(sa.update(jobs).where(jobs.c.id == job_id).values(**values, **CLEARED))

    def has_unfinished(self) -> bool:
        """Return whether any job is queued or running."""
        with self._database.read() as connection:
            return any(connection.execute(query).first() is not None for query in (_ANY_QUEUED, _ANY_RUNNING))


def _find_waiting(connection: sa.Connection, without: Collection[str] = ()) -> list[QueuedJob]:
    moment = time.time()
    values: dict[str, Any] = {"moment": moment, "latest": moment + MAX_DELAY_S}
    if without:
        rows = connection.execute(OLDEST_OF_OTHER_TYPES, {**values, "without": list(without)})
    else:
        rows = connection.execute(OLDEST_CLAIMABLE, values)
    return [QueuedJob(*row) for row in rows]


def _find_expected(connection: sa.Connection, expected: ExpectedState) -> sa.RowMapping | None:
    """Return the row with its owner's address and its batch's budget; None for a lost race."""
    row = connection.execute(_FIND_WITH_PARENT, {"job": expected.job_id}).mappings().first()
    if row is None or row["attempt"] != expected.attempt or row["state"] != str(expected.state):
        return None
    return row


def _apply_change(
    connection: sa.Connection,
    changes: PendingJobChanges,
    change: sa.Update,
    row: sa.RowMapping,
    values: dict[str, Any],
) -> None:
    """Update a row that this transaction found unchanged, and serialise it again."""
    changes.add_record(make_record({**row, **values}, row["email"]))
    conditions = {"job": row["id"], "held": row["attempt"], "left": row["state"]}
    connection.execute(change, conditions | {f"new_{name}": value for name, value in values.items()})
    changes.add_status_change(row, values["state"], has_failed=values.get("error") is not None)


def _finish(connection: sa.Connection, changes: PendingJobChanges, claim: Claim, ending: JobEnd) -> bool:
    row = _find_expected(connection, expected_by(claim))
    if row is None:
        if ending.result_sha256 is not None:
            release_contents(
                connection, [{"account_id": claim.account_id, "sha256": ending.result_sha256, "bytes": 0}]
            )
        return False
    if row["is_cancelled"] and ending.state == JobStatus.COMPLETE:
        ending = replace(ending, state=JobStatus.STOPPED, message=STOPPED_MESSAGE)
    if _may_repeat(row, ending):
        if not ending.is_input_refused:
            _repeat(connection, changes, row, ending)
            return True
        ending = replace(ending, error=f"{ending.error} {NOT_REPEATED}")
    score = None if ending.score is None else write_text(ending.score)
    if unknown := ending.measures.keys() - set(_MEASURED):
        raise KeyError(f"not measured columns of jobs: {sorted(unknown)}")
    values = {
        "state": str(ending.state),
        "completed": changes.moment,
        "error": ending.error,
        "message": ending.message,
        "score": score,
        "result_sha256": ending.result_sha256,
        "result_size": ending.result_size,
        **{name: ending.measures.get(name) for name in _MEASURED},
        "weighted_hours": _sum_hours(row, ending),
    }
    _apply_change(connection, changes, _FINISH, row, values)
    changes.add_ended_attempt(row, str(ending.state))
    changes.use_hours(row["account_id"], ending.measures.get("weighted_hours"))
    return True


def _may_end_early(row: sa.RowMapping) -> bool:
    """Return whether the job's batch has a budget, or ends at its first failure."""
    return row["batch_budget"] is not None or stops_at_failure(row["batch_extensions"])


def _may_repeat(row: sa.RowMapping, ending: JobEnd) -> bool:
    """Return whether the tool failed and the job's submission allows another retry."""
    if not ending.is_tool_failure or row["is_cancelled"] or row["deleted"] is not None:
        return False
    return (row["retries"] or 0) < _allowed_retries(row)


def _allowed_retries(row: sa.RowMapping) -> int:
    return int(json.loads(row["extensions"] or "{}").get(RETRIES, 0))


def _repeat(
    connection: sa.Connection, changes: PendingJobChanges, row: sa.RowMapping, ending: JobEnd
) -> None:
    """Queue the job again; the outputs of the failed run are soon removed."""
    number = (row["retries"] or 0) + 1
    message = f"{ending.error} It is run again (retry {number} of {_allowed_retries(row)})."
    values = {
        "state": str(JobStatus.IN_QUEUE),
        "retries": number,
        "weighted_hours": _sum_hours(row, ending),
        "message": message,
    }
    if ending.result_sha256 is not None:
        release_contents(
            connection, [{"account_id": row["account_id"], "sha256": ending.result_sha256, "bytes": 0}]
        )
    _apply_change(connection, changes, _REPEAT, row, values)
    changes.add_ended_attempt(row, "failed", ending.error)
    changes.use_hours(row["account_id"], ending.measures.get("weighted_hours"))


def _sum_hours(row: sa.RowMapping, ending: JobEnd) -> float | None:
    """Return the weighted hours of all runs of the job; None if none were counted."""
    counted = [row["weighted_hours"], ending.measures.get("weighted_hours")]
    measured = [hours for hours in counted if hours is not None]
    return round(sum(measured), 6) if measured else None


def _read_claims(connection: sa.Connection, rows: Iterable[Mapping[Any, Any]]) -> list[Claim]:
    """Return the claims on these rows, with their inputs."""
    row_list = list(rows)
    inputs_by_job: dict[int, list[Input]] = {row["id"]: [] for row in row_list}
    for ids in split(list(inputs_by_job)):
        for item in connection.execute(_INPUTS, {"jobs": ids}):
            inputs_by_job[item.job_id].append(Input(item.field, item.name, item.sha256))
    return [_read_claim(row, inputs_by_job[row["id"]]) for row in row_list]


def _read_claim(row: Mapping[Any, Any], job_inputs: Sequence[Input]) -> Claim:
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
        folder=row["folder"],
        executor=row["executor"],
        replica=row["replica"],
        max_runtime_s=row["max_runtime_s"],
        extensions=row["extensions"],
        inputs=tuple(job_inputs),
    )
