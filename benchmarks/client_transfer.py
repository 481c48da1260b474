"""The cost of the client with large amounts: 10,000 jobs, a gigabyte, and twenty watched jobs.

Each figure is compared with a limit, or with bare httpx in the same run against the same server. Memory is
the peak of a separate process. Nothing here is a test: machines differ.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

JOBS = 10_000
PAGE = 1000
ROUNDS = 9
ROWS_LIMIT_S = 0.060
FRAME_LIMIT_S = 0.250
WATCHED = 20
WATCH_LIMIT = 12
SHARE_LIMIT = 0.90
GIGABYTE = 10**9
PLAIN_FIELDS = {
    **dict.fromkeys(("jobName", "type", "status"), (str, ...)),
    **dict.fromkeys(("projectTag", "email", "batch", "error", "message"), (str | None, None)),
    **dict.fromkeys(("created", "started", "completed"), (datetime | None, None)),
    **dict.fromkeys(("weightedHours", "progress"), (float | None, None)),
    **dict.fromkeys(("settings", "score"), (dict[str, Any] | None, None)),
}
"""The models of a program that reads these records with pydantic alone, in one spelling."""
SERVER = """
import asyncio, hashlib, json, sys
pages, size = json.loads(open(sys.argv[1]).read()), int(sys.argv[2])
block = bytes(range(256)) * 4096
digest = hashlib.sha256()
for begin in range(0, size, len(block)):
    digest.update(block[: min(len(block), size - begin)])
etag = digest.hexdigest()

async def body(writer):
    left = size
    while left:
        writer.write(block[: min(left, len(block))])
        left -= min(left, len(block))
        await writer.drain()

def head(length, more=""):
    kind = "content-type: application/json"
    return f"HTTP/1.1 200 OK\\r\\n{kind}\\r\\ncontent-length: {length}\\r\\n{more}\\r\\n".encode()

async def serve(reader, writer):
    try:
        while request := await reader.readuntil(b"\\r\\n\\r\\n"):
            path = request.split(b" ", 2)[1].decode()
            if path == "/file":
                writer.write(head(size, f'etag: "{etag}"\\r\\n'))
                await body(writer)
                continue
            if path == "/result":
                await reader.readexactly(int(request.lower().split(b"content-length: ")[1].split(b"\\r")[0]))
                answer = json.dumps("/file")
            else:
                answer = pages[path.partition("startKey=")[2].partition("&")[0] or "0"]
            writer.write(head(len(answer)) + answer.encode())
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()

async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()

asyncio.run(main())
"""
BARE = """
import sys, httpx
with httpx.stream("GET", sys.argv[1] + "/file", timeout=300) as answer, open(sys.argv[2], "wb") as target:
    for chunk in answer.iter_bytes():
        target.write(chunk)
"""
OURS = """
import sys
from foldnote.client import Client
with Client(base_url=sys.argv[1], api_key="k") as client:
    client.jobs.download("big", "big.bin")
