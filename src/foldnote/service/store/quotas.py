"""How many jobs an account may still submit: ten in all on trial, ten a month once claimed, else any number.

The count moves in the transaction that puts the jobs in, so that two requests cannot share the last one. A
deletion gives nothing back: the count is not of rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.dialects.sqlite import insert

from foldnote.service.store import clock
from foldnote.service.store.schema import accounts, usage

TRIAL, CLAIMED, FULL = "trial", "claimed", "full"
"""The tiers of accounts."""


@dataclass(frozen=True)
class Quotas:
    """Jobs of a trial account in all, and of a claimed one in a calendar month (UTC)."""

    trial_jobs: int = 10
    monthly_jobs: int = 10


class QuotaError(Exception):
    """An account may not submit so many jobs.

    Attributes:
        tier: `trial` or `claimed`.
        used: jobs counted so far.
        allowed: the limit.
        wanted: jobs of this submission.
    """

    def __init__(self, tier: str, used: int, allowed: int, wanted: int) -> None:
        super().__init__(f"{used} of {allowed} jobs used, {wanted} wanted")
        self.tier = tier
        self.used = used
        self.allowed = allowed
        self.wanted = wanted


def count_jobs(connection: sa.Connection, account_id: int, number: int, quotas: Quotas) -> None:
    """Count jobs that are being submitted.

    Raises:
        QuotaError: they are more than the account may have; the transaction must be rolled back.
    """
    tier = connection.execute(sa.select(accounts.c.tier).where(accounts.c.id == account_id)).scalar_one()
    if tier == FULL:
        return
    period = TRIAL if tier == TRIAL else clock.now()[:7]
    allowed = quotas.trial_jobs if tier == TRIAL else quotas.monthly_jobs
    row = {"account_id": account_id, "period": period, "jobs": number}
    statement = insert(usage).values(row)
    connection.execute(
        statement.on_conflict_do_update(
            index_elements=["account_id", "period"], set_={"jobs": usage.c.jobs + number}
        )
    )
    mine = (usage.c.account_id == account_id, usage.c.period == period)
    total = connection.execute(sa.select(usage.c.jobs).where(*mine)).scalar_one()
    if total > allowed:
        raise QuotaError(tier, total - number, allowed, number)
