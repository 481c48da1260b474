"""A result whose job was deleted or ended otherwise in the meantime is released at once."""

import pytest
from chosen_store import store_place

from foldnote.models.status import JobStatus
from foldnote.service.store.jobs.insertion import NewJob
from foldnote.service.store.jobs.queue import JobEnd
from foldnote.service.store.store import Store

FIRST, SECOND = "a" * 64, "b" * 64
ROW = NewJob("many-1", "anarci", {"sequence": "EVQ"}, {})


@pytest.fixture
def store(tmp_path):
    opened = Store(store_place(tmp_path) or tmp_path / "service.sqlite3")
    opened.accounts.ensure_account("a@b.c")
    yield opened
    opened.close()


def claim(store):
    claims = store.queue.advance([], lambda find: next(iter(find()), None)).claims
    return claims[0]


def complete(sha256):
    return JobEnd(JobStatus.COMPLETE, result_sha256=sha256, result_size=3)


def release_contents(store):
    return [sha256 for _, sha256 in store.storage.leavings()]


def test_of_an_attempt_whose_end_is_known_already(store):
    store.jobs.add(1, NewJob("one", "anarci", {"sequence": "EVQ"}, {}))
    held = claim(store)
    assert store.queue.finish(held, complete(FIRST))
    assert not store.queue.finish(held, complete(SECOND))
    assert release_contents(store) == [SECOND]


@pytest.fixture
def aggregating(store):
    """Return a batch whose only row is complete and whose archive is being built."""
    store.jobs.add_batch(1, NewJob("many", "anarci", {}, {}), [ROW])
    assert store.queue.finish(claim(store), complete(FIRST))
    return store.batches.aggregating()[0]


def test_of_a_batch_that_was_deleted_while_its_archive_was_built(store, aggregating):
    store.jobs.delete(1, "many")
    assert not store.batches.complete(aggregating, SECOND, 5)
    assert release_contents(store) == [SECOND]


def test_of_a_stopped_batch_that_was_deleted_while_its_archive_was_built(store, aggregating):
    store.jobs.delete(1, "many")
    store.batches.attach(aggregating.job_id, SECOND, 5)
    assert release_contents(store) == [SECOND]


def test_a_batch_that_takes_its_archive_keeps_it(store, aggregating):
    assert store.batches.complete(aggregating, SECOND, 5)
    assert release_contents(store) == []
