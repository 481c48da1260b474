"""The routes of the server extension over HTTP, with a real job service."""

import asyncio
from itertools import product
from urllib.parse import quote

import pytest
from lab_fixtures import TOKEN, wait_for_state

from foldnote.service.domain.access.keys import hash_key

FORM = {"heavyChain": "EVQLVESGG", "lightChain": "DIQMTQSPS"}
LOGIN = {"Authorization": f"token {TOKEN}"}


@pytest.fixture
async def submitted(service):
    """Submit a job to the service and return its name."""
    async with service.client() as client:
        tool = await client.tools.get("anarci")
        handle = await client.jobs.submit(tool, tool.example_job["settings"], job_name="numbering")
        return handle.job_name


async def test_a_cookie_alone_does_not_let_a_stranger_stop_a_job(jupyter):
    await jupyter.get("jobs", headers=LOGIN)
    assert (await jupyter.get("jobs")).status_code == 200  # the login cookie is enough for reading
    answer = await jupyter.post("jobs/stop", json={"names": ["any"]})
    assert answer.status_code == 403


async def test_the_first_look_is_answered_at_once(jupyter):
    answer = await jupyter.get("jobs", headers=LOGIN)
    assert answer.json()["service"]["state"] == "starting"


async def test_jobs_of_the_service_appear(jupyter, submitted):
    body = await wait_for_state(jupyter, "ok")
    assert [job["jobName"] for job in body["jobs"]] == [submitted]
    assert sum(body["statuses"].values()) == 1


async def test_nothing_new_is_answered_with_304(jupyter, submitted, service):
    await wait_for_state(
        jupyter, "ok", until=lambda body: body["jobs"][0]["status"] in ("Complete", "Stopped")
    )
    first = await jupyter.get("jobs", headers=LOGIN)
    again = await jupyter.get("jobs", headers=LOGIN | {"If-None-Match": first.headers["ETag"]})
    assert again.status_code == 304
    assert again.content == b""


async def test_the_code_of_a_cell_is_answered_with_its_forms_and_a_reason_where_there_is_none(jupyter):
    await wait_for_state(jupyter, "ok")
    page = LOGIN | {"X-XSRFToken": jupyter.cookies.get("_xsrf", "")}
    code = 'fn.submit("anarci", sequence=f())\nfn.submit("ablang")'
    cells = (await jupyter.post("cells/forms", json={"code": code}, headers=page)).json()["cells"]
    assert [cell["label"] for cell in cells] == ["anarci, line 1", "ablang, line 2"]
    assert cells[0]["unread"] == ["sequence, which is computed"]
    refused = await jupyter.post("cells/forms", json={"code": "x = 1"}, headers=page)
    assert refused.status_code == 400
    assert refused.json()["error"].startswith("This cell submits no job")


async def test_a_body_that_is_not_an_object_is_refused_with_a_message(jupyter):
    routes = (
        "jobs/stop",
        "jobs/delete",
        "jobs/tag",
        "files/uploads",
        "files/contents",
        "shared",
        "cells/forms",
    )
    for route, body in product(routes, ("[1]", '"names"', "7", "{")):
        answer = await jupyter.post(route, headers=LOGIN, content=body)
        assert answer.status_code == 400, (route, body)
        assert "JSON" in answer.json()["message"], (route, body)


async def test_tools_come_without_their_schemas(jupyter):
    await wait_for_state(jupyter, "ok")
    body = (await jupyter.get("tools", headers=LOGIN)).json()
    anarci = next(tool for tool in body["tools"] if tool["type"] == "anarci")
    assert anarci["available"]
    assert anarci["engine"]["method"] == "Probe of the tests"
    assert "schema" not in anarci


@pytest.mark.parametrize("name", [".", "..", "a/b", "../jobs", "../../login"])
async def test_a_log_of_a_name_with_path_segments_is_refused(jupyter, service, name):
    await wait_for_state(jupyter, "ok")
    address = quote(name, safe="").replace(".", "%2E")
    answer = await jupyter.get(f"jobs/{address}/log", headers=LOGIN)
    assert answer.status_code in (400, 404)
    assert answer.json()["message"]
    asked = {path for path in (each.partition("?")[0] for each in service.paths) if path.endswith("/log")}
    assert asked <= {f"/jobs/{quote(name, safe='')}/log"}


async def test_a_log_is_handed_through(jupyter, submitted):
    answer = await jupyter.get(f"jobs/{submitted}/log", headers=LOGIN)
    assert answer.status_code == 200
    assert isinstance(answer.json()["log"], str)


async def test_a_job_is_stopped_and_deleted(jupyter, submitted, service):
    names = {"names": [submitted]}
    assert (await jupyter.post("jobs/stop", headers=LOGIN, json=names)).json() == {"faults": []}
    await wait_for_state(jupyter, "ok", until=lambda body: body["jobs"][0]["completed"] is not None)
    gone = (await jupyter.post("jobs/delete", headers=LOGIN, json=names)).json()
    assert gone == {"gone": [submitted], "faults": []}
    await wait_for_state(jupyter, "ok", until=lambda body: body["jobs"] == [])


async def test_an_unknown_job_is_refused_in_a_sentence(jupyter):
    answer = await jupyter.post("jobs/stop", headers=LOGIN, json={"names": ["no-such-job"]})
    assert "no-such-job" in answer.json()["faults"][0]


async def test_a_dead_service_delays_no_page(jupyter, service):
    service.is_down = True
    body = await wait_for_state(jupyter, "unreachable")
    assert body["service"]["error"]
    answer = await asyncio.wait_for(jupyter.get("jobs", headers=LOGIN), 1)
    assert answer.status_code == 200


async def test_jobs_stay_visible_while_the_service_is_gone(jupyter, submitted, service):
    await wait_for_state(jupyter, "ok")
    service.is_down = True
    body = await wait_for_state(jupyter, "unreachable")
    assert [job["jobName"] for job in body["jobs"]] == [submitted]
    assert body["service"]["lastGood"] is not None
    service.is_down = False
    await wait_for_state(jupyter, "ok")


@pytest.mark.parametrize("fault", ["wrong", "expired", "revoked"])
async def test_an_expired_key_is_reported_and_known_data_is_kept(jupyter, submitted, service, fault):
    await wait_for_state(jupyter, "ok")
    accounts = service.app.state.service.store.accounts
    service.offered_key = f"key-that-is-{fault}"
    owner, hashed = accounts.ensure_account(f"{fault}@lab.org"), hash_key(service.offered_key)
    if fault != "wrong":
        accounts.add_key(owner, hashed, expires="2026-01-01T00:00:00Z" if fault == "expired" else None)
    if fault == "revoked":
        assert accounts.revoke(sha256=hashed) == 1
    service.is_down = True  # the next connection sends the other key
    await wait_for_state(jupyter, "unreachable")
    service.is_down = False
    body = await wait_for_state(jupyter, "unauthorized")
    assert "Store a valid key" in body["service"]["error"]
    assert [job["jobName"] for job in body["jobs"]] == [submitted]


async def test_3dmol_is_served_below_the_prefix(jupyter):
    answer = await jupyter.get("static/3Dmol-min.js?v=2.5.5")
    assert answer.status_code == 200
    assert "3Dmol" in answer.text[:20000]
    assert (await jupyter.get("static/..%2f__init__.py")).status_code in (403, 404)
