"""GET /jobs: pages contain every job once, newest first, with counts of all matches."""

import itertools
from pathlib import Path

import pytest
from chosen_store import store_place
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from service_process import SETTINGS
from starlette.testclient import TestClient

from foldnote.service.config import ServiceConfig
from foldnote.service.http.app import create_app
from foldnote.service.store.jobs.insertion import NewJob

_numbers = itertools.count()


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    """Return a client of a service in this process whose jobs stay in the queue."""
    folder = tmp_path_factory.mktemp("listing")
    config = ServiceConfig(folder, rate_limit=False, has_dispatcher=False, store=store_place(folder))
    with TestClient(create_app(config)) as client:
        yield client


@pytest.fixture(scope="module")
def store(client):
    return client.app.state.service.store


def new_account(client):
    """Return headers and row of an account without jobs."""
    service = client.app.state.service
    email = f"user{next(_numbers)}@lab.example"
    key = service.issue_key(email)
    return {"x-api-key": key}, service.store.accounts.ensure_account(email)


def job(name):
    return NewJob(name, "anarci", SETTINGS, SETTINGS)


def read_all(client, headers, **params):
    """Read every page, following the continuation keys."""
    pages = [client.get("/jobs", headers=headers, params=params).json()]
    while "startKey" in pages[-1]:
        more = params | {"startKey": pages[-1]["startKey"]}
        pages.append(client.get("/jobs", headers=headers, params=more).json())
    return pages


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(count=st.integers(0, 12), limit=st.integers(1, 14), stopped=st.sets(st.integers(0, 11)))
def test_pages_have_every_job_once(client, store, count, limit, stopped):
    headers, account = new_account(client)
    for number in range(count):
        store.jobs.add(account, job(f"j{number}"))
    for number in stopped & set(range(count)):
        store.jobs.stop(account, f"j{number}")
    pages = read_all(client, headers, limit=limit)
    names = [each["jobName"] for page in pages for each in page["jobs"]]
    assert names == [f"j{number}" for number in reversed(range(count))]
    assert all(len(page["jobs"]) == limit for page in pages[:-1])
    expected = {"In Queue": count - len(stopped & set(range(count))), "Running": 0, "Complete": 0}
    assert all(page["statuses"] == expected | {"Stopped": count - expected["In Queue"]} for page in pages)


def test_a_job_that_comes_between_pages_disturbs_nothing(client, store):
    headers, account = new_account(client)
    for number in range(4):
        store.jobs.add(account, job(f"j{number}"))
    first = client.get("/jobs", headers=headers, params={"limit": 2}).json()
    store.jobs.add(account, job("new"))
    store.jobs.delete(account, "j2")
    second = client.get("/jobs", headers=headers, params={"limit": 2, "startKey": first["startKey"]}).json()
    assert [each["jobName"] for each in second["jobs"]] == ["j1", "j0"]
    assert "startKey" not in second


def test_a_continuation_key_is_good_for_its_account_only(client, store):
    headers, account = new_account(client)
    for number in range(2):
        store.jobs.add(account, job(f"j{number}"))
    key = client.get("/jobs", headers=headers, params={"limit": 1}).json()["startKey"]
    stranger, _ = new_account(client)
    altered = key[:-1] + ("A" if key[-1] == "-" else "-")
    for changed, who in ((key, stranger), (altered, headers), ("A" + key[1:] + "=", headers)):
        answer = client.get("/jobs", headers=who, params={"startKey": changed})
        assert (answer.status_code, answer.json()["code"]) == (400, "invalid_start_key")


def test_subjobs_are_listed_on_demand(client, store):
    headers, account = new_account(client)
    store.jobs.add(account, job("single"))
    store.jobs.add_batch(account, job("many"), [job("m1"), job("m2")])
    top = client.get("/jobs", headers=headers).json()
    assert [each["jobName"] for each in top["jobs"]] == ["many", "single"]
    assert top["statuses"]["In Queue"] == 2
    everything = client.get("/jobs", headers=headers, params={"includeSubjobs": "true"}).json()
    assert [each["jobName"] for each in everything["jobs"]] == ["m2", "m1", "many", "single"]
    assert everything["statuses"]["In Queue"] == 4
    children = client.get("/jobs", headers=headers, params={"batch": "many"}).json()
    assert [(each["jobName"], each["batch"]) for each in children["jobs"]] == [("m2", "many"), ("m1", "many")]
    assert children["statuses"]["In Queue"] == 2


def test_a_parent_tells_of_its_subjobs(client, store):
    headers, account = new_account(client)
    store.jobs.add_batch(account, job("many"), [job("m1"), job("m2")])
    store.jobs.stop(account, "m1")
    parent = client.get("/jobs", headers=headers, params={"jobName": "many"}).json()
    assert (parent["type"], parent["tool"], parent["batchSize"]) == ("batch", "anarci", 2)
    assert parent["statuses"] == {"In Queue": 1, "Running": 0, "Complete": 0, "Stopped": 1}
    assert "resultUrl" not in parent


def test_stopping_and_deleting_a_parent_acts_on_all(client, store):
    headers, account = new_account(client)
    store.jobs.add_batch(account, job("many"), [job("m1"), job("m2")])
    assert client.post("/stop-job", headers=headers, json={"jobName": "many"}).status_code == 200
    states = [
        client.get("/jobs", headers=headers, params={"jobName": n}).json()["status"]
        for n in ("many", "m1", "m2")
    ]
    assert states == ["Stopped"] * 3
    assert (
        client.request("DELETE", "/delete-job", headers=headers, json={"jobName": "many"}).status_code == 200
    )
    assert (
        client.get("/jobs", headers=headers, params={"includeSubjobs": "true"}).json()["statuses"]["Stopped"]
        == 0
    )


def test_an_unknown_batch_has_no_subjobs(client, store):
    headers, account = new_account(client)
    store.jobs.add(account, job("single"))
    for name in ("single", "nothing"):
        assert client.get("/jobs", headers=headers, params={"batch": name}).json()["jobs"] == []


def test_a_foreign_job_is_as_if_it_were_not(client, store):
    _, account = new_account(client)
    store.jobs.add(account, job("private"))
    headers, _ = new_account(client)
    for name in ("private", "never"):
        answers = [
            client.get("/jobs", headers=headers, params={"jobName": name}),
            client.get(f"/jobs/{name}/log", headers=headers),
            client.post("/result", headers=headers, json={"jobName": name}),
            client.post("/stop-job", headers=headers, json={"jobName": name}),
            client.request("DELETE", "/delete-job", headers=headers, json={"jobName": name}),
        ]
        assert [answer.status_code for answer in answers] == [404, 404, 404, 400, 400]
        assert {answer.json()["code"] for answer in answers} == {"job_not_found"}


def test_a_stranger_has_no_jobs(client, store):
    headers, _ = new_account(client)
    answer = client.get("/jobs", headers=headers, params={"jobEmail": "local@foldnote.invalid"})
    assert answer.json()["jobs"] == []
    own = client.get("/jobs", headers=headers, params={"organization": "true"})
    assert own.status_code == 200


def test_a_foreign_link_needs_no_key_but_its_owner(client, tmp_path: Path):
    headers, _ = new_account(client)
    link = client.put("/upload/x.pdb", headers=headers, content=b"x").json()["signedUrl"]
    assert client.get(link).content == b"x"
    assert client.get("/files", headers=new_account(client)[0]).json()["total"] == 0
