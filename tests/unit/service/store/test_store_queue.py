"""Compare-and-set of the queue: each change has one winner, and final states are never left."""

import itertools
import re
import sqlite3
import threading
import time
import uuid
from collections import Counter
from contextlib import closing

import pytest
from chosen_store import store_place
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from foldnote.models.status import JobStatus
from foldnote.service.store import clock
from foldnote.service.store.database import StorageFaultError
from foldnote.service.store.jobs.insertion import Input, NameTakenError, NewJob
from foldnote.service.store.jobs.pages import JobFilter
from foldnote.service.store.jobs.queue import JobEnd
from foldnote.service.store.sqlite_database import file_system_of, refuse_network_file_system
from foldnote.service.store.store import Store

DONE = JobEnd(JobStatus.COMPLETE, score={"x": 1.5}, result_sha256="ab", result_size=2)


@pytest.fixture
def store(tmp_path):
    opened = Store(store_place(tmp_path) or tmp_path / "db")
    yield opened
    opened.close()


@pytest.fixture
def account(store):
    return store.accounts.ensure_account("a@lab.example")


def add(store, account, name="one", **more):
    return store.jobs.add(account, NewJob(name, "anarci", {"a": 1}, {"a": 1}, **more))


def claim(store):
    return store.queue.claim(store.queue.waiting()[0], uuid.uuid4().hex)


def test_a_claim_has_one_winner(store, account):
    add(store, account)
    waiting = store.queue.waiting()[0]
    assert store.queue.claim(waiting, "n1").attempt == 1
    assert store.queue.claim(waiting, "n2") is None


@pytest.mark.parametrize("set_back_s", [0, 86_400, 400 * 86_400])
def test_a_lost_job_waits_for_its_delay_only_also_when_the_clock_is_set_back(
    store, account, monkeypatch, set_back_s
):
    add(store, account)
    real = time.time
    assert store.queue.requeue(claim(store), "lost", delay_s=30, is_counted=True)
    assert store.queue.waiting() == []
    monkeypatch.setattr(time, "time", lambda: real() - set_back_s)
    assert [row.attempt for row in store.queue.waiting()] == ([1] if set_back_s else [])
    due = store.queue.next_due()
    assert due is None if set_back_s else real() < due <= real() + 30


def test_a_lost_job_waits_a_minute_at_most_after_its_delay(store, account, monkeypatch):
    add(store, account)
    real = time.time
    store.queue.requeue(claim(store), "lost", delay_s=20, is_counted=True)
    monkeypatch.setattr(time, "time", lambda: real() - 30)
    assert store.queue.waiting() == []
    monkeypatch.setattr(time, "time", lambda: real() + 21)
    assert [row.attempt for row in store.queue.waiting()] == [1]


def test_a_result_is_committed_once(store, account):
    add(store, account)
    claimed = claim(store)
    assert store.queue.finish(claimed, DONE)
    assert not store.queue.finish(claimed, JobEnd(JobStatus.STOPPED, error="late"))
    assert not store.queue.requeue(claimed, "late", delay_s=0, is_counted=True)
    assert store.jobs.find([account], "one")["state"] == "Complete"


def test_an_old_attempt_cannot_end_a_newer_one(store, account):
    add(store, account)
    first = claim(store)
    assert store.queue.requeue(first, "Lost.", delay_s=0, is_counted=True)
    second = claim(store)
    assert (second.attempt, second.losses) == (2, 1)
    assert not store.queue.finish(first, DONE)
    assert store.queue.finish(second, DONE)


def test_a_job_that_backs_off_is_not_waiting(store, account):
    add(store, account)
    store.queue.requeue(claim(store), "Lost.", delay_s=60, is_counted=True)
    assert store.queue.waiting() == []
    assert store.queue.next_due() is not None


def test_the_oldest_of_each_owner_waits_first(store, account):
    other = store.accounts.ensure_account("b@lab.example")
    for name in ("a1", "a2"):
        add(store, account, name)
    add(store, other, "b1")
    assert [row.account_id for row in store.queue.waiting()] == [account, other]


def test_inputs_come_with_the_claim(store, account):
    files = (Input("pdbFiles", "a.pdb", "11"), Input("pdbFiles", "b.pdb", "22"))
    add(store, account, inputs=files)
    assert claim(store).inputs == files
    assert store.files.is_used("11")
    assert not store.files.is_used("33")


