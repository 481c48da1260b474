"""Pages of jobs that are kept as they were read, and renewed by what has changed since.

Whoever watches jobs asks for the same page again and again, most of all while jobs run. The database says in
microseconds whether this or another process has changed anything; the events, of which every change of a job
writes one in its transaction, say which rows. Only those are read anew, and only their text is made again. It
knows nothing of what a running job tells, nor of links, both of which are new with each answer.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from operator import neg
from typing import Any

import sqlalchemy as sa

from foldnote.models.status import JobStatus
from foldnote.service.store.counting import read_counts, read_many_counts
from foldnote.service.store.database import Database
from foldnote.service.store.events import MOVES
from foldnote.service.store.jobs import COLUMNS, JobFilter, JobPageRows, JobStore
from foldnote.service.store.records import BATCH_TYPE
from foldnote.service.store.schema import events, jobs

PAGES = 32
"""Pages that are kept, those that were asked for last; one of 1,000 jobs takes about a megabyte."""
MOST_NEWS = 200
"""After more events than these a page is read whole, which takes about as long."""
_RUNNING = JobStatus.RUNNING.value
_NEWS = (
    sa.select(events.c.id, events.c.job_id, events.c.kind, events.c.account_id)
    .where(events.c.id > sa.bindparam("last"))
    .order_by(events.c.id)
    .limit(MOST_NEWS + 1)
)
_ROWS = sa.select(*COLUMNS, jobs.c.parent_id, jobs.c.deleted).where(
    jobs.c.id.in_(sa.bindparam("ids", expanding=True))
)


@dataclass(frozen=True)
class Page:
    """A page as it was read.

    Attributes:
        rows: its rows and counts.
        ids: the number of each row, newest first.
        texts: the record of each row as bytes of JSON.
        live: the numbers of rows whose records are completed for each answer: batches and running jobs.
        version: what the database called its state before the rows were read.
        bodies: answers that were made of a page without such rows, by the account that asked.
    """

    rows: JobPageRows
    ids: Sequence[int]
    texts: Sequence[bytes]
    live: Set[int]
    version: int
    bodies: dict[int, bytes] = field(default_factory=dict)

    @property
    def is_plain(self) -> bool:
        """Whether all records go out as they are."""
        return not self.live

    def live_rows(self) -> Iterator[tuple[int, Any]]:
        """The position and the row of each record that is completed."""
        for job_id in self.live:
            position = _find(self.ids, job_id)
            yield position, self.rows.rows[position]


@dataclass(frozen=True)
class _Wanted:
    """Which page: a listing's filter, the row before which it begins, and how many rows it has at most."""

    jobs: JobFilter
    before: int | None
    limit: int

    def has(self, row: Any) -> bool:
        """Whether the row belongs to the listing, on this page or on a later one."""
        is_any_parent = self.jobs.parent_id is None and self.jobs.has_subjobs
        return (
            row.deleted is None
            and row.account_id in self.jobs.account_ids
            and (self.before is None or row.id < self.before)
            and (is_any_parent or row.parent_id == self.jobs.parent_id)
        )


