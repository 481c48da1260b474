"""A PostgreSQL server that limits sessions, or is read-only for a while."""

import json
import os
import signal
import threading
import time
from contextlib import contextmanager

import pytest
from chosen_store import cluster

from foldnote.service.store.address import StoreAddress
from foldnote.service.store.database import StorageFaultError
from foldnote.service.store.store import Store

MIGRATION = 0x666F6C65
"""The advisory lock of a replica that migrates the database."""


def name_of(url: str) -> str:
    return url.rpartition("/")[2]


def set_option(url: str, change: str) -> None:
    """Change an option of a database, and cut its connections, which would keep the old value."""
    with cluster().connect("postgres") as connection:
        connection.execute(f"ALTER DATABASE {name_of(url)} {change}".encode())
        connection.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = %s", (name_of(url),)
        )


@contextmanager
def standby():
    """Make the server a standby, which is read-only, until it becomes a primary again."""
    mark = cluster().folder / "data" / "standby.signal"
    cluster().stop()
    mark.touch()
    cluster().start()
    try:
        yield
    finally:
        cluster().stop()
        mark.unlink()
        cluster().start()


def repeat(act, fault: str = "connection"):
    """Retry on this error: connections that were cut are replaced one after another."""
    deadline = time.monotonic() + 10
    while True:
        try:
            return act()
        except StorageFaultError as exc:
            if fault not in str(exc):
                raise
            assert time.monotonic() < deadline


@pytest.mark.cluster
def test_a_database_that_can_only_be_read_for_a_while_is_a_passing_fault():
    url = cluster().make_database()
    store = Store(StoreAddress.read({"url": url}))
    try:
        with standby():
            assert repeat(store.organizations.list) == []
            with pytest.raises(StorageFaultError, match="during recovery|read-only transaction"):
                repeat(lambda: store.organizations.add("lab"))
        assert repeat(lambda: store.organizations.add("lab"))
    finally:
        store.close()


@pytest.mark.cluster
def test_a_run_that_is_lost_while_the_database_can_only_be_read_is_repeated(make_replicas):
    url = cluster().make_database()
    (replica,) = make_replicas(1, url=url)
    replica.submit("lost.sleep-5.output-1")
    replica.wait("lost.sleep-5.output-1", ("Running",))
    while not (marks := list(replica.folder.glob("data/jobs/**/runner.json"))):
        time.sleep(0.05)
    with standby():
        assert replica.submit("refused").status_code == 503
        os.kill(json.loads(marks[0].read_text())["pid"], signal.SIGKILL)
        time.sleep(2)
    while replica.client.get("/jobs").status_code == 503:
        time.sleep(0.1)
    job = replica.wait("lost.sleep-5.output-1")
    assert (job["status"], job.get("error")) == ("Complete", None)


def test_a_limit_on_statements_does_not_end_a_start_that_waits_for_another_replica():
    url = cluster().make_database()
    set_option(url, "SET statement_timeout = '300ms'")
    with cluster().connect(name_of(url)) as other:
        other.execute("SELECT pg_advisory_lock(%s)", (MIGRATION,))
        release = threading.Timer(1, other.execute, ("SELECT pg_advisory_unlock(%s)", (MIGRATION,)))
        release.start()
        try:
            Store(StoreAddress.read({"url": url})).close()
        finally:
            release.join()
