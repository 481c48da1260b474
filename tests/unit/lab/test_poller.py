"""One poller serves all pages, and polls only while one of them is visible."""

import asyncio
import dataclasses
import itertools
import json
from collections.abc import Callable

from lab_fixtures import PACE

from foldnote import settings
from foldnote.lab.connection import ProfileConnection
from foldnote.lab.pacing import PollingPace, RequestBudget
from foldnote.lab.poller import JobPoller
from foldnote.lab.responses import ServiceState


def _poller(service, **pace) -> JobPoller:
    return JobPoller(ProfileConnection(None, service.connect), dataclasses.replace(PACE, **pace))


async def _settle(poller: JobPoller, state: ServiceState) -> None:
    async with asyncio.timeout(120):
        while f'"state":"{state}"'.encode() not in poller.read().body:
            await asyncio.sleep(0.02)


async def _until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(120):
        while not condition():
            await asyncio.sleep(0.02)


async def test_no_request_is_sent_before_a_page_asks(service, poller):
    await asyncio.sleep(0.2)
    assert service.requests == 0
    assert not poller.is_running


async def test_many_looks_are_one_question(service):
    poller = _poller(service, idle_wait_s=20.0)
    for _ in range(50):
        poller.read()
    await _settle(poller, ServiceState.OK)
    await _until(lambda: service.requests >= 2)
    await asyncio.sleep(0.2)
    assert service.requests == 2  # the second one waits for a change
    await poller.close()


async def test_polling_stops_without_viewers_and_starts_again(service):
    poller = _poller(service, attention_s=0.2)
    await _settle(poller, ServiceState.OK)
    async with asyncio.timeout(120):
        while poller.is_running:
            await asyncio.sleep(0.05)
    asked = service.requests
    await asyncio.sleep(0.3)
    assert service.requests == asked
    poller.read()
    assert poller.is_running
    await poller.close()


async def test_it_finds_a_service_that_was_restarted(service, poller):
    await _settle(poller, ServiceState.OK)
    before = len(service.connections)
    service.is_down = True
    await _settle(poller, ServiceState.UNREACHABLE)
    service.is_down = False
    await _settle(poller, ServiceState.OK)
    assert len(service.connections) > before


async def test_a_key_that_is_refused_is_reported_although_its_profile_was_removed(service):
    settings.save_profile("other", "https://other.example.org")
    service.hosted_key = "wrong"
    poller = JobPoller(connection := ProfileConnection("other", service.connect), PACE)
    await connection.open()
    settings.remove_profile("other")
    await poller.poll_once()
    assert b'"state":"unauthorized"' in poller.read().body
    await poller.close()


async def test_it_asks_less_often_after_failures(service):
    service.is_down = True
    poller = _poller(service, max_s=0.4, timeout_s=0.2)
    pauses = []
    for _ in range(5):
        await poller.poll_once()
        pauses.append(poller.pause_s())
    assert pauses == [0.05, 0.1, 0.2, 0.4, 0.4]
    await poller.close()


async def test_closing_ends_the_task(service, poller):
    await _settle(poller, ServiceState.OK)
    await poller.close()
    assert not poller.is_running


async def test_closing_ends_all_waiting_and_nothing_is_asked_again(service):
    poller = _poller(service)
    await _settle(poller, ServiceState.OK)
    waiting = asyncio.ensure_future(poller.read_when_changed(poller.read().tag, 600))
    await asyncio.sleep(0)
    await poller.close()
    await asyncio.wait_for(waiting, 30)
    assert not poller.is_running


async def test_the_first_report_names_the_configured_service(service):
    settings.save_profile("lab", "https://jobs.example.org")
    poller = JobPoller(ProfileConnection("lab", service.connect))
    report = json.loads(poller.read().body)["service"]
    assert (report["profile"], report["isEmbedded"]) == ("lab", False)
    await poller.close()


async def test_a_change_is_heard_at_once_with_one_question_under_way(service):
    poller = _poller(service, idle_wait_s=20.0, busy_wait_s=20.0)
    await _settle(poller, ServiceState.OK)
    tag, asked = poller.read().tag, service.requests
    async with service.client() as client:
        tool = await client.tools.get("anarci")
        await client.jobs.submit(tool, tool.example_job["settings"], job_name="new")
        answer = await asyncio.wait_for(poller.read_when_changed(tag, 20), 5)
    assert b'"new"' in answer.body
    assert service.requests - asked <= 3
    await poller.close()


def test_the_allowance_lets_single_questions_pass_and_spreads_a_storm():
    now = [0.0]
    allowance = RequestBudget(PollingPace(), lambda: now[0])
    asked = 0
    while now[0] < 60:
        now[0] += allowance.pause_s() + 0.001
        allowance.take()
        asked += 1
    assert asked <= 13


def test_questions_for_progress_alone_are_short_only_while_the_allowance_is_full():
    now = [0.0]
    allowance = RequestBudget(PollingPace(), lambda: now[0])
    assert allowance.is_full
    for _ in range(2):
        allowance.take()
    assert not allowance.is_full
    now[0] += 60.0
    assert allowance.is_full


async def test_a_hurried_question_waits_for_nothing(service):
    poller = _poller(service, idle_wait_s=20.0)
    await _settle(poller, ServiceState.OK)
    await _until(lambda: "waitSeconds" in service.paths[-1])
    asked = len(service.paths)
    poller.poll_now()
    async with asyncio.timeout(15):  # less than the duration of the long poll
        while len(service.paths) == asked:
            await asyncio.sleep(0.02)
    assert "waitSeconds" not in service.paths[asked]
    await poller.close()


async def test_a_deployment_that_refuses_unknown_parameters_is_queried_without_them(service):
    service.is_strict = True
    poller = _poller(service)
    await _settle(poller, ServiceState.OK)
    assert "since" not in service.paths[-1]
    await poller.close()


async def test_a_wished_pause_keeps_two_questions_apart(poller):
    poller.read(pause_s=120)
    await _settle_wish(poller, lambda pause_s: pause_s == 120)
    poller.read()
    assert poller.pause_s() < 120


async def test_a_wished_pause_is_kept_at_the_service(service, poller):
    poller.read(pause_s=0.4)
    await _settle(poller, ServiceState.OK)
    poller.read(pause_s=0.4)
    asked = service.requests + 1  # one may have been under way before the request
    async with asyncio.timeout(60):
        while service.requests < asked + 3:
            poller.read(pause_s=0.4)
            await asyncio.sleep(0.02)
    gaps = [b - a for a, b in itertools.pairwise(service.times[asked:])]
    assert min(gaps) >= 0.4


async def _settle_wish(poller: JobPoller, holds: Callable[[float], bool]) -> None:
    async with asyncio.timeout(120):
        while not holds(poller.pause_s()):
            poller.read(pause_s=120)
            await asyncio.sleep(0.02)
