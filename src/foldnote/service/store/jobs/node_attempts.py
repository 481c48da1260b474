"""Attempts that runners on other machines start; each transition is one compare-and-set.

The column ``token_sha256`` is None until a runner has started the attempt, then the hash of the runner's
token, and empty once the attempt was revoked. An empty value is final.
"""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from foldnote.models.status import JobStatus
from foldnote.service.store.database import Database
from foldnote.service.store.schema import attempts, jobs

REVOKED = ""


@dataclass(frozen=True)
class NodeAttemptRow:
    """One attempt as stored."""

    nonce: str
    folder: str
    """Path below the folder of all attempts."""
    token_sha256: str | None
    is_current: bool
    """Whether its job is running and this is the latest attempt."""


_OF_JOB = (attempts.c.job_id == sa.bindparam("job")) & (attempts.c.number == sa.bindparam("held"))
_IS_CURRENT = (
    sa.exists()
    .where(jobs.c.id == attempts.c.job_id)
    .where(jobs.c.attempt == attempts.c.number)
    .where(jobs.c.state == str(JobStatus.RUNNING))
)
_FIND = sa.select(
    attempts.c.nonce,
    attempts.c.folder,
    attempts.c.token_sha256,
    (_IS_CURRENT & attempts.c.ended.is_(None)).label("is_current"),
).where(_OF_JOB)
_SET_TOKEN = (
    sa.update(attempts)
    .where(_OF_JOB, attempts.c.nonce == sa.bindparam("own_nonce"), attempts.c.ended.is_(None), _IS_CURRENT)
    .where(attempts.c.token_sha256.is_not_distinct_from(sa.bindparam("before")))
    .values(token_sha256=sa.bindparam("after"))
)


class NodeAttemptStore:
    """Queries of attempts on other machines."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def seconds(self) -> float:
        """Return the clock that leases use, which all replicas share: Unix time (s).

        Raises:
            StorageFaultError: the database cannot be read now.
        """
        return self._database.seconds()

    def find(self, job_id: int, number: int) -> NodeAttemptRow | None:
        """Return the attempt; None if there is none of this number."""
        with self._database.read() as connection:
            row = connection.execute(_FIND, {"job": job_id, "held": number}).first()
        return None if row is None else NodeAttemptRow(row[0], row[1], row[2], bool(row[3]))

    def start(self, job_id: int, number: int, nonce: str, token_sha256: str) -> bool:
        """Exchange the nonce for a token; return False if it was used or the attempt may not start."""
        return self._set(job_id, number, nonce, None, token_sha256)

    def revoke(self, job_id: int, number: int, nonce: str, token_sha256: str | None) -> bool:
        """Invalidate the attempt's token for good; return False if the token was another one."""
        return self._set(job_id, number, nonce, token_sha256, REVOKED)

    def _set(self, job_id: int, number: int, nonce: str, before: str | None, after: str) -> bool:
        values = {"job": job_id, "held": number, "own_nonce": nonce, "before": before, "after": after}
        with self._database.write(jobs=()) as connection:
            return connection.execute(_SET_TOKEN, values).rowcount == 1
