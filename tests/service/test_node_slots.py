"""One slot of a node serves several attempts: the response to an outcome brings the next one, and none is lost."""

import base64
import hashlib
import itertools
import socket
import threading
import time
from contextlib import closing, contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest
from node_attempts import RunningNode, archive, refused, start
from node_service import NodeService, offer_thread_executor
from probe_engine import write_probe_engine
from service_process import TOOLS
from waiting import wait_until

from foldnote.service.node.service_link import NodeConnection, NodeConnectionError, NotAcceptedError
from foldnote.service.queue.executors import Capacity
from foldnote.service.queue.executors.slots import SlotTerms
from foldnote.service.runner.attempt import Outcome

HERE = Capacity(1, 64, machine="here")
LINE = "the line"
_numbers = itertools.count()


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    folder = tmp_path_factory.mktemp("slots")
    with pytest.MonkeyPatch.context() as patch:
        offer_thread_executor(patch, folder)
        engines = write_probe_engine(folder / "engines", tools=TOOLS)
        with NodeService(folder, engines).serving() as running:
            yield running


def prepare(service):
    return service.prepare(f"slot{next(_numbers)}")


def begin(service, **terms) -> RunningNode:
    """Start a node that runs an attempt in a slot with these terms."""
    _, identity = prepare(service)
    expect(service, identity, **terms)
    return RunningNode(service, identity)


@pytest.fixture
def node(service):
    """Start a node whose slot may be reused."""
    return begin(service)


def expect(service, identity, wait_s=20.0, lifetime_s=60.0, line=LINE, **more):
    terms = SlotTerms(service.executor, HERE, lifetime_s, wait_s=wait_s, **more)
    service.attempts.slots.expect(identity.nonce, terms, line)


class QueuedJob(threading.Thread):
    """A request that ends an attempt and waits for the next one."""

    def __init__(self, node: RunningNode) -> None:
        super().__init__(daemon=True)
        self._node = node
        self.start()

    def run(self) -> None:
        with httpx.Client(base_url=self._node.service.url, timeout=60) as client:
            self.answer = self._node.finish(takesNext=True, client=client, **LOST)

    def follow(self) -> httpx.Response:
        self.join(30)
        return self.answer


LOST = {"state": "lost", "resultSha256": None, "resultSizeBytes": None}


def hand_on(service, order, on_slot_lost=lambda: None) -> str | None:
    slot = service.attempts.slots.reserve(service.executor, order, on_slot_lost)
    if slot is None:
        return None
    slot.wake()
    return slot.nonce


def hand_on_soon(service, order, on_slot_lost=lambda: None) -> str:
    deadline = time.monotonic() + 20
    while (before := hand_on(service, order, on_slot_lost)) is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return before


def begun(service, identity) -> bool:
    return service.attempts.has_begun(identity)


def test_the_answer_to_an_outcome_brings_the_next_attempt_which_has_begun(service, node):
    waiting = QueuedJob(node)
    order, identity = prepare(service)
    assert hand_on_soon(service, order) == node.identity.nonce
    answer = waiting.follow()
    assert answer.status_code == 200
    assert (answer.json()["order"]["job_id"], answer.json()["order"]["nonce"]) == (
        identity.job_id,
        identity.nonce,
    )
    following = RunningNode(service, identity, answer)
    assert refused(following.start(), 403, "attempt_refused"), "its nonce was used"
    assert following.send_heartbeat().status_code == 200
    assert following.finish(**LOST).status_code == 204
    assert Outcome.read(following.place).state == "lost"


def test_a_place_is_used_again_and_again(service, node):
    for _ in range(3):
        waiting = QueuedJob(node)
        order, identity = prepare(service)
        hand_on_soon(service, order)
        node = RunningNode(service, identity, waiting.follow())
    assert node.send_heartbeat().status_code == 200


def test_a_repeated_outcome_brings_the_same_attempt_until_it_is_known(service, node):
    waiting = QueuedJob(node)
    order, identity = prepare(service)
    hand_on_soon(service, order)
    first = waiting.follow()
    again = node.finish(takesNext=True, **LOST)
    assert again.json() == first.json(), "the answer may have been lost"
    assert RunningNode(service, identity, again).send_heartbeat().status_code == 200
    expect(service, node.identity, wait_s=0.05)
    assert node.finish(takesNext=True, **LOST).status_code == 204


