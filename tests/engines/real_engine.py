"""Runs a real engine as the service does, with the network cut, and the same program directly."""

import dataclasses
import os
import subprocess
import sys
import uuid
from pathlib import Path

from foldnote.service.engines import Engine, build_attempt, load_engines
from foldnote.service.engines.launch import make_environment
from foldnote.service.runner.attempt import Outcome, prepare_attempt

CUT = """
import socket


def refuse(self, address, *rest):
    raise OSError(f"the test has cut the network: {address}")


socket.socket.connect = refuse
socket.socket.connect_ex = refuse
socket.getaddrinfo = lambda *rest, **more: refuse(None, rest)
"""


def can_cut_the_network() -> bool:
    """Whether a network namespace without any interface may be made."""
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
    """Run the engine through its runner; gives the outcome and the folder of outputs.

    `texts` has the contents of file fields, of a field with several files as a list; `tool` is the engine's first one if none is named. The engine's python refuses every connection, and where namespaces may be made there is no network at all.
    """
    engine = load_engines()[name]
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
        job_name="a-test",
        tool=tool or engine.tools[0],
        settings=settings,
        files=places,
        seed=seed,
    )
    cut = folder / "cut"
    cut.mkdir(parents=True)
    (cut / "sitecustomize.py").write_text(CUT)
    paths = os.pathsep.join([str(cut), spec.environment["PYTHONPATH"]])
    spec = dataclasses.replace(spec, environment={**spec.environment, "PYTHONPATH": paths})
    prepare_attempt(spec, _write(folder / "given", given))
    runner = [sys.executable, "-m", "foldnote.service.runner.runner", str(spec.folder)]
    subprocess.run(["unshare", "-rn", *runner] if can_cut_the_network() else runner, check=True)
    return Outcome.read(spec.folder), spec.folder / "work" / "outputs"


def _write(folder: Path, given: dict[str, str]) -> dict[str, Path]:
    """The contents as files of their own; gives where each place's content is."""
    sources = {place: folder / place.replace("/", "-") for place in given}
    folder.mkdir(parents=True)
    for place, source in sources.items():
        source.write_text(given[place])
    return sources


def run_directly(engine: Engine, command: list[str], folder: Path) -> str:
    """Run a program of the engine's environment; gives its standard output."""
    environment = make_environment(engine, engine.resources.cores)
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    return result.stdout
