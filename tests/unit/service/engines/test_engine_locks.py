"""Locks contain what the engines declare, pip installs nothing else, and a changed file is refused with a message."""

import hashlib
import json
import os
import shutil
import sys
import zipfile

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.version import Version

from foldnote.errors import EngineError, EngineInstallError
from foldnote.service.engines import load_engines, read_engine
from foldnote.service.engines.engine import read_ready
from foldnote.service.engines.install import install
from foldnote.service.engines.locks import is_library, name_of, read_lock
from foldnote.service.engines.plan import plan_final_steps, plan_initial_steps

BUNDLED = [
    engine
    for engine in load_engines().values()
    if engine.folder.parent.name == "engines" and engine.environment.kind == "venv" and engine.owner is None
]
MACHINES = [("linux", "x86_64"), ("linux", "aarch64"), ("darwin", "arm64")]
each_engine = pytest.mark.parametrize("engine", BUNDLED, ids=lambda engine: engine.name)


def read_pins(engine, python, platform, machine):
    """Return versions by package, as pip reads the lock on such a machine."""
    there = describe_machine(python, platform, machine)
    pins = {}
    for entry in read_lock(engine.folder / engine.environment.lock.file):
        marker = Requirement(entry.without_hashes).marker
        if marker is None or Marker(str(marker)).evaluate(there):
            assert entry.name not in pins, f"{entry.name} twice"
            pins[entry.name] = entry.version
    return pins


def describe_machine(python, platform, machine):
    """Return the values of markers on such a machine."""
    there = {"python_version": python, "python_full_version": f"{python}.0", "sys_platform": platform}
    return there | {"platform_machine": machine, "platform_system": platform.title(), "os_name": "posix"}


def list_pythons(engine):
    if exact := engine.environment.requires_python:
        return [exact]
    newest = int(engine.environment.newest_python.split(".")[1])
    return [f"3.{minor}" for minor in range(11, newest + 1)]


@each_engine
def test_every_bundled_engine_has_a_lock_that_fulfils_its_requirements(engine):
    lock = engine.environment.lock
    wanted = [Requirement(each) for step in engine.environment.steps for each in step]
    for python in list_pythons(engine):
        for platform, machine in MACHINES:
            pins = read_pins(engine, python, platform, machine)
            there = describe_machine(python, platform, machine)
            for requirement in wanted:
                if requirement.marker is not None and not requirement.marker.evaluate(there):
                    continue
                if requirement.name in lock.unhashed:
                    assert {each.operator for each in requirement.specifier} == {"=="}
                    assert requirement.name not in pins
                else:
                    assert requirement.specifier.contains(pins[name_of(requirement.name)])
    assert set(lock.built) <= set(pins)


@each_engine
def test_pip_gets_a_hash_for_every_package_but_the_unhashed_ones(engine, monkeypatch, tmp_path):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")  # without the libraries of a machine with a GPU
    monkeypatch.setenv("FOLDNOTE_ENGINES_DIR", str(tmp_path))  # and those required by an installed PyTorch
    steps = [*plan_initial_steps(engine, with_hashes=True), *plan_final_steps(engine, with_hashes=True)]
    unhashed = engine.environment.lock.unhashed
    for step in steps:
        if step.requirements:
            assert "--require-hashes" in step.arguments
            assert "--no-deps" in step.arguments
            assert step.is_checked
        else:
            assert {name_of(each) for each in step.arguments} <= {*unhashed, ""}
    locked = {each.name for each in read_lock(engine.folder / engine.environment.lock.file)}
    given = {name_of(line) for step in steps for line in step.requirements.splitlines() if line[0].isalnum()}
    assert given == {name for name in locked if not is_library(engine.environment.lock, name)}


@each_engine
def test_torch_needs_nothing_else_than_the_lock_has(engine):
    """SymPy 1.14, which torch needs, is not installed with mpmath 1.4: pip would replace that without a hash."""
    locked = read_lock(engine.folder / engine.environment.lock.file)
    if "sympy" in {each.name for each in locked}:
        found = [Version(each.version) for each in locked if each.name == "mpmath"]
        assert found
        assert all(Version("1.1") <= each < Version("1.4") for each in found)


