"""The size of an installation in megabytes, beside JupyterLab, pandas and numpy, and import times in seconds.

Sizes are those of the files in the RECORDs of this environment's distributions, for everything that foldnote
requires, directly or not, and JupyterLab, pandas and numpy do not. ``python benchmarks/footprint.py ROOT``
reads requirements and sources of another work tree.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

HERE = Path(__file__).parent.parent
BASE = ("jupyterlab", "pandas", "numpy")
HEAVY = ("rdkit", "matplotlib")
LIMIT_MB = 120
LIMIT_WITH_CHEMISTRY_AND_PLOTS_MB = 350
FIRST_USES = {
    "import foldnote": (0.05, "import foldnote"),
    "the client": (0.2, "import foldnote; foldnote.Client"),
    "a first form, without a service": (
        1.0,
        "import foldnote; foldnote.form({'properties': {'sequence': {'type': 'string'}}})",
    ),
    "reading a structure": (1.0, "import foldnote; foldnote.open_result(PATH).structures"),
    "a first view": (1.5, "import foldnote; foldnote.view(PATH)._repr_mimebundle_()"),
}
"""Limit in seconds, and the code."""
RUNS = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("root", nargs="?", type=Path, default=HERE, help="a work tree (default: this one)")
    root = parser.parse_args().root.resolve()
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    light = [each for each in project["dependencies"] if not each.startswith(HEAVY)]
    report_size(root, light, LIMIT_MB, "foldnote without RDKit and matplotlib")
    whole = [*project["dependencies"], *extras.get("chem", ()), *extras.get("plots", ())]
    report_size(root, whole, LIMIT_WITH_CHEMISTRY_AND_PLOTS_MB, "foldnote with RDKit and matplotlib")
    for what, (limit_s, code) in FIRST_USES.items():
        figure_s = time_code(root, code)
        print(f"{what}: {figure_s * 1000:.0f} ms, limit {limit_s * 1000:.0f} ms  {judge(figure_s, limit_s)}")


def report_size(root: Path, requirements: list[str], limit_mb: float, title: str) -> None:
    base = set(find_closure(BASE))
    sizes = {name: measure_mb(distribution(name)) for name in set(find_closure(requirements)) - base}
    sizes["foldnote"] = measure_package_mb(root / "src/foldnote")
    total = sum(sizes.values())
    if not any(file.suffix == ".pyc" for file in distribution("sqlalchemy").files or ()):
        print("pip did not compile modules here, as for the tests: a usual installation is a tenth larger")
    print(f"{title}: {total:.1f} MB beyond {', '.join(BASE)}; limit {limit_mb} MB  {judge(total, limit_mb)}")
    for name, size in sorted(sizes.items(), key=lambda row: -row[1])[:12]:
        print(f"    {size:7.1f} MB  {name}")


def judge(figure: float, limit: float) -> str:
    return "within" if figure <= limit else f"OVER, {figure / limit:.2f} times"


def find_closure(requirements: Iterable[str]) -> Iterator[str]:
    """Return the names of the installed distributions that requirements need, including themselves."""
    seen: set[tuple[str, str]] = set()
    waiting = [(Requirement(text), "") for text in requirements]
    while waiting:
        wanted, extra = waiting.pop()
        if wanted.marker is not None and not wanted.marker.evaluate({"extra": extra}):
            continue
        name = canonicalize_name(wanted.name)
        try:
            needs = [Requirement(text) for text in distribution(name).requires or ()]
        except PackageNotFoundError:
            print(f"    not installed, and so not counted: {name}")
            continue
        yield name
        for each in ("", *wanted.extras):
            if (name, each) not in seen:
                seen.add((name, each))
                waiting += [(need, each) for need in needs]


def measure_mb(package: Distribution) -> float:
    paths = {Path(str(package.locate_file(file))) for file in package.files or ()}
    return sum(path.stat().st_size for path in paths if path.is_file()) / 1e6


def measure_package_mb(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def time_code(root: Path, code: str) -> float:
    """Return the median seconds of ``code`` in a fresh interpreter; the file cache is warm."""
    structure = root / "tests/engines/data/t4-lysozyme-l99a.pdb"
    begin = f"import time; PATH = {str(structure)!r}; begun = time.perf_counter()"
    timed = f"{begin}; {code}; print(time.perf_counter() - begun)"
    environment = os.environ | {"PYTHONPATH": str(root / "src")}

    def run() -> float:
        done = subprocess.run(
            [sys.executable, "-c", timed], env=environment, capture_output=True, text=True, check=True
        )
        return float(done.stdout.splitlines()[-1])

    run()
    return statistics.median(run() for _ in range(RUNS))


if __name__ == "__main__":
    main()
