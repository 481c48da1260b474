"""Lines: short jobs claimed ahead, which start where a run of the same tool and account ends.

A short run may take less time than its end, the next claim and the next start together. Therefore jobs of an
account whose recent runs were short are claimed while earlier ones run, and wait in line: on this machine in
the starter, for a loaded engine; for another machine in ``NodeSlots``, for a run there. They use no capacity
until one of those runs ends. Each has its own folder and outcome, and is stopped, lost or adopted like any
other attempt. One that waits longer than ``starter.HOLDS_S`` is given back unstarted.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from foldnote.service.queue.executors.protocol import Capacity, Executor
from foldnote.service.runner.attempt import Outcome
from foldnote.service.store import clock
from foldnote.service.store.jobs.queue import Claim, Waiting

AHEAD_S = 0.5
"""Limit for the total run time of the attempts in a line, estimated from the longest recent run."""
MAX_AHEAD = 24
"""Maximum number of attempts in line for each running one."""
_ENOUGH = 3
_LATEST = 4


WAITED_SENTENCE = "It waited behind running attempts, and none ended in time."


@dataclass
class WatchedAttempt:
    """In-memory state of a running attempt; not needed after a restart."""

    claim: Claim
    folder: Path
    """Where the service keeps the attempt's files."""
    executor: Executor
    need: Capacity
    look_at: float
    interval_s: float
    is_in_line: bool = False
    """Whether it is in line; it uses no capacity until another run of its line ends."""
    was_ahead: bool = False
    """Whether it was put in line when it was handed over."""
    seems_over: bool = False
    """Whether a hint said that it ended."""
    is_over: bool = False
    """Whether it ended, so that another attempt may take its place."""
    is_cancelled: bool = False


def _whose(of: Claim | Waiting) -> tuple[int, str]:
    return of.account_id, of.type


def _line(of: WatchedAttempt) -> tuple[int, str, str]:
    return of.claim.account_id, of.claim.type, of.need.machine


@dataclass(frozen=True)
class Leaders:
    """The attempts of one machine behind which another attempt may wait."""

    number: int
    machine: str


def find_leaders(
    claim: Claim, going: Iterable[WatchedAttempt], machines: Iterable[Capacity]
) -> Leaders | None:
    """Return the attempts of the machine with the shortest line behind which this one may wait, or None.

    No attempt waits for a machine that is not open: its runs may already be lost.
    """
    there = {each.machine for each in machines if each.is_open}
    lead: Counter[str] = Counter()
    lined: Counter[str] = Counter()
    for each in going:
        if not each.is_over and each.need.machine in there and _whose(each.claim) == _whose(claim):
            (lined if each.is_in_line else lead)[each.need.machine] += 1
    machine = min(lead, key=lambda each: lined[each] / lead[each], default=None)
    return None if machine is None else Leaders(lead[machine], machine)


def pass_on(ended: WatchedAttempt, going: Iterable[WatchedAttempt], look_at: float) -> None:
    """Give the place of an ended attempt to the first in its line, to be polled by ``look_at``."""
    has_place = not ended.is_in_line and not ended.is_over
    ended.is_over = True
    lined = (each for each in going if each.is_in_line and not each.is_over)
    heir = next((each for each in lined if _line(each) == _line(ended)), None)
    if has_place and heir is not None:
        heir.is_in_line = False
        heir.look_at = heir.look_at if heir.seems_over else min(heir.look_at, look_at)


class JobLines:
    """Limits the number of attempts of each account and tool that wait behind running ones."""

    def __init__(self) -> None:
        self._took_s: defaultdict[tuple[int, str], deque[float]] = defaultdict(lambda: deque(maxlen=_LATEST))

    def note_end(self, claim: Claim, outcome: Outcome) -> None:
        """Record how long a run took."""
        if outcome.started is None or outcome.ended is None:
            return
        took = clock.read(outcome.ended) - clock.read(outcome.started)
        self._took_s[_whose(claim)].append(max(0.0, took.total_seconds()))

    def close(self, jobs: Iterable[Waiting | Claim]) -> None:
        """Put no jobs of these accounts and tools in line before their next run ends."""
        for each in jobs:
            self._took_s.pop(_whose(each), None)

    def has_enough(self, claim: Claim, going: Iterable[WatchedAttempt]) -> bool:
        """Return whether the attempt's line is long enough to wait for further ends."""
        key = _whose(claim)
        lined = (each for each in going if each.is_in_line and not each.seems_over)
        return sum(_whose(each.claim) == key for each in lined) >= max(_ENOUGH, self._depth(key) // 2)

    def places(self, going: Iterable[WatchedAttempt]) -> LinePlaces:
        """Return the free places in line behind the attempts of ``going`` that run on open machines."""
        free: Counter[tuple[int, str]] = Counter()
        there: dict[int, set[str]] = {}
        for each in going:
            key, executor = _whose(each.claim), each.executor
            if each.is_in_line:
                free[key] -= 1
                continue
            if id(executor) not in there:
                there[id(executor)] = {found.machine for found in executor.capacity() if found.is_open}
            free[key] += self._depth(key) if each.need.machine in there[id(executor)] else 0
        return LinePlaces(free)

    def _depth(self, key: tuple[int, str]) -> int:
        longest_s = max(self._took_s.get(key, ()), default=AHEAD_S * 2)
        return min(MAX_AHEAD, int(AHEAD_S / max(longest_s, AHEAD_S / MAX_AHEAD)))


class LinePlaces:
    """Free places in line while jobs are being chosen."""

    def __init__(self, free: Counter[tuple[int, str]]) -> None:
        self._free = free

    @property
    def has_any(self) -> bool:
        """Whether any place is free."""
        return any(number > 0 for number in self._free.values())

    def take(self, job: Waiting) -> bool:
        """Take a place in line for the job; return False if there is none."""
        if self._free[_whose(job)] <= 0:
            return False
        self._free[_whose(job)] -= 1
        return True