def test_what_only_builds_with_cuda_need_comes_in_when_they_ask_for_it(tmp_path, monkeypatch):
    monkeypatch.setenv("FOLDNOTE_ENGINES_DIR", str(tmp_path))
    engine = next(
        each
        for each in BUNDLED
        if "torch" in each.environment.lock.unhashed and each.environment.lock.libraries
    )
    info = engine.home / "env" / "lib" / "python3.11" / "site-packages" / "torch-2.13.0.dist-info"
    info.mkdir(parents=True)
    for needs, count in [("sympy>=1.13", 1), ("nvidia-cublas==13.1.1.3; platform_system == 'Linux'", 2)]:
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: torch\nRequires-Dist: {needs}\n")
        steps = plan_final_steps(engine, with_hashes=True)
        assert len(steps) == count
    assert "nvidia-cublas==" in steps[0].requirements
    assert "--require-hashes" in steps[0].arguments


def test_what_only_a_gpu_needs_comes_in_where_there_is_one(monkeypatch):
    engine = next(each for each in BUNDLED if each.environment.lock.libraries_for_gpu)
    (first,) = plan_initial_steps(engine, with_hashes=True)
    assert "openmm==" in first.requirements
    assert "cuda" not in first.requirements
    for has_gpu in (False, True):
        monkeypatch.setattr("foldnote.service.engines.plan.has_nvidia_gpu", lambda has_gpu=has_gpu: has_gpu)
        steps = plan_final_steps(engine, with_hashes=True)
        assert len(steps) == has_gpu
    assert "openmm-cuda-12==" in steps[0].requirements
    assert "--require-hashes" in steps[0].arguments


def write_wheel(folder, name, answer=42):
    """Write a pure wheel (PEP 427) with one module; return its path."""
    folder.mkdir(exist_ok=True)
    path, info = folder / f"{name}-1.0-py3-none-any.whl", f"{name}-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(f"{name}.py", f"ANSWER = {answer}\n")
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    return path


