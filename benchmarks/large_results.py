"""Processor time to rank results of thousands of models, and to compute the contacts of thousands of poses.

Each size is twice the one before, so linear times double. The limits are what a user accepts in a cell;
processor time is measured, so that load on the machine matters little.

    python benchmarks/large_results.py
"""

from __future__ import annotations

import json
import tempfile
import time
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

from foldnote.results import open_result

DATA = Path(__file__).parents[1] / "tests/unit/results/data"
FV = (DATA / "trastuzumab_fv_ca.pdb").read_text()
POCKET = (DATA / "abl_pocket.pdb").read_text()
LIGAND = (DATA / "imatinib.sdf").read_text().split("$$$$")[0].rstrip()
LIMITS_MS = {"a design": 1.0, "a model of AlphaFold 2": 1.0, "contacts of a pose": 5.0}


def write_designs(count: int) -> Mapping[str, str]:
    """Write structures, and a table of scores that names them."""
    rows = "".join(f"design_{i},0.{i}\n" for i in range(count))
    return {"scores.csv": f"description,iptm\n{rows}"} | {f"design_{i}.pdb": FV for i in range(count)}


def write_alphafold2(count: int) -> Mapping[str, str]:
    """Write structures, and the program's list of them."""
    order = [f"model_{i}_pred_0" for i in range(count)]
    members = {f"ranked_{i}.pdb": FV for i in range(count)}
    return members | {"ranking_debug.json": json.dumps({"order": order})}


def write_poses(count: int) -> Mapping[str, str]:
    """Write a receptor, and poses in one file."""
    pose = f"{LIGAND}\n\n> <minimizedAffinity>\n-7.5\n\n$$$$\n"
    return {"receptor.pdb": POCKET, "docked.sdf": pose * count}


def measure(members: Mapping[str, str], attribute: str) -> float:
    """Return the processor seconds to read an attribute of a result with these files."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "result.zip"
        with zipfile.ZipFile(path, "w") as archive:
            for name, text in members.items():
                archive.writestr(name, text)
        result = open_result(path)
        before = time.process_time()
        getattr(result, attribute)
        return time.process_time() - before


def main() -> None:
    """Print a line for each size."""
    makers: Mapping[str, tuple[Callable[[int], Mapping[str, str]], str, tuple[int, ...]]] = {
        "a design": (write_designs, "models", (750, 1500, 3000)),
        "a model of AlphaFold 2": (write_alphafold2, "models", (750, 1500, 3000)),
        "contacts of a pose": (write_poses, "contact_table", (500, 1000, 2000)),
    }
    for what, (make, attribute, sizes) in makers.items():
        for size in sizes:
            seconds = measure(make(size), attribute)
            each = seconds / size * 1000
            print(f"{what}: {size:5,} take {seconds:6.2f} s, {each:.2f} ms each (limit {LIMITS_MS[what]} ms)")


if __name__ == "__main__":
    main()
