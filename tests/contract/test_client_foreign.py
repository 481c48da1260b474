"""Shapes of responses of deployed services of the interface, on a real socket."""

import json

import pytest
from job_settings import SETTINGS
from scripted_service import answers

from foldnote.errors import (
    AllowanceExceededError,
    BadRequestError,
    BudgetExceededError,
    ForbiddenError,
    GatewayForbiddenError,
    JobNameTakenError,
    NotFoundError,
    ProtocolError,
    ServiceError,
    ServiceFaultError,
    TooLargeError,
    UnauthorizedError,
)
from foldnote.models import JobStatus

FOREIGN = {
    "JobName": "a",
    "Type": "anarci",
    "JobStatus": "complete",
    "Created": "2026-11-01T10:00:00",
    "Settings": json.dumps(SETTINGS),
    "Score": '{"x": 1}',
    "User": "a@b.c",
    "Cluster": 7,
}


@pytest.fixture
def client(scripted, connect):
    scripted.on("GET", "/tools", answers([{"name": "anarci"}]))
    return connect()


@pytest.mark.parametrize(
    "shape",
    [FOREIGN, {"jobs": [FOREIGN]}, {"0": FOREIGN, "statuses": {"Complete": 1}}],
    ids=["record", "list", "map"],
)
def test_one_job_in_each_shape(scripted, client, shape):
    scripted.on("GET", "/jobs", answers(shape))
    job = client.jobs.get("a")
    assert (job.status, job.type, job.settings, job.score) == (
        JobStatus.COMPLETE,
        "anarci",
        SETTINGS,
        {"x": 1},
    )
    assert job.record.model_extra["cluster"] == 7


@pytest.mark.parametrize("shape", [{"jobs": []}, {"statuses": {}}])
def test_no_job_in_an_empty_shape(scripted, client, shape):
    scripted.on("GET", "/jobs", answers(shape))
    with pytest.raises(NotFoundError, match="'a'"):
        client.jobs.get("a")


@pytest.mark.parametrize(
    "said", ["text", 3, None, [[1]], {"jobs": [3]}, {"jobName": "a", "status": "melted"}]
)
def test_an_invalid_job_is_a_protocol_error(scripted, client, said):
    scripted.on("GET", "/jobs", answers(said))
    with pytest.raises(ProtocolError):
        client.jobs.get("a")


@pytest.mark.parametrize("said", ["a submitted to queue.", '"a submitted to queue."', {"message": "ok"}])
def test_a_submission_answered_by_a_sentence(scripted, client, said):
    scripted.on("POST", "/submit-job", answers(said))
    job = client.jobs.submit("anarci", SETTINGS, job_name="a")
    assert (job.job_name, job.status) == ("a", JobStatus.IN_QUEUE)


def test_a_receipt_with_odd_words_is_still_one(scripted, client):
    scripted.on("POST", "/submit-job", answers({"JobName": 7, "type": None, "status": [], "message": {}}))
    job = client.jobs.submit("anarci", SETTINGS, job_name="a")
    assert (job.job_name, job.type) == ("a", "anarci")
    assert client.ledger.job_names() == ["a"]


def test_a_taken_name_without_a_code_is_looked_up(scripted, client):
    scripted.on("POST", "/submit-job", answers("Job a already exists", 400))
    scripted.on("GET", "/jobs", answers(FOREIGN))
    assert client.jobs.submit("anarci", SETTINGS, job_name="a").is_final
    with pytest.raises(JobNameTakenError, match="scheme"):
        client.jobs.submit("anarci", SETTINGS | {"scheme": "kabat"}, job_name="a")


def test_a_refusal_without_a_code_and_without_such_a_job_stays_a_refusal(scripted, client):
    scripted.on("POST", "/submit-job", answers({"message": "bad sequence"}, 400))
    scripted.on("GET", "/jobs", answers({"error": "no such job"}, 404))
    with pytest.raises(BadRequestError, match="bad sequence"):
        client.jobs.submit("anarci", SETTINGS, job_name="a")


def test_settings_that_a_service_does_not_tell(scripted, client):
    """A name derived from the settings is proof enough; a chosen one is not."""
    untold = {"jobName": "x", "type": "anarci", "status": "Running"}
    scripted.on("POST", "/submit-job", answers({"error": "taken", "code": "job_name_taken"}, 400))
    scripted.on("GET", "/jobs", answers(untold))
    assert client.jobs.submit("anarci", SETTINGS).status is JobStatus.RUNNING
    with pytest.raises(JobNameTakenError, match="does not report its settings"):
        client.jobs.submit("anarci", SETTINGS, job_name="x")


@pytest.mark.parametrize("shape", ["{url}/f", '"{url}/f"', '{{"url": "{url}/f"}}', '"/f"'])
def test_a_result_link_in_each_shape(scripted, client, shape):
    scripted.on("GET", "/jobs", answers(FOREIGN))
    scripted.on("POST", "/result", answers(shape.format(url=scripted.url)))
    scripted.on("GET", "/f", answers(b"ATOM", etag='"not-a-hash"'))
    assert client.jobs.download("a", "x/m.pdb").read_bytes() == b"ATOM"
    assert "x-api-key" not in scripted.asked[-1].headers


