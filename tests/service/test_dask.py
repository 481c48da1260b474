"""Jobs on a Dask cluster of separate processes: each ends once despite kills, and a stop leaves no process."""

import importlib.util
import io
import json
import os
import random
import re
import shutil
import signal
import subprocess
import time
from collections import Counter
from contextlib import contextmanager, redirect_stdout
from itertools import accumulate
from pathlib import Path

import httpx
import pytest
from chaos import Clients, Ledger, check, marked, rows
from dask_cluster import Cluster, ClusterService
from node_checks import assert_once, find_processes, next_runner, runner_in, wait_for_sleep
from node_service import NodeService
from own_certificate import write_certificate
from probe_engine import write_probe_engine
from service_process import PDB, QUICK, SETTINGS, ServiceProcess
from waiting import wait_until

from foldnote.service import admin
from foldnote.service.node.order import NodeOrder
from foldnote.service.runner.attempt import Outcome

pytestmark = [
    pytest.mark.skipif(
        importlib.util.find_spec("distributed") is None, reason="needs the extra foldnote[dask]"
    ),
    pytest.mark.skipif(not Path("/proc/self").exists(), reason="finds processes through /proc"),
]
KILLS = int(os.environ.get("FOLDNOTE_TEST_KILLS", "12"))
SEED = int(os.environ.get("FOLDNOTE_TEST_SEED", "45"))


class ClusterKiller:
    """Kill the service, workers, schedulers, agents and runners, and restart those that do not return."""

    def __init__(self, service: ServiceProcess, cluster: Cluster, seed: int) -> None:
        self._service, self._cluster = service, cluster
        self._chance = random.Random(seed)
        self.counts: Counter = Counter()

    def kill(self, number: int) -> None:
        acts = {
            "services": (0.3, self._kill_service),
            "workers": (0.25, self._kill_worker),
            "schedulers": (0.1, self._kill_scheduler),
            "agents": (0.1, self._kill_agent),
            "runners": (0.25, self._kill_runner),
        }
        while self.counts.total() < number:
            time.sleep(self._chance.random() * 0.8)
            shares = [share for share, _ in acts.values()]
            (what,) = self._chance.choices(list(acts), shares)
            if acts[what][1]():
                self.counts[what] += 1

    def _kill_service(self) -> bool:
        self._service.kill()
        self._service.start()
        return True

    def _kill_worker(self) -> bool:
        end_process(self._chance.choice(self._cluster.workers))
        self._cluster.workers = [each for each in self._cluster.workers if each.poll() is None]
        self._cluster.add_worker()
        return True

    def _kill_scheduler(self) -> bool:
        for each in (self._cluster.scheduler, *self._cluster.workers):
            end_process(each)  # workers exit by themselves some time after their scheduler
        self._cluster.workers.clear()
        self._cluster.start(2)
        return True

    def _kill_agent(self) -> bool:
        return self._kill_one(find_processes("foldnote.service.node.agent", self._service))

    def _kill_runner(self) -> bool:
        paths = (self._service.folder / "node").glob("*/*/runner.json")
        return self._kill_one([pid for path in paths if (pid := runner_in(path)) is not None])

    def _kill_one(self, found: list[int]) -> bool:
        try:
            os.kill(self._chance.choice(found), signal.SIGKILL)
        except (IndexError, ProcessLookupError):
            return False
        return True


def end_process(process: subprocess.Popen) -> None:
    process.kill()
    process.wait()


@pytest.fixture
def cluster(tmp_path):
    running = Cluster(tmp_path).start()
    yield running
    running.end()


@pytest.fixture
def service(tmp_path, cluster):
    with serving(tmp_path, cluster) as running:
        yield running


@contextmanager
def serving(path: Path, cluster: Cluster, lease_s: float = 4.0):
    folder = path / "service"
    folder.mkdir()
    running = ClusterService(folder, cluster, lease_s)
    running.start()
    yield running
    if running.process.poll() is None:
        running.end()


@pytest.fixture(scope="module")
def shared_cluster(tmp_path_factory):
    """Start a cluster for tests that keep its scheduler and one worker alive."""
    running = Cluster(tmp_path_factory.mktemp("cluster")).start()
    yield running
    running.end()


@pytest.fixture(scope="module")
def shared_service(tmp_path_factory, shared_cluster):
    with serving(tmp_path_factory.mktemp("shared"), shared_cluster) as running:
        yield running


