"""API keys in their header, the catalog without one, the rate limit, and the log; test_auth_matrix.py covers every
route.
"""

import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from service_process import SETTINGS

from foldnote import catalog

OPEN = ["/tools.json", "/healthz", "/openapi.json"]
PREFIXES = ["", "/v1", "/api"]


def test_a_key_under_another_header_is_not_accepted(service):
    answer = httpx.get(f"{service.url}/jobs", headers={"authorization": f"Bearer {service.key}"})
    assert (answer.status_code, answer.json()) == (403, {"message": "Forbidden"})


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("path", OPEN)
def test_open_routes_need_no_key(service, path, prefix):
    assert httpx.get(service.url + prefix + path).status_code == 200


def list_tools_beyond_reference():
    """Return the tools that the catalog marks; `tests/unit/catalog/test_catalog_files.py` names them."""
    return [
        name
        for name, tool in catalog.tools().items()
        if tool.settings_schema.get("x-foldnote", {}).get("beyondReference")
    ]


def test_both_catalogs_are_the_same(client):
    rows = client.get("/tools").json()
    assert rows == client.get("/tools.json").json()
    assert len(rows) == len(catalog.tools())
    anarci = next(row for row in rows if row["type"] == "anarci")
    assert (anarci["available"], anarci["unavailableReason"], anarci["engine"]["name"]) == (
        True,
        None,
        "probe",
    )
    assert all(row["unavailableReason"] for row in rows if not row["available"])
    notes = {row["type"]: row["schema"]["x-foldnote"] for row in rows}
    assert [
        each for each, note in notes.items() if note.get("beyondReference")
    ] == list_tools_beyond_reference()
    assert all("citation" in note for note in notes.values())


def test_the_rate_is_ten_a_second(make_service):
    service = make_service()
    answers = [service.client.get("/tools") for _ in range(10)]
    assert [answer.status_code for answer in answers] == [200] * 10
    with ThreadPoolExecutor(8) as pool:  # faster than the rate limit, also on a slow machine
        more = list(pool.map(lambda _: service.client.get("/tools"), range(200)))
    refused = next(answer for answer in more if answer.status_code == 429)
    assert refused.json()["retryAfterSeconds"] == int(refused.headers["retry-after"]) == 1
    time.sleep(1)
    assert service.client.post("/submit-job", json={}).status_code == 400


def test_a_refused_key_comes_before_the_rate(make_service):
    service = make_service()
    for _ in range(20):
        answer = httpx.get(f"{service.url}/tools", headers={"x-api-key": "wrong"})
        assert answer.status_code == 401


def test_secrets_are_not_logged(make_service):
    service = make_service("--no-rate-limit")
    service.submit("logged", settings=SETTINGS)
    service.wait("logged")
    link = httpx.URL(service.result("logged").json())
    httpx.get(link)
    service.end()
    text = (service.folder / "service.log").read_text()
    assert "/download/" in text
    assert link.params["signature"] not in text
    assert service.key not in text
