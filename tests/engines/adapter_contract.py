"""The contract of adapters; each adapter's test file inherits it and supplies its own settings.

An adapter runs through a real service, with a stand-in in place of the lab's program: a small script that parses
its arguments as strictly as the program does, checks its input files, and writes files in the program's own layout.
"""

import io
import itertools
import json
import re
import shutil
import sys
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from real_engine import load_engines

from foldnote import catalog, settings
from foldnote.client import Client
from foldnote.io import write_atomically
from foldnote.service.config import ServiceConfig
from foldnote.service.http.app import create_app

STANDINS = Path(__file__).parent / "standins"
PATIENCE_S = 20.0
FINAL = ("Complete", "Stopped")
_numbers = itertools.count(1)


@dataclass
class AdapterRun:
    """A job that has ended."""

    job: dict
    log: str
    files: dict[str, bytes]

    def arguments(self, name="arguments"):
        """Return the arguments of each call of the stand-in."""
        return [json.loads(each) for each in re.findall(rf"^{name.upper()} (\[.*\])$", self.log, re.M)]

    def text(self, name):
        """Return the text of a result file."""
        return self.files[name].decode()

    @property
    def manifest(self):
        return json.loads(self.files["manifest.json"])


class AdapterLab:
    """A service, and the programs that its lab has."""

    def __init__(self, folder):
        self.folder = folder
        self._http = TestClient(create_app(ServiceConfig(data_dir=folder / "data", rate_limit=False)))

    def __enter__(self):
        self._http.__enter__()
        self._http.headers["x-api-key"] = self._http.app.state.service.local_key
        self.client = Client(
            base_url="http://testserver", api_key=self._http.headers["x-api-key"], http_client=self._http
        )
        return self

    def __exit__(self, *exc):
        self._http.__exit__(*exc)

    def set_up(self, name, folders=("folder",), behaviour=""):
        """Copy the stand-in for the program ``name``; return its folder."""
        place = self.folder / f"{name}-{next(_numbers)}"
        shutil.copytree(STANDINS / name, place)
        shutil.copy(STANDINS / "standin.py", place)
        (place / "behaviour").write_text(behaviour)
        return place

    def configure(self, engine, **options):
        """Write the section of ``engine`` into ``config.toml``, replacing all other configuration."""
        rows = "".join(f"{name} = {json.dumps(value)}\n" for name, value in options.items())
        write_atomically(settings.config_dir() / "config.toml", f"[engines.{engine}]\n{rows}" if rows else "")

    def submit(self, tool, given, beside=None):
        """Submit a job of ``tool`` with exactly these settings; return the service's response."""
        body = {"jobName": f"job{next(_numbers)}", "type": tool, "settings": given}
        return self._http.post("/submit-job", json=body | ({"foldnote": beside} if beside else {})), body[
            "jobName"
        ]

    def run(self, tool, given, beside=None):
        """Run a job of ``tool`` with these settings to its end."""
        answer, name = self.submit(tool, given, beside)
        assert answer.status_code == 200, answer.text
        until = time.monotonic() + PATIENCE_S
        while (job := self.job(name))["status"] not in FINAL:
            assert time.monotonic() < until, job
            time.sleep(0.02)
        log = self._http.get(f"/jobs/{name}/log").json()["log"]
        files = {}
        if job["status"] == "Complete":
            content = self.client.jobs.get(name).download().read_bytes()
            archive = zipfile.ZipFile(io.BytesIO(content))
            files = {each: archive.read(each) for each in archive.namelist()}
        return AdapterRun(job, log, files)

    def job(self, name):
        return self._http.get("/jobs", params={"jobName": name}).json()

    def cancel(self, name):
        answer = self._http.post("/stop-job", json={"jobName": name})
        assert answer.status_code == 200, answer.text


