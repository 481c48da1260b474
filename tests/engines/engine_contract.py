"""The contract of engines; each engine's test file inherits it and supplies a run.

A subclass is named after the engine and has a fixture ``run``: the folder of outputs of one successful run. All other
runs use the example of the tool's catalog entry.
"""

import json
import re
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest
from odd_inputs import LONG, list_odd_inputs
from real_engine import (
    find_processes,
    find_strays,
    load_engines,
    make_settings,
    prepare_run,
    run_engine,
    run_tool,
    start_runner,
)

from foldnote import catalog
from foldnote.service.runner.attempt import PROGRESS, Outcome, request_cancel

PROGRAMS_WORDS = ("exit code", "Traceback", "Error:", "was ended by", "was killed", "Its last line", "/")
"""Text in messages of the program itself, which messages of an engine do not have."""
PATIENCE_S = 60.0


def read_manifest(outputs):
    """Return the manifest of the attempt to which the folder of outputs belongs."""
    with zipfile.ZipFile(outputs.parents[1] / "result.zip") as archive:
        return json.loads(archive.read("manifest.json"))


def read_outputs(outputs):
    """Return the content of every file of a result, and its figures."""
    contents = {
        str(path.relative_to(outputs)): path.read_bytes() for path in outputs.rglob("*") if path.is_file()
    }
    score = outputs.parent / "score.json"
    return contents | {"score.json": score.read_bytes() if score.exists() else b""}