def test_a_stop_of_a_queued_job_is_final(store, account):
    add(store, account)
    waiting = store.queue.waiting()[0]
    assert store.jobs.stop(account, "one").running == []
    assert store.queue.claim(waiting, "n") is None


def test_a_stop_of_a_running_job_marks_it(store, account):
    job_id = add(store, account)
    claim(store)
    assert store.jobs.stop(account, "one").running == [job_id]
    assert store.queue.cancelled() == {job_id}


def test_a_deleted_running_job_is_marked_and_later_purged(store, account):
    job_id = add(store, account)
    claimed = claim(store)
    assert store.jobs.delete(account, "one") == [job_id]
    assert store.queue.cancelled() == {job_id}
    assert store.queue.unpurged() == []
    store.queue.finish(claimed, DONE)
    assert store.queue.unpurged() == [job_id]
    store.queue.mark_purged(job_id)
    assert store.queue.unpurged() == []


def test_a_taken_name_in_a_batch_keeps_nothing(store, account):
    add(store, account, "m2")
    rows = [NewJob(name, "anarci", {}, {}) for name in ("m1", "m2")]
    with pytest.raises(NameTakenError) as caught:
        store.jobs.add_batch(account, NewJob("many", "anarci", {}, {}), rows)
    assert (caught.value.name, caught.value.row) == ("m2", 1)
    assert store.jobs.find([account], "m1") is None


def test_many_threads_claim_each_job_once(store, account):
    for number in range(20):
        add(store, account, f"j{number}")
    won: list[int] = []

    def work():
        while waiting := store.queue.waiting():
            claimed = store.queue.claim(waiting[0], f"{threading.get_ident()}-{len(won)}-{waiting[0].job_id}")
            if claimed is not None:
                won.append(claimed.job_id)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(won) == sorted(set(won))
    assert len(won) == 20


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["add", "batch", "claim", "finish", "lose", "stop", "delete"]), st.integers(0, 3)
    ),
    max_size=30,
)


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(steps=STEPS)
def test_counters_always_agree_with_the_rows(tmp_path_factory, steps):
    folder = tmp_path_factory.mktemp("counters")
    store = Store(store_place(folder) or folder / "db")
    account = store.accounts.ensure_account("a@lab.example")
    for position, (step, number) in enumerate(steps):
        take_step(store, account, position, step, number)
    for wanted in (JobFilter((account,)), JobFilter((account,), has_subjobs=True)):
        page = store.pages.read(wanted, before=None, limit=1000)
        states = Counter(re.findall(r'"status":"([^"]+)"', shown(page)))
        assert {state: count for state, count in page.counts.statuses.items() if count} == states
    store.close()


def shown(page):
    return page.text.decode() + "".join(row.record for row in page.live.values())


def take_step(store, account, position, step, number):
    name = f"j{number}"
    running = store.queue.running()
    try:
        if step == "add":
            add(store, account, name)
        elif step == "batch":
            rows = [NewJob(f"{name}-{row}", "anarci", {}, {}) for row in range(2)]
            store.jobs.add_batch(account, NewJob(name, "anarci", {}, {}), rows)
        elif step == "claim" and store.queue.waiting():
            store.queue.claim(store.queue.waiting()[0], f"n{position}")
        elif step == "finish" and running:
            store.queue.finish(running[0], DONE)
        elif step == "lose" and running:
            store.queue.requeue(running[0], "Lost.", delay_s=0, is_counted=True)
        elif step == "stop":
            store.jobs.stop(account, name)
        elif step == "delete":
            store.jobs.delete(account, name)
    except NameTakenError:
        pass


