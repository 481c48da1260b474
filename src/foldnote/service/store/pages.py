"""Pages of jobs that are kept as they were read, and renewed by what has changed since.

Whoever watches jobs asks for the same page again and again, most of all while jobs run. The database says in
microseconds whether this or another process has changed anything; the events, of which every change of a job
writes one in its transaction, say which rows. Only those are read anew, and only their text is made again. It
knows nothing of what a running job tells, nor of links, both of which are new with each answer.
"""

from __future__ import annotations

import sqlite3
import threading
from bisect import bisect_left
from collections import OrderedDict, namedtuple
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from operator import neg
from typing import Any

from foldnote.models.status import JobStatus
from foldnote.service.store.counting import glance_at_counts, marks
from foldnote.service.store.database import Database
from foldnote.service.store.events import MOVES
from foldnote.service.store.jobs import COLUMNS, JobFilter, JobPageRows, JobStore
from foldnote.service.store.records import BATCH_TYPE

PAGES = 32
"""Pages that are kept, those that were asked for last; one of 1,000 jobs takes about a megabyte."""
MOST_NEWS = 200
"""After more events than these a page is read whole, which takes about as long."""
_RUNNING = JobStatus.RUNNING.value
_NAMES = (*(column.name for column in COLUMNS), "parent_id", "deleted")
_NEWS = "SELECT job_id, kind, account_id, id FROM events WHERE id > ? ORDER BY id LIMIT ?"
_ROWS = f"SELECT {', '.join(_NAMES)} FROM jobs WHERE id IN"  # noqa: S608  names of columns
_Changed = namedtuple("_Changed", _NAMES)  # type: ignore[misc]  # the columns of a page, and two more


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
        """Whether the row belongs to the listing, on this page or on a later one, unless it is deleted."""
        is_any_parent = self.jobs.parent_id is None and self.jobs.has_subjobs
        return (
            row.account_id in self.jobs.account_ids
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
        with self._database.glance() as connection:
            news = connection.execute(_NEWS, (old.last_event, MOST_NEWS + 1)).fetchall()
            if len(news) > MOST_NEWS:
                return None
            last = news[-1][-1] if news else old.last_event
            mine = [(job_id, kind) for job_id, kind, account_id, _ in news if account_id in owners]
            if any(kind in MOVES for _, kind in mine):
                return None
            changed = _read_changed(connection, {job_id for job_id, _ in mine} - {None})
            if not changed:
                return replace(page, rows=replace(old, last_event=last), version=version)
            edit = _Edit(page)
            for row in filter(key.has, changed):
                edit.put(row) if row.deleted is None else edit.drop(row.id)
            if edit.is_short:
                return None
            edit.cut(key.limit)
            parents = [row.id for row in changed if row.type == BATCH_TYPE]
            read = glance_at_counts(connection, owners, [key.jobs.scope, *parents])
        children = {**old.children, **{each: read[each] for each in parents}}
        children = {each: children[each] for each in children.keys() & edit.live}
        has_more = old.has_more or edit.has_more
        fresh = JobPageRows(edit.rows, has_more, read[key.jobs.scope], children, last)
        return edit.finish(fresh, version)


def _read_changed(connection: sqlite3.Connection, ids: set[int]) -> Sequence[Any]:
    """These rows, and the batches that they are of: those tell of their subjobs."""
    rows = _read_rows(connection, ids)
    return [*rows, *_read_rows(connection, {row.parent_id for row in rows} - ids - {None})]


def _read_rows(connection: sqlite3.Connection, ids: set[int]) -> Sequence[Any]:
    if not ids:
        return ()
    found = connection.execute(f"{_ROWS} ({marks(ids)})", tuple(ids))
    return [_Changed._make(row) for row in found]


class _Edit:
    """A copy of a page that is being renewed."""

    def __init__(self, page: Page) -> None:
        self.rows = list(page.rows.rows)
        self.ids = list(page.ids)
        self.live = set(page.live)
        self.has_more = False
        self._is_after_gone = False
        self._texts = list(page.texts)
        self._last = page.ids[-1] if page.rows.has_more else 0
        self._size = len(page.ids)

    @property
    def is_short(self) -> bool:
        """Whether rows of the next page move up, or there may be none left to move up."""
        return self._is_after_gone or (self._last > 0 and len(self.ids) < self._size)

    def drop(self, job_id: int) -> None:
        """Take the row out, if it is there."""
        self._is_after_gone |= job_id < self._last
        position = _find(self.ids, job_id)
        if position < len(self.ids) and self.ids[position] == job_id:
            for each in (self.rows, self.ids, self._texts):
                del each[position]
            self.live.discard(job_id)

    def put(self, row: Any) -> None:
        """Put the row in its place, instead of what it was; one of a later page stays out."""
        if row.id >= self._last:
            self.drop(row.id)
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