def test_an_attempt_for_a_node_that_has_left_is_delivered_otherwise_and_has_not_begun(service, node):
    body = b'{"state": "lost", "nonce": "%s", "takesNext": true}' % node.identity.nonce.encode()
    with socket.create_connection(("127.0.0.1", service.port)) as cut_off:
        lines = [f"POST {node.path}/outcome HTTP/1.1", "host: here", f"content-length: {len(body)}"]
        lines += [f"authorization: {node.headers['authorization']}", "", ""]
        cut_off.sendall("\r\n".join(lines).encode() + body)
        deadline = time.monotonic() + 20
        while Outcome.read(node.place) is None:
            assert time.monotonic() < deadline
            time.sleep(0.01)
    order, identity = prepare(service)
    delivered = threading.Event()
    if hand_on(service, order, delivered.set) is not None:  # otherwise its end would be noticed earlier
        assert delivered.wait(120)
    assert not begun(service, identity)
    assert RunningNode(service, identity).send_heartbeat().status_code == 200, "another node can start it"


def test_an_attempt_that_is_revoked_on_the_way_does_not_begin(service, node):
    waiting = QueuedJob(node)
    order, identity = prepare(service)
    assert service.attempts.revoke(identity) is True
    hand_on_soon(service, order)
    assert waiting.follow().status_code == 204
    assert not begun(service, identity)


@pytest.mark.parametrize(
    "need",
    [replace(HERE, cores=2), replace(HERE, memory_mb=65), replace(HERE, gpus=1)],
    ids=["cores", "memory", "gpu"],
)
def test_another_need_is_not_put_there_and_lets_the_waiting_node_go(service, node, need):
    waiting = QueuedJob(node)
    order, identity = prepare(service)
    while waiting.is_alive():
        assert hand_on(service, replace(order, need=need)) is None
        time.sleep(0.01)
    assert waiting.follow().status_code == 204
    assert not begun(service, identity)


def test_another_machine_or_executor_uses_no_foreign_place(service, node):
    waiting = QueuedJob(node)
    order, _ = prepare(service)
    assert hand_on(service, replace(order, need=replace(HERE, machine="there"))) is None
    assert service.attempts.slots.reserve(object(), order, lambda: None) is None
    hand_on_soon(service, order)
    assert waiting.follow().status_code == 200


def test_nothing_is_begun_in_a_place_that_must_be_given_back(service):
    assert begin(service, lifetime_s=0.0).finish(takesNext=True, **LOST).status_code == 204


def test_a_place_with_an_end_takes_only_what_ends_before_it(service):
    waiting = QueuedJob(begin(service, lifetime_s=600, is_timed=True))
    order, identity = prepare(service)
    while not service.attempts.slots.has_open(service.executor):
        time.sleep(0.01)
    assert hand_on(service, replace(order, need=replace(HERE, machine="there"), time_limit_s=300)) is None
    assert hand_on(service, replace(order, time_limit_s=300)) is not None
    second = RunningNode(service, identity, waiting.follow())
    waiting = QueuedJob(second)
    order, _ = prepare(service)
    while not service.attempts.slots.has_open(service.executor):
        time.sleep(0.01)
    assert hand_on(service, replace(order, time_limit_s=601)) is None
    assert waiting.follow().status_code == 204


@pytest.mark.parametrize("is_expected", [True, False], ids=["old-node", "no-place"])
def test_a_node_that_cannot_or_need_not_continue_gets_an_immediate_response(service, is_expected):
    _, identity = prepare(service)
    if is_expected:
        expect(service, identity)
    assert RunningNode(service, identity).finish(takesNext=not is_expected, **LOST).status_code == 204


def test_an_outcome_that_is_refused_opens_no_place(service, node):
    order, _ = prepare(service)
    assert refused(node.finish(archive(), takesNext=True), 400, "result_missing")
    assert hand_on(service, order) is None


# attempts in line


class Line:
    """Attempts in line behind others."""

    def __init__(self, service) -> None:
        self.service, self.slots = service, service.attempts.slots
        self.added: list[str] = []
        self.begun: list[tuple[str, str]] = []
        self.delivered: list[str] = []

    def add(self, line: str = LINE, **more):
        order, identity = prepare(self.service)
        order = replace(order, at_once=1, line=line, **more)
        self.added.append(identity.nonce)
        on_begun = lambda before: self.begun.append((before, identity.nonce))  # noqa: E731
        on_slot_lost = lambda: self.delivered.append(identity.nonce)  # noqa: E731
        slot = self.slots.line_up(self.service.executor, order, on_begun, on_slot_lost)
        if slot is not None:
            slot.wake()
        return identity


@pytest.fixture
def line(service, monkeypatch):
    """Create a line in which attempts wait for longer than a test takes on a busy machine."""
    monkeypatch.setattr(service.attempts.slots, "max_wait_s", 60.0)
    made = Line(service)
    yield made
    for nonce in made.added:
        made.slots.dequeue(nonce)


