"""Species and V germline of an antibody chain, from a separate run of the engine ANARCI without a job.

Forms show them while a sequence is typed. Nothing is stored, and no service need be running.
"""

from __future__ import annotations

import csv
import json
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

from foldnote.errors import FoldnoteError
from foldnote.service.engines.engine import Engine
from foldnote.service.engines.launch import make_environment
from foldnote.service.engines.registry import load_engines

_ENGINE: Final = "anarci"
_LIMIT_S: Final = 60
_NICE: Final = "10"
"""Niceness of the run, below the priority of the notebook's kernel."""


@dataclass(frozen=True, slots=True)
class Germline:
    """ANARCI's result for the first variable domain of a chain."""

    species: str
    """Species of the most identical V gene."""
    v_gene: str
    """Name of that gene with its allele: ``IGHV3-66*01``."""
    v_identity: float
    """Identity to the gene, 0 to 1."""

    def __str__(self) -> str:
        return f"{self.species} {self.v_gene}, {self.v_identity:.0%} identical (ANARCI)"


@lru_cache(maxsize=256)
def find_germline(chain: str) -> Germline | None:
    """Return the germline of a chain of amino acids, after a second or two; None if ANARCI finds none.

    Return None, too, if the engine is not installed. Block until the engine has ended.
    """
    engine = _find_engine()
    return None if engine is None else _run(engine, chain)


@cache
def _find_engine() -> Engine | None:
    try:
        engine = load_engines().get(_ENGINE)
    except FoldnoteError:
        return None
    return engine if engine is not None and engine.state().installed else None


def _run(engine: Engine, chain: str) -> Germline | None:
    job = {"type": "anarci", "settings": {"sequence": chain, "scheme": "imgt"}}
    with tempfile.TemporaryDirectory(prefix="foldnote-germline-") as name:
        folder = Path(name)
        (folder / "outputs").mkdir()
        (folder / "job.json").write_text(json.dumps(job), encoding="utf-8")
        try:
            subprocess.run(
                ["nice", "-n", _NICE, str(engine.python), str(engine.folder / "run.py")],
                cwd=folder,
                env=make_environment(engine, 1),
                capture_output=True,
                check=True,
                timeout=_LIMIT_S,
            )
            with (folder / "outputs" / "summary.csv").open(encoding="utf-8", newline="") as file:
                row = next(csv.DictReader(file), None)
        except (OSError, subprocess.SubprocessError):
            return None
    if row is None or not row["v_gene"]:
        return None
    return Germline(row["germline_species"], row["v_gene"], float(row["v_identity"]))
