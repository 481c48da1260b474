"""Runs as jobs of a batch system: the requested resources, no visible secrets, and no lost or leftover jobs after kills.

Tests without a mark use a stand-in for Slurm's commands.
"""

import json
import os
import random
import signal
import stat
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import slurm_stand_in
from chaos import Clients, Ledger, check, marked, rows
from node_checks import assert_once, find_processes, next_runner, runner_in, wait_for_sleep
from service_process import PDB
from slurm_cluster import BatchService, SlurmCluster, SlurmNode
from waiting import wait_until

from foldnote.errors import ConfigurationError
from foldnote.service.queue.executors.batch_options import BatchOptions
from foldnote.service.queue.executors.batch_system import BatchRequest, Slurm

pytestmark = [
    pytest.mark.skipif(not Path("/proc/self").exists(), reason="finds processes through /proc"),
    pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning"),
]
KILLS = int(os.environ.get("FOLDNOTE_TEST_KILLS", "12"))
SEED = int(os.environ.get("FOLDNOTE_TEST_SEED", "46"))
REQUIRED = {"service_url": "http://head:8000", "work_dir": "/shared/batch", "cores": 4, "memory_gb": 8}


@pytest.fixture
def system(tmp_path):
    """Return the stand-in's folder, whose files control it."""
    return tmp_path / "slurm"


@pytest.fixture
def service(tmp_path, system):
    with_stand_in = BatchService(tmp_path / "service", slurm_stand_in.install(system), lease_s=30)
    with_stand_in.start()
    yield with_stand_in
    if with_stand_in.process.poll() is None:
        with_stand_in.end()


def states(system: Path) -> dict[str, str]:
    return {job.name: slurm_stand_in.state(job) for job in (system / "jobs").iterdir()}


def numbers(service: BatchService) -> list[str]:
    """Return the numbers of the batch jobs that the service has recorded."""
    return sorted(json.loads(path.read_text())["native_id"] for path in service.files("records/*.json"))


def test_a_job_asks_for_what_it_needs_and_shows_no_secret(service, system):
    (system / slurm_stand_in.HELD).touch()
    service.submit("quick.alone.output-1")
    (script,) = wait_until(lambda: list(system.glob("jobs/*/script")), "the batch job")
    wait_until(lambda: "Waits" in str(service.job("quick.alone.output-1")), "the message of a job that waits")
    text = script.read_text()
    for line in ("--nodes=1", "--cpus-per-task=1", f"--mem={(16 + 64) << 10}K", "--job-name="):
        assert f"#SBATCH {line}" in text
    ((nonce,),) = rows(service, "SELECT nonce FROM attempts")
    assert nonce not in text
    (order,) = service.files("orders/*.json")
    assert nonce in order.read_text()
    assert nonce[:8] not in order.name
    for path in (order, *service.files("*"), *service.files("records/*"), *service.files("scripts/*")):
        assert not stat.S_IMODE(path.stat().st_mode) & 0o077, path
    slurm_stand_in.start_all(system)
    assert service.wait("quick.alone.output-1")["status"] == "Complete"
    wait_until(lambda: not service.files("*/*"), "the removal of the job's files")
    assert_once(service, "quick.alone.output-1")


def test_a_stop_leaves_no_process_and_no_batch_job(service, system):
    name = "long.deaf.daemon.child.sleep-60"
    service.submit(name)
    wait_for_sleep(service, name)
    (system / slurm_stand_in.HELD).touch()
    service.submit("waits.sleep-60")
    wait_until(lambda: states(system).get("2") == "PD", "the job that waits")
    names = (name, "waits.sleep-60")
    began = time.monotonic()
    with ThreadPoolExecutor(len(names)) as pool:  # the time limit holds for each request
        list(pool.map(lambda each: service.client.post("/stop-job", json={"jobName": each}), names))
    for each in names:
        assert service.wait(each)["status"] == "Stopped"
    wait_until(lambda: not marked(service), "the end of all processes", 10)
    assert time.monotonic() - began < 10
    wait_until(lambda: states(system) == {"1": "CD", "2": "CA"}, "the end of both batch jobs")


