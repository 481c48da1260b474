"""Runs of an engine with checkpoints, killed midway."""

import os
import signal
import time
from pathlib import Path

from real_engine import load_engines, make_settings, prepare_run, start_runner

from foldnote.service.engines.engine import CACHE

ENOUGH = 5
"""Number of finished windows after which a run is killed."""


def checkpoints(engine: str) -> list[Path]:
    """Return the checkpoint folders of the engine's unfinished runs."""
    folder = load_engines()[engine].home / CACHE / "checkpoints"
    return sorted(folder.iterdir()) if folder.exists() else []


def kill_in_the_middle(engine: str, tool: str, folder: Path, seed: int, limit_s: float) -> Path:
    """Run the tool's example, ``kill -9`` it after some windows, and return its checkpoints.

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
    time.sleep(1.0)  # until the engine of the killed runner has exited
    assert len(list(left.rglob("window-*.npz"))) >= ENOUGH
    return left
