"""Every engine that can be loaded once for many jobs gives the same results in a worker as its program."""

import hashlib
import json
import subprocess
import sys
import time
import uuid
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from real_engine import load_engines, run_engine
from stand_ins import install_stand_ins

from foldnote import catalog
from foldnote.service.engines import build_attempt
from foldnote.service.runner import attempt as files
from foldnote.service.runner.attempt import Outcome, prepare_attempt
from foldnote.service.runner.gpus import Gpu, show_gpus
from foldnote.service.runner.local_runners import LocalRunners
from foldnote.service.runner.worker import loading_environment
from foldnote.settings import process_environment

# Variable domains of trastuzumab (INN list 78).
HEAVY = (
    "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVARIYPTNGYTRYADSVKGRFTISADTSKNTAYLQMNSLRAEDTAVYYC"
    "SRWGGDGFYAMDYWGQGTLVTVSS"
)
LIGHT = "DIQMTQSPSSLSASVGDRVTITCRASQDVNTAVAWYQQKPGKAPKLLIYSASFLYSGVPSRFSGSRSGTDFTLTISSLQPEDFATYYCQQHYTTPPTFGQGTKVEIK"
JOBS = {
    "anarci": {"sequence": HEAVY, "scheme": "imgt"},
    "antiberty": {"task": "antibody-log-likelihood", "heavyChain": HEAVY, "lightChain": LIGHT},
    "admet_ai": {"smilesStrings": ["CC(=O)Oc1ccccc1C(=O)O", "not a molecule"]},
    "abodybuilder2": {"heavy": HEAVY, "light": LIGHT},
    "ablang": {"task": "scan", "heavySequence": HEAVY},
    "abgpt": {"startingResidues": "EVQLVESGG", "chainType": "heavy", "numSequences": 4},
    "flashabb": {"heavy": HEAVY, "light": LIGHT},
    "igfold": {"heavy": HEAVY, "models": 1},
    "nanobodybuilder2": {"heavy": HEAVY},
    "tcrbuilder2": {
        field: catalog.tool("tcrbuilder").example_job["settings"][field] for field in ("alpha", "beta")
    },
    "ligandmpnn": {"numSequences": 2, "designedResidues": {"A": "17-22"}},
}
TEXTS = {"ligandmpnn": {"pdbFile": catalog.tool("ligandmpnn").example_job["settings"]["pdbFile"]}}
MARKS = {
    "antiberty": pytest.mark.extra_engine,
    "admet_ai": pytest.mark.extra_engine,
    "abodybuilder2": pytest.mark.exhaustive,
    "ablang": pytest.mark.extra_engine,
    "abgpt": pytest.mark.extra_engine,
    "flashabb": pytest.mark.extra_engine,
    "igfold": pytest.mark.exhaustive,
    "nanobodybuilder2": pytest.mark.exhaustive,
    "tcrbuilder2": pytest.mark.exhaustive,
    "ligandmpnn": pytest.mark.extra_engine,
}
PATIENCE_S = 240

pytestmark = [
    pytest.mark.engine,
    pytest.mark.skipif(sys.platform != "linux", reason="workers need a system that adopts orphans"),
]


def test_every_engine_with_a_worker_is_compared():
    assert {name for name, engine in load_engines().items() if (engine.folder / "serve.py").exists()} == set(
        JOBS
    )


@pytest.mark.parametrize("name", [pytest.param(name, marks=MARKS.get(name, ())) for name in JOBS])
def test_a_worker_gives_what_the_program_gives(name, tmp_path):
    engine = load_engines()[name]
    if not engine.environment_state().installed:
        pytest.skip(f"needs: foldnote engines install {name}")
    with install_stand_ins(name, tmp_path / "stand-ins") if engine.needs_weights else nullcontext():
        compare(name, tmp_path)


