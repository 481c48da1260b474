"""Connections that send nothing, too little or too late, too many connections, and protocol upgrades."""

import contextlib
import inspect
import resource
import signal
import socket
import time

import httpx
import pytest
from service_process import SETTINGS, ServiceProcess

from foldnote.service.http import connections
from foldnote.service.http.file_responses import SendingProtocol

FILES = 400
TCP_ESTABLISHED = 1
CONNECTIONS = 108
"""Three quarters of the allowed files, minus those of the service."""


def prepare(folder, *options):
    """Start a service that may open few files, and waits only a second or two for headers and bodies."""
    service = ServiceProcess(folder, "--no-rate-limit", *options)
    service.code = (
        "import resource; from foldnote.service.http import connections\n"
        f"resource.setrlimit(resource.RLIMIT_NOFILE, (200, {FILES}))\n"
        "connections.HEAD_S, connections.BODY_CHECK_INTERVAL_S = 2.0, 1.0\n"
    ) + service.code
    return service


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    service = prepare(tmp_path_factory.mktemp("connections"))
    yield service.start()
    service.kill()


def connect(service):
    host, port = service.url.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=10)


def ask(connection):
    connection.sendall(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n")
    answer = b""
    while not answer.endswith(b"}") and (part := connection.recv(65_536)):
        answer += part
    return answer


def read_all(connection):
    parts = []
    with contextlib.suppress(ConnectionError):
        while part := connection.recv(65_536):
            parts.append(part)
    return b"".join(parts)


def test_the_soft_limit_of_files_is_raised_to_the_hard_one(house):
    assert resource.prlimit(house.process.pid, resource.RLIMIT_NOFILE) == (FILES, FILES)


def test_a_silent_connection_is_closed(house):
    with connect(house) as connection:
        assert read_all(connection) == b""


def test_a_head_that_comes_letter_by_letter_is_given_up(house):
    with connect(house) as connection:
        began = time.monotonic()
        with contextlib.suppress(ConnectionError):
            for letter in b"GET /healthz HTTP/1.1\r\n" + b"x: y\r\n" * 100:
                connection.sendall(bytes([letter]))
                time.sleep(0.1)
                if time.monotonic() - began > 2.5:
                    break
        assert read_all(connection).startswith(b"HTTP/1.1 408 ")


def test_a_second_head_is_given_up_like_the_first(house):
    with connect(house) as connection:
        assert ask(connection).startswith(b"HTTP/1.1 200 ")
        connection.sendall(b"GET /hea")
        assert b"408 Request Timeout" in read_all(connection)


def test_a_body_that_hardly_moves_is_given_up(house):
    head = f"PUT /upload/slow.txt HTTP/1.1\r\nhost: localhost\r\nx-api-key: {house.key}\r\ncontent-length: 100000\r\n\r\n"
    with connect(house) as connection:
        connection.sendall(head.encode())
        with contextlib.suppress(ConnectionError):
            for _ in range(15):
                connection.sendall(b"x")
                time.sleep(0.1)
        assert read_all(connection).startswith(b"HTTP/1.1 408 ")


def test_a_slow_body_that_moves_is_taken(house):
    def parts():
        for _ in range(14):
            yield b"x" * 200
            time.sleep(0.1)

    assert house.client.put("/upload/steady.txt", content=parts()).status_code == 200


def test_silent_connections_do_not_make_the_service_deaf_or_fill_its_log(house):
    before = (house.folder / "service.log").stat().st_size
    begun = time.monotonic()
    with contextlib.ExitStack() as stack:
        for _ in range(FILES + 300):
            with contextlib.suppress(OSError):
                stack.enter_context(connect(house))
        time.sleep(1.1)  # the first ones have been silent for a second
        statuses = [httpx.get(f"{house.url}/healthz", timeout=10).status_code]
        while statuses[-1] != 200 and time.monotonic() < begun + 1.9:  # and none of them for two
            time.sleep(0.1)
            statuses.append(httpx.get(f"{house.url}/healthz", timeout=10).status_code)
        assert statuses[-1] == 200, statuses
    assert (house.folder / "service.log").stat().st_size - before < 5_000


def test_a_connection_above_the_limit_is_refused_with_a_message(house):
    with contextlib.ExitStack() as stack:
        held = [stack.enter_context(connect(house)) for _ in range(CONNECTIONS + 5)]
        assert any(read_all(each).startswith(b"HTTP/1.1 503 ") for each in reversed(held))


def test_an_idle_connection_gives_way_to_a_new_one(house):
    with contextlib.ExitStack() as stack:
        for number in range(CONNECTIONS + 20):
            assert ask(stack.enter_context(connect(house))).startswith(b"HTTP/1.1 200 "), number
            time.sleep(1.1 if number == 60 else 0)


def test_options_set_the_connections_that_are_held_and_that_wait(tmp_path):
    service = prepare(tmp_path, "--connections", "144", "--backlog", "20").start()
    host, port = service.url.removeprefix("http://").split(":")
    with contextlib.ExitStack() as stack:
        stack.callback(service.kill)
        held = []
        for number in range(CONNECTIONS + 20):
            held.append(stack.enter_context(connect(service)))
            assert ask(held[-1]).startswith(b"HTTP/1.1 200 "), number
            time.sleep(1.1 if number == CONNECTIONS else 0)
        assert all(ask(each).startswith(b"HTTP/1.1 200 ") for each in held)
        service.process.send_signal(signal.SIGSTOP)
        waiting = [stack.enter_context(socket.socket()) for _ in range(40)]
        for each in waiting:
            each.setblocking(False)
            each.connect_ex((host, int(port)))
        time.sleep(0.2)
        states = [each.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] for each in waiting]
    assert states.count(TCP_ESTABLISHED) == 21  # Linux queues one more


