"""No repeated query scans all jobs, according to SQLite's query plans."""

import pytest
import sqlalchemy as sa

from foldnote.models.status import JobStatus
from foldnote.service.store.events import read_state_tokens
from foldnote.service.store.jobs.insertion import NewJob
from foldnote.service.store.jobs.pages import JobFilter
from foldnote.service.store.jobs.queue import JobEnd
from foldnote.service.store.store import Store


@pytest.fixture
def store(tmp_path):
    opened = Store(tmp_path / "db")
    for email in ("a@b.c", "d@b.c"):
        account = opened.accounts.ensure_account(email)
        rows = [NewJob(f"row{number}", "anarci", {}, {}) for number in range(3)]
        opened.jobs.add_batch(account, NewJob("batch", "anarci", {}, {}), rows)
        opened.jobs.add(account, NewJob("one", "anarci", {}, {}))
    yield opened
    opened.close()


def run_one_job(store):
    claim = store.queue.claim(store.queue.waiting()[0], "nonce")
    store.queue.finish(claim, JobEnd(JobStatus.COMPLETE))


QUERIES = {
    "a page": lambda s: s.pages.read(JobFilter((1,)), before=None, limit=10),
    "a deep page": lambda s: s.pages.read(JobFilter((1,)), before=5, limit=10),
    "a page with subjobs": lambda s: s.pages.read(JobFilter((1,), has_subjobs=True), before=9, limit=10),
    "a page of a batch": lambda s: s.pages.read(JobFilter((1,), parent_id=1), before=9, limit=10),
    "a page of an organization": lambda s: s.pages.read(JobFilter((1, 2)), before=9, limit=10),
    "one job": lambda s: s.jobs.find([1, 2], "one"),
    "what waits": lambda s: s.queue.waiting(),
    "what waits of other types": lambda s: s.queue.waiting(["anarci"]),
    "when the next is due": lambda s: s.queue.next_due(),
    "what runs": lambda s: s.queue.running(),
    "what is to be stopped": lambda s: s.queue.cancelled(),
    "what is to be purged": lambda s: s.queue.unpurged(),
    "whether anything is unfinished": lambda s: s.queue.has_unfinished(),
    "archives to build": lambda s: s.batches.aggregating(),
    "stages whose turn it is": lambda s: s.pipelines.ready(),
    "subjobs of a batch": lambda s: s.batches.subjobs(1),
    "a run from claim to end": run_one_job,
    "the mark of an account": lambda s: read_state_tokens(s.database, [1]),
    "a stop": lambda s: s.jobs.stop(1, "batch"),
    "a deletion": lambda s: s.jobs.delete(1, "batch"),
}


def plans_of(store, act):
    """Return SQLite's query plan for each statement of `act`."""
    statements = []

    def note_glance(statement):
        if statement.lstrip().startswith("SELECT"):
            statements.append((statement, ()))

    def note(_connection, _cursor, statement, parameters, _context, is_many):
        if statement.lstrip().upper().startswith(("SELECT", "UPDATE", "WITH", "DELETE")):
            statements.append((statement, parameters[0] if is_many else parameters))

    sa.event.listen(sa.engine.Engine, "before_cursor_execute", note)
    with store.database.read_raw() as connection:  # the next check uses the same connection
        connection.set_trace_callback(note_glance)
    try:
        act(store)
    finally:
        sa.event.remove(sa.engine.Engine, "before_cursor_execute", note)
    with store.database.read() as connection:
        for statement, parameters in statements:
            for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters):
                yield statement, row.detail


@pytest.mark.parametrize("what", [name for name in QUERIES if name.startswith("a") and "page" in name])
def test_a_page_is_taken_from_an_index_in_its_order(store, what):
    plans = [plan for _, plan in plans_of(store, QUERIES[what])]
    is_joined = "organization" in what
    assert is_joined or not any("ORDER BY" in plan for plan in plans), plans
    assert any("records USING INTEGER PRIMARY KEY" in plan for plan in plans), plans


@pytest.mark.parametrize("act", QUERIES.values(), ids=QUERIES)
def test_no_query_reads_all_jobs(store, act):
    plans = list(plans_of(store, act))
    assert plans
    scans = [
        plan for plan in plans if plan[1] in ("SCAN jobs", "SCAN events", "SCAN counters", "SCAN attempts")
    ]
    assert not scans


def test_what_waits_is_the_oldest_of_each_owner(store):
    assert [(each.job_id, each.account_id) for each in store.queue.waiting()] == [(2, 1), (7, 2)]
    store.jobs.stop(1, "batch")
    assert [each.job_id for each in store.queue.waiting()] == [5, 7]


def test_something_is_unfinished_until_all_has_ended(store):
    assert store.queue.has_unfinished()
    for account in (1, 2):
        store.jobs.stop(account, "batch")
        store.jobs.stop(account, "one")
    assert not store.queue.has_unfinished()
