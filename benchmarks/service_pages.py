"""The database's time for a page of jobs among a million, wherever the page begins.

Each kind of page of GET /jobs is read at random positions, beside the same page by OFFSET, which keyset
pagination avoids. Processor time is printed, too: where it is far below the wall time, other programs used
the machine. SQLite itself generates the rows in the service's own tables. Nothing here is a test: machines
differ.

    python benchmarks/service_pages.py [--rows 1000000] [--pages 100]
"""

from __future__ import annotations

import argparse
import gc
import random
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from _service import report, say_load, share

from foldnote.service.store.jobs.pages import JobFilter
from foldnote.service.store.store import Store

LIMIT_MS = 10.0
PAGE = 1000
SUBJOBS = 1000
RECORD = (
    '{"jobName":"@","type":"anarci","status":"Complete","settings":{"sequence":"EVQLVESGGGLVQPGG","scheme":"imgt"},'
    '"projectTag":null,"created":"2026-11-01T10:00:00.000Z","started":"2026-11-01T10:00:01.000Z",'
    '"completed":"2026-11-01T10:00:09.000Z","email":"a@foldnote.invalid","batch":null,"score":{"plddt":91.5},'
    '"weightedHours":0.002,"error":null,"progress":1.0,"message":null}'
)
FILL = """
WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < :rows)
INSERT INTO jobs (id, account_id, name, type, state, settings, normalized, parent_id, batch, row_index,
    created, started, completed)
SELECT n,
    CASE WHEN n <= :batched THEN 1 ELSE 1 + n % 3 END,
    'job-' || n,
    CASE WHEN n <= :batched AND n % :subjobs = 1 THEN 'batch' ELSE 'anarci' END,
    CASE WHEN n > :rows - 500 THEN 'In Queue' WHEN n % 20 = 0 THEN 'Stopped' ELSE 'Complete' END,
    '{}', '{}',
    CASE WHEN n <= :batched AND n % :subjobs <> 1 THEN (n - 1) / :subjobs * :subjobs + 1 END,
    CASE WHEN n <= :batched AND n % :subjobs <> 1 THEN 'job-' || ((n - 1) / :subjobs * :subjobs + 1) END,
    n % :subjobs,
    '2026-11-01T10:00:00.000Z', '2026-11-01T10:00:01.000Z', '2026-11-01T10:00:09.000Z'
FROM number
"""
RECORDS = """
INSERT INTO records SELECT -id, CASE WHEN type = 'batch' THEN char(30) || id || char(30) END,
    replace(:record, '@', name) FROM jobs ORDER BY id DESC
"""
COUNT = """
INSERT INTO counters
SELECT account_id, coalesce(parent_id, 0), state, count(*) FROM jobs GROUP BY 1, 2, 3
UNION ALL SELECT account_id, -1, state, count(*) FROM jobs GROUP BY 1, 2, 3
"""


def fill(path: Path, rows: int) -> None:
    """Insert jobs of three accounts of one organization; half are subjobs of the first account's batches."""
    store = Store(path)
    for letter in "abc":
        store.accounts.ensure_account(f"{letter}@foldnote.invalid")
    store.close()
    values = {"rows": rows, "batched": rows // 2, "subjobs": SUBJOBS}
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA synchronous=OFF")
        connection.execute("PRAGMA cache_size=-400000")
        connection.execute(FILL, values)
        connection.execute(RECORDS, {"record": RECORD})
        connection.execute(COUNT)
        connection.commit()


def measure(act: Callable[[], object], pages: int) -> tuple[list[float], list[float]]:
    """Return the wall and processor milliseconds of each call."""
    passed, worked = [], []
    for _ in range(pages + 3):
        begun, cpu = time.perf_counter(), time.thread_time()
        act()
        passed.append((time.perf_counter() - begun) * 1000)
        worked.append((time.thread_time() - cpu) * 1000)
    return passed[3:], worked[3:]


def kinds(store: Store, rows: int) -> dict[str, Callable[[], object]]:
    """Return every kind of page, each at a random position."""
    some = random.Random(1)

    def page(wanted: JobFilter, limit: int = PAGE, below: int = rows) -> Callable[[], object]:
        def read() -> object:
            return store.pages.read(wanted, before=some.randrange(below // 2, below), limit=limit)

        return read

    def first(wanted: JobFilter) -> Callable[[], object]:
        return lambda: store.pages.read(wanted, before=None, limit=PAGE)

    everyone = (1, 2, 3)
    parent = rows // 4 // SUBJOBS * SUBJOBS + 1
    return {
        "the first page": first(JobFilter((1,))),
        "a page anywhere (startKey)": page(JobFilter((1,))),
        "a page of 50 anywhere": page(JobFilter((1,)), 50),
        "of hundreds of batches with their counts": page(JobFilter((1,)), below=rows // 2),
        "with subjobs (includeSubjobs)": page(JobFilter((1,), has_subjobs=True)),
        "of an organization": page(JobFilter(everyone)),
        "of an organization, with subjobs": page(JobFilter(everyone, has_subjobs=True)),
        "of another member (jobEmail)": page(JobFilter((2,))),
        "of a batch": first(JobFilter((1,), parent_id=parent)),
        "one job by its name (jobName)": lambda: store.jobs.find((1,), f"job-{some.randrange(1, rows // 2)}"),
        "one job of an organization": lambda: store.jobs.find(everyone, f"job-{some.randrange(1, rows)}"),
    }


def queue_kinds(store: Store) -> dict[str, Callable[[], object]]:
    """Return the queries that the dispatcher repeats."""
    return {
        "which jobs wait": store.queue.waiting,
        "which are to be stopped": store.queue.cancelled,
        "whether any is unfinished": store.queue.has_unfinished,
        "which archives are to be built": store.batches.aggregating,
    }


def by_offset_ms(path: Path, rows: int) -> float:
    """Return the peer's time: a page of 1,000 in the middle of an account's jobs, by OFFSET."""
    query = (
        "SELECT text FROM jobs JOIN records ON number = -id"
        " WHERE account_id = 1 AND deleted IS NULL AND parent_id IS NULL ORDER BY id DESC LIMIT 1000 OFFSET ?"
    )
    with closing(sqlite3.connect(path)) as connection:
        passed, _ = measure(lambda: connection.execute(query, (rows // 12,)).fetchall(), 5)
        return statistics.median(passed)


def tell(what: str, act: Callable[[], object], pages: int, peer_ms: float | None = None) -> None:
    passed, worked = measure(act, pages)
    peers = {} if peer_ms is None else {"by OFFSET, in the middle (median)": peer_ms}
    report(f"{what}, p99", share(passed, 0.99), LIMIT_MS, "ms", peers)
    print(f"    p50 {share(passed, 0.5):.2f} ms; processor p99 {share(worked, 0.99):.2f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--pages", type=int, default=100)
    options = parser.parse_args()
    gc.freeze()  # as a service does once it has started
    say_load()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "service.sqlite3"
        begun = time.perf_counter()
        fill(path, options.rows)
        size, took_s = path.stat().st_size >> 20, time.perf_counter() - begun
        print(f"{options.rows:,} jobs, {size} MB, made in {took_s:.0f} s")
        store = Store(path)
        peer_ms = by_offset_ms(path, options.rows)
        for what, act in kinds(store, options.rows).items():
            tell(what, act, options.pages, peer_ms if what.startswith("a page anywhere") else None)
        for what, act in queue_kinds(store).items():
            tell(f"queue: {what}", act, options.pages)
        store.close()


if __name__ == "__main__":
    main()
