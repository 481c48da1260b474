"""The overhead of a job on a Dask cluster, beside the same program started by Dask alone in the same run.

One scheduler, one worker and two services are started: one service runs its jobs on the cluster, the other on
this machine. The engine copies one small file. A job that follows another immediately reuses its slot on the
worker; Dask starts one that follows after a pause. Dask alone is measured after the same pause, since virtual
machines can be slow to return memory that was not used for a second; how long this machine takes is printed.
Batches of many jobs alternate between the two services, since the machine may be busier at one moment than at
another. Nothing here is a test: machines differ.

    python benchmarks/cluster_running.py [--jobs 40] [--batches 5] [--batch-jobs 150]
"""

from __future__ import annotations

import argparse
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import numpy as np
from _service import ServiceRun, cpu_s, report, say_load, share

ENGINE = ("/bin/cp", "job.json", "outputs/")
PAUSE_S = 1.5
"""Longer than a slot waits for another job."""
CALM_S = 2.5
"""Longer than the files of short jobs are kept."""


@dataclass(frozen=True)
class Measured:
    """Milliseconds of each job, one at a time."""

    at_once: list[float]
    """Jobs that follow another immediately."""
    after_pause: list[float]


@dataclass(frozen=True)
class Batch:
    """Many jobs at the same time."""

    rate: float
    """Jobs per second, from the first submission to the last completion."""
    cpu_ms: float
    """Processor time of the service per job, including its responses to the client."""


def free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def cluster(folder: Path) -> Iterator[str]:
    """Start a scheduler with one worker of two threads; yield its address."""
    address = f"tcp://127.0.0.1:{free_port()}"
    scheduler = ("scheduler", "--host", "127.0.0.1", "--port", address.rpartition(":")[2], "--no-dashboard")
    worker = ("worker", address, "--nthreads", "2", "--no-nanny", "--no-dashboard")
    command = (sys.executable, "-m", "dask")
    with (folder / "dask.log").open("ab") as log:
        made = [
            subprocess.Popen([*command, *what], stdout=log, stderr=log, cwd=folder)
            for what in (scheduler, worker)
        ]
    try:
        yield address
    finally:
        for process in reversed(made):
            process.kill()
            process.wait()


def run_program() -> int:
    """Do the engine's work without a service: run a program in a new folder."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "job.json").write_text("{}")
        Path(folder, "outputs").mkdir()
        return subprocess.run(ENGINE, cwd=folder, check=True).returncode


def measure_bare(address: str, jobs: int) -> tuple[Measured, float]:
    """Return the milliseconds of tasks in sequence, and tasks per second two at a time; by Dask alone."""
    from distributed import Client

    with Client(address, set_as_default=False) as client:
        client.wait_for_workers(1)
        client.submit(run_program, pure=False).result()
        run = lambda: client.submit(run_program, pure=False).result()  # noqa: E731
        at_once = [_clock(run) for _ in range(jobs)]
        after_pause = [_clock_after_pause(run) for _ in range(_count_pauses(jobs))]
        many = _clock(lambda: client.gather([client.submit(run_program, pure=False) for _ in range(jobs)]))
    return Measured(at_once, after_pause), jobs / many * 1000


def measure_memory() -> Measured:
    """Return the milliseconds of reading one byte of each page of 50 MB of memory, which is in use."""
    memory = np.ones(50_000_000, dtype=np.uint8)
    read = lambda: memory[::4096].sum()  # noqa: E731
    return Measured([_clock(read) for _ in range(10)], [_clock_after_pause(read) for _ in range(3)])


def make_service(folder: Path, executors: str, *more: str) -> ServiceRun:
    """Start a service with this configuration text."""
    (folder / "home" / "config").mkdir(parents=True, mode=0o700)
    (folder / "home" / "config" / "config.toml").write_text(executors)
    return ServiceRun(folder, ENGINE, *more)


def measure_service(service: ServiceRun, jobs: int) -> Measured:
    """Return the milliseconds of a service's jobs in sequence, from submission to completion."""
    for number in range(3):
        service.submit(f"first-{number}")
        service.wait(f"first-{number}")

    numbers = count()

    def run() -> None:
        name = f"one-{next(numbers)}"
        service.submit(name)
        service.wait(name, 0.002)

    at_once = [_clock(run) for _ in range(jobs)]
    return Measured(at_once, [_clock_after_pause(run) for _ in range(_count_pauses(jobs))])


