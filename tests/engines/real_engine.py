"""Run a real engine as the service does, with the network cut, and the same program directly.

An engine runs with the test's own home and temporary folder, so that files that it leaves outside its folder are found.
"""

import dataclasses
import functools
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

from foldnote import catalog
from foldnote.service import engines
from foldnote.service.engines import Engine, build_attempt
from foldnote.service.engines.engine import CACHE
from foldnote.service.engines.launch import make_environment
from foldnote.service.runner.attempt import SPEC, AttemptSpec, Outcome, prepare_attempt

CUT = """
import socket


def refuse(self, address, *rest):
    raise OSError(f"the test has cut the network: {address}")


socket.socket.connect = refuse
socket.socket.connect_ex = refuse
socket.getaddrinfo = lambda *rest, **more: refuse(None, rest)
"""
HOME, TEMPORARY = "home", "temporary"


def load_engines() -> dict[str, Engine]:
    """Read every engine once for each ``FOLDNOTE_ENGINE_PATH``, since test modules need them at import; return them
    by name.
    """
    return _load_engines(os.environ.get("FOLDNOTE_ENGINE_PATH", ""))


@functools.cache
def _load_engines(_engine_path: str) -> dict[str, Engine]:
    return engines.load_engines()


def can_cut_the_network() -> bool:
    """Return whether network namespaces without any interface can be created."""
    try:
        return subprocess.run(["unshare", "-rn", "true"], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


def run_engine(
    name: str,
    folder: Path,
    settings: dict,
    seed: int = 7,
    texts: dict[str, str | list[str]] | None = None,
    tool: str | None = None,
) -> tuple[Outcome, Path]:
    """Run the engine through its runner; return the outcome and the folder of outputs.

    `texts` has the contents of file fields, as a list for a field with several files; `tool` is by default the engine's
    first one. The engine's python refuses every connection, and where namespaces can be created there is no network at
    all.
    """
    spec = prepare_run(load_engines()[name], folder, settings, seed, texts, tool)
    with start_runner(spec) as runner:
        status = runner.wait()
    assert status == 0, f"the runner ended with {status}"
    outcome = Outcome.read(spec.folder)
    assert outcome is not None
    return outcome, spec.folder / "work" / "outputs"


def run_tool(engine: str, tool: str, folder: Path, **changed: object) -> tuple[Outcome, Path]:
    """Run a tool's example with some settings changed; file fields are given as texts."""
    settings, texts = make_settings(tool, **changed)
    return run_engine(engine, folder, settings, texts=texts, tool=tool)


def make_settings(tool: str, **changed: object) -> tuple[dict, dict]:
    """Return the settings of a tool's example with some changed, and separately the contents of its files."""
    row = catalog.tool(tool)
    given = catalog.default_settings(row) | row.example_job["settings"] | changed
    roles = {
        name: each.get("x-foldnote", {}).get("role")
        for name, each in row.settings_schema["properties"].items()
    }
    texts = {name: value for name, value in given.items() if roles.get(name) in ("file", "files")}
    return {name: value for name, value in given.items() if name not in texts}, texts


def prepare_run(
    engine: Engine,
    folder: Path,
    settings: dict,
    seed: int = 7,
    texts: dict[str, str | list[str]] | None = None,
    tool: str | None = None,
    *,
    name: str = "a-test",
    time_limit_s: float | None = None,
) -> AttemptSpec:
    """Return the specification of a run with its folder prepared; ``name`` is that of its job."""
    listed = {field: [text] if isinstance(text, str) else text for field, text in (texts or {}).items()}
    places = {
        field: [f"inputs/{field}/{place}/{field}.txt" for place in range(len(each))]
        for field, each in listed.items()
    }
    given = {
        place: text for field in listed for place, text in zip(places[field], listed[field], strict=True)
    }
    spec = build_attempt(
        engine,
        attempt_dir=folder / "attempt",
        nonce=uuid.uuid4().hex,
        job_name=name,
        tool=tool or engine.tools[0],
        settings=settings,
        files=places,
        seed=seed,
        time_limit_s=time_limit_s,
    )
    cut, home = folder / "cut", folder / HOME
    for each in (cut, home, folder / TEMPORARY):
        each.mkdir(parents=True)
    (cut / "sitecustomize.py").write_text(CUT)
    paths = os.pathsep.join(filter(None, [str(cut), spec.environment.get("PYTHONPATH")]))
    environment = {**spec.environment, "PYTHONPATH": paths, "HOME": str(home)}
    spec = dataclasses.replace(spec, environment=environment)
    prepare_attempt(spec, _write(folder / "given", given))
    return spec


def start_runner(spec: AttemptSpec) -> subprocess.Popen:
    """Start the runner of a prepared run, without any network where possible."""
    runner = [sys.executable, "-m", "foldnote.service.runner.runner", str(spec.folder)]
    return subprocess.Popen(
        ["unshare", "-rn", *runner] if can_cut_the_network() else runner,
        env={**os.environ, "TMPDIR": str(spec.folder.parent / TEMPORARY)},
    )


def find_strays(engine: Engine, outputs: Path) -> list[Path]:
    """Return what a run has left outside its folder: in its home, its temporary folder and the engine's folders.

    The engine's cache is excluded: it is in the folder that is removed with the engine.
    """
    folder = outputs.parents[2]
    begun = (folder / "attempt" / SPEC).stat().st_mtime
    left = [path for name in (HOME, TEMPORARY) for path in (folder / name).rglob("*")]
    changed = [
        path
        for each in (engine, *engine.add_ons)
        for root in (each.home, each.folder)
        for path in root.rglob("*")
        if path.lstat().st_ctime > begun and not path.is_relative_to(each.home / CACHE)
    ]
    return left + changed


def find_processes(spec: AttemptSpec) -> Iterator[str]:
    """Return the command lines of processes that a run has left, found by their environment or working directory."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            is_marked = spec.nonce.encode() in (process / "environ").read_bytes()
            is_there = (process / "cwd").readlink().is_relative_to(spec.folder)
            state = (process / "stat").read_text().rpartition(")")[2].split()[0]
            if (is_marked or is_there) and state not in "ZX":
                yield (process / "cmdline").read_text()
        except OSError:
            continue


def _write(folder: Path, given: dict[str, str]) -> dict[str, Path]:
    """Write the contents to separate files; return the path for each position."""
    sources = {place: folder / place.replace("/", "-") for place in given}
    folder.mkdir(parents=True)
    for place, source in sources.items():
        source.write_text(given[place])
    return sources


HMMSCAN = make_environment(load_engines()["anarci"], 1)["PATH"].split(os.pathsep)[0]
"""Folder of hmmscan in the environment of the engine anarci, also while a test has other environments."""


def run_directly(engine: Engine, command: list[str], folder: Path) -> str:
    """Run a program of the engine's environment; return its standard output.

    ANARCI itself starts hmmscan, which is in the environment of its own engine, or on PATH.
    """
    environment = make_environment(engine, engine.resources.cores)
    environment["PATH"] += os.pathsep + HMMSCAN
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    return result.stdout


def run_code(name: str, code: str, folder: Path, *arguments: object) -> str:
    """Return what a program of an engine's python prints after FOUND; its first argument is the engine's folder."""
    engine = load_engines()[name]
    command = [str(engine.python), "-c", code, str(engine.folder), *map(str, arguments)]
    return run_directly(engine, command, folder).rpartition("FOUND ")[2]
