"""A job's life in a real service: submitted, listed, complete, downloaded, deleted."""

import io
import zipfile

import httpx
import pytest
from service_process import PDB, SETTINGS

from foldnote import catalog

RECORD_KEYS = ["jobName", "type", "status", "settings", "projectTag", "created", "started", "completed", "email",
               "batch", "score", "weightedHours", "cpuSeconds", "peakMemoryMb", "peakGpuMemoryMb", "retries", "reusedFrom", "engineVersion", "webhook", "error", "progress", "message"]  # fmt: skip


def test_submit_answers_with_a_receipt(service, name):
    assert service.submit(name).json() == {
        "message": f"{name} submitted to queue.",
        "jobName": name,
        "type": "anarci",
        "status": "In Queue",
    }


def test_a_complete_job_has_the_whole_record(service, name):
    job = service.run(f"{name}.score", projectTag="p1")
    assert set(job) == set(RECORD_KEYS)
    assert (job["status"], job["projectTag"], job["settings"]) == ("Complete", "p1", SETTINGS)
    assert job["score"] == {"probe": 0.5}
    assert job["created"] <= job["started"] <= job["completed"]
    assert job["weightedHours"] > 0
    assert 0 < job["cpuSeconds"] < 30
    assert 5 < job["peakMemoryMb"] < 200
    assert job["progress"] == 1.0
    assert job["error"] is None


def test_a_running_job_tells_its_progress(service, name):
    service.submit(f"{name}.sleep-20")
    service.wait(f"{name}.sleep-20", ("Running",))
    while not (job := service.job(f"{name}.sleep-20"))["progress"]:
        pass
    assert 0 < job["progress"] < 1
    assert job["message"].startswith("Sleeping")
    service.client.post("/stop-job", json={"jobName": f"{name}.sleep-20"})


def test_a_failed_job_is_stopped_with_the_tools_sentence(service, name):
    job = service.run(f"{name}.fail")
    assert (job["status"], job["error"]) == ("Stopped", "The probe was asked to fail.")


def test_a_crash_of_the_tool_is_not_tried_again(service, name):
    job = service.run(f"{name}.crash-3")
    assert job["status"] == "Stopped"
    assert job["error"]


def test_the_log_has_what_the_engine_wrote(service, name):
    service.run(f"{name}.chatter-20")
    path = f"/jobs/{name}.chatter-20/log"
    assert "line 7" in service.client.get(path).json()["log"]
    assert service.client.get(path, params={"maxLines": 2}).json()["log"].count("\n") <= 2


def test_a_taken_name_is_refused(service, name):
    service.submit(name)
    answer = service.submit(name)
    assert answer.status_code == 400
    assert answer.json()["code"] == "job_name_taken"
    assert answer.json()["field"] == "jobName"


def test_a_deleted_name_is_free_again(service, name):
    service.run(name)
    assert service.client.request("DELETE", "/delete-job", json={"jobName": name}).status_code == 200
    assert service.client.get("/jobs", params={"jobName": name}).status_code == 404
    assert service.submit(name).status_code == 200


def test_a_tool_without_an_engine_says_what_to_do(service, name):
    settings = catalog.tool("abmap").example_job["settings"]
    answer = service.submit(name, type="abmap", settings=settings)
    assert answer.status_code == 400
    assert answer.json()["code"] == "tool_unavailable"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"jobName": "a b"}, "jobName"),
        ({"jobName": ".."}, "jobName"),
        ({"jobName": "x" * 101}, "jobName"),
        ({"jobName": 5}, "jobName"),
        ({"type": "Anarci"}, "type"),
        ({"settings": []}, "settings"),
        ({"settings": {}}, "sequence"),
        ({"settings": SETTINGS | {"scheme": "x"}}, "scheme"),
        ({"settings": SETTINGS | {"shceme": "imgt"}}, "shceme"),
        ({"projectTag": 1}, "projectTag"),
    ],
)
def test_a_wrong_submission_names_its_field(service, name, change, field):
    body = {"jobName": name, "type": "anarci", "settings": SETTINGS} | change
    answer = service.client.post("/submit-job", json=body)
    assert answer.status_code == 400
    assert answer.json()["field"] == field
    assert answer.json()["error"]
    assert answer.json()["code"]


def test_validation_agrees_with_submission_and_keeps_nothing(service, name):
    body = {"jobName": name, "type": "anarci", "settings": {"sequence": SETTINGS["sequence"]}}
    verdict = service.client.post("/validate-job", json=body).json()
    assert verdict["valid"] is True
    assert verdict["normalized"]["settings"]["scheme"] == "kabat"
    assert service.client.get("/jobs", params={"jobName": name}).status_code == 404


def test_an_invalid_job_gets_a_verdict_and_not_an_error(service):
    answer = service.client.post("/validate-job", json={"type": "anarci", "settings": {}})
    assert answer.status_code == 200
    assert answer.json()["missingFields"] == ["sequence"]
    assert (answer.json()["valid"], answer.json()["field"]) == (False, "sequence")