def test_jobs_complete_on_the_cluster_and_a_stop_leaves_no_process(shared_service):
    service = shared_service
    for number in range(3):
        assert service.submit(f"quick{number}.alone.output-1").status_code == 200
    service.submit("long.deaf.daemon.child.sleep-60")
    for number in range(3):
        service.wait(f"quick{number}.alone.output-1")
    wait_until(lambda: marked(service), "the engine")
    began = time.monotonic()
    service.client.post("/stop-job", json={"jobName": "long.deaf.daemon.child.sleep-60"})
    assert service.wait("long.deaf.daemon.child.sleep-60")["status"] == "Stopped"
    wait_until(lambda: not marked(service), "the end of all processes", 10)
    assert time.monotonic() - began < 10
    assert_once(service, *(f"quick{number}.alone.output-1" for number in range(3)))
    assert service.result("quick0.alone.output-1").status_code == 200
    assert rows(service, "SELECT DISTINCT executor FROM attempts") == [("lab",)]


def test_short_jobs_follow_one_another_in_one_task_with_one_request_each(shared_service):
    service = shared_service
    log = service.folder / "service.log"
    before = log.stat().st_size
    names = [f"short{number}.alone.output-1" for number in range(8)]
    for name in names:
        service.submit(name)
    for name in names:
        service.wait(name)
    assert_once(service, *names)
    jobs = [
        str(job) for (job,) in rows(service, "SELECT id FROM jobs WHERE name LIKE 'short_.alone.output-1'")
    ]
    # attempts of an earlier test may still arrive
    outcome = re.compile(rf"/({'|'.join(jobs)})/\d+/outcome 20")
    read = lambda: log.read_bytes()[before:].decode()  # noqa: E731
    wait_until(lambda: len(outcome.findall(read())) == len(names), "the end of the last request")
    requests = read()
    assert requests.count("/internal/attempts/start 200") < len(names), "Dask delivered each of them"
    assert "/outputs/" not in requests
    assert service.result(names[-1]).status_code == 200


def submit_short(service, name: str, number: int) -> list[str]:
    """Submit a batch of this many short jobs."""
    names = [f"{name}{row}.alone.output-1" for row in range(number)]
    body = {
        "batchName": f"batch-{name}",
        "type": "anarci",
        "settings": [SETTINGS] * number,
        "jobNames": names,
    }
    service.client.post("/submit-batch", json=body).raise_for_status()
    return names


def count_claimed(service, name: str) -> int:
    """Count those that are claimed and have not ended."""
    query = "SELECT count(*) FROM jobs JOIN attempts ON job_id = jobs.id AND number = attempt"
    return rows(service, f"{query} WHERE name LIKE '{name}%' AND attempts.ended IS NULL")[0][0]


def count_at_once(service, name: str) -> int:
    """Return the largest number that ran at the same time, from their outcomes."""
    found = rows(
        service, f"SELECT folder FROM attempts JOIN jobs ON jobs.id = job_id WHERE name LIKE '{name}%'"
    )
    ends = [Outcome.read(service.folder / "data" / "jobs" / folder) for (folder,) in found]
    moments = [(each.started, 1) for each in ends] + [(each.ended, -1) for each in ends]
    return max(accumulate(change for _, change in sorted(moments)))


def assert_none_lost(service, name: str) -> None:
    assert rows(service, f"SELECT max(losses) FROM jobs WHERE name LIKE '{name}%'") == [(0,)]


@pytest.mark.cluster
def test_short_jobs_are_claimed_ahead_and_never_run_more_at_once_than_there_are_places(shared_service):
    service = shared_service
    names = submit_short(service, "ahead", 60)
    wait_until(lambda: count_claimed(service, "ahead") > 4, "a line")
    for name in names:
        assert service.wait(name)["status"] == "Complete"
    assert count_at_once(service, "ahead") == 2
    assert_once(service, *names)
    assert_none_lost(service, "ahead")


