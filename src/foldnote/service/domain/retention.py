"""Select ended jobs to remove by age, size and their account's storage; never unfinished jobs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from operator import attrgetter

from foldnote.service.store import clock
from foldnote.service.store.retention import EndedJob
from foldnote.service.store.store import Store


@dataclass(frozen=True)
class RetentionTerms:
    """Conditions, all of which must hold for a job to be removed.

    Attributes:
        older_than_days: minimum days since it ended; None for any age.
        larger_than_bytes: minimum stored size, its subjobs included; None for any size.
        keep_bytes: jobs of an account are removed, oldest first, only until it stores no more than this.
        email: the only account whose jobs are removed; None for all.
    """

    older_than_days: float | None = None
    larger_than_bytes: int | None = None
    keep_bytes: int | None = None
    email: str | None = None


@dataclass(frozen=True)
class Removal:
    """The jobs to remove from one account.

    Attributes:
        email: address of the account.
        used_bytes: current storage of the account, uploaded files included.
        jobs: the jobs to remove, oldest first.
    """

    email: str
    used_bytes: int
    jobs: tuple[EndedJob, ...]

    @property
    def freed_bytes(self) -> int:
        """The stored size of its jobs."""
        return sum(job.size_bytes for job in self.jobs)


def plan_removals(store: Store, terms: RetentionTerms) -> list[Removal]:
    """Return the removals of each affected account, by address."""
    ended = [job for job in store.retention.ended() if _is_removable(job, terms)]
    ended.sort(key=attrgetter("account_id"))  # stable: oldest first within an account
    removals = []
    for account_id, rows in groupby(ended, key=attrgetter("account_id")):
        jobs = list(rows)
        used = store.storage.used(account_id)
        to_remove = tuple(jobs if terms.keep_bytes is None else _oldest(jobs, used - terms.keep_bytes))
        if to_remove:
            removals.append(Removal(jobs[0].email, used, to_remove))
    return sorted(removals, key=attrgetter("email"))


def _is_removable(job: EndedJob, terms: RetentionTerms) -> bool:
    if terms.email is not None and job.email != terms.email:
        return False
    if terms.larger_than_bytes is not None and job.size_bytes < terms.larger_than_bytes:
        return False
    if terms.older_than_days is None:
        return True
    return clock.read(job.ended) < datetime.now(UTC) - timedelta(days=terms.older_than_days)


def _oldest(jobs: list[EndedJob], too_many_bytes: int) -> list[EndedJob]:
    """Return as many of the oldest jobs as are needed to free this size."""
    to_remove = []
    for job in jobs:
        if too_many_bytes <= 0:
            break
        to_remove.append(job)
        too_many_bytes -= job.size_bytes
    return to_remove
