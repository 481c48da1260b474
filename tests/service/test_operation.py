"""What an administrator's programs see of a service: metrics, readiness, draining, and the log."""

import json
import logging
import os
import re
import signal
import sys
import time

import httpx
import pytest
from chaos import runners
from prometheus_client.parser import text_string_to_metric_families
from service_process import SETTINGS, ServiceProcess

from foldnote import Client
from foldnote.cli import main as run_command
from foldnote.errors import ServiceFaultError
from foldnote.service.draining import Draining
from foldnote.service.logs import JsonFormatter, TextFormatter, mask

SECRET = "fn_" + "Zk9" * 14


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    """Start a service that the tests of this file share."""
    running = ServiceProcess(
        tmp_path_factory.mktemp("operation"), "--no-rate-limit", "--workers", "3"
    ).start()
    yield running
    running.kill()


def scrape(service, **headers):
    answer = httpx.get(f"{service.url}/metrics", headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.text


def figure(text, name, **labels):
    """Return the sum of a metric over the labels that are not given."""
    samples = [each for family in text_string_to_metric_families(text) for each in family.samples]
    found = [each.value for each in samples if each.name == name and labels.items() <= each.labels.items()]
    assert found, (name, labels)
    return sum(found)


def administer(service, *arguments, capsys):
    assert run_command(["admin", "--data-dir", str(service.folder / "data"), "--json", *arguments]) == 0
    return json.loads(capsys.readouterr().out)


def test_jobs_runs_and_requests_are_counted_without_names(house):
    house.run("hush-hush")
    text = scrape(house)
    assert figure(text, "foldnote_jobs", status="Complete") == 1
    assert figure(text, "foldnote_jobs_ended_total", tool="anarci", engine="probe", outcome="complete") == 1
    assert figure(text, "foldnote_http_requests_total", route="/submit-job", status="200") == 1
    asked = {"method": "POST", "route": "/submit-job"}
    assert figure(text, "foldnote_http_request_duration_seconds_bucket", **asked, le="+Inf") == 1
    assert figure(text, "foldnote_executor_runs_limit", executor="local") == 3
    assert figure(text, "foldnote_storage_used_bytes") > 0
    assert figure(text, "foldnote_connections_open") >= 2
    for private in ("hush-hush", "EVQLVES", "invalid", house.key):
        assert private not in text


def test_a_job_that_runs_uses_cores_and_one_that_waits_has_an_age(make_service):
    service = make_service("--workers", "1")
    service.submit("first.sleep-60")
    service.submit("second")
    service.wait("first.sleep-60", ("Running",))
    text = scrape(service)
    assert figure(text, "foldnote_jobs_unfinished", tool="anarci", status="Running") == 1
    assert figure(text, "foldnote_jobs_unfinished", tool="anarci", status="In Queue") == 1
    assert figure(text, "foldnote_executor_cores_used", executor="local") >= 1
    assert figure(text, "foldnote_queue_oldest_age_seconds") > 0
    wait_for(lambda: runners(service))
    os.kill(runners(service)[0], signal.SIGKILL)
    wait_for(lambda: figure(scrape(service), "foldnote_attempts_lost_total", executor="local") == 1)


@pytest.mark.parametrize("route", ["/jobs/no-such-job/log", "/upload/a.pdb", "/no/such/route", "/jobs"])
def test_a_route_is_named_by_its_template(house, route):
    house.client.head(route)
    routes = {
        sample.labels["route"]
        for family in text_string_to_metric_families(scrape(house))
        for sample in family.samples
        if "route" in sample.labels
    }
    assert routes <= {"unknown", *httpx.get(f"{house.url}/openapi.json").json()["paths"], "/openapi.json"}


def test_measurements_are_for_this_machine_or_an_administrator(house):
    users = house.client.get("/jobs").request.headers
    for header in ("x-forwarded-for", "forwarded", "x-real-ip"):
        assert httpx.get(f"{house.url}/metrics", headers={header: "203.0.113.9"}).status_code == 401
    assert httpx.get(f"{house.url}/metrics", headers={"host": "rebound.example.org"}).status_code == 401
    assert scrape(house, **{"x-real-ip": "203.0.113.9", "authorization": f"Bearer {house.key}"})
    assert scrape(house, **{"x-real-ip": "203.0.113.9", "x-api-key": users["x-api-key"]})


def test_a_users_key_does_not_open_measurements(house, capsys):
    key = administer(house, "issue-key", "ada@lab.org", capsys=capsys)["key"]
    headers = {"x-real-ip": "203.0.113.9", "x-api-key": key}
    assert httpx.get(f"{house.url}/metrics", headers=headers).json()["code"] == "admin_required"


def test_a_service_is_ready(house):
    answer = httpx.get(f"{house.url}/readyz")
    assert (answer.status_code, answer.json()["reasons"]) == (200, [])
    assert answer.json()["executors"] == {"local": True}


def test_a_disk_with_too_little_room_makes_a_service_unready_and_the_figures_are_reported(make_service):
    service = make_service("--free-disk-mb", "99000000")
    answer = httpx.get(f"{service.url}/readyz")
    assert answer.status_code == 503
    (reason,) = answer.json()["reasons"]
    assert reason["code"] == "disk_below_floor"
    assert re.search(
        r"^[0-9.]+ [MGT]B of the disk are free, less than --free-disk-mb \(104 TB\)", reason["reason"]
    )
    refused = service.client.post(
        "/submit-job", json={"jobName": "new", "type": "anarci", "settings": SETTINGS}
    )
    assert (refused.status_code, refused.json()["code"]) == (507, "insufficient_storage")
    assert re.search(
        r"^The service takes nothing new while less than 104 TB of its disk are free; [0-9.]+ [MGT]B are\. Nothing",
        refused.json()["error"],
    )
    assert httpx.get(f"{service.url}/healthz").status_code == 200


def test_a_draining_service_finishes_its_jobs_and_starts_none(make_service, capsys):
    service = make_service("--no-rate-limit", "--workers", "1")
    service.submit("running.sleep-60")
    service.wait("running.sleep-60", ("Running",))
    service.submit("waiting")
    assert administer(service, "drain", capsys=capsys)["running"] == 1
    refusal = service.submit("late")
    assert (refusal.status_code, refusal.json()["code"]) == (503, "service_draining")
    assert refusal.headers["retry-after"] == "300"
    batch = {"batchName": "late", "type": "anarci", "settings": [SETTINGS]}
    assert service.client.post("/submit-batch", json=batch).status_code == 503
    assert service.job("running.sleep-60")["status"] == "Running"
    assert service.client.post("/stop-job", json={"jobName": "running.sleep-60"}).status_code == 200
    assert administer(service, "drain", "--wait", capsys=capsys)["running"] == 0
    assert service.job("waiting")["status"] == "In Queue"
    assert httpx.get(f"{service.url}/readyz").json()["draining"] is True
    assert administer(service, "resume", capsys=capsys)["wasDraining"] is True
    assert service.wait("waiting")["status"] == "Complete"


def test_signals_drain_and_resume_and_a_restart_keeps_it(make_service):
    service = make_service("--log-format", "text")
    service.process.send_signal(signal.SIGUSR1)
    draining = Draining(service.folder / "data")
    wait_for(draining.is_on)
    wait_for(lambda: "drained: nothing runs" in (service.folder / "service.log").read_text())
    service.end()
    assert service.start().submit("late").status_code == 503
    service.process.send_signal(signal.SIGUSR2)
    wait_for(lambda: not draining.is_on())
    assert service.submit("late").status_code == 200
    assert "info    traffic request_id=" in (service.folder / "service.log").read_text()


def test_a_client_is_told_at_once_that_no_jobs_are_taken(make_service):
    service = make_service()
    Draining(service.folder / "data").begin()
    with (
        Client(base_url=service.url, api_key=service.key) as client,
        pytest.raises(ServiceFaultError, match="takes no new jobs"),
    ):
        client.jobs.submit("anarci", SETTINGS)
    assert (service.folder / "service.log").read_text().count("POST /submit-job 503") == 1


def wait_for(condition):
    until = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.05)


