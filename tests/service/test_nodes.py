"""The internal routes of nodes: what they allow, and what they refuse to a late, faulty or hostile node."""

import base64
import hashlib
import itertools
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from node_attempts import RunningNode, archive, refused, start
from node_service import NodeService, offer_thread_executor
from probe_engine import write_probe_engine
from service_process import FINAL, PDB, SETTINGS, TOOLS
from thread_executor import node_environment
from waiting import wait_until

from foldnote.errors import ConfigurationError
from foldnote.models.status import JobStatus
from foldnote.service.config import DispatcherTiming, ServiceConfig
from foldnote.service.faults import RefusalError
from foldnote.service.http.app import create_app
from foldnote.service.queue.executors.nodes import HeartbeatReport, NodeAttempts, RemoteAttempt
from foldnote.service.queue.executors.table import ExecutorTable, make_executor
from foldnote.service.runner.attempt import SPOILT_SENTENCE, Outcome
from foldnote.service.store.jobs.node_attempts import NodeAttemptStore
from foldnote.service.store.jobs.queue import JobEnd

_numbers = itertools.count()


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    folder = tmp_path_factory.mktemp("nodes")
    with pytest.MonkeyPatch.context() as patch:
        offer_thread_executor(patch, folder)
        engines = write_probe_engine(folder / "engines", tools=TOOLS)
        with NodeService(folder, engines).serving() as running:
            yield running


@pytest.fixture
def job(service):
    """Claim an attempt and deliver it to a node that has not started it."""
    return service.prepare(f"job{next(_numbers)}")[1]


def test_a_nonce_starts_an_attempt_once(service, job):
    first = start(service, job)
    assert first.status_code == 200
    assert refused(start(service, job), 403, "attempt_refused")
    order = first.json()["order"]
    assert (order["job_id"], order["engine"], order["tool"]) == (job.job_id, "probe", "anarci")
    assert service.key not in first.text
    assert str(service.folder) not in first.text, "a node learns no path of the service"


def test_a_wrong_nonce_starts_nothing_and_leaves_the_attempt_to_the_right_one(service, job):
    assert refused(start(service, job, "0" * 31 + "x"), 403, "attempt_refused")
    assert start(service, job).status_code == 200


def test_the_token_of_another_attempt_opens_nothing(service, job):
    node = RunningNode(service, job)
    other = RunningNode(service, service.prepare("other-attempt")[1])
    other.headers = node.headers
    assert refused(other.send_heartbeat(), 403, "attempt_refused")
    assert refused(other.upload(archive()), 403, "attempt_refused")
    assert refused(other.finish(), 403, "attempt_refused")
    assert node.send_heartbeat().status_code == 200


@pytest.mark.parametrize(
    "headers", [{}, {"authorization": "Bearer x"}, {"x-api-key": "KEY"}], ids=["none", "wrong", "key"]
)
def test_without_a_token_nothing_opens(service, job, headers):
    node = RunningNode(service, job)
    node.headers = {name: service.key if value == "KEY" else value for name, value in headers.items()}
    assert refused(node.send_heartbeat(), 403, "attempt_refused")


def test_a_revoked_attempt_cannot_be_started(service, job):
    assert service.attempts.revoke(job) is True
    assert refused(start(service, job), 403, "attempt_refused")


def test_an_expired_lease_that_comes_back_commits_nothing(service, job):
    node = RunningNode(service, job)
    assert node.upload(archive()).status_code == 204
    service.attempts._attempts[job.job_id, 1].until = 0.0  # noqa: SLF001  the lease has passed
    assert not node.is_alive
    assert refused(node.send_heartbeat(), 403, "attempt_refused")
    assert service.attempts.revoke(job) is True
    assert refused(node.finish(archive()), 403, "attempt_refused")
    assert Outcome.read(node.place) is None


def test_an_outcome_is_accepted_once_and_its_repetition_is_harmless(service, job):
    node, content = RunningNode(service, job), archive()
    assert node.upload(content).status_code == 204
    assert node.finish(content).status_code == 204
    assert node.finish(content).status_code == 204
    assert refused(node.finish(content, state="failed"), 409, "outcome_exists")
    assert refused(node.upload(archive("b.txt")), 403, "attempt_refused")
    assert Outcome.read(node.place).state == "succeeded"
    assert not node.is_alive


def test_an_outcome_names_what_was_uploaded_for_this_attempt(service, job):
    node = RunningNode(service, job)
    assert refused(node.finish(archive()), 400, "result_missing")
    assert node.upload(archive("other.txt")).status_code == 204
    assert refused(node.finish(archive()), 400, "result_missing")
    assert refused(node.finish(archive("other.txt"), nonce="0" * 32), 400, "wrong_nonce")
    assert Outcome.read(node.place) is None


