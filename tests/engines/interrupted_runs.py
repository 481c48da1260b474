"""Runs of an engine with checkpoints that are killed in the middle."""

import os
import signal
import time
from pathlib import Path

from real_engine import load_engines, make_settings, prepare_run, start_runner

from foldnote.service.engines.engine import CACHE

ENOUGH = 5
"""Finished windows after which a run is killed."""


def checkpoints(engine: str) -> list[Path]:
    """The folders of checkpoints of the engine's unfinished runs."""
    folder = load_engines()[engine].home / CACHE / "checkpoints"
    return sorted(folder.iterdir()) if folder.exists() else []


def kill_in_the_middle(engine: str, tool: str, folder: Path, seed: int, limit_s: float) -> Path:
    """Run the tool's example with ``kill -9`` after some windows; the checkpoints that it leaves.

    Raises:
        AssertionError: the windows were not finished within ``limit_s`` seconds.
    """
    before = set(checkpoints(engine))
    settings, texts = make_settings(tool)
    runner = start_runner(prepare_run(load_engines()[engine], folder, settings, seed, texts, tool))
    deadline = time.monotonic() + limit_s
    saved: list[Path] = []
    while len(saved) < ENOUGH and time.monotonic() < deadline:
        saved = [path for each in set(checkpoints(engine)) - before for path in each.rglob("window-*.npz")]
        time.sleep(0.05)
    os.kill(runner.pid, signal.SIGKILL)
    runner.wait()
    (left,) = set(checkpoints(engine)) - before
    time.sleep(1.0)  # until the engine of the killed runner is gone
    assert len(list(left.rglob("window-*.npz"))) >= ENOUGH
    return left
