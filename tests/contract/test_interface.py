"""The interface as any other program sees it: every route, shape, status and order of checks."""

import io
import itertools
import json
import re
import time
import zipfile

import httpx
import pytest
from served import SETTINGS, Served

RECORD = {
    "jobName": str,
    "type": str,
    "status": str,
    "settings": dict,
    "projectTag": str | None,
    "created": str,
    "started": str | None,
    "completed": str | None,
    "email": str,
    "batch": str | None,
    "score": dict | None,
    "weightedHours": float | None,
    "cpuSeconds": float | None,
    "peakMemoryMb": float | None,
    "peakGpuMemoryMb": float | None,
    "retries": int | None,
    "reusedFrom": str | None,
    "engineVersion": str | None,
    "webhook": str | None,
    "error": str | None,
    "progress": float | None,
    "message": str | None,
}
PARENT = {"tool", "batchStatus", "batchSize", "statuses"}
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
STATUSES = {"In Queue", "Running", "Complete", "Stopped"}
_numbers = itertools.count()


@pytest.fixture
def http(served):
    return served.http


@pytest.fixture
def name():
    return f"stranger{next(_numbers)}"


def refused(answer: httpx.Response, status: int, code: str, field: str | None = None) -> None:
    """Assert the shape of errors, from which `field` is absent if no single field is at fault."""
    assert answer.headers["content-type"] == "application/json"
    body = answer.json()
    assert (answer.status_code, body["code"], body.get("field")) == (status, code, field), body
    assert isinstance(body["error"], str)
    assert "field" not in body or body["field"]


def check_record(job: dict) -> None:
    more = (PARENT | ({"resultUrl"} & set(job))) if job["type"] == "batch" else set()
    assert set(job) == set(RECORD) | more
    for key, kind in RECORD.items():
        assert isinstance(job[key], kind), (key, job[key])
    moments = [job[key] for key in ("created", "started", "completed") if job[key] is not None]
    assert all(TIME.fullmatch(moment) for moment in moments)
    assert moments == sorted(moments)
    assert job["status"] in STATUSES


def await_archive(served: Served, name: str) -> dict:
    """Wait until the parent has its link; its status before that must be valid, too."""
    until = time.monotonic() + 60
    while "resultUrl" not in (parent := served.job(name)):
        check_record(parent)
        assert parent["batchStatus"] in ("In Queue", "Running", "Aggregating")
        assert time.monotonic() < until, parent
        time.sleep(0.05)
    check_record(parent)
    return parent


@pytest.mark.parametrize("prefix", ["", "/v1", "/api"])
def test_a_job_runs_and_leaves_a_result_under_every_prefix(served, name, prefix):
    body = {"jobName": name, "type": "anarci", "settings": SETTINGS, "projectTag": "p1"}
    answer = served.http.post(f"{prefix}/submit-job", json=body)
    assert answer.json() == {
        "message": f"{name} submitted to queue.",
        "jobName": name,
        "type": "anarci",
        "status": "In Queue",
    }
    check_record(served.job(name))
    job = served.wait(name)
    check_record(job)
    assert (job["status"], job["settings"], job["projectTag"]) == ("Complete", SETTINGS, "p1")
    connection = served.http.post(f"{prefix}/result", json={"jobName": name})
    assert connection.headers["content-type"] == "application/json"
    archive = served.open.get(connection.json())
    assert archive.headers["content-type"] == "application/zip"
    assert "settings.json" in zipfile.ZipFile(io.BytesIO(archive.content)).namelist()


@pytest.mark.parametrize(
    ("change", "code", "field"),
    [
        ({"jobName": None}, "invalid_field", "jobName"),
        ({"jobName": 5}, "invalid_field", "jobName"),
        ({"jobName": ""}, "invalid_job_name", "jobName"),
        ({"jobName": ".."}, "invalid_job_name", "jobName"),
        ({"jobName": "é"}, "invalid_job_name", "jobName"),
        ({"jobName": "a" * 101}, "invalid_job_name", "jobName"),
        ({"type": "Anarci"}, "unknown_tool", "type"),
        ({"type": None}, "invalid_field", "type"),
        ({"type": "alphafold", "settings": {"sequence": "ACD"}}, "tool_unavailable", "type"),
        ({"settings": "{}"}, "invalid_field", "settings"),
        ({"settings": [SETTINGS]}, "invalid_field", "settings"),
        ({"settings": {}}, "missing_field", "sequence"),
        ({"settings": SETTINGS | {"shceme": "imgt"}}, "unknown_field", "shceme"),
        ({"projectTag": 5}, "invalid_field", "projectTag"),
    ],
)
def test_a_wrong_submission_names_its_field(served, name, change, code, field):
    refused(served.submit(name, **change), 400, code, field)
    assert name not in served.http.get("/jobs").text


