"""Files named in CONTRIBUTING.md and the pages for contributors exist, folders in which its recipes add modules have room,
and adding a job's field needs only the files that its recipe names.
"""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from probe_engine import write_probe_engine

ROOT = Path(__file__).parent.parent
SECTIONS = dict(
    re.findall(r"^## (.+)\n((?:(?!## ).*\n)+)", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE)
)
RECIPES = {title: text for title, text in SECTIONS.items() if title.startswith(("Add a", "Read another"))}
TITLES = {
    "Add a job field",
    "Add a tool",
    "Add an engine",
    "Add a viewer",
    "Add a form field",
    "Add a panel",
    "Read another program's results",
}
PAGES = ("CONTRIBUTING.md", "docs/architecture.md", "docs/bundled_engines.md", "docs/testing.md")
PARENTS = (".", "src/foldnote", "src/foldnote/forms", "src/foldnote/results")
"""Folders in which a path of these pages may begin."""
WRITTEN_LATER = {"outputs/", "dist/", "build/site/index.html", "dist/SHA256SUMS", "OPTION/PATTERN"}
"""Paths of these pages that a run or a build writes."""
MAX_FILES = 4
MAX_RUNNER_FILES = 7
MAX_MODULES = 18
"""As in `test_architecture.py`."""

MIGRATION = """

@migration
def m9999_{name}(connection: RawConnection) -> None:
    connection.execute("ALTER TABLE jobs ADD COLUMN {name} {sql}")
"""


def list_edits(name, annotation, column, sql, value):
    """Return the recipe's first four steps for a field: by file, the text before which a line is written, and the line.

    The text is empty for the end of a file.
    """
    return {
        "src/foldnote/models/job.py": (
            "    error: str | None = None\n",
            f"    {name}: {annotation} | None = None\n",
        ),
        "src/foldnote/service/store/schema.py": (
            '    sa.Column("weighted_hours", sa.Float, info=MEASURED),\n',
            f'    sa.Column("{name}", {column}, info=MEASURED),\n',
        ),
        "src/foldnote/service/store/migrations.py": ("", MIGRATION.format(name=name, sql=sql)),
        "src/foldnote/service/queue/outcomes.py": (
            '            "weighted_hours": weighted_hours(',
            f'            "{name}": {value},\n',
        ),
    }


CORES = list_edits("cores", "int", "sa.Integer", "INTEGER", "cores")
"""A field whose value the service knows."""
HOSTNAME = {
    **list_edits("hostname", "str", "sa.Text", "TEXT", "outcome.hostname"),
    "src/foldnote/service/runner/attempt.py": (
        "    is_input_refused: bool = False\n",
        "    hostname: str | None = None\n",
    ),
    "src/foldnote/service/runner/runner.py": (
        "        cpu_seconds=round(usage.cpu_seconds, 3) if usage else None,\n",
        "        hostname=socket.gethostname(),\n",
    ),
    "src/foldnote/service/http/routes/nodes.py": (
        "    is_input_refused: bool = False\n",
        "    hostname: Sentence | None = None\n",
    ),
}
"""A field whose value only the runner knows."""

RUN = """
import json, sys
from dataclasses import asdict
from pathlib import Path
from fastapi.testclient import TestClient
from foldnote.client import Client
from foldnote.service.config import ServiceConfig
from foldnote.service.http.app import create_app
from foldnote.service.http.routes.nodes import OutcomeBody
from foldnote.service.runner.attempt import Outcome

folder, settings, field = Path(sys.argv[1]), json.loads(sys.argv[2]), sys.argv[3]
OutcomeBody(**asdict(Outcome("stopped", nonce="n")))
config = ServiceConfig(data_dir=folder / "data", rate_limit=False, engine_paths=(folder / "engines",))
with TestClient(create_app(config)) as http:
    client = Client(base_url="http://testserver", api_key=http.app.state.service.local_key, http_client=http)
    job = client.jobs.submit("anarci", settings, job_name="counted").wait()
    print(json.dumps([getattr(job.record, field), job.record.to_wire()[field]]))
"""


