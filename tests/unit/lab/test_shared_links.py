"""Colleagues' links opened by the server extension: rows of a batch, restored tabs, and expired links."""

import asyncio
import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from lab_fixtures import TOKEN

from foldnote.service.store import clock

VH = "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVARIYPTNGYTRYADSVKGRFTISADTSKNTAYLQMNSLRAEDTAVYYCSRWGGDGFYAMDYWGQGTLVTVSS"
LOGIN = {"Authorization": f"token {TOKEN}"}


@pytest.fixture
async def make_link(service):
    """Return a function that creates a link to a new batch of two finished jobs."""
    async with service.client() as client:

        async def make(name, days=1.0, jobs=("one", "two")):
            tool = await client.tools.get("anarci")
            rows, names = [tool.example_job["settings"]] * len(jobs), [f"{name}-{each}" for each in jobs]
            batch = await client.batches.submit(tool, rows, name, names, again=True)
            await batch.wait()
            return await client.shares.make(name, days)

        yield make


async def ask(jupyter, body, path="shared"):
    return await jupyter.post(path, headers=LOGIN, content=json.dumps(body))


async def openings(service, name):
    async with service.client() as client:
        (listed,) = await client.shares.list(name)
        return listed.opened


async def test_a_row_of_a_shared_batch_is_answered_with_the_result_of_its_job(jupyter, make_link, service):
    link = await make_link("cats")
    whole = (await ask(jupyter, {"url": link.url})).json()
    assert (whole["job"]["jobName"], whole["result"]["title"]) == ("cats", "cats")
    row = await ask(jupyter, {"url": link.url, "row": "cats-two"})
    assert (row.status_code, row.json()["title"]) == (200, "cats-two")
    assert {each["name"] for each in row.json()["files"]} >= {"manifest.json", "job.log"}
    assert await openings(service, "cats") == 1


async def test_a_damaged_copy_of_a_shared_result_is_fetched_again(jupyter, make_link):
    link = await make_link("cats")
    assert (await ask(jupyter, {"url": link.url})).status_code == 200
    (archive,) = (path for path in Path(os.environ["FOLDNOTE_HOME"]).rglob("cats*.zip"))
    for path, more in (("shared", {"row": "cats-two"}), ("shared/result", {"file": "results.csv"})):
        archive.write_bytes(b"PK" * (archive.stat().st_size // 2))
        assert (await ask(jupyter, {"url": link.url, **more}, path)).status_code == 200


async def test_a_shared_batch_tells_which_settings_its_jobs_share_and_which_differ(jupyter, service):
    async with service.client() as client:
        tool = await client.tools.get("anarci")
        rows = [{"sequence": VH[place:], "scheme": "kabat"} for place in (0, 1, 1)]
        batch = await client.batches.submit(tool, rows, "cats", ["a", "b", "c"], again=True)
        await batch.wait()
        link = await client.shares.make("cats")
    whole = (await ask(jupyter, {"url": link.url})).json()
    assert json.loads(whole["result"]["settings"]) == {
        "sameInAllRows": {"scheme": "kabat"},
        "differentByRow": {"sequence": "2 values in 3 rows, in the table of the result"},
    }


async def test_a_row_is_answered_by_a_server_that_has_not_opened_the_link_before(jupyter, make_link):
    link = await make_link("cats")
    row = await ask(jupyter, {"url": link.url, "row": "cats-one"})
    assert (row.status_code, row.json()["title"]) == (200, "cats-one")


async def test_a_link_to_a_batch_opens_no_other_job(jupyter, make_link):
    link = await make_link("cats")
    await make_link("dogs")
    ways = ("cats-one/../../dogs-one", "..", "cats-one\0", "\ud800", "x" * 300_000, "results.csv")
    for row in ("dogs-one", "dogs", "cats", *ways):
        answer = await ask(jupyter, {"url": link.url, "row": row})
        assert answer.status_code == 404, row
        assert answer.json()["error"].startswith("The shared batch 'cats' has no result of ")
        assert len(answer.json()["error"]) < 500


async def test_a_row_that_is_not_a_name_is_refused(jupyter, make_link):
    link = await make_link("cats")
    for row in ("", None, 3, ["cats-one"]):
        assert (await ask(jupyter, {"url": link.url, "row": row})).status_code == 400


async def test_a_link_to_one_job_of_a_batch_opens_neither_the_batch_nor_its_other_jobs(
    jupyter, make_link, service
):
    await make_link("cats")
    async with service.client() as client:
        single = await client.shares.make("cats-one")
    whole = (await ask(jupyter, {"url": single.url})).json()
    assert whole["job"]["jobName"] == "cats-one"
    for row in ("cats-two", "cats-one"):
        assert (await ask(jupyter, {"url": single.url, "row": row})).status_code == 404


@pytest.mark.parametrize("end", ["revoked", "expired", "deleted"])
async def test_a_link_that_has_ended_opens_no_row_no_file_and_no_tab(
    jupyter, make_link, service, end, monkeypatch
):
    link = await make_link("cats")
    opened = (await ask(jupyter, {"url": link.url})).json()
    assert (await ask(jupyter, {"url": link.url, "row": "cats-two"})).status_code == 200
    async with service.client() as client:
        if end == "revoked":
            await client.shares.revoke(link)
        elif end == "deleted":
            await client.jobs.delete("cats")
        else:
            later = clock.stamp(datetime.now(UTC) + timedelta(days=1, seconds=1))
            monkeypatch.setattr(clock, "now", lambda: later)
    async with asyncio.timeout(60):
        while (await ask(jupyter, {"url": link.url, "row": "none"})).json()["error"].startswith("The shared"):
            await asyncio.sleep(0.5)
    asked = [
        {"url": link.url},
        {"url": link.url, "row": "cats-two"},
        {"mark": opened["mark"]},
        {"mark": opened["mark"], "row": "cats-two"},
    ]
    answers = [await ask(jupyter, body) for body in asked]
    answers += [await ask(jupyter, {"url": link.url, "file": "results.csv"}, "shared/result")]
    assert [each.status_code for each in answers] == [404] * 5
    assert all(each.json()["error"].startswith("There is nothing to open by this link") for each in answers)


async def test_a_tab_is_restored_by_a_mark_that_is_not_a_link_and_not_counted_as_opened(
    jupyter, make_link, service
):
    link = await make_link("cats")
    first = (await ask(jupyter, {"url": link.url})).json()
    assert link.url.partition("#")[2] not in first["mark"]
    again = await ask(jupyter, {"mark": first["mark"]})
    assert again.json() == first
    assert (await ask(jupyter, {"url": link.url})).json()["mark"] == first["mark"]
    assert await openings(service, "cats") == 2


async def test_a_mark_of_another_server_asks_to_open_the_link_again(jupyter):
    answer = await ask(jupyter, {"mark": "of-a-server-before"})
    assert answer.status_code == 404
    assert answer.json()["error"] == (
        "The Jupyter server keeps links to shared jobs in its memory only, and does not have this one any more:"
        " open the link again."
    )
