"""Webhooks that wait for the end of their job or for a retry, and the accounts' secrets.

A row exists until its webhook was delivered or its retries ended. It is due once its job has ended, which is
read from the job's row, so that no end of a job is missed, whatever its cause.
"""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.dialects.sqlite import insert

from foldnote.models.status import FINAL_STATUSES
from foldnote.service.store import clock
from foldnote.service.store.database import Database
from foldnote.service.store.events import write_event
from foldnote.service.store.jobs.counting import FAILED
from foldnote.service.store.jobs.records import BATCH_TYPE, refresh_record
from foldnote.service.store.schema import counters, jobs, webhook_accounts, webhooks

MAX_DELAY_S = 86_400.0
"""Maximum delay between two attempts; a later time means that the clock was set back since."""


@dataclass(frozen=True)
class WebhookAccount:
    """An account's settings: its secret, the URL for all its jobs, and when it was set (RFC 3339 UTC)."""

    secret: bytes
    url: str | None
    created: str


@dataclass(frozen=True)
class DueWebhook:
    """A webhook of a job that has ended.

    Attributes:
        attempts: attempts before this one.
        secret: the account's secret; None if it no longer has one.
        failed_jobs: jobs of a batch that failed; None for a single job.
    """

    job_id: int
    account_id: int
    url: str
    delivery_id: str
    attempts: int
    secret: bytes | None
    name: str
    type: str
    tool: str | None
    state: str
    has_error: bool
    failed_jobs: int | None
    created: str
    started: str | None
    completed: str | None


_ENDED = jobs.c.state.in_(FINAL_STATUSES)
_OPEN = webhooks.join(jobs, jobs.c.id == webhooks.c.job_id)
_IS_DUE = sa.not_(webhooks.c.due.between(sa.bindparam("after"), sa.bindparam("latest")))
_FAILED = (
    sa.select(sa.func.sum(counters.c.count))
    .where(counters.c.parent_id == jobs.c.id, counters.c.state == FAILED)
    .scalar_subquery()
)
_NEXT = (
    sa.select(
        webhooks.c.job_id,
        webhooks.c.account_id,
        webhooks.c.url,
        webhooks.c.delivery_id,
        webhooks.c.attempts,
        webhook_accounts.c.secret,
        jobs.c.name,
        jobs.c.type,
        jobs.c.tool,
        jobs.c.state,
        jobs.c.error.is_not(None).label("has_error"),
        sa.case((jobs.c.type == BATCH_TYPE, sa.cast(sa.func.coalesce(_FAILED, 0), sa.BigInteger))).label(
            "failed_jobs"
        ),
        jobs.c.created,
        jobs.c.started,
        jobs.c.completed,
    )
    .select_from(_OPEN.outerjoin(webhook_accounts, webhook_accounts.c.account_id == webhooks.c.account_id))
    .where(_ENDED, _IS_DUE, webhooks.c.account_id == sa.bindparam("account"))
    .order_by(webhooks.c.due, webhooks.c.job_id)
    .limit(1)
)


class WebhookStore:
    """Queries about webhooks."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def account(self, account_id: int) -> WebhookAccount | None:
        """Return the account's webhook settings; None if there are none."""
        query = sa.select(webhook_accounts).where(webhook_accounts.c.account_id == account_id)
        with self._database.read() as connection:
            row = connection.execute(query).first()
        return None if row is None else WebhookAccount(bytes(row.secret), row.url, row.created)

    def put_secret(self, account_id: int, secret: bytes) -> None:
        """Set the account's secret, which signs its next deliveries."""
        row = {"account_id": account_id, "secret": secret, "created": clock.now()}
        statement = insert(webhook_accounts).values(row)
        new = {"secret": statement.excluded.secret, "created": statement.excluded.created}
        with self._database.write(account_id) as connection:
            connection.execute(statement.on_conflict_do_update(index_elements=["account_id"], set_=new))
            write_event(connection, account_id, None, "webhook secret set")

    def put_url(self, account_id: int, url: str | None) -> None:
        """Set the URL for all jobs that the account submits from now on; it must have a secret."""
        conditions = webhook_accounts.c.account_id == account_id
        with self._database.write(account_id) as connection:
            connection.execute(sa.update(webhook_accounts).where(conditions).values(url=url))
            write_event(connection, account_id, None, "webhook set" if url else "webhook removed")

    def due_accounts(self) -> list[int]:
        """Return the accounts that have a webhook due."""
        query = sa.select(webhooks.c.account_id).distinct().select_from(_OPEN).where(_ENDED, _IS_DUE)
        with self._database.read() as connection:
            return list(connection.execute(query, self._due_range()).scalars())

    def next_of(self, account_id: int) -> DueWebhook | None:
        """Return the webhook of the account that has been due for longest; None if none is due."""
        with self._database.read() as connection:
            row = connection.execute(_NEXT, {**self._due_range(), "account": account_id}).mappings().first()
        return None if row is None else DueWebhook(**row)

    def _due_range(self) -> dict[str, float]:
        moment = self._database.seconds()
        return {"after": moment + 1e-3, "latest": moment + MAX_DELAY_S}

    def claim(self, webhook: DueWebhook, lease_s: float) -> bool:
        """Begin an attempt, which is counted first; return False if another replica has begun it.

        If no outcome is recorded because the service was killed, another attempt follows after the lease.
        """
        conditions = (webhooks.c.job_id == webhook.job_id, webhooks.c.attempts == webhook.attempts)
        values = {"attempts": webhook.attempts + 1, "due": self._database.seconds() + lease_s}
        with self._database.write(webhook.account_id) as connection:
            return bool(connection.execute(sa.update(webhooks).where(*conditions).values(**values)).rowcount)

    def record(self, webhook: DueWebhook, status_text: str, event: str, delay_s: float | None) -> None:
        """Record the outcome of an attempt; without a delay until the next one it was the last.

        Nothing is recorded if the job was deleted meanwhile or another attempt has begun.
        """
        conditions = (webhooks.c.job_id == webhook.job_id, webhooks.c.attempts == webhook.attempts + 1)
        statement: sa.Delete | sa.Update = sa.delete(webhooks).where(*conditions)
        if delay_s is not None:
            due = self._database.seconds() + min(delay_s, MAX_DELAY_S)
            statement = sa.update(webhooks).where(*conditions).values(due=due)
        with self._database.write(webhook.account_id) as connection:
            if connection.execute(statement).rowcount:
                this = jobs.c.id == webhook.job_id
                connection.execute(sa.update(jobs).where(this).values(webhook=status_text))
                refresh_record(connection, webhook.job_id)
                write_event(connection, webhook.account_id, webhook.job_id, event)
