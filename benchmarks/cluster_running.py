"""What a job on a Dask cluster costs beside the same program started by Dask alone, in the same run.

One scheduler and one worker are started; the service runs its jobs on them, then on this machine. The engine
is a copy of one small file. A job that follows another at once uses its place on the worker; Dask brings one
that comes after a pause. Nothing here is a test: machines differ.

    python benchmarks/cluster_running.py [--jobs 40]
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
from pathlib import Path

from _service import ServiceRun, report, say_load, share

ENGINE = ("/bin/cp", "job.json", "outputs/")
PAUSE_S = 1.5
"""Longer than a place waits for another job."""


@dataclass(frozen=True)
class Measured:
    """Milliseconds of each job, one at a time, and jobs a second, many at once."""

    at_once: list[float]
    """Of jobs that follow another at once."""
    after_pause: list[float]
    rate: float


def free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def cluster(folder: Path) -> Iterator[str]:
    """The address of a scheduler with one worker of two threads."""
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
    """What the engine does, without a service: a program in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "job.json").write_text("{}")
        Path(folder, "outputs").mkdir()
        return subprocess.run(ENGINE, cwd=folder, check=True).returncode


def measure_bare(address: str, jobs: int) -> tuple[list[float], float]:
    """Milliseconds of each task, one after the other, and tasks a second, two at a time; by Dask alone."""
    from distributed import Client

    with Client(address, set_as_default=False) as client:
        client.wait_for_workers(1)
        client.submit(run_program, pure=False).result()
        times = [_clock(lambda: client.submit(run_program, pure=False).result()) for _ in range(jobs)]
        many = _clock(lambda: client.gather([client.submit(run_program, pure=False) for _ in range(jobs)]))
    return times, jobs / many * 1000


def measure_service(folder: Path, jobs: int, executors: str = "", *more: str) -> Measured:
    """The same for jobs of a service, from the submission to the end."""
    folder.mkdir()
    (folder / "home" / "config").mkdir(parents=True, mode=0o700)
    (folder / "home" / "config" / "config.toml").write_text(executors)
    with ServiceRun(folder, ENGINE, *more) as service:
        for number in range(3):
            service.submit(f"first-{number}")
            service.wait(f"first-{number}")

        def run(name: str) -> float:
            begun = time.perf_counter()
            service.submit(name)
            service.wait(name, 0.002)
            return (time.perf_counter() - begun) * 1000

        at_once = [run(f"one-{number}") for number in range(jobs)]
        after_pause = []
        for number in range(max(3, jobs // 4)):
            time.sleep(PAUSE_S)
            after_pause.append(run(f"later-{number}"))
        begun = time.perf_counter()
        for number in range(jobs):
            service.submit(f"many-{number}")
        for number in range(jobs):
            service.wait(f"many-{number}", 0.005)
        return Measured(at_once, after_pause, jobs / (time.perf_counter() - begun))


def _clock(act: object) -> float:
    begun = time.perf_counter()
    act()  # type: ignore[operator]
    return (time.perf_counter() - begun) * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=40)
    jobs = parser.parse_args().jobs
    say_load()
    with tempfile.TemporaryDirectory() as name, cluster(Path(name)) as address:
        folder, port = Path(name), free_port()
        bare, bare_rate = measure_bare(address, jobs)
        table = (
            f'[executors]\ndefault = "lab"\nservice_url = "http://127.0.0.1:{port}"\n'
            f'[executors.lab]\nkind = "dask"\naddress = "{address}"\n'
            f'engine_path = "{folder / "cluster" / "engines"}"\nnode_dir = "{folder / "node"}"\n'
        )
        dask = measure_service(folder / "cluster", jobs, table, "--port", str(port))
        local = measure_service(folder / "local", jobs, "", "--workers", "2")
    middle = statistics.median
    beyond = "time of a job on the cluster beyond that of Dask alone"
    report(
        beyond,
        middle(dask.at_once) - middle(bare),
        50.0,
        "ms",
        {
            "Dask alone, one task (median)": middle(bare),
            "on the cluster, submit to end (median)": middle(dask.at_once),
            "on this machine, submit to end (median)": middle(local.at_once),
        },
    )
    report("the same, p99", share(dask.at_once, 0.99) - share(bare, 0.99), 200.0, "ms")
    report(
        f"the same for a job {PAUSE_S} s after another, median",
        middle(dask.after_pause) - middle(bare),
        50.0,
        "ms",
        {
            "on the cluster, submit to end (median)": middle(dask.after_pause),
            "on this machine, submit to end (median)": middle(local.after_pause),
        },
    )
    report(
        "time per job, many at once, beside that on this machine",
        local.rate / dask.rate,
        1.25,
        "times",
    )
    rates = {"Dask alone": bare_rate, "on the cluster": dask.rate, "on this machine": local.rate}
    for where, rate in rates.items():
        print(f"    {where}: {rate:.4g} a second")


if __name__ == "__main__":
    main()
