"""Hostile requests get a refusal that says why, and never cause a fault of the service."""

import contextlib
import json
import socket

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from service_process import SETTINGS

POSTS = [
    "/submit-job", "/submit-batch", "/validate-job", "/stop-job", "/result", "/cancelJob", "/cancelBatch",
    "/getPresignedUploadUrl", "/submit-pipeline", "/run-pipeline", "/model-router",
]  # fmt: skip
BODIES = {
    "nothing": b"",
    "words": b"hello",
    "half": b'{"jobName": "a"',
    "bad utf-8": b'{"jobName": "\xff\xfe"}',
    "nan": b'{"jobName": "a", "type": "anarci", "settings": {"sequence": NaN}}',
    "infinity": b'{"jobName": "a", "type": "anarci", "settings": {"sequence": -Infinity}}',
    "overflow": b'{"jobName": "a", "type": "anarci", "settings": {"sequence": 1e999}}',
    "surrogate": b'{"jobName": "\\ud800", "type": "anarci", "settings": {"sequence": "\\udfff"}}',
    "surrogate key": b'{"jobName": "a", "type": "anarci", "settings": {"\\ud800": 1}}',
    "deep": b'{"jobName": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "deepish": b'{"jobName": "a", "type": "anarci", "settings": {"sequence": ' + b"[" * 500 + b"]" * 500 + b"}}",
    "huge integer": b'{"jobName": "a", "type": "anarci", "settings": {"sequence": ' + b"9" * 5000 + b"}}",
    "utf-16": '{"jobName": "a"}'.encode("utf-16"),
    "gzip": b"\x1f\x8b\x08\x00\x00\x00\x00\x00",
}  # fmt: skip


@pytest.mark.parametrize("path", POSTS)
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_a_hostile_body_is_refused(client, path, body):
    answer = client.post(path, content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 400, answer.text
    assert set(answer.json()) >= {"error", "code"}


@pytest.mark.parametrize("path", POSTS)
@pytest.mark.parametrize("value", [None, 1, "x", [], [1], True])
def test_a_body_that_is_not_an_object_is_refused(client, path, value):
    answer = client.post(path, content=json.dumps(value).encode())
    if path == "/validate-job":
        assert (answer.status_code, answer.json()["valid"]) == (200, False)
    else:
        assert answer.status_code == 400


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    settings_=st.dictionaries(st.sampled_from(["sequence", "scheme", "x"]), JSON),
    tool=st.sampled_from(["anarci", "abmpnn", "af2bind", "align-pdbs", "alphafold"]),
)
def test_any_settings_get_a_verdict(client, settings_, tool):
    body = {"jobName": "never.sleep-1", "type": tool, "settings": settings_}
    content = json.dumps(body).encode()
    assert client.post("/validate-job", content=content).status_code in (200, 400)


@pytest.mark.parametrize(
    "params",
    [
        {"limit": 0}, {"limit": -1}, {"limit": "x"}, {"limit": 1.5}, {"startKey": ""}, {"startKey": "x"},
        {"startKey": "AAAA"}, {"startKey": "ü"}, {"startKey": "A" * 40}, {"organization": "false"},
        {"includeSubjobs": "1"}, {"jobEmail": "nobody"},
    ],
)  # fmt: skip
def test_a_wrong_parameter_names_itself(client, params):
    answer = client.get("/jobs", params=params)
    assert answer.status_code == 400
    assert answer.json()["field"] == next(iter(params))


@pytest.mark.parametrize("text", ["%ff", "%00", "%ed%a0%80", "%", "a%0d%0aX-Y:%20z"])
def test_hostile_queries_are_not_internal_errors(service, text):
    for target in (
        f"/jobs?jobName={text}",
        f"/jobs?batch={text}",
        f"/files?folder={text}",
        f"/jobs/{text}/log",
    ):
        url = httpx.URL(service.url).copy_with(raw_path=target.encode())
        assert service.client.get(url).status_code < 500
    assert service.client.get("/healthz").status_code == 200


def test_an_enormous_limit_is_clamped(client):
    assert client.get("/jobs", params={"limit": 10**30}).status_code == 200


def test_a_body_above_the_limit_is_refused_unread(service):
    """The length alone decides; the body is never sent."""
    host, port = service.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=5) as connection:
        head = f"PUT /upload/big.pdb HTTP/1.1\r\nhost: x\r\nx-api-key: {service.key}\r\ncontent-length: {10**12}\r\n\r\n"
        connection.sendall(head.encode())
        assert connection.recv(1000).startswith(b"HTTP/1.1 413")


@pytest.mark.parametrize("begin", ["GET /jobs HTTP/1.1\r\nx-long: ", "GET /", "GET /jobs HTTP/1.1\r\n"])
def test_a_head_without_end_is_refused(service, begin):
    """It is refused before it takes much memory: the service reads no more than its limit."""
    host, port = service.url.removeprefix("http://").split(":")
    more = b"a: b\r\n" * 100_000 if begin.endswith("\r\n") else b"a" * 600_000
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        with contextlib.suppress(ConnectionError):
            connection.sendall(begin.encode() + more)
        with contextlib.suppress(ConnectionError):
            assert connection.recv(1000)[:12] in (b"", b"HTTP/1.1 400")
    assert service.client.get("/healthz").status_code == 200


def test_a_header_that_is_none_is_refused(service):
    assert httpx.get(f"{service.url}/jobs", headers={"x-api-key": b"\x7f"}).status_code == 400


def test_a_chunked_body_is_cut_at_the_limit(client):
    def chunks():
        for _ in range(3):
            yield b" " * (1 << 20)

    answer = client.post("/stop-job", content=chunks())
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/nothing"), ("POST", "/jobs"), ("GET", "/v1/v1/jobs"), ("GET", "/")]
)
def test_an_unknown_route_has_the_error_shape(client, method, path):
    answer = client.request(method, path)
    assert answer.status_code in (404, 405)
    assert set(answer.json()) == {"error", "code"}


def test_a_job_name_never_becomes_a_path(service):
    for hostile in ("../../etc", "a/b", "..", "a\x00b", "é"):
        assert service.submit(hostile, settings=SETTINGS).status_code == 400


@pytest.mark.parametrize("path", ["a%0ab", "%0a", "a/b%0a", "%0d%0a"])
def test_a_line_feed_in_a_path_is_a_wrong_name_and_no_wrong_route(service, path):
    url = httpx.URL(service.url)
    for method, route, expected in (
        ("PUT", "/upload", (400, "invalid_file_name")),
        ("GET", "/files", (404, "file_not_found")),
        ("PUT", "/presigned", (403, "invalid_signature")),
    ):
        answer = service.client.request(
            method, url.copy_with(raw_path=f"{route}/{path}".encode()), content=b"x"
        )
        assert (answer.status_code, answer.json()["code"]) == expected
