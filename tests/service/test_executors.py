"""The contract of executors, for this machine and for another one that communicates with the service over HTTP."""

import itertools
import os
import signal
import subprocess
import sys
import time
import uuid
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import slurm_stand_in
from dask_cluster import Cluster
from node_service import NodeService, offer_thread_executor
from probe_engine import write_probe_engine
from service_process import PDB, TOOLS
from slurm_cluster import SlurmCluster, batch_section
from waiting import wait_until

from foldnote.service.engines import build_attempt, load_engines
from foldnote.service.node.agent_link import close_agents
from foldnote.service.queue.executors import AttemptIdentity, AttemptOrder, Capacity, Executor, LocalExecutor
from foldnote.service.queue.executors.node_executor import NodeExecutor
from foldnote.service.queue.executors.nodes import NodeAttempts
from foldnote.service.runner import attempt as files
from foldnote.service.runner import processes
from foldnote.service.runner.attempt import AttemptState, Outcome, prepare_attempt
from foldnote.settings import process_environment

# Runners are meant to outlive the executor that started them.
pytestmark = pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning")
needs_proc = pytest.mark.skipif(not Path("/proc/self").exists(), reason="finds processes through /proc")


@dataclass
class Attempt:
    """A prepared attempt; `place` is its folder at the service."""

    order: AttemptOrder
    place: Path
    machine: "LocalMachine | NodeMachine"

    @property
    def identity(self) -> AttemptIdentity:
        return self.order.identity

    @property
    def nonce(self) -> str:
        return self.identity.nonce

    @property
    def folder(self) -> Path:
        """Return the runner's working folder."""
        return self.machine.folder_of(self)


class LocalMachine:
    """The executor `local`."""

    keeps_folders = True

    def __init__(self, folder: Path) -> None:
        self._root = folder / "jobs"
        self._engines = folder / "engines"
        self.executor = LocalExecutor(self._root, process_environment())
        self._count = 0

    def close(self) -> None:
        self.executor.close()

    def reborn(self) -> Executor:
        """Return the executor of a restarted service."""
        return LocalExecutor(self._root, process_environment())

    def make(self, job_name: str, **engine_options) -> Attempt:
        self._count += 1
        name = f"probe{self._count}"
        write_probe_engine(self._engines, name=name, **engine_options)
        nonce = uuid.uuid4().hex
        spec = build_attempt(
            load_engines([self._engines])[name],
            attempt_dir=self._root / f"1-{nonce}",
            nonce=nonce,
            job_name=job_name,
            tool="anarci",
            settings={"sequence": "EVQLV"},
        )
        prepare_attempt(spec)
        identity = AttemptIdentity(self._count, 1, nonce, f"1-{nonce}")
        return Attempt(AttemptOrder(identity, name, Capacity(1, 64), spec), spec.folder, self)

    def folder_of(self, attempt: Attempt) -> Path:
        return attempt.place


class NodeMachine:
    """The HTTP protocol of nodes, with an agent on this machine."""

    keeps_folders = False

    def __init__(self, service: NodeService) -> None:
        self.service = service

    def close(self) -> None:
        """Leave the service running, which all tests share."""

    @property
    def executor(self) -> Executor:
        return self.service.executor

    def reborn(self) -> Executor:
        store = self.service.service.store.node_attempts
        return NodeExecutor(NodeAttempts(store, self.service.root, self.service.attempts.timing))

    def make(self, job_name: str, **engine_options) -> Attempt:
        body = next((body for body, options in LIMITED.values() if options == engine_options), {})
        machine, *_ = wait_until(self.executor.capacity, "a machine")
        order, identity = self.service.prepare(f"{next(_numbers)}.{job_name}", machine.machine, **body)
        return Attempt(order, self.service.root / identity.place, self)

    def folder_of(self, attempt: Attempt) -> Path:
        return self.service.place_on_node(attempt.identity)


_numbers = itertools.count()
_STRUCTURE = {"pdbFile": PDB}
LIMITED = {
    "brief": ({"type": "propka", "settings": _STRUCTURE}, {"time_limit_s": 1}),
    "narrow": ({"type": "aggrescan3d", "settings": _STRUCTURE}, {"memory_limit_mb": 200}),
}
"""Further engines of the nodes: the job that each takes, and its limits."""
MACHINES = (
    "local",
    "node",
    "batch",
    *(pytest.param(each, marks=pytest.mark.exhaustive) for each in ("dask", "slurm")),
)
REMOTE = ("node", "dask", "batch", "slurm")
"""Executors of other machines join the suite as machines like `NodeMachine`."""


