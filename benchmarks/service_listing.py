"""GET /jobs with 1,000 records beside the same records through FastAPI's response models, and twenty pollers.

Both are asked in turns over one connection each. The peer runs on the same uvicorn and has its records in
memory, while ours come from the database. Nothing here is a test: machines differ.

    python benchmarks/service_listing.py [--requests 40] [--seconds 8]
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from _service import SETTINGS, TOOL, ServiceRun, cpu_s, processes_of, report, say_load, share, tree

from foldnote.service.config import ServiceConfig
from foldnote.service.store.insertion import NewJob, insert_jobs
from foldnote.service.store.store import Store

RECORDS = 1000
MARK = 3.0
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
    """Put the records where the service will find them."""
    data = folder / "data"
    data.mkdir()
    store = Store(data / "service.sqlite3")
    account = store.accounts.ensure_account(ServiceConfig(data).email)
    jobs = [NewJob(f"job-{number}", TOOL, SETTINGS, SETTINGS) for number in range(RECORDS)]
    with store.database.write() as connection:
        insert_jobs(connection, account, jobs)
    store.close()


class Asker:
    """One connection that asks for one path again and again."""

    def __init__(self, url: str, key: str | None = None) -> None:
        parts = urlsplit(url)
        self._connection = http.client.HTTPConnection(parts.hostname or "", parts.port or 80)
        self._headers = {} if key is None else {"x-api-key": key}

    def ask(self, limit: int = RECORDS) -> tuple[float, bytes]:
        """Seconds and body."""
        begun = time.perf_counter()
        self._connection.request("GET", f"/jobs?limit={limit}", headers=self._headers)
        body = self._connection.getresponse().read()
        return time.perf_counter() - begun, body


def compare(ours: Asker, peer: Asker, requests: int) -> None:
    times: tuple[list[float], list[float], list[float]] = ([], [], [])
    for number in range(requests + 5):
        # a page that was not asked for before is read from the database and joined
        for found, asker, limit in zip(
            times, (ours, peer, ours), (RECORDS, RECORDS, RECORDS - 1 - number), strict=True
        ):
            passed, body = asker.ask(limit)
            if number >= 5:
                found.append(passed * 1000)
    own, other, anew = (statistics.median(each) for each in times)
    print(f"GET /jobs, {RECORDS} records, {len(body) >> 10} kB: {own:.2f} ms, {1000 / own:.0f} a second")
    print(f"    FastAPI response models: {other:.2f} ms, {1000 / other:.0f} a second")
    print(f"    times as fast: {other / own:.2f}, mark {MARK:g}, ratio {other / own / MARK:.2f}")
    print(f"    the first time after a change: {anew:.2f} ms, {other / anew:.2f} times as fast")


async def poll(url: str, key: str, seconds: float, number: int) -> list[float]:
    """Ask for fifty jobs once a second."""
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
    """Median and p99 in ms of an answer, and the share of a core that the server took."""
    begun, used = time.perf_counter(), cpu_s(tree(pid))
    times = asyncio.run(poll_together(url, key, seconds))
    core = (cpu_s(tree(pid)) - used) / (time.perf_counter() - begun)
    return share(times, 0.5), share(times, 0.99), core


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=40)
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
                compare(Asker(service.url, service.key), Asker(peer_url), options.requests)
                own = measure_pollers(service.url, service.key, service.process.pid, options.seconds)
                other = measure_pollers(peer_url, "", process.pid, options.seconds)
    report(f"{POLLERS} pollers of 50 jobs a second, p99", own[1], 100.0, "ms", {"the peer": other[1]})
    print(f"    p50 {own[0]:.1f} ms, {own[2]:.1%} of a core; the peer {other[0]:.1f} ms, {other[2]:.1%}")


def wait_for(url: str) -> None:
    """Until it answers."""
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
