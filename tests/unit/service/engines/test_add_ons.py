"""An add-on is offered to its engine, whose manifest says whether it was used."""

import io
import json
import sys

import pytest
from probe_engine import write_probe_engine

from foldnote.errors import EngineError
from foldnote.service.engines import build_attempt, load_engines
from foldnote.service.engines.command import list_tools, run_list
from foldnote.service.engines.launch import ADD_ONS, needed_resources
from foldnote.service.queue.executors.protocol import Capacity
from foldnote.service.queue.launching import required_capacity
from foldnote.service.runner.manifest import Used


def write_pair(folder, more=""):
    """Write an engine and its add-on, which needs more memory; return both."""
    write_probe_engine(folder, memory_mb=300)
    write_probe_engine(folder, (), "extra", memory_mb=900, time_limit_s=7)
    path = folder / "extra" / "engine.toml"
    path.write_text(f'adds_to = ["probe"]\n{more}{path.read_text()}')
    engines = load_engines([folder])
    return engines["probe"], engines["extra"]


def build(engine, tmp_path):
    return build_attempt(
        engine, attempt_dir=tmp_path / "a", nonce="n", job_name="j", tool="anarci", settings={}
    )


def test_an_engine_knows_its_add_ons(tmp_path):
    engine, add_on = write_pair(tmp_path)
    assert [each.name for each in engine.add_ons] == ["extra"]
    assert add_on.add_ons == ()
    assert [each.name for each in load_engines()["vina"].add_ons] == ["gnina"]


def test_a_run_is_offered_the_command_of_an_installed_add_on(tmp_path):
    engine, add_on = write_pair(tmp_path)
    offered = json.loads(build(engine, tmp_path).environment[ADD_ONS])
    assert offered["extra"] == {
        "method": "Probe of the tests",
        "version": "1",
        "command": [sys.executable, "-u", str(add_on.folder / "run.py")],
        "timeLimitS": 7,
        "reason": None,
    }


def test_a_run_learns_why_an_add_on_cannot_run(tmp_path):
    engine, _ = write_pair(tmp_path)
    path = tmp_path / "extra" / "engine.toml"
    need = "kind = 'host'\nsystem = [{command = 'no-such-prog'}]"
    path.write_text(path.read_text().replace("kind = 'host'", need))
    engine = load_engines([tmp_path])["probe"]
    offered = json.loads(build(engine, tmp_path).environment[ADD_ONS])["extra"]
    assert offered["command"] is None
    assert "no-such-prog" in offered["reason"]
    assert needed_resources(engine).memory_mb == 300


def test_an_engine_without_add_ons_gets_none(tmp_path):
    engine = load_engines([write_probe_engine(tmp_path)])["probe"]
    spec = build(engine, tmp_path)
    assert ADD_ONS not in spec.environment
    assert "addOns" not in spec.engine


def test_memory_is_reserved_for_the_larger_of_engine_and_add_on(tmp_path):
    engine, _ = write_pair(tmp_path)
    assert build(engine, tmp_path).memory_mb == 900
    assert required_capacity(engine, Capacity(8, 16_000)).memory_mb == 900


def test_the_manifest_says_of_each_add_on_whether_it_was_used(tmp_path):
    engine = build(write_pair(tmp_path)[0], tmp_path).engine
    told = Used(add_ons={"extra": {"used": False, "reason": "It failed."}}).describe_engine(engine)
    assert (told["addOns"][0]["version"], told["addOns"][0]["reason"]) == ("1", "It failed.")
    silent = Used().describe_engine(engine)["addOns"][0]
    assert silent["used"] is None
    assert "ended before" in silent["reason"]
    assert Used(add_ons={"extra": "yes"}).describe_engine(engine)["addOns"][0]["used"] is None


def test_an_add_on_is_listed_under_the_tools(tmp_path, monkeypatch):
    monkeypatch.setenv("FOLDNOTE_ENGINE_PATH", str(tmp_path))
    engine, add_on = write_pair(tmp_path)
    row = list_tools(["anarci"], {"probe": engine, "extra": add_on})[-1]
    assert (row.tool, row.engine, row.adds_to, row.runs) == ("", "extra", ("probe",), True)
    out = io.StringIO()
    run_list(["anarci"], stream=out)
    assert "ADD-ON TO" in out.getvalue()
    assert any(line.startswith("probe") and "installed" in line for line in out.getvalue().splitlines())


def test_add_ons_are_named_by_the_add_on_only(tmp_path):
    with pytest.raises(EngineError, match="unknown key 'add_ons'"):
        write_pair(tmp_path, 'add_ons = ["x"]\n')
