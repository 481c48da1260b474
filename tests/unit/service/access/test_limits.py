"""The token bucket and API keys."""

import stat

from hypothesis import given
from hypothesis import strategies as st

from foldnote.service.domain.access.keys import hash_key, make_key, read_or_make_key_file
from foldnote.service.domain.access.limiter import RateLimiter, whole_seconds


class Clock:
    def __init__(self):
        self.time = 0.0

    def __call__(self):
        return self.time


def test_a_burst_then_the_rate():
    clock = Clock()
    limiter = RateLimiter(10, 10, clock)
    assert [limiter.take("k") for _ in range(10)] == [0.0] * 10
    assert 0 < limiter.take("k") <= 0.1
    clock.time = 0.1
    assert limiter.take("k") == 0.0


def test_keys_do_not_share_a_bucket():
    limiter = RateLimiter(10, 1, Clock())
    assert (limiter.take("a"), limiter.take("b")) == (0.0, 0.0)
    assert limiter.take("a") > 0


@given(st.lists(st.floats(0, 0.5), max_size=60))
def test_no_second_lets_more_through_than_burst_and_rate(pauses):
    clock = Clock()
    limiter = RateLimiter(10, 10, clock)
    passed = []
    for pause in pauses:
        clock.time += pause
        if limiter.take("k") == 0.0:
            passed.append(clock.time)
    for moment in passed:
        assert sum(moment <= each < moment + 1 for each in passed) <= 20


def test_the_wait_is_in_whole_seconds():
    assert (whole_seconds(0.01), whole_seconds(1.2)) == (1, 2)


def test_a_key_file_is_created_once_and_private(tmp_path):
    path = tmp_path / "key"
    key = read_or_make_key_file(path)
    assert read_or_make_key_file(path) == key
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_keys_differ_and_are_long():
    assert len({make_key() for _ in range(100)}) == 100
    assert len(make_key()) > 40
    assert len(hash_key(make_key())) == 64
