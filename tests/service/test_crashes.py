"""After any crash, acknowledged work is not lost or done twice at once, and ended jobs stay ended."""

import contextlib
import dataclasses
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import psutil
from chaos import attempt_folders, rows, runners
from probe_engine import write_probe_engine
from service_process import SETTINGS, has_process
from starlette.testclient import TestClient

from foldnote.service.config import DispatcherTiming, ServiceConfig
from foldnote.service.http.app import create_app


def wait_until_it_runs(service, name):
    """Wait for a runner that outlives the service: a job counts as running from its claim, slightly earlier."""
    service.wait(name, ("Running",))
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if any((folder / "runner.json").exists() for folder in attempt_folders(service)):
            return
        time.sleep(0.02)
    raise AssertionError(f"no runner of {name} started")


def test_a_job_continues_when_the_service_is_killed(make_service):
    service = make_service("--no-rate-limit")
    service.submit("long.hold")
    wait_until_it_runs(service, "long.hold")
    service.kill()
    time.sleep(1)
    service.start()
    service.release("long.hold")
    job = service.wait("long.hold")
    assert job["status"] == "Complete"
    assert rows(service, "SELECT attempt, losses FROM jobs") == [(1, 0)]


def test_a_job_that_ended_meanwhile_is_adopted(make_service):
    service = make_service("--no-rate-limit")
    service.submit("short.hold.output-1")
    wait_until_it_runs(service, "short.hold.output-1")
    service.kill()
    service.release("short.hold.output-1")
    time.sleep(2.5)
    service.start()
    assert service.wait("short.hold.output-1")["status"] == "Complete"
    assert httpx.get(service.result("short.hold.output-1").json()).status_code == 200
    assert rows(service, "SELECT count(*) FROM attempts") == [(1,)]


def test_a_graceful_end_leaves_jobs_running(make_service):
    service = make_service("--no-rate-limit")
    service.submit("long.hold")
    wait_until_it_runs(service, "long.hold")
    assert service.end() == 0
    service.start()
    service.release("long.hold")
    assert service.wait("long.hold")["status"] == "Complete"
    assert rows(service, "SELECT attempt FROM jobs") == [(1,)]


def test_a_service_sleeps_after_a_retry_was_due(make_service):
    service = make_service("--no-rate-limit")
    service.submit("again.hold")
    wait_until_it_runs(service, "again.hold")
    os.kill(runners(service)[0], signal.SIGKILL)
    service.wait("again.hold", ("In Queue",))
    service.wait("again.hold", ("Running",))
    before = psutil.Process(service.process.pid).cpu_times().user
    time.sleep(1.5)
    used_s = psutil.Process(service.process.pid).cpu_times().user - before
    service.release("again.hold")
    assert used_s < 0.3  # a busy loop would use 1.5


def test_what_waits_when_a_service_starts_does_not_wait_for_its_first_sweep(tmp_path):
    engines = write_probe_engine(tmp_path / "engines", memory_mb=16)
    config = ServiceConfig(
        tmp_path / "data", has_dispatcher=False, engine_paths=(engines,), pace=DispatcherTiming(sweep_s=3600)
    )
    body = {"jobName": "waits.output-1", "type": "anarci", "settings": SETTINGS}
    with TestClient(create_app(config)) as client:
        headers = {"x-api-key": client.app.state.service.local_key}
        assert client.post("/submit-job", json=body, headers=headers).status_code == 200
    deadline = time.monotonic() + 60
    with TestClient(create_app(dataclasses.replace(config, has_dispatcher=True)), headers=headers) as client:
        while client.get("/jobs", params={"jobName": body["jobName"]}).json()["status"] != "Complete":
            assert time.monotonic() < deadline
            time.sleep(0.3)


def test_a_batch_keeps_its_policy_when_the_service_is_killed(make_service):
    """The first failure is found after the restart, and retried once before the batch stops."""
    service = make_service("--no-rate-limit", "--workers", "1")
    names = ["k1.sleep-2.crash-1", "k2.output-1", "k3.output-1"]
    body = {"batchName": "kept", "type": "anarci", "settings": [SETTINGS] * 3, "jobNames": names}
    policy = {"onFailure": "stop", "retries": 1}
    assert service.client.post("/submit-batch", json=body | {"foldnote": policy}).status_code == 200
    wait_until_it_runs(service, names[0])
    service.kill()
    service.start()
    while service.job(names[0])["retries"] is None:
        time.sleep(0.05)
    service.kill()
    service.start()
    told = f"The job {names[0]} failed, so 2 waiting jobs of the batch did not run."
    assert service.wait("kept")["message"] == told
    assert rows(service, "SELECT retries, state FROM jobs WHERE parent_id IS NOT NULL") == [
        (1, "Stopped"),
        (None, "Stopped"),
        (None, "Stopped"),
    ]


