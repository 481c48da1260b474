"""Tags, notebooks and undoable deletions: what pages get in addition to the service's data."""

import asyncio

import pytest
from lab_fixtures import TOKEN, wait_for_state

from foldnote.client.local.annotations import MAX_TAG_LENGTH, MAX_TAGS
from foldnote.client.local.ledger import Ledger
from foldnote.errors import ConfigurationError
from foldnote.lab.local_notes import EMPTY_NOTE, Notes
from foldnote.lab.pending_deletions import DeletionOutcome, PendingDeletions

LOGIN = {"Authorization": f"token {TOKEN}"}
LONG_S = 600


class Deletions:
    """Delete nothing and record the requests."""

    def __init__(self):
        self.deleted, self.told = [], []
        self.pending = PendingDeletions(self._delete, self.told.append)

    async def _delete(self, names):
        self.deleted += names
        return []


@pytest.fixture
async def deletions():
    made = Deletions()
    yield made
    await made.pending.close()


async def until(holds):
    async with asyncio.timeout(120):
        while not holds():
            await asyncio.sleep(0.01)


def test_tags_are_kept_for_each_service_and_read_by_another_server():
    notes = Notes()
    notes.change_tags(["a", "b"], ["lead  series", "x"], [])
    notes.change_tags(["b"], [], ["x"])
    other = Notes()
    other.reload()
    assert [other.find(name).tags for name in "abc"] == [("lead series", "x"), ("lead series",), ()]
    elsewhere = Notes("https://example.org")
    elsewhere.reload()
    assert elsewhere.find("a") == EMPTY_NOTE


@pytest.mark.parametrize("tags", [[" "], ["x" * (MAX_TAG_LENGTH + 1)], [str(n) for n in range(MAX_TAGS + 1)]])
def test_unreadable_tags_are_refused(tags):
    with pytest.raises(ConfigurationError):
        Notes().change_tags(["c"], tags, [])


def test_a_name_that_is_free_again_has_no_tags():
    notes = Notes()
    notes.change_tags(["gone"], ["x"], [])
    notes.forget(["gone", "never-there"])
    again = Notes()
    again.reload()
    assert again.find("gone") == EMPTY_NOTE


def test_the_notebook_of_a_submission_is_known(monkeypatch):
    monkeypatch.setenv("JPY_SESSION_NAME", "/home/me/screen.ipynb")
    Ledger().remember("identity", "from-a-notebook", "anarci")
    monkeypatch.delenv("JPY_SESSION_NAME")
    Ledger().remember("other", "from-a-script", "anarci")
    notes = Notes()
    notes.reload()
    assert notes.find("from-a-notebook").to_wire() == {"notebook": "/home/me/screen.ipynb"}
    assert notes.find("from-a-script") == EMPTY_NOTE


async def test_an_undone_deletion_never_happens_and_ends_its_waiting(deletions):
    leaving = asyncio.create_task(deletions.pending.schedule(["a", "b"], LONG_S))
    await until(lambda: deletions.told)
    assert deletions.pending.cancel(["a", "b", "c"]) == ["a", "b"]
    assert await asyncio.wait_for(leaving, 30) == DeletionOutcome(())
    assert (deletions.deleted, deletions.told[-1]) == ([], frozenset())


async def test_only_what_was_not_undone_is_deleted(deletions):
    leaving = asyncio.create_task(deletions.pending.schedule(["a", "b"], LONG_S))
    await until(lambda: deletions.told)
    deletions.pending.cancel(["a"])
    assert deletions.told[-1] == {"b"}
    await deletions.pending.schedule(["a"], 0)
    assert deletions.deleted == ["a"]
    leaving.cancel()


async def test_a_confirmed_deletion_happens_though_its_page_is_closed(deletions):
    leaving = asyncio.create_task(deletions.pending.schedule(["a"], 0.05))
    await until(lambda: deletions.told)
    leaving.cancel()
    await until(lambda: deletions.deleted)
    assert deletions.deleted == ["a"]


async def test_a_server_that_ends_deletes_nothing(deletions):
    leaving = asyncio.create_task(deletions.pending.schedule(["a"], LONG_S))
    await until(lambda: deletions.told)
    await deletions.pending.close()
    assert (await leaving).gone == ()
    assert deletions.deleted == []


async def test_every_page_learns_of_tags_and_pending_deletions(jupyter, service):
    async with service.client() as client:
        tool = await client.tools.get("anarci")
        await client.jobs.submit(tool, tool.example_job["settings"], job_name="told")
    await wait_for_state(jupyter, "ok", until=lambda body: body["jobs"])
    wish = {"names": ["told"], "added": ["panel"], "removed": []}
    assert (await jupyter.post("jobs/tag", headers=LOGIN, json=wish)).status_code == 200
    body = await wait_for_state(jupyter, "ok")
    assert body["jobs"][0]["tags"] == ["panel"]
    going = asyncio.create_task(
        jupyter.post("jobs/delete", headers=LOGIN, json={"names": ["told"], "delayS": LONG_S}, timeout=60)
    )
    await wait_for_state(jupyter, "ok", until=lambda body: body["jobs"][0].get("isLeaving"))
    kept = await jupyter.post("jobs/keep", headers=LOGIN, json={"names": ["told"]})
    assert kept.json() == {"kept": ["told"]}
    assert (await going).json() == {"gone": [], "faults": []}
    await wait_for_state(jupyter, "ok", until=lambda body: not body["jobs"][0].get("isLeaving"))


async def test_the_organizations_jobs_are_reported_without_our_notes(jupyter, service):
    async with service.client() as client:
        tool = await client.tools.get("anarci")
        await client.jobs.submit(tool, tool.example_job["settings"], job_name="ours")
    wish = {"names": ["ours"], "added": ["private"], "removed": []}
    await jupyter.post("jobs/tag", headers=LOGIN, json=wish)
    answer = await jupyter.get("jobs/members", headers=LOGIN)
    [job] = answer.json()["jobs"]
    assert (job["jobName"], "tags" in job) == ("ours", False)
    assert job["email"]
    assert [path for path in service.paths if "organization=true" in path]


async def test_a_delay_that_is_none_is_refused(jupyter):
    for delay in (-1, "soon"):
        body = {"names": ["a"], "delayS": delay}
        answer = await jupyter.post("jobs/delete", headers=LOGIN, json=body)
        assert answer.status_code == 400, delay
        assert "delayS" in answer.json()["error"], delay
