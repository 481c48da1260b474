"""Collect the files that ColabFold wrote, in its own order of the models."""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

NAME = "prediction"
COLUMNS = ("rank", "model", "seed", "file", "relaxed", "plddt", "ptm", "iptm", "ipsae")
"""Columns of ranking.csv: rank, 1 for the best; ColabFold's name of the model and the seed; the files of the
model and of the relaxed one; mean pLDDT (0 to 100); pTM, ipTM and the highest ipSAE of a pair of chains (0 to
1). Empty where the model has none."""
_SCORES = re.compile(rf"{NAME}_scores_(rank_(\d+)_(.+)_seed_(\d+))\.json")
_LEFT = frozenset({"log.txt"})
"""Files of ColabFold that are not results: the job's log contains the same lines."""


def read_models(source: Path) -> list[dict[str, Any]]:
    """Return a row of the table for each model of ColabFold, in its own order; empty without any."""
    found = [(match, path) for path in source.glob("*.json") if (match := _SCORES.fullmatch(path.name))]
    return [make_row(match, path) for match, path in sorted(found, key=lambda each: int(each[0][2]))]


def has_templates(source: Path) -> bool:
    """Return whether ColabFold used a template for any chain, according to its own output."""
    named = json.loads((source / f"{NAME}_template_domain_names.json").read_text("utf-8"))
    return any(names for names in named.values())


def collect(rows: Sequence[dict[str, Any]], source: Path, target: Path) -> None:
    """Move ColabFold's files into ``target``, with the table of the models."""
    for path in sorted(source.iterdir()):
        if path.is_file() and path.name not in _LEFT and not path.name.endswith(".done.txt"):
            shutil.move(path, target / path.name)
    with (target / "ranking.csv").open("w", newline="", encoding="utf-8") as stream:
        table = csv.DictWriter(stream, COLUMNS)
        table.writeheader()
        table.writerows(rows)


def make_row(found: re.Match[str], path: Path) -> dict[str, Any]:
    """Return one model's row of the table."""
    scores = json.loads(path.read_text("utf-8"))
    residues = scores["plddt"]
    pairs = scores.get("ipsae") or {}
    return {
        "rank": int(found[2]),
        "model": found[3],
        "seed": int(found[4]),
        "file": f"{NAME}_unrelaxed_{found[1]}.pdb",
        "relaxed": "",
        "plddt": round(sum(residues) / len(residues), 2),
        "ptm": scores.get("ptm", ""),
        "iptm": scores.get("iptm", ""),
        "ipsae": max(pairs.values()) if pairs else "",
    }


def strip_confidence(target: Path) -> None:
    """Remove what looks like a confidence but is none, because the parameters are stand-ins."""
    plots = (f"{NAME}_plddt.png", f"{NAME}_pae.png")
    for path in sorted(target.iterdir()):
        if path.suffix == ".pdb":
            lines = path.read_text("utf-8").splitlines(keepends=True)
            path.write_text("".join(map(_without_b_factor, lines)), "utf-8")
            path.rename(path.with_name(re.sub(r"rank_(\d+)_.*", r"stand_in_\1.pdb", path.name)))
        elif path.name in ("ranking.csv", *plots) or (path.suffix == ".json" and path.name != "config.json"):
            path.unlink()


def _without_b_factor(line: str) -> str:
    return f"{line[:60]}  0.00{line[66:]}" if line.startswith(("ATOM", "HETATM")) else line