@pytest.mark.cluster
def test_one_in_line_behind_a_long_run_is_given_back_and_a_stop_in_line_begins_nothing(shared_service):
    service = shared_service
    for name in submit_short(service, "warm", 20):
        service.wait(name)
    long = ["block0.sleep-8.output-1", "block1.sleep-8.output-1"]
    behind = [f"behind{number}.output-1" for number in range(4)]
    for name in (*long, *behind):
        service.submit(name)
    wait_until(lambda: count_claimed(service, "behind") > 0, "a line")
    service.client.post("/stop-job", json={"jobName": behind[0]})
    assert service.wait(behind[0])["status"] == "Stopped"
    for name in (*long, *behind[1:]):
        assert service.wait(name)["status"] == "Complete"
    assert_none_lost(service, "behind")
    again = "SELECT max(number) FROM attempts JOIN jobs ON jobs.id = job_id WHERE name LIKE 'behind%'"
    assert rows(service, again)[0][0] > 1, "none was given back"
    began = "SELECT count(token_sha256) FROM attempts JOIN jobs ON jobs.id = job_id WHERE name = ?"
    assert rows(service, began.replace("?", f"'{behind[0]}' AND token_sha256 <> ''")) == [(0,)]


@pytest.mark.cluster
def test_a_job_of_another_account_and_tool_waits_for_what_is_in_line_only(shared_service, monkeypatch):
    service = shared_service
    if service.store_url():
        monkeypatch.setenv("FOLDNOTE_STORE_URL", service.store_url())
    submit_short(service, "ongoing", 300)
    wait_until(lambda: count_claimed(service, "ongoing") > 4, "a line")
    said = io.StringIO()
    with redirect_stdout(said):
        arguments = ["--data-dir", str(service.folder / "data"), "--json", "issue-key", "other@lab.org"]
        assert admin.main(arguments) == 0
    headers = {"x-api-key": json.loads(said.getvalue())["key"]}
    body = {"jobName": "other.output-1", "type": "af2bind", "settings": {"pdbFile": PDB, "chain": "A"}}
    with httpx.Client(base_url=service.url, headers=headers, timeout=120) as client:
        client.post("/submit-job", json=body).raise_for_status()
        job = lambda: client.get("/jobs", params={"jobName": "other.output-1"}).json()["status"]  # noqa: E731
        wait_until(lambda: job() == "Complete", "its end")
    waiting = "SELECT count(*) FROM jobs WHERE name LIKE 'ongoing%' AND state = 'In Queue'"
    assert rows(service, waiting)[0][0] > 0
    service.client.post("/stop-job", json={"jobName": "batch-ongoing"}).raise_for_status()


@pytest.mark.exhaustive
@pytest.mark.parametrize("victim", ["service", "worker", "scheduler"])
def test_whatever_dies_every_job_of_a_line_is_done_once(service, cluster, victim):
    names = submit_short(service, "dies", 80)
    wait_until(lambda: count_claimed(service, "dies") > 4, "a line")
    if victim == "service":
        service.kill()
        service.start()
    else:
        end_process(cluster.workers[0])
    if victim == "scheduler":
        end_process(cluster.scheduler)
        cluster.workers.clear()
        cluster.start()
    elif victim == "worker":
        cluster.workers.clear()
        cluster.add_worker()
    for name in names:
        assert service.wait(name, patience_s=180)["status"] == "Complete"
    assert_once(service, *names)
    lost = "SELECT count(*) FROM jobs WHERE name LIKE 'dies%' AND losses > 0"
    assert rows(service, lost)[0][0] <= 2, "what was in line was counted"


@pytest.mark.exhaustive
def test_a_cluster_with_tls_takes_jobs_and_one_without_the_certificate_is_not_heard(tmp_path):
    """The scheduler accepts only connections with its authority's certificate."""
    (tmp_path / "other").mkdir()
    cluster = Cluster(tmp_path, certificate=write_certificate(tmp_path)[:2]).start()
    chain, key, _ = write_certificate(tmp_path / "other")
    others = {"tls-ca-file": str(chain), "tls-cert": str(chain), "tls-key": str(key)}
    try:
        for name, security in (("trusted", {}), ("stranger", others)):
            folder = tmp_path / name
            folder.mkdir()
            cluster.security |= security
            service = ClusterService(folder, cluster)
            service.start()
            try:
                service.submit("secret.output-1")
                if security:
                    log = folder / "service.log"
                    wait_until(lambda log=log: "cannot be reached" in log.read_text(), "the refusal")
                    assert service.job("secret.output-1")["status"] == "In Queue"
                else:
                    assert service.wait("secret.output-1")["status"] == "Complete"
            finally:
                service.end()
    finally:
        cluster.end()


@contextmanager
def serving_executor(path: Path, cluster: Cluster, node_dir: str):
    """Start a service without a dispatcher, whose executor has the cluster's workers."""
    engines = write_probe_engine(path / "engines", memory_mb=16)
    section = {
        "kind": "dask",
        "address": cluster.address,
        "engine_path": str(engines),
        "node_dir": node_dir,
    }
    with NodeService(path, engines, executor=section).serving() as running:
        running.open_executor()
        yield running
        running.executor.close()