def write_engines(folder: Path) -> Path:
    engines = write_probe_engine(folder / "engines", tools=TOOLS)
    for name, (body, options) in LIMITED.items():
        write_probe_engine(engines, name=name, tools=(body["type"],), **options)
    return engines


@pytest.fixture(scope="module")
def node_service(tmp_path_factory):
    folder = tmp_path_factory.mktemp("node")
    with pytest.MonkeyPatch.context() as patch:
        offer_thread_executor(patch, folder)
        with NodeService(folder, write_engines(folder)).serving() as service:
            yield service
        close_agents()


@pytest.fixture(scope="module")
def dask_service(tmp_path_factory):
    pytest.importorskip("distributed", reason="needs the extra foldnote[dask]")
    folder = tmp_path_factory.mktemp("dask")
    cluster = Cluster(folder).start(0)
    cluster.add_worker("--nthreads", "16")
    section = {"kind": "dask", "address": cluster.address, "node_dir": str(folder / "node")}
    try:
        with serving_executor(folder, section) as service:
            yield service
    finally:
        cluster.end()


@pytest.fixture(scope="module")
def batch_service(tmp_path_factory):
    """Run batch jobs by a stand-in for Slurm's commands, which needs no installation."""
    folder = tmp_path_factory.mktemp("batch")
    with serving_batch(folder, slurm_stand_in.install(folder / "slurm")) as service:
        yield service


@pytest.fixture(scope="module")
def slurm_service(tmp_path_factory):
    folder = tmp_path_factory.mktemp("slurm")
    with SlurmCluster(folder / "cluster") as cluster, serving_batch(folder, cluster.variables) as service:
        yield service


@contextmanager
def serving_batch(folder: Path, variables: dict[str, str]):
    with pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, value)
        with serving_executor(folder, batch_section(folder)) as service:
            yield service


@contextmanager
def serving_executor(folder: Path, section: dict):
    engines = write_engines(folder)
    section = {**section, "engine_path": str(engines)}
    with NodeService(folder, engines, executor=section).serving() as service:
        service.open_executor()
        yield service
        service.executor.close()


def make_machine(request, tmp_path):
    if request.param == "local":
        return LocalMachine(tmp_path)
    return NodeMachine(request.getfixturevalue(f"{request.param}_service"))


@pytest.fixture(params=MACHINES)
def machine(request, tmp_path):
    made = make_machine(request, tmp_path)
    yield made
    made.close()


@pytest.fixture(params=["local", *(pytest.param(each, marks=pytest.mark.exhaustive) for each in REMOTE)])
def any_machine(request, tmp_path):
    """Return a machine for tests of the runner itself, which do not depend on the executor."""
    made = make_machine(request, tmp_path)
    yield made
    made.close()


@pytest.fixture
def local(tmp_path):
    made = LocalMachine(tmp_path)
    yield made
    made.close()


def is_alive(spec: Attempt) -> bool:
    return spec.machine.executor.poll(spec.identity).alive


def is_gone(spec: Attempt) -> bool:
    """Return whether no runner holds the attempt and there is no outcome."""
    state = spec.machine.executor.poll(spec.identity)
    return not state.alive and state.outcome is None


def wait_for_outcome(spec: Attempt) -> Outcome:
    return wait_until(lambda: spec.machine.executor.poll(spec.identity).outcome, "the outcome")


def wait_for_progress(spec: Attempt) -> AttemptState:
    state = lambda: spec.machine.executor.poll(spec.identity)  # noqa: E731
    return wait_until(lambda: (seen := state()).message and "Sleeping" in seen.message and seen, "progress")


def runner_of(spec: Attempt) -> int:
    return files.read_json(spec.folder / files.RUNNER)["pid"]


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except FileNotFoundError:
        return False


def left_by(spec: Attempt, name: str) -> int:
    path = spec.folder / "work" / "outputs" / f"{name}.pid"
    return int(wait_until(lambda: path.exists() and path.read_text(), path.name))


def test_a_run_succeeds_with_progress_score_and_archive(machine):
    spec = machine.make("sleep-1.output-2.score")
    machine.executor.submit(spec.order)
    assert 0 <= wait_for_progress(spec).progress <= 1
    outcome = wait_for_outcome(spec)
    assert (outcome.state, outcome.error, outcome.score) == ("succeeded", None, {"probe": 0.5})
    assert outcome.result_size_bytes == (spec.place / files.RESULT).stat().st_size
    assert spec.machine.executor.poll(spec.identity).progress == 1.0


def test_find_tells_gone_alive_and_finished_apart(any_machine):
    spec = any_machine.make("sleep-2")
    assert is_gone(spec)
    any_machine.executor.submit(spec.order)
    assert is_alive(spec)
    wait_for_outcome(spec)
    assert spec.machine.executor.poll(spec.identity).outcome is not None


