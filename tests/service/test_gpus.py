"""Each run gets its own GPUs, sees no others, and keeps them when the service is killed and restarted."""

import json
import os
import time
from pathlib import Path

import pytest
from gpu_machine import make_gpu_machine

from foldnote.cli import main as run_command
from foldnote.service.runner.gpus import (
    Gpu,
    GpuMeter,
    explain_shortage,
    find_gpus,
    list_gpus,
    reports_shortage,
)

MANIFEST = """
name = "{name}"
method = "GPU user of the tests"
kind = "genuine"
version = "1"
tools = ["{tool}"]
[environment]
kind = "host"
[resources]
memory_mb = 10
{resources}
"""
RUN = """
import json, os, time
from pathlib import Path

name = json.loads(Path("job.json").read_text())["jobName"]
use = Path({uses!r}, str(os.getpid()))
use.write_text("300")
seen = Path({seen!r})
(seen / f"{{name}}.new").write_text(os.environ.get("CUDA_VISIBLE_DEVICES", "unset"))
(seen / f"{{name}}.new").rename(seen / name)
while not (seen / f"{{name}}.end").exists():
    time.sleep(0.05)
use.unlink()
if last_words := (seen / f"{{name}}.end").read_text():
    raise SystemExit(last_words)
Path("outputs/done.txt").write_text("done")
"""
SEQUENCE = {"anarci": {"sequence": "EVQLVESGG"}, "amplify": {"sequence": "GIGKFLHSAKKFGKAFVGEIMNS"}}


class GpuService:
    """A service on a machine with GPUs, whose jobs run until they are told to end."""

    def __init__(self, make_service, folder: Path, **resources: str) -> None:
        self.machine = make_gpu_machine(folder / "machine")
        self.seen = folder / "seen"
        self.seen.mkdir()
        for tool, text in resources.items():
            engine = folder / "engines" / tool
            engine.mkdir(parents=True)
            manifest = MANIFEST.format(name=f"user-{tool}", tool=tool, resources=text)
            (engine / "engine.toml").write_text(manifest)
            run = RUN.format(uses=str(self.machine / "uses"), seen=str(self.seen))
            (engine / "run.py").write_text(run)
        self.process = make_service("--no-rate-limit", is_started=False)
        self.process.environment = {
            "FOLDNOTE_ENGINE_PATH": str(folder / "engines"),
            "PATH": f"{self.machine}{os.pathsep}{os.environ['PATH']}",
        }
        self.process.start()

    def submit(self, name: str, tool: str = "anarci") -> None:
        answer = self.process.submit(name, type=tool, settings=SEQUENCE[tool])
        assert answer.status_code < 300, answer.text

    def gpus_of(self, name: str, patience_s: float = 20) -> str | None:
        """Return the job's ``CUDA_VISIBLE_DEVICES``; None if it does not run."""
        deadline = time.monotonic() + patience_s
        while time.monotonic() < deadline:
            if (self.seen / name).exists():
                return (self.seen / name).read_text()
            time.sleep(0.05)
        return None

    def end(self, name: str, last_words: str = "") -> dict:
        """Let the job end, with an error if `last_words` are given."""
        (self.seen / f"{name}.end.new").write_text(last_words)  # the run may just be writing its own
        (self.seen / f"{name}.end.new").rename(self.seen / f"{name}.end")
        return self.process.wait(name)


@pytest.fixture
def on_gpus(make_service, tmp_path):
    return lambda **resources: GpuService(make_service, tmp_path, **resources)


@pytest.mark.parametrize("declared", ["gpus = 1", "may_use_gpu = true"], ids=["needed", "used"])
def test_each_run_has_its_own_gpu_even_after_a_kill(on_gpus, declared):
    service = on_gpus(anarci=declared)
    for name in ("one", "two", "three"):
        service.submit(name)
    assert {service.gpus_of("one"), service.gpus_of("two")} == {"0", "1"}
    service.process.kill()
    service.process.start()
    assert service.gpus_of("three", patience_s=2) is None
    freed = service.gpus_of("two")
    assert service.end("two")["status"] == "Complete"
    assert service.gpus_of("three") == freed
    service.end("one")
    service.end("three")


def test_runs_that_declare_their_gpu_memory_share_as_far_as_it_goes(on_gpus):
    service = on_gpus(
        anarci="gpus = 1\ngpu_memory_mb = 600", amplify="may_use_gpu = true\ngpu_memory_mb = 400"
    )
    service.submit("large")
    assert service.gpus_of("large") == "0"
    service.submit("small", "amplify")
    assert service.gpus_of("small") == "1"
    for name in ("large", "small"):
        service.end(name)


