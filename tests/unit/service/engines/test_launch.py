"""An engine gets a small separate environment and the limits in its file."""

import sys
from pathlib import Path

import pytest
from probe_engine import write_probe_engine

from foldnote.errors import EngineError
from foldnote.service.engines import build_attempt, load_engines
from foldnote.service.engines.launch import has_gpu, make_environment


@pytest.fixture
def probe(tmp_path):
    return load_engines([write_probe_engine(tmp_path / "engines", cores=4, memory_mb=300, time_limit_s=9)])[
        "probe"
    ]


def build(engine, tmp_path, **options):
    return build_attempt(
        engine, attempt_dir=tmp_path / "a", nonce="n", job_name="j", tool="anarci", settings={}, **options
    )


def test_limits_come_from_the_file(probe, tmp_path):
    spec = build(probe, tmp_path)
    assert (spec.cores, spec.memory_mb, spec.time_limit_s) == (4, 300, 9)
    assert spec.command == (sys.executable, "-u", str(probe.folder / "run.py"))


def test_threads_are_the_cores_that_the_machine_can_give(probe, tmp_path):
    spec = build(probe, tmp_path, max_cores=2)
    assert spec.cores == 2
    assert {spec.environment[name] for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS")} == {"2"}


def test_the_environment_of_the_service_stays_outside(probe, monkeypatch):
    for name in ("FOLDNOTE_API_KEY", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "SECRET_TOKEN"):
        monkeypatch.setenv(name, "leak")
    assert "leak" not in make_environment(probe, 1).values()


def test_a_venv_engine_has_its_own_folders_first_on_path(monkeypatch):
    monkeypatch.setenv("PATH", f"{Path(sys.prefix) / 'bin'}:/usr/bin")
    engine = load_engines()["anarci"]
    folders = make_environment(engine, 1)["PATH"].split(":")
    assert folders[0].endswith("hmmer/data/bin")
    assert folders[1:] == [str(engine.python.parent), "/usr/bin"]


def test_libraries_report_nothing_and_keep_their_caches_with_the_engine(probe):
    engine = load_engines()["anarci"]
    environment = make_environment(engine, 1)
    assert environment["ORT_DISABLE_TELEMETRY"] == environment["DO_NOT_TRACK"] == "1"
    for name in ("XDG_CACHE_HOME", "MPLCONFIGDIR"):
        assert Path(environment[name]).is_relative_to(engine.home)
        assert name not in make_environment(probe, 1)


def test_an_engine_that_is_not_installed_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("FOLDNOTE_ENGINES_DIR", str(tmp_path / "empty"))
    with pytest.raises(EngineError, match="foldnote engines install anarci"):
        build(load_engines()["anarci"], tmp_path)


def test_a_gpu_is_found_unless_it_is_hidden(tmp_path, monkeypatch):
    assert not has_gpu(tmp_path)
    (tmp_path / "nvidia0").touch()
    assert has_gpu(tmp_path)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert not has_gpu(tmp_path)


@pytest.mark.parametrize(
    ("declared", "is_found", "is_assigned", "has_worker"),
    [
        ("", True, False, True),
        ("may_use_gpu = true\n", False, False, True),
        ("may_use_gpu = true\n", True, True, True),
        ("may_use_gpu = true\n", True, False, False),
    ],
    ids=["no use", "no GPU", "assigned", "any it finds"],
)
def test_an_engine_that_uses_whatever_gpu_it_finds_has_no_worker(
    tmp_path, monkeypatch, declared, is_found, is_assigned, has_worker
):
    folder = write_probe_engine(tmp_path / "engines") / "probe"
    (folder / "serve.py").write_text("def load(): ...")
    manifest = folder / "engine.toml"
    manifest.write_text(manifest.read_text().replace("[resources]\n", f"[resources]\n{declared}"))
    monkeypatch.setattr("foldnote.service.engines.launch.has_gpu", lambda: is_found)
    engine = load_engines([tmp_path / "engines"])["probe"]
    assert bool(build(engine, tmp_path, assigns_gpus=is_assigned).worker) is has_worker
