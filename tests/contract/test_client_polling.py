"""A kernel full of cards, batches and pipelines polls the service no more often than for one job."""

import asyncio
from time import monotonic

import httpx
import pandas as pd
import pytest
from ipywidgets import Widget
from job_settings import SETTINGS
from pydantic import SecretStr

from foldnote.cell_outputs import ResultSlot
from foldnote.client import Client
from foldnote.client.core.connection import Address, ServiceConnection
from foldnote.client.core.transport import AsyncHttpTransport
from foldnote.client.inputs.batch_table import expand_rows
from foldnote.client.resources.jobs import AsyncJobs
from foldnote.client.watching.poller import AccountPoller
from foldnote.kernel import WIDGET_VIEW
from foldnote.settings import Profile
from foldnote.viewers import JobCard
from foldnote.viewers.card import watch
from foldnote.viewers.card.batch_card import BatchCard

# Faster, the requests of a busy machine would take simulated minutes.
SPEED = 10


class Simulated:
    """A clock that runs `SPEED` times as fast."""

    def __init__(self) -> None:
        self.began = monotonic()

    def __call__(self) -> float:
        return SPEED * (monotonic() - self.began)


@pytest.fixture
async def counted(http, key, monkeypatch):
    """Return an async client of the real service with a fast clock, and its requests."""
    asked = []

    async def count(request):
        asked.append((clock(), request.url))

    clock = Simulated()
    for name in ("FASTEST_S", "SLOWEST_S", "OUTAGE_S"):
        monkeypatch.setattr(watch, name, getattr(watch, name) / SPEED)
    connection = ServiceConnection(
        Profile("p", "http://testserver"), Address("http://testserver", SecretStr(key))
    )
    connection.pollers[None] = AccountPoller(clock=clock)
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(http.app), event_hooks={"request": [count]}
    ) as pool:
        yield AsyncJobs(connection, AsyncHttpTransport(pool)), asked, clock


def submit_all(client: Client, name: str) -> list:
    jobs = [
        client.jobs.submit("anarci", SETTINGS, job_name=f"{name}-{n}.sleep-60", again=True) for n in range(20)
    ]
    rows = [dict(SETTINGS, sequence=SETTINGS["sequence"] + "S" * n) for n in range(20)]
    names = [f"{name}-row{n}.sleep-60" for n in range(20)]
    batch = client.batches.submit("anarci", rows, f"{name}-batch", names)
    return [*jobs, batch, *batch.subjobs()]


async def test_forty_cards_cost_twelve_requests_a_minute(counted, client, name):
    jobs, asked, clock = counted
    handles = await asyncio.to_thread(submit_all, client, name)
    cards = [JobCard(handle.record, jobs) for handle in handles if not handle.record.is_batch]
    batch = next(handle for handle in handles if handle.record.is_batch)
    cards.append(BatchCard(batch, jobs, ResultSlot(), profile="p", on_final=print))
    begin = clock()
    while clock() < begin + 90:
        await asyncio.sleep(0.05)
    late = [url for at, url in asked if at > begin + 12]
    for card in cards:
        card.close()
    for handle in handles:
        await asyncio.to_thread(handle.stop)
    assert 5 <= len(late) * 60 / 78 <= 13


async def test_the_card_of_a_batch_shows_each_job_and_ends_in_the_table(counted, client, name):
    jobs, _, _ = counted
    table = pd.DataFrame(
        {"id": [f"{name}-a.sleep-1", f"{name}-b.fail"], "VH": SETTINGS["sequence"], "kind": "x"}
    )
    rows = expand_rows(table, {"sequence": "VH"}, names="id")
    batch, slot = await asyncio.to_thread(client.batches.submit, "anarci", rows, name), ResultSlot()
    ended = []
    card = BatchCard(batch, jobs, slot, profile="p", on_final=ended.append)
    assert slot.bundle["text/plain"].startswith("2 jobs: ")
    live = slot.bundle[WIDGET_VIEW]["model_id"]
    assert live in Widget.get_manager_state()["state"]
    async with asyncio.timeout(120):
        while not ended:
            await asyncio.sleep(0.05)
    assert live not in Widget.get_manager_state()["state"]
    lines = slot.bundle["text/plain"].splitlines()
    assert lines[0].startswith("2 jobs: 1 complete, 1 failed")
    assert lines[1] == f"Same in all rows: kind x; sequence {SETTINGS['sequence']}."
    assert lines[2].split()[:3] == ["name", "state", "reason"]
    assert "1 of 2 jobs complete, 1 failed." in card.bundle()["text/html"]
    assert f"fn.batch({name!r}).retry()" in card.bundle()["text/plain"]


async def test_jobs_are_polled_by_their_names(api, settle, settings, name):
    job = await settle(api.jobs.submit("anarci", settings, job_name=f"{name}.sleep-30"))
    found = await settle(api.jobs.poll([job.job_name, "nobody"]))
    assert (found[job.job_name].job_name, found["nobody"]) == (job.job_name, None)
    await settle(job.stop())
    assert (await settle(api.jobs.poll([job.job_name], afresh=[job.job_name])))[job.job_name].is_final


async def test_a_closed_card_of_a_batch_follows_no_job_also_when_another_thread_closes_it(
    counted, client, name
):
    jobs, asked, clock = counted
    rows = [dict(SETTINGS, sequence=SETTINGS["sequence"] + "S" * n) for n in range(3)]
    names = [f"{name}-row{n}.sleep-60" for n in range(3)]
    batch = await asyncio.to_thread(client.batches.submit, "anarci", rows, name, names)
    card = BatchCard(batch, jobs, ResultSlot(), profile="p", on_final=print)
    await asyncio.sleep(0.3)
    await asyncio.to_thread(card.close)  # as a click does
    closed = clock()
    await asyncio.sleep(2)
    await asyncio.to_thread(batch.stop)
    assert [url for at, url in asked if at > closed + 6] == []
