"""A batch parent's state, which follows from its subjobs in the transaction that changes one of them."""

from __future__ import annotations

import sqlalchemy as sa

from foldnote.models.status import BatchStatus, JobStatus
from foldnote.service.store import clock
from foldnote.service.store.counting import count_job, read_counts
from foldnote.service.store.events import write_event
from foldnote.service.store.records import refresh_record
from foldnote.service.store.schema import jobs


def follow_subjob(connection: sa.Connection, parent_id: int) -> None:
    """Move the parent to what its subjobs' counts say; a stopped or deleted parent stays as it is."""
    parent = connection.execute(sa.select(jobs).where(jobs.c.id == parent_id)).mappings().one()
    if parent["deleted"] is not None or JobStatus(parent["state"]).is_final:
        return
    counts = read_counts(connection, [parent["account_id"]], parent_id)
    waiting, running = counts[JobStatus.IN_QUEUE], counts[JobStatus.RUNNING]
    if waiting or running:
        started = sum(counts.values()) > waiting
        state = BatchStatus.RUNNING if started else BatchStatus.IN_QUEUE
    else:
        state = BatchStatus.AGGREGATING
    if state != parent["batch_state"]:
        _move_parent(connection, parent, state)


def _move_parent(connection: sa.Connection, parent: sa.RowMapping, state: BatchStatus) -> None:
    """`Aggregating` shows as Running: the batch's own result is not there yet."""
    status = JobStatus.IN_QUEUE if state is BatchStatus.IN_QUEUE else JobStatus.RUNNING
    values = {
        "state": str(status),
        "batch_state": str(state),
        "started": parent["started"] or clock.now(),
    }
    connection.execute(sa.update(jobs).where(jobs.c.id == parent["id"]).values(values))
    count_job(connection, parent["account_id"], None, left=parent["state"], entered=status)
    write_event(connection, parent["account_id"], parent["id"], f"batch {state.value.lower()}")
    refresh_record(connection, parent["id"])
