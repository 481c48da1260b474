"""A page of jobs always shows the current rows, after any sequence of changes."""

import json
import re
import uuid
from contextlib import closing

import pytest
import sqlalchemy as sa
from chosen_store import store_place
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from foldnote.models.status import JobStatus
from foldnote.service.store import schema
from foldnote.service.store.accounts.account_merge import move_account
from foldnote.service.store.database import StorageFaultError
from foldnote.service.store.jobs import pages
from foldnote.service.store.jobs.first_pages import FirstPage
from foldnote.service.store.jobs.insertion import NewJob
from foldnote.service.store.jobs.pages import JobFilter
from foldnote.service.store.jobs.queue import JobEnd
from foldnote.service.store.jobs.records import MARK
from foldnote.service.store.schema import accounts, jobs
from foldnote.service.store.store import Store

MINE = JobFilter((1,))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("pages")


@pytest.fixture
def place(folder):
    own = folder / f"{uuid.uuid4().hex}.sqlite3"
    return store_place(own) or own


@pytest.fixture
def store(place):
    opened = Store(place)
    account = opened.accounts.ensure_account("a@b.c")
    opened.jobs.add(account, job("first"))
    yield opened
    opened.close()


def job(name):
    return NewJob(name, "anarci", {"sequence": "EVQ", "chainName": "ä, \u2028 \x1e 'H'"}, {})


def read(store, wanted=MINE, before=None, limit=10):
    return store.pages.read(wanted, before=before, limit=limit)


def records(page):
    """Return the records of a page, with the rows of records that are completed at each request."""
    parts = page.text.decode().split(MARK)
    parts[1::2] = [page.live[int(number)].record for number in parts[1::2]]
    return json.loads("[" + "".join(parts) + "]")


def names(page):
    return [record["jobName"] for record in records(page)]


def test_a_change_of_another_process_is_seen(store, place):
    assert [record["status"] for record in records(read(store))] == ["In Queue"]
    with closing(Store(place)) as other:
        other.jobs.stop(1, "first")
    page = read(store)
    assert [record["status"] for record in records(page)] == ["Stopped"]
    assert page.counts.statuses["Stopped"] == 1


def test_a_page_ends_at_its_limit_and_says_whether_more_follows(store):
    store.jobs.add(1, job("second"))
    first = read(store, limit=1)
    assert (names(first), first.last) == (["second"], 2)
    rest = read(store, before=first.last, limit=1)
    assert (names(rest), rest.last) == (["first"], None)
    assert read(store, before=1) == pages.Page(b"", {}, rest.counts)


def test_a_page_of_no_accounts_is_empty(store):
    assert read(store, JobFilter(())).counts.statuses == dict.fromkeys(map(str, JobStatus), 0)


def test_jobs_that_come_from_another_account_are_seen_with_their_new_owner(store):
    source = store.accounts.ensure_account("b@b.c")
    store.jobs.add(source, job("first"))
    with store.database.write() as connection:
        move_account(connection, source, 1)
    assert [(record["jobName"], record["email"]) for record in records(read(store))] == [
        ("first-2", "a@b.c"),
        ("first", "a@b.c"),
    ]


def test_records_of_batches_and_running_jobs_come_as_rows(store):
    store.jobs.add_batch(1, job("batch"), [job("row")])
    assert set(read(store).live) == {2}
    assert not read(store, JobFilter((1,), parent_id=2)).live
    store.queue.claim(store.queue.waiting()[0], "nonce")
    page = read(store)
    assert {row.name: row.state for row in page.live.values()} == {"batch": "In Queue", "first": "Running"}
    assert page.children[2].statuses["In Queue"] == 1


def test_a_page_of_an_organization_is_the_newest_of_all_members(store):
    other = store.accounts.ensure_account("b@b.c")
    for owner, name in ((other, "theirs"), (1, "mine"), (other, "last")):
        store.jobs.add(owner, job(name))
    everyone = JobFilter((1, other))
    page = read(store, everyone, limit=3)
    assert (names(page), page.last) == (["last", "mine", "theirs"], 2)
    assert names(read(store, everyone, before=page.last)) == ["first"]


def test_a_page_that_is_too_long_ends_before_its_limit(store, monkeypatch):
    for number in range(8):
        store.jobs.add(1, job(f"job{number}"))
    monkeypatch.setattr(pages, "MAX_PAGE_BYTES", 5 * 400)
    seen, before = [], None
    while True:
        page = read(store, before=before, limit=8)
        assert len(page.text) <= 5 * 400
        seen += names(page)
        if page.last is None:
            break
        before = page.last
    assert seen == [*(f"job{number}" for number in reversed(range(8))), "first"]


def test_a_record_that_no_page_can_hold_is_a_fault_of_the_storage(store, monkeypatch):
    monkeypatch.setattr(pages, "MAX_PAGE_BYTES", 10)
    with pytest.raises(StorageFaultError):
        read(store)


def test_only_a_short_page_is_read_at_a_glance(store, monkeypatch):
    short = read(store)
    assert store.pages.read_raw(MINE, before=None, limit=10) == (None if store.database.is_shared else short)
    store.jobs.add(1, job("second"))
    monkeypatch.setattr(pages, "SHORT_BYTES", 500)
    assert store.pages.read_raw(MINE, before=None, limit=10) is None
    assert names(read(store)) == ["second", "first"]


