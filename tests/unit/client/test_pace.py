"""The rate limit of requests, with a test clock."""

from itertools import accumulate, islice
from threading import Thread

from hypothesis import given
from hypothesis import strategies as st

from foldnote.client.core.connection import ServiceConnection, shared_bucket
from foldnote.client.core.pacing import Bucket, poll_delays, retry_delays
from foldnote.settings import Profile


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@given(st.lists(st.floats(0, 2), min_size=1, max_size=60))
def test_no_more_than_the_rate_over_any_time(gaps):
    """Requests that pause as told never exceed capacity plus rate times elapsed time."""
    clock, sent = Clock(), []
    bucket = Bucket(9.0, 9.0, clock)
    for gap in gaps:
        clock.now += gap
        sent.append(clock.now + bucket.reserve())
    for first in range(len(sent)):
        for last in range(first, len(sent)):
            assert last - first + 1 <= 9 + 9 * (sent[last] - sent[first]) + 1e-6


def test_a_burst_within_the_capacity_does_not_pause():
    bucket = Bucket(9.0, 9.0, Clock())
    assert [bucket.reserve() for _ in range(9)] == [0.0] * 9
    assert bucket.reserve() > 0


def test_a_clock_that_jumps_back_grants_no_extra_requests():
    clock = Clock()
    bucket = Bucket(1.0, 1.0, clock)
    bucket.reserve()
    clock.now -= 3600
    assert 0 < bucket.reserve() <= 1.0


def test_threads_take_each_token_once():
    bucket, pauses = Bucket(1000.0, 50.0, Clock()), []
    threads = [Thread(target=lambda: pauses.extend(bucket.reserve() for _ in range(50))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(pauses) == sorted([0.0] * 50 + [number / 1000 for number in range(1, 351)])


def test_all_links_of_a_process_share_one_bucket():
    links = [ServiceConnection(Profile("a", "http://a")), ServiceConnection(Profile("b", "http://b"))]
    assert links[0].bucket is links[1].bucket is shared_bucket()


def test_waiting_slows_down_to_its_limit_and_is_never_in_step():
    slow, other = list(islice(poll_delays(max_s=4.0), 40)), list(islice(poll_delays(max_s=4.0), 40))
    assert slow[0] < 0.6
    assert all(3.3 < pause < 4.7 for pause in slow[-10:])
    assert slow != other


def test_a_watcher_looks_at_most_twelve_times_in_any_minute():
    looks = list(accumulate(islice(poll_delays(), 60), initial=0.0))
    for begin in looks:
        assert sum(begin <= look < begin + 60 for look in looks) <= 12


def test_tries_are_few_and_ever_further_apart():
    pauses = list(retry_delays())
    assert len(pauses) == 4
    assert pauses == sorted(pauses)
    assert sum(pauses) < 10