def test_a_killed_runner_is_an_infrastructure_loss(make_service):
    service = make_service("--no-rate-limit")
    service.submit("long.sleep-50")
    wait_until_it_runs(service, "long.sleep-50")
    kill_runners(service)
    job = service.wait("long.sleep-50", ("In Queue",))
    assert "retried" in job["message"]
    assert rows(service, "SELECT losses, is_cancelled FROM jobs") == [(1, 0)]
    service.client.post("/stop-job", json={"jobName": "long.sleep-50"})
    assert service.wait("long.sleep-50")["status"] == "Stopped"


def kill_runners(service) -> int:
    """Kill every runner of this service; return their number."""
    found = runners(service)
    for pid in found:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return len(found)


def test_a_stop_leaves_no_process(make_service):
    service = make_service("--no-rate-limit")
    name = "tree.child.sleep-60"
    service.submit(name)
    wait_until_it_runs(service, name)
    time.sleep(0.5)
    nonce = rows(service, "SELECT nonce FROM attempts")[0][0]
    assert has_process(nonce)
    service.client.post("/stop-job", json={"jobName": name})
    assert service.wait(name)["status"] == "Stopped"
    assert not has_process(nonce)


def test_a_deleted_running_job_leaves_no_process_and_no_folder(make_service):
    service = make_service("--no-rate-limit")
    service.submit("gone.sleep-60")
    wait_until_it_runs(service, "gone.sleep-60")
    nonce = rows(service, "SELECT nonce FROM attempts")[0][0]
    service.client.request("DELETE", "/delete-job", json={"jobName": "gone.sleep-60"})
    until = time.monotonic() + 20
    while has_process(nonce) or rows(service, "SELECT state FROM jobs") != [("Stopped",)]:
        assert time.monotonic() < until
        time.sleep(0.1)
    assert service.client.get("/jobs").json()["statuses"]["Running"] == 0


def test_a_hundred_parallel_submissions_of_one_name_are_one_job(make_service):
    service = make_service("--no-rate-limit")
    with ThreadPoolExecutor(100) as pool:
        answers = list(pool.map(lambda _: service.submit("one"), range(100)))
    codes = [answer.status_code for answer in answers]
    assert (codes.count(200), codes.count(400)) == (1, 99)
    refused = [answer.json() for answer in answers if answer.status_code == 400]
    assert {(each["code"], each["field"]) for each in refused} == {("job_name_taken", "jobName")}
    assert rows(service, "SELECT count(*) FROM jobs") == [(1,)]
    assert rows(service, "SELECT count(*) FROM events WHERE kind = 'submitted'") == [(1,)]
    changed = service.submit("one", settings=SETTINGS | {"scheme": "kabat"})
    assert (changed.status_code, changed.json()["code"]) == (400, "job_name_taken")
    assert service.job("one")["settings"] == SETTINGS


def test_batches_that_share_a_name_are_one_batch(make_service):
    """Fifty at once, each with its own row and one that all have: each is accepted completely or not at all."""
    service = make_service("--no-rate-limit")

    def submit(number):
        names = [f"own{number}", "shared"]
        body = {
            "batchName": f"batch{number}",
            "type": "anarci",
            "settings": [SETTINGS] * 2,
            "jobNames": names,
        }
        return service.client.post("/submit-batch", json=body)

    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(submit, range(50)))
    codes = [answer.status_code for answer in answers]
    assert (codes.count(200), codes.count(400)) == (1, 49)
    assert {answer.json().get("row") for answer in answers if answer.status_code == 400} == {1}
    assert rows(service, "SELECT count(*) FROM jobs") == [(3,)]


def test_two_services_do_not_share_a_folder(make_service):
    service = make_service()
    command = [sys.executable, "-m", "foldnote.service.serve", "--data-dir", str(service.folder / "data")]
    second = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert second.returncode == 2
    assert "Another service" in second.stderr


def test_a_time_limit_ends_the_run(make_service, tmp_path):
    service = make_service("--no-rate-limit")
    service.end()
    config = service.engines / "probe" / "engine.toml"
    config.write_text(config.read_text().replace("time_limit_s = 60", "time_limit_s = 1"))
    service.start()
    job = service.run("slow.sleep-30", settings=SETTINGS)
    assert job["status"] == "Stopped"
    assert "limit" in job["error"]
