"""Kill the service and runners at random while clients submit, stop, delete, list and download.

`FOLDNOTE_TEST_KILLS` is the number of kills (default: 8), `FOLDNOTE_TEST_SEED` changes their order.
"""

import os

import pytest
from chaos import kill_at_random
from free_ports import free_port

KILLS = int(os.environ.get("FOLDNOTE_TEST_KILLS", "8"))
SEED = int(os.environ.get("FOLDNOTE_TEST_SEED", "45"))
KILL_S = 10
"""Longest time of a kill and the restart after it, on a busy machine."""


@pytest.mark.parametrize(
    "is_warm",
    [pytest.param(False, id="programs"), pytest.param(True, id="workers", marks=pytest.mark.exhaustive)],
)
@pytest.mark.timeout(300 + KILLS * KILL_S)
def test_random_kills_lose_nothing(make_service, capsys, is_warm):
    service = make_service("--no-rate-limit", "--port", str(free_port()))
    if is_warm:
        run_in_workers(service.engines / "probe")
    kill_at_random([service], KILLS, SEED, capsys)


def run_in_workers(engine):
    """Let workers run the engine, each copy many jobs."""
    (engine / "serve.py").write_text("RUNS_MANY = True\n\n\ndef load(): ...\n")
    manifest = engine / "engine.toml"
    manifest.write_text(manifest.read_text().replace("memory_mb = 16", "memory_mb = 64"))