def test_a_wrong_hash_or_a_truncated_upload_leaves_nothing(service, job):
    node = RunningNode(service, job)
    assert refused(node.upload(archive(), sha256="0" * 64), 400, "wrong_hash")
    with socket.create_connection(("127.0.0.1", service.port)) as cut_off:
        lines = [f"PUT {node.path}/outputs/log.txt HTTP/1.1", "host: here", "content-length: 9"]
        lines += [f"authorization: {node.headers['authorization']}", "x-content-sha256: " + "0" * 64]
        cut_off.sendall("\r\n".join([*lines, "", "abc"]).encode())
    assert not (node.place / "result.zip").exists()
    assert not (node.place / "log.txt").exists()
    assert node.send_heartbeat().status_code == 200
    wait_until(lambda: not list(node.place.glob(".upload-*")), "the end of the request that was cut off")


@pytest.mark.parametrize(
    "name",
    ["../../../../key", "..%2Fspec.json", "outcome.json", "order.json", "runner.json", "result.zip/x", "%00"],
    ids=["parents", "encoded", "outcome", "order", "runner", "below", "nul"],
)
def test_only_three_names_can_be_uploaded(service, job, name):
    node = RunningNode(service, job)
    before = sorted(path.name for path in service.folder.rglob("*") if "sqlite" not in path.name)
    assert node.upload(archive(), name).status_code in (403, 404, 405)
    assert sorted(path.name for path in service.folder.rglob("*") if "sqlite" not in path.name) == before


@pytest.mark.parametrize("member", ["../evil", "/etc/evil", "a\\b", "C:evil"])
def test_an_archive_with_an_unsafe_name_is_refused(service, job, member):
    node = RunningNode(service, job)
    assert refused(node.upload(archive(member)), 400, "invalid_archive")
    assert not (node.place / "result.zip").exists()


def test_a_heartbeat_renews_the_lease_and_brings_log_progress_and_the_stop(service, job):
    node = RunningNode(service, job)
    assert node.send_heartbeat(progress=0.5, message="half", log="aGVsbG8=", logOffset=0).json() == {
        "cancelGraceS": None,
        "logBytes": 5,
    }
    assert node.send_heartbeat(log="aGVsbG8=", logOffset=0).json()["logBytes"] == 5, (
        "a repeated part is not added"
    )
    state = service.attempts.poll(job, may_start=False)
    assert (state.alive, state.progress, state.message) == (True, 0.5, "half")
    service.attempts.cancel(job, 2.0)
    assert node.send_heartbeat().json()["cancelGraceS"] == 2.0
    assert (node.place / "log.txt").read_bytes() == b"hello"


@pytest.mark.parametrize(
    "body",
    [{"progress": 2}, {"log": "%"}, {"message": "x" * 501}, {"logOffset": -1}],
    ids=["progress", "log", "message", "offset"],
)
def test_a_heartbeat_with_nonsense_is_refused(service, job, body):
    assert RunningNode(service, job).send_heartbeat(**body).status_code == 400


def test_inputs_come_by_signed_links_that_end_with_the_attempt(service):
    identity = service.prepare("with-input", type="align-pdbs", settings=inputs_of(service))[1]
    node = RunningNode(service, identity)
    row = node.order["inputs"][0]
    content = httpx.get(row["url"])
    assert hashlib.sha256(content.content).hexdigest() == row["sha256"]
    assert httpx.get(row["url"].replace(row["sha256"], "0" * 64)).status_code == 403
    assert node.finish(b"", state="lost", resultSha256=None, resultSizeBytes=None).status_code == 204
    assert httpx.get(row["url"]).status_code == 404


def test_a_part_of_the_log_that_arrives_twice_at_once_is_there_once(service, tmp_path):
    reported, barrier = HeartbeatReport(log=b"line\n" * 20_000), threading.Barrier(2)

    def send_heartbeat(held):
        barrier.wait()
        return service.attempts.record_heartbeat(held, reported).log_bytes

    for number in range(50):
        held = RemoteAttempt(1, number, "nonce", tmp_path, "token", time.monotonic() + 60)
        with ThreadPoolExecutor(2) as pool:
            assert set(pool.map(send_heartbeat, [held] * 2)) == {100_000}
        (tmp_path / "log.txt").unlink()


def test_a_hash_with_other_characters_than_digits_is_refused_like_any_wrong_one(service, job):
    node = RunningNode(service, job)
    assert refused(node.upload(archive(), sha256="\xff".encode("latin-1")), 400, "wrong_hash")


SPOILERS = {
    "log": ("os.replace('../log.txt', '../log.old'); os.mkfifo('../log.txt')", "succeeded"),
    "progress": ("pathlib.Path('../progress.json').write_text('[1]')", "failed"),
}