@pytest.mark.cluster
def test_short_runs_follow_one_another_in_one_batch_job(service, system):
    """This includes runs that have a batch job of their own by then, which is cancelled."""
    names = [f"short{number}.alone.output-1" for number in range(5)]
    first = "first.sleep-8.output-1"  # longer than submitting the others takes on a busy machine
    service.submit(first)
    wait_for_sleep(service, first)
    (system / slurm_stand_in.HELD).touch()
    for name in names:
        service.submit(name)
    wait_until(
        lambda: sorted(states(system).values()) == ["PD", "PD", "PD", "R"],
        "as many batch jobs as there may be",
    )
    for name in (first, *names):
        assert service.wait(name)["status"] == "Complete"
    wait_until(lambda: not set(states(system).values()) & {"R", "PD"}, "the end of all batch jobs")
    ends = states(system)
    assert ends.pop("1") == "CD"
    assert set(ends.values()) == {"CA"}, "no run began in a batch job of its own"
    wait_until(lambda: not service.files("*/*"), "the removal of the jobs' files")
    assert rows(service, "SELECT count(*), sum(losses) FROM attempts, jobs WHERE jobs.id = job_id") == [
        (6, 0)
    ]
    assert_once(service, *names)


@pytest.mark.exhaustive
def test_a_run_that_follows_another_is_stopped_and_adopted_like_any(service, system):
    service.submit("first.sleep-2.output-1")
    wait_for_sleep(service, "first.sleep-2.output-1")
    (system / slurm_stand_in.HELD).touch()
    for name in ("second.sleep-4.output-1", "third.deaf.daemon.child.sleep-60"):
        service.submit(name)
    service.wait("first.sleep-2.output-1")
    wait_for_sleep(service, "second.sleep-4.output-1")
    service.kill()
    service.start()
    assert service.wait("second.sleep-4.output-1")["status"] == "Complete"
    assert_once(service, "first.sleep-2.output-1", "second.sleep-4.output-1")
    slurm_stand_in.start_all(system)
    wait_for_sleep(service, "third.deaf.daemon.child.sleep-60")
    service.client.post("/stop-job", json={"jobName": "third.deaf.daemon.child.sleep-60"})
    assert service.wait("third.deaf.daemon.child.sleep-60")["status"] == "Stopped"
    wait_until(lambda: not marked(service), "the end of all processes", 10)
    wait_until(lambda: not set(states(system).values()) & {"R", "PD"}, "the end of all jobs")


@pytest.mark.exhaustive
def test_nodes_fetch_inputs_where_they_reach_the_service_and_not_where_users_do(tmp_path, system):
    service = BatchService(tmp_path / "public", slurm_stand_in.install(system), lease_s=30)
    service.arguments += ("--public-url", "https://users.example.invalid")
    service.start()
    try:
        for name in ("one.pdb", "two.pdb"):
            assert service.client.put(f"/upload/{name}", content=PDB).status_code == 200
        job = service.run(
            "aligned.output-1", type="align-pdbs", settings={"pdbFiles": ["one.pdb", "two.pdb"]}
        )
        assert job["status"] == "Complete"
    finally:
        service.end()


@pytest.mark.exhaustive
def test_without_bundles_each_run_has_its_own_batch_job(tmp_path, system):
    variables = slurm_stand_in.install(system)
    service = BatchService(tmp_path / "alone", variables, lease_s=30, bundle_s=0, max_jobs=1)
    service.start()
    try:
        for number in range(3):
            service.submit(f"single{number}.alone.output-1")
        for number in range(3):
            service.wait(f"single{number}.alone.output-1")
        assert sorted(states(system)) == ["1", "2", "3"]
    finally:
        service.end()


