"""A result displays itself in a program that has not imported the viewers."""

import subprocess
import sys
from pathlib import Path

_DATA = Path(__file__).parents[1] / "results" / "data"
_PROGRAM = """
import sys
from foldnote.results import open_result
result = open_result(sys.argv[1])
assert "foldnote.viewers" not in sys.modules
parts = result.bundles()
assert any("fnv-view" in part.get("text/html", "") for part in parts), parts
"""


def test_a_result_loads_what_draws_when_it_is_shown_and_not_before():
    found = _DATA / "trastuzumab_fv_ca.pdb"
    done = subprocess.run([sys.executable, "-c", _PROGRAM, found], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
