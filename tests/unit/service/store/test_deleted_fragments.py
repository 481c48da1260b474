"""Deleted data leave no fragments in the files of a database too large to be rewritten at any time."""

import random
import shutil
import threading
import time

import pytest

from foldnote.service.store.jobs.insertion import NewJob
from foldnote.service.store.store import Store

MARK = b"WWWWHHHHCCCCYYYY"
DATABASE, EMAIL = "service.sqlite3", "a@lab.example"
BATCHES, ROWS = 150, 40
LARGE_BYTES = 18 << 20


def make_job(name, draw, is_secret):
    word = MARK.decode() if is_secret else "A" * len(MARK)
    settings = {"sequence": word * draw.randint(2, 120)}
    return NewJob(name, "anarci", settings, settings)


@pytest.fixture(scope="module")
def past(tmp_path_factory):
    """Return a database of an account that deleted every other batch, after rows had grown and moved between pages."""
    folder = tmp_path_factory.mktemp("past")
    store = Store(folder / DATABASE)
    account = store.accounts.ensure_account(EMAIL)
    draw = random.Random(1)
    names = [f"{'secret' if number % 2 else 'kept'}{number}" for number in range(BATCHES)]
    for name in names:
        rows = [make_job(f"{name}.{row}", draw, name.startswith("secret")) for row in range(ROWS)]
        store.jobs.add_batch(account, NewJob(name, "anarci", {}, {}), rows)
    for name in names:
        store.jobs.stop(account, name)
    for name in names:
        if name.startswith("secret"):
            store.jobs.delete(account, name)
    store.close()
    return folder


@pytest.fixture
def store(past, tmp_path):
    shutil.copytree(past, tmp_path, dirs_exist_ok=True)
    opened = Store(tmp_path / DATABASE)
    yield opened
    opened.close()


def read_files(folder):
    return b"".join(path.read_bytes() for path in folder.iterdir())


def test_a_large_database_is_rewritten_during_a_pause_in_writing(store, tmp_path):
    assert store.database.path.stat().st_size > LARGE_BYTES
    stop = threading.Event()
    until = time.monotonic() + 120
    while not store.database.reclaim(stop):
        assert time.monotonic() < until
        time.sleep(0.2)
    assert MARK not in read_files(tmp_path)
    assert store.jobs.find([store.accounts.ensure_account(EMAIL)], "kept0.0") is not None


def test_who_writes_meanwhile_is_not_held_up_by_it(store, tmp_path):
    stop, is_over = threading.Event(), threading.Event()

    def write():
        while not is_over.wait(0.05):
            store.accounts.ensure_account(f"{time.monotonic()}@lab.example")

    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert not store.database.reclaim(stop)
    finally:
        is_over.set()
        writer.join()
    assert MARK in read_files(tmp_path)  # it was postponed
