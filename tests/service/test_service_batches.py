"""Batches: many jobs in one transaction, a parent that follows them, and finally one archive."""

import csv
import io
import zipfile

import httpx
import pytest
from service_process import SETTINGS


def submit_batch(service, name, names, **more):
    body = {
        "batchName": name,
        "type": "anarci",
        "settings": [SETTINGS] * len(names),
        "jobNames": names,
    } | more
    return service.client.post("/submit-batch", json=body)


def test_a_batch_of_one_row_has_one_job(service, name):
    sent = submit_batch(service, name, [f"{name}-1"]).json()
    assert sent["message"] == f"{name} with 1 job submitted to queue."


def test_a_batch_becomes_one_archive(service, name):
    names = [f"{name}-1.output-1.score", f"{name}-2.fail"]
    assert submit_batch(service, name, names).json() == {
        "message": f"{name} with 2 jobs submitted to queue.",
        "batchName": name,
        "type": "anarci",
        "jobNames": names,
        "status": "In Queue",
    }
    parent = service.wait(name)
    assert (parent["status"], parent["batchStatus"], parent["batchSize"]) == ("Complete", "Complete", 2)
    assert parent["statuses"] == {"In Queue": 0, "Running": 0, "Complete": 1, "Stopped": 1}
    archive = zipfile.ZipFile(io.BytesIO(httpx.get(parent["resultUrl"]).content))
    assert f"{names[0]}/file-0.txt" in archive.namelist()
    table = list(csv.DictReader(io.StringIO(archive.read("results.csv").decode())))
    assert [(row["jobName"], row["status"], row["score.probe"]) for row in table] == [
        (names[0], "Complete", "0.5"),
        (names[1], "Stopped", ""),
    ]
    assert service.result(name).status_code == 200


def test_subjobs_are_jobs_of_their_own(service, name):
    submit_batch(service, name, [f"{name}a"])
    job = service.wait(f"{name}a")
    assert (job["batch"], job["status"]) == (name, "Complete")
    assert service.result(f"{name}a").status_code == 200


def test_a_job_that_is_called_as_the_table_keeps_its_folder(service, name):
    submit_batch(service, name, ["results.csv", f"{name}a"])
    service.wait(name)
    names = zipfile.ZipFile(io.BytesIO(httpx.get(service.job(name)["resultUrl"]).content)).namelist()
    assert {"batch-results.csv", "results.csv/settings.json", f"{name}a/settings.json"} <= set(names)
    assert "results.csv" not in names
    service.client.request("DELETE", "/delete-job", json={"jobName": name})


def test_the_project_of_a_batch_is_that_of_its_jobs(service, name):
    submit_batch(service, name, [f"{name}a", f"{name}b"], projectTag="p7")
    assert [service.job(each)["projectTag"] for each in (name, f"{name}a", f"{name}b")] == ["p7"] * 3


def test_names_are_generated_if_none_are_given(service, name):
    body = {"batchName": name, "type": "anarci", "settings": [SETTINGS] * 2}
    assert service.client.post("/submit-batch", json=body).json()["jobNames"] == [f"{name}-1", f"{name}-2"]


def test_a_batch_without_any_result_is_stopped(service, name):
    submit_batch(service, name, [f"{name}.crash-2"])
    parent = service.wait(name)
    if parent["status"] == "Stopped":
        assert parent["batchStatus"] == "Stopped"
        assert "No job of the batch produced a result; it has 1 job." in parent["error"]
    else:
        assert httpx.get(parent["resultUrl"]).status_code == 200


@pytest.mark.parametrize(
    ("change", "field", "row"),
    [
        ({"settings": []}, "settings", None),
        ({"settings": [SETTINGS, {}]}, "sequence", 1),
        ({"settings": [SETTINGS, {"sequence": "M", "scheme": "x"}]}, "scheme", 1),
        ({"jobNames": ["same", "same"]}, "jobNames", 1),
        ({"jobNames": ["only-one"]}, "jobNames", None),
        ({"jobNames": ["fine", "not fine"]}, "jobNames", 1),
        ({"batchName": "a/b"}, "batchName", None),
        ({"type": "nope"}, "type", None),
        ({"settings": SETTINGS}, "settings", None),
        ({"settings": [SETTINGS, 5]}, "settings.1", 1),
    ],
)
def test_a_wrong_batch_keeps_nothing(service, name, change, field, row):
    body = {"batchName": name, "type": "anarci", "settings": [SETTINGS] * 2} | change
    answer = service.client.post("/submit-batch", json=body)
    assert answer.status_code == 400
    assert (answer.json()["field"], answer.json().get("row")) == (field, row)
    assert service.client.get("/jobs", params={"jobName": name}).status_code == 404


def test_a_stopped_batch_stops_all(service, name):
    names = [f"{name}-{number}.sleep-30" for number in range(4)]
    submit_batch(service, name, names)
    service.wait(name, ("Running",))
    assert service.result(name).status_code == 400
    service.client.post("/stop-job", json={"jobName": name})
    assert [service.wait(each)["status"] for each in (name, *names)] == ["Stopped"] * 5


