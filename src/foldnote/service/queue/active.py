"""What the dispatcher keeps in memory of an attempt that it watches; a restart needs nothing of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from foldnote.service.queue.executors.protocol import Capacity
from foldnote.service.store.jobs.queue import Claim


@dataclass
class Active:
    """An attempt that is watched."""

    claim: Claim
    folder: Path
    need: Capacity
    look_at: float
    interval_s: float
    is_cancelled: bool = False


@dataclass(frozen=True)
class Live:
    """What a running job tells: fraction (0 to 1) and message, each None when it has not said."""

    progress: float | None
    message: str | None