def test_a_run_without_a_gpu_sees_none(on_gpus):
    service = on_gpus(anarci="", amplify="gpus = 1")
    service.submit("plain")
    service.submit("user", "amplify")
    assert service.gpus_of("plain") == ""
    assert service.gpus_of("user") == "0"
    service.end("plain")
    time.sleep(2.5)  # the driver is polled every two seconds
    ended = service.end("user")
    assert ended["peakGpuMemoryMb"] == 300
    assert service.process.job("plain")["peakGpuMemoryMb"] is None


@pytest.mark.parametrize(
    ("allowed", "expected"),
    [
        (None, (Gpu("0", 1000), Gpu("1", 1000), Gpu("2", 1000))),
        ("", ()),
        ("2, 0", (Gpu("2", 1000), Gpu("0", 1000))),
        ("GPU-1000", (Gpu("GPU-1000", 1000),)),
        ("MIG-3f2a", (Gpu("MIG-3f2a", 0),)),
        ("1,1,GPU-1000", (Gpu("1", 1000),)),
        ("3,1,-1,GPU-9,GPU-", (Gpu("1", 1000),)),
    ],
    ids=["unset", "none", "numbers", "identifier", "part", "twice", "unknown"],
)
def test_the_gpus_are_those_that_the_service_may_use(tmp_path, allowed, expected):
    machine = make_gpu_machine(tmp_path / "machine", number=3)
    environment = {"PATH": str(machine)} | ({} if allowed is None else {"CUDA_VISIBLE_DEVICES": allowed})
    assert list_gpus(environment) == expected


DIVIDED = """GPU 0: NVIDIA A100-PCIE-40GB (UUID: GPU-00000000-1111-2222-3333-444444444444)
  MIG 3g.20gb     Device  0: (UUID: MIG-GPU-00000000-1111-2222-3333-444444444444/1/0)
  MIG 1c.2g.10gb  Device  1: (UUID: MIG-6d9b5f2a-5a0b-5d6e-9d7e-6f6d9a1f1c10)
  MIG 1g.5gb+me   Device  2: (UUID: MIG-c7a3c5de-29a1-5ef1-8a1e-0b1a5a1f5b77)
GPU 1: NVIDIA A100-PCIE-40GB (UUID: GPU-10000000-1111-2222-3333-444444444444)
"""
"""Outputs of ``nvidia-smi -L``, with identifiers of MIG instances as before version 470 and as later versions write
them.
"""
PARTS = (
    Gpu("MIG-GPU-00000000-1111-2222-3333-444444444444/1/0", 19_456),
    Gpu("MIG-6d9b5f2a-5a0b-5d6e-9d7e-6f6d9a1f1c10", 9_728),
    Gpu("MIG-c7a3c5de-29a1-5ef1-8a1e-0b1a5a1f5b77", 4_864),
)


@pytest.mark.parametrize(
    ("allowed", "expected"),
    [
        (None, (*PARTS, Gpu("1", 40_960))),
        ("1,0", (Gpu("1", 40_960), *PARTS)),
        (PARTS[2].identity, (PARTS[2],)),
        (f"0,{PARTS[1].identity}", PARTS),
    ],
    ids=["unset", "numbers", "part", "part of a named one"],
)
def test_a_divided_gpu_is_used_by_its_parts_with_their_memory(tmp_path, allowed, expected):
    machine = make_gpu_machine(tmp_path / "machine", memory_mb=40_960, listed=DIVIDED)
    environment = {"PATH": str(machine)} | ({} if allowed is None else {"CUDA_VISIBLE_DEVICES": allowed})
    assert list_gpus(environment) == expected


def test_a_run_that_waits_for_a_gpu_holds_up_no_run_without_one(on_gpus):
    service = on_gpus(anarci="gpus = 2", amplify="")
    for name in ("first", "second"):
        service.submit(name)
    service.submit("plain", "amplify")
    assert service.gpus_of("plain") == ""
    assert service.gpus_of("second", patience_s=0.1) is None
    for name in ("first", "second", "plain"):
        service.end(name)


def test_a_small_use_of_a_gpu_does_not_pass_a_run_that_waits_for_all_of_it(on_gpus):
    service = on_gpus(anarci="gpus = 2", amplify="gpus = 1\ngpu_memory_mb = 300")
    service.submit("small", "amplify")
    assert service.gpus_of("small") == "0"
    service.submit("large")
    service.submit("late", "amplify")
    assert service.gpus_of("late", patience_s=1) is None
    service.end("small")
    assert service.gpus_of("large") == "0,1"
    service.end("large")
    service.end("late")


TORCH = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 200.00 GiB. GPU 0 has a total capacity of 79.18 GiB"
    " of which 78.66 GiB is free. Including non-PyTorch memory, this process has 518.00 MiB memory in use."
)
JAX = (
    "jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 200.00GiB with allocator"
    " GPU_0_bfc on device 0. [executable_name='jit_broadcast_in_dim'] [tf-allocator-allocation-error='']"
)
CUPY = "cupy.cuda.memory.OutOfMemoryError: Out of memory allocating 214,748,364,800 bytes (allocated so far: 0 bytes)."