def list_files(text):
    """Return the paths in backticks; `<name>` and `*` match any name."""
    return [
        path for path in re.findall(r"`([\w./<>*-]+/[\w./<>*-]*)`", text) if not path.startswith(("/", "."))
    ]


def find_path(path):
    """Return the first file, folder or module of the repository that a path means, or None."""
    pattern = re.sub("<[^>]+>", "*", path).rstrip("/")
    patterns = (pattern, f"{pattern}.py")
    return next(
        (found for parent in PARENTS for each in patterns for found in (ROOT / parent).glob(each)), None
    )


def test_each_thing_that_can_be_added_has_a_recipe():
    assert RECIPES.keys() == TITLES


@pytest.mark.parametrize("title", RECIPES)
def test_a_recipe_names_files(title):
    assert list_files(RECIPES[title])


@pytest.mark.parametrize("page", PAGES)
def test_a_page_for_contributors_names_files_that_exist(page):
    files = set(list_files((ROOT / page).read_text())) - WRITTEN_LATER
    assert [path for path in sorted(files) if find_path(path) is None] == []


@pytest.mark.parametrize("title", RECIPES)
def test_a_folder_in_which_a_recipe_adds_a_module_has_room_for_it(title):
    places = [path for path in list_files(RECIPES[title]) if path.startswith(("src/", "labextension/src/"))]
    added = [find_path(path) for path in places if path.endswith("/") or re.search(r"/<\w+>\w*\.py$", path)]
    folders = {place if place.is_dir() else place.parent for place in added}
    modules = {
        str(folder.relative_to(ROOT)): len(
            [path for path in folder.iterdir() if re.search(r"(?<!__init__)\.(py|tsx?)$", path.name)]
        )
        for folder in folders
    }
    assert {folder: number for folder, number in modules.items() if number >= MAX_MODULES} == {}


def test_a_field_that_the_service_knows_needs_four_files():
    assert list_step_files(range(1, 5)) == list(CORES)
    assert len(CORES) <= MAX_FILES


def test_a_field_that_only_the_runner_knows_needs_three_more():
    assert list_step_files(range(1, 8)) == list(HOSTNAME)
    assert len(HOSTNAME) <= MAX_RUNNER_FILES


def list_step_files(numbers):
    """Return the files of numbered steps of the recipe for a job's field."""
    steps = dict(re.findall(r"^(\d)\. (.*(?:\n {3}.*)*)", RECIPES["Add a job field"], re.M))
    return [path for number in numbers for path in list_files(steps[str(number)])]


@pytest.mark.parametrize(
    ("name", "edits", "value"),
    [("cores", CORES, 1), ("hostname", HOSTNAME, socket.gethostname())],
    ids=["cores", "hostname"],
)
def test_a_job_s_field_needs_the_files_that_the_recipe_names_and_no_others(tmp_path, name, edits, value):
    skipped = shutil.ignore_patterns("labextension", "static", "__pycache__")
    shutil.copytree(ROOT / "src/foldnote", tmp_path / "src/foldnote", ignore=skipped)
    for place, (anchor, line) in edits.items():
        path = tmp_path / place
        text = path.read_text()
        assert not anchor or text.count(anchor) == 1, f"{place} does not have exactly one {anchor!r}"
        path.write_text(text.replace(anchor, line + anchor) if anchor else text + line)
    write_probe_engine(tmp_path / "engines", tools=("anarci",), cores=1, memory_mb=16)
    settings = {
        "sequence": "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVARIYPTNGYTRYADSVKG",
        "scheme": "imgt",
    }
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(tmp_path), json.dumps(settings), name],
        env={**os.environ, "PYTHONPATH": str(tmp_path / "src")},  # for the processes of the runner, too
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == [value, value]
