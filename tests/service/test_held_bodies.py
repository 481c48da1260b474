"""Many large bodies at once: those without room are told to retry, small ones always pass."""

import socket
import time

import pytest
from service_process import SETTINGS, ServiceProcess

LARGE = 8 << 20


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    folder = tmp_path_factory.mktemp("held")
    service = ServiceProcess(folder, "--no-rate-limit", "--held-mb", "12").start()
    yield service
    service.kill()


def begin_large(service):
    """Start a submission of 8 MB whose last byte is not sent."""
    host, port = service.url.removeprefix("http://").split(":")
    connection = socket.create_connection((host, int(port)), timeout=10)
    head = f"POST /submit-job HTTP/1.1\r\nhost: localhost\r\nx-api-key: {service.key}\r\ncontent-length: {LARGE}\r\n\r\n"
    connection.sendall(head.encode() + b" " * (LARGE - 1))
    return connection


def test_large_bodies_beside_one_another_have_a_limit_and_leave_no_trace(house):
    with begin_large(house):
        time.sleep(0.5)
        answer = house.client.post("/submit-job", content=b" " * LARGE)
        assert (answer.status_code, answer.json()["retryAfterSeconds"]) == (503, 2)
        body = {"type": "anarci", "settings": SETTINGS}
        assert house.client.post("/validate-job", json=body).json()["valid"] is True
        assert house.client.put("/upload/large.txt", content=b"x" * LARGE).status_code == 200
    time.sleep(0.5)
    assert house.client.post("/submit-job", content=b" " * LARGE).status_code == 400
