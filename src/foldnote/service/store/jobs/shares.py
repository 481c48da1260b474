"""Links with which colleagues open a job: their owner, their expiry, and who has opened them.

Only the hash of a link's token is stored. A link ends when it is revoked, expires, or its job is deleted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.sqlite import insert

from foldnote.service.store import clock
from foldnote.service.store.database import Database
from foldnote.service.store.events import write_event
from foldnote.service.store.schema import accounts, jobs, share_openings, shares


@dataclass(frozen=True)
class NewShare:
    """A link to create: the hash of its token, its name for the owner, and its expiry (RFC 3339 UTC)."""

    sha256: str
    name: str
    expires: str


@dataclass(frozen=True)
class Opening:
    """An account's openings of a link: its address, their number, and the last time (RFC 3339 UTC)."""

    email: str
    count: int
    last: str


@dataclass(frozen=True)
class ShareRow:
    """A link as its owner sees it."""

    name: str
    job_name: str
    created: str
    expires: str
    openings: tuple[Opening, ...] = ()


@dataclass(frozen=True)
class SharedJob:
    """The target of a valid link: its row, the job, the job's owner, and the owner's organization."""

    share_id: int
    job_id: int
    account_id: int
    organization_id: int | None


_VALID = (
    sa.select(shares.c.id, shares.c.job_id, shares.c.account_id, accounts.c.organization_id)
    .join(jobs, jobs.c.id == shares.c.job_id)
    .join(accounts, accounts.c.id == shares.c.account_id)
    .where(shares.c.expires > sa.bindparam("now"), jobs.c.deleted.is_(None))
)


class ShareStore:
    """Queries about links to jobs."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, account_id: int, job_id: int, new: NewShare, most: int) -> str | None:
        """Store a link to the account's job and return its time; None if the account has too many."""
        moment = clock.now()
        conditions = (shares.c.account_id == account_id, shares.c.expires > moment)
        with self._database.write(account_id) as connection:
            if connection.execute(sa.select(sa.func.count()).where(*conditions)).scalar_one() >= most:
                return None
            row = {
                "sha256": new.sha256,
                "name": new.name,
                "job_id": job_id,
                "account_id": account_id,
                "created": moment,
                "expires": new.expires,
            }
            connection.execute(sa.insert(shares).inline(), row)
            write_event(connection, account_id, job_id, "shared", f"until {new.expires}")
            return moment

    def all(self, account_id: int, job_name: str | None = None) -> list[ShareRow]:
        """Return the account's valid links, newest first, to one job or to all."""
        query = (
            sa.select(shares.c.id, shares.c.name, jobs.c.name, shares.c.created, shares.c.expires)
            .join(jobs, jobs.c.id == shares.c.job_id)
            .where(shares.c.account_id == account_id, shares.c.expires > clock.now())
            .order_by(shares.c.id.desc())
        )
        if job_name is not None:
            query = query.where(jobs.c.name == job_name, jobs.c.deleted.is_(None))
        opened = (
            sa.select(share_openings, accounts.c.email)
            .join(accounts, accounts.c.id == share_openings.c.account_id)
            .join(shares, shares.c.id == share_openings.c.share_id)
            .where(shares.c.account_id == account_id)
            .order_by(share_openings.c.last.desc())
        )
        openings_by_share: dict[int, list[Opening]] = {}
        with self._database.read() as connection:
            rows = connection.execute(query).all()
            for row in connection.execute(opened).mappings():
                opening = Opening(row["email"], row["count"], row["last"])
                openings_by_share.setdefault(row["share_id"], []).append(opening)
        return [ShareRow(*row[1:], openings=tuple(openings_by_share.get(row[0], ()))) for row in rows]

    def revoke(self, account_id: int, name: str) -> bool:
        """End the account's link; return False if it has none of this name."""
        with self._database.write(account_id) as connection:
            conditions = (shares.c.account_id == account_id, shares.c.name == name)
            row = connection.execute(sa.select(shares.c.job_id).where(*conditions)).first()
            if row is None:
                return False
            end_shares(connection, sa.and_(*conditions))
            write_event(connection, account_id, row.job_id, "share revoked")
            return True

    def find(self, sha256: str) -> SharedJob | None:
        """Return the target of the valid link with this token hash."""
        return self._find(shares.c.sha256 == sha256)

    def find_by_id(self, share_id: int) -> SharedJob | None:
        """Return the target of a link if it is still valid."""
        return self._find(shares.c.id == share_id)

    def _find(self, condition: sa.ColumnElement[bool]) -> SharedJob | None:
        with self._database.read() as connection:
            row = connection.execute(_VALID.where(condition), {"now": clock.now()}).first()
        return None if row is None else SharedJob(*row)

    def note_opening(self, shared: SharedJob, account_id: int, *, is_further: bool = False) -> None:
        """Record that an account has opened the link.

        An opening with `is_further` belongs to an earlier one, and counts only if there was none.
        """
        row: dict[str, Any] = {
            "share_id": shared.share_id,
            "account_id": account_id,
            "count": 1,
            "last": clock.now(),
        }
        statement = insert(share_openings).values(row)
        new = {"count": share_openings.c.count + (0 if is_further else 1), "last": statement.excluded.last}
        conditions = (share_openings.c.share_id == shared.share_id, share_openings.c.account_id == account_id)
        with self._database.write(shared.account_id, account_id) as connection:
            if connection.execute(sa.select(shares.c.id).where(shares.c.id == shared.share_id)).first():
                is_known = (
                    connection.execute(sa.select(share_openings.c.count).where(*conditions)).first()
                    is not None
                )
                connection.execute(
                    statement.on_conflict_do_update(index_elements=["share_id", "account_id"], set_=new)
                )
                if not (is_further and is_known):
                    detail = f"by account {account_id}"
                    write_event(connection, shared.account_id, shared.job_id, "share opened", detail)


def end_shares(connection: sa.Connection, condition: sa.ColumnElement[bool]) -> None:
    """Remove links with their openings; the events remain."""
    ended = sa.select(shares.c.id).where(condition)
    connection.execute(sa.delete(share_openings).where(share_openings.c.share_id.in_(ended)))
    connection.execute(sa.delete(shares).where(condition))
