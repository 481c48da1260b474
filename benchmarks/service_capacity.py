"""The capacity of one service, two replicas and a sharded set, by a simulation based on measured times.

First the simulation's input is measured on a real service (`--figures FILE` keeps it): with SQLite and, if
`FOLDNOTE_STORE_URL` names a server on this machine, with PostgreSQL. Then the simulation is validated on
figures that are not its input: the throughput of short jobs with two slots, and the poll times at a given
load, of one service and of two replicas. These are measured, too, and the deviation is printed. Finally it
finds the highest load of each kind. `_capacity_model.py` says what the simulation ignores. Nothing here is a
test: machines differ.

    python benchmarks/service_capacity.py [--rows 200] [--pollers 1000] [--figures FILE]
    FOLDNOTE_STORE_URL=postgresql://… python benchmarks/service_capacity.py
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.metadata
import json
import multiprocessing
import os
import platform
import socket
import statistics
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from urllib.parse import urlsplit

from _capacity_model import GATHER_MS, Figures, Machine, Plan, find_most, simulate
from _postgres import VARIABLE, DatabaseServer, own_database
from _service import (
    SETTINGS,
    TOOL,
    ServiceRun,
    cpu_s,
    cpu_with_children_s,
    processor_ms,
    say_load,
    share,
    tree,
)
from service_pollers import fill, measure

from foldnote import settings
from foldnote.service.config import ServiceConfig
from foldnote.service.store.address import StoreAddress
from foldnote.service.store.jobs.insertion import NewJob, insert_jobs
from foldnote.service.store.store import Store

ACCOUNTS = 300
JOBS = 5
TOGETHER = 50
RECORDS = 1000
TRIP_MS = 1.0
"""Assumed, not measured: round-trip time to a database on another machine, without the server's work."""
STORES = ("sqlite", "postgresql")
MARK_S = 1.5


def low(values: Iterable[float]) -> float:
    """Return the lower quartile, which other load on the machine affects least."""
    return statistics.quantiles(values, n=4)[0]


class Asker:
    """Connections that send requests together, so that the service's idle work in between does not count."""

    def __init__(self, service: ServiceRun, keys: Sequence[str]) -> None:
        self._pid = service.process.pid
        host, port = urlsplit(service.url).hostname, urlsplit(service.url).port
        self._connections = [socket.create_connection((host, port)) for _ in range(TOGETHER)]
        self._keys = keys

    def ask(self, keys: Sequence[str], path: str = "/jobs") -> float:
        """Send one request with each key; return the service's processor ms per request."""
        before = processor_ms(self._pid)
        pairs = list(zip(self._connections, keys, strict=False))
        for connection, key in pairs:
            connection.sendall(f"GET {path} HTTP/1.1\r\nhost: localhost\r\nx-api-key: {key}\r\n\r\n".encode())
        for connection, _ in pairs:
            read_answer(connection)
        return (processor_ms(self._pid) - before) / len(pairs)

    def close(self) -> None:
        """Close the connections."""
        for connection in self._connections:
            connection.close()


def read_answer(connection: socket.socket) -> None:
    """Read one response with status 200."""
    data = b""
    while (end := data.find(b"\r\n\r\n")) < 0:
        data += connection.recv(65_536)
    if not data.startswith(b"HTTP/1.1 200"):
        raise RuntimeError(data[:200].decode())
    head = data[:end].lower().split(b"content-length:")[1]
    rest = int(head.split(b"\r\n")[0]) - (len(data) - end - 4)
    while rest > 0:
        rest -= len(connection.recv(min(rest, 1 << 20)))