@pytest.mark.parametrize("said", ["soon", 7, None, {"status": "odd"}, ["x"]])
def test_an_invalid_link_is_a_protocol_error(scripted, client, said):
    scripted.on("GET", "/jobs", answers(FOREIGN))
    scripted.on("POST", "/result", answers(said))
    with pytest.raises(ProtocolError):
        client.jobs.download("a")


def test_a_result_that_is_being_prepared_is_waited_for(scripted, client):
    scripted.on("GET", "/jobs", answers(FOREIGN))
    preparing = answers({"status": "preparing", "jobName": "a", "message": "poll"}, 202)
    scripted.on("POST", "/result", preparing, answers(json.dumps(f"{scripted.url}/f")))
    scripted.on("GET", "/f", answers(b"ATOM"))
    assert client.jobs.download("a", "m.pdb").read_bytes() == b"ATOM"


def test_files_as_a_bare_list(scripted, client):
    scripted.on("GET", "/files", answers(["a.pdb", "in/b.pdb"]))
    page = client.files.list()
    assert [record.path for record in page.files] == ["a.pdb", "in/b.pdb"]
    assert not page.has_more


def test_bare_strings_for_deletions_and_uploads(scripted, client):
    scripted.on("DELETE", "/delete-job", answers("gone"))
    scripted.on("PUT", "/upload/x.pdb", answers({"message": None}))
    assert client.jobs.delete("a") is None
    assert client.files.upload(b"ATOM", "x.pdb") == "x.pdb"


@pytest.mark.parametrize(
    ("said", "status", "kind", "sentence"),
    [
        ({"message": "Forbidden"}, 403, GatewayForbiddenError, "Forbidden"),
        (
            {"error": "x", "estimatedWeightedHours": 9, "allowanceWeightedHours": 4},
            403,
            AllowanceExceededError,
            "x",
        ),
        ({"title": "No"}, 403, ForbiddenError, "No"),
        ({"detail": [{"loc": ["a"], "msg": "field required"}]}, 422, BadRequestError, "field required"),
        ({"error": {"message": "deep"}}, 400, BadRequestError, "deep"),
        ("<html><b>Bad   gateway</b></html>", 404, NotFoundError, "^Bad gateway$"),
        ("", 413, TooLargeError, "larger than"),
        ("", 401, UnauthorizedError, "foldnote profile key"),
        (b"\xff\xfe", 418, ServiceError, "."),
        ([1], 409, ServiceError, "409"),
    ],
)
def test_refusals_in_each_shape(scripted, client, said, status, kind, sentence):
    scripted.on("GET", "/jobs", answers(said, status))
    with pytest.raises(kind, match=sentence) as caught:
        client.jobs.get("a")
    assert caught.value.status == status


@pytest.mark.parametrize(
    ("said", "kind", "sentence"),
    [
        ({"error": "Quota exceeded"}, BadRequestError, "Quota exceeded"),
        ({"success": False, "message": "No"}, BadRequestError, "No"),
        (json.dumps(json.dumps({"error": "In a string"})), BadRequestError, "^In a string$"),
        ({"statusCode": 403, "error": "Over the budget"}, BudgetExceededError, "Over the budget"),
        ({"errorMessage": "Task timed out after 29.00 seconds"}, ServiceFaultError, "timed out"),
        ("<!DOCTYPE html><html><h1>Sign in</h1></html>", ProtocolError, "web page: Sign in"),
    ],
)
def test_a_refusal_that_calls_itself_a_success_is_none(scripted, client, said, kind, sentence, monkeypatch):
    monkeypatch.setattr("foldnote.client.submission.idempotency.retry_delays", lambda: iter(()))
    scripted.on("POST", "/submit-job", answers(said))
    scripted.on("DELETE", "/delete-job", answers(said))
    scripted.on("GET", "/jobs", answers({"error": "no such job"}, 404))
    for ask in (lambda: client.jobs.submit("anarci", SETTINGS), lambda: client.jobs.delete("a")):
        with pytest.raises(kind, match=sentence):
            ask()
    assert client.ledger.job_names() == []


def test_an_allowance_refusal_has_both_figures(scripted, client):
    body = {"error": "too dear", "estimatedWeightedHours": 9, "allowanceWeightedHours": 4.5}
    scripted.on("GET", "/jobs", answers(body, 403))
    with pytest.raises(AllowanceExceededError) as caught:
        client.jobs.get("a")
    assert (caught.value.estimated_weighted_hours, caught.value.allowance_weighted_hours) == (9.0, 4.5)


def test_the_key_does_not_follow_a_redirect(scripted, client):
    scripted.on("GET", "/jobs", answers("", 302, location=f"{scripted.url}/elsewhere"))
    with pytest.raises(ProtocolError, match="/elsewhere"):
        client.jobs.get("a")
    assert scripted.count("GET", "/elsewhere") == 0