def test_rows_get_a_verdict_each(service):
    rows = [SETTINGS, {}, 5]
    verdict = service.client.post("/validate-job", json={"type": "anarci", "settings": rows}).json()
    assert (verdict["valid"], verdict["count"], verdict["valid_count"]) == (False, 3, 1)
    assert [row["index"] for row in verdict["results"]] == [0, 1, 2]
    assert verdict["results"][1]["field"] == "sequence"


@pytest.mark.parametrize(
    "payload", [{"type": "nope", "settings": [{}]}, {"type": "anarci", "settings": []}, {}, []]
)
def test_a_payload_refused_as_a_whole_has_no_results(service, payload):
    answer = service.client.post("/validate-job", json=payload)
    assert answer.status_code == 200
    assert answer.json()["valid"] is False
    assert "results" not in answer.json()


def test_too_many_rows_are_refused_as_a_whole(service):
    verdict = service.client.post("/validate-job", json={"type": "anarci", "settings": [{}] * 1001}).json()
    assert verdict["valid"] is False
    assert "results" not in verdict


def test_a_validation_above_the_limit_has_no_body(service):
    body = {"type": "anarci", "settings": {"sequence": "A" * 4_600_000}}
    answer = service.client.post("/validate-job", json=body)
    assert (answer.status_code, answer.content) == (413, b"")


def test_the_result_is_an_archive_behind_a_link(service, name):
    service.run(f"{name}.output-2")
    answer = service.result(f"{name}.output-2")
    download = httpx.get(answer.json())
    names = zipfile.ZipFile(io.BytesIO(download.content)).namelist()
    assert {"file-0.txt", "file-1.txt", "manifest.json", "job.log"} <= set(names)
    assert download.headers["content-disposition"].startswith("attachment")
    assert download.headers["cache-control"] == "no-store"


def test_one_file_of_the_result(service, name):
    service.run(f"{name}.output-1")
    link = service.result(f"{name}.output-1", fileName="file-0.txt").json()
    assert httpx.get(link).text == "output 0\n"
    missing = service.result(f"{name}.output-1", fileName="../file-0.txt")
    assert (missing.status_code, missing.json()["code"]) == (404, "file_not_found")


def test_structures_only_where_there_are_some(service, name):
    service.run(f"{name}.output-1")
    answer = service.result(f"{name}.output-1", pdbsOnly=True)
    assert (answer.status_code, answer.json()["code"]) == (404, "no_structures")


def test_an_unfinished_job_has_no_result_yet(service, name):
    service.submit(f"{name}.sleep-20")
    answer = service.result(f"{name}.sleep-20")
    assert answer.status_code == 400
    assert answer.json()["status"] in ("In Queue", "Running")
    service.client.post("/stop-job", json={"jobName": f"{name}.sleep-20"})


def test_a_result_of_nothing_is_not_found(service):
    assert service.result("never-submitted").status_code == 404


def test_a_stopped_job_ends_and_stays_so(service, name):
    service.submit(f"{name}.sleep-30")
    service.wait(f"{name}.sleep-30", ("Running",))
    assert service.client.post("/stop-job", json={"jobName": f"{name}.sleep-30"}).status_code == 200
    job = service.wait(f"{name}.sleep-30")
    assert (job["status"], job["error"]) == ("Stopped", None)
    again = service.client.post("/stop-job", json={"jobName": f"{name}.sleep-30"})
    assert again.status_code == 200
    assert service.job(f"{name}.sleep-30") == job


@pytest.mark.parametrize(("method", "path"), [("POST", "/stop-job"), ("DELETE", "/delete-job")])
def test_what_is_not_there_cannot_be_ended(service, method, path):
    answer = service.client.request(method, path, json={"jobName": "never-submitted"})
    assert (answer.status_code, answer.json()["code"]) == (400, "job_not_found")


def test_a_deleted_link_is_dead(service, name):
    service.run(name)
    link = service.result(name).json()
    service.client.request("DELETE", "/delete-job", json={"jobName": name})
    assert httpx.get(link).status_code == 404


class TestFileForms:
    """A file field takes an upload, a file of an earlier job, or the contents."""

    def submit(self, service, name, value):
        return service.submit(name, type="af2bind", settings={"pdbFile": value, "chain": "A"})

    def test_inline_contents(self, service, name):
        assert self.submit(service, name, PDB).status_code == 200
        assert service.wait(name)["status"] == "Complete"

    def test_an_upload_in_a_folder(self, service, name):
        service.client.put("/upload/in.pdb", params={"folder": name}, content=PDB.encode())
        assert self.submit(service, name, f"{name}/in.pdb").status_code == 200
        assert service.wait(name)["status"] == "Complete"

    def test_a_file_of_an_earlier_job(self, service, name):
        service.run(f"{name}.output-1")
        assert self.submit(service, name, f"{name}.output-1/file-0.txt").status_code in (200, 400)
        answer = self.submit(service, f"{name}b", f"{name}.output-1/nothing.pdb")
        assert (answer.status_code, answer.json()["field"]) == (400, "pdbFile")

    def test_what_is_nowhere_is_not_uploaded(self, service, name):
        answer = self.submit(service, name, "nowhere.pdb")
        assert (answer.status_code, answer.json()["code"]) == (400, "file_not_uploaded")
        assert "neither an upload" in answer.json()["error"]
        assert answer.json()["field"] == "pdbFile"
