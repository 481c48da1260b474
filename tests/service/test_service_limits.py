"""Section 8 of the interface, line by line: every limit, its option, its status and its body."""

import argparse
import dataclasses
import time
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from service_process import PDB, SETTINGS

from foldnote.service.config import Limits, TrialTerms
from foldnote.service.options import LIMIT_OPTIONS, add_limit_arguments, read_limits

FREE_ENERGY = {
    "proteinPDB": PDB,
    "ligandsSDF": "benzene\n\n\n  0  0  0     0  0            999 V2000\nM  END\n$$$$\n",
}
LINK_S = 1
SMALL_LIMITS = (
    "--no-rate-limit", "--batch-rows", "3", "--validation-rows", "2", "--validation-bytes", "4000",
    "--upload-mb", "1", "--submission-mb", "1", "--small-body-mb", "1", "--page-rows", "2", "--file-rows", "2",
    "--inline-wait-s", "0", "--link-s", str(LINK_S), "--trial-jobs", "2", "--monthly-jobs", "1", "--trial-days", "3",
    "--provisions-per-source", "2", "--allowance-hours", "0.5",
)  # fmt: skip


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Start a service whose limits are all within reach of a test."""
    from service_process import ServiceProcess

    service = ServiceProcess(tmp_path_factory.mktemp("limits"), *SMALL_LIMITS).start()
    yield service
    service.end()


@pytest.fixture(scope="module")
def trials(small):
    """Return the responses to three provisionings; the limit per source is two keys."""
    return [httpx.post(f"{small.url}/agent/provision") for _ in range(3)]


def batch(name, rows):
    return {"batchName": name, "type": "anarci", "settings": [SETTINGS] * rows}


def refusal(answer):
    return answer.status_code, answer.json()["code"]


def test_every_limit_is_an_option_with_its_default_in_the_help():
    parser = argparse.ArgumentParser()
    add_limit_arguments(parser)
    fields = {each.name for kind in (Limits, TrialTerms) for each in dataclasses.fields(kind)}
    assert {row.field for row in LIMIT_OPTIONS} == fields - {"is_open"}
    text = " ".join(parser.format_help().split())
    assert all(f"--{row.flag} NUMBER" in text for row in LIMIT_OPTIONS)
    assert text.count("(default: ") == len(LIMIT_OPTIONS)


def test_without_options_the_limits_are_those_of_the_interface():
    parser = argparse.ArgumentParser()
    add_limit_arguments(parser)
    parser.set_defaults(no_provisioning=False)
    limits, terms = read_limits(parser.parse_args([]))
    assert (limits, terms) == (Limits(), TrialTerms())
    assert (limits.requests_per_second, limits.burst, limits.page_rows, limits.file_rows) == (
        10,
        10,
        1000,
        100,
    )
    assert (limits.validation_rows, limits.validation_bytes, limits.inline_wait_s) == (1000, 4_500_000, 290)
    assert (terms.jobs, terms.monthly_jobs, terms.days) == (10, 10, 30)


@pytest.mark.parametrize(
    "arguments", [["--burst", "0"], ["--requests-per-second", "nan"], ["--trial-days", "x"]]
)
def test_a_limit_that_is_none_is_refused(arguments):
    parser = argparse.ArgumentParser()
    add_limit_arguments(parser)
    with pytest.raises(SystemExit):
        parser.parse_args(arguments)


def test_requests_above_the_rate_of_a_key_are_429_and_say_when_to_come_back(make_service):
    service = make_service("--requests-per-second", "0.01", "--burst", "3")
    answers = [service.client.get("/tools") for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert refusal(answers[3]) == (429, "rate_limited")
    assert answers[3].json()["retryAfterSeconds"] == int(answers[3].headers["retry-after"])
    assert 1 <= answers[3].json()["retryAfterSeconds"] <= 100
    other = httpx.post(f"{service.url}/agent/provision").json()["apiKey"]
    assert httpx.get(f"{service.url}/tools", headers={"x-api-key": other}).status_code == 200


def test_a_batch_has_so_many_rows(small, name):
    assert small.client.post("/submit-batch", json=batch(name, 3)).status_code == 200
    answer = small.client.post("/submit-batch", json=batch(f"{name}b", 4))
    assert refusal(answer) == (400, "batch_size")
    assert answer.json()["field"] == "settings"


def test_a_validation_has_so_many_rows(small):
    asked = {"type": "anarci", "settings": [SETTINGS] * 3}
    answer = small.client.post("/validate-job", json=asked)
    assert answer.status_code == 200
    assert answer.json()["valid"] is False
    assert "results" not in answer.json()
    assert small.client.post("/validate-job", json=asked | {"settings": [SETTINGS] * 2}).json()["valid"]


def test_a_validation_above_the_size_is_413_without_a_body(small):
    answer = small.client.post("/validate-job", content=b" " * 4001)
    assert (answer.status_code, answer.content) == (413, b"")


@pytest.mark.parametrize(
    ("method", "path"),
    [("PUT", "/upload/x.bin"), ("POST", "/submit-job"), ("POST", "/submit-batch"), ("POST", "/stop-job")],
)
def test_a_body_above_the_size_is_413_and_names_the_limit(small, method, path):
    answer = small.client.request(method, path, content=b" " * (2**20 + 1))
    assert refusal(answer) == (413, "too_large")
    assert answer.json()["limitBytes"] == 2**20


def test_a_page_of_jobs_has_a_limited_number_of_rows_and_a_key_for_the_next_page(small, name):
    small.client.post("/submit-batch", json=batch(name, 3))
    first = small.client.get("/jobs", params={"batch": name}).json()
    assert len(first["jobs"]) == 2
    rest = small.client.get("/jobs", params={"batch": name, "startKey": first["startKey"]}).json()
    assert len(rest["jobs"]) == 1
    assert "startKey" not in rest


def test_a_page_of_files_has_so_many_rows(small):
    for number in range(3):
        small.client.put(f"/upload/f{number}.txt", content=b"x")
    page = small.client.get("/files", params={"limit": 100}).json()
    assert (len(page["files"]), page["hasMore"]) == (2, True)
    assert page["total"] >= 3


def test_a_link_works_so_long(small):
    before = time.time()
    signed = small.client.put("/upload/link.txt", content=b"x").json()["signedUrl"]
    after = time.time()
    expires = int(httpx.URL(signed).params["expires"])
    assert int(before) + LINK_S <= expires <= after + LINK_S + 1
    time.sleep(max(0.0, expires + 1.1 - time.time()))
    assert httpx.get(signed).status_code == 403


def test_a_source_is_given_so_many_trial_keys_an_hour(trials):
    assert [answer.status_code for answer in trials] == [201, 201, 429]
    assert refusal(trials[2]) == (429, "provisioning_capped")
    assert trials[2].json()["retryAfterSeconds"] > 3000


def test_a_trial_key_says_its_limits_and_lives_so_long(trials):
    credential = trials[0].json()
    assert (credential["limits"]["jobs"], credential["limits"]["expiresInDays"]) == (2, 3)
    left = datetime.fromisoformat(credential["expiresAt"]) - datetime.now(UTC)
    assert timedelta(days=2, hours=23) < left < timedelta(days=3, seconds=1)


def test_a_trial_key_has_so_many_jobs_and_a_claimed_one_so_many_a_month(small, trials):
    credential = trials[0].json()
    headers = {"x-api-key": credential["apiKey"]}

    def submit(name):
        body = {"jobName": name, "type": "anarci", "settings": SETTINGS}
        return httpx.post(f"{small.url}/submit-job", headers=headers, json=body, timeout=120)

    assert [submit(name).status_code for name in ("a", "b")] == [200, 200]
    refused = submit("c")
    assert refusal(refused) == (403, "job_limit_reached")
    assert (refused.json()["jobsAllowed"], refused.json()["jobsUsed"]) == (2, 2)
    assert httpx.post(credential["claimUrl"], json={"email": "person@lab.org"}).status_code == 200
    assert submit("d").status_code == 200
    assert (submit("e").status_code, submit("e").json()["jobsAllowed"]) == (403, 1)


def test_a_free_energy_run_above_the_allowance_is_403_with_both_figures(small, trials):
    headers = {"x-api-key": trials[1].json()["apiKey"]}
    body = {"jobName": "fe", "type": "abfe", "settings": FREE_ENERGY}
    answer = httpx.post(f"{small.url}/submit-job", headers=headers, json=body)
    assert refusal(answer) == (403, "allowance_exceeded")
    assert answer.json()["allowanceWeightedHours"] == 0.5
    assert answer.json()["estimatedWeightedHours"] > 0.5