def test_a_parent_tells_failed_jobs_from_stopped_ones_to_who_watches(service, name):
    names = [f"{name}-a.fail", f"{name}-b.fail", f"{name}-c.sleep-600", f"{name}-d"]
    submit_batch(service, name, names)
    for each in (names[0], names[1], names[3]):
        service.wait(each)
    service.client.post("/stop-job", json={"jobName": names[2]})
    service.wait(names[2])
    parent = service.wait(name)
    assert (parent["statuses"]["Complete"], parent["statuses"]["Stopped"]) == (1, 3)
    assert "failed" not in parent
    page = service.client.get("/jobs", params={"since": ""}).json()
    [listed] = [job for job in page["jobs"] if job["jobName"] == name]
    assert listed["failed"] == 2


def test_a_thousand_rows_are_one_transaction(make_service):
    service = make_service("--no-rate-limit", "--workers", "1")
    names = [f"n{number}.sleep-30" for number in range(1000)]
    assert submit_batch(service, "many", names).status_code == 200
    everything = service.client.get("/jobs", params={"includeSubjobs": "true"}).json()
    assert len(everything["jobs"]) == 1000
    assert sum(everything["statuses"].values()) == 1001
    service.client.request("DELETE", "/delete-job", json={"jobName": "many"})
    assert sum(service.client.get("/jobs").json()["statuses"].values()) == 0


class TestListedForm:
    """`{"tool", "batchName", "jobs"}`, which deployed services accept, too."""

    def submit(self, service, name, jobs, **more):
        body = {"tool": "anarci", "batchName": name, "jobs": jobs} | more
        return service.client.post("/submit-batch", json=body)

    def test_it_is_the_same_batch(self, service, name):
        rows = [{"jobName": f"{name}{letter}", "settings": SETTINGS} for letter in "ab"]
        answer = self.submit(service, name, rows).json()
        assert (answer["type"], answer["jobNames"]) == ("anarci", [f"{name}a", f"{name}b"])
        assert service.wait(name)["status"] == "Complete"

    def test_names_are_generated_for_all_or_none(self, service, name):
        assert self.submit(service, name, [{"settings": SETTINGS}]).json()["jobNames"] == [f"{name}-1"]
        mixed = self.submit(
            service, f"{name}m", [{"settings": SETTINGS}, {"jobName": "x", "settings": SETTINGS}]
        )
        assert (mixed.status_code, mixed.json()["field"]) == (400, "jobs")

    def test_a_wrong_row_is_named(self, service, name):
        answer = self.submit(service, name, [{"settings": SETTINGS}, {"settings": {"sequence": ""}}])
        assert (answer.status_code, answer.json()["row"]) == (400, 1)

    def test_the_tool_may_be_called_type(self, service, name):
        body = {"type": "anarci", "batchName": name, "jobs": [{"settings": SETTINGS}]}
        assert service.client.post("/submit-batch", json=body).status_code == 200


def test_cancel_batch_is_for_batches(service, name):
    submit_batch(service, name, [f"{name}.sleep-30"])
    refused = service.client.post("/cancelBatch", json={"batchName": f"{name}.sleep-30"})
    assert (refused.status_code, refused.json()["field"]) == (400, "batchName")
    assert service.client.post("/cancelBatch", json={"batchName": name}).status_code == 200
    assert service.wait(name)["status"] == "Stopped"


def test_a_stopped_batch_gives_what_it_had(service, name):
    done = f"{name}a.output-1"
    submit_batch(service, name, [done, f"{name}b.sleep-30"])
    service.wait(done)
    service.client.post("/stop-job", json={"jobName": name})
    answer = service.result(name)
    assert answer.status_code == 200, answer.text
    archive = zipfile.ZipFile(io.BytesIO(httpx.get(answer.json()).content))
    assert f"{done}/file-0.txt" in archive.namelist()
    assert service.job(name)["status"] == "Stopped"
    assert "resultUrl" in service.job(name)


def test_a_stopped_batch_without_output_has_no_result(service, name):
    submit_batch(service, name, [f"{name}.sleep-30"])
    service.client.post("/stop-job", json={"jobName": name})
    service.wait(f"{name}.sleep-30")
    assert service.result(name).status_code in (200, 404)


def test_a_run_is_ended_at_its_time_limit(service, name):
    submit_batch(service, name, [f"{name}.sleep-30"], maxRuntimeSeconds=0.5)
    job = service.wait(f"{name}.sleep-30")
    assert job["status"] == "Stopped"
    assert "time limit" in job["error"]


def test_a_spent_budget_stops_the_waiting(make_service):
    service = make_service("--no-rate-limit", "--workers", "1")
    submit_batch(service, "b", ["b1", "b2", "b3"], weightedHoursBudget=1e-6)
    service.wait("b")
    jobs = [service.job(each) for each in ("b1", "b2", "b3")]
    assert [job["status"] for job in jobs] == ["Complete", "Stopped", "Stopped"]
    assert "budget" in jobs[2]["error"]
    answer = service.result("b3")
    assert (answer.status_code, answer.json()["code"]) == (404, "no_result")
    assert answer.json()["error"] == f"The job 'b3' has no result. {jobs[2]['error']}"


@pytest.mark.parametrize("value", [0, -1, 10**400, "1", True])
def test_a_wrong_limit_is_refused(service, name, value):
    answer = submit_batch(service, name, [f"{name}a"], maxRuntimeSeconds=value)
    assert (answer.status_code, answer.json()["field"]) == (400, "maxRuntimeSeconds")