def test_a_service_that_starts_again_finds_its_batch_jobs_and_cancels_those_it_does_not_want(service, system):
    (system / slurm_stand_in.HELD).touch()
    service.submit("kept.alone.output-1")
    service.submit("unwanted.alone.output-1")
    wait_until(lambda: numbers(service) == ["1", "2"], "both batch jobs")
    service.kill()
    service.start()
    service.client.post("/stop-job", json={"jobName": "unwanted.alone.output-1"})
    wait_until(lambda: sorted(states(system).values()) == ["CA", "PD"], "the end of the unwanted one")
    slurm_stand_in.start_all(system)
    assert service.wait("kept.alone.output-1")["status"] == "Complete"
    assert rows(service, "SELECT count(*) FROM attempts") == [(2,)]
    assert_once(service, "kept.alone.output-1")


@pytest.mark.exhaustive
def test_a_batch_job_that_was_never_recorded_ends_without_a_run(service, system):
    """The service dies between submitting the batch job and recording its number."""
    (system / slurm_stand_in.HELD).touch()
    service.submit("orphan.alone.output-1")
    wait_until(lambda: numbers(service) == ["1"], "the batch job")
    service.kill()
    (record,) = service.files("records/*.json")
    record.write_text(record.read_text().replace('"native_id": "1"', '"native_id": ""'))
    service.start()
    wait_until(lambda: states(system) == {"1": "CA", "2": "PD"}, "the end of the orphan and the next job")
    slurm_stand_in.start_all(system)
    assert service.wait("orphan.alone.output-1")["status"] == "Complete"
    assert rows(service, "SELECT losses FROM jobs") == [(0,)]
    assert_once(service, "orphan.alone.output-1")


def test_batch_jobs_that_no_record_refers_to_are_cancelled_and_those_of_others_are_not(
    service, system, tmp_path
):
    (system / slurm_stand_in.HELD).touch()
    script = tmp_path / "others.job"
    script.write_text("#SBATCH --job-name=foldnote-0123456789ab-1-1-0123456789ab\n")
    slurm_stand_in.submit(system, script)
    service.submit("kept.alone.output-1")
    wait_until(lambda: numbers(service) == ["2"], "the batch job")
    (name,) = (path.stem for path in service.files("records/*.json"))
    script.write_text(f"#SBATCH --job-name={name.rpartition('-')[0]}-0123456789ab\n")
    slurm_stand_in.submit(system, script)
    wait_until(lambda: states(system) == {"1": "PD", "2": "PD", "3": "CA"}, "the end of the unknown job")
    slurm_stand_in.start_all(system)
    assert service.wait("kept.alone.output-1")["status"] == "Complete"
    assert_once(service, "kept.alone.output-1")


def test_batch_jobs_and_records_of_the_previous_version_are_kept(service, system):
    """The names of its jobs began with `foldnote-` and the number of the job."""
    (system / slurm_stand_in.HELD).touch()
    service.submit("kept.alone.output-1")
    wait_until(lambda: numbers(service) == ["1"], "the batch job")
    service.kill()
    (record,) = service.files("records/*.json")
    name = "-".join(["foldnote", *record.stem.split("-")[2:]])
    for path in (record, *service.files("orders/*.json")):
        path.rename(path.with_stem(name))
    for path in (system / "jobs" / "1" / "script", system / "jobs" / "1" / "name"):
        path.write_text(path.read_text().replace(record.stem, name))
    service.start()
    time.sleep(1)
    assert states(system) == {"1": "PD"}
    slurm_stand_in.start_all(system)
    assert service.wait("kept.alone.output-1")["status"] == "Complete"
    wait_until(lambda: not service.files("*/*.json"), "the removal of the job's files")
    assert_once(service, "kept.alone.output-1")


@pytest.mark.cluster
def test_jobs_that_the_batch_system_forgot_are_submitted_again(service, system):
    (system / slurm_stand_in.HELD).touch()
    service.submit("forgotten.alone.output-1")
    wait_until(lambda: states(system), "the batch job")
    (system / "jobs" / "1" / slurm_stand_in.FORGOTTEN).touch()
    wait_until(lambda: "2" in states(system), "the second job")
    slurm_stand_in.start_all(system)  # the forgotten job runs, too, but finds no order
    assert service.wait("forgotten.alone.output-1")["status"] == "Complete"
    assert_once(service, "forgotten.alone.output-1")


