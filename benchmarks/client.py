"""The cost of the client: its import, its construction, and each call compared with a bare pooled httpx call.

Both kinds of calls alternate in the same run against the same tiny server, so the load of the machine is the
same for both. Nothing here is a test: machines differ.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from importlib import metadata

from packaging.requirements import Requirement

CALLS = 1500
WARM_UP = 100
IMPORTS = 11
DISTRIBUTIONS = 10
IMPORT_LIMIT_S = 0.2
OVERHEAD_LIMIT_S = 0.0002
RECORD = {
    "jobName": "a",
    "type": "anarci",
    "status": "Complete",
    "settings": {"sequence": "EVQLVESGGGLVQPGG", "scheme": "imgt"},
    "created": "2026-11-01T10:00:00Z",
    "started": "2026-11-01T10:00:01Z",
    "completed": "2026-11-01T10:00:02Z",
}
LOADED = """
import sys, foldnote.client
from importlib import metadata

loaded = set(sys.modules)
homes = metadata.packages_distributions()
found = {name for module in loaded for name in homes.get(module.partition(".")[0], ())}
print(*sorted(found - {"foldnote", "setuptools"}))
"""
NEEDED = ("httpx", "jsonschema-rs", "platformdirs", "pydantic")
"""Distributions that a program which submits, waits and downloads must install; tests/packaging does so."""
SERVER = """
import asyncio, json, sys
body = sys.argv[1].encode()
head = f"HTTP/1.1 200 OK\\r\\ncontent-type: application/json\\r\\ncontent-length: {len(body)}\\r\\n\\r\\n"
answer = head.encode() + body

async def serve(reader, writer):
    try:
        while await reader.readuntil(b"\\r\\n\\r\\n"):
            writer.write(answer)
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()

async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()

