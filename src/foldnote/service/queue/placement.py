"""Where one more run fits: a machine of an executor, and GPUs of that machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from foldnote.service.queue.executors.protocol import Capacity, Executor
from foldnote.service.runner.gpus import Gpu

_LEAST = Capacity(1, 0)
"""The smallest run: queued jobs are not even queried unless it fits."""


def find_machine(
    need: Capacity, taken: Sequence[Capacity], machines: Sequence[Capacity], runs: int | None
) -> Capacity | None:
    """Return ``need`` with a machine and GPUs for one more run; None if no machine has room.

    Args:
        need: what the run declares.
        taken: the executor's other runs.
        machines: the executor's machines; only open ones are used.
        runs: maximum number of simultaneous runs of the executor; None for as many as fit.
    """
    if runs is not None and len(taken) >= runs:
        return None
    for machine in (each for each in machines if each.is_open):
        here = [each for each in taken if each.machine == machine.machine]
        room = find_room(need, here, machine, machine.slots or None)
        if room is not None:
            return replace(room, machine=machine.machine)
    return None


def use_first(need: Capacity, machines: Sequence[Capacity]) -> Capacity | None:
    """Return ``need`` on the first open machine, whether or not it has room; None if no machine is open."""
    first = next((each for each in machines if each.is_open), None)
    return first and replace(need, devices=first.devices[: need.gpus], machine=first.machine)


def find_largest(machines: Sequence[Capacity]) -> Capacity | None:
    """Return the machine that caps the needs of a run: the one with most GPUs, cores and memory."""
    return max(machines, key=lambda each: (each.gpus, each.cores, each.memory_mb), default=None)


def find_room(
    need: Capacity, taken: Sequence[Capacity], whole: Capacity, workers: int | None
) -> Capacity | None:
    """Return ``need`` with its GPUs if the machine has room for it beside those in ``taken``, else None."""
    if workers is not None and len(taken) >= workers:
        return None
    if (
        need.cores + sum(each.cores for each in taken) > whole.cores
        or need.memory_mb + sum(each.memory_mb for each in taken) > whole.memory_mb
    ):
        return None
    gpus = assign_gpus(need, taken, whole)
    return None if gpus is None else replace(need, devices=gpus)


def assign_gpus(need: Capacity, taken: Sequence[Capacity], whole: Capacity) -> tuple[Gpu, ...] | None:
    """Return the GPUs for one more run, unused ones first; None if there are not enough.

    A run shares a GPU only if it and the others there declare how much of the memory they use. The result is
    empty for a machine that assigns its GPUs itself.
    """
    if not whole.devices:
        return () if need.gpus + sum(each.gpus for each in taken) <= whole.gpus else None
    users = {gpu: [each.gpu_memory_mb for each in taken if gpu in each.devices] for gpu in whole.devices}
    open_to_it = [
        gpu
        for gpu, used in users.items()
        if not used or (need.gpu_memory_mb and all(used) and sum(used) + need.gpu_memory_mb <= gpu.memory_mb)
    ]
    chosen = sorted(open_to_it, key=lambda gpu: len(users[gpu]))[: need.gpus]
    return tuple(chosen) if len(chosen) == need.gpus else None


class ExecutorRoom:
    """The capacity that an executor has left while jobs are being chosen."""

    def __init__(self, executor: Executor, runs: int | None) -> None:
        self.taken: list[Capacity] = []
        self._machines = executor.capacity()
        self._runs = runs

    @property
    def has_any(self) -> bool:
        """Whether the smallest run fits."""
        return self.fits(_LEAST)

    def fits(self, need: Capacity) -> bool:
        """Return whether there is room for one more run."""
        return find_machine(need, self.taken, self._machines, self._runs) is not None

    def take(self, need: Capacity) -> bool:
        """Take the room for one more run; return False if there is none."""
        room = find_machine(need, self.taken, self._machines, self._runs)
        if room is not None:
            self.taken.append(room)
        return room is not None