@pytest.mark.cluster
def test_what_the_batch_system_says_is_reported_and_its_silence_costs_nothing(service, system):
    (system / slurm_stand_in.DOWN).touch()
    time.sleep(1)
    service.submit("patient.alone.output-1")
    time.sleep(1)
    assert service.job("patient.alone.output-1")["status"] in ("In Queue", "Running")
    (system / slurm_stand_in.DOWN).unlink()
    assert service.wait("patient.alone.output-1")["status"] == "Complete"
    assert rows(service, "SELECT losses FROM jobs") == [(0,)]
    wait_until(lambda: set(states(system).values()) == {"CD"}, "the end of its batch job")
    (system / slurm_stand_in.REFUSAL).write_text("Invalid account or account/partition combination specified")
    service.submit("refused.alone.output-1")
    job = service.wait("refused.alone.output-1")
    assert job["status"] == "Stopped"
    assert "Invalid account" in job["error"]
    assert "tried 3 times" in job["error"]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"colour": "red"}, "unknown option 'colour'"),
        ({"cores": 0}, "cores to 0; it must be an integer from 1"),
        ({"cores": True}, "cores to True"),
        ({"work_dir": "shared"}, "must begin with '/'"),
        ({"work_dir": "/my shared"}, "without spaces"),
        ({"queue": 'x" --wrap="id'}, "without spaces"),
        ({"account": "a\n#SBATCH --uid=0"}, "without spaces"),
        ({"attributes": {"time": "1"}}, "foldnote sets itself"),
        ({"attributes": {"--qos": "x"}}, "without dashes"),
        ({"attributes": {"qos": "$(id)"}}, "attributes.qos"),
        ({"scheduler": "pbs"}, "dask-jobqueue"),
        ({"memory_gb": 1, "memory_margin_mb": 1024}, "not more than memory_margin_mb"),
        ({"poll_s": 0}, "at least 0.2"),
        ({"max_walltime_s": "1h"}, "number of seconds"),
    ],
)
def test_a_wrong_option_is_refused_in_one_sentence(more, words):
    with pytest.raises(ConfigurationError, match=r"\[executors.lab\]") as caught:
        BatchOptions.read("lab", REQUIRED | more)
    assert words in str(caught.value)


def test_missing_options_are_named():
    with pytest.raises(ConfigurationError, match="needs work_dir, cores"):
        BatchOptions.read("lab", {"service_url": "http://head:8000", "memory_gb": 8})


def test_the_time_that_a_job_asks_for():
    assert BatchOptions.read("lab", REQUIRED).walltime_s(3600) == 4200
    assert BatchOptions.read("lab", REQUIRED | {"bundle_s": 0}).walltime_s(3600) == 3900
    assert BatchOptions.read("lab", REQUIRED | {"max_walltime_s": 1800}).walltime_s(3600) == 1800


# real Slurm


class SlurmKiller:
    """Kill the service, Slurm's controller and nodes' daemons, agents and runners, and cancel batch jobs."""

    def __init__(self, service: BatchService, cluster: SlurmCluster, seed: int) -> None:
        self._service, self._cluster = service, cluster
        self._chance = random.Random(seed)
        self.counts: Counter = Counter()

    def kill(self, number: int) -> None:
        acts = {
            "services": (0.3, self._kill_service),
            "controllers": (0.15, self._kill_controller),
            "daemons of nodes": (0.1, self._kill_daemon),
            "batch jobs": (0.2, self._cancel_one),
            "agents": (0.1, self._kill_agent),
            "runners": (0.25, self._kill_runner),
        }
        while self.counts.total() < number:
            time.sleep(self._chance.random())
            (what,) = self._chance.choices(list(acts), [share for share, _ in acts.values()])
            if acts[what][1]():
                self.counts[what] += 1

    def _kill_service(self) -> bool:
        self._service.kill()
        self._service.start()
        return True

    def _kill_controller(self) -> bool:
        self._cluster.kill("slurmctld")
        self._cluster.start_controller()
        return True

    def _kill_daemon(self) -> bool:
        node = self._chance.choice(self._cluster.nodes)
        self._cluster.kill(node.name)
        self._cluster.start_node(node)
        return True

    def _cancel_one(self) -> bool:
        jobs = self._cluster.jobs()
        return bool(jobs) and self._cluster.ask("scancel", self._chance.choice(jobs)[0]).returncode == 0

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


