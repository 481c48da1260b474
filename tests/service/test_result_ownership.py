"""No job receives another job's result, whatever was done to the database and the folders."""

import shutil
import sqlite3
import time
import zipfile
from contextlib import closing
from pathlib import Path

import pytest
from chaos import fault_of_result, rows

OLD = Path(__file__).parent / "data" / "data-folder-m0013.zip"
"""A data folder of the version whose attempts had no nonces in their paths: one job is complete, the run of one ended
while the service was down, the run of one was lost.
"""
DATABASE_FILES = ("service.sqlite3", "service.sqlite3-wal", "service.sqlite3-shm")


def data(service) -> Path:
    return service.folder / "data"


@pytest.fixture
def stopped(make_service):
    """Return the folder of an ended service that has run one job of another account."""
    service = make_service("--no-rate-limit")
    service.run("theirs.output-1")
    service.end()
    return service


def take_database(service, target: Path) -> None:
    target.mkdir()
    for name in DATABASE_FILES:
        if (data(service) / name).exists():
            shutil.move(data(service) / name, target / name)


def test_a_new_database_in_an_old_folder_takes_no_old_result(stopped, tmp_path):
    take_database(stopped, tmp_path / "moved")
    stopped.start()
    assert stopped.run("mine.output-1")["status"] == "Complete"
    assert fault_of_result(stopped.client, "mine.output-1", is_batch=False) is None
    stopped.end()


def test_an_older_database_that_is_copied_back_takes_no_newer_result(make_service, tmp_path):
    service = make_service("--no-rate-limit")
    service.end()
    shutil.copytree(data(service), tmp_path / "older")
    service.start()
    service.run("theirs.output-1")
    service.end()
    take_database(service, tmp_path / "newer")
    shutil.copy(tmp_path / "older" / "service.sqlite3", data(service))
    service.start()
    assert service.run("mine.output-1")["status"] == "Complete"
    assert fault_of_result(service.client, "mine.output-1", is_batch=False) is None
    assert "theirs" not in service.client.get("/jobs/mine.output-1/log").text


def test_an_outcome_without_the_nonce_of_its_attempt_is_not_taken(make_service):
    service = make_service("--no-rate-limit")
    service.run("theirs.output-1")
    service.submit("mine.output-1.sleep-3")
    service.wait("mine.output-1.sleep-3", ("Running",))
    first, second = (
        data(service) / "jobs" / folder
        for (folder,) in rows(service, "SELECT folder FROM attempts ORDER BY job_id")
    )
    until = time.monotonic() + 30
    while not (second / "runner.json").exists():  # a job counts as running before its folder exists
        assert time.monotonic() < until
        time.sleep(0.02)
    service.kill()
    time.sleep(4)
    shutil.copy(first / "outcome.json", second)
    service.start()
    assert service.wait("mine.output-1.sleep-3")["status"] == "Complete"
    assert fault_of_result(service.client, "mine.output-1.sleep-3", is_batch=False) is None
    assert (second / "foreign-outcome.json").exists()


def test_a_data_folder_of_the_previous_version_still_works(make_service):
    service = make_service("--no-rate-limit")
    service.end()
    shutil.rmtree(data(service))
    zipfile.ZipFile(OLD).extractall(data(service))
    service.start()
    assert service.job("done.output-1.score.chatter-2")["score"] == {"probe": 0.5}
    assert service.client.get("/jobs/done.output-1.score.chatter-2/log").json()["log"] == "line 0\nline 1\n"
    for name in ("done.output-1.score.chatter-2", "ended-meanwhile.sleep-4.output-1"):
        assert service.wait(name)["status"] == "Complete"
        assert fault_of_result(service.client, name, is_batch=False) is None
    assert service.job("lost.sleep-60.output-1")["status"] in ("In Queue", "Running")
    assert rows(service, "SELECT attempt FROM jobs WHERE id = 2") == [(1,)]


def test_an_old_outcome_in_a_folder_of_the_version_before_is_not_adopted(make_service):
    """A copied-back database in the earlier version: a new claim, an old outcome."""
    service = make_service("--no-rate-limit")
    service.end()
    shutil.rmtree(data(service))
    zipfile.ZipFile(OLD).extractall(data(service))
    with closing(sqlite3.connect(data(service) / "service.sqlite3")) as connection, connection:
        connection.execute("UPDATE attempts SET claimed = '2999-01-01T00:00:00.000Z' WHERE job_id = 2")
    service.start()
    assert service.wait("ended-meanwhile.sleep-4.output-1")["status"] == "Complete"
    assert rows(service, "SELECT attempt FROM jobs WHERE id = 2") == [(2,)]
