"""Lines: short jobs claimed ahead, which start where a run of the same tool and account ends.

A short run may take less time than its end, the next claim and the next start together. Therefore jobs of an
account whose recent runs were short are claimed while earlier ones run, and wait in line: on this machine in
the starter, for a loaded engine; for another machine in ``NodeSlots``, for a run there. They use no capacity
until one of those runs ends. Each has its own folder and outcome, and is stopped, lost or adopted like any
other attempt. One that waits longer than ``starter.MAX_WAIT_S`` is given back unstarted.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from foldnote.service.queue.executors.protocol import Capacity, Executor
from foldnote.service.runner.attempt import Outcome
from foldnote.service.store import clock
from foldnote.service.store.jobs.queue import Claim, QueuedJob

AHEAD_S = 0.5
"""Limit for the total run time of the attempts in a line, estimated from the longest recent run."""
MAX_AHEAD = 24
"""Maximum number of attempts in line for each running one."""
_MIN_ENQUEUED = 3
_RECENT_RUNS = 4


WAITED_SENTENCE = "It waited behind running attempts, and none ended in time."


@dataclass
class WatchedAttempt:
    """In-memory state of a running attempt; not needed after a restart."""

    claim: Claim
    folder: Path
    """Where the service keeps the attempt's files."""
    executor: Executor
    need: Capacity
    poll_at: float
    poll_interval_s: float
    is_in_line: bool = False
    """Whether it is in line; it uses no capacity until another run of its line ends."""
    was_ahead: bool = False
    """Whether it was put in line when it was handed over."""
    may_have_ended: bool = False
    """Whether a hint said that it ended."""
    is_over: bool = False
    """Whether it ended, so that another attempt may take its place."""
    is_cancelled: bool = False


def _line_key(of: Claim | QueuedJob) -> tuple[int, str]:
    return of.account_id, of.type


def _machine_line_key(of: WatchedAttempt) -> tuple[int, str, str]:
    return of.claim.account_id, of.claim.type, of.need.machine


@dataclass(frozen=True)
class Leaders:
    """The attempts of one machine behind which another attempt may wait."""

    number: int
    machine: str


def find_leaders(
    claim: Claim, attempts: Iterable[WatchedAttempt], machines: Iterable[Capacity]
) -> Leaders | None:
    """Return the attempts of the machine with the shortest line behind which this one may wait, or None.

    No attempt waits for a machine that is not open: its runs may already be lost.
    """
    open_machines = {each.machine for each in machines if each.is_open}
    running_counts: Counter[str] = Counter()
    enqueued_counts: Counter[str] = Counter()
    for each in attempts:
        if (
            not each.is_over
            and each.need.machine in open_machines
            and _line_key(each.claim) == _line_key(claim)
        ):
            (enqueued_counts if each.is_in_line else running_counts)[each.need.machine] += 1
    machine = min(running_counts, key=lambda each: enqueued_counts[each] / running_counts[each], default=None)
    return None if machine is None else Leaders(running_counts[machine], machine)


def promote_next(ended: WatchedAttempt, attempts: Iterable[WatchedAttempt], poll_at: float) -> None:
    """Give the place of an ended attempt to the first in its line.

    Args:
        ended: the attempt that has ended.
        attempts: all watched attempts.
        poll_at: monotonic time in seconds by which to poll the promoted attempt.
    """
    has_place = not ended.is_in_line and not ended.is_over
    ended.is_over = True
    enqueued = (each for each in attempts if each.is_in_line and not each.is_over)
    next_in_line = next(
        (each for each in enqueued if _machine_line_key(each) == _machine_line_key(ended)), None
    )
    if has_place and next_in_line is not None:
        next_in_line.is_in_line = False
        next_in_line.poll_at = (
            next_in_line.poll_at if next_in_line.may_have_ended else min(next_in_line.poll_at, poll_at)
        )


class JobLines:
    """Limits the number of attempts of each account and tool that wait behind running ones."""

    def __init__(self) -> None:
        self._took_s: defaultdict[tuple[int, str], deque[float]] = defaultdict(
            lambda: deque(maxlen=_RECENT_RUNS)
        )

    def record_end(self, claim: Claim, outcome: Outcome) -> None:
        """Record how long a run took."""
        if outcome.started is None or outcome.ended is None:
            return
        took = clock.read(outcome.ended) - clock.read(outcome.started)
        self._took_s[_line_key(claim)].append(max(0.0, took.total_seconds()))

    def close(self, jobs: Iterable[QueuedJob | Claim]) -> None:
        """Put no jobs of these accounts and tools in line before their next run ends."""
        for each in jobs:
            self._took_s.pop(_line_key(each), None)

    def is_line_filled(self, claim: Claim, attempts: Iterable[WatchedAttempt]) -> bool:
        """Return whether the attempt's line is long enough to wait for further ends."""
        key = _line_key(claim)
        enqueued = (each for each in attempts if each.is_in_line and not each.may_have_ended)
        return sum(_line_key(each.claim) == key for each in enqueued) >= max(
            _MIN_ENQUEUED, self._depth(key) // 2
        )

    def places(self, attempts: Iterable[WatchedAttempt]) -> LinePlaces:
        """Return the free places in line behind those of ``attempts`` that run on open machines."""
        free: Counter[tuple[int, str]] = Counter()
        open_machines: dict[int, set[str]] = {}
        for each in attempts:
            key, executor = _line_key(each.claim), each.executor
            if each.is_in_line:
                free[key] -= 1
                continue
            if id(executor) not in open_machines:
                open_machines[id(executor)] = {
                    found.machine for found in executor.capacity() if found.is_open
                }
            free[key] += self._depth(key) if each.need.machine in open_machines[id(executor)] else 0
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

    def take(self, job: QueuedJob) -> bool:
        """Take a place in line for the job; return False if there is none."""
        if self._free[_line_key(job)] <= 0:
            return False
        self._free[_line_key(job)] -= 1
        return True
