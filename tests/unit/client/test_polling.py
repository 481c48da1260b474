"""Polling of jobs from any number of followers: requests stay few, and every job's end is seen."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted_world import AtOnce
from simulated_account import SimulatedAccount

from foldnote.client.core.operations import ServiceResponse, operation, run
from foldnote.client.resources.jobs import Jobs
from foldnote.errors import RateLimitedError


@pytest.fixture(autouse=True)
def _unhurried(monkeypatch):
    monkeypatch.setenv("FOLDNOTE_REQUESTS_PER_SECOND", "1e9")  # the process's own rate limit is in real time


def poll(account, names, **options):
    return Jobs(account.connection, account).poll(names, **options)


def follow(account, names, seconds, pause_s=0.7):
    """Poll as cards do; return the time at which each job was first seen to have ended."""
    until, seen = account.now + seconds, {}
    while account.now < until:
        for name, record in poll(account, names).items():
            if record is not None and record.is_final:
                seen.setdefault(name, account.now)
        account.now += pause_s
    return seen


@given(
    count=st.integers(1, 40), newer=st.integers(0, 1500), batch=st.booleans(), hidden=st.integers(0, 5),
    pause_s=st.sampled_from([0.05, 0.7, 3.0, 6.0]),
)  # fmt: skip
@settings(max_examples=12, deadline=None)
def test_any_jobs_cost_twelve_requests_a_minute(count, newer, batch, hidden, pause_s):
    names = [f"j{number}" for number in range(count)]
    others = [f"other{number}" for number in range(newer)]
    account = SimulatedAccount(others + names, {name: "b" for name in names if batch}, names[:hidden])
    follow(account, names, 150, pause_s)
    assert account.most_in_a_minute(after=10) <= 12
    assert account.most_in_a_minute(after=0) <= 34


@pytest.mark.parametrize(
    ("count", "newer", "hidden"),
    [(1, 0, 0), (1, 3000, 1), (3, 300, 0), (20, 0, 4), (20, 300, 4), (20, 3000, 0), (20, 12_000, 4)],
)
def test_the_end_of_every_job_is_seen(count, newer, hidden):
    names = [f"j{number}" for number in range(count)]
    account = SimulatedAccount([f"other{n}" for n in range(newer)] + names, unlisted=names[:hidden])
    follow(account, names, 20)
    account.over = set(names)
    assert follow(account, names, 400).keys() == set(names)


def test_rows_of_a_batch_that_stand_on_no_page_cost_one_request_in_turn():
    names = [f"row{number}" for number in range(50)]
    others = [f"other{number}" for number in range(12_000)]
    account = SimulatedAccount(others + names, dict.fromkeys(names, "b"))
    follow(account, names, 200)
    account.over, ended = set(names), account.now
    assert max(follow(account, names, 40).values()) - ended < 20


def test_twenty_recent_jobs_are_seen_to_end_in_six_seconds():
    names = [f"j{number}" for number in range(20)]
    account = SimulatedAccount(names)
    follow(account, names, 60)
    account.over, ended = {"j7"}, account.now
    assert follow(account, names, 60)["j7"] - ended < 7


def test_jobs_that_are_over_cost_nothing():
    names = [f"j{number}" for number in range(20)]
    account = SimulatedAccount(names)
    account.over = set(names)
    follow(account, names, 600)
    assert len(account.asked) == 1


def test_a_deleted_job_is_reported_and_not_asked_for_again():
    account = SimulatedAccount(["a", "b", "c"])
    follow(account, ["a", "b", "c"], 30)
    account.names.remove("b")
    follow(account, ["a", "b", "c"], 30)
    assert poll(account, ["b"]) == {"b": None}


def test_cards_and_waiting_share_their_requests():
    class Waits(AtOnce):
        @operation
        def beside(self):
            from foldnote.client.watching.waiting import Watch

            watch = Watch(account.connection, names, None, None)
            while account.now < 1300:
                yield from watch.poll()
                poll(account, names)
                yield from watch.pause()

    names = [f"j{number}" for number in range(5)]
    account = SimulatedAccount(names)
    account.connection.supports_long_poll = False
    Waits(account).beside()
    assert account.most_in_a_minute(after=10) <= 12


def test_after_a_429_no_request_is_sent_before_the_given_time():
    account = SimulatedAccount(["a", "b", "c"])
    poll(account, "abc")
    account.refusal = ServiceResponse(429, {"retry-after": "150"}, b"{}")
    account.now += 20
    for _ in range(20):
        with pytest.raises(RateLimitedError):
            poll(account, "abc")
        account.now += 5
    assert len(account.asked) == 2


def test_a_429_with_an_absurd_retry_time_is_retried_after_five_minutes():
    account = SimulatedAccount(["a", "b", "c"])
    account.refusal = ServiceResponse(429, {"retry-after": "3459599"}, b"{}")
    with pytest.raises(RateLimitedError):
        poll(account, "abc")
    account.refusal, account.now = None, account.now + 301
    assert set(poll(account, "abc")) == set("abc")


def test_another_job_of_the_same_name_is_requested_again():
    account = SimulatedAccount(["a", "b", "c"])
    account.over = {"a"}
    assert poll(account, ["a"])["a"].is_final
    account.over = set()
    assert not poll(account, ["a"], afresh=["a"])["a"].is_final


def test_jobs_of_a_member_are_requested_with_that_member():
    account = SimulatedAccount(["a", "b", "c"])
    params = []
    account.answer = lambda call: (
        params.append(call.params) or ServiceResponse(200, {}, b'{"jobs": [], "statuses": {}}')
    )
    run(Jobs.poll.steps(Jobs(account.connection, account), "abc", job_email="ada@lab.org"), account)
    assert [each["jobEmail"] for each in params] == ["ada@lab.org"]
