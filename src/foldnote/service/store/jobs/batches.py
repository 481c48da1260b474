"""Batch parents, whose state follows that of their subjobs and ends with the archive."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from foldnote.models.extensions import ON_FAILURE, STOP
from foldnote.models.job import PIPELINE
from foldnote.models.status import BatchStatus, JobStatus
from foldnote.service.store import clock
from foldnote.service.store.database import Database, has_any, split
from foldnote.service.store.events import write_event, write_events
from foldnote.service.store.jobs.conditions import IS_RUNNING
from foldnote.service.store.jobs.counting import StatusChange, apply_status_changes, read_counts
from foldnote.service.store.jobs.records import make_record, refresh_record, replace_records
from foldnote.service.store.schema import accounts, jobs
from foldnote.service.store.storage import release_contents
from foldnote.text import count


@dataclass(frozen=True)
class Parent:
    """A batch whose subjobs have all ended and whose archive is to be built."""

    job_id: int
    account_id: int
    name: str
    is_pipeline: bool = False
    settings: str = "{}"


@dataclass(frozen=True)
class Subjob:
    """One row of a batch that has ended; `settings` and `score` are JSON text."""

    name: str
    state: str
    error: str | None
    settings: str
    score: str | None
    result_sha256: str | None
    message: str | None = None
    retries: int | None = None


_AGGREGATING = (
    sa.select(jobs.c.id, jobs.c.account_id, jobs.c.name, jobs.c.tool == PIPELINE, jobs.c.settings)
    .where(IS_RUNNING, jobs.c.batch_state == str(BatchStatus.AGGREGATING), jobs.c.deleted.is_(None))
    .order_by(jobs.c.id)
)
_ANY_AGGREGATING = (
    f"SELECT 1 FROM jobs WHERE {IS_RUNNING} AND batch_state = '{BatchStatus.AGGREGATING.value}'"  # noqa: S608
    " AND deleted IS NULL LIMIT 1"
)
_PARENT = sa.select(jobs).where(jobs.c.id == sa.bindparam("job"))


class BatchStore:
    """Queries for building batch archives."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def aggregating(self) -> list[Parent]:
        """Return the batches whose archive must be built, oldest first; called at the end of every job."""
        if not has_any(self._database, _ANY_AGGREGATING):
            return []
        with self._database.read() as connection:
            return [Parent(*row) for row in connection.execute(_AGGREGATING)]

    def subjobs(self, parent_id: int) -> list[Subjob]:
        """Return the rows of a batch in the order of their submission."""
        columns = (
            jobs.c.name, jobs.c.state, jobs.c.error, jobs.c.settings, jobs.c.score, jobs.c.result_sha256,
            jobs.c.message, jobs.c.retries,
        )  # fmt: skip
        query = sa.select(*columns).where(jobs.c.parent_id == parent_id, jobs.c.deleted.is_(None))
        with self._database.read() as connection:
            return [Subjob(*row) for row in connection.execute(query.order_by(jobs.c.row_index))]

    def complete(self, parent: Parent, sha256: str, size: int) -> bool:
        """Commit the archive of a batch.

        Return False if the batch was stopped or deleted meanwhile; the archive is then unused and soon
        removed.
        """
        values = {"result_sha256": sha256, "result_size": size}
        return self._end(parent, JobStatus.COMPLETE, BatchStatus.COMPLETE, values)

    def attach(self, parent_id: int, sha256: str, size: int) -> None:
        """Add the archive of the finished rows of a stopped batch, whose state does not change.

        If the batch was deleted meanwhile, the archive is soon removed.
        """
        conditions = (jobs.c.id == parent_id, jobs.c.deleted.is_(None), jobs.c.result_sha256.is_(None))
        with self._database.write(jobs=[parent_id]) as connection:
            owner = sa.select(jobs.c.account_id).where(jobs.c.id == parent_id)
            account_id = connection.execute(owner).scalar_one()
            statement = sa.update(jobs).where(*conditions).values(result_sha256=sha256, result_size=size)
            if connection.execute(statement).rowcount:
                write_event(connection, account_id, parent_id, "archive attached")
            else:
                release_contents(connection, [{"account_id": account_id, "sha256": sha256, "bytes": 0}])

    def fail(self, parent: Parent, error: str, state: BatchStatus) -> bool:
        """Record that a batch has no archive, with the reason."""
        return self._end(parent, JobStatus.STOPPED, state, {"error": error})

    def _end(
        self, parent: Parent, status: JobStatus, state: BatchStatus, further_values: dict[str, object]
    ) -> bool:
        values = {"state": str(status), "batch_state": str(state), "completed": clock.now()} | further_values
        running = (jobs.c.state == str(JobStatus.RUNNING), jobs.c.deleted.is_(None))
        with self._database.write(jobs=[parent.job_id]) as connection:
            statement = sa.update(jobs).where(jobs.c.id == parent.job_id, *running).values(values)
            if connection.execute(statement).rowcount == 0:
                if "result_sha256" in further_values:
                    row = {
                        "account_id": parent.account_id,
                        "sha256": further_values["result_sha256"],
                        "bytes": 0,
                    }
                    release_contents(connection, [row])
                return False
            apply_status_changes(
                connection, [StatusChange(parent.account_id, None, JobStatus.RUNNING, status)]
            )
            write_event(connection, parent.account_id, parent.job_id, f"batch {state.value.lower()}")
            refresh_record(connection, parent.job_id)
            return True


