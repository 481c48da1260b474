"""A large result streamed by the service, alternating with plain static file servers; time and memory.

The file is cached in memory, so the disk is not measured; the client discards what it reads and checks the
length. Nothing here is a test: machines differ.

    python benchmarks/service_download.py [--gb 2] [--runs 3]
"""

from __future__ import annotations

import argparse
import os
import socket
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

from _service import ServiceRun, processes_of, report, say_load

MARK = 0.8
STARLETTE = """
import socket, sys
import uvicorn
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles
app = Starlette(routes=[Mount("/", StaticFiles(directory=sys.argv[1]))])
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False, ws="none")).run([listener])
"""
HTTP_SERVER = """
import functools, sys
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
handler = functools.partial(SimpleHTTPRequestHandler, directory=sys.argv[1])
server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
print(server.server_address[1], flush=True)
server.serve_forever()
"""


def read_all(url: str, size: int) -> float:
    """Return the seconds of a download after its header has arrived."""
    parts = urlsplit(url)
    path = parts.path + (f"?{parts.query}" if parts.query else "")
    buffer = bytearray(1 << 20)
    with socket.create_connection((parts.hostname, parts.port)) as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n".encode())
        begun = time.perf_counter()
        head = b""
        while b"\r\n\r\n" not in head:
            head += connection.recv(65_536)
        first, _, body = head.partition(b"\r\n\r\n")
        if not first.split(b" ", 2)[1] == b"200":
            raise RuntimeError(first.decode())
        received = len(body)
        while count := connection.recv_into(buffer):
            received += count
    if received != size:
        raise RuntimeError(f"{received} bytes came, not {size}.")
    return time.perf_counter() - begun


class PeakMemory:
    """The peak resident memory of a process during the block, in MB, by sampling (Linux)."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._ended = threading.Event()
        self.before = self.peak = self._now()

    def __enter__(self) -> PeakMemory:
        self._ended.clear()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(0.05):
            self.peak = max(self.peak, self._now())

    def _now(self) -> float:
        pages = int(Path(f"/proc/{self._pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


def place(service: ServiceRun, data: Path, size: int) -> tuple[str, Path]:
    """Store a content of `size` bytes; return its signed link, and its folder for the peers."""
    answer = service.client.put("/upload/large.bin", content=b"x")
    answer.raise_for_status()
    (path,) = (each for each in (data / "objects").glob("??/*") if each.is_file())
    os.truncate(path, size)
    return answer.json()["signedUrl"], path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gb", type=float, default=2.0)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    size = int(options.gb * 1e9)
    say_load()
    with tempfile.TemporaryDirectory() as name, ServiceRun(Path(name)) as service:
        link, path = place(service, Path(name) / "data", size)
        peers = {"Starlette StaticFiles, the same uvicorn": STARLETTE, "python http.server": HTTP_SERVER}
        times: dict[str, list[float]] = {"ours": [], **{peer: [] for peer in peers}}
        read_all(link, size)
        memory = PeakMemory(service.process.pid)
        for _ in range(options.runs):
            with memory:
                times["ours"].append(read_all(link, size))
            for peer, code in peers.items():
                with processes_of([sys.executable, "-c", code, str(path.parent)]) as (_process, port):
                    time.sleep(1.0)
                    times[peer].append(read_all(f"http://127.0.0.1:{port}/{path.name}", size))
        own = statistics.median(times.pop("ours"))
        print(f"{options.gb:g} GB by signed link: {size / own / 1e6:.0f} MB a second")
        for peer, found in times.items():
            rate = statistics.median(found) / own
            print(
                f"    {peer}: {size / statistics.median(found) / 1e6:.0f} MB a second;"
                f" ours is {rate:.0%} of it, mark {MARK:.0%}, ratio {rate / MARK:.2f}"
            )
        report("memory above that before", memory.peak - memory.before, 32.0, "MB")


if __name__ == "__main__":
    main()