def measure_requests() -> dict[str, float]:
    """Return the processor ms of each kind of request, and a request's time outside the service."""
    with own_database(), tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        keys = [line.split()[0] for line in fill(folder, ACCOUNTS, JOBS)]
        add_records(folder)
        server = DatabaseServer()
        with ServiceRun(folder, ("/bin/true",), "--workers", "0") as service:
            asker = Asker(service, keys)
            for _ in range(10):  # until its statements are prepared
                asker.ask(keys[:TOGETHER])
            groups = [keys[begin : begin + TOGETHER] for begin in range(TOGETHER, ACCOUNTS, TOGETHER)]
            begun = server.cpu_ms()
            together = low(asker.ask(group) for group in groups)
            server_poll = (server.cpu_ms() - begun) / (len(groups) * TOGETHER)
            poll = low(asker.ask(keys[:TOGETHER]) for _ in _remembered(asker, keys))
            alone = low(asker.ask(keys[:1]) for _ in _remembered(asker, keys))
            apart = low(asker.ask([key]) for key in _forgotten(keys))
            begun = server.cpu_ms()
            page = low(asker.ask([service.key] * 5, f"/jobs?limit={RECORDS}") for _ in range(20))
            server_page = (server.cpu_ms() - begun) / 100
            pings = [_seconds(lambda: asker.ask(keys[:1])) * 1000 for _ in _at_rest()]
            begun = processor_ms(service.process.pid)
            for number in range(100):
                service.submit(f"submitted-{number}")
            submit = (processor_ms(service.process.pid) - begun) / 100
            asker.close()
    is_server = settings.store_url() is not None
    lookup = max(0.0, apart - alone)
    read = max(0.0, alone - poll) if is_server else 0.0
    return {
        "poll": poll - read / TOGETHER,
        "lookup": lookup,
        "lookup_key": max(0.0, together - poll - lookup / TOGETHER) if is_server else 0.0,
        "read": read,
        "page": page,
        "submit": submit,
        "transit": max(0.0, low(pings) - alone),
        "server_poll": server_poll,
        "server_page": server_page,
    }


def _at_rest() -> Iterator[None]:
    """Yield when no gathering pause after an earlier query is under way."""
    for _ in range(50):
        time.sleep(2 * GATHER_MS / 1000)
        yield


def _remembered(asker: Asker, keys: Sequence[str]) -> Iterator[None]:
    """Yield when the service has cached the first keys."""
    for _ in range(20):
        asker.ask(keys[:TOGETHER])
        yield


def _forgotten(keys: Sequence[str]) -> Iterator[str]:
    """Yield keys whose cache entries, kept for five seconds, have expired."""
    time.sleep(5.5)
    yield from keys[:20]


def add_records(folder: Path) -> None:
    """Give the account of the service's own key a page of jobs."""
    data = folder / "data"
    store = Store(StoreAddress.read({}, settings.store_url()) or data / "service.sqlite3")
    account = store.accounts.ensure_account(ServiceConfig(data).email)
    jobs = [NewJob(f"job-{number}", TOOL, SETTINGS, SETTINGS) for number in range(RECORDS)]
    with store.database.write() as connection:
        insert_jobs(connection, account, jobs)
    store.close()


def measure_batch(rows: int, slots: int) -> tuple[float, float, float]:
    """Return short jobs per second with this many slots; processor ms per job in the service and outside."""
    settings = [SETTINGS | {"sequence": SETTINGS["sequence"] + "A" * (row % 50)} for row in range(rows)]
    with (
        own_database(),
        tempfile.TemporaryDirectory() as folder,
        ServiceRun(Path(folder), ("/bin/cp", "job.json", "outputs/"), "--workers", str(slots)) as service,
    ):
        service.submit("first")
        service.wait("first")
        pid = service.process.pid
        body = {"batchName": "many", "type": TOOL, "settings": settings}
        service.client.post("/submit-batch", json=body).raise_for_status()
        skipped = _count_ended(service)
        begun, own, whole = time.perf_counter(), processor_ms(pid), cpu_with_children_s(tree(pid))
        service_s = cpu_s({pid})
        while (ended := _count_ended(service)) < rows:
            time.sleep(0.05)
        seconds = time.perf_counter() - begun
        own, whole = processor_ms(pid) - own, cpu_with_children_s(tree(pid)) - whole
        done = ended - skipped
        others = whole - (cpu_s({pid}) - service_s)
    return done / seconds, own / done, others * 1000 / done


def _count_ended(service: ServiceRun) -> int:
    found = service.client.get("/jobs", params={"batch": "many", "limit": 1}).json()["statuses"]
    return int(found["Complete"])


def measure_download(megabytes: int = 512) -> float:
    """Return the service's processor ms per MB of a download over a kept connection."""
    with own_database(), tempfile.TemporaryDirectory() as folder, ServiceRun(Path(folder)) as service:
        service.client.put("/upload/big.bin", content=bytes(megabytes << 20)).raise_for_status()
        before = processor_ms(service.process.pid)
        with service.client.stream("GET", "/files/big.bin") as answer:
            answer.raise_for_status()
            size = sum(len(part) for part in answer.iter_raw(1 << 20))
        return (processor_ms(service.process.pid) - before) / (size >> 20)


