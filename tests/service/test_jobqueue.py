"""A Dask cluster that dask-jobqueue starts on Slurm is a scheduler address like any other to the service."""

import importlib.util
import os
import subprocess
import sys

import pytest
from dask_cluster import ClusterService
from node_checks import assert_once
from slurm_cluster import SlurmCluster
from waiting import wait_until

pytestmark = [
    pytest.mark.exhaustive,
    pytest.mark.skipif(
        importlib.util.find_spec("dask_jobqueue") is None, reason="needs dask-jobqueue: make test-setup"
    ),
]
LAB = """
import sys
from dask_jobqueue import SLURMCluster
with SLURMCluster(
    cores=2, processes=1, memory="1GB", walltime="00:10:00", interface="lo", local_directory=sys.argv[1],
    log_directory=sys.argv[1], python=sys.executable, scheduler_options={"dashboard_address": None},
) as cluster:
    cluster.scale(1)
    print(cluster.scheduler_address, flush=True)
    sys.stdin.read()
"""
"""The program that a lab runs on the head node; the cluster ends when its input closes."""


class StartedCluster:
    """The address of a scheduler that was started elsewhere."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.security: dict[str, str] = {}


def test_jobs_complete_on_workers_that_dask_jobqueue_starts_in_slurm(tmp_path):
    with SlurmCluster(tmp_path / "slurm") as slurm:
        lab = subprocess.Popen(
            [sys.executable, "-c", LAB, str(tmp_path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | slurm.variables,
        )
        folder = tmp_path / "service"
        folder.mkdir()
        try:
            service = ClusterService(folder, StartedCluster(lab.stdout.readline().strip()))
            service.start()
            try:
                names = [f"queued{number}.alone.output-1" for number in range(3)]
                for name in names:
                    assert service.submit(name).status_code == 200
                for name in names:
                    service.wait(name, patience_s=120)
                assert_once(service, *names)
                (worker,) = slurm.jobs()
                assert worker[1:] == ["dask-worker", "R"]
            finally:
                service.end()
        finally:
            lab.communicate()
        wait_until(lambda: not slurm.jobs(), "the end of the workers")
