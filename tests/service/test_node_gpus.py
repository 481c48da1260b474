"""The GPUs that an agent on a node gives to its runs."""

import os

import pytest
from gpu_machine import make_gpu_machine

from foldnote.errors import EngineError
from foldnote.service.node.agent_resources import GpuPool


@pytest.fixture
def environment(tmp_path):
    """Return the environment of a job on a node with two GPUs, both of which it sees."""
    return {"PATH": f"{make_gpu_machine(tmp_path / 'machine', number=2)}{os.pathsep}{os.environ['PATH']}"}


def lease(environment: dict[str, str], number: int) -> list[str]:
    with GpuPool(environment).lease(number) as gpus:
        return [gpu.identity for gpu in gpus]


def test_a_run_has_gpus_of_those_that_slurm_names(environment):
    assert lease(environment | {"CUDA_VISIBLE_DEVICES": "1", "SLURM_GPUS_ON_NODE": "1"}, 1) == ["1"]
    assert lease(environment | {"SLURM_GPUS_ON_NODE": "2"}, 2) == ["0", "1"]
    assert lease(environment, 1) == ["0"]


def test_a_run_takes_no_gpu_that_may_belong_to_another_job_of_the_node(environment):
    unnamed = environment | {"SLURM_GPUS_ON_NODE": "1"}
    with pytest.raises(EngineError, match="Slurm gave this job 1 of the node's 2 GPUs, but not which"):
        lease(unnamed, 1)
    assert lease(unnamed, 0) == []


def test_gpus_are_leased_once_until_they_are_free_again(environment):
    pool = GpuPool(environment)
    with (
        pool.lease(2),
        pytest.raises(EngineError, match="The machine has 0 free GPUs; the run needs 1"),
        pool.lease(1),
    ):
        pass
    with pool.lease(1) as gpus:
        assert len(gpus) == 1
