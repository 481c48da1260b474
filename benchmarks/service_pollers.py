"""Many accounts that poll one service for their jobs: errors, response times, processor, memory.

Each account has its own key and some jobs, and sends `GET /jobs` every five seconds, with the rate limit that
a service has by default. The pollers run in separate processes (`_poller_load.py`), first over kept
connections, then with a new connection for each request. The processor time of the services, of the database
server and of the pollers is printed, since all share this machine, and so is the longest delay of the pollers
themselves. Nothing here is a test: machines differ.

    python benchmarks/service_pollers.py [--pollers 2000] [--seconds 30] [--processes 2]
    python benchmarks/service_pollers.py --pollers 10000 --seconds 300 [--kept-only | --new-only]
    FOLDNOTE_STORE_URL=postgresql://… python benchmarks/service_pollers.py --replicas 2

Replicas get a new database on the server of that address; each poller asks one of them.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from array import array
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from _postgres import DatabaseServer, own_database
from _service import SETTINGS, TOOL, ServiceRun, cpu_s, memory_mb, report, say_load, share

from foldnote import settings
from foldnote.service.domain.access.keys import hash_key, make_key
from foldnote.service.store import clock
from foldnote.service.store.address import StoreAddress
from foldnote.service.store.jobs.insertion import NewJob, insert_jobs
from foldnote.service.store.schema import accounts, keys
from foldnote.service.store.store import Store

MARK_MS = 1500.0
LOAD = Path(__file__).with_name("_poller_load.py")


@dataclass(frozen=True)
class Polled:
    """The figures of one run.

    Attributes:
        requests: number of requests.
        seconds: duration of the run.
        times_ms: of each response, from the moment at which its request was due.
        errors: number of failures of each kind.
        connections: number of connections that were opened.
        service_cpu_s: processor seconds of all replicas of the service.
        database_cpu_s: processor seconds of the database server; 0 with SQLite, which runs in the service.
        load_cpu_s: processor seconds of the pollers.
        max_delay_ms: longest delay of the pollers themselves.
        service_mb: memory (PSS) of all replicas at the end, in MB.
        mb_more: growth of that memory during the run, in MB.
        body_bytes: mean size of a response body.
    """

    requests: int
    seconds: float
    times_ms: Sequence[float]
    errors: Counter[str]
    connections: int
    service_cpu_s: float
    database_cpu_s: float
    load_cpu_s: float
    max_delay_ms: float
    service_mb: float
    mb_more: float
    body_bytes: float

    @property
    def cpu_ms_per_request(self) -> float:
        """Processor milliseconds of the service for each request."""
        return self.service_cpu_s / max(self.requests, 1) * 1000


def fill(folder: Path, pollers: int, jobs: int) -> list[str]:
    """Create the accounts with their keys and jobs; return one line for each: the key and a job's name."""
    (folder / "data").mkdir(exist_ok=True)
    store = Store(StoreAddress.read({}, settings.store_url()) or folder / "data" / "service.sqlite3")
    lines = []
    with store.database.write() as connection:
        for number in range(pollers):
            row = {"email": f"user-{number}@lab.example", "tier": "full", "created": clock.now()}
            made = connection.execute(sa.insert(accounts).values(row).returning(accounts.c.id))
            account, key = made.scalar_one(), make_key()
            owned = {"sha256": hash_key(key), "account_id": account, "is_admin": 0, "created": clock.now()}
            connection.execute(sa.insert(keys).values(owned))
            names = [f"job-{number}-{each}" for each in range(jobs)]
            insert_jobs(connection, account, [NewJob(name, TOOL, SETTINGS, SETTINGS) for name in names])
            lines.append(f"{key} {names[0]}")
    store.close()
    return lines


