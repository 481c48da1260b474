"""Published packages install into an empty environment and are found by Jupyter."""

import json
import os
import re
import runpy
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest
from served import SEQUENCE, Served

from foldnote import catalog

ROOT = Path(__file__).parent.parent.parent
CLIENT_NEEDS = ("filelock", "httpx", "jsonschema-rs", "platformdirs", "pydantic")
pytestmark = pytest.mark.timeout(900)


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout + done.stderr


def pip(python):
    """Use the tests' pip for another environment: one without pip is created quickly."""
    return (sys.executable, "-m", "pip", "--python", python)


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    """Build the sdist, and the wheel that pip makes from it without Node."""
    folder, no_node = tmp_path_factory.mktemp("dist"), tmp_path_factory.mktemp("bin")
    run(sys.executable, "-m", "build", "--sdist", "--outdir", folder, ROOT)
    build = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder)
    run(*build, next(folder.glob("*.tar.gz")), env={**os.environ, "PATH": f"{no_node}:/usr/sbin:/sbin"})
    return folder


@pytest.fixture(scope="module")
def clean_python(dist, tmp_path_factory):
    """Create an empty environment with the wheel, and nothing of this checkout."""
    folder = tmp_path_factory.mktemp("clean")
    venv.create(folder)
    python = folder / "bin" / "python"
    run(*pip(python), "install", "--quiet", "--no-compile", next(dist.glob("*.whl")))
    return python


