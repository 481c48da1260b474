"""Accounts, their keys (as SHA-256 only), their organizations, and the secrets that sign links."""

from __future__ import annotations

import secrets as random
from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.dialects.sqlite import insert

from foldnote.service.store import clock
from foldnote.service.store.database import Database, pad_to_power_of_two, placeholders, split
from foldnote.service.store.schema import accounts, keys, organizations, secrets


@dataclass(frozen=True)
class Caller:
    """The account that a request acts for.

    Attributes:
        account_id: row of the account.
        email: address of the account.
        tier: `full`, `trial` or `claimed` (see `quotas`).
        is_admin: whether this key may administer the service.
        organization_id: row of the organization, None for none.
        key_sha256: hash of the key that was used.
        expires: time (RFC 3339 UTC) at which the key expires, None for never.
    """

    account_id: int
    email: str
    tier: str
    is_admin: bool
    organization_id: int | None
    key_sha256: str
    expires: str | None


_CALLERS = """
    SELECT accounts.id, email, tier, is_admin, organization_id, sha256, expires
    FROM keys JOIN accounts ON accounts.id = account_id
    WHERE revoked IS NULL AND sha256 IN"""


def find_account(connection: sa.Connection, email: str) -> int | None:
    """Return the row of the account with this address, or None.

    Case is ignored, as no mail provider distinguishes it. Databases of earlier versions may hold two accounts
    whose addresses differ only in case; each is found by its exact spelling.
    """
    same = sa.func.lower(accounts.c.email) == sa.func.lower(email)
    query = sa.select(accounts.c.id).where(same).order_by(accounts.c.email != email, accounts.c.id)
    account_id = connection.execute(query.limit(1)).scalar_one_or_none()
    return None if account_id is None else int(account_id)


class AccountStore:
    """Queries about accounts and keys.

    Attributes:
        is_shared: whether they are in the database of a server.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self.is_shared = database.is_shared

    def ensure_account(self, email: str, tier: str = "full") -> int:
        """Return the row of the account with this address; create the account if missing."""
        with self._database.write() as connection:
            existing = find_account(connection, email)
            if existing is not None:
                return existing
            row = {"email": email, "tier": tier, "created": clock.now()}
            created = connection.execute(sa.insert(accounts).values(row).returning(accounts.c.id))
            return int(created.scalar_one())

    def find(self, email: str) -> int | None:
        """Return the row of the account with this address, or None."""
        with self._database.read() as connection:
            return find_account(connection, email)

    def add_key(
        self, account_id: int, sha256: str, *, is_admin: bool = False, expires: str | None = None
    ) -> None:
        """Add a key (its SHA-256 only) to the account; a known key is left unchanged."""
        row = {
            "sha256": sha256,
            "account_id": account_id,
            "is_admin": int(is_admin),
            "created": clock.now(),
            "expires": expires,
        }
        with self._database.write() as connection:
            connection.execute(insert(keys).values(row).on_conflict_do_nothing())

    def remove_expired_keys(self, account_id: int) -> None:
        """Remove the account's keys that have expired."""
        is_over = keys.c.expires <= clock.now()
        with self._database.write() as connection:
            connection.execute(sa.delete(keys).where(keys.c.account_id == account_id, is_over))

    def revoke(self, *, sha256: str | None = None, email: str | None = None) -> int:
        """Revoke one key by its hash, or every key of an account; return how many were valid before."""
        with self._database.write() as connection:
            owner = None if email is None else find_account(connection, email)
            condition = keys.c.sha256 == sha256 if sha256 is not None else keys.c.account_id == owner
            statement = sa.update(keys).where(condition, keys.c.revoked.is_(None)).values(revoked=clock.now())
            return connection.execute(statement).rowcount

    def find_caller(self, key_sha256: str) -> Caller | None:
        """Return the account of a key; None if the key is unknown, revoked or expired."""
        return self.find_callers([key_sha256]).get(key_sha256)

    def find_callers(self, key_hashes: Sequence[str]) -> dict[str, Caller]:
        """Map the hashes of valid keys to their accounts."""
        callers: dict[str, Caller] = {}
        with self._database.read_raw(is_single=True) as connection:
            for block in split(key_hashes):
                some = pad_to_power_of_two(block)
                for row in connection.execute(f"{_CALLERS} ({placeholders(some)})", some):
                    account_id, email, tier, is_admin, organization_id, sha256, expires = row
                    if not clock.is_past(expires):
                        callers[sha256] = Caller(
                            account_id, email, tier, bool(is_admin), organization_id, sha256, expires
                        )
        return callers

    def has_live_key(self, account_id: int) -> bool:
        """Return whether any key of the account is still valid."""
        query = sa.select(keys.c.expires).where(keys.c.account_id == account_id, keys.c.revoked.is_(None))
        with self._database.read() as connection:
            return any(not clock.is_past(expires) for expires in connection.execute(query).scalars())

    def tier_of(self, account_id: int) -> str:
        """Return the tier of an account; empty if there is no such account."""
        query = sa.select(accounts.c.tier).where(accounts.c.id == account_id)
        with self._database.read() as connection:
            return str(connection.execute(query).scalar_one_or_none() or "")

    def find_member(self, account_id: int) -> tuple[str, int | None] | None:
        """Return tier and organization of an account; None if there is no such account."""
        query = sa.select(accounts.c.tier, accounts.c.organization_id).where(accounts.c.id == account_id)
        with self._database.read() as connection:
            row = connection.execute(query).first()
        return None if row is None else (str(row.tier), row.organization_id)

    def may_read(self, reader: int, owner: int) -> bool:
        """Return whether an account may read another account's data: its own and its organization's only."""
        if reader == owner:
            return True
        query = sa.select(accounts.c.organization_id).where(accounts.c.id.in_([reader, owner]))
        with self._database.read() as connection:
            organizations_of_both = connection.execute(query).scalars().all()
        return (
            len(organizations_of_both) == 2
            and organizations_of_both[0] is not None
            and organizations_of_both[0] == organizations_of_both[1]
        )

    def find_organization(self, account_id: int) -> str | None:
        """Return the name of an account's organization; None if it has none."""
        query = (
            sa.select(organizations.c.name)
            .join(accounts, accounts.c.organization_id == organizations.c.id)
            .where(accounts.c.id == account_id)
        )
        with self._database.read() as connection:
            name: str | None = connection.execute(query).scalar()
        return name

    def members(self, organization_id: int) -> dict[str, int]:
        """Map each member's address to its account."""
        query = sa.select(accounts.c.email, accounts.c.id).where(
            accounts.c.organization_id == organization_id
        )
        with self._database.read() as connection:
            return {row.email: row.id for row in connection.execute(query)}

    def link_secrets(self) -> dict[str, bytes]:
        """Map ids to the secrets that sign links, newest first; create a secret if there is none."""
        with self._database.write() as connection:
            query = sa.select(secrets.c.id, secrets.c.secret).order_by(secrets.c.created.desc())
            rows = {row.id: bytes(row.secret) for row in connection.execute(query)}
            if not rows:
                rows = {random.token_hex(4): random.token_bytes(32)}
                values = [{"id": k, "secret": v, "created": clock.now()} for k, v in rows.items()]
                connection.execute(sa.insert(secrets), values)
            return rows