def test_a_database_that_another_process_holds_is_a_fault(store, account, monkeypatch, tmp_path):
    monkeypatch.setattr("foldnote.service.store.sqlite_database.BUSY_TIMEOUT_S", 0.1)
    impatient = Store(tmp_path / "other")
    with closing(sqlite3.connect(tmp_path / "other", isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageFaultError):
            impatient.accounts.ensure_account("b@lab.example")
    impatient.close()


def test_a_network_file_system_is_refused(tmp_path):
    mounts = tmp_path / "mounts"
    mounts.write_text(f"/dev/sda / ext4 rw 0 0\nserver:/home {tmp_path} nfs4 rw 0 0\n")
    assert file_system_of(tmp_path / "data", mounts) == "nfs4"
    with pytest.raises(Exception, match="--data-dir on a local disk"):
        refuse_network_file_system(tmp_path / "data", mounts)


def test_an_expired_key_is_unknown(store, account):
    store.accounts.add_key(account, "old", expires="2020-01-01T00:00:00.000Z")
    store.accounts.add_key(account, "new", expires="2999-01-01T00:00:00.000Z")
    assert store.accounts.find_caller("old") is None
    assert store.accounts.find_caller("new").email == "a@lab.example"


def test_many_keys_are_found_at_once(store, account):
    hashes = [f"{number:064}" for number in range(1200)]
    for each in hashes[::100]:
        store.accounts.add_key(account, each)
    assert sorted(store.accounts.find_callers(hashes)) == hashes[::100]


def test_a_full_database_refuses_whole_changes_and_continues_when_there_is_space(tmp_path):
    told = []
    store = Store(tmp_path / "db", on_full=lambda: told.append(1))
    account = store.accounts.ensure_account("a@lab.example")
    limit_pages(store, 0)
    acknowledged = []

    def fill():
        for number in itertools.count():
            add_rows(store, account, number)
            acknowledged.append(number)

    with pytest.raises(StorageFaultError) as caught:
        fill()
    assert caught.value.is_full
    assert told
    assert count_jobs(store) == 21 * len(acknowledged)
    limit_pages(store, 1 << 20)
    add(store, account, "after")
    assert count_jobs(store) == 21 * len(acknowledged) + 1
    store.close()


def add_rows(store, account, number):
    rows = [NewJob(f"{number}-{row}", "anarci", {"a": "x" * 500}, {}) for row in range(20)]
    store.jobs.add_batch(account, NewJob(f"parent{number}", "anarci", {}, {}), rows)


def limit_pages(store, number):
    """Limit the database to this many pages, but to no fewer than it has plus a few."""
    with store.database.write() as connection:
        has = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {max(number, has + 20)}")


def count_jobs(store):
    with store.database.read() as connection:
        return connection.exec_driver_sql("SELECT count(*) FROM jobs").scalar_one()


def first(find):
    """Choose the oldest job."""
    return next(iter(find()), None)


def test_ends_and_claims_are_one_transaction(store, account):
    for name in ("one", "two"):
        add(store, account, name)
    ended = claim(store)

    def fail(find):
        assert [each.job_id for each in find(())] == [2]
        raise RuntimeError

    with pytest.raises(RuntimeError):
        store.queue.advance([(ended, DONE)], fail)
    assert store.jobs.find([account], "one")["state"] == "Running"
    moved = store.queue.advance([(ended, DONE)], first)
    assert (moved.was_committed, [each.name for each in moved.claims]) == ([True], ["two"])
    assert store.queue.advance([(ended, DONE)], first).was_committed == [False]


def test_as_many_are_claimed_at_once_as_are_chosen(store, account):
    for number in range(5):
        add(store, account, f"j{number}", inputs=(Input("pdbFile", f"{number}.pdb", "ab"),))
    room = iter(range(3))
    moved = store.queue.advance([], lambda find: first(find) if next(room, None) is not None else None)
    assert [each.name for each in moved.claims] == ["j0", "j1", "j2"]
    assert [each.inputs[0].name for each in moved.claims] == ["0.pdb", "1.pdb", "2.pdb"]
    assert len({each.nonce for each in moved.claims}) == 3
    page = store.pages.read(JobFilter((account,)), before=None, limit=9)
    assert (page.counts.statuses["Running"], page.counts.statuses["In Queue"]) == (3, 2)


def test_a_batch_whose_hours_are_spent_gives_nothing_more_to_claim(store, account):
    rows = [NewJob(f"row{number}", "anarci", {}, {}) for number in range(2)]
    store.jobs.add_batch(account, NewJob("batch", "anarci", {}, {}), rows, hours_budget=1.0)
    ended = claim(store)
    moved = store.queue.advance(
        [(ended, JobEnd(JobStatus.COMPLETE, measures={"weighted_hours": 2.0}))], first
    )
    assert moved.claims == []
    assert store.jobs.find([account], "row1")["state"] == "Stopped"
    assert store.jobs.find([account], "batch")["batch_state"] == "Aggregating"


def test_times_before_the_boot_are_recognized():
    assert clock.is_before_boot("2001-01-01T00:00:00.000Z") is hasattr(time, "CLOCK_BOOTTIME")
    assert not clock.is_before_boot(clock.now())
