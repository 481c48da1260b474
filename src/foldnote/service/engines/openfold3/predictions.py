"""Collect the files that OpenFold 3 wrote, and rank its models by its own score."""

from __future__ import annotations

import json
import math
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from engine_protocol import write_table
from stand_in_models import write_without_confidence

FIGURES = ("sample_ranking_score", "iptm", "ptm", "avg_plddt", "gpde", "disorder", "has_clash")
"""Figures of a model by OpenFold's names: pLDDT 0 to 100, gpde in Å, has_clash 0 or 1, the others 0 to 1,
except the score, which is -100 to 1.5."""
COLUMNS = ("rank", "file", "seed", "sample", *FIGURES)
"""Columns of ranking.csv; rank 1 is the best."""
_MODEL = re.compile(r".*_seed_(\d+)_sample_(\d+)_model\.cif")


def read_models(source: Path) -> list[dict[str, Any]]:
    """Return a row of the table for each model of OpenFold 3, best first; empty without any."""
    rows = []
    for model in source.glob("seed_*/*_model.cif"):
        found = _MODEL.fullmatch(model.name)
        scores = model.with_name(model.name.replace("_model.cif", "_confidences_aggregated.json"))
        if found is None or not scores.exists():
            continue
        figures = json.loads(scores.read_text("utf-8"))
        own = {"file": model.name, "seed": int(found[1]), "sample": int(found[2])}
        # Without the surface of a model, there is no disorder and therefore no score.
        rows.append(own | {name: figures[name] for name in FIGURES if math.isfinite(figures[name])})
    rows.sort(key=lambda row: (-row.get(FIGURES[0], -math.inf), row["seed"], row["sample"]))
    return [{"rank": rank, **row} for rank, row in enumerate(rows, start=1)]


def collect(rows: Sequence[dict[str, Any]], source: Path, target: Path) -> None:
    """Move OpenFold's files of the models into ``target``, with the table of the models."""
    for row in rows:
        stem = row["file"].removesuffix("model.cif")
        for path in sorted(source.glob(f"seed_{row['seed']}/{stem}*")):
            shutil.move(path, target / path.name)
    write_table("ranking.csv", rows, COLUMNS)


def strip_confidence(target: Path) -> None:
    """Remove what looks like a confidence but is none, because weights are stand-ins."""
    (target / "ranking.csv").unlink()
    for path in sorted(target.iterdir()):
        if "_confidences" in path.name:
            path.unlink()
        elif path.suffix == ".cif":
            write_without_confidence(path, path.with_name(path.name.replace("_model", "_stand_in")))
