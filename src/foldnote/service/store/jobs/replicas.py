"""The replicas of a service: their leases, and the takeover of attempts from a dead replica."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.dialects.sqlite import insert

from foldnote.service.store.database import Database
from foldnote.service.store.schema import attempts, replicas


@dataclass(frozen=True)
class ReplicaRow:
    """One replica.

    Attributes:
        name: unique name.
        machine: one boot of the machine on which it runs.
        lease_left_s: seconds until its lease ends; negative afterwards.
    """

    name: str
    machine: str
    lease_left_s: float


_TAKE_OVER = (
    sa.update(attempts)
    .where(
        attempts.c.job_id == sa.bindparam("job"),
        attempts.c.number == sa.bindparam("held"),
        attempts.c.replica == sa.bindparam("before"),
        attempts.c.ended.is_(None),
    )
    .values(replica=sa.bindparam("after"))
)


class ReplicaStore:
    """Queries about replicas."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def renew(self, name: str, machine: str, lease_s: float, margin_s: float = 0.0) -> bool:
        """Extend a replica's lease to `lease_s` seconds from now.

        Return False if another machine holds the name, and its lease has not been over for `margin_s`
        seconds.
        """
        moment = self._database.seconds()
        row = {"name": name, "machine": machine, "lease_until": moment + lease_s}
        statement = insert(replicas).values(row)
        new = {"machine": statement.excluded.machine, "lease_until": statement.excluded.lease_until}
        is_free = (replicas.c.machine == machine) | (replicas.c.lease_until < moment - margin_s)
        statement = statement.on_conflict_do_update(index_elements=["name"], set_=new, where=is_free)
        with self._database.write(jobs=()) as connection:
            return connection.execute(statement.returning(replicas.c.name)).first() is not None

    def all(self) -> list[ReplicaRow]:
        """Return every replica that ever registered, by name."""
        moment = self._database.seconds()
        with self._database.read() as connection:
            rows = connection.execute(sa.select(replicas).order_by(replicas.c.name)).all()
        return [ReplicaRow(row.name, row.machine, row.lease_until - moment) for row in rows]

    def take_over(self, job_id: int, number: int, before: str, after: str) -> bool:
        """Give a replica an attempt of another one; return False if a third was faster, or it has ended."""
        values = {"job": job_id, "held": number, "before": before, "after": after}
        with self._database.write(jobs=[job_id]) as connection:
            return connection.execute(_TAKE_OVER, values).rowcount == 1