"""
TIMER = """
import resource, runpy, sys, time
sys.argv = sys.argv[1:]
import httpx, foldnote.client
code = compile(sys.argv[0], "timed", "exec")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
begun = time.perf_counter()
exec(code, {"__name__": "__main__"})
print(time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def record(number: int) -> dict[str, object]:
    return {
        "jobName": f"job-{number}",
        "type": "anarci",
        "status": "Complete",
        "settings": {
            "sequence": "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVARIYPTNGYTRY",
            "scheme": "imgt",
        },
        "projectTag": None,
        "created": f"2026-11-01T10:{number // 60 % 60:02}:{number % 60:02}.123Z",
        "started": "2026-11-01T11:00:01.000Z",
        "completed": "2026-11-01T11:00:02.500Z",
        "email": "a@example.org",
        "batch": None,
        "score": {"probe": number / JOBS},
        "weightedHours": 0.01,
        "error": None,
        "progress": None,
        "message": None,
    }


def make_pages() -> dict[str, str]:
    pages = {}
    for begin in range(0, JOBS, PAGE):
        jobs = [record(number) for number in range(begin, begin + PAGE)]
        page: dict[str, object] = {"jobs": jobs, "statuses": {"Complete": JOBS}}
        if begin + PAGE < JOBS:
            page["startKey"] = str(begin + PAGE)
        pages[str(begin)] = json.dumps(page)
    pages["big"] = json.dumps(record(0) | {"jobName": "big"})
    return pages


@contextmanager
def server(folder: Path, size: int) -> Iterator[str]:
    """Start a server in its own process with pages of jobs and one large file."""
    (folder / "pages.json").write_text(json.dumps(make_pages()))
    command = [sys.executable, "-c", SERVER, str(folder / "pages.json"), str(size)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
        process.terminate()


def costs(*calls: Callable[[], object]) -> list[tuple[float, float]]:
    """Return the median wall and processor seconds of each call, measured alternately.

    Return values are kept until the time is taken, so freeing their memory does not count.
    """
    clock: list[list[float]] = [[] for _ in calls]
    processor: list[list[float]] = [[] for _ in calls]
    for _ in range(ROUNDS + 1):
        for number, call in enumerate(calls):
            begun, used = time.perf_counter(), time.process_time()
            kept = call()
            clock[number].append(time.perf_counter() - begun)
            processor[number].append(time.process_time() - used)
            del kept
    return [
        (statistics.median(times[1:]), statistics.median(own[1:]))
        for times, own in zip(clock, processor, strict=True)
    ]


def measure_rows(url: str) -> None:
    import httpx
    from pydantic import BaseModel, create_model

    from foldnote.client import Client

    plain_job = create_model("PlainJob", **PLAIN_FIELDS)  # type: ignore[call-overload]
    plain_page: type[BaseModel] = create_model("PlainPage", jobs=tuple[plain_job, ...])
    with httpx.Client() as bare, Client(base_url=url, api_key="k") as client:

        def transfer() -> list[bytes]:
            keys = [
                {"limit": str(PAGE)} | ({"startKey": str(at)} if at else {}) for at in range(0, JOBS, PAGE)
            ]
            return [bare.get(f"{url}/jobs", params=key).content for key in keys]

        bodies = transfer()
        jobs = client.jobs.list(limit=JOBS)
        assert len(jobs) == JOBS
        (bare_s, bare_cpu_s), (rows_s, rows_cpu_s), (_, loads_s), (_, plain_s) = costs(
            transfer,
            lambda: client.jobs.list(limit=JOBS),
            lambda: [json.loads(body) for body in bodies],
            lambda: [plain_page.model_validate_json(body) for body in bodies],
        )
        frame_s, frame_cpu_s = costs(jobs.to_frame)[0]
    over_s, over_cpu_s = rows_s - bare_s, rows_cpu_s - bare_cpu_s
    print(f"{JOBS} jobs to rows: {over_s * 1000:.0f} ms over the transfer, which takes bare httpx", end=" ")
    print(f"{bare_s * 1000:.0f} ms; of the processor {over_cpu_s * 1000:.0f} ms,")
    print(f"    limit {ROWS_LIMIT_S * 1000:.0f} ms, ratio {over_s / ROWS_LIMIT_S:.2f}", end=", ")
    print(f"of the processor {over_cpu_s / ROWS_LIMIT_S:.2f}")
    print(f"    of the processor, json.loads of the same bytes {loads_s * 1000:.0f} ms,", end=" ")
    print(f"ratio {over_cpu_s / loads_s:.2f};", end=" ")
    print(f"plain pydantic models {plain_s * 1000:.0f} ms, ratio {over_cpu_s / plain_s:.2f}")
    print(f"    and to a DataFrame: {frame_s * 1000:.0f} ms, of the processor {frame_cpu_s * 1000:.0f} ms,")
    print(f"    limit {FRAME_LIMIT_S * 1000:.0f} ms, ratio {frame_s / FRAME_LIMIT_S:.2f}")


def count_requests() -> None:
    """Return the requests in the busiest minute of an hour; pauses are added up instead of slept."""
    from foldnote.client.core.connection import Address, ServiceConnection
    from foldnote.client.core.operations import Call, ServiceResponse, Sleep
    from foldnote.client.watching.waiting import wait_all
    from foldnote.settings import Profile

    names = [f"job-{number}" for number in range(WATCHED)]
    page = {"jobs": [record(number) | {"status": "Running", "completed": None} for number in range(WATCHED)]}
    steps, now, asked = (
        wait_all(ServiceConnection(Profile("p", "http://p"), Address("http://p", None)), names),
        0.0,
        [],
    )
    effect = next(steps)
    while now < 3600:
        if isinstance(effect, Call):
            asked.append(now)
        now += effect.seconds if isinstance(effect, Sleep) else 0.0
        effect = steps.send(
            ServiceResponse(200, {}, json.dumps(page).encode()) if isinstance(effect, Call) else None
        )
    busiest = max(sum(begin <= moment < begin + 60 for moment in asked) for begin in asked)
    print(f"{WATCHED} watched jobs: {busiest} requests in the busiest minute of an hour,", end=" ")
    print(f"{len(asked) / 60:.1f} in the mean,")
    print(f"    limit {WATCH_LIMIT} a minute, ratio {busiest / WATCH_LIMIT:.2f}")


def run_timed(code: str, *arguments: str) -> tuple[float, float]:
    """Return the seconds and the peak memory beyond the imports, in MB, of a program in its own process."""
    done = subprocess.run(
        [sys.executable, "-c", TIMER, code, *arguments], capture_output=True, text=True, check=True
    )
    seconds, kilobytes = done.stdout.split()
    return float(seconds), float(kilobytes) / 1000


def measure_download(url: str, folder: Path, size: int) -> None:
    bare, ours, memory = [], [], []
    for number in range(3):
        bare.append(run_timed(BARE, url, str(folder / "bare.bin"))[0])
        os.environ["FOLDNOTE_HOME"] = str(folder / f"home{number}")
        seconds, megabytes = run_timed(OURS, url)
        ours.append(seconds)
        memory.append(megabytes)
        subprocess.run(["rm", "-rf", str(folder / f"home{number}")], check=True)
    bare_s, ours_s = statistics.median(bare), statistics.median(ours)
    rate = size / 1e6
    print(f"download of {size / 1e9:g} GB: {rate / ours_s:.0f} MB/s with its hash compared,", end=" ")
    print(f"memory +{max(memory):.0f} MB;")
    print(f"    bare httpx to a file {rate / bare_s:.0f} MB/s; ratio {bare_s / ours_s:.2f},", end=" ")
    print(f"limit {SHARE_LIMIT:.2f}")


def main() -> None:
    size = int(float(sys.argv[1]) * GIGABYTE) if len(sys.argv) > 1 else GIGABYTE
    # the client's pacing is intended, and not part of this measurement
    os.environ["FOLDNOTE_REQUESTS_PER_SECOND"] = "1e9"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["FOLDNOTE_HOME"] = str(folder / "home")
        with server(folder, size) as url:
            measure_rows(url)
            count_requests()
            measure_download(url, folder, size)


if __name__ == "__main__":
    main()
