"""Where one more run fits: a machine of an executor, and GPUs of that machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from foldnote.service.queue.executors.protocol import Capacity, Executor
from foldnote.service.runner.gpus import Gpu

_SMALLEST_RUN = Capacity(1, 0)
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
        on_machine = [each for each in taken if each.machine == machine.machine]
        fitted = fit_on_machine(need, on_machine, machine, machine.slots or None)
        if fitted is not None:
            return replace(fitted, machine=machine.machine)
    return None


def first_open_machine(need: Capacity, machines: Sequence[Capacity]) -> Capacity | None:
    """Return ``need`` on the first open machine, whether or not it has room; None if no machine is open."""
    first = next((each for each in machines if each.is_open), None)
    return first and replace(need, devices=first.devices[: need.gpus], machine=first.machine)


def find_largest(machines: Sequence[Capacity]) -> Capacity | None:
    """Return the machine that caps the needs of a run: the one with most GPUs, cores and memory."""
    return max(machines, key=lambda each: (each.gpus, each.cores, each.memory_mb), default=None)


def fit_on_machine(
    need: Capacity, taken: Sequence[Capacity], machine: Capacity, workers: int | None
) -> Capacity | None:
    """Return ``need`` with its GPUs if the machine has room for it beside those in ``taken``, else None."""
    if workers is not None and len(taken) >= workers:
        return None
    if (
        need.cores + sum(each.cores for each in taken) > machine.cores
        or need.memory_mb + sum(each.memory_mb for each in taken) > machine.memory_mb
    ):
        return None
    gpus = assign_gpus(need, taken, machine)
    return None if gpus is None else replace(need, devices=gpus)


def assign_gpus(need: Capacity, taken: Sequence[Capacity], machine: Capacity) -> tuple[Gpu, ...] | None:
    """Return the GPUs for one more run, unused ones first; None if there are not enough.

    A run shares a GPU only if it and the others there declare how much of the memory they use. The result is
    empty for a machine that assigns its GPUs itself.
    """
    if not machine.devices:
        return () if need.gpus + sum(each.gpus for each in taken) <= machine.gpus else None
    users = {gpu: [each.gpu_memory_mb for each in taken if gpu in each.devices] for gpu in machine.devices}
    usable = [
        gpu
        for gpu, used in users.items()
        if not used or (need.gpu_memory_mb and all(used) and sum(used) + need.gpu_memory_mb <= gpu.memory_mb)
    ]
    chosen = sorted(usable, key=lambda gpu: len(users[gpu]))[: need.gpus]
    return tuple(chosen) if len(chosen) == need.gpus else None


class FreeCapacity:
    """The capacity that an executor has left while jobs are being chosen."""

    def __init__(self, executor: Executor, runs: int | None) -> None:
        self.taken: list[Capacity] = []
        self._machines = executor.capacity()
        self._runs = runs

    @property
    def has_any(self) -> bool:
        """Whether the smallest run fits."""
        return self.fits(_SMALLEST_RUN)

    def fits(self, need: Capacity) -> bool:
        """Return whether there is room for one more run."""
        return find_machine(need, self.taken, self._machines, self._runs) is not None

    def take(self, need: Capacity) -> bool:
        """Take the room for one more run; return False if there is none."""
        fitted = find_machine(need, self.taken, self._machines, self._runs)
        if fitted is not None:
            self.taken.append(fitted)
        return fitted is not None
