"""Collect the files that Boltz wrote, in its own order of the models."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from engine_protocol import write_table
from stand_in_models import write_without_confidence

NAME = "prediction"
FIGURES = (
    "confidence_score",
    "complex_plddt",
    "complex_iplddt",
    "ptm",
    "iptm",
    "ligand_iptm",
    "protein_iptm",
    "complex_pde",
    "complex_ipde",
)
"""Figures of a model by Boltz's names: 0 to 1, higher is better; distance errors (pde) in Å, lower."""
COLUMNS = ("rank", "file", *FIGURES)
"""Columns of ranking.csv; rank 1 is the best."""
AFFINITY = f"affinity_{NAME}.json"
_LEFT = f"pre_affinity_{NAME}.npz"
"""File that Boltz passes to its second network."""


def read_models(source: Path) -> list[dict[str, Any]]:
    """Return a row of the table for each model of Boltz, in its own order; empty without any."""
    rows = []
    while (model := source / f"{NAME}_model_{len(rows)}.cif").exists():
        figures = json.loads((source / f"confidence_{model.stem}.json").read_text("utf-8"))
        rows.append({"rank": len(rows) + 1, "file": model.name, **{name: figures[name] for name in FIGURES}})
    return rows


def collect(rows: Sequence[dict[str, Any]], source: Path, target: Path) -> dict[str, float]:
    """Move Boltz's files into ``target``, with the table of the models; return the affinity, if any."""
    for path in sorted(source.iterdir()):
        if path.name != _LEFT:
            shutil.move(path, target / path.name)
    write_table("ranking.csv", rows, COLUMNS)
    affinity = target / AFFINITY
    return json.loads(affinity.read_text("utf-8")) if affinity.exists() else {}


def strip_confidence(target: Path) -> None:
    """Remove what looks like a confidence or an affinity but is none, because weights are stand-ins."""
    for path in sorted(target.iterdir()):
        if path.suffix in (".json", ".npz") or path.name == "ranking.csv":
            path.unlink()
        elif path.suffix == ".cif":
            write_without_confidence(path, path.with_name(path.name.replace("_model_", "_stand_in_")))