asyncio.run(main())
"""


def import_s(modules: str) -> tuple[float, float]:
    """Return the wall and processor seconds of ``import modules`` in a fresh interpreter.

    Both are medians of several runs.
    """
    code = (
        "import time; t, p = time.perf_counter(), time.process_time();"
        f" import {modules}; print(time.perf_counter() - t, time.process_time() - p)"
    )
    command = [sys.executable, "-c", code]
    runs = [
        [
            float(part)
            for part in subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        ]
        for _ in range(IMPORTS + 1)
    ]
    clock, processor = zip(*runs[1:], strict=True)  # warms the file cache
    return statistics.median(clock), statistics.median(processor)


def list_imported() -> list[str]:
    """Return the distributions that ``import foldnote.client`` loads, apart from foldnote."""
    return subprocess.run(
        [sys.executable, "-c", LOADED], capture_output=True, text=True, check=True
    ).stdout.split()


def list_needed(*names: str) -> set[str]:
    """Return ``names`` and the distributions that they require, without extras."""
    found: set[str] = set()
    missing = list(names)
    while missing:
        name = missing.pop().replace("_", "-").lower()
        if name in found:
            continue
        found.add(name)
        needs = [Requirement(text) for text in metadata.requires(name) or ()]
        missing += [need.name for need in needs if not need.marker or need.marker.evaluate({"extra": ""})]
    return found


def report_imports() -> None:
    """Print what ``import foldnote.client`` takes and loads, beside httpx."""
    (ours, ours_cpu), (peer, peer_cpu) = import_s("foldnote.client"), import_s("httpx")
    ready, ready_cpu = import_s("foldnote.client.resources.jobs, foldnote.client.core.transport")
    print(
        f"import foldnote.client: {ours * 1000:.0f} ms, of the processor {ours_cpu * 1000:.0f} ms;"
        f" limit {IMPORT_LIMIT_S * 1000:.0f} ms, ratio {ours / IMPORT_LIMIT_S:.2f}"
    )
    print(
        f"    import httpx: {peer * 1000:.0f} ms, of the processor {peer_cpu * 1000:.0f} ms,"
        f" ratio {ours / peer:.2f}"
    )
    print(
        f"    with all that Client().jobs loads: {ready * 1000:.0f} ms,"
        f" of the processor {ready_cpu * 1000:.0f} ms, ratio to httpx {ready / peer:.2f}"
    )
    imported, needed = list_imported(), list_needed(*NEEDED)
    peer_needs = list_needed("httpx", "pydantic")
    print(
        f"    it loads {len(imported)} distributions, limit {DISTRIBUTIONS},"
        f" ratio {len(imported) / DISTRIBUTIONS:.2f}: {', '.join(imported)}"
    )
    print(
        f"    to submit, wait and download needs {len(needed)}, limit {DISTRIBUTIONS},"
        f" ratio {len(needed) / DISTRIBUTIONS:.2f}; httpx and pydantic alone are {len(peer_needs)}"
    )
    print(f"    beyond those two: {', '.join(sorted(needed - peer_needs))}")


@contextmanager
def server() -> Iterator[str]:
    """Start a server in its own process that answers every request with one job record."""
    command = [sys.executable, "-c", SERVER, json.dumps(RECORD)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
        process.terminate()


def medians(*calls: Callable[[], object]) -> list[float]:
    """Return the median seconds of each call, measured alternately."""
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(CALLS + WARM_UP):
        for call, found in zip(calls, times, strict=True):
            begun = time.perf_counter()
            call()
            found.append(time.perf_counter() - begun)
    return [statistics.median(found[WARM_UP:]) for found in times]


async def medians_awaited(*calls: Callable[[], Awaitable[object]]) -> list[float]:
    """Return the median seconds of each awaited call, measured alternately."""
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(CALLS + WARM_UP):
        for call, found in zip(calls, times, strict=True):
            begun = time.perf_counter()
            await call()
            found.append(time.perf_counter() - begun)
    return [statistics.median(found[WARM_UP:]) for found in times]


def report_calls(what: str, ours: float, bare: float) -> None:
    over = ours - bare
    print(f"{what}: {ours * 1000:.3f} ms a call; bare pooled httpx with JSON {bare * 1000:.3f} ms")
    print(
        f"    over it {over * 1000:.3f} ms, limit {OVERHEAD_LIMIT_S * 1000:.1f} ms;"
        f" ratio to httpx {ours / bare:.2f}"
    )


def measure_sync(url: str) -> None:
    import httpx

    import foldnote.client.core.transport  # noqa: F401  what it loads is told above
    from foldnote.client import Client

    begun = time.perf_counter()
    client = Client(base_url=url, api_key="k")
    made_s = time.perf_counter() - begun
    begun = time.perf_counter()
    bare = httpx.Client(headers={"x-api-key": "k"})
    bare_s = time.perf_counter() - begun
    print(
        f"Client(): {made_s * 1000:.0f} ms; httpx.Client() {bare_s * 1000:.0f} ms;"
        f" ratio {made_s / bare_s:.2f}"
    )
    address = f"{url}/jobs"
    with client, bare:
        ours, plain = medians(
            lambda: client.jobs.get("a"), lambda: bare.get(address, params={"jobName": "a"}).json()
        )
    report_calls("jobs.get", ours, plain)


async def measure_async(url: str) -> None:
    import httpx

    from foldnote.client import AsyncClient

    async with (
        AsyncClient(base_url=url, api_key="k") as client,
        httpx.AsyncClient(headers={"x-api-key": "k"}) as bare,
    ):

        async def plain() -> object:
            return (await bare.get(f"{url}/jobs", params={"jobName": "a"})).json()

        ours, other = await medians_awaited(lambda: client.jobs.get("a"), plain)
    report_calls("await jobs.get", ours, other)


def main() -> None:
    report_imports()
    # the client's pacing is intended, and not part of this measurement
    os.environ["FOLDNOTE_REQUESTS_PER_SECOND"] = "1e9"
    with tempfile.TemporaryDirectory() as home, server() as url:
        os.environ["FOLDNOTE_HOME"] = home
        measure_sync(url)
        asyncio.run(measure_async(url))


if __name__ == "__main__":
    main()
