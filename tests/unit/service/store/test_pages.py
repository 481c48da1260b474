"""A page that is kept is never an old one."""

import uuid
from contextlib import closing

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from foldnote.models.status import JobStatus
from foldnote.service.store.insertion import NewJob
from foldnote.service.store.jobs import JobFilter
from foldnote.service.store.moving import move_account
from foldnote.service.store.pages import MOST_NEWS, PAGES, PageStore
from foldnote.service.store.queue import Ending
from foldnote.service.store.store import Store

MINE = JobFilter((1,))


@pytest.fixture
def store(tmp_path):
    opened = Store(tmp_path / "db")
    account = opened.accounts.ensure_account("a@b.c")
    opened.jobs.add(account, NewJob("first", "anarci", {}, {}))
    yield opened
    opened.close()


def names(page):
    return [row.name for row in page.rows.rows]


def test_a_page_is_found_once_it_was_read(store):
    assert store.pages.find(MINE, None, 10) is None
    page = store.pages.read(MINE, None, 10)
    assert store.pages.find(MINE, None, 10) is page
    assert store.pages.find(MINE, None, 9) is None
    assert page.is_plain


def test_a_change_of_this_process_is_seen(store):
    store.pages.read(MINE, None, 10)
    store.jobs.add(1, NewJob("second", "anarci", {}, {}))
    assert names(store.pages.find(MINE, None, 10)) == ["second", "first"]


def test_a_change_of_another_process_is_seen(store):
    store.pages.read(MINE, None, 10)
    with closing(Store(store.database.path)) as other:
        other.jobs.stop(1, "first")
    page = store.pages.find(MINE, None, 10)
    assert b'"status":"Stopped"' in page.texts[0]
    assert page.rows.counts["Stopped"] == 1


def test_what_is_committed_while_a_page_is_read_is_not_missed(store, monkeypatch):
    read = store.jobs.page

    def read_and_change(*arguments, **more):
        rows = read(*arguments, **more)
        store.jobs.add(1, NewJob("meanwhile", "anarci", {}, {}))
        return rows

    monkeypatch.setattr(store.jobs, "page", read_and_change)
    store.pages.read(MINE, None, 10)
    monkeypatch.undo()
    assert names(store.pages.find(MINE, None, 10)) == ["meanwhile", "first"]


def test_what_another_account_does_leaves_the_answer_as_it_was_made(store):
    page = store.pages.read(MINE, None, 10)
    page.bodies[1] = b"made"
    stranger = store.accounts.ensure_account("b@b.c")
    store.jobs.add(stranger, NewJob("theirs", "anarci", {}, {}))
    assert store.pages.find(MINE, None, 10).bodies == {1: b"made"}
    store.jobs.add(1, NewJob("mine", "anarci", {}, {}))
    assert store.pages.find(MINE, None, 10).bodies == {}


def test_only_what_changed_is_made_anew(store):
    store.jobs.add(1, NewJob("second", "anarci", {}, {}))
    before = store.pages.read(MINE, None, 10)
    store.jobs.stop(1, "second")
    after = store.pages.find(MINE, None, 10)
    assert after.texts[1] is before.texts[1]
    assert after.texts[0] != before.texts[0]


def test_a_page_is_read_whole_where_a_row_of_the_next_one_moves_up(store):
    store.jobs.add(1, NewJob("second", "anarci", {}, {}))
    store.pages.read(MINE, None, 1)
    store.jobs.delete(1, "second")
    assert store.pages.find(MINE, None, 1) is None


def test_a_page_is_read_whole_where_a_row_of_the_next_one_goes(store):
    store.jobs.add(1, NewJob("second", "anarci", {}, {}))
    assert store.pages.read(MINE, None, 1).rows.has_more
    store.jobs.delete(1, "first")
    assert store.pages.find(MINE, None, 1) is None


def test_subjobs_that_are_not_listed_cost_no_reading(store):
    store.jobs.add_batch(1, NewJob("batch", "anarci", {}, {}), [NewJob("row", "anarci", {}, {})])
    for name in ("second", "third"):
        store.jobs.add(1, NewJob(name, "anarci", {}, {}))
    before = store.pages.read(MINE, None, 2)
    store.jobs.delete(1, "row")
    after = store.pages.find(MINE, None, 2)
    assert (names(after), after.rows.has_more) == (names(before), True)