@pytest.fixture
def executor_service(tmp_path, shared_cluster):
    with serving_executor(tmp_path, shared_cluster, str(tmp_path / "node")) as running:
        yield running


def test_a_worker_that_cannot_start_a_run_tells_why(tmp_path, shared_cluster):
    with serving_executor(tmp_path, shared_cluster, "/proc/absent") as service:
        order, identity = service.prepare("quick.output-1", service.executor.capacity()[0].machine)
        service.executor.submit(order)
        outcome = wait_until(lambda: service.executor.poll(identity).outcome, "the reason")
        assert (outcome.state, outcome.started) == ("lost", None)
        assert outcome.error == "The Dask worker failed: The agent of foldnote on this machine has ended."


def test_dask_drops_a_run_that_is_revoked(executor_service, shared_cluster):
    """The worker is paused, so that it does not start the run."""
    from distributed import Client

    executor, (worker,) = executor_service.executor, shared_cluster.workers
    order, identity = executor_service.prepare("revoked.output-1", executor.capacity()[0].machine)
    worker.send_signal(signal.SIGSTOP)
    try:
        executor.submit(order)
        with Client(shared_cluster.address, set_as_default=False) as client:
            held = lambda: [key for keys in client.processing().values() for key in keys]  # noqa: E731
            wait_until(held, "the task")
            assert executor.revoke(identity)
            wait_until(lambda: not held(), "its end")
    finally:
        worker.send_signal(signal.SIGCONT)


@pytest.mark.cluster
def test_a_machine_that_is_listed_but_gone_is_closed_until_its_next_sign_of_life(
    executor_service, shared_cluster
):
    """The scheduler is paused, like one that has not noticed the worker's death."""
    executor, cluster = executor_service.executor, shared_cluster

    def lose(name: str, kill) -> None:
        (machine,) = executor.capacity()
        order, identity = executor_service.prepare(name, machine.machine)
        executor.submit(order)
        find = lambda: runner_in(executor_service.place_on_node(identity) / "runner.json")  # noqa: E731
        kill(wait_until(find, "the runner"))
        outcome = wait_until(lambda: executor.poll(identity).outcome, "the report")
        assert outcome.state == "lost"
        assert [each.is_open for each in executor.capacity()] == [False]

    lose("runner.sleep-60", lambda runner: os.kill(runner, signal.SIGKILL))
    wait_until(lambda: executor.capacity()[0].is_open, "a sign of life")

    def end_worker(_runner: int) -> None:
        cluster.scheduler.send_signal(signal.SIGSTOP)
        end_process(cluster.workers.pop())

    lose("worker.sleep-60", end_worker)
    (gone,) = executor.capacity()
    cluster.scheduler.send_signal(signal.SIGCONT)
    cluster.add_worker()
    wait_until(lambda: any(each.is_open for each in executor.capacity()), "the other worker")
    assert gone.machine not in {each.machine for each in executor.capacity() if each.is_open}


@pytest.mark.exhaustive
def test_a_killed_worker_loses_no_job(tmp_path, cluster):
    """Run and lease are longer than any pause of a busy machine, so only the kill loses an attempt."""
    with serving(tmp_path, cluster, lease_s=60.0) as service:
        service.submit("worker.alone.sleep-10.output-1")
        wait_for_sleep(service, "worker.alone.sleep-10.output-1")
        cluster.workers[0].kill()
        cluster.add_worker()
        service.wait("worker.alone.sleep-10.output-1", patience_s=180)
        assert_once(service, "worker.alone.sleep-10.output-1")
        folders = [place for (place,) in rows(service, "SELECT folder FROM attempts ORDER BY number")]
        machines = [NodeOrder.read(service.folder / "data" / "jobs" / place).machine for place in folders]
        assert machines[0] not in machines[1:]
        assert rows(service, "SELECT max(number) FROM attempts") == [(2,)]


@pytest.mark.exhaustive
def test_a_killed_scheduler_loses_no_job(service, cluster):
    names = [f"scheduler{number}.alone.sleep-2.output-1" for number in range(4)]
    for name in names:
        service.submit(name)
    wait_for_sleep(service, names[0])
    cluster.scheduler.kill()
    cluster.scheduler.wait()
    cluster.start()
    for name in names:
        service.wait(name, patience_s=90)
    assert_once(service, *names)


