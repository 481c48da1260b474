"""Jobs as their owners see them: insert, find, stop and delete them.

Listings are in `pages.py`, the dispatcher's queries in `queue.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from foldnote.models.status import JobStatus
from foldnote.service.store import clock
from foldnote.service.store.database import Database
from foldnote.service.store.events import write_event
from foldnote.service.store.jobs.batches import update_parent_of_subjob
from foldnote.service.store.jobs.counting import Counts, StatusChange, apply_status_changes, read_counts
from foldnote.service.store.jobs.insertion import NewJob, SubjobPosition, insert_jobs
from foldnote.service.store.jobs.queue import STOPPED_MESSAGE
from foldnote.service.store.jobs.records import BATCH_TYPE, CLEARED, refresh_record
from foldnote.service.store.jobs.shares import end_shares
from foldnote.service.store.quotas import Quotas, count_jobs
from foldnote.service.store.schema import jobs, records, shares, webhooks

JobRow = sa.RowMapping
"""A whole row of the jobs table, by column."""
_WITH_RECORD = sa.select(jobs, records.c.text.label("record")).join(records, records.c.number == -jobs.c.id)


class JobStore:
    """Queries about jobs by their owners."""

    def __init__(self, database: Database, quotas: Quotas) -> None:
        self._database = database
        self._quotas = quotas

    def add(self, account_id: int, new: NewJob) -> int:
        """Commit one queued job and return its row.

        Raises:
            NameTakenError: the account has a job of this name.
            QuotaError: the account may not submit any more jobs.
            TooManyWebhooksError: the account has too many undelivered webhooks.
        """
        with self._database.write(account_id) as connection:
            job_id = insert_jobs(connection, account_id, [new])[0]
            count_jobs(connection, account_id, 1, self._quotas)
            return job_id

    def add_batch(
        self,
        account_id: int,
        parent: NewJob,
        rows: Sequence[NewJob],
        *,
        hours_budget: float | None = None,
    ) -> int:
        """Commit a parent with all its subjobs, or nothing, and return the parent's row.

        Once its runs have used `hours_budget` weighted hours in total, no more are started.

        Raises:
            NameTakenError: a name is taken; its `row` says which subjob, None for the parent.
            QuotaError: the account may not submit so many.
            TooManyWebhooksError: the account has too many undelivered webhooks.
        """
        with self._database.write(account_id) as connection:
            values: dict[str, object] = {
                "type": BATCH_TYPE,
                "tool": parent.type,
                "batch_size": len(rows),
                "batch_state": str(JobStatus.IN_QUEUE),
                "hours_budget": hours_budget,
            }
            parent_id = insert_jobs(connection, account_id, [parent], further_values=values)[0]
            insert_jobs(connection, account_id, rows, position=SubjobPosition(parent_id, parent.name))
            count_jobs(connection, account_id, len(rows), self._quotas)
            return parent_id

    def find(self, account_ids: Sequence[int], name: str) -> JobRow | None:
        """Return the row and record of the job with this name; None if these accounts have none."""
        query = _WITH_RECORD.where(
            jobs.c.account_id.in_(account_ids), jobs.c.name == name, jobs.c.deleted.is_(None)
        )
        with self._database.read() as connection:
            return connection.execute(query.order_by(jobs.c.id.desc())).mappings().first()

    def find_by_id(self, job_id: int) -> JobRow | None:
        """Return the job's row; None if it never existed or was deleted."""
        query = sa.select(jobs).where(jobs.c.id == job_id, jobs.c.deleted.is_(None))
        with self._database.read() as connection:
            return connection.execute(query).mappings().first()

    def complete_of(self, account_id: int, types: Sequence[str]) -> list[JobRow]:
        """Return name, type and end time of the account's complete jobs of these tools, newest first."""
        query = sa.select(jobs.c.name, jobs.c.type, jobs.c.completed).where(
            jobs.c.account_id == account_id,
            jobs.c.deleted.is_(None),
            jobs.c.state == str(JobStatus.COMPLETE),
            jobs.c.type.in_(types),
        )
        with self._database.read() as connection:
            return list(connection.execute(query.order_by(jobs.c.id.desc())).mappings())

    def child_counts(self, account_ids: Sequence[int], parent_id: int) -> Counts:
        """Return the number of subjobs of a parent by status."""
        with self._database.read() as connection:
            return read_counts(connection, account_ids, parent_id)

    def delete(self, account_id: int, name: str) -> list[int] | None:
        """Delete the job and its subjobs with their settings; return None if there is no such job.

        Queued jobs are stopped in the same transaction; running jobs are marked for cancellation, and their
        rows are returned. This also works on a full disk.
        """
        return self._database.retry_while_disk_full(lambda: self._delete(account_id, name))

    def _delete(self, account_id: int, name: str) -> list[int] | None:
        with self._database.write(account_id) as connection:
            rows = _find_with_subjobs(connection, account_id, name)
            for row in rows:
                _mark_deleted(connection, row)
            if not rows:
                return None
            _update_parent(connection, rows[0])
            return [row["id"] for row in rows if row["state"] == JobStatus.RUNNING]

    def delete_ended(self, job_id: int) -> bool:
        """Delete a job with its subjobs; return False if one of them is unfinished, or it is already deleted.

        This also works on a full disk.
        """
        return self._database.retry_while_disk_full(lambda: self._delete_ended(job_id))

    def _delete_ended(self, job_id: int) -> bool:
        query = sa.select(jobs.c.account_id, jobs.c.name).where(jobs.c.id == job_id, jobs.c.deleted.is_(None))
        with self._database.write() as connection:
            job = connection.execute(query).first()
            rows = [] if job is None else _find_with_subjobs(connection, job.account_id, job.name)
            if not rows or not all(JobStatus(row["state"]).is_final for row in rows):
                return False
            for row in rows:
                _mark_deleted(connection, row)
            return True

    def stop(self, account_id: int, name: str) -> StopRows | None:
        """Stop queued jobs and mark running ones for cancellation; return None if there is no such job.

        This also works on a full disk.
        """
        return self._database.retry_while_disk_full(lambda: self._stop(account_id, name))

    def _stop(self, account_id: int, name: str) -> StopRows | None:
        with self._database.write(account_id) as connection:
            rows = _find_with_subjobs(connection, account_id, name)
            if not rows:
                return None
            for row in rows:
                _stop(connection, row)
            _update_parent(connection, rows[0])
            return StopRows(
                running=[
                    row["id"]
                    for row in rows
                    if row["state"] == JobStatus.RUNNING and row["type"] != BATCH_TYPE
                ],
                was_final=all(JobStatus(row["state"]).is_final for row in rows),
            )