@pytest.fixture
def cluster(request, tmp_path):
    """Start Slurm on this machine; the parameter, if any, is the number of nodes."""
    nodes = [SlurmNode(f"node{number}") for number in range(getattr(request, "param", 1))]
    with SlurmCluster(tmp_path / "cluster", nodes) as running:
        yield running


@pytest.fixture
def on_slurm(request, tmp_path, cluster):
    """Start a service on Slurm; the parameter, if any, is the lease in seconds."""
    running = BatchService(tmp_path / "service", cluster.variables, lease_s=getattr(request, "param", 4.0))
    running.start()
    yield running
    if running.process.poll() is None:
        running.end()


@pytest.fixture(params=["stand-in", pytest.param("slurm", marks=pytest.mark.exhaustive)])
def commands(request, tmp_path, system):
    """Return a batch system's commands as the executor configures them."""
    stand_in = request.param == "stand-in"
    variables = slurm_stand_in.install(system) if stand_in else request.getfixturevalue("cluster").variables
    (tmp_path / "scripts").mkdir()
    return Slurm(tmp_path / "scripts", variables)


def test_a_number_that_a_controller_gave_again_is_not_taken_for_the_job(commands):
    name, command = "foldnote-1-1-abc", (sys.executable, "-c", "import time; time.sleep(60)")
    number = commands.submit(BatchRequest(name, command, cores=1, memory_mb=64, gpus=0, walltime_s=120))
    wait_until(lambda: (number, name) in commands.list_live(), "the batch job")
    assert not commands.list_live() & {(number, "foldnote-2-1-def"), ("4711", name)}
    commands.cancel("foldnote-2-1-def")
    time.sleep(1)
    assert (number, name) in commands.list_live()
    commands.cancel(name)
    wait_until(lambda: not commands.list_live(), "the end of the batch job", 20)
    commands.cancel(name)


@pytest.mark.exhaustive
def test_slurm_runs_jobs_once_and_a_stop_leaves_none(on_slurm, cluster):
    names = [f"quick{number}.alone.output-1" for number in range(3)]
    for name in names:
        on_slurm.submit(name)
    for name in names:
        on_slurm.wait(name)
    long = "long.deaf.daemon.child.sleep-60"
    on_slurm.submit(long)
    wait_for_sleep(on_slurm, long)
    (job,) = wait_until(lambda: len(found := cluster.jobs()) == 1 and found, "the end of the other jobs")
    shown = cluster.ask("scontrol", "show", "job", "-dd", job[0]).stdout
    assert "Requeue=0" in shown
    ((nonce,),) = rows(on_slurm, "SELECT nonce FROM attempts ORDER BY job_id DESC LIMIT 1")
    script = cluster.ask("scontrol", "write", "batch_script", job[0], "-").stdout
    assert "foldnote.service.node.batch_job" in script
    assert nonce not in shown + script
    began = time.monotonic()
    on_slurm.client.post("/stop-job", json={"jobName": long})
    assert on_slurm.wait(long)["status"] == "Stopped"
    wait_until(lambda: not marked(on_slurm), "the end of all processes", 10)
    assert time.monotonic() - began < 10
    wait_until(lambda: not cluster.jobs(), "the end of all batch jobs")
    assert_once(on_slurm, *names)


