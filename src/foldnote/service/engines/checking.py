"""Run an engine on its published case, as the service would run a job, and compare the figures."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from foldnote import settings
from foldnote.errors import EngineError
from foldnote.service.engines.engine import Engine
from foldnote.service.engines.launch import build_attempt
from foldnote.service.engines.published_case import CaseRecord, Figure, PublishedCase, read_case, write_record
from foldnote.service.engines.weights.state import is_stand_in
from foldnote.service.engines.weights.store import WeightStore
from foldnote.service.runner.attempt import LOG, WORK, Outcome, now, prepare_attempt
from foldnote.text import format_size


@dataclass(frozen=True, slots=True)
class ComparedFigure:
    """A published figure and the computed one; ``found`` is None if the result lacks it."""

    figure: Figure
    found: float | str | None

    @property
    def is_reached(self) -> bool:
        """Whether the computed figure matches the published one."""
        return self.figure.is_reached(self.found)


def check_engine(engine: Engine, defaults: Mapping[str, Any], out: TextIO) -> bool:
    """Run the published case of ``engine`` and write each figure beside the published one.

    The outcome is stored in the engine's home, where lists and forms find it.

    Args:
        engine: an installed engine.
        defaults: default settings of the tool of the case.
        out: output stream.

    Returns:
        Whether all figures were as published.

    Raises:
        EngineError: it has no published case, is not installed, has damaged or stand-in weights, or its run
            failed.
        OSError: there is no disk space for the run.
    """
    case = find_case(engine)
    engine = engine.for_tool(case.tool)
    verify_weights(engine, out)
    weights = engine.weights_in_use()
    if is_stand_in(weights):
        raise EngineError(
            f"The engine {engine.name} has stand-in weights, whose figures mean nothing. Install the"
            f" published ones: `foldnote engines install {engine.name}`."
        )
    out.write(
        f"{engine.name}: {engine.method} {engine.version}\n  {case.title}\n  published in: {case.source}\n"
    )
    out.flush()
    compared = run_case(engine, case, defaults)
    width = max(len(each.figure.what) for each in compared)
    for each in compared:
        published = f"{each.figure.expected}" + (
            f" ± {each.figure.tolerance}" if each.figure.tolerance else ""
        )
        found = "not in the result" if each.found is None else each.found
        verdict = "as published" if each.is_reached else "DIFFERS"
        out.write(f"  {each.figure.what:{width}}  published {published}, found {found}: {verdict}\n")
    reached = sum(each.is_reached for each in compared)
    hashes = tuple(row.sha256 for row in weights)
    record = CaseRecord(now(), engine.version, hashes, reached, len(compared))
    write_record(engine.home, record)
    out.write(f"  {record.sentence}\n")
    return reached == len(compared)


def verify_weights(engine: Engine, out: TextIO) -> None:
    """Compare the installed weights with the record of their installation.

    Damaged files are removed, so that they no longer count as installed.

    Raises:
        EngineError: some are damaged, or another installation holds their folder.
        OSError: they cannot be read or removed.
    """
    rows = engine.installed_weights()
    if not rows:
        return
    out.write(f"{engine.name}: verifying {format_size(sum(row.size_bytes for row in rows))} of weights\n")
    out.flush()
    store = WeightStore(settings.weights_dir())
    if damaged := store.find_changed(rows):
        for row in damaged:
            store.discard(row)
        names = ", ".join(each.name for each in engine.weights if each.file in {row.file for row in damaged})
        raise EngineError(
            f"The weights of the engine {engine.name} are damaged: {names} is not what was installed, and was"
            f" removed. Run `foldnote engines install {engine.name}` to fetch it again."
        )


def find_case(engine: Engine) -> PublishedCase:
    """Return the published case of an engine.

    Raises:
        EngineError: it has no published case.
    """
    case = read_case(engine.folder)
    if case is None:
        raise EngineError(f"The engine {engine.name} has no published case to check it on.")
    return case


def run_case(engine: Engine, case: PublishedCase, defaults: Mapping[str, Any]) -> list[ComparedFigure]:
    """Run the case in a temporary folder and compare its figures.

    Raises:
        EngineError: the engine is not installed, or its run failed.
        OSError: there is no disk space for the run.
    """
    with tempfile.TemporaryDirectory(prefix="foldnote-case-") as name:
        folder = Path(name) / "attempt"
        given = {field: f"inputs/{field}/0/{Path(file).name}" for field, file in case.files.items()}
        spec = build_attempt(
            engine,
            attempt_dir=folder,
            nonce=uuid.uuid4().hex,
            job_name=f"{engine.name}-published-case",
            tool=case.tool,
            settings={**defaults, **case.settings},
            files={field: [path] for field, path in given.items()},
            seed=case.seed,
        )
        prepare_attempt(spec, {path: engine.folder / case.files[field] for field, path in given.items()})
        subprocess.run([sys.executable, "-m", "foldnote.service.runner.runner", str(folder)], check=False)
        outcome = Outcome.read(folder)
        if outcome is None or outcome.state != "succeeded":
            log = _keep_log(folder)
            why = "its runner ended without a result" if outcome is None else outcome.error
            raise EngineError(
                f"The engine {engine.name} failed on its published case: {why} The log is in {log}."
            )
        return [ComparedFigure(figure, figure.find(folder / WORK)) for figure in case.figures]


def _keep_log(folder: Path) -> Path:
    """Copy the log of a failed run out of the folder that is about to be removed."""
    kept = Path(tempfile.mkdtemp(prefix="foldnote-case-log-")) / "log.txt"
    if (folder / LOG).exists():
        shutil.copyfile(folder / LOG, kept)
    return kept
