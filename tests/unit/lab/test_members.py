"""Jobs of other members of the organization are read and fetched through the server extension, never changed."""

import httpx
import pytest
from lab_fixtures import TOKEN, URL

from foldnote.client import AsyncClient
from foldnote.service.domain.access.keys import hash_key

LOGIN = {"Authorization": f"token {TOKEN}"}
MEMBER, STRANGER = "bob@lab.org", "eve@example.org"
JOB = "theirs.structure"


@pytest.fixture
async def theirs(service):
    """Create a complete job of another member, one of a stranger with the same name, and none of the account's own."""
    store = service.app.state.service.store
    store.organizations.add("lab")
    for address in (MEMBER, service.app.state.service.config.email):
        store.accounts.ensure_account(address)
        assert store.organizations.add_member("lab", address)
    for address, scheme in ((MEMBER, "kabat"), (STRANGER, "imgt")):
        store.accounts.add_key(store.accounts.ensure_account(address), hash_key(f"key-of-{address}"))
        http = httpx.AsyncClient(transport=httpx.ASGITransport(service.app), base_url=URL)
        async with AsyncClient(base_url=URL, api_key=f"key-of-{address}", http_client=http) as client:
            tool = await client.tools.get("anarci")
            settings = tool.example_job["settings"] | {"scheme": scheme}
            await client.jobs.submit(tool, settings, job_name=JOB)
            await client.jobs.wait([JOB], 60)


def theirs_client(service):
    """Return a client of the other member that bypasses Jupyter."""
    http = httpx.AsyncClient(transport=httpx.ASGITransport(service.app), base_url=URL)
    return AsyncClient(base_url=URL, api_key=f"key-of-{MEMBER}", http_client=http)


def ask(jupyter, what, member, method="GET"):
    return jupyter.request(method, f"jobs/{JOB}/{what}", params={"member": member}, headers=LOGIN)


async def test_a_members_result_is_laid_out_and_saved(jupyter, theirs):
    listed = (await jupyter.get("jobs/members", headers=LOGIN)).json()["jobs"]
    assert [(job["jobName"], job["email"]) for job in listed] == [(JOB, MEMBER)]
    laid_out = await ask(jupyter, "view", MEMBER)
    assert "model.pdb" in [file["name"] for file in laid_out.json()["files"]]
    told = await ask(jupyter, "result", MEMBER, "POST")
    saved = await ask(jupyter, "result", MEMBER)
    assert saved.content[:2] == b"PK"
    assert told.json() == {"sizeBytes": len(saved.content)}


async def test_a_members_settings_are_read(jupyter, theirs):
    answer = await ask(jupyter, "settings", MEMBER)
    assert '"scheme": "kabat"' in answer.json()["settings"]


async def test_a_strangers_job_is_refused_in_a_sentence(jupyter, theirs):
    for what in ("view", "result", "settings"):
        answer = await ask(jupyter, what, STRANGER)
        assert answer.status_code == 404, what
        assert JOB in answer.json()["error"], what
        assert (await jupyter.get(f"jobs/{JOB}/{what}", headers=LOGIN)).status_code == 404, what


async def test_results_of_two_owners_of_one_name_are_kept_apart(jupyter, service, theirs):
    async with service.client() as client:
        tool = await client.tools.get("anarci")
        await client.jobs.submit(tool, tool.example_job["settings"], job_name=JOB)
        await client.jobs.wait([JOB], 60)
        mine, of_bob = await client.jobs.download(JOB), await client.jobs.download(JOB, job_email=MEMBER)
    assert mine != of_bob
    assert mine.name == of_bob.name == f"{JOB}.zip"


async def test_a_members_batch_is_unfolded_and_an_own_one_of_that_name_is_not_taken_for_it(
    jupyter, service, theirs
):
    async with theirs_client(service) as bob, service.client() as own:
        for client, rows in ((bob, 2), (own, 1)):
            tool = await client.tools.get("anarci")
            names = [f"row-{row}-of-{rows}" for row in range(rows)]
            settings = [tool.example_job["settings"]] * rows
            await client.batches.submit(tool, settings, "screen", names)
    for member, names in ((MEMBER, {"row-0-of-2", "row-1-of-2"}), (None, {"row-0-of-1"}), (STRANGER, set())):
        answer = await jupyter.get("jobs/screen/subjobs", params={"member": member or ""}, headers=LOGIN)
        assert {job["jobName"] for job in answer.json()["jobs"]} == names


async def test_an_unlisted_job_is_looked_up_or_reported_missing(jupyter, theirs):
    for member, is_known in ((STRANGER, False), ("", False), (MEMBER, True)):
        answer = await ask(jupyter, "record", member)
        assert answer.status_code == 200, member
        assert (answer.json()["job"] is not None) is is_known, member


async def test_a_job_of_a_removed_profile_is_not_reported_missing(jupyter, theirs):
    for profile, word in (("gone", "There is no profile 'gone'"), ("environment", "FOLDNOTE_BASE_URL")):
        answer = await jupyter.get(f"jobs/{JOB}/record", params={"profile": profile}, headers=LOGIN)
        assert answer.status_code == 404
        assert word in answer.json()["error"]


async def test_a_job_is_not_reported_missing_if_the_service_does_not_respond(jupyter, service, theirs):
    assert (await ask(jupyter, "record", MEMBER)).json()["job"]["jobName"] == JOB
    service.is_down = True
    assert (await ask(jupyter, "record", MEMBER)).status_code == 503
