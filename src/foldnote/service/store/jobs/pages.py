"""Pages of jobs, concatenated by the database from stored, serialised records into one text.

A record is serialised once, by the transaction that changes its row, so a page needs no object per row: in
`benchmarks/service_listing.py` a page of 1,000 takes half the time that rows take. Records of batches and
running jobs must be completed in each response; the text contains marks in their place, and the page includes
their rows. This module knows neither the progress of running jobs nor links.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from foldnote.service.store.database import Database, RawConnection, StorageFaultError, placeholders
from foldnote.service.store.jobs.counting import ALL_JOBS, TOP_LEVEL, Counts, read_counts_raw, zero_counts
from foldnote.service.store.jobs.records import BATCH_TYPE, MARK

_MARK = MARK.encode()
SHORT_BYTES = 2 << 20
"""Maximum text of a page that is read without a thread, which takes one or two milliseconds."""
MAX_PAGE_BYTES = 1 << 27
"""Maximum text of any page, so that long records do not exhaust the memory."""
_ACCOUNTS_APART = 400
"""SQLite combines at most 500 SELECTs."""
_NUMBERS_AT_ONCE = 10_000
# `group_concat` keeps the subquery's order because it has a LIMIT
_PAGE = """
    SELECT CAST(group_concat(text) AS BLOB), -max(number) FROM (
        SELECT number, coalesce(mark, text) AS text FROM jobs CROSS JOIN records ON number = -id
        WHERE {which} ORDER BY id DESC LIMIT ?
    )"""
_POSTGRESQL_PAGE = """
    SELECT CASE WHEN sum(octet_length(text)) <= {most_bytes}
        THEN string_agg(text, ',' ORDER BY number) END, -max(number) FROM (
        SELECT number, coalesce(mark, text) AS text FROM jobs JOIN records ON number = -id
        WHERE {which} ORDER BY id DESC LIMIT ?
    ) AS page"""
_LIVE = """
    SELECT id, account_id, name, state, type, result_sha256, text
    FROM jobs JOIN records ON number = -id WHERE id IN"""


class LiveRow(NamedTuple):
    """A job whose record is completed in each response."""

    id: int
    account_id: int
    name: str
    state: str
    type: str
    result_sha256: str | None
    record: str


@dataclass(frozen=True)
class JobFilter:
    """The jobs of a listing.

    Attributes:
        account_ids: owners of the jobs.
        parent_id: only the subjobs of this parent, None for top-level jobs.
        has_subjobs: whether to include subjobs beside the top-level jobs.
    """

    account_ids: tuple[int, ...]
    parent_id: int | None = None
    has_subjobs: bool = False

    @property
    def scope(self) -> int:
        """The scope of the counters for these jobs."""
        if self.parent_id is not None:
            return self.parent_id
        return ALL_JOBS if self.has_subjobs else TOP_LEVEL


@dataclass(frozen=True)
class Page:
    """A page of a listing.

    Attributes:
        text: the records, newest first, separated by commas, with marks in place of those in `live`.
        live: maps row numbers to jobs whose record is completed in each response.
        counts: all jobs of the listing by status.
        children: maps each batch on the page to its subjobs by status.
        last: the number of the last row if more follow, else None.
    """

    text: bytes
    live: Mapping[int, LiveRow]
    counts: Counts
    children: Mapping[int, Counts] = field(default_factory=dict)
    last: int | None = None


class PageTooLongError(Exception):
    """The text of a page is longer than allowed."""


class PageStore:
    """Reads pages of jobs."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._page = _POSTGRESQL_PAGE if database.is_shared else _PAGE

    def read_raw(self, job_filter: JobFilter, *, before: int | None, limit: int) -> Page | None:
        """Return the same page as `read` if it is short enough to need no thread; else None.

        Raises:
            StorageFaultError: the database cannot be read now.
        """
        if self._database.is_shared:  # its server may be slow
            return None
        with self._database.read_raw() as connection:
            _limit_text(connection, SHORT_BYTES)
            try:
                return self._read(connection, job_filter, before, limit)
            except PageTooLongError:
                return None

    def read(self, job_filter: JobFilter, *, before: int | None, limit: int) -> Page:
        """Return at most `limit` jobs older than row `before`, newest first; fewer if records are very long.

        Raises:
            StorageFaultError: the database cannot be read now.
        """
        with self._database.read_raw() as connection:
            _limit_text(connection, MAX_PAGE_BYTES)
            while True:
                try:
                    return self._read(connection, job_filter, before, limit)
                except PageTooLongError as exc:
                    if limit == 1:
                        raise StorageFaultError("A record is too long.") from exc
                    limit //= 2

    def _read(self, connection: RawConnection, job_filter: JobFilter, before: int | None, limit: int) -> Page:
        if not job_filter.account_ids:
            return Page(b"", {}, zero_counts())
        text, last = self._read_text(connection, job_filter, before, limit)
        live = _read_live(connection, text)
        parents = [row.id for row in live.values() if row.type == BATCH_TYPE]
        counts = read_counts_raw(connection, job_filter.account_ids, [job_filter.scope, *parents])
        has_more = last is not None and _has_any(connection, job_filter, last)
        children = {parent: counts[parent] for parent in parents}
        return Page(text, live, counts[job_filter.scope], children, last if has_more else None)

    def _read_text(
        self, connection: RawConnection, job_filter: JobFilter, before: int | None, limit: int
    ) -> tuple[bytes, int | None]:
        """Return the text and the number of the last row; None for an empty page.

        Raises:
            PageTooLongError: the text is too long.
        """
        condition, values = _condition(job_filter, before)
        accounts = job_filter.account_ids
        if job_filter.parent_id is not None or not 1 < len(accounts) <= _ACCOUNTS_APART:
            condition = f"account_id IN ({placeholders(accounts)}) AND {condition}"
            values = (*accounts, *values)
        else:  # find the newest of each account by index, then the newest of all
            one = f"SELECT id FROM jobs WHERE account_id = ? AND {condition} ORDER BY id DESC LIMIT ?"  # noqa: S608
            newest = " UNION ALL ".join([f"SELECT id FROM ({one}) AS own"] * len(accounts))  # noqa: S608
            condition = f"id IN (SELECT id FROM ({newest}) AS newest ORDER BY id DESC LIMIT ?)"  # noqa: S608
            values = (*(value for account in accounts for value in (account, *values, limit)), limit)
        query = self._page.format(which=condition, most_bytes=MAX_PAGE_BYTES)
        try:
            text, last = connection.execute(query, (*values, limit)).fetchone()
        except sqlite3.DataError as exc:  # SQLite's maximum length of a text
            raise PageTooLongError from exc
        if text is None and last is not None:
            raise PageTooLongError
        return text.encode() if isinstance(text, str) else text or b"", last