@pytest.mark.parametrize(
    "headers", [{}, {"content-type": "application/json; charset=utf-8"}, {"content-type": "text/plain"}]
)
@pytest.mark.parametrize("before", [b"", b"\xef\xbb\xbf", b" \n"])
def test_a_body_is_read_regardless_of_its_headers(http, headers, before):
    body = before + json.dumps({"type": "anarci", "settings": SETTINGS, "more": 1}).encode()
    answer = http.post("/validate-job", content=body, headers=headers)
    assert answer.json() == {"valid": True, "normalized": {"type": "anarci", "settings": SETTINGS}}


@pytest.mark.parametrize(
    "body", [b"", b" ", b"{", b"nul", b'{"a":NaN}', b'{"a":1e999}', b"9" * 5000, b"\xff"]
)
def test_what_is_not_json_is_400(http, body):
    for path in ("/submit-job", "/validate-job", "/stop-job", "/result"):
        refused(http.post(path, content=body), 400, "invalid_json")
    assert "sys." not in http.post("/submit-job", content=body).json()["error"]


def test_validation_answers_200_with_a_verdict(http, name):
    def ask(**body):
        answer = http.post("/validate-job", json=body)
        assert answer.status_code == 200
        return answer.json()

    good = ask(jobName=name, type="anarci", settings={"sequence": "evql"})
    settings = {"sequence": "EVQL", "scheme": "kabat"}
    assert good == {
        "valid": True,
        "normalized": {"jobName": name, "type": "anarci", "settings": settings},
    }
    wrong = {
        "sequence": ask(type="anarci", settings={}),
        "scheme": ask(type="anarci", settings=SETTINGS | {"scheme": 1}),
        "type": ask(type="nothing", settings={}),
        "settings": ask(type="anarci", settings="text"),
        "jobName": ask(jobName="a b", type="anarci", settings=SETTINGS),
    }
    for field, verdict in wrong.items():
        assert set(verdict) == {"valid", "error", "field", "missingFields"}
        assert (verdict["valid"], verdict["field"]) == (False, field)
    assert wrong["sequence"]["missingFields"] == ["sequence"]
    assert http.get("/jobs", params={"jobName": name}).status_code == 404


def test_a_batch_is_validated_row_by_row(http):
    answer = http.post("/validate-job", json={"type": "anarci", "settings": [SETTINGS, {"sequence": "@"}, 5]})
    verdict = answer.json()
    assert [verdict[key] for key in ("valid", "count", "valid_count")] == [False, 3, 1]
    assert verdict["results"][0] == {
        "index": 0,
        "valid": True,
        "normalized": {"type": "anarci", "settings": SETTINGS},
    }
    assert [set(row) for row in verdict["results"][1:]] == [{"index", "valid", "error", "field"}] * 2
    assert verdict["results"][1]["field"] == "sequence"
    rows = [{"sequence": "A" * 4400}] * 1000
    assert http.post("/validate-job", json={"type": "anarci", "settings": rows}).json()["valid_count"] == 1000
    refusal = http.post("/validate-job", json={"type": "anarci", "settings": [{"sequence": "A"}] * 1001})
    assert (refusal.status_code, "results" in refusal.json()) == (200, False)


def test_a_validation_that_is_too_large_has_no_body(http):
    for content in (b" " * 4_600_000, iter([b" " * 100_000] * 46)):
        answer = http.post("/validate-job", content=content)
        assert (answer.status_code, answer.content) == (413, b"")


def test_a_batch_has_a_parent_and_subjobs(served, name):
    names = [f"{name}.b", f"{name}.a"]
    body = {"batchName": name, "type": "anarci", "settings": [SETTINGS] * 2, "jobNames": names}
    receipt = served.http.post("/submit-batch", json=body).json()
    assert set(receipt) == {"message", "batchName", "type", "jobNames", "status"}
    assert (receipt["jobNames"], receipt["status"]) == (names, "In Queue")
    for each in names:
        served.wait(each)
    parent = await_archive(served, name)
    assert (parent["type"], parent["tool"], parent["batchStatus"], parent["batchSize"]) == (
        "batch",
        "anarci",
        "Complete",
        2,
    )
    assert parent["statuses"] == {"In Queue": 0, "Running": 0, "Complete": 2, "Stopped": 0}
    members = zipfile.ZipFile(io.BytesIO(served.open.get(parent["resultUrl"]).content)).namelist()
    assert {f"{each}/settings.json" for each in names} <= set(members)
    subjobs = served.http.get("/jobs", params={"batch": name}).json()
    assert [job["jobName"] for job in subjobs["jobs"]] == names[::-1]
    assert {job["batch"] for job in subjobs["jobs"]} == {name}
    top = served.http.get("/jobs").json()
    every = served.http.get("/jobs", params={"includeSubjobs": "true"}).json()
    assert not set(names) & {job["jobName"] for job in top["jobs"]}
    assert {name, *names} <= {job["jobName"] for job in every["jobs"]}
    assert served.http.request("DELETE", "/delete-job", json={"jobName": name}).status_code == 200
    refused(served.http.get("/jobs", params={"jobName": names[0]}), 404, "job_not_found", "jobName")


