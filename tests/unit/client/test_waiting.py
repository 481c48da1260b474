"""Waiting for jobs, with pauses recorded instead of slept."""

import math
from itertools import count

import pytest
from scripted_world import ScriptedWorld, says

from foldnote.client.core.connection import Address, ServiceConnection
from foldnote.client.core.operations import run
from foldnote.client.watching.waiting import WaitLimit, get_many, wait_all
from foldnote.errors import ArgumentError, NotFoundError, ServiceUnreachableError, WaitTimeoutError
from foldnote.settings import Profile

_numbers = count()  # the poller of an account is shared, and each test has its own account


def record(name: str, status: str = "Running", **more) -> dict:
    return {"jobName": name, "type": "anarci", "status": status} | more


def page(*jobs: dict, start_key: str | None = None) -> dict:
    return {"jobs": list(jobs), "statuses": {}} | ({"startKey": start_key} if start_key else {})


@pytest.fixture
def connection(monkeypatch) -> ServiceConnection:
    monkeypatch.setenv("FOLDNOTE_REQUESTS_PER_SECOND", "1e9")  # recorded pauses are those of waiting
    return ServiceConnection(Profile("p", "http://p"), Address(f"http://p{next(_numbers)}", None))


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_many_jobs_cost_one_request_a_look(connection):
    names = [f"j{number}" for number in range(20)]
    looks = [page(*(record(name) for name in names))] * 3 + [page(*(record(n, "Complete") for n in names))]
    transport = ScriptedWorld(*map(says, looks))
    assert run(wait_all(connection, names), transport).keys() == set(names)
    assert len(transport.calls) == 4


def test_twenty_jobs_of_an_hour_cost_few_requests_a_minute(connection):
    names = [f"j{number}" for number in range(20)]
    running = says(page(*(record(name) for name in names)))
    transport = ScriptedWorld(*[running] * 400, says(page(*(record(n, "Complete") for n in names))))
    run(wait_all(connection, names), transport)
    assert 400 / (sum(transport.pauses) / 60) < 12


def test_jobs_on_later_pages_are_found(connection):
    names = ["a", "b", "c", "d"]
    first = page(record("a"), record("x"), start_key="k")
    transport = ScriptedWorld(says(first), says(page(record("b"), record("c"), record("d"))))
    assert run(get_many(connection, names), transport).keys() == set(names)
    assert transport.calls[1].params["startKey"] == "k"


def test_the_last_few_are_requested_by_name(connection):
    transport = ScriptedWorld(says(page(record("a"), record("b"), start_key="k")), says(record("c")))
    run(get_many(connection, ["a", "b", "c"]), transport)
    assert transport.calls[1].params == {"jobName": "c"}


def test_a_list_that_leaves_jobs_out_does_not_hide_them(connection):
    transport = ScriptedWorld(says(page()), *(says(record(name)) for name in "abc"))
    assert run(get_many(connection, "abc"), transport).keys() == set("abc")


def test_a_job_that_is_gone_ends_the_waiting(connection):
    transport = ScriptedWorld(says(record("a")), says({"error": "no such job"}, 404))
    with pytest.raises(NotFoundError):
        run(wait_all(connection, ["a"]), transport)


def test_a_change_is_reported_once(connection):
    looks = [
        record("a", "In Queue"),
        record("a"),
        record("a"),
        record("a", progress=0.5),
        record("a", "Complete"),
    ]
    seen = []
    connection.supports_long_poll = False
    run(wait_all(connection, ["a"], on_change=seen.append), ScriptedWorld(*map(says, looks)))
    assert [(str(job.status), job.progress) for job in seen] == [
        ("In Queue", None), ("Running", None), ("Running", 0.5), ("Complete", None)
    ]  # fmt: skip


def test_a_batch_is_final_when_its_archive_is(connection):
    parent = {"jobName": "b", "type": "batch", "status": "Complete"}
    looks = [parent | {"batchStatus": "Aggregating"}, parent | {"batchStatus": "Complete"}]
    transport = ScriptedWorld(*map(says, looks))
    run(wait_all(connection, ["b"]), transport)
    assert len(transport.calls) == 2


