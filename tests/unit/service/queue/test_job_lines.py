"""Lines of attempts behind running ones, and their lengths."""

from dataclasses import replace
from pathlib import Path

import pytest

from foldnote.service.queue.executors.local import LocalExecutor
from foldnote.service.queue.executors.protocol import Capacity
from foldnote.service.queue.lines import JobLines, WatchedAttempt, find_leaders
from foldnote.service.runner.attempt import Outcome
from foldnote.service.store.jobs.queue import Claim, QueuedJob

NEED = Capacity(cores=1, memory_mb=100)
CLAIM = Claim(1, 1, 1, "a" * 32, "a.output-1", "anarci", "{}", 0, False, "2026-01-01T00:00:00Z", "1-1")
SHORT = Outcome("succeeded", started="2026-01-01T00:00:00Z", ended="2026-01-01T00:00:00.010Z")


class Machines(LocalExecutor):
    """An executor of these machines, which runs nothing."""

    def __init__(self, *machines):
        self.machines = machines

    def capacity(self):
        return self.machines


ONE, TWO = (Capacity(cores=4, memory_mb=4000, machine=name) for name in ("one", "two"))


def attempt(number, machine, executor, *, is_in_line=False):
    need, claim = replace(NEED, machine=machine), replace(CLAIM, job_id=number)
    return WatchedAttempt(claim, Path(), executor, need, 0.0, 1.0, is_in_line=is_in_line)


@pytest.fixture
def lines():
    """Create a line for a tool whose runs are short."""
    lines = JobLines()
    lines.record_end(CLAIM, SHORT)
    return lines


def test_the_machine_with_the_shortest_line_is_chosen():
    executor = Machines(ONE, TWO)
    going = [attempt(2, "one", executor), attempt(3, "two", executor)]
    going.append(attempt(4, "one", executor, is_in_line=True))
    assert find_leaders(CLAIM, going, executor.capacity()).machine == "two"


@pytest.mark.parametrize("there", [(ONE,), (ONE, replace(TWO, is_open=False))], ids=["gone", "closed"])
def test_nothing_waits_at_a_machine_that_is_out_of_reach(lines, there):
    executor, job = Machines(*there), QueuedJob(5, CLAIM.account_id, CLAIM.type, 1)
    lost = attempt(2, "two", executor)
    assert find_leaders(CLAIM, [lost], executor.capacity()) is None
    assert not lines.places([lost]).has_any
    beside = attempt(3, "one", executor)
    found = find_leaders(CLAIM, [lost, beside], executor.capacity())
    assert (found.machine, found.number) == ("one", 1)
    assert lines.places([lost, beside]).take(job)


def test_a_line_has_places_until_they_are_taken(lines):
    executor, job = Machines(ONE), QueuedJob(5, CLAIM.account_id, CLAIM.type, 1)
    places, taken = lines.places([attempt(2, "one", executor)]), 0
    while places.take(job):
        taken += 1
    assert taken > 1
    lined = [attempt(10 + number, "one", executor, is_in_line=True) for number in range(taken)]
    assert not lines.places([attempt(2, "one", executor), *lined]).has_any


def test_nothing_waits_for_a_tool_whose_runs_are_long_or_unknown(lines):
    going = [attempt(2, "one", Machines(ONE))]
    assert not JobLines().places(going).has_any
    lines.record_end(CLAIM, replace(SHORT, ended="2026-01-01T00:01:00Z"))
    assert not lines.places(going).has_any