class AdapterContract:
    """Tests of the tool's example, and of a program that is missing or misbehaves."""

    engine: str
    tool: str
    beside = None
    """Attributes of the example other than its settings."""

    def options(self, place):
        """Return the options that the lab sets for a stand-in in the folder ``place``."""
        return {"folder": str(place), "python": sys.executable}

    def example(self, **changed):
        """Return the settings of a job that the adapter runs; None leaves a setting out."""
        given = catalog.tool(self.tool).example_job["settings"] | changed
        return {name: value for name, value in given.items() if value is not None}

    @pytest.fixture
    def configure(self, lab):
        """Set up a stand-in and configure the adapter for it, with some options changed; return its folder."""

        def set_up(behaviour="", **changed):
            place = lab.set_up(self.engine, behaviour=behaviour)
            options = self.options(place) | changed
            lab.configure(
                self.engine, **{name: value for name, value in options.items() if value is not None}
            )
            return place

        return set_up

    @pytest.fixture
    def run(self, lab, configure):
        """Run a job with a well-behaved stand-in and some settings changed; it must succeed."""
        configure()

        def run(beside=self.beside, **changed):
            done = lab.run(self.tool, self.example(**changed), beside)
            assert done.job["status"] == "Complete", (done.job.get("error"), done.log)
            return done

        return run

    def refuse(self, lab, beside=None, **changed):
        """Return the message with which a job is refused before it is queued."""
        answer, _ = lab.submit(self.tool, self.example(**changed), beside or self.beside)
        assert answer.status_code == 400, answer.text
        return answer.json()["error"]

    def fail(self, lab, **changed):
        """Return the message with which a job fails."""
        done = lab.run(self.tool, self.example(**changed), self.beside)
        assert done.job["status"] == "Stopped", done.job
        assert "Traceback" not in done.job["error"], done.log
        return done.job["error"]

    def test_it_is_an_adapter_and_says_what_it_is(self):
        engine = load_engines()[self.engine]
        assert (engine.kind, engine.environment.kind) == ("adapter", "host")
        assert all(engine.outputs.get(tool) for tool in engine.tools)
        assert all((engine.note, engine.licence, engine.licence_note, engine.citation, engine.homepage))

    def test_an_adapter_that_is_not_configured_names_what_to_set(self, lab):
        lab.configure(self.engine)
        error = self.refuse(lab)
        assert f"[engines.{self.engine}] of config.toml" in error
        for option in load_engines()[self.engine].options:
            assert (f"{option.name} ({option.help})" in error) == option.is_needed, error

    def test_a_path_that_is_wrong_is_reported_before_a_job_is_queued(self, lab, configure, tmp_path):
        configure(folder=str(tmp_path))
        assert "folder is " in self.refuse(lab)
        configure(python=str(tmp_path / "python"))
        assert "which does not exist" in self.refuse(lab)
        configure(colour="red")
        assert "it has no option colour" in self.refuse(lab)

    def test_the_example_runs_and_says_by_what(self, run):
        done = run()
        manifest = done.manifest
        assert manifest["engine"]["kind"] == "adapter"
        assert any("your own copy" in note for note in manifest["notes"]), manifest
        for told in load_engines()[self.engine].outputs[self.tool]:
            name = told.partition(":")[0].split("_*")[0].split("*")[0]
            assert any(each.startswith(name) for each in done.files), (name, sorted(done.files))
        program = "".join(path.read_text() for path in load_engines()[self.engine].folder.glob("*.py"))
        for name in catalog.tool(self.tool).settings_schema["properties"]:
            assert f'"{name}"' in program or name in manifest["settingsIgnored"], name

    def test_a_program_that_fails_midway_ends_the_job_with_its_reason(self, lab, configure):
        configure("fail")
        error = self.fail(lab)
        assert "exit code 1. The GPU's memory was not enough" in error
        assert "Its last line: RuntimeError: CUDA out of memory" in error

    def test_a_program_that_writes_nothing_has_failed(self, lab, configure):
        configure("silent")
        assert "ended without an error, but wrote no" in self.fail(lab)

    def test_cancelling_a_job_ends_the_program(self, lab, configure):
        place = configure("sleep")
        answer, name = lab.submit(self.tool, self.example(), self.beside)
        assert answer.status_code == 200, answer.text
        wait_until((place / "asleep").exists)
        lab.cancel(name)
        wait_until(lambda: lab.job(name)["status"] == "Stopped")
        assert find_processes(place) == []


def wait_until(is_so):
    """Wait until a condition is true."""
    until = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.02)


def find_processes(folder):
    """Return the processes with the folder of a stand-in among their arguments or variables."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            words = (path / "cmdline").read_bytes() + (path / "environ").read_bytes()
        except OSError:
            continue
        if str(folder).encode() + b"/" in words:
            found.append(path)
    return found
