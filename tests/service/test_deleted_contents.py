"""No file of the data folder keeps the inputs of a deleted job."""

import contextlib
import os
import sqlite3
import time
from pathlib import Path

import pytest
from service_process import PDB, QUICK, SEQUENCE, ServiceProcess

from foldnote.service.store.migrations import migrate

MARKED = "WWWWHHHHCCCCWWWWHHHHCCCC" + SEQUENCE
MARK = b"WWWWHHHHCCCCWWWWHHHHCCCC"
MARKED_PDB = PDB + "REMARK WWWWHHHHCCCCWWWWHHHHCCCC\n"


@pytest.fixture
def house(tmp_path):
    """Start a service that removes deleted contents twice a second."""
    service = ServiceProcess(tmp_path, "--no-rate-limit")
    service.code = QUICK.replace("grace_s=2.0", "grace_s=2.0, sweep_s=0.5")
    yield service.start()
    if service.process.poll() is None:
        service.kill()


def marked(name, tool="anarci", **settings):
    return {"jobName": name, "type": tool, "settings": {"sequence": MARKED} if tool == "anarci" else settings}


def list_files(folder):
    """List every file below a folder, skipping those removed meanwhile."""
    return [Path(path, name) for path, _, names in os.walk(folder) for name in names]


def find_marked(service):
    """Return the files of the data folder that contain the mark, and all stored contents."""
    found = []
    for path in list_files(service.folder / "data"):
        with contextlib.suppress(OSError):
            if path.is_file() and (MARK in path.read_bytes() or path.parent.parent.name == "objects"):
                found.append(path)
    return found


def delete(service, name):
    answer = service.client.request("DELETE", "/delete-job", json={"jobName": name})
    assert answer.status_code == 200, answer.text


def age_contents(service):
    """Make all stored contents look two minutes old."""
    for path in list_files(service.folder / "data" / "objects"):
        with contextlib.suppress(OSError):
            os.utime(path, (time.time() - 120,) * 2)


def is_clean(service):
    age_contents(service)
    return not find_marked(service)


def wait_until(is_so, patience_s=90.0):
    until = time.monotonic() + patience_s
    while not (found := is_so()):
        assert time.monotonic() < until
        time.sleep(0.2)
    return found


def test_no_file_holds_a_sequence_of_a_deleted_job(house):
    for number in range(3):
        assert house.client.post("/submit-job", json=marked(f"done{number}")).status_code == 200
    inline = marked("inline", "af2bind", pdbFile=MARKED_PDB, chain="A")
    assert house.client.post("/submit-job", json=inline).status_code == 200
    rows = {"batchName": "many", "type": "anarci", "settings": [{"sequence": MARKED}] * 5}
    assert house.client.post("/submit-batch", json=rows).status_code == 200
    names = ["done0", "done1", "done2", "inline", "many"]
    for name in names:
        house.wait(name)
    assert find_marked(house)
    for name in names:
        delete(house, name)
    wait_until(lambda: is_clean(house))
    assert house.client.get("/jobs").json()["jobs"] == []


def test_neither_does_one_that_is_deleted_while_it_waits_or_runs(house):
    for number in range(40):
        assert house.client.post("/submit-job", json=marked(f"job{number}")).status_code == 200
    for number in range(40):
        delete(house, f"job{number}")
    wait_until(lambda: is_clean(house))


def test_the_database_becomes_smaller(house):
    database = house.folder / "data" / "service.sqlite3"
    smallest = database.stat().st_size
    text = MARKED_PDB * 30_000
    for number in range(3):
        body = {"batchName": f"b{number}", "type": "af2bind", "settings": [{"pdbFile": text, "chain": "A"}]}
        assert house.client.post("/submit-batch", json=body).status_code == 200
    assert database.stat().st_size + database.with_name("service.sqlite3-wal").stat().st_size > 6 * len(text)
    for number in range(3):
        delete(house, f"b{number}")

    def size():
        return sum(path.stat().st_size for path in database.parent.glob("service.sqlite3*"))

    wait_until(lambda: size() < smallest + 500_000)
    wait_until(lambda: is_clean(house))


def test_a_database_of_an_earlier_version_is_rewritten_without_deleted_rows(house):
    house.end()
    path = house.folder / "data" / "service.sqlite3"
    for each in path.parent.glob("service.sqlite3*"):
        each.unlink()
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("PRAGMA journal_mode=WAL")
        migrate(database, until="m0015_runs")
        database.execute(
            "INSERT INTO accounts (id, email, tier, created) VALUES (1, 'a@b.c', 'full', '2026')"
        )
        values = "(account_id, name, type, state, settings, normalized, created, deleted, is_purged)"
        row = (f'{{"sequence":"{MARKED * 4000}"}}',) * 2
        for number in range(20):
            database.execute(
                f"INSERT INTO jobs {values} VALUES (1, 'j{number}', 'anarci', 'Stopped', ?, ?, '2026', '2026', 1)",
                row,
            )
        database.execute("INSERT INTO records SELECT -id, NULL, settings FROM jobs")
    large = path.stat().st_size
    house.start()
    wait_until(lambda: not find_marked(house))
    assert path.stat().st_size < large / 20
    assert house.run("later")["status"] == "Complete"