def following(node: RunningNode) -> str | None:
    """Return the nonce of the attempt in the response to the outcome."""
    answer = node.finish(takesNext=True, **LOST)
    assert answer.status_code in (200, 204), answer.text
    return answer.json()["order"]["nonce"] if answer.status_code == 200 else None


def test_the_first_in_line_begins_in_the_answer_to_the_outcome_and_each_follows_one(service, line, node):
    first, second = line.add(), line.add()
    assert [line.slots.is_enqueued(each.nonce) for each in (first, second)] == [True, True]
    assert not begun(service, first)
    answer = node.finish(takesNext=True, **LOST)
    assert answer.json()["order"]["nonce"] == first.nonce
    assert line.begun == [(node.identity.nonce, first.nonce)]
    assert (begun(service, first), begun(service, second)) == (True, False), "one for each that ended"
    assert refused(start(service, first), 403, "attempt_refused"), "its nonce was used"
    assert node.finish(takesNext=True, **LOST).json() == answer.json(), "the answer may have been lost"
    assert following(RunningNode(service, first, answer)) == second.nonce
    assert not line.delivered


def test_one_that_is_revoked_in_line_does_not_begin_and_the_next_does(service, line, node):
    first, second = line.add(), line.add()
    assert service.attempts.revoke(first) is True
    assert following(node) == second.nonce
    assert not begun(service, first)
    assert line.begun == [(node.identity.nonce, second.nonce)]
    assert not line.slots.is_enqueued(first.nonce)


def test_one_that_waits_too_long_leaves_the_line_unbegun(service, line):
    line.slots.max_wait_s = 0.5
    node, late = begin(service, wait_s=0.05), line.add()
    wait_until(lambda: not line.slots.is_enqueued(late.nonce), "the end of its time")
    assert following(node) is None
    assert not begun(service, late)
    assert service.attempts.revoke(late) is True
    assert line.slots.dequeue(late.nonce)
    assert not line.slots.dequeue(late.nonce)


@pytest.mark.parametrize(
    "more",
    [{"line": "another"}, {"need": replace(HERE, machine="there")}, {"need": replace(HERE, cores=2)}],
    ids=["line", "machine", "need"],
)
def test_one_of_another_line_machine_or_need_does_not_follow(service, line, more):
    node, other = begin(service, wait_s=0.05), line.add(**more)
    assert following(node) is None
    assert not begun(service, other)


def test_one_that_lines_up_behind_a_node_that_waits_begins_at_once(service, line, node):
    waiting = QueuedJob(node)
    wait_until(lambda: line.slots.has_open(service.executor), "the waiting node")
    assert following_of_another_line(service, line) is None
    identity = line.add()
    assert waiting.follow().json()["order"]["nonce"] == identity.nonce
    assert begun(service, identity)


def following_of_another_line(service, line) -> str | None:
    node, _ = begin(service, wait_s=0.05, line="another"), line.add(line="a third")
    return following(node)


def test_the_first_in_line_is_delivered_if_the_place_went_back(service, line, node):
    first, second = line.add(), line.add()
    line.slots.release(node.identity.nonce)
    assert line.delivered == [first.nonce]
    assert [line.slots.is_enqueued(each.nonce) for each in (first, second)] == [False, True]
    assert node.finish(takesNext=True, **LOST).status_code == 204
    assert not begun(service, second)
    assert RunningNode(service, first).send_heartbeat().status_code == 200, "another node can start it"


def test_a_refused_outcome_starts_no_attempt_in_line(service, line, node):
    identity = line.add()
    assert refused(node.finish(archive(), takesNext=True), 400, "result_missing")
    assert not begun(service, identity)
    assert following(node) == identity.nonce


def test_a_node_that_ends_leaves_the_line_to_others(service, line, node):
    identity = line.add()
    assert node.finish(takesNext=False, **LOST).status_code == 204
    assert not begun(service, identity)
    assert line.slots.is_enqueued(identity.nonce)


def test_requests_at_once_for_one_end_begin_one_attempt(service, line, node):
    lined = [line.add() for _ in range(6)]
    waiting = [QueuedJob(node) for _ in range(4)]
    wait_until(lambda: line.begun, "the first")
    for each in waiting:
        each.join(30)
    assert sum(begun(service, each) for each in lined) == 1


def test_a_result_with_a_line_behind_it_is_left_to_the_dispatcher_and_cannot_be_replaced(service, line, node):
    line.add()
    content = archive("lined.txt")
    outputs = {"result.zip": base64.b64encode(content).decode()}
    assert node.finish(content, outputs=outputs, takesNext=True).status_code == 200
    assert (node.place / "result.zip").read_bytes() == content
    assert not service.service.objects.has(hashlib.sha256(content).hexdigest())
    assert refused(node.upload(archive("another.txt")), 403, "attempt_refused")
    assert (node.place / "result.zip").read_bytes() == content


