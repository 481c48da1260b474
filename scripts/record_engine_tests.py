"""Write the results of engine tests into the table at the end of docs/engines.md, one row per test file.

    python scripts/record_engine_tests.py RESULTS.xml [--left-out TEXT]

`make test-engines` runs it with the file that pytest wrote by ``--junitxml``. Rows of other test files stay.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import shutil
import xml.etree.ElementTree as ET
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path

from foldnote.service.engines import load_engines

PAGE = Path(__file__).parents[1] / "docs" / "engines.md"
HEADING = "## Last test runs"
HEAD = ("| tests | version | result | took | date | machine |", "|---|---|---|---|---|---|")
_FILE = re.compile(r"tests\.engines\.test_(\w+)")
_ROW = re.compile(r"^\| `(\w+)` \|")
_KINDS = {"failure": "failed", "error": "failed", "skipped": "skipped"}


def main() -> None:
    """Merge the results of a run into the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", type=Path, help="file that pytest wrote by --junitxml")
    parser.add_argument("--left-out", default="", help="tests that did not run, such as: 22 exhaustive")
    parser.add_argument("--page", type=Path, default=PAGE, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    versions = {name: engine.version for name, engine in load_engines().items()}
    rows = read_rows(chosen.results, versions, describe_machine(), chosen.left_out)
    chosen.page.write_text(merge(chosen.page.read_text("utf-8"), rows), "utf-8")


def read_rows(results: Path, versions: Mapping[str, str], machine: str, left_out: str = "") -> dict[str, str]:
    """Read pytest's XML; return one row per test file, keyed by its name without ``test_``."""
    suite = ET.parse(results).getroot().find("testsuite")
    if suite is None:
        raise SystemExit(f"{results} has no results of pytest. Give the file that --junitxml wrote.")
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    took_s: Counter[str] = Counter()
    for case in suite.iter("testcase"):
        found = _FILE.match(case.get("classname", ""))
        if found is None:
            continue
        states = {_KINDS[child.tag] for child in case if child.tag in _KINDS}
        counts[found[1]]["failed" if "failed" in states else next(iter(states), "passed")] += 1
        took_s[found[1]] += round(float(case.get("time", 0)))
    day = suite.get("timestamp", "")[:10]
    more = [f"not run: {left_out}"] if left_out else []
    return {
        name: write_row(
            name, versions.get(name, ""), [*write_counts(each), *more], took_s[name], day, machine
        )
        for name, each in counts.items()
    }


def write_counts(counts: Counter[str]) -> list[str]:
    """Return such as ``["12 passed", "1 skipped"]``."""
    return [f"{counts[kind]} {kind}" for kind in ("passed", "failed", "skipped") if counts[kind]]


def write_row(name: str, version: str, counts: list[str], took_s: int, day: str, machine: str) -> str:
    """Return a row of the table."""
    took = f"{took_s} s" if took_s < 100 else f"{round(took_s / 60)} min"
    return f"| `{name}` | {version} | {', '.join(counts)} | {took} | {day} | {machine} |"


def describe_machine() -> str:
    """Return such as ``2 cores of AMD EPYC, 23 GiB, no GPU, Debian GNU/Linux 12, Python 3.11.7``."""
    facts = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    model = re.search(r"^model name\s*: (.*)$", facts, re.M)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    system = (
        platform.freedesktop_os_release()["PRETTY_NAME"]
        if platform.system() == "Linux"
        else platform.system()
    )
    gpu = "NVIDIA GPU" if shutil.which("nvidia-smi") else "no GPU"
    cores = f"{os.cpu_count()} cores of {model[1]}" if model else f"{os.cpu_count()} cores"
    return f"{cores}, {memory:.0f} GiB, {gpu}, {system}, Python {platform.python_version()}"


def merge(page: str, rows: Mapping[str, str]) -> str:
    """Return the page with these rows merged into its table, which is at its end."""
    before, heading, section = page.partition(f"{HEADING}\n")
    if not heading:
        raise SystemExit(f"The page has no section {HEADING!r}.")
    lines = section.splitlines()
    words = [line for line in lines if not line.startswith("|")]
    kept = {found[1]: line for line in lines if (found := _ROW.match(line))}
    table = [*HEAD, *(row for _, row in sorted({**kept, **rows}.items()))]
    return before + heading + "\n".join(words).rstrip() + "\n\n" + "\n".join(table) + "\n"


if __name__ == "__main__":
    main()