def test_a_page_is_read_whole_after_many_changes(store):
    store.pages.read(MINE, None, 1000)
    rows = [NewJob(f"row{number}", "anarci", {}, {}) for number in range(MOST_NEWS + 1)]
    store.jobs.add_batch(1, NewJob("batch", "anarci", {}, {}), rows)
    assert store.pages.find(MINE, None, 1000) is None


def test_a_page_is_read_whole_when_jobs_come_from_another_account(store):
    source = store.accounts.ensure_account("b@b.c")
    store.jobs.add(source, NewJob("brought", "anarci", {}, {}))
    store.pages.read(MINE, None, 10)
    with store.database.write() as connection:
        move_account(connection, source, 1)
    assert store.pages.find(MINE, None, 10) is None


def test_records_of_batches_and_running_jobs_are_completed_for_each_answer(store):
    store.jobs.add_batch(1, NewJob("batch", "anarci", {}, {}), [NewJob("row", "anarci", {}, {})])
    assert store.pages.read(MINE, None, 10).is_plain is False
    assert store.pages.read(JobFilter((1,), parent_id=2), None, 10).is_plain
    store.queue.claim(store.queue.waiting()[0], "nonce")
    assert store.pages.read(MINE, 2, 10).is_plain is False


def test_only_so_many_pages_are_kept(store):
    for number in range(PAGES + 5):
        store.pages.read(MINE, None, number + 1)
    assert store.pages.find(MINE, None, 5) is None
    assert store.pages.find(MINE, None, PAGES + 5) is not None


STEPS = st.sampled_from(
    ["add", "batch", "stop", "delete", "claim", "finish", "requeue", "aggregate", "attach"]
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    steps=st.lists(st.tuples(STEPS, st.integers(0, 50)), max_size=25),
    limit=st.integers(1, 6),
    has_subjobs=st.booleans(),
)
def test_a_renewed_page_is_the_page_that_would_be_read(store, steps, limit, has_subjobs):
    account = store.accounts.ensure_account(f"{uuid.uuid4().hex}@b.c")
    wanted = JobFilter((account,), has_subjobs=has_subjobs)
    for step, number in steps:
        store.pages.find(wanted, None, limit) or store.pages.read(wanted, None, limit)
        take(store, account, step, number)
        kept = store.pages.find(wanted, None, limit)
        fresh = PageStore(store.database, store.jobs).read(wanted, None, limit)
        if kept is not None:
            assert shown(kept) == shown(fresh)


def shown(page):
    rows = [(row.id, row.state, row.result_sha256) for row in page.rows.rows]
    return rows, page.texts, page.live, page.rows.counts, page.rows.children, page.rows.has_more


def take(store, account, step, number):
    """Do one step to one of the account's jobs, where there is one that it fits."""
    name = f"j{uuid.uuid4().hex}"
    everything = store.jobs.page(JobFilter((account,), has_subjobs=True), before=None, limit=100).rows
    running = [claim for claim in store.queue.running() if claim.account_id == account]
    waiting = [each for each in store.queue.waiting() if each.account_id == account]
    parents = [each for each in store.batches.aggregating() if each.account_id == account]
    if step == "add":
        store.jobs.add(account, NewJob(name, "anarci", {}, {}))
    elif step == "batch":
        rows = [NewJob(f"{name}-{row}", "anarci", {}, {}) for row in range(1 + number % 3)]
        store.jobs.add_batch(account, NewJob(name, "anarci", {}, {}), rows)
    elif step == "claim" and waiting:
        store.queue.claim(waiting[0], name)
    elif step == "finish" and running:
        store.queue.finish(running[number % len(running)], Ending(JobStatus.COMPLETE, result_sha256=name))
    elif step == "requeue" and running:
        store.queue.requeue(running[number % len(running)], "Lost.", delay_s=0, is_counted=True)
    elif step == "aggregate" and parents:
        store.batches.complete(parents[0], name, 1)
    elif everything and step in ("stop", "delete", "attach"):
        row = everything[number % len(everything)]
        if step == "attach":
            store.batches.attach(row.id, name, 1)
        else:
            getattr(store.jobs, step)(account, row.name)
