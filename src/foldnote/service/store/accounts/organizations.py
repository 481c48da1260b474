"""Organizations: their members, and the weighted hours that these may use per month."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.dialects.sqlite import insert

from foldnote.service.store import clock
from foldnote.service.store.accounts.accounts import find_account
from foldnote.service.store.database import Database
from foldnote.service.store.events import write_event
from foldnote.service.store.quotas import find_spent
from foldnote.service.store.schema import accounts, organizations


@dataclass(frozen=True)
class Organization:
    """One organization.

    Attributes:
        name: unique name.
        budget: weighted hours of a calendar month (UTC), None for no limit.
        spent: weighted hours that its members have used this month.
        members: addresses, sorted.
    """

    name: str
    budget: float | None
    spent: float
    members: tuple[str, ...]


class OrganizationStore:
    """Queries for administering organizations."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, name: str) -> bool:
        """Create an organization; return False if the name is taken."""
        row = {"name": name, "created": clock.now()}
        with self._database.write() as connection:
            statement = insert(organizations).values(row).on_conflict_do_nothing()
            created = connection.execute(statement.returning(organizations.c.id))
            return created.scalar_one_or_none() is not None  # PostgreSQL's driver counts no rows here

    def set_budget(self, name: str, budget: float | None) -> bool:
        """Set the weighted hours per month, None for no limit; return False if there is no such name."""
        statement = sa.update(organizations).where(organizations.c.name == name)
        with self._database.write() as connection:
            return connection.execute(statement.values(budget_weighted_hours=budget)).rowcount > 0

    def add_member(self, name: str, email: str) -> bool:
        """Move an account into an organization; return False if either is unknown."""
        own = sa.select(organizations.c.id).where(organizations.c.name == name)
        with self._database.write() as connection:
            row_id = connection.execute(own).scalar_one_or_none()
            account_id = find_account(connection, email)
            if row_id is None or account_id is None:
                return False
            _move(connection, account_id, row_id)
            return True

    def remove_member(self, email: str) -> bool:
        """Take an account out of its organization; return False if it is unknown or in none."""
        with self._database.write() as connection:
            account_id = find_account(connection, email)
            query = sa.select(accounts.c.organization_id).where(accounts.c.id == account_id)
            if account_id is None or connection.execute(query).scalar_one() is None:
                return False
            _move(connection, account_id, None)
            return True

    def assign(self, account_id: int, name: str | None, among: Collection[str]) -> None:
        """Make an account a member of an organization, which is created if missing.

        Args:
            account_id: row of the account.
            name: the organization; None to take the account out of any organization in `among`, but no other.
            among: names of organizations.
        """
        query = sa.select(accounts.c.email, organizations.c.name)
        query = query.join_from(accounts, organizations, isouter=True).where(accounts.c.id == account_id)
        with self._database.read() as connection:
            email, now = connection.execute(query).one()
        if now == name or (name is None and now not in among):
            return
        if name is None:
            self.remove_member(email)
        else:
            self.add(name)
            self.add_member(name, email)

    def list(self) -> list[Organization]:
        """Return every organization by name."""
        with self._database.read() as connection:
            rows = connection.execute(sa.select(organizations).order_by(organizations.c.name)).all()
            return [_read(connection, row) for row in rows]


def _move(connection: sa.Connection, account_id: int, organization_id: int | None) -> None:
    statement = sa.update(accounts).where(accounts.c.id == account_id)
    connection.execute(statement.values(organization_id=organization_id))
    kind = "left organization" if organization_id is None else "joined organization"
    write_event(connection, account_id, None, kind)


def _read(connection: sa.Connection, row: sa.Row[tuple[object, ...]]) -> Organization:
    members = sa.select(accounts.c.email).where(accounts.c.organization_id == row.id)
    emails = connection.execute(members.order_by(accounts.c.email)).scalars().all()
    spent = find_spent(connection, row.id)
    return Organization(row.name, row.budget_weighted_hours, spent, tuple(emails))