@pytest.mark.parametrize(
    ("line", "amounts"),
    [
        (TORCH, ": it asked for 200.00 GiB, and 78.66 GiB of 79.18 GiB were free."),
        (JAX, ": it asked for 200.00 GiB."),
        (CUPY, ": it asked for 200.0 GiB."),
        ("CUDA_ERROR_OUT_OF_MEMORY: out of memory", "."),
    ],
    ids=["torch", "jax", "cupy", "driver"],
)
def test_too_little_gpu_memory_is_explained_with_the_gpu_and_the_amounts(line, amounts):
    assert reports_shortage(line)
    assert explain_shortage("AntiBERTy", line, ["3"]).startswith(
        f"AntiBERTy ran out of memory on GPU 3{amounts} "
    )


def test_a_run_that_wants_too_much_gpu_memory_says_so(on_gpus):
    service = on_gpus(anarci="gpus = 1")
    service.submit("greedy")
    assert service.gpus_of("greedy") == "0"
    advice = "\nFor simplicity, JAX has removed its internal frames from the traceback."
    error = service.end("greedy", JAX + advice)["error"]
    assert error.startswith(
        "GPU user of the tests ran out of memory on GPU 0: it asked for 200.00 GiB. Try a smaller"
    )


def test_a_number_that_no_gpu_has_is_named_in_the_log(make_service, tmp_path):
    machine = make_gpu_machine(tmp_path / "machine", number=1)
    process = make_service(is_started=False)
    path = f"{machine}{os.pathsep}{os.environ['PATH']}"
    process.environment |= {"PATH": path, "CUDA_VISIBLE_DEVICES": "0,3"}
    process.start()
    assert (
        "CUDA_VISIBLE_DEVICES names 3, which is not a GPU of this machine"
        in (process.folder / "service.log").read_text()
    )


@pytest.mark.parametrize(
    "answer",
    ["exit 9", "echo 'No devices were found'", "printf '0, x\\n\\377, y, z, w'"],
    ids=["error", "words", "noise"],
)
def test_a_driver_that_fails_means_no_gpu(tmp_path, answer):
    program = tmp_path / "nvidia-smi"
    program.write_text(f"#!/bin/sh\n{answer}\n")
    program.chmod(0o755)
    assert list_gpus({"PATH": f"{tmp_path}{os.pathsep}{os.defpath}"}) == ()


def test_without_a_driver_there_is_no_gpu(tmp_path):
    assert list_gpus({"PATH": str(tmp_path)}) == ()


def test_the_gpus_are_described_with_their_memory(tmp_path):
    machine = make_gpu_machine(tmp_path / "machine", number=2, memory_mb=81_559)
    found = find_gpus({"PATH": str(machine)})
    assert found.describe() == "2 NVIDIA GPUs can be used: 0 (79.6 GiB), 1 (79.6 GiB)."
    part = find_gpus({"PATH": str(machine), "CUDA_VISIBLE_DEVICES": "MIG-3f2a"})
    assert part.describe() == "1 NVIDIA GPU can be used: MIG-3f2a (memory unknown)."


@pytest.mark.parametrize(
    ("answer", "allowed", "reason"),
    [
        ("exit 9", None, "nvidia-smi ended with exit code 9"),
        ("echo 'NVIDIA-SMI has failed.'; exit 9", None, "with exit code 9: NVIDIA-SMI has failed"),
        ("echo 'No devices were found'", None, "nvidia-smi lists none"),
        ("exit 0", "", "CUDA_VISIBLE_DEVICES is empty"),
        ("echo '0, GPU-0, 1000'", "7", "CUDA_VISIBLE_DEVICES names none of those that nvidia-smi lists"),
        ("", None, "nvidia-smi, which is part of the driver, is not on PATH"),
    ],
    ids=["failure", "words", "none", "empty variable", "another number", "no driver"],
)
def test_a_missing_gpu_is_reported_with_the_reason(tmp_path, answer, allowed, reason):
    if answer:
        program = tmp_path / "nvidia-smi"
        program.write_text(f"#!/bin/sh\n{answer}\n")
        program.chmod(0o755)
    variables = {} if allowed is None else {"CUDA_VISIBLE_DEVICES": allowed}
    found = find_gpus({"PATH": str(tmp_path)} | variables)
    assert found.gpus == ()
    assert found.describe().startswith("No NVIDIA GPU can be used: ")
    assert found.describe().endswith(f"{reason}.")


