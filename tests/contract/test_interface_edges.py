"""Keys, order of checks, files, the catalog, rates, and the start of the service, as any other program sees them."""

import itertools
import signal
import socket
import time
from urllib.parse import quote

import pytest
from served import SETTINGS, Served

from foldnote import catalog

TOOL = {
    "type", "name", "displayName", "description", "family", "modalities", "functions", "available",
    "unavailableReason", "engine", "schema", "exampleJob", "extensions",
}  # fmt: skip
TYPES = (
    "abb4 abfe abgpt ablang ablang-mpnn abmap abmpnn abnativ abodybuilder adapt admet aev-plig"
    " af-multistate af-traj af-unmasked af2bind af2dock af2rave afcluster afcycdesign afsample aggrescan3d"
    " alde align-pdbs allmetal3d alphabind-finetune alphacutter alphaflow alphafold alphalink2 amplify anarci"
    " ancestral-reconstruction antiberty antibody-annotation antibody-diffusion-properties antibody-evolution"
    " antidif antifold"
)
FILE = {"fileId", "fileName", "name", "fileSize", "uploadTime"}
KEYED = [
    ("POST", "/submit-job"),
    ("POST", "/submit-batch"),
    ("POST", "/validate-job"),
    ("POST", "/stop-job"),
    ("POST", "/result"),
    ("DELETE", "/delete-job"),
    ("PUT", "/upload/a.pdb"),
    ("GET", "/files?limit=abc"),
    ("DELETE", "/delete-file"),
    ("GET", "/tools"),
]
_numbers = itertools.count()


@pytest.fixture
def http(served):
    return served.http


@pytest.fixture
def folder():
    return f"folder {next(_numbers)}"


@pytest.mark.parametrize("prefix", ["", "/v1", "/api"])
@pytest.mark.parametrize(("method", "path"), KEYED)
def test_the_key_is_checked_before_anything_is_read(served, method, path, prefix):
    missing = served.open.request(method, prefix + path, content=b"{")
    assert (missing.status_code, missing.json()["code"]) == (401, "missing_api_key")
    assert "POST /agent/provision" in missing.json()["error"]
    for key in ("unknown", "fn_" + "A" * 43):
        invalid = served.open.request(method, prefix + path, headers={"x-api-key": key}, content=b"{")
        assert (invalid.status_code, invalid.json()["code"]) == (401, "invalid_api_key")


@pytest.mark.parametrize("path", ["/jobs", "/v1/jobs", "/api/jobs", "/jobs?limit=abc"])
@pytest.mark.parametrize("header", [None, "authorization", "api-key", "x-apikey"])
def test_the_gateway_of_the_listing_has_its_own_refusal(served, path, header):
    answer = served.open.get(path, headers={header: served.key} if header else {})
    assert (answer.status_code, answer.json()) == (403, {"message": "Forbidden"})
    assert served.open.get(path, headers={"X-API-KEY": "unknown"}).status_code == 401


def list_tools_beyond_reference():
    """Return the tools that the catalog marks; `tests/unit/catalog/test_catalog_files.py` names them."""
    return [
        name
        for name, tool in catalog.tools().items()
        if tool.settings_schema.get("x-foldnote", {}).get("beyondReference")
    ]


def test_the_catalog_needs_no_key(served):
    rows = served.open.get("/tools.json").json()
    assert rows == served.http.get("/tools").json() == served.open.get("/v1/tools.json").json()
    beyond = [row["type"] for row in rows if row["schema"].get("x-foldnote", {}).get("beyondReference")]
    assert beyond == list_tools_beyond_reference()
    assert sorted(row["type"] for row in rows) == sorted([*TYPES.split(), *beyond])
    for row in rows:
        assert set(row) == TOOL
        assert row["available"] is (row["unavailableReason"] is None)
        assert row["available"] or row["type"] not in ("anarci", "af2bind")
        assert row["schema"]["type"] == "object"
        assert set(row["exampleJob"]) == {"jobName", "type", "settings"}
        verdict = served.http.post("/validate-job", json=row["exampleJob"]).json()
        assert verdict["valid"], verdict


@pytest.mark.parametrize("name", ["a.pdb", "a b.pdb", "é.pdb", "a+b.pdb", "50%.pdb", "x" * 255])
def test_a_file_keeps_its_name(served, folder, name):
    place = {"folder": f"{folder}/inner"}
    receipt = served.http.put(f"/upload/{quote(name)}", content=b"ATOM\n", params=place).json()
    assert set(receipt) == {"message", "fileUrl", "signedUrl"}
    assert served.open.get(receipt["signedUrl"]).content == b"ATOM\n"
    assert served.http.get(receipt["fileUrl"]).content == b"ATOM\n"
    page = served.http.get("/files", params=place).json()
    assert set(page) == {"files", "total", "hasMore"}
    record = page["files"][0]
    assert (record["fileName"], record["name"], record["fileSize"]) == (name, name, 5)
    path = f"{folder}/inner/{name}"
    assert set(served.http.delete("/delete-file", params={"filePath": path}).json()) == {"message"}
    assert served.http.delete("/delete-file", params={"filePath": path}).status_code == 400