@pytest.fixture(scope="module")
def bare(dist, tmp_path_factory):
    """Create an environment with the client's requirements only; return it with its contents before the wheel."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder)
    install = (*pip(folder / "bin" / "python"), "install", "--quiet", "--no-compile")
    run(*install, *CLIENT_NEEDS)
    before = list_files(folder)
    run(*install, "--no-deps", next(dist.glob("*.whl")))
    return folder, before


def list_files(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}


def jupyter(python, *arguments):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("JUPYTER", "PYTHONPATH"))}
    environment["PATH"] = f"{python.parent}:{environment['PATH']}"
    return run(python.parent / "jupyter", *arguments, env=environment, cwd=python.parent)


def test_the_wheel_carries_both_extensions_the_catalog_and_the_engines(dist):
    names = zipfile.ZipFile(next(dist.glob("*.whl"))).namelist()
    for part in (
        "foldnote/catalog/tools/abodybuilder.json",
        "foldnote/results/metrics/metrics.toml",
        "foldnote/service/engines/abodybuilder2/engine.toml",
        "foldnote/service/engines/anarci/run.py",
        "foldnote/static/3Dmol-min.js",
        "foldnote/static/openchemlib.js",
        "foldnote/static/viewer-scripts.json",
        "foldnote/static/view-script.js",
        "foldnote/forms/molecule_editor.js",
        "foldnote/forms/molecule_editor.css",
        "data/share/jupyter/labextensions/foldnote/package.json",
        "data/share/jupyter/labextensions/foldnote/install.json",
        "data/etc/jupyter/jupyter_server_config.d/foldnote.json",
    ):
        assert any(name.endswith(part) for name in names), part


def test_the_wheel_and_the_sdist_carry_the_licences_of_the_bundled_javascript(dist):
    wheel = zipfile.ZipFile(next(dist.glob("*.whl")))
    with tarfile.open(next(dist.glob("*.tar.gz"))) as sdist:
        sources = sdist.getnames()
    beside = wheel.read("foldnote/static/3Dmol-min.js.LICENSE.txt").decode()
    (place,) = [name for name in wheel.namelist() if name.endswith("static/third-party-licenses.json")]
    listed = {each["name"]: each["extractedText"] for each in json.loads(wheel.read(place))["packages"]}
    for package in ("3dmol", "pako", "upng-js", "iobuffer", "netcdfjs"):
        assert f"\n{package} " in beside
        assert listed[package].strip() in beside
    for words in (
        "University of Pittsburgh",
        "GLmol",
        "three.js Authors",
        "Alexander S. Rose",
        "EDTSurf",
        "mol*",
    ):
        assert words in beside
    editor = wheel.read("foldnote/static/openchemlib.js.LICENSE.txt").decode()
    for words in ("Copyright (c) 2015-2017, cheminfo", "Actelion Pharmaceuticals", "Apache License"):
        assert words in editor
    assert listed["openchemlib"].strip() in editor
    for text in listed.values():
        assert "permission" in text.lower() or "redistribution" in text.lower()
    assert {"react", "css-loader", "style-loader"} <= set(listed)
    for name in (
        "static/3Dmol-min.js.LICENSE.txt",
        "static/openchemlib.js.LICENSE.txt",
        "labextension/static/third-party-licenses.json",
    ):
        assert any(source.endswith(name) for source in sources), name
    for name in ("catalog/examples/README.md", "engines/vina/lock.txt"):
        assert any(part.endswith(name) for part in wheel.namelist()), name


def test_the_bill_of_materials_has_what_is_bundled_with_its_licences(dist):
    release = runpy.run_path(str(ROOT / "scripts" / "release.py"))
    bill = release["list_contents"](next(dist.glob("*.whl")))
    assert (bill["bomFormat"], bill["metadata"]["component"]["name"]) == ("CycloneDX", "foldnote")
    inside = {each["name"]: each for each in bill["components"] if each["scope"] == "required"}
    assert inside["3dmol"]["purl"].startswith("pkg:npm/3dmol@")
    assert "University of Pittsburgh" in inside["3dmol"]["licenses"][0]["license"]["text"]["content"]
    beside = [each["name"] for each in bill["components"] if each["scope"] == "excluded"]
    assert any(name.startswith("jupyterlab>=") for name in beside)
    assert not any(name.startswith("pytest") for name in beside)


def test_the_wheel_holds_the_front_end_once(dist):
    names = zipfile.ZipFile(next(dist.glob("*.whl"))).namelist()
    for part in ("/package.json", "static/style.js", "/plugin.json", "3Dmol-min.js", "openchemlib.js"):
        assert sum(name.endswith(part) for name in names) == 1, part


def test_jupyter_accepts_both_extensions(clean_python):
    pages = jupyter(clean_python, "labextension", "list")
    assert re.search(r"foldnote v\S+ \S*enabled\S* \S*OK", pages), pages
    servers = jupyter(clean_python, "server", "extension", "list")
    assert re.search(r"foldnote \S*enabled", servers), servers
    assert re.search(r"foldnote \S+ \S*OK", servers), servers


def test_the_command_line_answers(clean_python):
    assert run(clean_python.parent / "foldnote", "--version").strip().endswith("0.1.0")


def test_what_was_installed_works(clean_python, tmp_path):
    """The embedded service starts from the wheel, and a form is built with all its requirements."""
    script = tmp_path / "smoke.py"
    script.write_text(
        "import os, signal\n"
        "import foldnote as fn\n"
        "from foldnote import settings\n"
        "from foldnote.models import read_runtime\n"
        "from foldnote.viewers.render.library import read_library\n"
        "tools = fn.tools()\n"
        "form = fn.form('abodybuilder', heavy='EVQLVESGG')\n"
        "assert '3dmol' in read_library().lower()\n"
        "print(len(tools), form.value, [problem.field for problem in form.problems])\n"
        "os.kill(read_runtime(settings.runtime_dir()).pid, signal.SIGTERM)\n"
    )
    environment = {**os.environ, "FOLDNOTE_HOME": str(tmp_path / "home")}
    printed = run(clean_python, script, env=environment, cwd=tmp_path)
    assert printed.strip().splitlines()[-1] == f"{len(catalog.tools())} {{'heavy': 'EVQLVESGG'}} ['light']"


def test_the_core_is_light(clean_python, tmp_path):
    """At most 120 MB beyond JupyterLab, pandas, numpy and RDKit, 350 MB with RDKit; plots are an extra."""
    script = tmp_path / "size.py"
    script.write_text(
        "import importlib.metadata as m, os, re\n"
        "from packaging.requirements import Requirement\n"
        "def closure(name, seen):\n"
        "    key = re.sub(r'[-_.]+', '-', name).lower()\n"
        "    if key in seen: return seen\n"
        "    try: found = m.distribution(name)\n"
        "    except m.PackageNotFoundError: return seen\n"
        "    seen.add(key)\n"
        "    for text in found.requires or []:\n"
        "        need = Requirement(text)\n"
        "        if need.marker is None or need.marker.evaluate({'extra': ''}): closure(need.name, seen)\n"
        "    return seen\n"
        "def measure(names):\n"
        "    paths = [p.locate() for name in names for p in m.distribution(name).files]\n"
        "    return sum(os.path.getsize(p) for p in paths if os.path.exists(p))\n"
        "there = set()\n"
        "for name in ('jupyterlab', 'pandas', 'numpy'): closure(name, there)\n"
        "own = closure('foldnote', set()) - there\n"
        "print(len(own), measure(own), measure(own - closure('rdkit', set())))\n"
    )
    count, size, light = map(int, run(clean_python, script).split())
    assert count > 10
    assert light < 120_000_000, f"{light / 1e6:.0f} MB in {count} distributions"
    assert size < 350_000_000, f"{size / 1e6:.0f} MB in {count} distributions"


def test_the_client_alone_needs_five_packages_and_theirs(bare, tmp_path):
    """A bare environment submits a job, waits for it and fetches its result."""
    script = tmp_path / "alone.py"
    script.write_text(
        "import sys, foldnote.client\n"
        "from importlib import metadata as m\n"
        "homes = m.packages_distributions()\n"
        "loaded = {name for part in set(sys.modules) for name in homes.get(part.partition('.')[0], ())}\n"
        "client = foldnote.client.Client(base_url=sys.argv[1], api_key=sys.argv[2])\n"
        "settings = {'sequence': sys.argv[3], 'scheme': 'imgt'}\n"
        "job = client.jobs.submit('anarci', settings, job_name='alone.output-1').wait()\n"
        "assert client.jobs.list()[0].job_name == job.job_name and job.download().stat().st_size\n"
        "print(len(loaded - {'foldnote'}), len({found.name for found in m.distributions()} - {'foldnote'}))\n"
    )
    service = Served(tmp_path)
    try:
        home = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        home["FOLDNOTE_HOME"] = str(tmp_path / "home")
        command = (bare[0] / "bin" / "python", script, service.url, service.key, SEQUENCE)
        imported, installed = map(int, run(*command, env=home, cwd=tmp_path).split())
    finally:
        service.close()
    assert imported <= 10
    assert installed <= 14  # of which httpx and pydantic with their requirements are 11


def test_no_file_is_left_when_it_is_uninstalled(bare):
    """Nor compiled files from its use in the test above."""
    folder, before = bare
    python = folder / "bin" / "python"
    assert "etc/jupyter/jupyter_server_config.d/foldnote.json" in list_files(folder)
    run(python, "-c", "import foldnote.client")
    assert any("foldnote/client/__pycache__" in name for name in list_files(folder))
    run(*pip(python), "uninstall", "--quiet", "--yes", "foldnote")
    left = list_files(folder)
    assert before <= left
    assert [name for name in left - before if "__pycache__" not in name or "foldnote" in name] == []


def test_the_sdist_has_what_its_wheel_would_need_node_for(dist):
    with tarfile.open(next(dist.glob("*.tar.gz"))) as archive:
        assert any(name.endswith("src/foldnote/static/3Dmol-min.js") for name in archive.getnames())
