"""What a job on a Dask cluster costs beside the same program started by Dask alone, in the same run.

One scheduler and one worker are started; the service runs its jobs on them, then on this machine. The engine
is a copy of one small file. Nothing here is a test: machines differ.

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
from pathlib import Path

from _service import ServiceRun, report, say_load, share

ENGINE = ("/bin/cp", "job.json", "outputs/")


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


def measure_service(folder: Path, jobs: int, executors: str = "", *more: str) -> tuple[list[float], float]:
    """The same for jobs of a service, from the submission to the end."""
    folder.mkdir()
    (folder / "home" / "config").mkdir(parents=True, mode=0o700)
    (folder / "home" / "config" / "config.toml").write_text(executors)
    with ServiceRun(folder, ENGINE, *more) as service:
        for number in range(3):
            service.submit(f"first-{number}")
            service.wait(f"first-{number}")
        times = []
        for number in range(jobs):
            begun = time.perf_counter()
            service.submit(f"one-{number}")
            service.wait(f"one-{number}", 0.002)
            times.append((time.perf_counter() - begun) * 1000)
        begun = time.perf_counter()
        for number in range(jobs):
            service.submit(f"many-{number}")
        for number in range(jobs):
            service.wait(f"many-{number}", 0.005)
        return times, jobs / (time.perf_counter() - begun)


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
        dask, dask_rate = measure_service(folder / "cluster", jobs, table, "--port", str(port))
        local, local_rate = measure_service(folder / "local", jobs, "", "--workers", "2")
    middle = statistics.median
    peers = {
        "Dask alone, one task (median)": middle(bare),
        "on the cluster, submit to end (median)": middle(dask),
        "on this machine, submit to end (median)": middle(local),
    }
    report(
        "time of a job on the cluster beyond that of Dask alone",
        middle(dask) - middle(bare),
        50.0,
        "ms",
        peers,
    )
    report("the same, p99", share(dask, 0.99) - share(bare, 0.99), 200.0, "ms")
    rates = {"Dask alone": bare_rate, "on the cluster": dask_rate, "on this machine": local_rate}
    report(
        "time per job, many at once, beside that on this machine",
        local_rate / dask_rate,
        1.25,
        "times",
        rates,
    )


if __name__ == "__main__":
    main()