def test_files_are_listed_in_pages(http, folder):
    for number in range(3):
        record = http.put(f"/upload/{number}.pdb", content=b"x", params={"folder": folder})
        assert record.status_code == 200
    page = http.get("/files", params={"folder": folder, "limit": 2}).json()
    assert ([file["name"] for file in page["files"]], page["total"], page["hasMore"]) == (
        ["2.pdb", "1.pdb"],
        3,
        True,
    )
    last = http.get("/files", params={"folder": folder, "limit": 101, "offset": 2}).json()
    assert ([file["name"] for file in last["files"]], last["hasMore"]) == (["0.pdb"], False)
    http.put("/upload/top.pdb", content=b"x")
    assert set(http.get("/files", params={"limit": 1}).json()["files"][0]) == FILE
    names = {file["name"] for file in http.get("/files", params={"includeFolders": "true"}).json()["files"]}
    assert {folder, "top.pdb"} <= names
    assert http.delete("/delete-file", params={"folder": folder}).status_code == 200
    assert http.get("/files", params={"folder": folder}).json()["total"] == 0
    for field, text in (("limit", "0"), ("limit", "x"), ("offset", "-1"), ("includeFolders", "false")):
        answer = http.get("/files", params={field: text})
        assert (answer.status_code, answer.json()["field"]) == (400, field)


def test_a_job_keeps_the_files_that_it_was_given(served, folder):
    pdb = b"ATOM      1  CA  ALA A   1       1.000   0.000   0.000  1.00 50.00           C  \n"
    settings = {"pdbFile": f"{folder}/in.pdb", "chain": "A"}
    served.http.put("/upload/in.pdb", content=pdb, params={"folder": folder})
    job = {"jobName": f"kept-{next(_numbers)}", "type": "af2bind", "settings": settings}
    assert served.http.post("/submit-job", json=job).status_code == 200
    assert served.http.delete("/delete-file", params={"folder": folder}).status_code == 200
    assert served.wait(job["jobName"])["status"] == "Complete"
    refusal = served.http.post("/submit-job", json=job | {"jobName": "later"})
    assert (refusal.status_code, refusal.json()["field"]) == (400, "pdbFile")
    assert "neither an upload" in refusal.json()["error"]
    assert served.http.post("/submit-job", json=job).json()["code"] == "file_not_uploaded"


def test_size_is_checked_before_validity(served):
    """The length is only declared; nothing is sent."""
    host, port = served.url.removeprefix("http://").split(":")
    for path, key, status in (
        ("/upload/a%2Fb", served.key, b"413"),
        ("/upload/a.pdb", served.key, b"413"),
        ("/validate-job", served.key, b"413"),
        ("/upload/a.pdb", "wrong", b"401"),
    ):
        method = "PUT" if "upload" in path else "POST"
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: h\r\nx-api-key: {key}\r\nContent-Length: 99999999999\r\n\r\n"
        )
        with socket.create_connection((host, int(port)), timeout=30) as line:
            line.sendall(head.encode())
            assert line.recv(1000).split()[1] == status


def test_routes_that_are_not_there_have_the_error_shape(http):
    for method, path, status in (
        ("GET", "/nothing", 404),
        ("GET", "/v1/nothing", 404),
        ("GET", "/jobs/x", 404),
        ("GET", "/submit-job", 405),
        ("OPTIONS", "/jobs", 405),
    ):
        answer = http.request(method, path)
        assert (answer.status_code, set(answer.json())) == (status, {"error", "code"})


def test_a_service_ends_begins_again_and_says_why_it_cannot(tmp_path):
    service = Served(tmp_path, "--no-rate-limit")
    names = [f"sleep-1.{number}" for number in range(4)]
    try:
        assert service.line.count("\n") == 1
        data, port = str(tmp_path / "data"), service.url.rsplit(":", 1)[1]
        assert "Another service is running" in service.refuse("--port", "0", "--data-dir", data)
        other = str(tmp_path / "other")
        assert "already in use" in service.refuse("--port", port, "--data-dir", other)
        assert "at most 65,535" in service.refuse("--port", "65536", "--data-dir", other)
        assert "cannot be created" in service.refuse("--port", "0", "--data-dir", __file__)
        for name in names:
            assert service.submit(name).status_code == 200
        service.http.put("/upload/a.pdb", content=b"x")
    finally:
        assert service.close(signal.SIGKILL) == (-signal.SIGKILL, "")
    again = Served(tmp_path, "--no-rate-limit")
    try:
        assert again.key == service.key
        assert [again.wait(name)["status"] for name in names] == ["Complete"] * 4
        assert again.http.get("/files").json()["total"] == 1
    finally:
        assert again.close() == (0, "")


def test_ten_requests_a_second_and_no_more(tmp_path):
    service = Served(tmp_path)
    try:
        began = time.monotonic()
        answers = [service.http.get("/files") for _ in range(40)]
        passed_s = time.monotonic() - began
        passed = [answer for answer in answers if answer.status_code == 200]
        assert 10 <= len(passed) <= 10 + 10 * passed_s + 1
        refusals = [answer for answer in answers if answer.status_code == 429]
        for answer in refusals:
            body = answer.json()
            assert set(body) == {"error", "code", "retryAfterSeconds"}
            assert answer.headers["retry-after"] == str(body["retryAfterSeconds"])
        wrong = [service.http.post("/submit-job", content=b"{").status_code for _ in range(40)]
        assert set(wrong) <= {400, 429}
        assert service.open.get("/jobs", headers={"x-api-key": "x"}).status_code == 401
        assert service.open.get("/tools.json").status_code == 200
        time.sleep(1.1)
        body = {"type": "anarci", "settings": SETTINGS}
        assert service.http.post("/validate-job", json=body).json()["valid"]
    finally:
        service.close()