HOSTILE = [
    'two\nlines {"level": "error"}',
    "\x1b[31mred\x1b[0m \x9b31m",
    "right \u202e to left \u2028 line",
    "lone \ud800 surrogate",
    "nul \x00 and bell \x07",
]


def entry(text, *arguments, trace=False):
    try:
        raise ValueError(text)
    except ValueError:
        fault = sys.exc_info() if trace else None
    return logging.LogRecord("foldnote.service.queue", logging.INFO, "", 0, text, arguments, fault)


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("formatter", [JsonFormatter(), TextFormatter()])
def test_an_entry_is_one_printable_line(formatter, text):
    line = formatter.format(entry(text, trace=True))
    assert line.isprintable()
    assert line.encode()


@pytest.mark.parametrize(
    "text",
    [
        f"x-api-key: {SECRET}",
        f"{{'x-api-key': '{SECRET}'}}",
        f"(b'x-api-key', b'{SECRET}')",
        f"GET /jobs/{SECRET}/log",
        f"Authorization: Bearer {SECRET[3:]}",
        f"see https://lab.example.org/download/a?signature={SECRET[3:]}&expires=1",
        f'{{"token": "{SECRET[3:]}"}}',
        f"key\n{SECRET}",
    ],
)
@pytest.mark.parametrize("formatter", [JsonFormatter(), TextFormatter()])
def test_keys_and_queries_are_masked(formatter, text):
    assert SECRET[3:] not in formatter.format(entry(text, trace=True))


@pytest.mark.parametrize("text", ["Did it end? No = yes", "the key of tokens: none found", "a?b"])
def test_other_text_is_kept(text):
    assert mask(text) in (text, text.replace("none", "***"))


def test_an_entry_names_request_and_job(make_service):
    service = make_service("--no-rate-limit", "--log-level", "debug")
    answer = service.client.get("/jobs", headers={"x-request-id": "trace-me-12345"})
    assert answer.headers["x-request-id"] == "trace-me-12345"
    unclean = service.client.get("/jobs", headers={"x-request-id": "a b\tc"})
    assert " " not in unclean.headers["x-request-id"]
    service.run("logged")
    service.end()
    rows = [json.loads(line) for line in (service.folder / "service.log").read_text().splitlines()]
    assert any(
        row.get("request_id") == "trace-me-12345" and "GET /jobs 200" in row["message"] for row in rows
    )
    assert any(row.get("job_id") == "1" and "ended" in row["message"] for row in rows)