class EngineContract:
    """Tests of a run, of the example of a tool, and of odd inputs in its place."""

    engine: str
    needs_seed: bool
    tool = ""
    """The tool whose example is run; the engine's first one if empty."""
    long_setting = ""
    """The setting whose long value makes a run last long enough to be killed; empty where the example lasts long enough."""
    rare_odd_inputs = ()
    """Odd inputs (setting, hyphen, oddity) whose runs take long; only exhaustive tests use them."""
    short: Mapping[str, object] = MappingProxyType({})
    """Settings that shorten a run with an odd input, such as fewer samples."""
    bearable: Mapping[str, object] = MappingProxyType({})
    """Settings that shorten the run of an example which would take days."""
    unrepeatable = ()
    """Files that differ from run to run, each with the reason in a comment of the subclass."""

    @classmethod
    def served(cls):
        return cls.tool or load_engines()[cls.engine].tools[0]

    def pytest_generate_tests(self, metafunc):
        """Make each odd input of the tool a separate test."""
        if "odd" not in metafunc.fixturenames:
            return
        rows = [
            pytest.param(
                odd,
                id=odd.name,
                marks=() if odd.is_told and odd.name not in self.rare_odd_inputs else pytest.mark.exhaustive,
            )
            for odd in list_odd_inputs(self.served())
        ]
        assert rows, f"{self.served()} has no input for which odd values exist"
        metafunc.parametrize("odd", rows)

    def start(self, folder, time_limit_s=None):
        """Start a run of the example."""
        engine = load_engines()[self.engine]
        is_long = (self.long_setting, f"{LONG} letters")
        longer = {odd.setting: odd.value for odd in list_odd_inputs(self.served()) if odd[:2] == is_long}
        settings, texts = make_settings(self.served(), **longer)
        spec = prepare_run(engine, folder, settings, 7, texts, self.served(), time_limit_s=time_limit_s)
        return spec, start_runner(spec)

    def test_the_engine_serves_tools_of_the_catalog_and_tells_their_files(self):
        engine = load_engines()[self.engine]
        assert set(engine.tools) <= set(catalog.tools())
        assert all(engine.outputs.get(tool) for tool in engine.tools)

    def test_the_manifest_has_the_seed_that_the_engine_says_it_used(self, run):
        job, used = read_manifest(run)["job"], json.loads((run.parent / "used.json").read_text())
        assert job["seed"] == used["seed"]
        assert (job["seed"] is not None) == self.needs_seed
        assert (job["seedNote"] is None) == self.needs_seed
        assert (job["seedOffered"] is not None) == self.needs_seed

    def test_the_manifest_has_every_setting_as_it_was_used(self, run):
        given = json.loads((run.parent / "job.json").read_text())["settings"]
        used = json.loads((run.parent / "used.json").read_text())["settings"]
        assert read_manifest(run)["settings"] == given | used

    def test_a_setting_that_the_engine_never_reads_is_reported_as_ignored(self, run):
        engine = load_engines()[self.engine]
        folders = [engine.folder, *(engine.folder / name for name in engine.environment.modules)]
        program = "".join(path.read_text() for folder in folders for path in folder.glob("*.py"))
        ignored = read_manifest(run)["settingsIgnored"]
        for tool in engine.tools:
            for setting in catalog.tool(tool).settings_schema["properties"]:
                assert (f'"{setting}"' in program) != (setting in ignored), setting

    def test_the_manifest_has_the_packages_that_ran(self, run):
        engine, told = load_engines()[self.engine].for_tool(self.served()), read_manifest(run)["engine"]
        assert (told["name"], told["method"], told["version"]) == (engine.name, engine.method, engine.version)
        assert told["packages"]

    def test_a_run_leaves_nothing_outside_of_its_folder(self, run):
        assert find_strays(load_engines()[self.engine], run) == []

    def test_the_same_seed_gives_the_same_result(self, run, tmp_path):
        job = json.loads((run.parent / "job.json").read_text())
        texts = {
            name: [(run.parent / place).read_text() for place in places]
            for name, places in job["files"].items()
        }
        outcome, again = run_engine(self.engine, tmp_path, job["settings"], job["seed"], texts, job["type"])
        assert outcome.state == "succeeded", outcome.error
        first, second = read_outputs(run), read_outputs(again)
        assert first.keys() == second.keys()
        differing = {name for name, content in first.items() if second[name] != content}
        assert differing == set(self.unrepeatable)

    def test_the_example_runs(self, tmp_path):
        outcome, outputs = run_tool(self.engine, self.served(), tmp_path, **self.bearable)
        assert outcome.state == "succeeded", outcome.error
        assert find_damage(outputs) == []
        assert find_strays(load_engines()[self.engine], outputs) == []

    def test_a_run_that_is_cancelled_leaves_no_process(self, tmp_path):
        spec, runner = self.start(tmp_path)
        with runner:
            deadline = time.monotonic() + PATIENCE_S
            while not (spec.folder / PROGRESS).exists() and time.monotonic() < deadline:
                time.sleep(0.01)
            request_cancel(spec.folder)
        assert Outcome.read(spec.folder).state == "stopped"
        assert list(find_processes(spec)) == []

    def test_a_run_that_takes_too_long_is_ended_and_leaves_no_process(self, tmp_path):
        spec, runner = self.start(tmp_path, time_limit_s=0.1)
        with runner:
            pass
        outcome = Outcome.read(spec.folder)
        assert outcome.state == "timed_out", outcome
        assert "was ended at its time limit" in outcome.error
        assert list(find_processes(spec)) == []

    def test_an_odd_input_gives_a_result_or_a_plain_sentence(self, tmp_path, odd):
        outcome, outputs = run_tool(
            self.engine, self.served(), tmp_path, **{**self.short, odd.setting: odd.value}
        )
        if outcome.state == "failed":
            # here the second of several files is pdbFiles_2
            first = re.sub(r"(_\d+)?:?$", "", outcome.error.split()[0])
            assert (
                first[0].isupper()
                or first[0].isdigit()
                or first in catalog.tool(self.served()).settings_schema["properties"]
            )
            assert outcome.error.endswith((".", ")")), outcome.error
            assert [word for word in PROGRAMS_WORDS if word in outcome.error] == []
            return
        assert outcome.state == "succeeded", outcome.error
        assert find_damage(outputs) == []


def find_damage(outputs: Path) -> list[str]:
    """Return the names of tables, sequences and figures of a result that are empty or not finite."""
    contents = {name: text.decode("utf-8", "replace") for name, text in read_outputs(outputs).items()}
    return [
        name
        for name, text in contents.items()
        if (name.endswith((".csv", ".pdb", ".cif", ".fasta")) and not text.strip())
        or (name == "score.json" and re.search(r"NaN|Infinity", text))
    ]
