"""Pollers in their own process: each has a key and sends `GET /jobs` every few seconds.

`service_pollers.py` starts it, once per core or more. The times of the requests are fixed before the start,
with random phases, so a slow service gets no fewer requests. A response time counts from the moment at which
the request was due, so it includes the delay of this process. A response counts only if it has status 200 and
names the account's own job.

    python benchmarks/_poller_load.py URL KEYS_FILE TIMES_FILE --seconds 60

`KEYS_FILE` has one key and one job name per line, separated by a space. `TIMES_FILE` receives the
milliseconds of each response as 32-bit floats. One line of JSON on standard output reports the counts, the
errors by kind, the longest delay of this process and its processor time.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import time
from array import array
from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit

import httptools

TIMEOUT_S = 30.0
_ADDRESSES = 8
"""Source addresses, 127.0.0.2 and following, of pollers that open a connection per request: each address has
28,000 ports, and a closed connection occupies its port for a minute."""


class Load:
    """State shared by all pollers of this process.

    Attributes:
        times_ms: milliseconds of each response, from the moment when its request was due.
        errors: number of failures of each kind.
        max_delay_ms: largest delay between the moment when a request was due and its start in this process.
        asked: number of requests.
        connected: number of connections that were opened.
    """

    def __init__(self, host: str, port: int, *, every_s: float, until: float, is_kept: bool) -> None:
        self.host, self.port = host, port
        self.every_s, self.until, self.is_kept = every_s, until, is_kept
        self.loop = asyncio.get_running_loop()
        self.times_ms = array("f")
        self.errors: Counter[str] = Counter()
        self.max_delay_ms = 0.0
        self.asked = self.connected = self.body_bytes = 0
        self.open = 0
        self.ended = asyncio.Event()


class Poller(asyncio.Protocol):
    """One account, which sends requests at fixed times, over one connection or a new one for each request."""

    def __init__(self, load: Load, number: int, key: str, job: str, due: float) -> None:
        self._load = load
        self._due = due
        self._job = job.encode()
        self._number = number
        close = "" if load.is_kept else "connection: close\r\n"
        self._request = (
            f"GET /jobs HTTP/1.1\r\nhost: {load.host}:{load.port}\r\nx-api-key: {key}\r\n{close}\r\n".encode()
        )
        self._transport: asyncio.Transport | None = None
        self._parser: httptools.HttpResponseParser | None = None
        self._body = b""
        self._timer: asyncio.TimerHandle | None = None
        self._is_waiting = False
        load.open += 1
        load.loop.call_at(due, self._ask)

    def _ask(self) -> None:
        load = self._load
        load.asked += 1
        load.max_delay_ms = max(load.max_delay_ms, (load.loop.time() - self._due) * 1000)
        self._is_waiting = True
        self._timer = load.loop.call_later(TIMEOUT_S, self._fail, "no answer in time")
        if self._transport is None or self._transport.is_closing():
            load.loop.create_task(self._connect())
        else:
            self._transport.write(self._request)

    async def _connect(self) -> None:
        load = self._load
        source = None if load.is_kept else (f"127.0.0.{2 + self._number % _ADDRESSES}", 0)
        try:
            await load.loop.create_connection(lambda: self, load.host, load.port, local_addr=source)
        except OSError as exc:
            self._fail(f"no connection: {exc.strerror or exc}")
            return
        load.connected += 1

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._parser = httptools.HttpResponseParser(self)
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        assert self._parser is not None
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as exc:
            self._fail(f"not HTTP: {type(exc).__name__}")

    def on_message_begin(self) -> None:
        self._body = b""

    def on_body(self, body: bytes) -> None:
        self._body += body

    def on_message_complete(self) -> None:
        assert self._parser is not None
        self._load.body_bytes += len(self._body)
        status = self._parser.get_status_code()
        if status != 200:
            self._fail(f"status {status}")
        elif self._job not in self._body:
            self._fail("another account's answer")
        else:
            self._load.times_ms.append((self._load.loop.time() - self._due) * 1000)
            self._go_on()

    def connection_lost(self, _: Exception | None) -> None:
        self._transport = None
        if self._is_waiting and self._load.is_kept:
            self._fail("connection closed before the answer")

    def _fail(self, why: str) -> None:
        if self._is_waiting:
            self._load.errors[why] += 1
            if self._transport is not None:
                self._transport.abort()
                self._transport = None
            self._go_on()

    def _go_on(self) -> None:
        load = self._load
        self._is_waiting = False
        assert self._timer is not None
        self._timer.cancel()
        if not load.is_kept and self._transport is not None:
            self._transport.close()
        self._due = max(self._due + load.every_s, load.loop.time())
        if self._due < load.until:
            load.loop.call_at(self._due, self._ask)
            return
        if self._transport is not None:
            self._transport.close()
        load.open -= 1
        if load.open == 0:
            load.ended.set()


async def poll(options: argparse.Namespace) -> Load:
    """Run all pollers until they finish."""
    parts = urlsplit(options.url)
    assert parts.hostname is not None
    assert parts.port is not None
    begin = asyncio.get_running_loop().time() + max(0.0, options.begin - time.time())
    load = Load(
        parts.hostname,
        parts.port,
        every_s=options.every,
        until=begin + options.seconds,
        is_kept=not options.new_connections,
    )
    phase = random.Random(options.keys.name)
    for number, line in enumerate(options.keys.read_text().splitlines()):
        key, job = line.split()
        Poller(load, number, key, job, begin + phase.random() * options.spread)
    await load.ended.wait()
    return load


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("keys", type=Path)
    parser.add_argument("times", type=Path)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--every", type=float, default=5.0)
    parser.add_argument("--spread", type=float, default=5.0, help="seconds over which the pollers begin")
    parser.add_argument("--begin", type=float, default=0.0, help="Unix time at which the first one begins")
    parser.add_argument("--new-connections", action="store_true", help="a new connection for each request")
    options = parser.parse_args()
    load = asyncio.run(poll(options))
    with options.times.open("wb") as file:
        load.times_ms.tofile(file)
    told = {
        "asked": load.asked,
        "answered": len(load.times_ms),
        "connected": load.connected,
        "errors": dict(load.errors),
        "max_delay_ms": load.max_delay_ms,
        "body_bytes": load.body_bytes,
        "cpu_s": time.process_time(),
    }
    sys.stdout.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    main()