def test_a_repeated_name_is_requested_once(connection):
    transport = ScriptedWorld(says(record("a", "Complete")))
    assert list(run(wait_all(connection, ["a", "a"]), transport)) == ["a"]


def test_a_service_that_never_answered_is_not_waited_for(connection):
    transport = ScriptedWorld(*[ServiceUnreachableError("gone", was_sent=False)] * 9)
    with pytest.raises(ServiceUnreachableError):
        run(wait_all(connection, ["a"]), transport)


def test_an_outage_is_borne_for_minutes_only():
    clock = Clock()
    limit = WaitLimit(None, clock)
    limit.note_response()
    clock.now = 299
    limit.tolerate(ServiceUnreachableError("gone"))
    clock.now = 301
    with pytest.raises(ServiceUnreachableError):
        limit.tolerate(ServiceUnreachableError("gone"))


def test_the_last_pause_ends_with_the_time():
    clock = Clock()
    limit = WaitLimit(5, clock)
    clock.now = 4
    assert limit.limit(3, None) == 1
    clock.now = 5
    with pytest.raises(WaitTimeoutError, match="5 s.*job continues"):
        limit.limit(3, None)


@pytest.mark.parametrize("timeout_s", [math.nan, "5", True])
def test_a_timeout_that_is_not_a_number_is_refused(timeout_s):
    with pytest.raises(ArgumentError, match=f"timeout_s is {timeout_s!r}; it must be a number of seconds"):
        WaitLimit(timeout_s)


def test_a_timeout_of_zero_polls_once(connection):
    transport = ScriptedWorld(says(record("a")))
    with pytest.raises(WaitTimeoutError, match="'a' is still Running") as caught:
        run(wait_all(connection, ["a"], timeout_s=0), transport)
    assert caught.value.job.job_name == "a"


def test_a_service_that_supports_long_polling_is_polled_without_sleeping(connection):
    names = [f"j{number}" for number in range(20)]
    running = page(*(record(name) for name in names))
    looks = [running | {"mark": "5"}, running | {"mark": "6"}, page(*(record(n, "Complete") for n in names))]
    transport = ScriptedWorld(*map(says, looks))
    run(wait_all(connection, names), transport)
    assert [call.params.get("since") for call in transport.calls] == ["", "5", "6"]
    assert [("waitSeconds" in call.params) for call in transport.calls] == [False, True, True]
    assert all(call.timeout_s > connection.timeout_s for call in transport.calls[1:])
    assert transport.pauses == []


def test_long_polling_is_tried_once_with_a_service_that_lacks_it(connection):
    names = [f"j{number}" for number in range(20)]
    running = page(*(record(name) for name in names))
    transport = ScriptedWorld(*map(says, [running, running, page(*(record(n, "Complete") for n in names))]))
    run(wait_all(connection, names), transport)
    assert ["since" in call.params for call in transport.calls] == [True, False, False]
    assert len(transport.pauses) == 2


def test_a_request_with_a_refused_parameter_is_repeated_without_it(connection):
    names = [f"j{number}" for number in range(20)]
    done = page(*(record(n, "Complete") for n in names))
    transport = ScriptedWorld(says({"error": "unknown parameter since"}, 400), says(done))
    run(wait_all(connection, names), transport)
    assert ["since" in call.params for call in transport.calls] == [True, False]
    assert connection.supports_long_poll is False


def test_one_job_is_held_once_it_takes_long(connection):
    running = says(record("a"))
    held = says(page(record("a", "Complete")) | {"mark": "7"})
    transport = ScriptedWorld(running, running, running, says(page(record("a")) | {"mark": "6"}), held)
    run(wait_all(connection, ["a"]), transport)
    assert [call.params.get("jobName") for call in transport.calls] == ["a", "a", "a", None, None]
    assert transport.calls[-1].params["since"] == "6"