@pytest.mark.exhaustive
def test_a_killed_service_adopts_what_runs_on_the_cluster(service):
    names = [f"service{number}.alone.sleep-3.output-1" for number in range(3)]
    for name in names:
        service.submit(name)
    wait_for_sleep(service, names[0])
    service.kill()
    service.start()
    for name in names:
        service.wait(name)
    assert_once(service, *names)
    assert rows(service, "SELECT losses FROM jobs WHERE name = 'service0.alone.sleep-3.output-1'") == [(0,)]


@pytest.mark.exhaustive
def test_a_worker_that_cannot_reach_the_service_ends_its_engine_and_commits_nothing(service, cluster):
    """The service is paused for longer than a lease: the engine ends before another one starts."""
    service.submit("cut.alone.sleep-12.output-1")
    wait_for_sleep(service, "cut.alone.sleep-12.output-1")
    service.process.send_signal(signal.SIGSTOP)
    try:
        wait_until(lambda: not marked(service), "the end of the fenced engine", 15)
    finally:
        service.process.send_signal(signal.SIGCONT)
    service.wait("cut.alone.sleep-12.output-1", patience_s=90)
    assert_once(service, "cut.alone.sleep-12.output-1")


@pytest.mark.exhaustive
def test_an_agent_that_is_killed_takes_its_engine_along(service):
    service.submit("agent.alone.sleep-3.output-1")
    wait_for_sleep(service, "agent.alone.sleep-3.output-1")
    (agent,) = find_processes("foldnote.service.node.agent", service)
    os.kill(agent, signal.SIGKILL)
    wait_until(lambda: not marked(service), "the end of the engine", 5)
    service.wait("agent.alone.sleep-3.output-1")
    assert_once(service, "agent.alone.sleep-3.output-1")


@pytest.mark.exhaustive
def test_a_job_whose_runner_always_dies_stops_after_three_attempts(service):
    service.submit("poison.kill-runner.sleep-60")
    killed: set[str] = set()
    while len(killed) < 3:
        name, pid = wait_until(lambda: next_runner(service, killed), "the next runner")
        os.kill(pid, signal.SIGKILL)
        killed.add(name)
    job = service.wait("poison.kill-runner.sleep-60")
    assert job["status"] == "Stopped"
    assert "It was tried 3 times" in job["error"]


@pytest.mark.exhaustive
@pytest.mark.timeout(600 + KILLS * 20)
def test_random_kills_on_the_cluster_lose_nothing(service, cluster, capsys):
    cluster.add_worker()
    ledger, killer = Ledger(), ClusterKiller(service, cluster, SEED)
    with Clients(service, ledger, SEED):
        killer.kill(KILLS)
    figures = check(service, ledger)
    with capsys.disabled():
        print(f"\n{dict(killer.counts)} killed; {len(ledger.acknowledged)} jobs acknowledged,")
        print(f"{dict(ledger.counts)}; {figures}")
    assert figures == dict.fromkeys(figures, 0), ledger.faults[:10]


@pytest.mark.cluster
def test_an_engine_assigned_to_this_machine_runs_while_the_cluster_has_no_workers(tmp_path):
    cluster = Cluster(tmp_path)  # not started
    folder = tmp_path / "service"
    folder.mkdir()
    service = ClusterService(folder, cluster)
    service.code = QUICK.replace("retry_s=", "sweep_s=600.0, retry_s=")  # only a wake-up starts a run
    write_probe_engine(service.engines, tools=("propka",), name="near", memory_mb=16)
    config = folder / "home" / "config" / "config.toml"
    config.write_text(config.read_text() + '[executors.engines]\nnear = "local"\n')
    service.start()
    try:
        service.submit("far.output-1")
        body = {"type": "propka", "settings": {"pdbFile": PDB}}
        assert service.run("near.output-1", **body)["status"] == "Complete"
        again = {"foldnote": {"retries": 2}}
        batch = {"batchName": "flaky", "jobNames": ["near.flaky-2"], "type": "propka"} | again
        answer = service.client.post("/submit-batch", json=batch | {"settings": [body["settings"]]})
        assert answer.status_code == 200, answer.text
        service.wait("flaky")
        assert (service.job("near.flaky-2")["status"], service.job("near.flaky-2")["retries"]) == (
            "Complete",
            2,
        )
        assert service.job("far.output-1")["status"] == "In Queue"
    finally:
        service.end()
        shutil.rmtree(folder, ignore_errors=True)
