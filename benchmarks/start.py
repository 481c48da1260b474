"""How long a user waits for imports and for the start of the embedded service.

Each figure is the median over whole processes on this machine, printed beside its limit and beside peers that
are measured in the same run. Nothing here is a test: machines differ.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable

RUNS = 7


def median_s(measure: Callable[[], float], runs: int = RUNS) -> float:
    measure()  # warm the file cache
    return statistics.median(measure() for _ in range(runs))


def import_s(module: str) -> float:
    """Return the seconds that ``import module`` takes inside a fresh interpreter."""
    code = f"import time; t = time.perf_counter(); import {module}; print(time.perf_counter() - t)"
    return float(
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    )


def service_start_s() -> float:
    """Return the seconds from the start of the process to its first response."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "FOLDNOTE_HOME": folder}
        command = [sys.executable, "-m", "foldnote", "serve", "--port", "0", "--data-dir", folder, "--json"]
        begun = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True)
        assert process.stdout is not None
        ready = json.loads(process.stdout.readline())
        with urllib.request.urlopen(f"{ready['url']}/healthz") as answer:
            answer.read()
        passed = time.perf_counter() - begun
        process.terminate()
        process.wait()
        return passed


def peer_server_start_s() -> float:
    """Return the seconds until a bare ``http.server`` responds: the minimum for a Python service."""
    command = [sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1"]
    begun = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    port = process.stdout.readline().split(" port ")[1].split()[0]
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/") as answer:
        answer.read()
    passed = time.perf_counter() - begun
    process.terminate()
    process.wait()
    return passed


def report(what: str, figure: float, limit: float, peers: dict[str, float]) -> None:
    print(f"{what}: {figure * 1000:.0f} ms, limit {limit * 1000:.0f} ms, ratio {figure / limit:.2f}")
    for name, peer in peers.items():
        print(f"    {name}: {peer * 1000:.0f} ms, ratio {figure / peer:.2f}")


def main() -> None:
    peers = {
        f"import {name}": median_s(lambda name=name: import_s(name))
        for name in ("httpx", "pandas", "ipywidgets")
    }
    report("import foldnote", median_s(lambda: import_s("foldnote")), 0.2, peers)
    report("import foldnote.client", median_s(lambda: import_s("foldnote.client")), 0.2, peers)
    report(
        "embedded service, start to first answer",
        median_s(service_start_s),
        2.0,
        {"python -m http.server": median_s(peer_server_start_s)},
    )


if __name__ == "__main__":
    main()
