"""Insert jobs into the queue: a batch's rows take as few statements as a single job.

Records are serialised here; counters are updated once for all rows.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from foldnote.models.status import JobStatus
from foldnote.service.store import clock
from foldnote.service.store.database import split
from foldnote.service.store.jobs.counting import StatusChange, apply_status_changes
from foldnote.service.store.jobs.records import add_records, make_record, write_text
from foldnote.service.store.schema import accounts, events, inputs, jobs, webhooks

_OPTIONAL = tuple(column.name for column in jobs.columns if column.nullable)


class NameTakenError(Exception):
    """The name is taken; `row` is the row of the batch, None for a single job or a parent."""

    def __init__(self, name: str, row: int | None) -> None:
        super().__init__(name)
        self.name = name
        self.row = row


@dataclass(frozen=True)
class Input:
    """One input file of a job: its field, its file name, and the SHA-256 of its content."""

    field: str
    name: str
    sha256: str


@dataclass(frozen=True)
class NewWebhook:
    """A URL to call at the end of a job.

    Attributes:
        url: the URL.
        most: maximum number of undelivered webhooks of the account, this one included.
        is_default: whether the URL is the account's; then a job beyond the maximum is accepted without a
            webhook.
    """

    url: str
    most: int
    is_default: bool = False


class TooManyWebhooksError(Exception):
    """The account has too many undelivered webhooks for another one; `most` is the limit."""

    def __init__(self, most: int) -> None:
        super().__init__(f"{most} webhooks wait")
        self.most = most


WAITING_WEBHOOK = "Waiting for the end of the job."
"""Delivery state of a job's webhook before its first attempt."""


@dataclass(frozen=True)
class NewJob:
    """A job to insert into the queue; settings as submitted and as normalised."""

    name: str
    type: str
    settings: Mapping[str, Any]
    normalized: Mapping[str, Any]
    project_tag: str | None = None
    inputs: tuple[Input, ...] = ()
    max_runtime_s: float | None = None
    stage: str | None = None
    waits_for: str | None = None
    """The stage that must be complete before this job may be claimed."""
    is_held: bool = False
    """Whether it may be claimed only after its release, even without a stage before it."""
    stage_digest: str | None = None
    """Digest of a stage whose inputs are known: see ``digest_stage``."""
    extensions: Mapping[str, Any] | None = None
    """Extensions submitted besides the settings; None for none."""
    webhook: NewWebhook | None = None


@dataclass(frozen=True)
class SubjobPosition:
    """The parent of subjobs: its row and name."""

    parent_id: int
    batch: str


_EMAIL = sa.select(accounts.c.email).where(accounts.c.id == sa.bindparam("account"))
_NAMED = sa.select(jobs.c.name, jobs.c.id).where(
    jobs.c.account_id == sa.bindparam("account"),
    jobs.c.deleted.is_(None),
    jobs.c.name.in_(sa.bindparam("names", expanding=True)),
)
_WEBHOOKS = sa.select(sa.func.count()).where(webhooks.c.account_id == sa.bindparam("account"))
_INSERT = sa.insert(jobs).inline()
_TELL = sa.insert(events).inline()


def insert_jobs(
    connection: sa.Connection,
    account_id: int,
    new: Sequence[NewJob],
    *,
    position: SubjobPosition | None = None,
    further_values: Mapping[str, object] | None = None,
) -> list[int]:
    """Insert queued jobs and return their rows; `further_values` are additional columns for all of them.

    Raises:
        NameTakenError: the account already has a job with one of the names.
        TooManyWebhooksError: one has a webhook, and the account has too many undelivered ones.
    """
    _refuse_taken_names(connection, account_id, new, is_batch=position is not None)
    email = connection.execute(_EMAIL, {"account": account_id}).scalar_one()
    moment = clock.now()
    rows = [_make_row(account_id, job, moment, further_values or {}) for job in new]
    _settle_webhooks(connection, account_id, rows, new)
    for index, row in enumerate(rows):
        if position is not None:
            row |= {"parent_id": position.parent_id, "batch": position.batch, "row_index": index}
    connection.execute(_INSERT, rows)
    ids = _find_ids(connection, account_id, new)
    inserted = zip(rows, ids, strict=True)
    add_records(connection, [make_record(row | {"id": job_id}, email) for row, job_id in inserted])
    _insert_inputs(connection, ids, new)
    _insert_webhooks(connection, account_id, ids, rows, new)
    parent_id = None if position is None else position.parent_id
    apply_status_changes(
        connection, [StatusChange(account_id, parent_id, None, JobStatus.IN_QUEUE, len(rows))]
    )
    event = {"at": moment, "account_id": account_id, "kind": "submitted"}
    connection.execute(_TELL, [event | {"job_id": job_id} for job_id in ids])
    return ids