def test_another_executor_finds_the_attempt_again(any_machine):
    spec = any_machine.make("sleep-2")
    any_machine.executor.submit(spec.order)
    wait_for_begin(spec)
    reborn = any_machine.reborn()
    assert reborn.poll(spec.identity).alive
    assert wait_until(lambda: reborn.poll(spec.identity).outcome, "the outcome").state == "succeeded"


def wait_for_begin(spec: Attempt) -> None:
    wait_until(lambda: (spec.place / files.RUNNER).exists(), "the start")


def test_a_double_submit_runs_once(machine):
    spec = machine.make("sleep-1")
    for _ in range(5):
        machine.executor.submit(spec.order)
    first = runner_of_started(spec)
    assert wait_for_outcome(spec).state == "succeeded"
    machine.executor.submit(spec.order)
    wait_until(lambda: not spec.machine.executor.poll(spec.identity).alive, "the end of the runner")
    if machine.keeps_folders:
        assert runner_of(spec) == first


def runner_of_started(spec: Attempt) -> int:
    wait_until(lambda: (spec.folder / files.RUNNER).exists(), "the runner")
    return runner_of(spec)


def test_a_failure_for_the_user_has_the_engines_message(any_machine):
    spec = any_machine.make("fail")
    any_machine.executor.submit(spec.order)
    outcome = wait_for_outcome(spec)
    assert (outcome.state, outcome.error) == ("failed", "The probe was asked to fail.")


def test_a_crash_tells_exit_code_and_last_words(any_machine):
    spec = any_machine.make("crash-3")
    any_machine.executor.submit(spec.order)
    outcome = wait_for_outcome(spec)
    assert outcome.state == "failed"
    assert "exit code 3" in outcome.error
    assert "about to crash" in outcome.error


def test_cancel_ends_an_engine_that_obeys(any_machine):
    spec = any_machine.make("sleep-60")
    any_machine.executor.submit(spec.order)
    wait_for_progress(spec)
    any_machine.executor.cancel(spec.identity)
    assert wait_for_outcome(spec).state == "stopped"


@needs_proc
def test_cancel_ends_an_engine_that_ignores_term_and_its_daemons(machine):
    spec = machine.make("deaf.daemon.child.sleep-60")
    machine.executor.submit(spec.order)
    wait_for_progress(spec)
    left = [left_by(spec, "daemon"), left_by(spec, "child")]
    machine.executor.cancel(spec.identity, grace_s=0.5)
    assert wait_for_outcome(spec).state == "stopped"
    assert not processes.find_marked(spec.nonce)
    assert not any(is_running(pid) for pid in left)


def test_cancel_before_the_start_runs_nothing(machine):
    spec = machine.make("output-1")
    machine.executor.cancel(spec.identity)
    machine.executor.submit(spec.order)
    if machine.keeps_folders:
        assert wait_for_outcome(spec).state == "stopped"
    else:
        assert is_gone(spec)
        assert machine.executor.revoke(spec.identity) is True
    assert not (spec.folder / "work" / "outputs" / "file-0.txt").exists()


@needs_proc
def test_a_daemon_does_not_outlive_a_successful_run(any_machine):
    spec = any_machine.make("daemon.child")
    any_machine.executor.submit(spec.order)
    assert wait_for_outcome(spec).state == "succeeded"
    assert not processes.find_marked(spec.nonce)
    if any_machine.keeps_folders:
        assert not is_running(left_by(spec, "daemon"))
        assert not is_running(left_by(spec, "child"))


def test_the_time_limit_ends_the_run(any_machine):
    spec = any_machine.make("sleep-60", time_limit_s=1)
    any_machine.executor.submit(spec.order)
    outcome = wait_for_outcome(spec)
    assert outcome.state == "timed_out"
    assert "1 s" in outcome.error


@needs_proc
def test_too_much_memory_ends_the_run(any_machine):
    spec = any_machine.make("memory-400.sleep-60", memory_limit_mb=200)
    any_machine.executor.submit(spec.order)
    outcome = wait_for_outcome(spec)
    assert outcome.state == "failed"
    assert "200 MB" in outcome.error


@needs_proc
def test_a_killed_runner_leaves_nothing_and_is_gone(local):
    spec = local.make("child.sleep-60")
    local.executor.submit(spec.order)
    wait_for_progress(spec)
    child = left_by(spec, "child")
    os.kill(runner_of(spec), signal.SIGKILL)
    wait_until(lambda: is_gone(spec), "the lock")
    assert local.executor.revoke(spec.identity) is True
    assert not processes.find_marked(spec.nonce)
    assert not is_running(child)


