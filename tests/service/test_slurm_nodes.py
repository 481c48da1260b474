"""Slurm with two nodes, each a host with its own address: work on both, the loss of one, a cut link, memory and GPUs.

Where the kernel has cgroups of version 1, Slurm confines each job to what it asked for, as most clusters do.
"""

import json
import os
import signal
import time
from contextlib import suppress
from pathlib import Path

import pytest
from chaos import marked, rows
from gpu_machine import make_gpu_machine
from namespaces import Host, Network, private_network
from node_checks import assert_once, find_host, runs_on, wait_for_sleep
from slurm_cluster import BatchService, SlurmCluster, SlurmNode, has_controllers
from waiting import wait_until

pytestmark = pytest.mark.exhaustive
GPUS = 2
SECTION = {"memory_gb": 2, "memory_margin_mb": 512}
"""The memory that jobs ask for beyond their engines' need is the default, since Slurm confines them to it."""
MANIFEST = """
name = "gpu_user"
method = "User of GPUs"
kind = "genuine"
version = "1"
tools = ["anarci"]
[environment]
kind = "host"
[resources]
cores = 1
memory_mb = 16
gpus = 1
"""
RUN = """
import json, os, time
from pathlib import Path

name = json.loads(Path("job.json").read_text())["jobName"]
seen = Path({seen!r})
state = {{"gpu": os.environ["CUDA_VISIBLE_DEVICES"], "host": os.stat("/proc/self/ns/net").st_ino}}
(seen / f"{{name}}.new").write_text(json.dumps(state))
(seen / f"{{name}}.new").rename(seen / name)
while not (seen / "end").exists():
    time.sleep(0.05)
Path("outputs/done.txt").write_text("done")
"""


@pytest.fixture
def network():
    with private_network("service", "first", "second") as made:
        yield made


@pytest.fixture
def cluster(tmp_path, network):
    """Start Slurm's controller on the service's host and a daemon on each of two others."""
    nodes = [
        SlurmNode(name, network.hosts[name].address, network.hosts[name].prefix, GPUS)
        for name in ("first", "second")
    ]
    head = network.hosts["service"]
    is_confined = has_controllers()
    with SlurmCluster(
        tmp_path / "cluster", nodes, head.address, head.prefix, has_cgroups=is_confined
    ) as running:
        yield running


@pytest.fixture
def make_service(tmp_path, network, cluster):
    """Return a function that starts a service whose jobs run in Slurm."""
    made = []

    def make(environment: dict[str, str] | None = None, **section) -> BatchService:
        head = network.hosts["service"]
        variables, folder = cluster.variables | (environment or {}), tmp_path / "service"
        service = BatchService(folder, variables, host=head.address, **SECTION | section)
        service.prefix = head.prefix
        made.append(service)
        return service.start()

    yield make
    for service in made:
        if service.process.poll() is None:
            service.end()


def find_hosts(service: BatchService, network: Network) -> set[str]:
    """Return the names of the nodes on which an attempt runs."""
    return {name for name, host in network.hosts.items() if runs_on(service, host)}


def switch_off(cluster: SlurmCluster, name: str, host: Host) -> None:
    """Kill every process of a host: Slurm's daemon, the agents, the runners and the engines."""
    for path in Path("/proc").glob("[0-9]*"):
        if host.has(int(path.name)):
            with suppress(ProcessLookupError):
                os.kill(int(path.name), signal.SIGKILL)
    cluster.kill(name)


def find_name(network: Network, host: Host) -> str:
    return next(name for name, each in network.hosts.items() if each is host)


def test_jobs_run_on_both_nodes_at_once(make_service, network):
    service = make_service()
    names = [f"spread{number}.alone.hold.output-1" for number in range(4)]
    for name in names:
        assert service.submit(name).status_code == 200
    wait_until(lambda: find_hosts(service, network) == {"first", "second"}, "runs on both nodes")
    for name in names:
        service.release(name)
    for name in names:
        service.wait(name, patience_s=90)
    assert_once(service, *names)
    assert rows(service, "SELECT count(*) FROM attempts") == [(len(names),)]


def test_the_jobs_of_a_node_that_is_switched_off_are_repeated_on_the_other(make_service, network, cluster):
    service = make_service()
    name = "lost.alone.sleep-9.output-1"
    service.submit(name)
    host = find_host(service, network)
    lost = find_name(network, host)
    switch_off(cluster, lost, host)
    other = find_host(service, network, without=host.name)
    assert other.name != host.name
    assert service.wait(name, patience_s=90)["status"] == "Complete"
    assert_once(service, name)
    assert rows(service, "SELECT number, outcome FROM attempts ORDER BY number") == [
        (1, "lost"),
        (2, "Complete"),
    ]
    cluster.start_node(next(node for node in cluster.nodes if node.name == lost))
    names = [f"again{number}.alone.hold.output-1" for number in range(4)]
    for each in names:
        service.submit(each)
    wait_until(lambda: lost in find_hosts(service, network), "a run on the node that returned")
    for each in names:
        service.release(each)
    for each in names:
        service.wait(each, patience_s=90)
    assert_once(service, name, *names)
    wait_until(lambda: not cluster.jobs(), "the end of all batch jobs")