@pytest.fixture
def engine(tmp_path, monkeypatch):
    """Return an engine with a lock; its packages come from a local folder in place of a registry."""
    monkeypatch.setenv("FOLDNOTE_ENGINES_DIR", str(tmp_path / "environments"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    folder = tmp_path / "tiny"
    folder.mkdir()
    lines = []
    for name in ("firstpart", "secondpart"):
        digest = hashlib.sha256(write_wheel(tmp_path / "wheels", name).read_bytes()).hexdigest()
        lines.append(f"{name}==1.0 \\\n    --hash=sha256:{digest}\n")
    write_wheel(tmp_path / "wheels", "loosepart")
    (folder / "lock.txt").write_text("# A comment.\n" + "".join(lines))
    (folder / "engine.toml").write_text(
        'name = "tiny"\nmethod = "Tiny"\nkind = "genuine"\nversion = "1"\ntools = ["anarci"]\n[environment]\n'
        'steps = [["loosepart==1.0"], ["firstpart<2"]]\nprobe = "import firstpart, secondpart, loosepart"\n'
        '[environment.lock]\nfile = "lock.txt"\nunhashed = ["loosepart"]\n'
    )
    return read_engine(folder)


def test_what_was_installed_is_recorded_with_its_hash(engine, begin, tmp_path):
    begin(engine)
    install(engine, lambda event: None)
    assert engine.state().installed
    files = read_ready(engine)["files"]
    assert {name: row["checked"] for name, row in files.items()} == {
        "firstpart": True,
        "secondpart": True,
        "loosepart": False,
    }
    wheel = tmp_path / "wheels" / files["loosepart"]["file"]
    assert files["loosepart"]["sha256"] == hashlib.sha256(wheel.read_bytes()).hexdigest()


def test_another_file_of_the_same_version_is_refused_and_taken_only_when_asked_for(engine, begin, tmp_path):
    begin(engine)
    changed = write_wheel(tmp_path / "wheels", "secondpart", answer=41)
    with pytest.raises(EngineInstallError) as caught:
        install(engine, lambda event: None)
    digest = hashlib.sha256(changed.read_bytes()).hexdigest()
    assert (
        f"{changed.name} is not the file of secondpart 1.0 that the lock of tiny names"
        in caught.value.message
    )
    assert f"its SHA-256 is {digest}. It was not installed." in caught.value.message
    assert "foldnote engines install tiny --no-hashes" in caught.value.message
    assert not list(engine.home.glob("env/lib/python*/site-packages/secondpart.py"))
    assert not engine.state().installed
    install(engine, lambda event: None, with_hashes=False)
    assert engine.state().installed
    assert read_ready(engine)["files"]["secondpart"] == {
        "version": "1.0",
        "file": changed.name,
        "sha256": digest,
        "checked": False,
    }


@pytest.mark.exhaustive
def test_a_changed_lock_makes_an_installation_stale(engine, begin):
    begin(engine)
    install(engine, lambda event: None)
    lock = engine.folder / "lock.txt"
    lock.write_text(lock.read_text() + "# Another comment.\n")
    changed = read_engine(engine.folder)
    assert "another version" in changed.state().reason
    install(changed, lambda event: None)
    assert changed.state().installed


@pytest.mark.parametrize("text", ["firstpart>=1.0\n", "firstpart==1.0\n", "-e ."])
def test_a_lock_without_exact_versions_or_hashes_is_refused(engine, text):
    (engine.folder / "lock.txt").write_text(text)
    with pytest.raises(EngineError, match="no exact version or no hash"):
        read_engine(engine.folder)


@pytest.mark.exhaustive
def test_a_package_outside_the_lock_is_never_brought_in(engine, begin, tmp_path):
    """The lock is complete or the probe fails: nothing is resolved at installation."""
    (engine.folder / "lock.txt").write_text(read_lock(engine.folder / "lock.txt")[0].text + "\n")
    changed = read_engine(engine.folder)
    begin(changed)
    with pytest.raises(EngineInstallError, match="secondpart"):
        install(changed, lambda event: None)


def test_an_address_with_a_password_is_not_recorded(engine, begin, tmp_path):
    begin(engine)
    install(engine, lambda event: None)
    assert str(tmp_path / "wheels") not in json.dumps(read_ready(engine)["files"])
    shutil.rmtree(engine.home)


@pytest.fixture
def uv(tmp_path, monkeypatch):
    """A stand-in for uv on PATH that records its arguments and installs with pip; exits as ``fails`` says."""
    said, fails = tmp_path / "uv.txt", tmp_path / "fails"
    program = tmp_path / "bin" / "uv"
    program.parent.mkdir()
    program.write_text(
        f'#!/bin/sh\necho "$*" >> {said}\n[ -e {fails} ] && exit 2\n'
        'exec "$5" -m pip install --no-index --no-deps loosepart==1.0\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    for name in ("PIP_NO_INDEX", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "UV_TORCH_BACKEND"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"CONFIG_FILE": os.devnull, "PROXY": "http://127.0.0.1:9", "RETRIES": "0"}.items():
        monkeypatch.setenv(f"PIP_{name}", value)
    return said, fails


@pytest.mark.exhaustive
@pytest.mark.skipif(sys.platform != "linux", reason="there is one build of PyTorch elsewhere")
def test_uv_chooses_the_build_that_fits_the_gpu(engine, begin, uv):
    begin(engine)
    install(engine, lambda event: None)
    assert uv[0].read_text() == (
        f"pip install --no-progress --python {engine.python} --torch-backend auto --no-deps loosepart==1.0\n"
    )
    assert engine.state().installed
    assert set(read_ready(engine)["files"]) == {"firstpart", "secondpart"}


@pytest.mark.exhaustive
@pytest.mark.skipif(sys.platform != "linux", reason="there is one build of PyTorch elsewhere")
def test_a_backend_chosen_by_the_user_is_kept_and_pip_takes_over_if_uv_fails(engine, begin, uv, monkeypatch):
    monkeypatch.setenv("UV_TORCH_BACKEND", "cpu")
    uv[1].touch()
    begin(engine)
    install(engine, lambda event: None)
    assert "--torch-backend" not in uv[0].read_text()
    assert set(read_ready(engine)["files"]) == {"firstpart", "secondpart", "loosepart"}


def test_uv_is_not_used_if_pip_has_its_own_registry(engine, begin, uv, monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    begin(engine)
    install(engine, lambda event: None)
    assert not uv[0].exists()
    assert engine.state().installed