def update_parent_of_subjob(connection: sa.Connection, parent_id: int) -> None:
    """Set the parent's state from its subjobs' counts; a stopped or deleted parent stays unchanged."""
    parent = connection.execute(_PARENT, {"job": parent_id}).mappings().one()
    if parent["deleted"] is not None or JobStatus(parent["state"]).is_final:
        return
    if parent["hours_budget"] is not None:
        _keep_budget(connection, parent)
    job_counts = read_counts(connection, [parent["account_id"]], parent_id)
    if (
        job_counts.failed
        and job_counts.statuses[JobStatus.IN_QUEUE]
        and stops_at_failure(parent["extensions"])
    ):
        _stop_after_failure(connection, parent)
        job_counts = read_counts(connection, [parent["account_id"]], parent_id)
    counts = job_counts.statuses
    waiting, running = counts[JobStatus.IN_QUEUE], counts[JobStatus.RUNNING]
    if waiting or running:
        started = sum(counts.values()) > waiting
        state = BatchStatus.RUNNING if started else BatchStatus.IN_QUEUE
    else:
        state = BatchStatus.AGGREGATING
    if state != parent["batch_state"]:
        _move_parent(connection, parent, state)


def _keep_budget(connection: sa.Connection, parent: sa.RowMapping) -> None:
    """Stop the queued subjobs once the others have used up the batch's weighted hours."""
    spent = sa.select(sa.func.coalesce(sa.func.sum(jobs.c.weighted_hours), 0.0))
    hours = connection.execute(spent.where(jobs.c.parent_id == parent["id"])).scalar_one()
    if hours < parent["hours_budget"]:
        return
    reason = f"the batch's budget of {parent['hours_budget']:g} weighted hours was spent before."
    _stop_all_waiting(connection, parent, reason, is_failure=True)


def stops_at_failure(extensions: str | None) -> bool:
    """Return whether a batch with these extensions (JSON) ends at its first failure."""
    return bool(json.loads(extensions or "{}").get(ON_FAILURE) == STOP)


def _stop_after_failure(connection: sa.Connection, parent: sa.RowMapping) -> None:
    """Stop the queued jobs of a batch in which one has failed, and record in each which one it was."""
    failed = sa.select(jobs.c.name).where(
        jobs.c.parent_id == parent["id"],
        jobs.c.state == str(JobStatus.STOPPED),
        jobs.c.error.is_not(None),
        jobs.c.deleted.is_(None),
    )
    name = connection.execute(failed.order_by(jobs.c.completed, jobs.c.id).limit(1)).scalar_one()
    reason = f"the job {name} failed, and the batch stops at its first failure."
    number = _stop_all_waiting(connection, parent, reason, is_failure=False)
    message = f"The job {name} failed, so {count(number, 'waiting job')} of the batch did not run."
    connection.execute(sa.update(jobs).where(jobs.c.id == parent["id"]).values(message=message))
    refresh_record(connection, parent["id"])


def _stop_all_waiting(
    connection: sa.Connection, parent: sa.RowMapping, reason: str, *, is_failure: bool
) -> int:
    """End all queued subjobs; return their number. One that waits for a retry has failed in any case."""
    waiting = (
        jobs.c.parent_id == parent["id"],
        jobs.c.state == str(JobStatus.IN_QUEUE),
        jobs.c.deleted.is_(None),
    )
    rows = connection.execute(sa.select(jobs.c.id, jobs.c.retries).where(*waiting)).all()
    begun = [row.id for row in rows if row.retries]
    fresh = [row.id for row in rows if not row.retries]
    reason_fields = {"error" if is_failure else "message": f"Not run: {reason}"}
    stop_waiting(connection, parent["account_id"], parent["id"], fresh, **reason_fields)
    error = f"The run failed and was not repeated: {reason}"
    stop_waiting(connection, parent["account_id"], parent["id"], begun, error=error)
    return len(rows)


def stop_waiting(
    connection: sa.Connection,
    account_id: int,
    parent_id: int,
    job_ids: Sequence[int],
    *,
    error: str | None = None,
    message: str | None = None,
) -> None:
    """End queued subjobs, with an error, which counts as a failure, or with a message."""
    moment = clock.now()
    for block in split(job_ids):
        is_in_block = jobs.c.id.in_(block)
        values = {"state": str(JobStatus.STOPPED), "completed": moment, "error": error, "message": message}
        connection.execute(sa.update(jobs).where(is_in_block).values(values))
        query = sa.select(jobs, accounts.c.email).join(accounts, accounts.c.id == jobs.c.account_id)
        rows = connection.execute(query.where(is_in_block)).mappings().all()
        replace_records(connection, [make_record(row, row["email"]) for row in rows])
    number, failed = len(job_ids), len(job_ids) if error else 0
    move = StatusChange(account_id, parent_id, JobStatus.IN_QUEUE, JobStatus.STOPPED, number, failed=failed)
    apply_status_changes(connection, [move])
    event = {"at": moment, "account_id": account_id, "kind": "stopped", "detail": error or message}
    write_events(connection, [event | {"job_id": job_id} for job_id in job_ids])


def _move_parent(connection: sa.Connection, parent: sa.RowMapping, state: BatchStatus) -> None:
    """Change a parent's state; `Aggregating` is reported as Running, since the archive does not exist yet."""
    status = JobStatus.IN_QUEUE if state is BatchStatus.IN_QUEUE else JobStatus.RUNNING
    values = {
        "state": str(status),
        "batch_state": str(state),
        "started": parent["started"] or clock.now(),
    }
    connection.execute(sa.update(jobs).where(jobs.c.id == parent["id"]).values(values))
    apply_status_changes(connection, [StatusChange(parent["account_id"], None, parent["state"], status)])
    write_event(connection, parent["account_id"], parent["id"], f"batch {state.value.lower()}")
    refresh_record(connection, parent["id"])
