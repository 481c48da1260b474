"""Downloads over real sockets: complete, in part, to clients that are slow or leave, and while the file disappears."""

import contextlib
import os
import random
import signal
import socket
import threading
import time
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
import uvicorn
from service_process import ServiceProcess

from foldnote.service.http.file_responses import EXTENSION, SendingProtocol

SIZE = 40_000_003
"""More than the socket buffers between a service and a client hold."""
PATIENCE_S = 60


@cache
def make_large() -> bytes:
    return random.Random(5).randbytes(SIZE)


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    service = ServiceProcess(tmp_path_factory.mktemp("sending"), "--no-rate-limit").start()
    yield service
    service.kill()


@pytest.fixture(scope="module")
def link(house):
    """Return a signed link to a content that no test changes."""
    return put(house, "large.bin", make_large())


def put(service, name, content):
    answer = service.client.put(f"/upload/{name}", content=content)
    assert answer.status_code == 200, answer.text
    return answer.json()["signedUrl"]


def stored(service, link):
    """Return the path of a link's content."""
    sha256 = urlsplit(link).path.split("/")[-2]
    return service.folder / "data" / "objects" / sha256[:2] / sha256


class Slow:
    """A client that has read the header and a little of a download, and reads on when told to."""

    def __init__(self, link):
        parts = urlsplit(link)
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
        self.socket.settimeout(PATIENCE_S)
        self.socket.connect((parts.hostname, parts.port))
        path = f"{parts.path}?{parts.query}"
        self.socket.sendall(f"GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n".encode())
        head = b""
        while b"\r\n\r\n" not in head:
            head += self.socket.recv(1000)
        self.head, _, self.body = head.partition(b"\r\n\r\n")

    def read_rest(self):
        received = [self.body]
        while some := self.socket.recv(1 << 20):
            received.append(some)
        self.socket.close()
        return b"".join(received)


def wait_until(is_so):
    until = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.05)


