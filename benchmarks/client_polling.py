"""How often a kernel polls its jobs: a notebook with many job cards, a batch and pipelines.

A real service runs the jobs, each of which takes minutes, so that nothing ends while requests are counted.
One thread waits for all of them as well, as a cell that calls ``wait`` in the background does. Nothing here
is a test: machines differ.

    python benchmarks/client_polling.py [--seconds 75]
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path

import httpx
from _service import SETTINGS, TOOL, ServiceRun, report

from foldnote.client import AsyncClient, Client, JobHandle, Stage
from foldnote.errors import FoldnoteError
from foldnote.viewers import JobCard

CARDS = 20
ROWS = 20
PIPELINES = 3
LIMIT = 12
YOUNG_S = 12.0
"""A job's first ten seconds, in which it is polled more often."""


class Counted(httpx.AsyncHTTPTransport):
    """Record the times of requests."""

    def __init__(self, asked: list[float]) -> None:
        super().__init__()
        self.asked = asked

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send the request."""
        self.asked.append(time.monotonic())
        return await super().handle_async_request(request)


class CountedAtOnce(httpx.HTTPTransport):
    """The same for the synchronous client of the waiting thread."""

    def __init__(self, asked: list[float]) -> None:
        super().__init__()
        self.asked = asked

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send the request."""
        self.asked.append(time.monotonic())
        return super().handle_request(request)


def submit(client: Client) -> list[JobHandle]:
    """Submit jobs, a batch with rows, and runs of a pipeline."""
    sequence = SETTINGS["sequence"]
    jobs = [
        client.jobs.submit(TOOL, {"sequence": sequence + "S" * n, "scheme": "imgt"}) for n in range(CARDS)
    ]
    rows = [{"sequence": sequence + "T" * n, "scheme": "imgt"} for n in range(ROWS)]
    batch = client.batches.submit(TOOL, rows, "batch")
    runs = []
    for number in range(PIPELINES):
        saved = client.pipelines.submit(f"pipeline-{number}", [Stage("number", TOOL, dict(SETTINGS))])
        runs.append(client.pipelines.run(saved))
    return [*jobs, batch, *batch.subjobs(), *runs]


async def watch(service: ServiceRun, handles: list[JobHandle], asked: list[float], seconds: float) -> None:
    """Show a card of each job for this long."""
    pool = httpx.AsyncClient(transport=Counted(asked))
    async with pool, AsyncClient(base_url=service.url, api_key=service.key, http_client=pool) as client:
        cards = [JobCard(handle.record, client.jobs) for handle in handles]
        await asyncio.sleep(seconds)
        for card in cards:
            card.close()


def measure(seconds: float) -> None:
    """Return the requests per minute after the first seconds."""
    asked: list[float] = []
    engine = ("/bin/sleep", "600")
    with tempfile.TemporaryDirectory() as folder, ServiceRun(Path(folder), engine) as service:
        client = Client(
            base_url=service.url,
            api_key=service.key,
            http_client=httpx.Client(transport=CountedAtOnce(asked)),
        )
        handles = submit(client)

        def wait() -> None:
            with suppress(FoldnoteError):
                client.jobs.wait(handles, timeout_s=seconds)

        thread = threading.Thread(target=wait)
        begin = time.monotonic()
        thread.start()
        asyncio.run(watch(service, handles, asked, seconds))
        thread.join()
        late = [each for each in asked if begin + YOUNG_S < each < begin + seconds]
        early = [each for each in asked if begin < each <= begin + YOUNG_S]
        for handle in handles:
            handle.stop()
    what = f"requests of {len(handles)} cards and one wait"
    report(f"{what}, in a minute", len(late) * 60 / (seconds - YOUNG_S), LIMIT, "1/min")
    report(f"{what}, in the first {YOUNG_S:g} s", len(early), 2 * LIMIT, "requests")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=75.0, help="how long cards are shown")
    measure(parser.parse_args().seconds)
