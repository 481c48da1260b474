"""The declared lower bounds hold: foldnote works with the oldest release of each requirement.

An environment that already has an older library keeps it if the bound allows it, so a bound that is too low breaks
foldnote there, and only there.
"""

import json
import os
import re
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

import jupyterlab
import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

ROOT = Path(__file__).parent.parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
DEPENDENCIES = [Requirement(each) for each in PROJECT["dependencies"]]
EXTRAS = [
    Requirement(each)
    for name, group in PROJECT["optional-dependencies"].items()
    if name not in ("dev", "docs")
    for each in group
]
FRONT_END = json.loads((ROOT / "package.json").read_text())["dependencies"]
CONTRACT = ("client_*", "mcp", "provenance")
SERVICE = ("auth_matrix", "connections", "dask", "object_stores", "postgres")
UNITS = ("results/test_parquet.py", "results/test_water_bridges.py", "viewers/test_plots.py")
TESTED = (
    *(path for name in CONTRACT for path in sorted(ROOT.glob(f"tests/contract/test_{name}.py"))),
    *(f"tests/service/test_{name}.py" for name in SERVICE),
    *(f"tests/unit/{name}" for name in UNITS),
)
NEEDED_BY_TESTS = (
    *("cryptography", "hypothesis", "jsonschema", "moto[server]", "nbclient", "pexpect", "playwright"),
    *("pytest", "pytest-asyncio", "pytest-timeout", "pytest-xdist", "zstandard"),
)


def find_lowest(requirement: Requirement) -> str:
    """Return the oldest release that a requirement allows, as its bound names it."""
    (bound,) = (each.version for each in requirement.specifier if each.operator == ">=")
    return bound


def read_core() -> dict[str, str]:
    """Return the packages that the installed JupyterLab gives to extensions, with their ranges, such as ``~4.6.0``."""
    staging = Path(jupyterlab.__file__).parent / "staging" / "package.json"
    core = json.loads(staging.read_text())
    return {**core["dependencies"], **core["resolutions"]}


def test_every_requirement_names_the_oldest_release():
    for requirement in (*DEPENDENCIES, *EXTRAS):
        assert find_lowest(requirement) in SpecifierSet(str(requirement.specifier)), requirement


@pytest.mark.parametrize("name", [name for name in FRONT_END if name.startswith("@jupyterlab/")])
def test_the_front_end_accepts_every_jupyterlab_that_python_accepts(name):
    """JupyterLab reports an extension as incompatible if a range of the extension excludes its own package."""
    (lowest,) = (Version(find_lowest(each)) for each in DEPENDENCIES if each.name == "jupyterlab")
    major, minor = map(int, re.match(r"[~^]?(\d+)\.(\d+)\.", read_core()[name]).groups())
    earlier = (
        Version(jupyterlab.__version__).minor - lowest.minor
    )  # all packages count minor versions together
    assert FRONT_END[name] == f"^{major}.{minor - earlier}.0"


@pytest.mark.parametrize(
    "name", [name for name in FRONT_END if name.startswith("@lumino/") or name == "react"]
)
def test_the_front_end_accepts_what_jupyterlab_gives_it(name):
    """A release of the same major version, whichever JupyterLab has."""
    assert re.fullmatch(r"\^\d+\.\d+\.\d+", FRONT_END[name])


@pytest.mark.exhaustive
@pytest.mark.timeout(3600)
def test_jobs_run_and_pages_load_with_the_oldest_releases(tmp_path):
    folder = tmp_path / "oldest"
    venv.create(folder)
    python = folder / "bin" / "python"
    oldest = [
        f"{each.name}=={find_lowest(each)}"
        for each in (*DEPENDENCIES, *EXTRAS)
        if each.marker is None or each.marker.evaluate()
    ]
    bounds = tmp_path / "bounds.txt"
    bounds.write_text("\n".join(oldest))
    inherited = {
        name: each for name, each in os.environ.items() if not name.startswith(("JUPYTER", "PYTEST"))
    }
    path = f"{python.parent}:{os.environ['PATH']}"
    environment = {**inherited, "PATH": path, "HATCH_JUPYTER_BUILDER_SKIP_NPM": "1"}

    def run(*command):
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=ROOT)
        assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-3000:]
        return done.stdout + done.stderr

    pip = (sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--constraint", bounds)
    run(*pip, *oldest, "psycopg[binary]", *NEEDED_BY_TESTS)
    run(*pip, "--no-deps", ROOT)
    listed = run(python, "-m", "jupyter", "labextension", "list")
    assert re.search(r"foldnote v\S+ \S*enabled\S* \S*OK", listed), listed
    chosen = ("-m", "not exhaustive and not engine")
    run(python, "-m", "pytest", "-n", "2", "--dist", "loadfile", *chosen, *TESTED)
    # in a process of its own: Playwright's event loop conflicts with those of other tests
    run(python, "-m", "pytest", *chosen, "tests/browser/test_sidebar.py")
