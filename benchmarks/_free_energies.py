"""Run a free-energy engine without a service, and read its tables."""

from __future__ import annotations

import csv
import json
import subprocess
import time
from pathlib import Path
from typing import Any

from foldnote.service.engines import load_engines
from foldnote.service.engines.launch import make_environment


def run_alone(
    name: str, tool: str, work: Path, texts: dict[str, str], settings: dict[str, Any], seed: int = 1
) -> tuple[float, dict[str, str], list[dict[str, str]]]:
    """Run the engine's program; return its seconds, the free energy and the legs.

    Args:
        work: an empty folder, or that of a killed run.
        texts: contents of the files, keyed by setting.
    """
    engine = load_engines()[name]
    (work / "outputs").mkdir(parents=True, exist_ok=True)
    for field, text in texts.items():
        (work / field).write_text(text)
    job = {"jobName": "benchmark", "type": tool, "settings": settings, "seed": seed}
    (work / "job.json").write_text(json.dumps(job | {"files": {field: [field] for field in texts}}))
    environment = make_environment(engine, engine.resources.cores) | {"XDG_CACHE_HOME": str(work / "cache")}
    begun = time.perf_counter()
    command = [str(engine.python), "-u", str(engine.folder / "run.py")]
    subprocess.run(command, cwd=work, env=environment, stdout=subprocess.DEVNULL, check=True)
    elapsed = time.perf_counter() - begun
    (row,) = read(work / "outputs" / "free-energies.csv")
    return elapsed, row, read(work / "outputs" / "legs.csv")


def read(path: Path) -> list[dict[str, str]]:
    """Return the rows of a table."""
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))