def measure(
    services: Sequence[ServiceRun],
    folder: Path,
    lines: Sequence[str],
    options: argparse.Namespace,
    *more: str,
) -> Polled:
    """Run all pollers in several processes, and add up their reports."""
    number = max(options.processes, len(services))
    parts = [(folder / f"keys-{part}", folder / f"times-{part}") for part in range(number)]
    for part, (owned, _) in enumerate(parts):
        owned.write_text("\n".join(lines[part::number]))
    pids = {service.process.pid for service in services}
    server = DatabaseServer()
    before_mb, before_s, before_server_s = memory_mb(pids), cpu_s(pids), server.cpu_s()
    begun = time.time() + 1.0 + len(lines) / 10_000
    common = ["--seconds", str(options.seconds), "--every", str(options.every), "--begin", str(begun)]
    common += ["--spread", str(options.every if options.spread is None else options.spread), *more]
    running = [
        subprocess.Popen(
            [sys.executable, str(LOAD), services[part % len(services)].url, str(owned), str(times), *common],
            stdout=subprocess.PIPE,
            text=True,
        )
        for part, (owned, times) in enumerate(parts)
    ]
    time.sleep(max(0.0, begun + options.seconds - 1 - time.time()))
    after_mb = memory_mb(pids)
    told: list[dict[str, Any]] = [json.loads(process.communicate()[0]) for process in running]
    return Polled(
        requests=sum(each["asked"] for each in told),
        seconds=time.time() - begun,
        times_ms=[value for _, times in parts for value in _read_times(times)],
        errors=sum((Counter(each["errors"]) for each in told), Counter()),
        connections=sum(each["connected"] for each in told),
        service_cpu_s=cpu_s(pids) - before_s,
        database_cpu_s=server.cpu_s() - before_server_s,
        load_cpu_s=sum(each["cpu_s"] for each in told),
        max_delay_ms=max(each["max_delay_ms"] for each in told),
        service_mb=after_mb,
        mb_more=after_mb - before_mb,
        body_bytes=sum(each["body_bytes"] for each in told) / sum(each["asked"] for each in told),
    )


def _read_times(path: Path) -> array[float]:
    times = array("f")
    times.frombytes(path.read_bytes())
    return times


def tell(what: str, found: Polled, pollers: int) -> None:
    """Print the figures of one run."""
    failed = sum(found.errors.values())
    print(
        f"{what}: {found.requests} requests in {found.seconds:.0f} s, {found.connections} connections,",
        end=" ",
    )
    print(f"{failed} errors {dict(found.errors) if failed else ''}".rstrip())
    for fraction in (0.5, 0.9, 0.99, 0.999, 1.0):
        print(f"    p{fraction * 100:g} {share(found.times_ms, fraction):.1f} ms", end="")
    print()
    report("    p99 from the moment due", share(found.times_ms, 0.99), MARK_MS, "ms")
    core, load = found.service_cpu_s / found.seconds, found.load_cpu_s / found.seconds
    server = found.database_cpu_s / found.seconds
    print(
        f"    service: {found.cpu_ms_per_request:.3f} ms of processor per request, {core:.0%} of a core,"
        f" {found.service_mb:.0f} MB, {found.mb_more / pollers * 1024:.1f} kB more per poller;"
        f" {found.body_bytes:.0f} bytes per answer"
    )
    if server:
        each_ms = found.database_cpu_s / max(found.requests, 1) * 1000
        print(f"    database: {each_ms:.3f} ms of processor per request, {server:.0%} of a core")
    print(f"    pollers: {load:.0%} of a core, longest delay of their own {found.max_delay_ms:.0f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pollers", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--every", type=float, default=5.0)
    parser.add_argument(
        "--spread", type=float, help="seconds over which the pollers start (default: one interval)"
    )
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=5, help="jobs per account")
    parser.add_argument("--replicas", type=int, default=1, help="services that share a database")
    one = parser.add_mutually_exclusive_group()
    one.add_argument("--kept-only", action="store_true", help="skip the run with new connections")
    one.add_argument("--new-only", action="store_true", help="skip the run with kept connections")
    parser.add_argument(
        "--serve", nargs=argparse.REMAINDER, default=[], help="further options of the service"
    )
    options = parser.parse_args()
    if options.replicas > 1 and settings.store_url() is None:
        parser.error("replicas need PostgreSQL: set FOLDNOTE_STORE_URL to the address of a server")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    say_load()
    print(
        f"Open files: {soft}, {hard} at most. {options.pollers} pollers, every {options.every:g} s,"
        f" {options.replicas} services."
    )
    with own_database(), tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        lines = fill(folder, options.pollers, options.jobs)
        serve = ("--workers", "0", *options.serve)
        services = [
            stack.enter_context(ServiceRun(folder, ("/bin/true",), *serve, is_limited=True))
            for _ in range(options.replicas)
        ]
        if not options.new_only:
            kept = measure(services, folder, lines, options)
            tell("connections kept", kept, options.pollers)
        if not options.kept_only:
            apart = measure(services, folder, lines, options, "--new-connections")
            tell("a new connection per request", apart, options.pollers)
    say_load()


if __name__ == "__main__":
    main()