def test_a_service_and_its_administrator_see_the_gpus(on_gpus, monkeypatch, capsys):
    service = on_gpus(anarci="gpus = 1", amplify="gpus = 3")
    told = "2 NVIDIA GPUs can be used: 0 (1.0 GiB), 1 (1.0 GiB)."
    log = (service.process.folder / "service.log").read_text()
    assert told in log
    assert "needs more GPUs than this machine has (2): user-amplify (3)." in log
    for name, value in service.process.environment.items():
        monkeypatch.setenv(name, value)
    service.submit("user")
    assert service.gpus_of("user") == "0"
    data = str(service.process.folder / "data")
    assert run_command(["admin", "--data-dir", data, "status", "--json"]) == 0
    status = json.loads(capsys.readouterr().out)
    assert status["gpus"] == [{"identity": each, "memoryMb": 1000} for each in ("0", "1")]
    assert (status["running"], status["waiting"], status["draining"]) == (1, 0, False)
    assert status["message"].endswith(told)
    assert run_command(["engines", "list"]) == 0
    assert f"\n{told} More are needed by amplify.\n" in capsys.readouterr().out
    service.end("user")


def test_a_service_without_a_gpu_says_so_and_which_engines_need_one(
    make_service, tmp_path, monkeypatch, capsys
):
    engine = tmp_path / "engines" / "anarci"
    engine.mkdir(parents=True)
    (engine / "engine.toml").write_text(MANIFEST.format(name="user", tool="anarci", resources="gpus = 1"))
    (engine / "run.py").write_text("")
    process = make_service(is_started=False)
    process.environment |= {"FOLDNOTE_ENGINE_PATH": str(tmp_path / "engines"), "CUDA_VISIBLE_DEVICES": ""}
    process.start()
    log = (process.folder / "service.log").read_text()
    assert "No NVIDIA GPU can be used: CUDA_VISIBLE_DEVICES is empty." in log
    assert "needs more GPUs than this machine has (0): user (1)." in log
    for name, value in process.environment.items():
        monkeypatch.setenv(name, value)
    assert run_command(["engines", "list"]) == 0
    assert "is empty. More are needed by anarci.\n" in capsys.readouterr().out


BRIEF = """
import os, time
from pathlib import Path

use = Path({uses!r}, str(os.getpid()))
use.write_text("300")
time.sleep({seconds})
use.unlink()
Path("outputs/done.txt").write_text("done")
"""


def test_the_gpu_memory_of_a_run_of_less_than_a_second_is_seen(make_service, tmp_path):
    machine = make_gpu_machine(tmp_path / "machine")
    engine = tmp_path / "engines" / "anarci"
    engine.mkdir(parents=True)
    (engine / "engine.toml").write_text(MANIFEST.format(name="brief", tool="anarci", resources="gpus = 1"))
    (engine / "run.py").write_text(BRIEF.format(uses=str(machine / "uses"), seconds=0.8))
    process = make_service(is_started=False)
    process.environment |= {
        "FOLDNOTE_ENGINE_PATH": str(tmp_path / "engines"),
        "PATH": f"{machine}{os.pathsep}{os.environ['PATH']}",
    }
    process.start()
    ended = process.run("brief", settings=SEQUENCE["anarci"])
    assert ended["status"] == "Complete"
    assert ended["peakGpuMemoryMb"] == 300


def test_the_gpu_memory_of_a_stopped_run_is_read_once_more(make_service, tmp_path):
    """Between two regular polls, the second of which would be too late."""
    service = GpuService(make_service, tmp_path, anarci="gpus = 1")
    service.submit("grows")
    assert service.gpus_of("grows") == "0"
    time.sleep(1.7)
    (use,) = (service.machine / "uses").iterdir()
    use.write_text("900")
    stopped = service.process.client.post("/stop-job", json={"jobName": "grows"})
    assert stopped.status_code == 200
    assert service.process.wait("grows")["peakGpuMemoryMb"] == 900


@pytest.mark.parametrize(("used", "peak"), [("[N/A]", None), ("0", None), ("512", 512.0)])
def test_an_amount_that_the_driver_does_not_tell_is_null_and_not_0(tmp_path, monkeypatch, used, peak):
    machine = make_gpu_machine(tmp_path / "machine")
    (machine / "uses" / "4242").write_text(used)
    monkeypatch.setenv("PATH", f"{machine}{os.pathsep}{os.environ['PATH']}")
    meter = GpuMeter(last_s=60)
    meter.measure(lambda: {4242})
    meter.finish()  # the run has ended, and the response was on its way
    assert meter.peak_mb == peak


def test_the_specification_of_an_earlier_version_is_read(tmp_path):
    from foldnote.service.runner.attempt import read_spec

    content = {"attempt_dir": str(tmp_path), "nonce": "n", "job_name": "a", "tool": "anarci", "settings": {},
               "command": ["x"], "environment": {}, "files": {}, "gpus": 1}  # fmt: skip
    (tmp_path / "spec.json").write_text(json.dumps(content))
    assert read_spec(tmp_path).gpus == ()
