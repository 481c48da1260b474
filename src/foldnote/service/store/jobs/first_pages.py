"""First pages of many accounts in one statement, for a database behind a connection (PostgreSQL).

There, a single page takes five statements, including the begin and the end of its transaction, and a thread
that waits for each. Pages of many accounts with a few jobs, read together, cost little more than their rows.
One statement sees one snapshot, so a page and its counters are consistent.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from foldnote.service.store.database import Database, split
from foldnote.service.store.jobs.counting import counts_by_scope
from foldnote.service.store.jobs.pages import JobFilter, LiveRow, Page

MOST_ROWS = 100
"""Maximum rows of a page that is read together with others."""
MOST_BYTES = 1 << 16
"""Maximum bytes of its records."""
_PAGES = """
    SELECT account, page.text, page.number, page.last, page.live, page.parents,
        CASE WHEN page.number = {rows} THEN EXISTS (
            SELECT 1 FROM jobs WHERE account_id = account AND {which} AND id < page.last
        ) ELSE false END,
        (SELECT json_agg(json_build_array(parent_id, state, count)) FROM counters
            WHERE account_id = account AND parent_id = ANY(page.parents || {scope}::bigint))
    FROM unnest(?::bigint[]) AS asked (account) CROSS JOIN LATERAL (
        SELECT
            count(*) AS number,
            -max(number) AS last,
            CASE WHEN sum(length) <= {bytes} THEN
                string_agg(shown, ',' ORDER BY number) FILTER (WHERE length <= {bytes})
            END AS text,
            array_agg(id) FILTER (WHERE type = 'batch') AS parents,
            json_agg(json_build_array(id, account_id, name, state, type, result_sha256, text))
                FILTER (WHERE mark IS NOT NULL AND length <= {bytes}) AS live
        FROM (
            SELECT id, account_id, name, state, type, result_sha256, number, mark, text,
                coalesce(mark, text) AS shown, octet_length(text) AS length
            FROM jobs JOIN records ON number = -id
            WHERE account_id = account AND {which} ORDER BY id DESC LIMIT {rows}
        ) AS newest
    ) AS page"""


class FirstPage(NamedTuple):
    """The first page of an account's own jobs.

    Attributes:
        account_id: owner of the jobs.
        limit: maximum number of records.
        has_subjobs: whether to include subjobs beside the top-level jobs.
    """

    account_id: int
    limit: int
    has_subjobs: bool


class FirstPageStore:
    """Reads first pages of several accounts together, from PostgreSQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def read(self, requests: Sequence[FirstPage]) -> dict[FirstPage, Page]:
        """Map listings to the pages that `PageStore.read` would return, if they are short; omit the others.

        Raises:
            StorageFaultError: the database cannot be read now.
        """
        groups: defaultdict[tuple[int, bool], dict[int, list[FirstPage]]] = defaultdict(dict)
        for request in requests:
            group = groups[min(request.limit, MOST_ROWS), request.has_subjobs]
            group.setdefault(request.account_id, []).append(request)
        pages: dict[FirstPage, Page] = {}
        with self._database.read_raw(is_single=True) as connection:
            for (rows, has_subjobs), group in groups.items():
                scope = JobFilter((), has_subjobs=has_subjobs).scope
                condition = "deleted IS NULL" + ("" if has_subjobs else " AND parent_id IS NULL")
                query = _PAGES.format(rows=rows, which=condition, scope=scope, bytes=MOST_BYTES)
                for some in split(list(group)):
                    for account_id, *row in connection.execute(query, (some,)):
                        page, is_end = _make_page(scope, *row), row[1] < rows
                        if page is not None:
                            whole = [
                                request for request in group[account_id] if is_end or request.limit == rows
                            ]
                            pages.update(dict.fromkeys(whole, page))
        return pages


def _make_page(
    scope: int,
    text: str | None,
    number: int,
    last: int | None,
    live: Sequence[Sequence[object]] | None,
    parents: Sequence[int] | None,
    has_more: bool,
    counted: Sequence[Sequence[object]] | None,
) -> Page | None:
    """Return the page of one row; None if its records are too long."""
    if number and text is None:
        return None
    rows = {row.id: row for row in map(LiveRow._make, live or ())}
    counts = counts_by_scope([scope, *(parents or ())], counted or ())
    children = {parent: counts[parent] for parent in parents or ()}
    return Page((text or "").encode(), rows, counts[scope], children, last if has_more else None)
