"""Limits on the jobs that an account may submit.

Trial accounts may submit ten jobs in total, claimed accounts ten a month, others any number; and none once
the organization's monthly budget, in weighted hours, is used up. The count is updated in the transaction that
inserts the jobs, so that two requests cannot both use the last one. Deleting jobs does not lower the count.
"""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.dialects.sqlite import insert

from foldnote.service.store import clock
from foldnote.service.store.schema import accounts, organizations, usage

TRIAL, CLAIMED, FULL = "trial", "claimed", "full"
"""The tiers of accounts."""


@dataclass(frozen=True)
class Quotas:
    """Maximum jobs of a trial account in total, and of a claimed account per calendar month (UTC)."""

    trial_jobs: int = 10
    monthly_jobs: int = 10


class QuotaError(Exception):
    """The account may not submit this many jobs.

    Attributes:
        tier: `trial` or `claimed`.
        used: jobs counted so far.
        allowed: the limit.
        wanted: jobs in this submission.
    """

    def __init__(self, tier: str, used: int, allowed: int, wanted: int) -> None:
        super().__init__(f"{used} of {allowed} jobs used, {wanted} wanted")
        self.tier = tier
        self.used = used
        self.allowed = allowed
        self.wanted = wanted


class BudgetError(Exception):
    """The organization's monthly budget is used up; both figures are in weighted hours."""

    def __init__(self, spent: float, budget: float) -> None:
        super().__init__(f"{spent} of {budget} weighted hours used")
        self.spent = spent
        self.budget = budget


_TIER = sa.select(accounts.c.tier).where(accounts.c.id == sa.bindparam("account"))
_BUDGET = (
    sa.select(organizations.c.id, organizations.c.budget_weighted_hours)
    .join(accounts, accounts.c.organization_id == organizations.c.id)
    .where(accounts.c.id == sa.bindparam("account"))
)
_ADD_HOURS = insert(usage)
_ADD_HOURS = _ADD_HOURS.on_conflict_do_update(
    index_elements=["account_id", "period"],
    set_={"weighted_hours": usage.c.weighted_hours + _ADD_HOURS.excluded.weighted_hours},
)


def count_hours(connection: sa.Connection, account_id: int, weighted_hours: float) -> None:
    """Add a run's weighted hours to the month in which it ended."""
    row = {"account_id": account_id, "period": _month(), "jobs": 0, "weighted_hours": weighted_hours}
    connection.execute(_ADD_HOURS, [row])


def find_spent(connection: sa.Connection, organization_id: int) -> float:
    """Return the weighted hours used by the members' runs this month."""
    query = (
        sa.select(sa.func.coalesce(sa.func.sum(usage.c.weighted_hours), 0.0))
        .join(accounts, accounts.c.id == usage.c.account_id)
        .where(accounts.c.organization_id == organization_id, usage.c.period == _month())
    )
    return float(connection.execute(query).scalar_one())


def require_budget(connection: sa.Connection, account_id: int) -> None:
    """Require that the account's organization has hours left this month, or no budget.

    Raises:
        BudgetError: the budget is used up.
    """
    row = connection.execute(_BUDGET, {"account": account_id}).first()
    if row is None or row.budget_weighted_hours is None:
        return
    spent = find_spent(connection, row.id)
    if spent >= row.budget_weighted_hours:
        raise BudgetError(spent, row.budget_weighted_hours)


def _month() -> str:
    return clock.now()[:7]


def count_jobs(connection: sa.Connection, account_id: int, number: int, quotas: Quotas) -> None:
    """Count jobs that are being submitted.

    Raises:
        QuotaError: the account may not submit that many; the transaction must be rolled back.
        BudgetError: its organization has no hours left.
    """
    require_budget(connection, account_id)
    tier = connection.execute(_TIER, {"account": account_id}).scalar_one()
    if tier == FULL:
        return
    period = TRIAL if tier == TRIAL else _month()
    allowed = quotas.trial_jobs if tier == TRIAL else quotas.monthly_jobs
    row = {"account_id": account_id, "period": period, "jobs": number}
    statement = insert(usage).values(row)
    connection.execute(
        statement.on_conflict_do_update(
            index_elements=["account_id", "period"], set_={"jobs": usage.c.jobs + number}
        )
    )
    conditions = (usage.c.account_id == account_id, usage.c.period == period)
    total = connection.execute(sa.select(usage.c.jobs).where(*conditions)).scalar_one()
    if total > allowed:
        raise QuotaError(tier, total - number, allowed, number)