@needs_proc
def test_a_killed_runner_takes_its_engine_along_without_help(local):
    spec = local.make("sleep-60")
    local.executor.submit(spec.order)
    wait_for_progress(spec)
    os.kill(runner_of(spec), signal.SIGKILL)
    wait_until(lambda: not processes.find_marked(spec.nonce), "the end of the engine")
    wait_until(lambda: not spec.machine.executor.poll(spec.identity).alive, "the lock")
    assert not processes.find_marked(spec.nonce)


def test_an_attempt_whose_runner_died_is_not_begun_again(local):
    spec = local.make("sleep-60")
    local.executor.submit(spec.order)
    wait_for_progress(spec)
    os.kill(runner_of(spec), signal.SIGKILL)
    wait_until(lambda: not spec.machine.executor.poll(spec.identity).alive, "the end of the runner")
    local.executor.submit(spec.order)
    third = subprocess.run(
        [sys.executable, "-m", "foldnote.service.runner.runner", str(spec.folder)], check=False
    )
    assert third.returncode == 0
    wait_until(lambda: is_gone(spec), "the refusal of the second runner")


def test_a_revoked_attempt_never_runs(machine):
    spec = machine.make("output-1")
    assert machine.executor.revoke(spec.identity) is True
    machine.executor.submit(spec.order)
    if machine.keeps_folders:
        late = subprocess.run(
            [sys.executable, "-m", "foldnote.service.runner.runner", str(spec.folder)], check=False
        )
        assert late.returncode == 0
    wait_until(lambda: is_gone(spec), "the refusal")
    assert not (spec.place / files.RUNNER).exists()


def test_a_living_attempt_cannot_be_revoked(any_machine):
    spec = any_machine.make("sleep-2")
    any_machine.executor.submit(spec.order)
    wait_for_begin(spec)
    assert any_machine.executor.revoke(spec.identity) is False
    assert wait_for_outcome(spec).state == "succeeded"


def test_a_finished_attempt_cannot_be_revoked(any_machine):
    spec = any_machine.make("output-1")
    any_machine.executor.submit(spec.order)
    wait_for_outcome(spec)
    wait_until(lambda: not spec.machine.executor.poll(spec.identity).alive, "the end of the runner")
    assert any_machine.executor.revoke(spec.identity) is False


def test_a_terminated_runner_publishes_a_loss(any_machine):
    spec = any_machine.make("sleep-60")
    any_machine.executor.submit(spec.order)
    wait_for_progress(spec)
    os.kill(runner_of(spec), signal.SIGTERM)
    assert wait_for_outcome(spec).state == "lost"


@needs_proc
def test_an_engine_that_is_ended_with_its_runner_is_lost_and_has_not_failed(any_machine):
    spec = any_machine.make("sleep-60")
    any_machine.executor.submit(spec.order)
    wait_for_progress(spec)
    runner = runner_of(spec)
    for pid in (*processes.find_marked(spec.nonce), runner):  # as a shutdown or a batch system does
        os.kill(pid, signal.SIGTERM)
        time.sleep(0.05)
    outcome = wait_for_outcome(spec)
    assert (outcome.state, outcome.error) == (
        "lost",
        "The system ended the job's runner before the engine had finished.",
    )


@needs_proc
def test_an_engine_that_is_ended_alone_has_failed(local):
    spec = local.make("sleep-60")
    local.executor.submit(spec.order)
    wait_for_progress(spec)
    for pid in processes.find_marked(spec.nonce):
        os.kill(pid, signal.SIGTERM)
    outcome = wait_for_outcome(spec)
    assert outcome.state == "failed"
    assert "was ended by the signal SIGTERM" in outcome.error


def test_a_missing_program_is_a_failure_that_says_what_to_do(local):
    spec = local.make("none")
    command = {"command": ("/nowhere/python", "run.py"), "engine": {"name": "lost-engine"}}
    prepare_attempt(replace(spec.order.spec, **command))
    local.executor.submit(spec.order)
    outcome = wait_for_outcome(spec)
    assert outcome.state == "failed"
    assert "foldnote engines install lost-engine" in outcome.error


def test_capacity_is_that_of_the_machine(machine):
    capacity, *_ = machine.executor.capacity()
    assert capacity.cores >= 1
    assert capacity.memory_mb > 0


@needs_proc
def test_a_killed_runner_of_a_node_is_reported_as_lost_and_leaves_nothing(node_service):
    spec = NodeMachine(node_service).make("child.sleep-60")
    node_service.executor.submit(spec.order)
    wait_for_progress(spec)
    os.kill(runner_of(spec), signal.SIGKILL)
    assert wait_for_outcome(spec).state == "lost"
    assert not processes.find_marked(spec.nonce)