def measure_batch(service: ServiceRun, name: str, jobs: int) -> Batch:
    """Run many jobs of a service, which are submitted one by one while the first of them run."""
    time.sleep(CALM_S)
    cpu_before, begun = cpu_s({service.process.pid}), time.perf_counter()
    for number in range(jobs):
        service.submit(f"{name}-{number}")
    for number in range(jobs):
        service.wait(f"{name}-{number}", 0.01)
    rate = jobs / (time.perf_counter() - begun)
    return Batch(rate, (cpu_s({service.process.pid}) - cpu_before) / jobs * 1000)


def _clock(act: object) -> float:
    begun = time.perf_counter()
    act()  # type: ignore[operator]
    return (time.perf_counter() - begun) * 1000


def _clock_after_pause(act: object) -> float:
    time.sleep(PAUSE_S)
    return _clock(act)


def _count_pauses(jobs: int) -> int:
    return max(3, jobs // 4)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=40)
    parser.add_argument("--batches", type=int, default=5)
    parser.add_argument("--batch-jobs", type=int, default=150)
    options = parser.parse_args()
    jobs = options.jobs
    say_load()
    memory = measure_memory()
    with tempfile.TemporaryDirectory() as name, cluster(Path(name)) as address:
        folder, port = Path(name), free_port()
        bare, bare_rate = measure_bare(address, jobs)
        table = (
            f'[executors]\ndefault = "lab"\nservice_url = "http://127.0.0.1:{port}"\n'
            f'[executors.lab]\nkind = "dask"\naddress = "{address}"\n'
            f'engine_path = "{folder / "cluster" / "engines"}"\nnode_dir = "{folder / "node"}"\n'
        )
        cluster_service = make_service(folder / "cluster", table, "--port", str(port))
        with cluster_service as there, make_service(folder / "local", "", "--workers", "2") as here:
            dask, local = measure_service(there, jobs), measure_service(here, jobs)
            measure_batch(there, "warm", jobs)
            measure_batch(here, "warm", jobs)
            pairs = []
            for number in range(options.batches):
                each = [
                    measure_batch(service, f"many-{number}", options.batch_jobs) for service in (there, here)
                ]
                pairs.append((each[0], each[1]))
    middle = statistics.median
    beyond = "time of a job on the cluster beyond that of Dask alone"
    report(
        beyond,
        middle(dask.at_once) - middle(bare.at_once),
        50.0,
        "ms",
        {
            "Dask alone, one task (median)": middle(bare.at_once),
            "on the cluster, submit to end (median)": middle(dask.at_once),
            "on this machine, submit to end (median)": middle(local.at_once),
        },
    )
    report("the same, p99", share(dask.at_once, 0.99) - share(bare.at_once, 0.99), 200.0, "ms")
    report(
        f"the same for a job {PAUSE_S} s after another, median",
        middle(dask.after_pause) - middle(bare.after_pause),
        50.0,
        "ms",
        {
            "Dask alone, one task (median)": middle(bare.after_pause),
            "on the cluster, submit to end (median)": middle(dask.after_pause),
            "on this machine, submit to end (median)": middle(local.after_pause),
        },
    )
    print(
        f"    reading 50 MB of memory: {middle(memory.after_pause):.3g} ms after the same pause,"
        f" {middle(memory.at_once):.3g} ms at once"
    )
    report(
        "time per job, many at once, beside that on this machine (median)",
        middle(near.rate / far.rate for far, near in pairs),
        1.25,
        "times",
    )
    print(f"    Dask alone: {bare_rate:.4g} a second")
    for far, near in pairs:
        print(
            f"    on the cluster: {far.rate:.4g} a second, {far.cpu_ms:.3g} ms of the service each;"
            f" on this machine: {near.rate:.4g}, {near.cpu_ms:.3g} ms; ratio {far.rate / near.rate:.2f}"
        )


if __name__ == "__main__":
    main()