def open_files(service):
    """Return the stored contents that the service has open."""
    found = []
    for path in Path(f"/proc/{service.process.pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            found.append(str(path.readlink()))
    return [each for each in found if "/objects/" in each]


def test_a_complete_content_is_sent_and_the_connection_stays_open(link):
    with httpx.Client(timeout=60) as client:
        for _ in range(2):
            answer = client.get(link)
            assert (answer.status_code, answer.content) == (200, make_large())
            assert answer.headers["content-length"] == str(SIZE)
        assert client.head(link).headers["content-length"] == str(SIZE)
        assert client.get(link, headers={"range": "bytes=5-9"}).content == make_large()[5:10]


def test_requests_that_come_at_once_are_answered_in_their_order(link):
    parts = urlsplit(link)
    with socket.create_connection((parts.hostname, parts.port), PATIENCE_S) as connection:
        request = f"GET {parts.path}?{parts.query} HTTP/1.1\r\nhost: x\r\n"
        connection.sendall(f"{request}range: bytes=7-\r\n\r\n{request}connection: close\r\n\r\n".encode())
        received = b"".join(iter(lambda: connection.recv(1 << 20), b""))
    for start in (7, 0):
        head, _, received = received.partition(b"\r\n\r\n")
        assert f"content-length: {SIZE - start}".encode() in head.lower()
        assert received[: SIZE - start] == make_large()[start:]
        received = received[SIZE - start :]
    assert received == b""


@pytest.mark.parametrize(
    ("asked", "start", "end"),
    [
        ("bytes=0-0", 0, 1),
        ("bytes=1000-", 1000, SIZE),
        (f"bytes=100-{SIZE * 2}", 100, SIZE),
        ("bytes=-7", SIZE - 7, SIZE),
        (f"bytes=0-{SIZE - 1}", 0, SIZE),
    ],
)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_range_is_what_was_asked_for(link, method, asked, start, end):
    answer = httpx.request(method, link, headers={"range": asked})
    assert answer.status_code == 206
    assert answer.headers["content-range"] == f"bytes {start}-{end - 1}/{SIZE}"
    assert answer.headers["content-length"] == str(end - start)
    assert answer.content == (make_large()[start:end] if method == "GET" else b"")


def test_several_ranges_come_in_parts(link):
    answer = httpx.get(link, headers={"range": "bytes=0-3,100-103"})
    assert answer.status_code == 206
    assert make_large()[:4] in answer.content
    assert make_large()[100:104] in answer.content


@pytest.mark.parametrize(
    ("asked", "status"), [(f"bytes={SIZE}-", 416), ("bytes=5-2", 400), ("lines=1-2", 400)]
)
def test_a_wrong_range_is_refused(link, asked, status):
    assert httpx.get(link, headers={"range": asked}).status_code == status


def test_a_range_of_another_content_is_the_whole(link):
    etag = httpx.head(link).headers["etag"]
    same = httpx.get(link, headers={"range": "bytes=3-5", "if-range": etag})
    assert (same.status_code, same.content) == (206, make_large()[3:6])
    other = httpx.get(link, headers={"range": "bytes=3-5", "if-range": '"other"'})
    assert (other.status_code, len(other.content)) == (200, SIZE)


def test_slow_clients_delay_no_other_request(house, link):
    """More slow clients than the service has threads."""
    slow = [Slow(link) for _ in range(60)]
    for _ in range(3):
        assert house.client.get("/jobs").status_code == 200
    assert httpx.get(link).content == make_large()
    assert slow[0].read_rest() == slow[-1].read_rest() == make_large()
    for each in slow[1:-1]:
        each.socket.close()
    wait_until(lambda: not open_files(house))


def test_downloads_at_the_same_time_are_all_whole(link):
    received = []
    threads = [threading.Thread(target=lambda: received.append(httpx.get(link).content)) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(PATIENCE_S)
    assert [each == make_large() for each in received] == [True] * 4


def test_a_client_that_leaves_leaves_nothing_open(house, link):
    for how in (socket.SHUT_RDWR, socket.SHUT_WR, None):
        client = Slow(link)
        if how is not None:
            client.socket.shutdown(how)
        client.socket.close()
    wait_until(lambda: not open_files(house))
    assert "Exception in ASGI" not in (house.folder / "service.log").read_text()
    assert httpx.get(link).content == make_large()


def test_a_content_that_is_deleted_meanwhile_comes_whole(house):
    content = make_large()[::-1]
    link = put(house, "gone.bin", content)
    client = Slow(link)
    stored(house, link).unlink()
    assert client.read_rest() == content
    assert httpx.get(link).status_code == 404


def test_a_content_that_becomes_shorter_breaks_the_connection_off(house):
    link = put(house, "shorter.bin", b"x" + make_large())
    client = Slow(link)
    os.truncate(stored(house, link), SIZE // 2)
    assert len(client.read_rest()) < SIZE
    assert house.client.get("/jobs").status_code == 200


def test_a_service_ends_although_a_client_reads_no_further(make_service):
    service = make_service()
    client = Slow(put(service, "large.bin", make_large()))
    assert service.end(signal.SIGTERM) in (0, -signal.SIGTERM)
    client.socket.close()


@contextlib.contextmanager
def serving(app):
    """Run uvicorn with our protocol in a thread of this process; return its address."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(
        uvicorn.Config(app, http=SendingProtocol, log_config=None, ws="none", lifespan="off")
    )
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(PATIENCE_S)


def sending(path, count):
    """Return an application that sends the beginning of a file."""

    async def app(scope, receive, send):
        assert EXTENSION in scope["extensions"]
        headers = [(b"content-length", str(count).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        with open(path, "rb") as file:  # noqa: PTH123
            await send({"type": EXTENSION, "file": file, "offset": 0, "count": count})

    return app


@pytest.mark.parametrize("path", ["/proc/self/maps", __file__])
def test_a_file_comes_whether_the_kernel_can_send_it_or_not(path):
    """The kernel cannot send files of /proc."""
    begin = Path(path).read_bytes()[:60]
    with serving(sending(path, 60)) as url, httpx.Client(timeout=60) as client:
        assert [client.get(url).content for _ in range(2)] == [begin, begin]
