"""A real service in its own process with tiny engines, and the format of its figures.

The other benchmarks of this folder use this module.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from foldnote.settings import engines_dir

SETTINGS = {"sequence": "EVQLVESGGGLVQPGG", "scheme": "imgt"}
TOOL = "anarci"
ENGINE = """
name = "tiny"
method = "Tiny engine of the benchmarks"
kind = "substitute"
version = "1"
tools = ["{tool}"]
licence = "BSD-3-Clause"
command = {command}
[environment]
kind = "host"
[resources]
cores = 1
memory_mb = 16
"""


class ServiceRun:
    """A service on `folder` whose only tool runs `command`; use as a context manager.

    Without a command, the installed engines run its tools. With `is_limited` the service limits the requests
    of each key, as it does by default.

    Attributes:
        url: its base address.
        key: its API key.
        client: an HTTP client that sends the key.
        start_s: seconds from the start of the process to its first response.
    """

    def __init__(
        self,
        folder: Path,
        command: Sequence[str] | None = ("/bin/cp", "job.json", "outputs/"),
        *more: str,
        is_limited: bool = False,
    ) -> None:
        self._folder = folder
        (folder / "engines").mkdir(exist_ok=True)  # another replica may have created it
        if command is not None:
            engine = folder / "engines" / "tiny"
            engine.mkdir(exist_ok=True)
            text = ENGINE.format(tool=TOOL, command=json.dumps(list(command)))
            (engine / "engine.toml").write_text(text, "utf-8")
        self._more = more if is_limited else ("--no-rate-limit", *more)

    def __enter__(self) -> ServiceRun:
        data = str(self._folder / "data")
        command = [sys.executable, "-m", "foldnote", "serve", "--json", "--data-dir", data]
        home = {
            "FOLDNOTE_HOME": str(self._folder / "home"),
            "FOLDNOTE_ENGINE_PATH": str(self._folder / "engines"),
            "FOLDNOTE_ENGINES_DIR": str(engines_dir()),
        }
        with (self._folder / "service.log").open("ab") as log:
            begun = time.perf_counter()
            self.process = subprocess.Popen(
                [*command, *self._more], stdout=subprocess.PIPE, stderr=log, env={**os.environ, **home}
            )
        assert self.process.stdout is not None
        ready = json.loads(self.process.stdout.readline())
        self.url, self.key = ready["url"], ready["key"]
        self.client = httpx.Client(base_url=self.url, headers={"x-api-key": self.key}, timeout=120)
        self.client.get("/healthz").raise_for_status()
        self.start_s = time.perf_counter() - begun
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()
        self.process.terminate()
        self.process.wait(30)

    def submit(self, name: str) -> None:
        """Submit one job."""
        body = {"jobName": name, "type": TOOL, "settings": SETTINGS}
        self.client.post("/submit-job", json=body).raise_for_status()

    def job(self, name: str) -> dict[str, Any]:
        """Return the record of a job."""
        record: dict[str, Any] = self.client.get("/jobs", params={"jobName": name}).json()
        return record

    def wait(self, name: str, every_s: float = 0.02) -> dict[str, Any]:
        """Wait until a job has ended and return its record."""
        while (record := self.job(name))["status"] not in ("Complete", "Stopped"):
            time.sleep(every_s)
        return record


def share(times: Sequence[float], fraction: float) -> float:
    """Return the quantile `fraction` of the times."""
    return sorted(times)[min(len(times) - 1, int(len(times) * fraction))]


def tree(root: int) -> set[int]:
    """Return the process `root` and all its descendants (Linux)."""
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(int(path.parent.name))
    found: set[int] = set()
    pending = [root]
    while pending:
        found.add(pid := pending.pop())
        pending.extend(children.get(pid, ()))
    return found


def memory_mb(pids: set[int]) -> float:
    """Return the proportional set size of all processes together, in MB (Linux)."""
    return sum(_pss_kb(pid) for pid in pids) / 1024


def _pss_kb(pid: int) -> int:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def cpu_s(pids: set[int]) -> float:
    """Return the processor seconds that the processes have used so far (Linux)."""
    ticks = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def cpu_with_children_s(pids: set[int]) -> float:
    """Return the processor seconds including those of ended children (Linux)."""
    ticks = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def processor_ms(pid: int) -> float:
    """Return the processor time of a process so far, in ms (Linux; finer than `cpu_s`)."""
    files = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(each.read_text().split()[0]) for each in files) / 1e6


def say_load() -> None:
    """Print the load of the machine, on which the figures depend."""
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    print(f"Machine: {os.cpu_count()} cores, load {load} (1, 5, 15 min).")


def report(what: str, figure: float, limit: float, unit: str, peers: dict[str, float] | None = None) -> None:
    """Print a figure beside its upper limit and beside its peers."""
    print(f"{what}: {figure:.4g} {unit}, limit {limit:g} {unit}, ratio {figure / limit:.2f}")
    for name, peer in (peers or {}).items():
        print(f"    {name}: {peer:.4g} {unit}, ratio {figure / peer:.2f}")


@contextmanager
def processes_of(command: Sequence[str]) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start a peer that prints one line when it is ready; return the process and that line."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        try:
            yield process, process.stdout.readline().strip()
        finally:
            process.terminate()