def test_more_connections_than_files_are_refused_at_the_start(tmp_path):
    service = prepare(tmp_path, "--connections", "145")
    process = service.spawn()
    assert process.wait(120) == 2
    process.stdout.close()
    assert "145 connections need 401 open files" in (tmp_path / "service.log").read_text()


UPGRADES = {
    "h2c": "connection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABkAARAAAAA\r\n",
    "websocket": "connection: keep-alive, upgrade\r\nupgrade: websocket\r\n",
    "unknown": "Connection: upgrade\r\nUpgrade: TLS/1.0\r\n",
}


@pytest.mark.parametrize("upgrade", UPGRADES.values(), ids=UPGRADES)
@pytest.mark.parametrize("is_chunked", [False, True])
def test_a_request_that_offers_an_upgrade_keeps_its_body(house, upgrade, is_chunked):
    body = b'{"type":"anarci","settings":{"sequence":"%s"}}' % SETTINGS["sequence"].encode()
    length = "transfer-encoding: chunked" if is_chunked else f"content-length: {len(body)}"
    sent = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body) if is_chunked else body
    head = f"POST /validate-job HTTP/1.1\r\nhost: localhost\r\nx-api-key: {house.key}\r\n{upgrade}{length}\r\n\r\n"
    with connect(house) as connection:
        connection.sendall(head.encode() + sent[:40])
        time.sleep(0.05)
        connection.sendall(
            sent[40:] + b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"
        )
        answer = read_all(connection)
    assert b'"valid":true' in answer
    assert answer.count(b"HTTP/1.1 200 ") == 2


def test_a_tunnel_is_refused_once(house):
    with connect(house) as connection:
        connection.sendall(b"CONNECT localhost:80 HTTP/1.1\r\nhost: localhost\r\n\r\nGET / HTTP/1.1\r\n\r\n")
        assert read_all(connection).count(b"HTTP/1.1 4") == 1


@pytest.mark.parametrize(
    "name",
    ["connection_made", "connection_lost", "data_received", "on_headers_complete", "on_message_complete", "on_body",
     "send_400_response", "_start_asgi_task", "_unset_keepalive_if_required"],
)  # fmt: skip
def test_uvicorn_still_has_what_the_connection_builds_on(name):
    """If this fails after an upgrade, compare uvicorn's httptools_impl.py with connections.py."""
    assert inspect.isfunction(getattr(connections.Connection.__mro__[1], name, None)), name


@pytest.mark.parametrize("name", ["disconnected", "expected_content_length", "flow", "response_started"])
def test_uvicorn_still_has_what_the_sending_of_files_builds_on(name):
    """If this fails after an upgrade, compare RequestResponseCycle with file_responses.py."""
    assert name in connections.RequestResponseCycle.__init__.__code__.co_names, name


def test_the_service_speaks_with_the_limited_connection():
    assert issubclass(SendingProtocol, connections.Connection)