def measure_sync(runs: int = 50) -> float:
    """Return the ms of one write with fsync in this machine's temporary folder."""
    with tempfile.NamedTemporaryFile() as file:

        def write() -> None:
            file.write(b"x" * 4096)
            file.flush()
            os.fsync(file.fileno())

        return statistics.median(_seconds(write) for _ in range(runs)) * 1000


def measure_free(seconds: float = 3.0) -> float:
    """Return the share of all processors that programs get when they occupy every one."""
    with multiprocessing.Pool() as pool:
        number = os.cpu_count() or 1
        return sum(pool.map(_spin, [seconds] * number, chunksize=1)) / number / seconds


def _spin(seconds: float) -> float:
    until, begun = time.monotonic() + seconds, time.process_time()
    while time.monotonic() < until:
        pass
    return time.process_time() - begun


def _seconds(act: object) -> float:
    begun = time.perf_counter()
    act()  # type: ignore[operator]
    return time.perf_counter() - begun


def measure_figures(rows: int) -> Figures:
    """Measure the simulation's input; the slot's wait is the remainder of a job's time with one slot."""
    requests = measure_requests()
    free = measure_free()
    rate, own, engine = measure_batch(rows, 1)
    print(f"One slot: {rate:.1f} short jobs a second; free processors: {free:.0%}.")
    sync = measure_sync()
    wait = 1000 / rate - own - engine / free - sync
    return Figures(
        **requests,
        job=own,
        engine=engine,
        wait=max(0.0, wait),
        sync=sync,
        download_mb=measure_download(),
    )


def validate_jobs(figures: Figures, rows: int) -> None:
    """Predict the throughput of one service with two slots, which is no input; print the deviation."""
    number = os.cpu_count() or 1
    free = measure_free()
    predicted = simulate(figures, Machine(number, free, 2), Plan(queued=2000, seconds=10.0)).ended
    measured, _, _ = measure_batch(rows, 2)
    print(f"Free processors: {free:.0%} of {number}.")
    deviate("short jobs a second, two slots", predicted, measured, "")


def validate_polling(figures: Figures, replicas: int, pollers: int, seconds: float) -> None:
    """Do the same for poll times; several replicas share a database, all on this machine."""
    options = argparse.Namespace(processes=1, seconds=seconds, every=5.0, spread=None)
    with own_database(), tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        lines = fill(Path(name), pollers, JOBS)
        services = [
            stack.enter_context(ServiceRun(Path(name), ("/bin/true",), "--workers", "0"))
            for _ in range(replicas)
        ]
        found = measure(services, Path(name), lines, options)
    plan = Plan(replicas, settings.store_url() is not None, True, pollers=pollers, seconds=seconds)
    told = simulate(figures, Machine(os.cpu_count() or 1, measure_free(), 0), plan)
    what = f"GET /jobs, {replicas} services, {pollers} accounts every 5 s,"
    deviate(f"{what} median", told.p(0.5), share(found.times_ms, 0.5), "ms")
    deviate(f"{what} p99", told.p(0.99), share(found.times_ms, 0.99), "ms")
    used_s = {"services": found.service_cpu_s}
    if found.database_cpu_s:
        used_s["database"] = found.database_cpu_s
    for name, busy in zip(used_s, (told.services_busy, told.server_busy), strict=False):
        deviate(f"{what} processor of the {name}", busy * 100, used_s[name] / found.seconds * 100, "%")


def deviate(what: str, predicted: float, measured: float, unit: str) -> None:
    """Print a prediction beside its measurement."""
    deviation = (predicted - measured) / measured
    print(f"{what}: simulated {predicted:.3g} {unit}, measured {measured:.3g} {unit}, {deviation:+.0%}")


SETS = {
    "one service": ("sqlite", Machine(cores=2, slots=2), Plan()),
    "two replicas, one database": (
        "postgresql",
        Machine(cores=2, slots=2, trip=TRIP_MS),
        Plan(services=2, has_one_database=True),
    ),
    "two services, accounts divided": ("sqlite", Machine(cores=2, slots=2), Plan(services=2)),
}
"""The store, with each service and server on its own machine with two otherwise idle processors."""


def tell_limits(figures: Mapping[str, Figures]) -> None:
    """Print the highest load of each kind for each set of services, as a Markdown table."""
    sets = {name: row for name, row in SETS.items() if row[0] in figures}
    print("\n| load | " + " | ".join(sets) + " |\n|---|" + "---|" * len(sets))
    for what, row in LOADS.items():
        print(f"| {what} |", end="", flush=True)
        for store, machine, plan in sets.values():
            print(f" {row(figures[store], machine, plan)} |", end="", flush=True)
        print()


