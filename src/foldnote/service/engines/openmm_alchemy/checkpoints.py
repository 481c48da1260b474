"""Location of a job's checkpoints, so that the attempt after a killed one continues from them.

An attempt's own folder is lost with it, but the engine's cache is not: it has a folder for each combination
of settings, inputs and seed, which is removed when the job is complete.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

FORMAT = "2"
"""Format version; change it whenever earlier checkpoints become useless."""
KEPT_S = 30 * 86_400.0
"""Time without a change after which checkpoints of an abandoned job are removed."""


@contextmanager
def keep_checkpoints(job: Mapping[str, Any]) -> Iterator[Path]:
    """Yield the folder of this job's checkpoints; remove it if the job ends well, keep it if interrupted.

    A second run of the same job at the same time gets a separate folder, which no later attempt finds.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME", "cache")) / "checkpoints"
    folder = cache / digest_job(job)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        remove_old(cache, folder)
        lock = (folder / "lock").open("w")
    except OSError:
        yield Path("checkpoints")
        return
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield Path("checkpoints")
            return
        yield folder
        shutil.rmtree(folder, ignore_errors=True)


def digest_job(job: Mapping[str, Any]) -> str:
    """Return a digest of the settings, the seed and the content of the inputs."""
    asked = [FORMAT, job["type"], job["seed"], job["settings"]]
    known = hashlib.sha256(json.dumps(asked, sort_keys=True).encode())
    for field, places in sorted(job["files"].items()):
        for place in places:
            known.update(f"\n{field}\n".encode() + hashlib.sha256(Path(place).read_bytes()).digest())
    return known.hexdigest()[:32]


def remove_old(cache: Path, own: Path) -> None:
    """Remove folders in which nothing has changed for a long time."""
    for folder in cache.iterdir():
        newest = max((path.stat().st_mtime for path in [folder, *folder.rglob("*")]), default=0.0)
        if folder != own and time.time() - newest > KEPT_S:
            shutil.rmtree(folder, ignore_errors=True)