def test_a_deleted_job_whose_folders_are_gone_leaves_no_record(store):
    store.jobs.delete(1, "first")
    assert names(read(store)) == []
    store.queue.mark_purged(1)
    with store.database.read() as connection:
        assert connection.execute(sa.select(sa.func.count()).select_from(schema.records)).scalar_one() == 0


STEPS = st.sampled_from(
    ["add", "batch", "stop", "delete", "claim", "finish", "fail", "requeue", "aggregate", "attach"]
)


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    steps=st.lists(st.tuples(STEPS, st.integers(0, 50)), max_size=25),
    limit=st.integers(1, 6),
    has_subjobs=st.booleans(),
)
def test_a_page_says_what_the_rows_say(store, steps, limit, has_subjobs):
    account = store.accounts.ensure_account(f"{uuid.uuid4().hex}@b.c")
    wanted = JobFilter((account,), has_subjobs=has_subjobs)
    for step, number in steps:
        take(store, account, step, number)
        rows = rows_of(store, account, has_subjobs=has_subjobs)
        page = read(store, wanted, limit=limit)
        assert records(page) == [told(row) for row in rows[:limit]]
        assert set(page.live) == {row["id"] for row in rows[:limit] if is_live(row)}
        assert page.last == (rows[limit - 1]["id"] if len(rows) > limit else None)
        glanced = store.pages.read_raw(wanted, before=None, limit=limit)
        assert glanced == (None if store.database.is_shared else page)
        if store.database.is_shared:
            first = FirstPage(account, limit, has_subjobs)
            assert store.first_pages.read([first]) == {first: page}
        for parent, counts in page.children.items():
            mine = [row for row in rows_of(store, account, has_subjobs=True) if row["parent_id"] == parent]
            assert counts.failed == sum(
                row["state"] == "Stopped" and row["error"] is not None for row in mine
            )


def rows_of(store, account, *, has_subjobs):
    query = sa.select(jobs, accounts.c.email).join(accounts, accounts.c.id == jobs.c.account_id)
    query = query.where(jobs.c.account_id == account, jobs.c.deleted.is_(None)).order_by(jobs.c.id.desc())
    with store.database.read() as connection:
        rows = connection.execute(query).mappings().all()
    return [row for row in rows if has_subjobs or row["parent_id"] is None]


def is_live(row):
    return row["state"] == "Running" or row["type"] == "batch"


MEASURES = [column.name for column in jobs.columns if column.info == schema.MEASURED]
WIRE_NAME = re.compile(r"_([a-z])")


def told(row):
    """Return a row's record, computed independently of the tested code."""
    record = {
        "jobName": row["name"],
        "type": row["type"],
        "status": row["state"],
        "settings": json.loads(row["settings"]),
        "projectTag": row["project_tag"],
        "created": row["created"],
        "started": row["started"],
        "completed": row["completed"],
        "email": row["email"],
        "batch": row["batch"],
        "score": None if row["score"] is None else json.loads(row["score"]),
        **{WIRE_NAME.sub(lambda found: found[1].upper(), name): row[name] for name in MEASURES},
        "retries": row["retries"],
        "reusedFrom": row["reused_from"],
        "webhook": row["webhook"],
        "error": row["error"],
    }
    if row["type"] == "batch":
        more = ("tool", "tool"), ("batchStatus", "batch_state"), ("batchSize", "batch_size")
        record |= {name: row[column] for name, column in more}
    if row["type"] == "batch" or row["state"] != "Running":
        record |= {"progress": 1.0 if row["state"] == "Complete" else None, "message": row["message"]}
    return record


def take(store, account, step, number):
    """Apply one step to a job of the account for which it is valid, if there is one."""
    name = f"j{uuid.uuid4().hex}"
    everything = rows_of(store, account, has_subjobs=True)
    running = [claim for claim in store.queue.running() if claim.account_id == account]
    waiting = [each for each in store.queue.waiting() if each.account_id == account]
    parents = [each for each in store.batches.aggregating() if each.account_id == account]
    if step == "add":
        store.jobs.add(account, job(name))
    elif step == "batch":
        rows = [job(f"{name}-{row}") for row in range(1 + number % 3)]
        store.jobs.add_batch(account, job(name), rows, hours_budget=None if number % 2 else 1.0)
    elif step == "claim" and waiting:
        store.queue.claim(waiting[0], name)
    elif step == "finish" and running:
        ending = JobEnd(
            JobStatus.COMPLETE, score={"plddt": 91.5}, measures={"weighted_hours": 0.6}, result_sha256=name
        )
        store.queue.finish(running[number % len(running)], ending)
    elif step == "fail" and running:
        store.queue.finish(running[number % len(running)], JobEnd(JobStatus.STOPPED, error="It failed."))
    elif step == "requeue" and running:
        store.queue.requeue(running[number % len(running)], "Lost.", delay_s=0, is_counted=True)
    elif step == "aggregate" and parents:
        store.batches.complete(parents[0], name, 1)
    elif everything and step in ("stop", "delete", "attach"):
        row = everything[number % len(everything)]
        if step == "attach":
            store.batches.attach(row["id"], name, 1)
        else:
            getattr(store.jobs, step)(account, row["name"])
