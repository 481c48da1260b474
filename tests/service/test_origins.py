"""Requests from foreign pages and with foreign host names, and headers of proxies."""

import httpx
import pytest
from service_process import ServiceProcess


@pytest.fixture(scope="module")
def embedded(tmp_path_factory):
    service = ServiceProcess(tmp_path_factory.mktemp("embedded"), "--embedded").start()
    yield service
    service.end()


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    service = ServiceProcess(
        tmp_path_factory.mktemp("lab"), "--no-rate-limit", "--provisions-per-source", "1"
    )
    yield service.start()
    service.end()


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "10.0.0.7", "[", ""]
)
def test_an_embedded_service_answers_to_no_foreign_name(embedded, host):
    answer = embedded.client.get("/tools.json", headers={"host": host})
    assert answer.status_code in (400, 403)
    assert answer.status_code == 400 or answer.json()["code"] == "host_not_allowed"


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1234", "127.0.0.1:9", "[::1]:5", "lab.localhost"])
def test_it_answers_to_every_name_of_its_machine(embedded, host):
    assert embedded.client.get("/tools.json", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1.evil.example"])
def test_it_answers_to_no_foreign_page(embedded, origin):
    answer = embedded.client.get("/jobs", headers={"origin": origin})
    assert (answer.status_code, answer.json()["code"]) == (403, "origin_not_allowed")


def test_a_page_of_its_machine_may_ask(embedded):
    assert embedded.client.get("/jobs", headers={"origin": "http://localhost:8888"}).status_code == 200


@pytest.mark.parametrize(
    "headers", [{"origin": "https://evil.example"}, {"origin": "null"}, {"sec-fetch-site": "cross-site"}]
)
@pytest.mark.parametrize("prefix", ["", "/v1", "/api/"])
def test_a_foreign_page_gets_no_trial_key(lab, headers, prefix):
    answer = httpx.post(f"{lab.url}{prefix}/agent/provision", headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (403, "origin_not_allowed")


def test_a_foreign_page_changes_nothing_and_any_name_is_served(lab):
    cross = {"sec-fetch-site": "cross-site"}
    assert lab.client.post("/stop-job", json={"jobName": "x"}, headers=cross).status_code == 403
    assert lab.client.get("/jobs", headers=cross | {"host": "lab.example"}).status_code == 200


def test_who_asks_is_not_what_a_header_says(lab):
    found = [
        httpx.post(
            f"{lab.url}/agent/provision", headers={"x-forwarded-for": f"203.0.113.{number}"}
        ).status_code
        for number in range(3)
    ]
    assert found == [201, 429, 429]


def test_the_word_of_a_trusted_proxy_is_taken(make_service):
    service = make_service("--trusted-proxy", "127.0.0.1", "--provisions-per-source", "1")
    found = [
        httpx.post(
            f"{service.url}/agent/provision", headers={"x-forwarded-for": f"203.0.113.{number}"}
        ).status_code
        for number in (1, 2, 2)
    ]
    assert found == [201, 201, 429]


def test_a_service_with_names_answers_to_no_others(make_service):
    service = make_service("--allowed-host", "lab.example")
    found = [
        service.client.get("/tools.json", headers={"host": host}).status_code
        for host in ("lab.example", "evil.example", "127.0.0.1")
    ]
    assert found == [200, 403, 200]
