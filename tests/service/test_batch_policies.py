"""Policies of a batch after a failure: continue, stop, or retry the failed job."""

import csv
import io
import zipfile

import httpx
import pytest
from service_process import SETTINGS, ServiceProcess


def submit(service, name, names, **policy):
    body = {
        "batchName": name,
        "type": "anarci",
        "settings": [SETTINGS] * len(names),
        "jobNames": names,
        "foldnote": policy,
    }
    return service.client.post("/submit-batch", json=body)


@pytest.fixture(scope="module")
def one_by_one(tmp_path_factory):
    """Start a service that runs one job at a time."""
    folder = tmp_path_factory.mktemp("one")
    running = ServiceProcess(folder, "--no-rate-limit", "--workers", "1").start()
    yield running
    running.end()


def test_no_job_begins_after_the_first_failure(one_by_one):
    names = ["s1.output-1", "s2.fail", "s3", "s4"]
    assert submit(one_by_one, "stopping", names, onFailure="stop").status_code == 200
    parent = one_by_one.wait("stopping")
    assert (parent["status"], parent["statuses"]["Stopped"]) == ("Complete", 3)
    assert parent["message"] == "The job s2.fail failed, so 2 waiting jobs of the batch did not run."
    last = one_by_one.job("s4")
    assert (last["status"], last["error"], last["started"]) == ("Stopped", None, None)
    assert last["message"] == "Not run: the job s2.fail failed, and the batch stops at its first failure."
    archive = zipfile.ZipFile(io.BytesIO(httpx.get(parent["resultUrl"]).content))
    rows = list(csv.DictReader(io.StringIO(archive.read("results.csv").decode())))
    assert [row["message"] for row in rows] == ["", "", last["message"], last["message"]]


def test_by_default_a_batch_continues_after_a_failure(one_by_one):
    submit(one_by_one, "going", ["g1.fail", "g2"], onFailure="continue")
    assert one_by_one.wait("going")["statuses"]["Complete"] == 1
    assert "foldnote" not in one_by_one.job("going")


def test_a_failed_run_is_repeated_as_often_as_was_asked(service, name):
    names = [f"{name}a.flaky-2", f"{name}b.flaky-3"]
    submit(service, name, names, retries=2)
    service.wait(name)
    healed, lost = (service.job(each) for each in names)
    assert (healed["status"], healed["retries"], healed["error"]) == ("Complete", 2, None)
    assert (lost["status"], lost["retries"], lost["error"]) == ("Stopped", 2, "The probe failed by chance.")


def test_an_input_that_the_tool_refuses_is_not_tried_again_and_the_error_says_so(service, name):
    submit(service, name, [f"{name}a.fail"], retries=2)
    service.wait(name)
    job = service.job(f"{name}a.fail")
    assert (job["status"], job["retries"]) == ("Stopped", None)
    assert job["error"] == (
        "The probe was asked to fail. It was not run again, since every run would refuse the same input."
    )


def test_a_retried_job_costs_the_hours_of_all_its_runs(service, name):
    submit(service, name, [f"{name}a.sleep-1.flaky-1"], retries=1)
    service.wait(name)
    assert service.job(f"{name}a.sleep-1.flaky-1")["weightedHours"] > 2 / 3600


def test_a_job_that_succeeds_on_retry_does_not_stop_its_batch(one_by_one):
    submit(one_by_one, "mended", ["m1.flaky-1", "m2"], retries=1, onFailure="stop")
    assert one_by_one.wait("mended")["statuses"]["Complete"] == 2


def test_a_stopped_job_is_not_run_again(service, name):
    job = f"{name}a.sleep-30"
    submit(service, name, [job], retries=5)
    service.client.post("/stop-job", json={"jobName": job})
    assert service.wait(job)["retries"] is None


def test_a_single_job_may_be_retried_but_has_nothing_to_continue(service, name):
    body = {"jobName": f"{name}.flaky-1", "type": "anarci", "settings": SETTINGS, "foldnote": {"retries": 1}}
    assert service.client.post("/submit-job", json=body).status_code == 200
    assert service.wait(f"{name}.flaky-1")["status"] == "Complete"
    answer = service.client.post("/submit-job", json=body | {"foldnote": {"onFailure": "stop"}})
    assert (answer.status_code, answer.json()["field"]) == (400, "foldnote.onFailure")


@pytest.mark.parametrize(
    "policy", [{"retries": -1}, {"retries": 11}, {"retries": True}, {"onFailure": "ask"}]
)
def test_a_wrong_policy_is_refused(service, name, policy):
    assert submit(service, name, [f"{name}a"], **policy).status_code == 400
