"""An administrator removes old and large jobs: previewed first, never waiting or running ones, completely even after
a crash.
"""

import contextlib
import io
import json
import sqlite3
import time

import httpx
import pytest
from service_process import SETTINGS

from foldnote.cli import main as run_command

MB = 1 << 20


def purge(service, *conditions):
    """Return the report of `foldnote admin purge`."""
    command = ["admin", "--data-dir", str(service.folder / "data"), "--json", "purge", *conditions]
    with contextlib.redirect_stdout(io.StringIO()) as told:
        assert run_command(command) == 0
    return json.loads(told.getvalue())


def names(report):
    return [job["jobName"] for account in report["accounts"] for job in account["jobs"]]


def age(service, name, days):
    with contextlib.closing(sqlite3.connect(service.folder / "data/service.sqlite3", timeout=30)) as database:
        ended = f"strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-{days} days')"
        database.execute(f"UPDATE jobs SET completed = {ended} WHERE name = ?", (name,))
        database.commit()


def member(service, email, capsys):
    command = ["admin", "--data-dir", str(service.folder / "data"), "--json", "issue-key", email]
    assert run_command(command) == 0
    key = json.loads(capsys.readouterr().out)["key"]
    return httpx.Client(base_url=service.url, headers={"x-api-key": key}, timeout=120)


@pytest.fixture
def house(make_service):
    """Start a service with a job of today, an older one, a running one, a waiting one, and a batch with a waiting job."""
    service = make_service("--no-rate-limit", "--workers", "1")
    service.run("today")
    service.run("old")
    age(service, "old", 40)
    service.submit("runs.sleep-60")
    service.wait("runs.sleep-60", ("Running",))
    service.submit("waits")
    batch = {"batchName": "batch", "type": "anarci", "settings": [SETTINGS] * 2}
    assert service.client.post("/submit-batch", json=batch).status_code == 200
    return service


def test_what_would_go_is_shown_and_stays(house):
    report = purge(house, "--older-than-days", "30")
    assert (names(report), report["deleted"]) == (["old"], False)
    assert "add --apply" in report["message"]
    assert house.job("old")["status"] == "Complete"


def test_what_waits_or_runs_never_goes(house):
    assert names(purge(house, "--older-than-days", "0", "--apply")) == ["old", "today"]
    left = [job["jobName"] for job in house.client.get("/jobs").json()["jobs"]]
    assert {"runs.sleep-60", "waits", "batch"} <= set(left)
    assert not {"old", "today"} & set(left)
    assert house.result("old").status_code == 404


def test_a_batch_goes_as_a_whole(make_service):
    service = make_service("--no-rate-limit")
    batch = {"batchName": "batch", "type": "anarci", "settings": [SETTINGS] * 2}
    assert service.client.post("/submit-batch", json=batch).status_code == 200
    service.wait("batch")
    assert names(purge(service, "--older-than-days", "0", "--apply")) == ["batch"]
    assert service.client.get("/jobs").json()["jobs"] == []


def test_an_account_keeps_its_newest_jobs_within_its_quota(make_service, capsys):
    service = make_service("--no-rate-limit")
    with member(service, "ada@lab.org", capsys) as ada:
        ada.post("/submit-job", json={"jobName": "hers", "type": "anarci", "settings": SETTINGS})
    for name in ("first", "second", "third"):
        service.run(name)
    of_three = max(purge(service, "--older-than-days", "0")["accounts"], key=lambda each: len(each["jobs"]))
    report = purge(service, "--keep-mb", str((of_three["usedBytes"] - 1) / MB), "--apply")
    assert names(report) == ["first"]
    assert service.result("second").status_code == 200


def test_after_a_crash_between_row_and_files_the_rest_is_whole_and_the_files_go(make_service):
    service = make_service("--no-rate-limit")
    service.run("gone")
    service.run("kept")
    service.kill()
    age(service, "gone", 40)
    folders = set((service.folder / "data/jobs").glob("*/*/*"))
    assert names(purge(service, "--older-than-days", "30", "--apply")) == ["gone"]
    assert set((service.folder / "data/jobs").glob("*/*/*")) == folders
    service.start()
    assert service.client.get(service.result("kept").json()).content[:2] == b"PK"
    until = time.monotonic() + 20
    while folders == set((service.folder / "data/jobs").glob("*/*/*")):
        assert time.monotonic() < until
        time.sleep(0.1)


@pytest.mark.parametrize("conditions", [(), ("--apply",), ("--account", "ada@lab.org", "--apply")])
def test_without_a_condition_purge_deletes_nothing(service, conditions, capsys):
    command = ["admin", "--data-dir", str(service.folder / "data"), "purge", *conditions]
    assert run_command(command) == 2
    assert "--older-than-days" in capsys.readouterr().err