def _make_row(
    account_id: int, new: NewJob, moment: str, further_values: Mapping[str, object]
) -> dict[str, Any]:
    row: dict[str, Any] = dict.fromkeys(_OPTIONAL)
    row |= {
        "account_id": account_id,
        "name": new.name,
        "type": new.type,
        "state": str(JobStatus.IN_QUEUE),
        "settings": (settings := write_text(new.settings)),
        "normalized": (normalized := write_text(new.normalized)),
        "extensions": (extensions := write_text(new.extensions) if new.extensions else None),
        "stored_bytes": 2 * (len(settings) + len(normalized) + len(extensions or "")),
        "project_tag": new.project_tag,
        "max_runtime_s": new.max_runtime_s,
        "stage": new.stage,
        "stage_digest": new.stage_digest,
        "is_held": int(new.is_held or new.waits_for is not None),
        "message": None if new.waits_for is None else f"Waits for the stage {new.waits_for}.",
        "created": moment,
    }
    return row | dict(further_values)


def _settle_webhooks(
    connection: sa.Connection, account_id: int, rows: Sequence[dict[str, Any]], new: Sequence[NewJob]
) -> None:
    """Record the state of the rows' webhooks, up to the account's limit."""
    requested = [(row, job.webhook) for row, job in zip(rows, new, strict=True) if job.webhook is not None]
    if not requested:
        return
    waiting = connection.execute(_WEBHOOKS, {"account": account_id}).scalar_one()
    for row, webhook in requested:
        if waiting < webhook.most:
            row["webhook"] = WAITING_WEBHOOK
            waiting += 1
        elif webhook.is_default:
            row["webhook"] = f"Not delivered: {webhook.most:,} webhooks of the account were waiting."
        else:
            raise TooManyWebhooksError(webhook.most)


def _insert_webhooks(
    connection: sa.Connection,
    account_id: int,
    ids: Sequence[int],
    rows: Sequence[Mapping[str, Any]],
    new: Sequence[NewJob],
) -> None:
    values = [
        {
            "job_id": job_id,
            "account_id": account_id,
            "url": job.webhook.url,
            "delivery_id": secrets.token_hex(16),
            "attempts": 0,
            "due": 0.0,
        }
        for job_id, row, job in zip(ids, rows, new, strict=True)
        if job.webhook is not None and row["webhook"] == WAITING_WEBHOOK
    ]
    if values:
        connection.execute(sa.insert(webhooks), values)


def _refuse_taken_names(
    connection: sa.Connection, account_id: int, new: Sequence[NewJob], *, is_batch: bool
) -> None:
    used_names = _find_names(connection, account_id, new)
    for index, job in enumerate(new):
        if job.name in used_names:
            raise NameTakenError(job.name, index if is_batch else None)


def _find_ids(connection: sa.Connection, account_id: int, new: Sequence[NewJob]) -> list[int]:
    ids = _find_names(connection, account_id, new)
    return [ids[job.name] for job in new]


def _find_names(connection: sa.Connection, account_id: int, new: Sequence[NewJob]) -> dict[str, int]:
    """Map those of the names that the account already uses to their rows."""
    ids: dict[str, int] = {}
    for names in split([job.name for job in new]):
        for row in connection.execute(_NAMED, {"account": account_id, "names": names}):
            ids[row.name] = row.id
    return ids


def _insert_inputs(connection: sa.Connection, ids: Sequence[int], new: Sequence[NewJob]) -> None:
    rows = [row for job_id, job in zip(ids, new, strict=True) for row in input_rows(job_id, job.inputs)]
    if rows:
        connection.execute(sa.insert(inputs), rows)


def input_rows(job_id: int, job_inputs: Sequence[Input]) -> list[dict[str, object]]:
    """Return the rows of a job's inputs; those of one field keep their order."""
    rows: list[dict[str, object]] = []
    for item in job_inputs:
        position = sum(row["field"] == item.field for row in rows)
        rows.append(
            {
                "job_id": job_id,
                "field": item.field,
                "position": position,
                "name": item.name,
                "sha256": item.sha256,
            }
        )
    return rows
