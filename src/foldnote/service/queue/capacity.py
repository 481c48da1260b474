"""What may run at one time: declared cores, memory and GPUs against what the executor has."""

from __future__ import annotations

from collections.abc import Iterable

from foldnote.service.engines import Engine
from foldnote.service.queue.executors.protocol import Capacity

NOTHING = Capacity(0, 0, 0)


def need_of(engine: Engine | None, whole: Capacity) -> Capacity:
    """What one run takes; a run that declares more than there is takes all of it, and so runs alone."""
    if engine is None:
        return NOTHING
    declared = engine.resources
    return Capacity(
        min(max(1, declared.cores), whole.cores),
        min(declared.memory_mb, whole.memory_mb),
        min(declared.gpus, whole.gpus),
    )


def has_room(need: Capacity, taken: Iterable[Capacity], whole: Capacity, workers: int | None) -> bool:
    """Whether one more run fits beside those that run."""
    running = list(taken)
    if workers is not None and len(running) >= workers:
        return False
    return (
        need.cores + sum(each.cores for each in running) <= whole.cores
        and need.memory_mb + sum(each.memory_mb for each in running) <= whole.memory_mb
        and need.gpus + sum(each.gpus for each in running) <= whole.gpus
    )