class PageStore:
    """Reads pages of jobs, or finds them as they were and renews them."""

    def __init__(self, database: Database, jobs: JobStore) -> None:
        self._database = database
        self._jobs = jobs
        self._lock = threading.Lock()
        self._kept: OrderedDict[_Wanted, Page] = OrderedDict()

    def find(self, wanted: JobFilter, before: int | None, limit: int) -> Page | None:
        """The page as it is now, if it was read before and little has changed; None when it must be read.

        Raises:
            StorageFaultError: the database cannot be read now.
        """
        key = _Wanted(wanted, before, limit)
        version = self._database.version()  # before the rows: what is committed between is looked at again
        with self._lock:
            page = self._kept.get(key)
        if page is None or page.version == version:
            return page
        page = self._renew(key, page, version)
        self._keep(key, page)
        return page

    def read(self, wanted: JobFilter, before: int | None, limit: int) -> Page:
        """At most `limit` jobs older than the row `before`, newest first.

        Raises:
            StorageFaultError: the database cannot be read now.
        """
        version = self._database.version()
        page = _make_page(self._jobs.page(wanted, before=before, limit=limit), version)
        self._keep(_Wanted(wanted, before, limit), page)
        return page

    def _keep(self, key: _Wanted, page: Page | None) -> None:
        with self._lock:
            self._kept.pop(key, None)
            if page is not None:
                self._kept[key] = page
                while len(self._kept) > PAGES:
                    self._kept.popitem(last=False)

    def _renew(self, key: _Wanted, page: Page, version: int) -> Page | None:
        """The page with what has changed; None when that is too much, or not enough is known."""
        old = page.rows
        owners = key.jobs.account_ids
        with self._database.read() as connection:
            news = connection.execute(_NEWS, {"last": old.last_event}).all()
            if len(news) > MOST_NEWS:
                return None
            last = news[-1].id if news else old.last_event
            mine = [each for each in news if each.account_id in owners]
            if any(each.kind in MOVES for each in mine):
                return None
            changed = _read_changed(connection, {each.job_id for each in mine} - {None})
            if not changed:
                return replace(page, rows=replace(old, last_event=last), version=version)
            edit = _Edit(page)
            for row in changed:
                edit.put(row) if key.has(row) else edit.drop(row.id)
            if old.has_more and len(edit.ids) < len(page.ids):
                return None  # a row of the next page moves up
            edit.cut(key.limit)
            counts = read_counts(connection, owners, key.jobs.scope)
            parents = [row.id for row in changed if row.type == BATCH_TYPE]
            children = {**old.children, **read_many_counts(connection, owners, parents)}
        children = {each: children[each] for each in children.keys() & edit.live}
        has_more = old.has_more or edit.has_more
        return edit.finish(JobPageRows(edit.rows, has_more, counts, children, last), version)


def _read_changed(connection: sa.Connection, ids: set[int]) -> Sequence[Any]:
    """These rows, and the batches that they are of: those tell of their subjobs."""
    rows = _read_rows(connection, ids)
    return [*rows, *_read_rows(connection, {row.parent_id for row in rows} - ids - {None})]


def _read_rows(connection: sa.Connection, ids: Iterable[int]) -> Sequence[Any]:
    found = list(ids)
    return connection.execute(_ROWS, {"ids": found}).all() if found else ()


class _Edit:
    """A copy of a page that is being renewed."""

    def __init__(self, page: Page) -> None:
        self.rows = list(page.rows.rows)
        self.ids = list(page.ids)
        self.live = set(page.live)
        self.has_more = False
        self._texts = list(page.texts)
        self._last = page.ids[-1] if page.rows.has_more else 0

    def drop(self, job_id: int) -> None:
        """Take the row out, if it is there."""
        position = _find(self.ids, job_id)
        if position < len(self.ids) and self.ids[position] == job_id:
            for each in (self.rows, self.ids, self._texts):
                del each[position]
            self.live.discard(job_id)

    def put(self, row: Any) -> None:
        """Put the row in its place, instead of what it was; one of a later page stays out."""
        self.drop(row.id)
        if row.id >= self._last:
            position = _find(self.ids, row.id)
            self.rows.insert(position, row)
            self.ids.insert(position, row.id)
            self._texts.insert(position, row.record.encode())
            if _is_live(row.state, row.type):
                self.live.add(row.id)

    def cut(self, limit: int) -> None:
        """Leave the newest ones only."""
        self.has_more = len(self.ids) > limit
        self.live.difference_update(self.ids[limit:])
        for each in (self.rows, self.ids, self._texts):
            del each[limit:]

    def finish(self, rows: JobPageRows, version: int) -> Page:
        """The new page."""
        return Page(rows, self.ids, self._texts, self.live, version)


def _find(ids: Sequence[int], job_id: int) -> int:
    """Where the number stands, or would stand, in falling order."""
    return bisect_left(ids, -job_id, key=neg)


def _is_live(state: str, kind: str) -> bool:
    return state == _RUNNING or kind == BATCH_TYPE


def _make_page(rows: JobPageRows, version: int) -> Page:
    ids, texts, live = [], [], set()
    for row in rows.rows:
        job_id, _, _, state, kind, _, record = row  # by name it takes three times as long
        ids.append(job_id)
        texts.append(record.encode())
        if _is_live(state, kind):
            live.add(job_id)
    return Page(rows, ids, texts, live, version)
