"""Every nth write, sync and rename fails, or ends the process, in the service and in its runners.

Responses are 503 or 507 in the usual shape of errors, nothing acknowledged is lost, and work resumes when the fault is
gone. `FOLDNOTE_TEST_FAULTS=all` tries a longer range of n.
"""

import os
import time

import httpx
import pytest
from chaos import Ledger, check, rows
from fault_layer import BOTH, RUNNER, SERVICE, FaultLayer
from service_process import PDB, SETTINGS, ServiceProcess

IS_LONG = os.environ.get("FOLDNOTE_TEST_FAULTS") == "all"
EVERY = range(1, 31) if IS_LONG else (1, 2, 5)
DEATHS = range(1, 61) if IS_LONG else (1, 5, 12, 24)
RUNNER_DEATHS = range(1, 26) if IS_LONG else (1, 4, 9)
pytestmark = pytest.mark.timeout(3600 if IS_LONG else 300)


@pytest.fixture(scope="module")
def faulty(tmp_path_factory):
    """Start one service for all of these tests, each of which removes its faults again."""
    service = ServiceProcess(tmp_path_factory.mktemp("faulty"), "--no-rate-limit")
    layer = FaultLayer(service.folder, service.folder / "data")
    service.environment |= layer.environment
    service.start()
    yield service, layer
    service.kill()


def note(ledger: Ledger, names: list[str], answer: httpx.Response) -> None:
    """Record a job as acknowledged, or assert that it was refused for a storage fault."""
    if answer.status_code == 200:
        ledger.acknowledged.update(names)
    elif answer.status_code in (503, 507):
        assert set(answer.json()) >= {"error", "code"}
        assert "traceback" not in answer.text.lower()
        ledger.counts[str(answer.status_code)] += 1
    else:
        raise AssertionError((answer.status_code, answer.text))


def ask_for_everything(service, ledger: Ledger, word: str) -> None:
    """Send one of each request that writes, and those that read."""
    client = service.client
    for number in range(3):
        name = f"{word}-{number}.output-1"
        note(ledger, [name], service.submit(name))
    rows = [f"{word}-row{number}" for number in range(2)]
    batch = {"batchName": f"{word}-batch", "type": "anarci", "settings": [SETTINGS] * 2, "jobNames": rows}
    answer = client.post("/submit-batch", json=batch)
    note(ledger, [f"{word}-batch", *rows], answer)
    if answer.status_code == 200:
        ledger.batches[f"{word}-batch"] = rows
    upload = client.put(f"/upload/{word}.pdb", content=PDB.encode())
    note(ledger, [], upload)
    inline = {"pdbFile": PDB}
    note(ledger, [], client.post("/validate-job", json={"type": "af2bind", "settings": inline}))
    assert client.get("/jobs").status_code in (200, 503, 507)
    assert client.get("/files").status_code in (200, 503, 507)
    if upload.status_code == 200:
        ledger.uploads.add(f"{word}.pdb")


def test_on_a_full_disk_the_ballast_goes_so_that_jobs_can_be_deleted(faulty):
    service, layer = faulty
    ballast = service.folder / "data" / "ballast"
    deadline = time.monotonic() + 30
    while not ballast.exists():  # it is restored some seconds after a fault
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert service.submit("big.sleep-30").status_code == 200
    delete = {"method": "DELETE", "url": "/delete-job", "json": {"jobName": "big.sleep-30"}}
    with layer.active("ENOSPC", "w", 1, SERVICE):
        assert service.client.request(**delete).status_code == 507
    assert not ballast.exists()
    assert service.client.request(**delete).status_code == 200


@pytest.mark.parametrize("action", ["ENOSPC", pytest.param("EIO", marks=pytest.mark.exhaustive)])
def test_every_nth_fault_is_reported_and_survived(faulty, action):
    service, layer = faulty
    ledger = Ledger()
    for kinds in ("w", "s", "r", "wsr"):
        for every in EVERY:
            with layer.active(action, kinds, every, BOTH):
                ask_for_everything(service, ledger, f"{action}-{kinds}{every}")
                time.sleep(0.2)
    ask_for_everything(service, ledger, f"{action}-after")
    assert ledger.counts["503"] + ledger.counts["507"] > 0
    figures = check(service, ledger)
    assert figures == dict.fromkeys(figures, 0), ledger.faults
    files = service.client.get("/files", params={"limit": 100}).json()["files"]
    assert {file["name"] for file in files if file["name"].startswith(action)} == ledger.uploads


def test_a_full_disk_answers_507(faulty):
    service, layer = faulty
    with layer.active("ENOSPC", "w", 1):
        for answer in (service.submit("full"), service.client.put("/upload/a.pdb", content=b"ATOM\n")):
            assert (answer.status_code, answer.json()["code"]) == (507, "insufficient_storage")
    assert service.submit("full").status_code == 200


def test_a_run_that_cannot_be_prepared_on_a_full_disk_waits_without_counting_as_lost(faulty):
    service, layer = faulty
    with layer.active("ENOSPC", "r", 1, SERVICE):
        assert service.submit("patient.output-1").status_code == 200
        time.sleep(3)
        assert service.job("patient.output-1")["status"] in ("In Queue", "Running")
    assert service.wait("patient.output-1")["status"] == "Complete"
    assert rows(service, "SELECT losses FROM jobs WHERE name = 'patient.output-1'") == [(0,)]


def test_a_service_that_finds_no_room_says_so_and_ends(faulty):
    service, layer = faulty
    service.end()
    with layer.active("ENOSPC", "w", 1):
        process = service.spawn()
        assert process.wait(120) == 6
        process.stdout.close()
    last = (service.folder / "service.log").read_text().splitlines()[-1]
    assert "cannot use its data folder" in last
    assert "Free space" in last
    service.start()


def test_a_broken_disk_answers_503(faulty):
    service, layer = faulty
    with layer.active("EIO", "w", 1):
        answer = service.client.put("/upload/a.pdb", content=b"ATOM\n")
    assert (answer.status_code, answer.json()["code"]) == (503, "temporarily_unavailable")
    assert answer.headers["retry-after"] == "1"


def test_a_death_before_any_write_sync_or_rename_loses_nothing(faulty):
    service, layer = faulty
    ledger = Ledger()
    for every in DEATHS:
        layer.set("KILL", "wsr", every)
        deadline = time.monotonic() + 20
        number = 0
        try:
            while time.monotonic() < deadline:
                name = f"d{every}-{number}.output-1.alone"
                note(ledger, [name], service.submit(name))
                number += 1
        except httpx.TransportError:
            layer.clear()
        service.process.wait(120)
        service.process.stdout.close()
        service.start()
        repeated = service.submit(name)
        assert repeated.status_code == 200 or repeated.json()["code"] == "job_name_taken"
        ledger.acknowledged.add(name)
    assert rows(service, "SELECT name FROM jobs GROUP BY name HAVING count(*) > 1") == []
    figures = check(service, ledger)
    assert figures == dict.fromkeys(figures, 0), ledger.faults


def test_a_runner_that_dies_before_any_of_its_writes_is_replaced(faulty):
    service, layer = faulty
    ledger = Ledger()
    for every in RUNNER_DEATHS:
        name = f"r{every}.output-1.score.chatter-3.alone"
        with layer.active("KILL", "wsr", every, RUNNER):
            note(ledger, [name], service.submit(name))
            service.wait(name, ("In Queue", "Complete", "Stopped"), 20)
            time.sleep(0.3)
    figures = check(service, ledger)
    assert figures == dict.fromkeys(figures, 0), ledger.faults