@pytest.mark.parametrize("kind", SPOILERS)
def test_a_node_whose_engine_replaces_files_of_its_attempt_says_how_it_ended(tmp_path, monkeypatch, kind):
    act, state = SPOILERS[kind]
    offer_thread_executor(monkeypatch, tmp_path)
    engines = write_probe_engine(tmp_path / "engines", tools=TOOLS)
    (engines / "probe" / "run.py").write_text(
        f"import os, pathlib, time\nprint('first line', flush=True)\ntime.sleep(0.5)\n{act}\n"
        "time.sleep(6)\npathlib.Path('outputs/a.txt').write_text('a')\n"
    )
    with NodeService(tmp_path, engines, lease_s=3.0).serving() as service:
        service.open_executor()
        order, identity = service.prepare("spoilt")
        service.executor.submit(order)
        outcome = wait_until(lambda: service.attempts.poll(identity, may_start=True).outcome, "the outcome")
        assert outcome.state == state
        assert outcome.error in (None, SPOILT_SENTENCE)
        service.executor.close()


@pytest.mark.parametrize("lease_s", [3.0, 300.0], ids=["after a lease", "when it is stopped"])
def test_an_input_that_a_node_cannot_fetch_is_reported_and_ends_the_attempt(tmp_path, monkeypatch, lease_s):
    offer_thread_executor(monkeypatch, tmp_path)
    engines = write_probe_engine(tmp_path / "engines", tools=TOOLS)
    with NodeService(tmp_path, engines, lease_s=lease_s).serving() as service:
        service.open_executor()
        service.service.node_url = "http://127.0.0.1:1"
        order, identity = service.prepare("far", type="align-pdbs", settings=inputs_of(service))
        service.executor.submit(order)
        words = "The input 'one.pdb' cannot be fetched: http://127.0.0.1:1 cannot be reached"
        wait_until(
            lambda: words in str(service.attempts.poll(identity, may_start=True).message), "the message"
        )
        if lease_s > 60:
            service.attempts.cancel(identity, 0.0)
        outcome = wait_until(lambda: service.attempts.poll(identity, may_start=True).outcome, "the outcome")
        assert outcome.state == "lost"
        assert words in outcome.error
        service.executor.close()


def test_attempts_that_reach_no_machine_are_not_counted_as_losses(tmp_path, monkeypatch):
    """Even more often than an attempt may be lost."""
    offer_thread_executor(monkeypatch, tmp_path)
    engines = write_probe_engine(tmp_path / "engines", tools=TOOLS)
    section = {"kind": "threads", "environment": node_environment(tmp_path, engines), "losses": 4}
    pace = DispatcherTiming(retry_s=0.02)
    with NodeService(tmp_path, engines, executor=section, pace=pace).serving() as service:
        body = {"jobName": "patient.output-1", "type": "anarci", "settings": SETTINGS}
        headers = {"x-api-key": service.key}
        service.client.post("/submit-job", json=body, headers=headers).raise_for_status()

        def ended() -> dict | None:
            (job,) = service.client.get("/jobs", headers=headers).json()["jobs"]
            return job if job["status"] in FINAL else None

        job = wait_until(ended, "the end of the job")
        assert (job["status"], job.get("error")) == ("Complete", None)
        assert service.service.store.queue.find_attempt(1, 5) is not None
        service.executor.close()


def inputs_of(service) -> dict:
    headers = {"x-api-key": service.key}
    for name in ("one.pdb", "two.pdb"):
        assert service.client.put(f"/upload/{name}", content=PDB, headers=headers).status_code == 200
    return {"pdbFiles": ["one.pdb", "two.pdb"]}


def test_a_service_that_starts_again_knows_the_token_and_gives_a_new_lease(service, job):
    node = RunningNode(service, job)
    again = NodeAttempts(service.service.store.node_attempts, service.root, service.attempts.timing)
    token = node.headers["authorization"].removeprefix("Bearer ")
    assert again.admit(job.job_id, 1, token).is_live
    assert again.revoke(job) is False
    assert again.poll(job, may_start=False).alive


@pytest.mark.parametrize("replica", ["", "other"], ids=["after a restart", "at another replica"])
def test_an_attempt_whose_end_is_committed_has_begun_and_its_node_is_not_refused(service, job, replica):
    """Its slot may be waiting for the next attempt, so its batch job must not be cancelled."""
    node, content = RunningNode(service, job), archive()
    assert node.finish(content, outputs={"result.zip": base64.b64encode(content).decode()}).status_code == 204
    store = service.service.store
    (claim,) = [each for each in store.queue.running() if each.job_id == job.job_id]
    assert store.queue.finish(claim, JobEnd(JobStatus.COMPLETE))
    later = NodeAttempts(store.node_attempts, service.root, service.attempts.timing, replica)
    assert later.has_begun(job)
    assert not later.is_wanted(job)
    held = later.admit(job.job_id, 1, node.headers["authorization"].removeprefix("Bearer "))
    assert later.record_heartbeat(held, HeartbeatReport()).cancel_grace_s is None
    with pytest.raises(RefusalError):
        later.admit(job.job_id, 1, "another")