def test_pages_have_every_job_once_newest_first(served, name):
    for number in range(5):
        served.submit(f"{name}.{number}")
    whole = served.http.get("/jobs", params={"limit": 1001}).json()
    assert set(whole) == {"jobs", "statuses"}
    assert set(whole["statuses"]) == STATUSES
    seen, more = [], {}
    while True:
        page = served.http.get("/jobs", params={"limit": 2} | more).json()
        seen += [job["jobName"] for job in page["jobs"]]
        if "startKey" not in page:
            break
        more = {"startKey": page["startKey"]}
    assert seen == [job["jobName"] for job in whole["jobs"]]
    assert [job["created"] for job in whole["jobs"]] == sorted(
        (job["created"] for job in whole["jobs"]), reverse=True
    )


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("limit", "0"),
        ("limit", "abc"),
        ("limit", ""),
        ("includeSubjobs", "false"),
        ("organization", "1"),
        ("jobEmail", "nobody"),
        ("startKey", "x"),
    ],
)
def test_a_wrong_parameter_of_the_listing_is_named(http, field, text):
    answer = http.get("/jobs", params={field: text})
    assert (answer.status_code, answer.json()["field"]) == (400, field)


def test_other_parameters_of_the_listing(served, name):
    served.submit(name)
    mine = served.http.get("/jobs").json()
    for params in ({"jobEmail": mine["jobs"][0]["email"]}, {"organization": "true"}, {"unknown": "x"}):
        page = served.http.get("/jobs", params=params).json()
        assert [job["jobName"] for job in page["jobs"]] == [job["jobName"] for job in mine["jobs"]]
    for params in ({"jobEmail": "a@b.cd"}, {"batch": "no-batch"}, {"batch": name}):
        page = served.http.get("/jobs", params=params).json()
        assert page == {"jobs": [], "statuses": dict.fromkeys(STATUSES, 0)}
    refused(served.http.get("/jobs", params={"jobName": "no-job"}), 404, "job_not_found", "jobName")


def test_stopping_and_what_is_left(served, name):
    slow, http = f"sleep-60.{name}", served.http
    served.submit(slow)
    refused(http.post("/result", json={"jobName": slow}), 400, "job_unfinished", "jobName")
    assert http.post("/stop-job", json={"jobName": slow}).status_code == 200
    assert served.wait(slow)["status"] == "Stopped"
    again = http.post("/stop-job", json={"jobName": slow})
    assert (again.status_code, set(again.json())) == (200, {"message"})
    refused(http.post("/stop-job", json={"jobName": "no-job"}), 400, "job_not_found", "jobName")
    failed = f"fail.{name}"
    served.submit(failed)
    job = served.wait(failed)
    assert (job["status"], job["error"]) == ("Stopped", "The probe was asked to fail.")
    answer = http.request("DELETE", "/delete-job", json={"jobName": slow})
    assert (answer.status_code, set(answer.json())) == (200, {"message"})
    refused(http.request("DELETE", "/delete-job", json={"jobName": slow}), 400, "job_not_found", "jobName")
    assert served.submit(f"env.{name}").status_code == 200
    refused(served.submit(f"env.{name}"), 400, "job_name_taken", "jobName")


def test_parts_of_a_result(served, name):
    job = f"output-2.{name}"
    served.submit(job)
    served.wait(job)

    def ask(**more):
        return served.http.post("/result", json={"jobName": job} | more)

    assert served.open.get(ask(fileName="file-1.txt").json()).text == "output 1\n"
    assert ask(noAsync=True, pdbsOnly=False, jobEmail=None, fileName=None).status_code == 200
    refused(ask(fileName="../file-1.txt"), 404, "file_not_found", "fileName")
    refused(ask(pdbsOnly=True), 404, "no_structures", "pdbsOnly")
    refused(ask(pdbsOnly="true"), 400, "invalid_field", "pdbsOnly")
    refused(ask(noAsync=1), 400, "invalid_field", "noAsync")
    refused(ask(jobEmail="nobody"), 400, "invalid_field", "jobEmail")
    refused(ask(jobEmail="a@b.cd"), 404, "job_not_found", "jobName")
    refused(served.http.post("/result", json={}), 400, "missing_field", "jobName")
    connection = ask().json()
    served.http.request("DELETE", "/delete-job", json={"jobName": job})
    assert served.open.get(connection).status_code == 404


def test_a_changed_link_is_403(served, name):
    served.http.put(f"/upload/{name}.txt", content=b"text")
    connection = served.http.put(f"/upload/{name}.txt", content=b"text").json()["signedUrl"]
    assert served.open.get(connection).text == "text"
    for old, new in (("owner=1", "owner=2"), ("owner=1", "owner=q"), ("expires=", "expires=x"), ("=", "")):
        assert served.open.get(connection.replace(old, new)).status_code == 403
    assert served.open.get(connection[:-1] + ("0" if connection[-1] != "0" else "1")).status_code == 403
    assert served.open.get(connection.split("?")[0]).status_code == 403
    assert served.open.put(connection, content=b"x").status_code == 405
