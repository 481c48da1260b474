"""A page that is kept is never an old one."""

import sqlite3
from contextlib import closing

import pytest

from foldnote.service.store.insertion import NewJob
from foldnote.service.store.jobs import JobFilter
from foldnote.service.store.pages import PAGES
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


def test_a_change_of_this_process_ends_it(store):
    store.pages.read(MINE, None, 10)
    store.jobs.add(1, NewJob("second", "anarci", {}, {}))
    assert store.pages.find(MINE, None, 10) is None
    assert names(store.pages.read(MINE, None, 10)) == ["second", "first"]


def test_a_change_of_another_process_ends_it(store):
    store.pages.read(MINE, None, 10)
    with closing(sqlite3.connect(store.database.path)) as connection:
        connection.execute("UPDATE jobs SET record = '{}'")
        connection.commit()
    assert store.pages.find(MINE, None, 10) is None


def test_what_is_committed_while_a_page_is_read_is_not_missed(store, monkeypatch):
    read = store.jobs.page

    def read_and_change(*arguments, **more):
        rows = read(*arguments, **more)
        store.jobs.add(1, NewJob("meanwhile", "anarci", {}, {}))
        return rows

    monkeypatch.setattr(store.jobs, "page", read_and_change)
    store.pages.read(MINE, None, 10)
    monkeypatch.undo()
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