def test_replicas_judge_a_lease_by_the_clock_of_their_database(service, job, monkeypatch):
    """A machine's clock may be wrong by an hour."""

    class OfOneServer(NodeAttemptStore):
        def seconds(self):
            return time.monotonic()

    store = OfOneServer(service.service.store.database)
    token = RunningNode(service, job).headers["authorization"].removeprefix("Bearer ")
    one, other = (
        NodeAttempts(store, service.root, service.attempts.timing, name) for name in ("one", "other")
    )
    one.record_heartbeat(one.admit(job.job_id, 1, token), HeartbeatReport())
    right = time.time
    monkeypatch.setattr(time, "time", lambda: right() + 3600)
    assert other.admit(job.job_id, 1, token).is_live


def test_an_attempt_that_was_revoked_has_not_begun_when_its_end_is_committed(service, job):
    node = RunningNode(service, job)
    service.attempts._attempts[job.job_id, 1].until = 0.0  # noqa: SLF001  the lease has passed
    assert service.attempts.revoke(job)
    store = service.service.store
    (claim,) = [each for each in store.queue.running() if each.job_id == job.job_id]
    assert store.queue.finish(claim, JobEnd(JobStatus.STOPPED))
    later = NodeAttempts(store.node_attempts, service.root, service.attempts.timing, "other")
    assert not later.has_begun(job)
    with pytest.raises(RefusalError):
        later.admit(job.job_id, 1, node.headers["authorization"].removeprefix("Bearer "))


def test_guessing_is_slowed_down(service, job):
    answers = [start(service, job, f"{number:032x}").status_code for number in range(1000, 1040)]
    assert set(answers) == {403, 429}
    assert RunningNode(service, job).send_heartbeat().status_code == 200, "the right one is not limited"


async def test_the_routes_are_absent_without_an_executor_of_other_machines(service, tmp_path):
    app = create_app(ServiceConfig(tmp_path))
    app.state.service = service.service
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://here") as client:
        assert (await client.post("/internal/attempts/start", json={})).status_code == 404


def test_the_routes_are_not_part_of_the_public_interface(service):
    assert service.client.post("/internal/attempts/start", json={}).status_code == 400
    assert "internal" not in service.client.get("/openapi.json").text


def test_metrics_name_the_routes_of_nodes_by_their_templates(service, job):
    def requests() -> set[str]:
        text = service.client.get("/metrics").text
        return {row for row in text.splitlines() if row.startswith("foldnote_http_requests_total")}

    before, node, content = requests(), RunningNode(service, job), archive()
    assert node.send_heartbeat().status_code == 200
    assert node.upload(content).status_code == 204
    assert node.finish(content).status_code == 204
    changed = "".join(requests() - before)
    for part in ("start", "{job_id}/{number}/heartbeat", "{job_id}/{number}/outcome"):
        assert f'route="/internal/attempts/{part}"' in changed
    assert 'route="unknown"' not in changed


FAR = {"service_url": "http://head:8000", "far": {"kind": "threads"}}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ({"default": "far"}, "sets default to 'far', which is not an executor. Executors: local"),
        ({"engines": {"probe": "far"}}, "sets engines.probe to 'far', which is not an executor"),
        (
            FAR | {"engines": {"nothing": "far"}},
            "assigns the engine 'nothing', which does not exist. Engines: probe",
        ),
        ({"far": {}}, "needs service_url"),
        (FAR | {"service_url": "head:8000"}, "needs service_url"),
        (FAR | {"lease_s": "long"}, "sets lease_s to 'long'"),
        (FAR | {"lease_s": 5, "heartbeat_s": 4}, "a lease must last at least two heartbeats"),
        ({"local": {}}, "has 'local', which is neither"),
        ({"cluster": 3}, "has 'cluster', which is neither"),
    ],
    ids=["default", "executor", "engine", "no-url", "url", "lease", "heartbeat", "local", "value"],
)
def test_a_wrong_table_is_refused_in_a_sentence(content, sentence):
    with pytest.raises(ConfigurationError, match=sentence.replace("(", r"\(")):
        ExecutorTable.read(content, ["probe"])


def test_an_unknown_kind_of_executor_is_refused_with_the_kinds_that_there_are(service):
    with pytest.raises(
        ConfigurationError,
        match=r"has the kind 'slurm', which no installed package offers. Kinds: batch, dask\b",
    ):
        make_executor("far", {"kind": "slurm"}, service.attempts)
