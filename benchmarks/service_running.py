"""How fast the service runs jobs: its start, the first job, from submission to the engine, jobs per second.

The engine only copies one small file, so the service is what is measured. Every change of a job is synced to
the disk before it is acknowledged, as always. Nothing here is a test: machines differ.

    python benchmarks/service_running.py [--jobs 100] [--rows 1000]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from _service import (
    SETTINGS,
    TOOL,
    ServiceRun,
    cpu_s,
    cpu_with_children_s,
    memory_mb,
    report,
    say_load,
    share,
    tree,
)

CLOCK_ENGINE = ("/bin/sh", "-c", "date +%s.%N; cp job.json outputs/")
"""Print when it started; the time that a shell takes to start `date` counts against us."""


def measure_start(runs: int = 5) -> None:
    """Measure the start of the service, and of its first job."""
    starts, firsts = [], []
    for number in range(runs):
        with tempfile.TemporaryDirectory() as folder:
            begun = time.perf_counter()
            with ServiceRun(Path(folder)) as service:
                starts.append(service.start_s)
                service.submit(f"first-{number}")
                service.wait(f"first-{number}", 0.005)
                firsts.append(time.perf_counter() - begun)
    bare = [_bare_process_s([sys.executable, "-c", "import fastapi, uvicorn, sqlalchemy"]) for _ in range(3)]
    peers = {"python -c 'import fastapi, uvicorn, sqlalchemy'": statistics.median(bare)}
    report("start to first answer (median)", statistics.median(starts), 2.0, "s", peers)
    report("start to the end of the first job (median)", statistics.median(firsts), 3.0, "s")


def measure_latency(jobs: int) -> None:
    """Measure from just before POST /submit-job to the engine's first action, one job after the other."""
    times: list[float] = []
    with tempfile.TemporaryDirectory() as folder, ServiceRun(Path(folder), CLOCK_ENGINE) as service:
        for number in range(jobs + 5):
            name = f"one-{number}"
            begun = time.time()
            service.submit(name)
            service.wait(name)
            log = service.client.get(f"/jobs/{name}/log").json()["log"]
            times.append((float(log.split()[0]) - begun) * 1000)
    times = times[5:]
    peers = {
        "a shell that starts `date`, by subprocess (median)": _median_ms(["/bin/sh", "-c", "date"]),
        "an interpreter, `python -c pass` (median)": _median_ms([sys.executable, "-c", "pass"]),
        "one write with fsync (median)": _fsync_ms(),
    }
    report(f"submit to engine start, p99 of {jobs}", share(times, 0.99), 50.0, "ms")
    report(f"submit to engine start, p50 of {jobs}", share(times, 0.5), 50.0, "ms", peers)


def measure_batch(rows: int) -> None:
    """Measure the acceptance of a batch, then its rows."""
    body = {
        "batchName": "many",
        "type": TOOL,
        "settings": [SETTINGS | {"sequence": SETTINGS["sequence"] + "A" * (n % 50)} for n in range(rows)],
    }
    with tempfile.TemporaryDirectory() as folder, ServiceRun(Path(folder)) as service:
        begun = time.perf_counter()
        service.client.post("/submit-batch", json=body).raise_for_status()
        accepted_s = time.perf_counter() - begun
        report(f"a batch of {rows} rows accepted", accepted_s, 1.0, "s")
        _count_finished(service, rows, f"jobs of that batch in {{:.0f}} s, {os.cpu_count()} at once")


def _count_finished(service: ServiceRun, rows: int, what: str, patience_s: float = 20.0) -> None:
    pid = service.process.pid
    begun, used = time.perf_counter(), (cpu_s({pid}), cpu_with_children_s(tree(pid)))
    done = 0
    while done < rows and time.perf_counter() - begun < patience_s:
        time.sleep(0.1)
        done = service.client.get("/jobs", params={"batch": "many", "limit": 1}).json()["statuses"][
            "Complete"
        ]
    passed = time.perf_counter() - begun
    rate = done / passed
    own = (cpu_s({pid}) - used[0]) / done * 1000
    whole = (cpu_with_children_s(tree(pid)) - used[1]) / done * 1000
    print(f"{what.format(passed)}: {rate:.0f} a second, mark 100, ratio {rate / 100:.2f}")
    cores = os.cpu_count() or 1
    print(
        f"    processor time of a job: {whole:.1f} ms with its engine, {own:.1f} ms of that in the service;"
        f" {cores} cores that do nothing else have time for {cores / whole * 1000:.0f} a second"
    )
    for name, peer in (("", bare_rate(cores)), (" and three files written with fsync", bare_rate(cores, 3))):
        print(f"    the program alone{name}, {cores} at once: {peer:.0f} a second, ratio {rate / peer:.2f}")


def bare_rate(threads: int, files: int = 0, seconds: float = 2.0) -> float:
    """Return the programs per second that this many threads run in sequence, each syncing some small files.

    A job needs at least three syncs: a claim, a result and an outcome that survive a power cut.
    """
    until = time.perf_counter() + seconds

    def run(folder: str) -> int:
        count = 0
        while time.perf_counter() < until:
            subprocess.run(["/bin/cp", __file__, os.devnull], check=True)
            for number in range(files):
                with Path(folder, f"{count}-{number}-{threading.get_ident()}").open("wb") as file:
                    file.write(b"x" * 400)
                    file.flush()
                    os.fsync(file.fileno())
            count += 1
        return count

    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(threads) as pool:
        return sum(pool.map(run, [folder] * threads)) / seconds


def measure_idle(seconds: float) -> None:
    """Measure the memory and processor time of an idle service that has run a job."""
    with tempfile.TemporaryDirectory() as folder, ServiceRun(Path(folder)) as service:
        service.submit("one")
        service.wait("one")
        time.sleep(2)
        pids = tree(service.process.pid)
        used = cpu_s(pids)
        time.sleep(seconds)
        share_of_core = (cpu_s(pids) - used) / seconds * 100
        report(f"idle, memory of {len(pids)} processes (PSS)", memory_mb(pids), 100.0, "MB")
        report(f"idle, processor over {seconds:.0f} s", share_of_core, 0.5, "% of a core")


def _bare_process_s(command: list[str]) -> float:
    begun = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - begun


def _median_ms(command: list[str], runs: int = 20) -> float:
    return statistics.median(_bare_process_s(command) for _ in range(runs)) * 1000


def _fsync_ms(runs: int = 50) -> float:
    with tempfile.NamedTemporaryFile() as file:

        def write() -> float:
            begun = time.perf_counter()
            file.write(b"x" * 4096)
            file.flush()
            os.fsync(file.fileno())
            return time.perf_counter() - begun

        return statistics.median(write() for _ in range(runs)) * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=100)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--idle-s", type=float, default=20.0)
    parser.add_argument("--only", choices=["start", "latency", "batch", "idle"])
    options = parser.parse_args()
    say_load()
    parts: dict[str, Callable[[], None]] = {
        "start": measure_start,
        "latency": lambda: measure_latency(options.jobs),
        "batch": lambda: measure_batch(options.rows),
        "idle": lambda: measure_idle(options.idle_s),
    }
    for name, measure in parts.items():
        if options.only in (None, name):
            measure()


if __name__ == "__main__":
    main()
