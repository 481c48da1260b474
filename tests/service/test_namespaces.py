"""Service, scheduler and workers as hosts with their own addresses, and a worker whose link is cut during a job."""

import importlib.util
import io
import random
import time
import zipfile
from contextlib import ExitStack
from pathlib import Path

import pytest
from chaos import rows
from dask_cluster import Cluster, ClusterService
from namespaces import Host, Network, private_network
from node_checks import assert_once, find_host, runs_on
from service_process import PDB
from waiting import wait_until

pytestmark = [
    pytest.mark.exhaustive,
    pytest.mark.skipif(
        importlib.util.find_spec("distributed") is None, reason="needs the extra foldnote[dask]"
    ),
]
LEASE_S = 4.0
_INPUTS = ("one.pdb", "two.pdb")


@pytest.fixture
def network():
    with private_network("service", "scheduler", "first", "second") as made:
        yield made


@pytest.fixture
def service(tmp_path, network):
    """Start a service on its own host, whose jobs run on two others; the test sends requests from that host."""
    with ExitStack() as stack:
        scheduler = network.hosts["scheduler"]
        cluster = Cluster(tmp_path, scheduler.address, scheduler.prefix)
        stack.callback(cluster.end)
        cluster.start(0)
        for name in ("first", "second"):
            host = network.hosts[name]
            cluster.add_worker("--host", host.address, prefix=host.prefix)
        folder = tmp_path / "service"
        folder.mkdir()
        running = ClusterService(folder, cluster, LEASE_S, network.hosts["service"].address)
        running.prefix = network.hosts["service"].prefix
        stack.callback(lambda: running.process.poll() is None and running.end())
        running.start()
        yield running


def send_inputs(service) -> dict[str, str]:
    """Upload two structures, one of them too large for its copy to be sent with the outcome."""
    chance = random.Random(1)
    remarks = "".join(f"REMARK 999 {chance.randbytes(32).hex()}\n" for _ in range(12_000))
    contents = dict(zip(_INPUTS, (PDB, remarks + PDB), strict=True))
    for name, content in contents.items():
        assert service.client.put(f"/upload/{name}", content=content).status_code == 200
    return contents


def submit(service, name: str) -> None:
    answer = service.submit(name, type="align-pdbs", settings={"pdbFiles": list(_INPUTS)})
    assert answer.status_code == 200, answer.text


def read_result(service, name: str) -> dict[str, str]:
    url = service.result(name).json()
    with zipfile.ZipFile(io.BytesIO(service.client.get(url).content)) as archive:
        return {Path(each).name: archive.read(each).decode() for each in archive.namelist()}


def progress_of(service, name: str) -> float:
    return service.job(name).get("progress") or 0.0


def start_and_cut(service, network: Network, name: str) -> tuple[dict[str, str], Host]:
    """Submit a job and cut the link of the host that runs it; return its inputs and the host."""
    contents = send_inputs(service)
    submit(service, name)
    host = find_host(service, network)
    network.cut(host)
    return contents, host


def test_a_worker_that_was_cut_off_for_longer_than_a_lease_does_not_commit(service, network):
    """Its run ends with the lease, another worker repeats the job, and what arrives later changes nothing."""
    name = "cut.alone.sleep-9.copy.output-1"
    contents, cut = start_and_cut(service, network, name)
    began = time.monotonic()
    wait_until(lambda: not runs_on(service, cut), "the end of the run on the host that was cut off", 20)
    assert time.monotonic() - began > LEASE_S / 2, "only its lease ended it"
    other = find_host(service, network, without=cut.name)
    network.restore(cut)
    assert service.wait(name, patience_s=60)["status"] == "Complete"
    assert other.name != cut.name
    assert_once(service, name)
    assert rows(service, "SELECT number, outcome FROM attempts ORDER BY number") == [
        (1, "lost"),
        (2, "Complete"),
    ]
    result = read_result(service, name)
    assert {each: result[each] for each in contents} == contents
    after = "after.alone.copy"  # both hosts work again
    submit(service, after)
    service.wait(after)
    assert_once(service, name, after)


def test_a_worker_cut_off_for_less_than_a_lease_continues(service, network):
    name = "brief.alone.sleep-7.copy"
    contents, host = start_and_cut(service, network, name)
    time.sleep(LEASE_S / 3)
    before = progress_of(service, name)
    time.sleep(0.7)
    assert progress_of(service, name) == before, "nothing arrives"
    network.restore(host)
    wait_until(lambda: progress_of(service, name) > before, "the next heartbeat")
    service.wait(name)
    assert_once(service, name)
    assert rows(service, "SELECT count(*) FROM attempts") == [(1,)]
    assert read_result(service, name)["two.pdb"] == contents["two.pdb"]