@pytest.mark.exhaustive
def test_a_controller_that_is_killed_and_forgets_everything_loses_no_job(on_slurm, cluster):
    names = [f"controller{number}.alone.sleep-2.output-1" for number in range(6)]
    for name in names:
        on_slurm.submit(name)
    wait_until(lambda: cluster.jobs(), "the first batch job")
    cluster.kill("slurmctld")
    for path in (cluster.folder / "state").glob("job*"):
        path.unlink()
    cluster.start_controller()
    for name in names:
        on_slurm.wait(name, patience_s=150)
    assert_once(on_slurm, *names)


@pytest.mark.exhaustive
@pytest.mark.parametrize("on_slurm", [60.0], indirect=True)  # longer than the start takes on a busy machine
def test_a_killed_service_adopts_its_batch_jobs(on_slurm):
    names = [f"service{number}.alone.sleep-4.output-1" for number in range(3)]
    for name in names:
        on_slurm.submit(name)
    wait_for_sleep(on_slurm, names[0])
    on_slurm.kill()
    on_slurm.start()
    for name in names:
        on_slurm.wait(name, patience_s=90)
    assert_once(on_slurm, *names)
    assert rows(on_slurm, "SELECT sum(losses) FROM jobs") == [(0,)]


@pytest.mark.exhaustive
def test_a_batch_job_that_others_cancel_reports_its_loss_and_is_repeated(on_slurm, cluster):
    on_slurm.submit("taken.alone.sleep-3.output-1")
    wait_for_sleep(on_slurm, "taken.alone.sleep-3.output-1")
    cluster.ask("scancel", cluster.jobs()[0][0])
    wait_until(lambda: rows(on_slurm, "SELECT losses FROM jobs") == [(1,)], "the report", 30)
    on_slurm.wait("taken.alone.sleep-3.output-1")
    assert_once(on_slurm, "taken.alone.sleep-3.output-1")


@pytest.mark.exhaustive
def test_a_batch_job_that_cannot_reach_the_service_ends_its_engine_and_commits_nothing(on_slurm):
    on_slurm.submit("cut.alone.sleep-12.output-1")
    wait_for_sleep(on_slurm, "cut.alone.sleep-12.output-1")
    on_slurm.process.send_signal(signal.SIGSTOP)
    try:
        wait_until(lambda: not marked(on_slurm), "the end of the fenced engine", 20)
    finally:
        on_slurm.process.send_signal(signal.SIGCONT)
    on_slurm.wait("cut.alone.sleep-12.output-1", patience_s=90)
    assert_once(on_slurm, "cut.alone.sleep-12.output-1")


@pytest.mark.exhaustive
def test_a_batch_job_whose_runner_always_dies_stops_after_three_attempts(on_slurm):
    on_slurm.submit("poison.kill-runner.sleep-60")
    killed: set[str] = set()
    while len(killed) < 3:
        name, pid = wait_until(lambda: next_runner(on_slurm, killed), "the next runner")
        os.kill(pid, signal.SIGKILL)
        killed.add(name)
    job = on_slurm.wait("poison.kill-runner.sleep-60")
    assert job["status"] == "Stopped"
    assert "It was tried 3 times" in job["error"]


@pytest.mark.exhaustive
@pytest.mark.timeout(900 + KILLS * 20)
@pytest.mark.parametrize("cluster", [1, 2], indirect=True, ids=["one node", "two nodes"])
def test_random_kills_on_slurm_lose_nothing(on_slurm, cluster, capsys):
    ledger, killer = Ledger(), SlurmKiller(on_slurm, cluster, SEED)
    with Clients(on_slurm, ledger, SEED):
        killer.kill(KILLS)
    try:
        with cluster.administrator():
            figures = check(on_slurm, ledger)
    except AssertionError as fault:
        fault.add_note(f"{dict(killer.counts)} killed; Slurm says: {cluster.describe()}")
        raise
    with capsys.disabled():
        print(f"\n{dict(killer.counts)} killed; {len(ledger.acknowledged)} jobs acknowledged,")
        print(f"{dict(ledger.counts)}; {figures}")
    assert figures == dict.fromkeys(figures, 0), ledger.faults[:10]
