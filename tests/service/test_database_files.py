"""Files beside a database when a service starts: its own log or another's, a damaged page, permissions."""

import os
import shutil
import sqlite3
import stat
import time
from contextlib import closing
from pathlib import Path

import pytest
from chaos import fault_of_result
from service_process import ServiceProcess

DATABASE = "service.sqlite3"


@pytest.fixture(scope="module")
def past(tmp_path_factory) -> Path:
    """Return the data folder of an ended service with a job."""
    service = ServiceProcess(tmp_path_factory.mktemp("past"), "--no-rate-limit").start()
    service.run("first.output-1")
    assert service.end() == 0
    return data(service)


@pytest.fixture
def stopped(make_service, past) -> ServiceProcess:
    """Create a service on a copy of that folder, not running."""
    return make_service("--no-rate-limit", data=past, is_started=False)


@pytest.fixture
def lab(stopped) -> ServiceProcess:
    """Start a service on a copy of that folder."""
    return stopped.start()


def data(service):
    return service.folder / "data"


def last_words(service) -> str:
    """Return the message of a service that does not start."""
    process = service.spawn()
    assert process.wait(60) == 6
    process.stdout.close()
    return (service.folder / "service.log").read_text().splitlines()[-1]


@pytest.mark.parametrize("page", [1, 2, 5, 9, "all but the first"])
def test_a_damaged_database_is_reported_with_its_file_and_what_to_do(stopped, page):
    path = data(stopped) / DATABASE
    content = bytearray(path.read_bytes())
    start, end = (4096, len(content)) if isinstance(page, str) else (4096 * (page - 1), 4096 * page)
    content[start:end] = os.urandom(end - start)
    path.write_bytes(content)
    words = last_words(stopped)
    assert words.startswith(f"The database {path} is damaged: ")
    assert f"foldnote admin --data-dir {data(stopped)} restore BACKUP --replace" in words
    assert "SELECT" not in words
    assert path.read_bytes() == content, "the file is unchanged"


def test_a_file_that_is_not_a_database_is_reported(stopped):
    (data(stopped) / DATABASE).write_text("no database" * 1000)
    assert "is damaged: file is not a database" in last_words(stopped)


def test_a_damaged_database_that_is_moved_away_as_advised_leaves_nothing_behind(lab, tmp_path):
    """The next service is empty, and its jobs have their own results."""
    lab.submit("second.output-1")
    lab.wait("second.output-1")
    lab.kill()
    shutil.move(data(lab) / DATABASE, tmp_path)
    lab.start()
    assert lab.client.get("/jobs").json()["jobs"] == []
    lab.run("third.output-1")
    assert fault_of_result(lab.client, "third.output-1", is_batch=False) is None


def test_a_database_that_was_moved_away_finds_its_log_again(lab, tmp_path):
    """What was acknowledged before the kill is only in the log."""
    lab.submit("second.output-1")
    lab.kill()
    shutil.move(data(lab) / DATABASE, tmp_path)
    lab.start()
    (aside,) = data(lab).glob(f"{DATABASE}-wal.of-*")
    assert aside.stat().st_size > 0
    lab.end()
    (data(lab) / DATABASE).unlink()
    shutil.move(tmp_path / DATABASE, data(lab))
    lab.start()
    for name in ("first.output-1", "second.output-1"):
        assert lab.wait(name)["status"] == "Complete"
        assert fault_of_result(lab.client, name, is_batch=False) is None
    assert not aside.exists()


def test_a_log_goes_with_its_database_into_another_folder(lab, tmp_path, make_service):
    lab.submit("second.output-1")
    lab.kill()
    shutil.move(data(lab) / DATABASE, tmp_path)
    lab.start()
    (aside,) = data(lab).glob(f"{DATABASE}-wal.of-*")
    other = make_service("--no-rate-limit", is_started=False)
    data(other).mkdir()
    shutil.move(tmp_path / DATABASE, data(other))
    shutil.move(aside, data(other) / f"{DATABASE}-wal")
    other.start()
    assert {job["jobName"] for job in other.client.get("/jobs").json()["jobs"]} == {
        "first.output-1",
        "second.output-1",
    }


def test_a_database_that_is_copied_back_is_not_mixed_with_the_log_of_the_newer_one(lab, past):
    for number in range(5):
        lab.run(f"newer{number}.output-1")
    lab.kill()
    shutil.copy(past / DATABASE, data(lab))
    lab.start()
    assert [job["jobName"] for job in lab.client.get("/jobs").json()["jobs"]] == ["first.output-1"]
    with closing(sqlite3.connect(data(lab) / DATABASE)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_a_service_that_was_killed_takes_its_own_log(lab):
    lab.submit("second.output-1")
    lab.kill()
    lab.start()
    assert lab.wait("second.output-1")["status"] == "Complete"
    assert list(data(lab).glob("*aside*")) == list(data(lab).glob("*-wal.of-*")) == []


def test_in_a_folder_that_others_may_read_they_can_read_nothing(make_service):
    """Neither new files nor those that an earlier version left open, whatever the umask of the service."""
    service = make_service("--no-rate-limit")
    service.run("first.output-1")
    service.end()
    folder = data(service)
    for path in (folder, folder / "jobs", folder / "objects"):
        path.chmod(0o755)
    (folder / DATABASE).chmod(0o644)
    before = os.umask(0o022)
    try:
        service.start()
    finally:
        os.umask(before)
    service.client.put("/upload/a.pdb", content=b"ATOM")
    service.submit("second.sleep-30.output-1")
    service.wait("second.sleep-30.output-1", ("Running",))
    time.sleep(0.5)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o755
    open_ones = [
        path for path in folder.iterdir() if path.name != "service.lock" and path.stat().st_mode & 0o077
    ]
    assert open_ones == []
    (work,) = folder.glob("jobs/*/*/*/*/work")
    assert [path for path in (work, *work.rglob("*")) if path.stat().st_mode & 0o077] == []
    service.client.post("/stop-job", json={"jobName": "second.sleep-30.output-1"})
