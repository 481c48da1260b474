"""Provisioned accounts: created with one key and one claim link, and claimed once by a person.

The address that requested a key is stored as a keyed hash, for one hour.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import sqlalchemy as sa

from foldnote.service.store import clock
from foldnote.service.store.accounts.account_merge import move_account
from foldnote.service.store.accounts.accounts import find_account
from foldnote.service.store.database import Database
from foldnote.service.store.events import write_event
from foldnote.service.store.quotas import CLAIMED, TRIAL
from foldnote.service.store.schema import accounts, keys, provisions

HOUR_S = 3600.0


class ProvisionCapError(Exception):
    """Too many keys were issued within the hour; the next is possible after `retry_after_s` seconds."""

    def __init__(self, scope: str, retry_after_s: float) -> None:
        super().__init__(scope)
        self.scope = scope
        self.retry_after_s = retry_after_s


@dataclass(frozen=True)
class Caps:
    """Maximum number of keys per hour: for one source, and in total."""

    per_source: int
    total: int


@dataclass(frozen=True)
class NewTrial:
    """A trial account to create; secrets as hashes, `expires` RFC 3339 UTC."""

    email: str
    key_sha256: str
    claim_sha256: str
    expires: str
    source: str


@dataclass(frozen=True)
class ClaimedAccount:
    """The account of a claim link; `claimed_by` is None until it is claimed."""

    account_id: int
    email: str
    claimed_by: str | None


class TrialStore:
    """Queries about provisioned accounts."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def provision(self, new: NewTrial, caps: Caps) -> int:
        """Commit an account with its key and return its row.

        Raises:
            ProvisionCapError: this source, or all sources together, reached the hourly maximum.
        """
        moment = time.time()
        with self._database.write() as connection:  # the count is kept even if the next check refuses
            is_to_come = provisions.c.at > moment  # the clock was set back since
            connection.execute(sa.update(provisions).where(is_to_come).values(at=moment))
        with self._database.write() as connection:
            connection.execute(sa.delete(provisions).where(provisions.c.at <= moment - HOUR_S))
            _refuse_above(connection, "source", caps.per_source, moment, provisions.c.source == new.source)
            _refuse_above(connection, "total", caps.total, moment, sa.true())
            connection.execute(sa.insert(provisions).values(source=new.source, at=moment))
            return _insert(connection, new)

    def find_claim(self, claim_sha256: str) -> ClaimedAccount | None:
        """Return the account of a claim link; None if it is unknown or its key expired unclaimed."""
        with self._database.read() as connection:
            return _find(connection, claim_sha256)

    def claim(self, claim_sha256: str, email: str, into: int | None = None) -> ClaimedAccount | None:
        """Assign the account to a person: its keys no longer expire and its tier becomes `claimed`.

        With `into`, the row of the person's own account, its contents are moved there, even if the same
        person claimed it before. Return the claim as it was before the call; a claim by another person is
        left unchanged.
        """
        with self._database.write() as connection:
            trial = _find(connection, claim_sha256)
            if trial is None or not may_claim(trial.claimed_by, email):
                return trial
            if trial.claimed_by is None:
                _mark_claimed(connection, trial.account_id, email)
            if into is not None and into != trial.account_id:
                move_account(connection, trial.account_id, into)
            return trial

    def merge(self, source_email: str, target_email: str) -> int | None:
        """Merge one account into another; return None unless both exist and differ."""
        with self._database.write() as connection:
            source, target = (find_account(connection, email) for email in (source_email, target_email))
            if source is None or target is None or source == target:
                return None
            return move_account(connection, source, target)


def may_claim(claimed_by: str | None, email: str) -> bool:
    """Return whether an account is unclaimed, or was claimed by this address."""
    return claimed_by is None or claimed_by.lower() == email.lower()


def _mark_claimed(connection: sa.Connection, account_id: int, email: str) -> None:
    values = {"tier": CLAIMED, "claimed": clock.now(), "claimed_by": email}
    connection.execute(sa.update(accounts).where(accounts.c.id == account_id).values(values))
    connection.execute(sa.update(keys).where(keys.c.account_id == account_id).values(expires=None))
    write_event(connection, account_id, None, "claimed")


def _refuse_above(
    connection: sa.Connection, scope: str, cap: int, moment: float, condition: sa.ColumnElement[bool]
) -> None:
    """Refuse while the last `cap` keys are all less than an hour old."""
    query = sa.select(provisions.c.at).where(condition).order_by(provisions.c.at.desc())
    times = connection.execute(query.limit(max(1, cap))).scalars().all()
    if len(times) >= cap:
        oldest = times[-1] if times else moment
        raise ProvisionCapError(scope, oldest + HOUR_S - moment)


def _insert(connection: sa.Connection, new: NewTrial) -> int:
    moment = clock.now()
    row = {"email": new.email, "tier": TRIAL, "created": moment, "claim_sha256": new.claim_sha256}
    account_id = connection.execute(sa.insert(accounts).values(row)).inserted_primary_key
    if account_id is None:
        raise RuntimeError("The new account has no row.")
    key = {
        "sha256": new.key_sha256,
        "account_id": account_id[0],
        "is_admin": 0,
        "created": moment,
        "expires": new.expires,
    }
    connection.execute(sa.insert(keys).values(key))
    write_event(connection, account_id[0], None, "provisioned")
    return int(account_id[0])


def _find(connection: sa.Connection, claim_sha256: str) -> ClaimedAccount | None:
    dead = sa.select(keys.c.sha256).where(
        keys.c.account_id == accounts.c.id, keys.c.expires.is_not(None), keys.c.expires <= clock.now()
    )
    query = sa.select(accounts.c.id, accounts.c.email, accounts.c.claimed_by).where(
        accounts.c.claim_sha256 == claim_sha256, ~sa.exists(dead)
    )
    row = connection.execute(query).first()
    return None if row is None else ClaimedAccount(*row)
