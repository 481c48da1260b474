"""GET /jobs with 1,000 records, beside the same records by FastAPI's response models, and twenty pollers.

Requests alternate between the two in a changing order, over one connection each. The peer runs on the same
uvicorn with its records in memory, while ours come from the database. Ours serves a page that has not changed
since the last request, one in which a job has changed, and others that were never requested. Every page has
as many records as the peer's. Both the response time and the processor time of the server are printed, since
the former depends on other load. Nothing here is a test: machines differ.

    python benchmarks/service_listing.py [--requests 100] [--seconds 8]
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import itertools
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from _service import SETTINGS, TOOL, ServiceRun, cpu_s, processes_of, report, say_load, share, tree

from foldnote.service.config import ServiceConfig
from foldnote.service.store.jobs.insertion import NewJob, insert_jobs
from foldnote.service.store.store import Store

RECORDS = 1000
MARK = 3.0
WARM = 5
FRESH = 500
"""Jobs beyond those of one page, for the other pages."""
POLLERS = 20
PEER = """
import json, socket, sys
import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel

class Record(BaseModel):
    jobName: str
    type: str
    status: str
    settings: dict
    projectTag: str | None
    created: str
    started: str | None
    completed: str | None
    email: str
    batch: str | None
    score: dict | None
    weightedHours: float | None
    cpuSeconds: float | None
    peakMemoryMb: float | None
    error: str | None
    progress: float | None
    message: str | None

class Page(BaseModel):
    jobs: list[Record]
    statuses: dict[str, int]

with open(sys.argv[1], "rb") as file:
    content = json.load(file)
app = FastAPI()

@app.get("/jobs", response_model=Page)
def get_jobs(limit: int = 1000):
    return {"jobs": content["jobs"][:limit], "statuses": content["statuses"]}

listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False, ws="none")).run([listener])
"""


def fill(folder: Path) -> None:
    """Insert the records into the service's database."""
    data = folder / "data"
    data.mkdir()
    store = Store(data / "service.sqlite3")
    account = store.accounts.ensure_account(ServiceConfig(data).email)
    jobs = [NewJob(f"job-{number}", TOOL, SETTINGS, SETTINGS) for number in range(RECORDS + FRESH)]
    with store.database.write() as connection:
        insert_jobs(connection, account, jobs)
    store.close()


class Asker:
    """A connection that requests one path repeatedly."""

    def __init__(self, url: str, key: str | None = None) -> None:
        parts = urlsplit(url)
        self._connection = http.client.HTTPConnection(parts.hostname or "", parts.port or 80)
        self._headers = {} if key is None else {"x-api-key": key}

    def ask(self, more: str = "", limit: int = RECORDS) -> tuple[float, bytes]:
        """Return the seconds and the body."""
        begun = time.perf_counter()
        self._connection.request("GET", f"/jobs?limit={limit}{more}", headers=self._headers)
        body = self._connection.getresponse().read()
        return time.perf_counter() - begun, body


def compare(
    ours: Asker, peer: Asker, pids: tuple[int, int], submit: Callable[[], None], requests: int
) -> None:
    """Request each kind of page alternately, then each alone to measure the server's processor time."""

    def ask_changed() -> float:
        submit()
        return ours.ask()[0]

    fresh = iter(list(pages_apart(ours, requests * 2 + WARM)))
    kinds: dict[str, tuple[int, Callable[[], float]]] = {
        "the peer": (pids[1], lambda: peer.ask()[0]),
        "nothing changed": (pids[0], lambda: ours.ask()[0]),
        "a job changed": (pids[0], ask_changed),
        "never asked for": (pids[0], lambda: ours.ask(next(fresh))[0]),
    }
    times: dict[str, list[float]] = {name: [] for name in kinds}
    order = list(kinds)
    shuffle = random.Random(0).shuffle
    for _ in range(requests + WARM):
        shuffle(order)  # the first request after one to the other program finds cold caches
        for name in order:
            times[name].append(kinds[name][1]() * 1000)
    wall = {name: statistics.median(found[WARM:]) for name, found in times.items()}
    cpu = {name: measure_cpu_ms(pid, ask, requests) for name, (pid, ask) in kinds.items()}
    cpu["a job changed"] -= measure_cpu_ms(pids[0], submit, requests)
    size = len(ours.ask()[1]) >> 10
    print(
        f"GET /jobs, {RECORDS} records, {size} kB; FastAPI response models: {wall['the peer']:.2f} ms,",
        end=" ",
    )
    print(f"{cpu['the peer']:.2f} ms of processor")
    for name in list(kinds)[1:]:
        faster, cheaper = wall["the peer"] / wall[name], cpu["the peer"] / max(cpu[name], 0.01)
        print(f"    {name}: {wall[name]:.2f} ms, {faster:.2f} times as fast, mark {MARK:g};", end=" ")
        print(f"{cpu[name]:.2f} ms of processor, {cheaper:.1f} times as cheap")


