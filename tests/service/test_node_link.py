"""A node retries after responses that are incomplete or not the service's."""

import hashlib
import json
import socket
import threading

import pytest

from foldnote.service.node.order import NodeInput, NodeOrder
from foldnote.service.node.service_link import (
    AttemptLink,
    NodeConnection,
    NodeConnectionError,
    NotAcceptedError,
    Report,
    StartedAttempt,
    fetch_input,
    start_attempt,
)
from foldnote.service.runner.attempt import Outcome

ORDER = NodeOrder(
    job_id=1, number=1, nonce="n", engine="e", tool="anarci", job_name="j", owner="", account_id=1,
    settings={}, extensions={}, seed=0, time_limit_s=1, output_limit_bytes=1, cores=1, memory_mb=1, gpus=0,
    gpu_memory_mb=0, machine="m",
)  # fmt: skip
CONTENT = b"ATOM" * 1000
NOTHING = Report(None, None, b"", 0)


@pytest.fixture
def answer():
    """Run a server that gives each connection the next response, and then exits; return its address."""
    listener = socket.create_server(("127.0.0.1", 0))
    threads = []

    def serve(*answers: bytes) -> str:
        def run() -> None:
            for each in answers:
                connection, _ = listener.accept()
                with connection:
                    connection.recv(1 << 20)
                    connection.sendall(each)

        threads.append(threading.Thread(target=run, daemon=True))
        threads[-1].start()
        return f"http://127.0.0.1:{listener.getsockname()[1]}"

    yield serve
    listener.close()


def whole(content: bytes, length: int | None = None) -> bytes:
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(content) if length is None else length}\r\n\r\n"
    return head.encode() + content


def cut(content: bytes) -> bytes:
    """Return a response whose connection is lost before its end."""
    return whole(content[: len(content) // 2], len(content))


BAD = {
    "cut": cut(json.dumps({"cancelGraceS": None, "logBytes": 0, "token": "t"}).encode()),
    "page": whole(b"<html>The proxy is being maintained</html>"),
    "other": whole(b"[1]"),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_heartbeat_without_a_whole_answer_is_sent_again(answer, kind):
    url = answer(BAD[kind], whole(b'{"cancelGraceS": null, "logBytes": 7}'))
    link = AttemptLink(NodeConnection(url), StartedAttempt("t", ORDER))
    with pytest.raises(NodeConnectionError):
        link.send_heartbeat(NOTHING)
    link.close()
    assert link.send_heartbeat(NOTHING).log_bytes == 7
    link.close()


@pytest.mark.parametrize("kind", BAD)
def test_an_outcome_without_a_whole_answer_is_sent_again(answer, kind):
    following = json.dumps({"token": "next", "order": ORDER.as_content()}).encode()
    connection = NodeConnection(answer(BAD[kind], whole(following)))
    link = AttemptLink(connection, StartedAttempt("t", ORDER))
    with pytest.raises(NodeConnectionError):
        link.finish(Outcome("succeeded"), {}, NOTHING, takes_next=True)
    connection.close()
    assert link.finish(Outcome("succeeded"), {}, NOTHING, takes_next=True) == StartedAttempt("next", ORDER)
    connection.close()


def test_a_start_without_a_whole_answer_is_asked_for_again(answer):
    connection = NodeConnection(answer(BAD["cut"]))
    with pytest.raises(NodeConnectionError):
        start_attempt(connection, 1, 1, "n")


def test_an_input_that_arrives_in_part_is_fetched_again(answer, tmp_path):
    url = answer(cut(CONTENT), whole(CONTENT))
    given = NodeInput("a", "a.pdb", hashlib.sha256(CONTENT).hexdigest(), len(CONTENT), f"{url}/a?b")
    with pytest.raises(NodeConnectionError, match="cannot be reached: IncompleteRead"):
        fetch_input(given, tmp_path / "a.pdb")
    fetch_input(given, tmp_path / "a.pdb")
    assert (tmp_path / "a.pdb").read_bytes() == CONTENT


def test_an_input_with_another_content_is_refused(answer, tmp_path):
    url = answer(whole(b"X" * len(CONTENT)))
    given = NodeInput("a", "a.pdb", hashlib.sha256(CONTENT).hexdigest(), len(CONTENT), f"{url}/a?b")
    with pytest.raises(NotAcceptedError, match="another content"):
        fetch_input(given, tmp_path / "a.pdb")
