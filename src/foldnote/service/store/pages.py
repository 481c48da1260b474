"""Pages of jobs that stay as they were read until anything in the database changes.

Whoever watches jobs asks for the same page again and again. The database says in microseconds whether this or
another process has changed anything since; only then is the page read anew. It knows nothing of what a
running job tells, nor of links, both of which are new with each answer.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field

from foldnote.models.status import JobStatus
from foldnote.service.store.database import Database
from foldnote.service.store.jobs import JobFilter, JobPageRows, JobStore
from foldnote.service.store.records import BATCH_TYPE

PAGES = 32
"""Pages that are kept, those that were asked for last; one of 1,000 jobs takes about a megabyte."""


@dataclass(frozen=True)
class Page:
    """A page as it was read.

    Attributes:
        rows: its rows and counts.
        is_plain: whether all records go out as they are; those of batches and running jobs do not.
        bodies: answers that were made of a plain page, by the account that asked.
    """

    rows: JobPageRows
    is_plain: bool
    bodies: dict[int, bytes] = field(default_factory=dict)


class PageStore:
    """Reads pages of jobs, or finds them as they were."""

    def __init__(self, database: Database, jobs: JobStore) -> None:
        self._database = database
        self._jobs = jobs
        self._lock = threading.Lock()
        self._version: int | None = None
        self._kept: OrderedDict[tuple[JobFilter, int | None, int], Page] = OrderedDict()

    def find(self, wanted: JobFilter, before: int | None, limit: int) -> Page | None:
        """The page if it was read before and nothing has changed; None when it must be read."""
        with self._lock:
            self._forget_old(self._database.version())
            page = self._kept.get((wanted, before, limit))
            if page is not None:
                self._kept.move_to_end((wanted, before, limit))
            return page

    def read(self, wanted: JobFilter, before: int | None, limit: int) -> Page:
        """At most `limit` jobs older than the row `before`, newest first."""
        version = self._database.version()  # before the rows: what is committed between is read again
        rows = self._jobs.page(wanted, before=before, limit=limit)
        page = Page(rows, _is_plain(rows))
        with self._lock:
            self._forget_old(version)
            if version == self._version:
                self._kept[wanted, before, limit] = page
                while len(self._kept) > PAGES:
                    self._kept.popitem(last=False)
        return page

    def _forget_old(self, version: int) -> None:
        if self._version is None or version > self._version:
            self._version = version
            self._kept.clear()


def _is_plain(page: JobPageRows) -> bool:
    return all(row.state != JobStatus.RUNNING and row.type != BATCH_TYPE for row in page.rows)