def _limit_text(connection: RawConnection, most_bytes: int) -> None:
    """Limit the length of texts in SQLite; PostgreSQL's limit is part of the query."""
    if isinstance(connection, sqlite3.Connection):
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, most_bytes)


def _condition(job_filter: JobFilter, before: int | None) -> tuple[str, Sequence[int]]:
    """Return the listing's SQL condition, except for the owners, and its values."""
    conditions, values = ["deleted IS NULL"], []
    if before is not None:
        conditions.append("id < ?")
        values.append(before)
    if job_filter.parent_id is not None:
        conditions.append("parent_id = ?")
        values.append(job_filter.parent_id)
    elif not job_filter.has_subjobs:
        conditions.append("parent_id IS NULL")
    return " AND ".join(conditions), values


def _has_any(connection: RawConnection, job_filter: JobFilter, before: int) -> bool:
    """Return whether the listing has a job older than `before`."""
    condition, values = _condition(job_filter, before)
    accounts = job_filter.account_ids
    query = f"SELECT 1 FROM jobs WHERE account_id IN ({placeholders(accounts)}) AND {condition} LIMIT 1"  # noqa: S608
    return connection.execute(query, (*accounts, *values)).fetchone() is not None


def _read_live(connection: RawConnection, text: bytes) -> dict[int, LiveRow]:
    """Return the rows whose numbers are enclosed in marks."""
    numbers = [int(number) for number in text.split(_MARK)[1::2]] if _MARK in text else []
    live_rows: dict[int, LiveRow] = {}
    for start in range(0, len(numbers), _NUMBERS_AT_ONCE):
        some = numbers[start : start + _NUMBERS_AT_ONCE]
        for row in connection.execute(f"{_LIVE} ({placeholders(some)})", some):
            live_rows[row[0]] = LiveRow._make(row)
    return live_rows