def compare(name, tmp_path):
    outcome, outputs = run_engine(name, tmp_path / "program", JOBS[name], texts=TEXTS.get(name))
    assert outcome.state == "succeeded", outcome.error
    executor = LocalRunners(process_environment())
    try:
        runs = [run_in_worker(executor, tmp_path, name) for _ in range(3)]
        moved = [run_in_worker(executor, tmp_path, name, gpu="0")] if uses_gpu(name) else []
    finally:
        executor.close()
    _, (_, first_folder), (second_s, second_folder) = runs
    runners = {files.read_json(folder / files.RUNNER)["pid"] for folder in (first_folder, second_folder)}
    assert len(runners) == 1
    for folder in (first_folder, second_folder, *(folder for _, folder in moved)):
        assert Outcome.read(folder).score == outcome.score
        assert digests(folder / files.WORK / "outputs") == digests(outputs)
    print(f"{name}: {second_s:.2f} s in a warm worker")


def uses_gpu(name: str) -> bool:
    return load_engines()[name].resources.may_use_gpu


def build_run(name: str, folder: Path, nonce: str, files: dict[str, list[str]] | None = None, gpu: str = ""):
    engine = load_engines()[name]
    spec = build_attempt(
        engine,
        attempt_dir=folder / nonce,
        nonce=nonce,
        job_name="a-test",
        tool=engine.tools[0],
        settings=JOBS[name],
        files=files,
        seed=7,
        assigns_gpus=True,
    )
    if gpu:
        spec = replace(spec, gpus=(gpu,), environment={**spec.environment, **show_gpus([Gpu(gpu)])})
    return replace(spec, owner="1")


def run_in_worker(executor, folder: Path, name: str, gpu: str = "") -> tuple[float, Path]:
    """Run the job of an engine; return the seconds that it took and its folder.

    Without a GPU, a run that was assigned one computes on the CPU, as its program does.
    """
    nonce = uuid.uuid4().hex
    texts = TEXTS.get(name, {})
    places = {field: f"inputs/{field}/0/{field}.txt" for field in texts}
    sources = {places[field]: folder / f"{nonce}-{field}" for field in texts}
    for field, text in texts.items():
        sources[places[field]].write_text(text)
    spec = build_run(name, folder, nonce, {field: [place] for field, place in places.items()}, gpu)
    assert spec.worker
    prepare_attempt(spec, sources)
    begun = time.monotonic()
    executor.submit(spec)
    while (outcome := Outcome.read(spec.folder)) is None:
        assert time.monotonic() - begun < PATIENCE_S
        time.sleep(0.02)
    assert outcome.state == "succeeded", outcome.error
    return time.monotonic() - begun, spec.folder


def digests(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


LOAD_BESIDE_CUDA = """
import importlib, json, os, sys
import torch

calls = []
torch._C._cuda_getDeviceCount = lambda: calls.append("asked") or 1
if not hasattr(torch._C, "_cuda_getCurrentRawStream"):
    torch._C._cuda_getCurrentRawStream = None  # modules of PyTorch import it
sys.path[0] = sys.argv[1]
importlib.import_module("run")
importlib.import_module("serve").load()
found = {"asked": len(calls), "initialized": torch.cuda.is_initialized()}
os.environ["PYTORCH_NVML_BASED_CUDA_CHECK"] = "0"
found["available to a copy"] = torch.cuda.is_available()
print("FOUND", json.dumps(found))
"""
"""Load an engine with a PyTorch whose query for the number of GPUs, which initializes CUDA, is counted.

A PyTorch built without CUDA has no such query; adding it makes PyTorch behave as if built with CUDA.
"""


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=MARKS.get(name, ())) for name in JOBS if uses_gpu(name)],
)
def test_an_engine_is_loaded_for_a_gpu_without_cuda(name, tmp_path):
    engine = load_engines()[name]
    if not engine.environment_state().installed:
        pytest.skip(f"needs: foldnote engines install {name}")
    assert "def use_gpu" in (engine.folder / "serve.py").read_text()
    with install_stand_ins(name, tmp_path / "stand-ins") if engine.needs_weights else nullcontext():
        spec = build_run(name, tmp_path, "nonce", gpu="0")
        answer = subprocess.run(
            [*spec.command[:1], "-c", LOAD_BESIDE_CUDA, str(engine.folder)],
            env=loading_environment(spec),
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
    assert "FOUND" in answer.stdout, answer.stderr
    found = json.loads(answer.stdout.partition("FOUND")[2])
    assert found == {"asked": 0, "initialized": False, "available to a copy": True}
