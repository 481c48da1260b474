"""Files named in the recipes of CONTRIBUTING.md exist, and adding a job's field needs only those that its recipe names."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from probe_engine import write_probe_engine

ROOT = Path(__file__).parent.parent
SECTIONS = dict(
    re.findall(r"^## (.+)\n((?:(?!## ).*\n)+)", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE)
)
RECIPES = {title: text for title, text in SECTIONS.items() if title.startswith("Add a")}
KINDS = {"job field", "tool", "engine", "viewer", "form field", "panel"}
MAX_FILES = 4

MIGRATION = """

@migration
def m9999_cores(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE jobs ADD COLUMN cores INTEGER")
"""
FIELD = {
    "src/foldnote/models/job.py": (
        "    error: str | None = None\n",
        "    cores: int | None = None\n",
    ),
    "src/foldnote/service/store/schema.py": (
        '    sa.Column("weighted_hours", sa.Float, info=MEASURED),\n',
        '    sa.Column("cores", sa.Integer, info=MEASURED),\n',
    ),
    "src/foldnote/service/store/migrations.py": ("", MIGRATION),
    "src/foldnote/service/queue/outcomes.py": (
        '            "weighted_hours": weighted_hours(',
        '            "cores": cores,\n',
    ),
}
"""The recipe for a job's field, carried out for one field: each line is written before this text; empty for the end."""

RUN = """
import json, sys, time
from pathlib import Path
from fastapi.testclient import TestClient
from foldnote.client import Client
from foldnote.service.config import ServiceConfig
from foldnote.service.http.app import create_app

folder, settings = Path(sys.argv[1]), json.loads(sys.argv[2])
config = ServiceConfig(data_dir=folder / "data", rate_limit=False, engine_paths=(folder / "engines",))
with TestClient(create_app(config)) as http:
    client = Client(base_url="http://testserver", api_key=http.app.state.service.local_key, http_client=http)
    job = client.jobs.submit("anarci", settings, job_name="counted").wait()
    print(json.dumps([job.record.cores, job.record.to_wire()["cores"]]))
"""


def list_files(text):
    """Return the paths in backticks; `<name>` and `*` match any name."""
    return [
        path for path in re.findall(r"`([\w./<>*-]+/[\w./<>*-]*)`", text) if not path.startswith(("/", "."))
    ]


def test_each_thing_that_can_be_added_has_a_recipe():
    assert {re.sub(r"Add an? ", "", title) for title in RECIPES} == KINDS


@pytest.mark.parametrize("title", RECIPES)
def test_a_recipe_names_files_that_exist(title):
    files = list_files(RECIPES[title])
    missing = [path for path in files if not any(ROOT.glob(re.sub("<[^>]+>", "*", path).rstrip("/")))]
    assert files
    assert missing == []


def test_a_job_s_field_needs_the_files_that_the_recipe_names_and_no_others(tmp_path):
    steps = [line for line in RECIPES["Add a job field"].splitlines() if re.match(r"\d\. ", line)]
    assert [path for step in steps for path in list_files(step)] == list(FIELD)
    assert len(FIELD) <= MAX_FILES

    skipped = shutil.ignore_patterns("labextension", "static", "__pycache__")
    shutil.copytree(ROOT / "src/foldnote", tmp_path / "src/foldnote", ignore=skipped)
    for name, (anchor, line) in FIELD.items():
        path = tmp_path / name
        text = path.read_text()
        assert not anchor or text.count(anchor) == 1, f"{name} does not have exactly one {anchor!r}"
        path.write_text(text.replace(anchor, line + anchor) if anchor else text + line)
    write_probe_engine(tmp_path / "engines", tools=("anarci",), cores=1, memory_mb=16)
    settings = {
        "sequence": "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVARIYPTNGYTRYADSVKG",
        "scheme": "imgt",
    }
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(tmp_path / 'src')!r})\n{RUN}", str(tmp_path),
         json.dumps(settings)],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == [1, 1]