def test_a_node_that_was_cut_off_for_longer_than_a_lease_does_not_commit(make_service, network, cluster):
    """Its run ends with the lease, the other node repeats the job, and what arrives later changes nothing."""
    service = make_service()
    name = "cut.alone.sleep-9.output-1"
    service.submit(name)
    cut = find_host(service, network)
    network.cut(cut)
    began = time.monotonic()
    wait_until(lambda: not runs_on(service, cut), "the end of the run on the node that was cut off", 20)
    assert time.monotonic() - began > 2, "only its lease of 4 s ended it"
    other = find_host(service, network, without=cut.name)
    network.restore(cut)
    assert service.wait(name, patience_s=90)["status"] == "Complete"
    assert other.name != cut.name
    assert_once(service, name)
    assert rows(service, "SELECT number, outcome FROM attempts ORDER BY number") == [
        (1, "lost"),
        (2, "Complete"),
    ]
    wait_until(lambda: not cluster.jobs(), "the end of all batch jobs", 60)


def test_each_job_has_a_gpu_of_its_own_and_further_jobs_wait(make_service, tmp_path, network, cluster):
    seen, engine = tmp_path / "seen", tmp_path / "engines" / "gpu_user"
    seen.mkdir()
    engine.mkdir(parents=True)
    (engine / "engine.toml").write_text(MANIFEST)
    (engine / "run.py").write_text(RUN.format(seen=str(seen)))
    machine = make_gpu_machine(tmp_path / "machine", number=GPUS)
    service = make_service(
        {
            "FOLDNOTE_ENGINE_PATH": str(tmp_path / "engines"),
            "PATH": f"{machine}{os.pathsep}{os.environ['PATH']}",
        },
        gpus=1,
        max_jobs=8,
        engine_path=str(tmp_path / "engines"),
    )
    names = [f"gpu{number}" for number in range(2 * GPUS + 1)]
    for name in names:
        assert service.submit(name).status_code == 200
    begun = lambda: [path for path in seen.iterdir() if path.suffix != ".new"]  # noqa: E731
    wait_until(lambda: len(begun()) == 2 * GPUS, "a run on each GPU")
    hosts = {network.hosts[name].identity: name for name in ("first", "second")}
    used = [json.loads(path.read_text()) for path in begun()]
    # a confined job sees only its own GPU, which is then the first
    indices = ("0", "0") if has_controllers() else ("0", "1")
    expected = [(name, index) for name in ("first", "second") for index in indices]
    assert sorted((hosts[each["host"]], each["gpu"]) for each in used) == expected
    assert "Resources" in cluster.ask("squeue", "--noheader", "--states=PD", "--format=%r").stdout
    (seen / "end").touch()
    for name in names:
        assert service.wait(name, patience_s=90)["status"] == "Complete"


@pytest.mark.skipif(not has_controllers(), reason="Slurm confines memory with cgroups of version 1")
def test_a_job_that_takes_more_memory_than_it_asked_for_fails_with_a_sentence(make_service, cluster):
    service = make_service()
    service.submit("large.memory-1500.sleep-5")
    ended = service.wait("large.memory-1500.sleep-5")
    assert ended["status"] == "Stopped"
    assert "ran out of memory" in ended["error"]
    assert service.run("small.memory-8.output-1")["status"] == "Complete"
    assert rows(service, "SELECT count(*) FROM attempts") == [(2,)]
    wait_until(lambda: not cluster.jobs(), "the end of all batch jobs", 60)


@pytest.mark.skipif(
    not has_controllers(), reason="Slurm finds the processes of a job with cgroups of version 1"
)
def test_a_stop_leaves_no_process_of_a_confined_job(make_service, cluster):
    service = make_service()
    name = "stopped.deaf.daemon.child.sleep-60"
    service.submit(name)
    wait_for_sleep(service, name)
    service.client.post("/stop-job", json={"jobName": name})
    assert service.wait(name)["status"] == "Stopped"
    wait_until(lambda: not marked(service), "the end of all processes", 10)
    wait_until(lambda: not cluster.jobs(), "the end of all batch jobs", 60)