def pages_apart(ours: Asker, number: int) -> Iterator[str]:
    """Return the starts of this many different pages."""
    for position in range(1, min(number, FRESH) + 1):
        body = json.loads(ours.ask(limit=position)[1])
        yield f"&startKey={body['startKey']}"


def measure_cpu_ms(pid: int, act: Callable[[], object], number: int) -> float:
    """Return the server's mean processor time of one request, in ms."""
    used = cpu_s({pid})
    for _ in range(number):
        act()
    return (cpu_s({pid}) - used) / number * 1000


async def poll(url: str, key: str, seconds: float, number: int) -> list[float]:
    """Request fifty jobs once a second."""
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    request = f"GET /jobs?limit=50 HTTP/1.1\r\nhost: x\r\nx-api-key: {key}\r\n\r\n".encode()
    times = []
    await asyncio.sleep(number / POLLERS)
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        begun = time.perf_counter()
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        await reader.readexactly(int(length.split(b":")[1]))
        times.append((time.perf_counter() - begun) * 1000)
        await asyncio.sleep(1.0)
    writer.close()
    return times


async def poll_together(url: str, key: str, seconds: float) -> list[float]:
    found = await asyncio.gather(*(poll(url, key, seconds, number) for number in range(POLLERS)))
    return [each for times in found for each in times]


def measure_pollers(url: str, key: str, pid: int, seconds: float) -> tuple[float, float, float]:
    """Return the median and p99 of the response time in ms, and the share of a core that the server took."""
    begun, used = time.perf_counter(), cpu_s(tree(pid))
    times = asyncio.run(poll_together(url, key, seconds))
    core = (cpu_s(tree(pid)) - used) / (time.perf_counter() - begun)
    return share(times, 0.5), share(times, 0.99), core


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=8.0)
    options = parser.parse_args()
    say_load()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        fill(folder)
        with ServiceRun(folder, ("/bin/true",), "--workers", "0") as service:
            records: dict[str, Any] = service.client.get("/jobs").json()
            (folder / "records.json").write_text(json.dumps(records), "utf-8")
            command = [sys.executable, "-c", PEER, str(folder / "records.json")]
            with processes_of(command) as (process, port):
                peer_url = f"http://127.0.0.1:{port}"
                wait_for(peer_url)
                names = (f"later-{number}" for number in itertools.count())
                askers = Asker(service.url, service.key), Asker(peer_url)
                pids = service.process.pid, process.pid
                compare(*askers, pids, lambda: service.submit(next(names)), options.requests)
                own = measure_pollers(service.url, service.key, service.process.pid, options.seconds)
                other = measure_pollers(peer_url, "", process.pid, options.seconds)
    report(f"{POLLERS} pollers of 50 jobs a second, p99", own[1], 100.0, "ms", {"the peer": other[1]})
    print(f"    p50 {own[0]:.1f} ms, {own[2]:.1%} of a core; the peer {other[0]:.1f} ms, {other[2]:.1%}")


def wait_for(url: str) -> None:
    """Wait until the server responds."""
    until = time.monotonic() + 30
    while True:
        try:
            Asker(url).ask()
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)
        else:
            return


if __name__ == "__main__":
    main()
