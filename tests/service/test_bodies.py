"""Harmful request bodies are refused with an explanation, and do not increase the service's memory.

The service's peak memory is reset before each body, so it is caused by that body.
"""

import gzip
import select
import socket
from functools import cache
from pathlib import Path

import httpx
import pytest
from service_process import PDB, SETTINGS, ServiceProcess

MB = 1 << 20
GROWTH = 10 * MB
SMALL_POSTS = [
    "/stop-job",
    "/cancelJob",
    "/cancelBatch",
    "/result",
    "/getPresignedUploadUrl",
    "/model-router",
]
LARGE_POSTS = ["/submit-job", "/submit-batch", "/submit-pipeline", "/run-pipeline", "/virtual-screening"]
SETTING = b'{"jobName": "a", "type": "anarci", "settings": {"sequence": %s}}'


@cache
def make_bomb() -> bytes:
    return gzip.compress(b" " * (100 * MB))


BODIES = {
    "deep": b"[" * (MB // 2) + b"]" * (MB // 2),
    "deep in a setting": SETTING % (b'{"a":' * 100_000 + b"1" + b"}" * 100_000),
    "many objects": b"[" + b"{}," * (MB // 3 - 2) + b"{}]",
    "many numbers": b"[" + b"0.1," * (MB // 4 - 2) + b"0.1]",
    "many keys": b"{" + b",".join(b'"%x":{}' % number for number in range(MB // 10)) + b"}",
    "not a number": SETTING % b"NaN",
    "infinity": SETTING % b"-Infinity",
    "too large a number": SETTING % b"1e999",
    "half a character": SETTING % b'"\\ud800"',
    "half a character as a key": b'{"\\udfff": 1}',
    "not utf-8": b'{"jobName": "\xff"}',
    "gzip bomb": make_bomb,
    "long text": b'"' + b"a" * (MB - 2) + b'"',
}


@pytest.fixture(scope="module")
def warm(tmp_path_factory):
    """Start a service and send it usual bodies, so that its memory has reached its normal size."""
    service = ServiceProcess(
        tmp_path_factory.mktemp("bodies"), "--no-rate-limit", "--allow-deploy-model", "--upload-mb", "4"
    ).start()
    for number in range(3):
        service.submit(f"warm{number}")
        service.client.put("/upload/a.pdb", content=PDB.encode() * 3000)
        for path in SMALL_POSTS + LARGE_POSTS:
            service.client.post(path, content=b'{"a": "' + b"x" * 600_000 + b'"}')
    yield service
    service.kill()


class Memory:
    """A service's resident memory in bytes, current and peak since the last reset."""

    def __init__(self, service):
        self._folder = Path(f"/proc/{service.process.pid}")
        if not self._folder.exists():
            pytest.skip("memory is read from /proc")
        (self._folder / "clear_refs").write_text("5")
        self._before = self._read("VmRSS")

    def _read(self, field):
        line = next(
            each for each in (self._folder / "status").read_text().splitlines() if each.startswith(field)
        )
        return int(line.split()[1]) * 1024

    def growth(self):
        return self._read("VmHWM") - self._before


@pytest.mark.parametrize("path", [*SMALL_POSTS, *LARGE_POSTS, "/validate-job"])
@pytest.mark.parametrize("body", BODIES)
def test_a_body_that_would_hurt_is_refused_at_no_cost(warm, path, body):
    content = BODIES[body]() if body == "gzip bomb" else BODIES[body]
    headers = {"content-encoding": "gzip"} if body == "gzip bomb" else {}
    memory = Memory(warm)
    answer = warm.client.post(path, content=content, headers=headers)
    assert memory.growth() <= GROWTH
    is_verdict = path == "/validate-job" and answer.status_code == 200
    assert answer.status_code in (400, 413) or (is_verdict and not answer.json()["valid"])


@pytest.mark.parametrize("path", SMALL_POSTS)
@pytest.mark.parametrize("is_chunked", [False, True])
def test_one_byte_more_than_a_megabyte_is_refused(warm, path, is_chunked):
    content = b" " * (MB + 1)
    memory = Memory(warm)
    answer = warm.client.post(path, content=iter([content]) if is_chunked else content)
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
    assert answer.json()["limitBytes"] == MB
    assert memory.growth() <= GROWTH
    assert warm.client.post(path, content=b" " * MB).status_code == 400


def send_without_end(service, head):
    """Send chunks until the service responds; return the first line of the response and the number of bytes sent."""
    host, port = service.url.removeprefix("http://").split(":")
    sent = 0
    with socket.create_connection((host, int(port)), timeout=20) as connection:
        connection.sendall(head)
        chunk = b"10000\r\n" + b" " * 65536 + b"\r\n"
        while sent < 200 * MB and not select.select([connection], [], [], 0)[0]:
            connection.sendall(chunk)
            sent += 65536
        return connection.recv(100).split(b"\r\n")[0], sent


@pytest.mark.parametrize("target", ["POST /stop-job", "POST /validate-job", "PUT /upload/x.pdb"])
def test_a_body_without_an_end_is_cut_off(warm, target):
    head = f"{target} HTTP/1.1\r\nhost: x\r\nx-api-key: {warm.key}\r\ntransfer-encoding: chunked\r\n\r\n"
    memory = Memory(warm)
    line, sent = send_without_end(warm, head.encode())
    assert line.startswith(b"HTTP/1.1 413")
    assert sent < 20 * MB
    assert memory.growth() <= GROWTH


def test_an_upload_above_the_limit_is_refused_before_it_is_read(warm):
    memory = Memory(warm)
    answers = [
        warm.client.put("/upload/x.pdb", content=b" " * (4 * MB + 1)),
        warm.client.put("/upload/x.pdb", content=iter([b" " * MB] * 6)),
        httpx.put(
            warm.client.post("/getPresignedUploadUrl", json={"filename": "x.pdb"}).json()["uploadUrl"],
            content=b" " * (4 * MB + 1),
        ),
    ]
    for answer in answers:
        assert (answer.status_code, answer.json()["code"], answer.json()["limitBytes"]) == (
            413,
            "too_large",
            4 * MB,
        )
    assert memory.growth() <= GROWTH
    assert warm.client.get("/files/x.pdb").status_code == 404
    assert not list((warm.folder / "data" / "objects" / "drafts").iterdir())
    assert warm.client.put("/upload/x.pdb", content=b" " * (4 * MB)).status_code == 200


def test_a_large_upload_is_stored_in_constant_memory(warm):
    memory = Memory(warm)
    assert warm.client.put("/upload/large.pdb", content=b"A" * (4 * MB)).status_code == 200
    assert memory.growth() <= GROWTH


def test_the_commas_of_a_file_do_not_count_as_values(warm):
    """A table of a million cells inline is a single text value."""
    table = "1,2,3,4,5,6,7,8,9,10\n" * 100_000
    body = {"type": "af2bind", "settings": {"pdbFile": f'{table}"{{[', "chain": "A"}}
    answer = warm.client.post("/validate-job", json=body)
    assert answer.status_code == 200


def test_the_service_works_after_all_that(warm):
    assert warm.run("after", settings=SETTINGS)["status"] == "Complete"
    assert "internal fault" not in (warm.folder / "service.log").read_text()