@dataclass(frozen=True)
class StopRows:
    """The result of a stop: rows of running jobs to cancel, and whether all jobs had already ended."""

    running: list[int]
    was_final: bool


def _find_with_subjobs(connection: sa.Connection, account_id: int, name: str) -> list[JobRow]:
    """Return the job of this name, then its subjobs."""
    own = sa.select(jobs).where(jobs.c.account_id == account_id, jobs.c.deleted.is_(None))
    job = connection.execute(own.where(jobs.c.name == name)).mappings().first()
    if job is None:
        return []
    if job["type"] != BATCH_TYPE:
        return [job]
    return [job, *connection.execute(own.where(jobs.c.parent_id == job["id"])).mappings().all()]


def _update_parent(connection: sa.Connection, row: JobRow) -> None:
    """Update the parent; this may have been its last unfinished subjob."""
    if row["parent_id"] is not None:
        update_parent_of_subjob(connection, row["parent_id"])


def _stop(connection: sa.Connection, row: JobRow) -> None:
    state = JobStatus(row["state"])
    if state.is_final:
        return
    if state is JobStatus.RUNNING and row["type"] != BATCH_TYPE:
        connection.execute(sa.update(jobs).where(jobs.c.id == row["id"]).values(is_cancelled=1))
        write_event(connection, row["account_id"], row["id"], "stop requested")
        return
    _end_stopped(connection, row)
    apply_status_changes(
        connection, [StatusChange(row["account_id"], row["parent_id"], state, JobStatus.STOPPED)]
    )
    write_event(connection, row["account_id"], row["id"], "stopped")
    refresh_record(connection, row["id"])


def _end_stopped(connection: sa.Connection, row: JobRow) -> None:
    values: dict[str, object] = {
        "state": str(JobStatus.STOPPED),
        "completed": clock.now(),
        "is_cancelled": 1,
        "message": STOPPED_MESSAGE,
    }
    if row["type"] == BATCH_TYPE:
        values["batch_state"] = str(JobStatus.STOPPED)
    connection.execute(sa.update(jobs).where(jobs.c.id == row["id"]).values(values))


def _mark_deleted(connection: sa.Connection, row: JobRow) -> None:
    state = JobStatus(row["state"])
    failed = int(state is JobStatus.STOPPED and row["error"] is not None)
    apply_status_changes(
        connection, [StatusChange(row["account_id"], row["parent_id"], state, None, failed=-failed)]
    )
    if state is JobStatus.IN_QUEUE or (row["type"] == BATCH_TYPE and not state.is_final):
        _end_stopped(connection, row)
    values = {"deleted": clock.now(), "is_cancelled": 1 if not state.is_final else row["is_cancelled"]}
    connection.execute(sa.update(jobs).where(jobs.c.id == row["id"]).values(**values, **CLEARED))
    connection.execute(sa.delete(records).where(records.c.number == -row["id"]))
    connection.execute(sa.delete(webhooks).where(webhooks.c.job_id == row["id"]))
    end_shares(connection, shares.c.job_id == row["id"])
    write_event(connection, row["account_id"], row["id"], "deleted")
