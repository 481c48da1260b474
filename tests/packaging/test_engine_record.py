"""Results of engine tests are recorded in the docs, one row per test file."""

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "scripts" / "record_engine_tests.py"
RESULTS = """<?xml version="1.0" encoding="utf-8"?>
<testsuites><testsuite name="pytest" tests="5" timestamp="2026-11-27T12:38:15.9+00:00">
<testcase classname="tests.engines.test_propka.TestContract" name="a" time="3.2"/>
<testcase classname="tests.engines.test_propka" name="b" time="1.1"><failure message="x">y</failure></testcase>
<testcase classname="tests.engines.test_propka" name="b" time="0.1"><error message="x">y</error></testcase>
<testcase classname="tests.engines.test_warm_runs" name="c" time="600"/>
<testcase classname="tests.engines.test_warm_runs" name="d" time="0"><skipped message="z">z</skipped></testcase>
</testsuite></testsuites>
"""
PAGE = """# Engines

## Last test runs

Words.

| tests | version | result | took | date | machine |
|---|---|---|---|---|---|
| `anarci` | 1 | 2 passed | 1 s | 2026-01-01 | m |
| `propka` | 1 | 3 passed | 1 s | 2026-01-01 | m |
"""


def record(folder, *more):
    (folder / "results.xml").write_text(RESULTS)
    (folder / "page.md").write_text(PAGE)
    command = [sys.executable, SCRIPT, folder / "results.xml", "--page", folder / "page.md", *more]
    subprocess.run(command, check=True, timeout=120)
    return (folder / "page.md").read_text()


def test_rows_of_what_ran_are_replaced_and_others_stay(tmp_path):
    page = record(tmp_path, "--left-out", "22 exhaustive")
    before, rows = page.split("|---|---|---|---|---|---|\n")
    assert before == PAGE.split("|---|---|---|---|---|---|\n")[0]
    anarci, propka, warm = rows.splitlines()
    assert anarci == "| `anarci` | 1 | 2 passed | 1 s | 2026-01-01 | m |"
    assert propka.startswith(
        "| `propka` | 3.5.1 | 1 passed, 2 failed, not run: 22 exhaustive | 4 s | 2026-11-27 |"
    )
    assert f"Python {'.'.join(map(str, sys.version_info[:3]))}" in propka
    assert warm.startswith(
        "| `warm_runs` |  | 1 passed, 1 skipped, not run: 22 exhaustive | 10 min | 2026-11-27 |"
    )