def _pollers(figures: Figures, machine: Machine, plan: Plan) -> str:
    begin = 16_000 * plan.services
    most = find_most(figures, machine, replace(plan, seconds=7.0), "pollers", begin, MARK_S * 1000)
    return f"{round(most, -2):,.0f}"


def _short_jobs(figures: Figures, machine: Machine, plan: Plan) -> str:
    most = find_most(figures, machine, replace(plan, seconds=30.0), "jobs", 20.0)
    return f"{most:.0f} a second, {most * 86_400 / 1e6:.1f} million a day"


def _jobs_elsewhere(figures: Figures, machine: Machine, plan: Plan) -> str:
    elsewhere = replace(machine, is_elsewhere=True, slots=100_000)
    most = find_most(figures, elsewhere, replace(plan, seconds=30.0), "jobs", 50.0)
    return f"{most:.0f} a second, {most * 86_400 / 1e6:.1f} million a day"


def _pages(figures: Figures, machine: Machine, plan: Plan) -> str:
    return f"{find_most(figures, machine, plan, 'pages', 100.0):.0f} a second"


def _bytes(figures: Figures, machine: Machine, plan: Plan) -> str:
    most = find_most(figures, machine, plan, "downloads_mb", 1000.0)
    return f"{most / 1024:.1f} GB a second"


def _both(figures: Figures, machine: Machine, plan: Plan) -> str:
    elsewhere = replace(machine, is_elsewhere=True, slots=100_000)
    busy = replace(plan, jobs=1.0, pages=1.0, seconds=7.0)
    most = find_most(figures, elsewhere, busy, "pollers", 16_000 * plan.services, MARK_S * 1000)
    return f"{round(most, -2):,.0f}"


LOADS = {
    f"accounts that ask every 5 s (p99 below {MARK_S} s)": _pollers,
    "the same, with 86,400 jobs and 86,400 list pages a day": _both,
    "short jobs, engines on the service's machine": _short_jobs,
    "short jobs, engines on other machines": _jobs_elsewhere,
    "list pages of 1,000 jobs": _pages,
    "bytes of results": _bytes,
}


def tell_surroundings() -> None:
    """Print the date, the machine and the versions."""
    names = ("foldnote", "fastapi", "uvicorn", "sqlalchemy", "simpy")
    versions = ", ".join(f"{each} {importlib.metadata.version(each)}" for each in names)
    processor = "unknown processor"
    with contextlib.suppress(OSError, StopIteration):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        processor = next(line.split(": ")[1] for line in lines if line.startswith("model name"))
    print(f"{time.strftime('%d %B %Y', time.gmtime())}, {os.cpu_count()} x {processor},", end=" ")
    print(f"Python {platform.python_version()}, {versions}.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200, help="short jobs per measurement")
    parser.add_argument("--pollers", type=int, default=1000, help="accounts in the validation")
    parser.add_argument("--seconds", type=float, default=20.0, help="duration of polling in the validation")
    parser.add_argument(
        "--figures", type=Path, help="JSON file of the measured times: read if it exists, else written"
    )
    parser.add_argument("--only", choices=["measure", "validate", "limits"])
    options = parser.parse_args()
    tell_surroundings()
    say_load()
    if options.figures is not None and options.figures.exists():
        kept = json.loads(options.figures.read_text())
        figures = {store: Figures(**kept[store]) for store in STORES if store in kept}
    else:
        figures = {store: measure_figures(options.rows) for store in _each_store()}
        if options.figures is not None:
            kept = {store: asdict(each) for store, each in figures.items()}
            options.figures.write_text(json.dumps(kept, indent=2) + "\n")
    for store, each in figures.items():
        print(f"{store}:")
        for name, value in asdict(each).items():
            print(f"    {name}: {value:.3f} ms")
    if options.only in (None, "validate"):
        for store in _each_store():
            if store in figures:
                validate_jobs(figures[store], options.rows)
                replicas = 1 if store == "sqlite" else 2
                validate_polling(figures[store], replicas, options.pollers, options.seconds)
    if options.only in (None, "limits"):
        tell_limits(figures)


def _each_store() -> Iterator[str]:
    """Yield SQLite and, if there is a server, PostgreSQL; services started meanwhile use it."""
    url = os.environ.pop(VARIABLE, None)
    try:
        yield STORES[0]
    finally:
        if url is not None:
            os.environ[VARIABLE] = url
    if url is not None:
        yield STORES[1]


if __name__ == "__main__":
    main()