# small outputs


def test_small_outputs_come_with_the_outcome(service, node):
    content = archive()
    outputs = {"result.zip": base64.b64encode(content).decode()}
    log = base64.b64encode(b"the end\n").decode()
    assert node.finish(content, outputs=outputs, log=log, progress=1.0, message="Done").status_code == 204
    assert (node.place / "result.zip").read_bytes() == content
    assert (
        service.service.objects.has(hashlib.sha256(content).hexdigest())
        is not service.service.objects.is_remote
    )
    assert (node.place / "log.txt").read_bytes() == b"the end\n"
    state = service.attempts.poll(node.identity, may_start=False)
    assert (state.progress, state.outcome.result_sha256) == (1.0, hashlib.sha256(content).hexdigest())


@pytest.mark.parametrize(
    ("outputs", "code"),
    [
        ({"result.zip": base64.b64encode(archive("other.txt")).decode()}, "result_missing"),
        ({"result.zip": base64.b64encode(archive("../evil")).decode()}, "invalid_archive"),
        ({"result.zip": "%"}, "bad_request"),
        ({"outcome.json": ""}, "bad_request"),
        ({"../key": ""}, "bad_request"),
    ],
    ids=["wrong-hash", "unsafe", "not-base64", "outcome", "parent"],
)
def test_wrong_outputs_with_an_outcome_are_refused_and_end_nothing(service, node, outputs, code):
    answer = node.finish(archive(), outputs=outputs)
    assert answer.status_code == 400, answer.text
    assert code in (answer.json()["code"], "bad_request")
    assert Outcome.read(node.place) is None
    assert not list(node.place.glob(".upload-*"))
    assert node.send_heartbeat().status_code == 200


def test_a_heartbeat_that_an_outcome_has_overtaken_does_not_set_the_progress_back(service, node):
    """Heartbeats and outcomes are sent in parallel, so an earlier progress may be read last."""
    other = {"result.zip": base64.b64encode(archive("other.txt")).decode()}
    assert node.finish(archive(), outputs=other, progress=1.0).status_code == 400, "it ends nothing yet"
    assert node.send_heartbeat(progress=0.8).status_code == 200
    assert service.attempts.poll(node.identity, may_start=False).progress == 1.0


def test_a_heartbeat_that_crosses_the_outcome_is_not_an_error(service, node):
    assert node.finish(**LOST).status_code == 204
    assert node.send_heartbeat(log="aGVsbG8=", logOffset=0).json() == {"cancelGraceS": None, "logBytes": 0}


# the connection of a node


class Fickle(BaseHTTPRequestHandler):
    """A server that closes each connection after its response, without announcing it."""

    protocol_version = "HTTP/1.1"
    timeout = 20

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.bodies.append((self.client_address[1], body))
        status = self.server.statuses.pop(0) if self.server.statuses else 200
        content = body if status == 200 else b'{"error": "no"}'
        self.send_response(status)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
        self.close_connection = self.server.is_fickle

    def log_message(self, *_):
        """Log nothing."""


@contextmanager
def peer(*statuses, is_fickle=False):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Fickle)
    server.bodies, server.statuses, server.is_fickle = [], list(statuses), is_fickle
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    with closing(NodeConnection(url)) as connection:
        yield connection, server.bodies
    server.shutdown()
    server.server_close()


def test_requests_share_a_connection_also_after_a_refusal():
    with peer(200, 400, 503, 200) as (connection, bodies):
        assert connection.send("POST", "/", b"one") == b"one"
        with pytest.raises(NotAcceptedError):
            connection.send("POST", "/", b"two")
        with pytest.raises(NodeConnectionError):
            connection.send("POST", "/", b"three")
        assert connection.send("POST", "/", b"four") == b"four"
    assert len({port for port, _ in bodies}) == 1


def test_a_connection_that_was_closed_is_opened_again_and_the_whole_body_sent(tmp_path):
    content = tmp_path / "content"
    content.write_bytes(b"x" * 100_000)
    with peer(is_fickle=True) as (connection, bodies), content.open("rb") as stream:
        assert connection.send("POST", "/", b"one") == b"one"
        time.sleep(0.05)
        headers = {"Content-Length": "100000"}
        assert connection.send("POST", "/", stream, headers) == content.read_bytes()
    assert len({port for port, _ in bodies}) == 2


def test_a_service_that_is_not_there_is_reported_at_once():
    with closing(socket.socket()) as nobody:
        nobody.bind(("127.0.0.1", 0))
        with pytest.raises(NodeConnectionError):
            NodeConnection(f"http://127.0.0.1:{nobody.getsockname()[1]}").send("POST", "/", b"")
