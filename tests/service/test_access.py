"""Who may: every route with no key, a wrong one and a right one; what others have is as if it were not."""

import time

import httpx
import pytest
from service_process import SETTINGS

ROUTES = [
    ("POST", "/submit-job"), ("POST", "/submit-batch"), ("POST", "/validate-job"), ("GET", "/jobs"),
    ("GET", "/jobs/x/log"), ("POST", "/stop-job"), ("POST", "/result"), ("DELETE", "/delete-job"),
    ("PUT", "/upload/x.pdb"), ("GET", "/files"), ("GET", "/files/x.pdb"), ("DELETE", "/delete-file"), ("GET", "/tools"),
    ("GET", "/finetuned-models"), ("POST", "/cancelJob"), ("POST", "/cancelBatch"), ("POST", "/getPresignedUploadUrl"),
    ("POST", "/submit-pipeline"), ("POST", "/run-pipeline"),
    ("POST", "/model-router"),
    ("POST", "/deploy-model"), ("POST", "/virtual-screening"),
]  # fmt: skip
OPEN = ["/tools.json", "/healthz", "/openapi.json"]
PREFIXES = ["", "/v1", "/api"]


def test_the_matrix_covers_the_document(service):
    document = httpx.get(f"{service.url}/openapi.json").json()
    keyed = {
        (method.upper(), path)
        for path, item in document["paths"].items()
        for method, operation in item.items()
        if operation.get("security")
    }
    names = {
        (m, p.replace("/x/", "/{jobName}/").replace("upload/x.pdb", "upload/{filename}")) for m, p in ROUTES
    }
    assert {(m, p.replace("files/x.pdb", "files/{filePath}")) for m, p in names} == keyed


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_without_a_key(service, method, path, prefix):
    answer = httpx.request(method, service.url + prefix + path, content=b"not even json")
    if path == "/jobs":
        assert (answer.status_code, answer.json()) == (403, {"message": "Forbidden"})
    else:
        assert (answer.status_code, answer.json()["code"]) == (401, "missing_api_key")
        assert "POST /agent/provision" in answer.json()["error"]


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_with_a_wrong_key(service, method, path):
    answer = httpx.request(
        method, service.url + path, headers={"x-api-key": "wrong"}, content=b"not even json"
    )
    assert (answer.status_code, answer.json()["code"]) == (401, "invalid_api_key")


def test_a_misnamed_header_is_no_key(service):
    answer = httpx.get(f"{service.url}/jobs", headers={"authorization": f"Bearer {service.key}"})
    assert (answer.status_code, answer.json()) == (403, {"message": "Forbidden"})


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("path", OPEN)
def test_open_routes_need_no_key(service, path, prefix):
    assert httpx.get(service.url + prefix + path).status_code == 200


def test_both_catalogs_are_the_same(client):
    rows = client.get("/tools").json()
    assert rows == client.get("/tools.json").json()
    assert len(rows) == 40
    anarci = next(row for row in rows if row["type"] == "anarci")
    assert (anarci["available"], anarci["unavailableReason"], anarci["engine"]["name"]) == (
        True,
        None,
        "probe",
    )
    assert all(row["unavailableReason"] for row in rows if not row["available"])


def test_the_rate_is_ten_a_second(make_service):
    service = make_service()
    answers = [service.client.get("/tools") for _ in range(15)]
    refused = [answer for answer in answers if answer.status_code == 429]
    assert refused
    assert [answer.status_code for answer in answers[:10]] == [200] * 10
    assert refused[0].json()["retryAfterSeconds"] == int(refused[0].headers["retry-after"]) == 1
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
