"""Every tool of every bundled engine is covered by the contract, and the contract's own functions work."""

import importlib
import json
import time
from pathlib import Path

import pytest
from adapter_contract import AdapterContract
from engine_contract import EngineContract
from odd_inputs import LONG, list_odd_inputs
from probe_engine import PROBE
from real_engine import find_processes, find_strays, load_engines, prepare_run, start_runner

from foldnote import catalog
from foldnote.service.engines.engine_file import read_engine
from foldnote.service.runner.attempt import request_cancel

SERVED = [
    (engine.name, tool)
    for engine in load_engines().values()
    if engine.kind != "adapter"
    for tool in engine.tools
]
ADAPTERS = [engine.name for engine in load_engines().values() if engine.kind == "adapter"]


def list_contracts():
    """Return engine and tool of each contract test in this folder."""
    for path in Path(__file__).parent.glob("test_*.py"):
        for each in vars(importlib.import_module(path.stem)).values():
            if isinstance(each, type) and issubclass(each, EngineContract) and each is not EngineContract:
                yield each.engine, each.served()


@pytest.mark.parametrize(("engine", "tool"), SERVED, ids=[tool for _, tool in SERVED])
def test_every_tool_of_every_engine_keeps_the_contract(engine, tool):
    assert (engine, tool) in set(list_contracts())


@pytest.mark.parametrize("name", ADAPTERS)
def test_every_adapter_keeps_the_contract_of_adapters(name):
    module = vars(importlib.import_module(f"test_{name.replace('-', '_')}"))
    contracts = [
        each for each in module.values() if isinstance(each, type) and issubclass(each, AdapterContract)
    ]
    assert name in [each.engine for each in contracts if each is not AdapterContract]


@pytest.mark.parametrize("name", [engine.name for engine in load_engines().values() if not engine.tools])
def test_every_add_on_keeps_the_contract_of_its_engine(name):
    kept = vars(importlib.import_module(f"test_{name}"))["TestContract"]
    assert issubclass(kept, EngineContract)
    assert kept.engine in load_engines()[name].adds_to


@pytest.mark.parametrize("tool", [tool for _, tool in SERVED])
def test_every_tool_has_odd_inputs_that_people_send(tool):
    odd = list(list_odd_inputs(tool))
    assert all(each.value != catalog.tool(tool).example_job["settings"][each.setting] for each in odd)
    assert {"unknown residues", "empty chain", f"{LONG} letters"} <= {
        each.oddity for each in odd if each.is_told
    }


@pytest.mark.parametrize("engine", load_engines().values(), ids=lambda engine: engine.name)
def test_the_name_of_a_method_leaves_its_version_to_the_version(engine):
    assert engine.version not in engine.method


def run_probe(folder, name):
    """Run the test engine as the job's name says; return its specification when it has ended."""
    spec = prepare_run(read_engine(PROBE), folder, {}, name=name)
    with start_runner(spec):
        pass
    return spec


def test_a_process_that_a_run_left_would_be_found(tmp_path):
    spec = prepare_run(read_engine(PROBE), tmp_path, {}, name="child.daemon.sleep-600")
    with start_runner(spec) as runner:
        children = spec.folder / "work" / "outputs"
        while len(list(children.glob("*.pid"))) < 2:
            time.sleep(0.01)
        assert len(list(find_processes(spec))) == 3
        request_cancel(spec.folder, grace_s=0)
        runner.wait()
    assert list(find_processes(spec)) == []


def test_a_file_that_a_run_left_would_be_found(tmp_path):
    spec = run_probe(tmp_path, "strew.env")
    outputs = spec.folder / "work" / "outputs"
    home = Path(json.loads((outputs / "environment.json").read_text())["HOME"])
    assert find_strays(read_engine(PROBE), outputs) == [home / "strewn.txt"]


def test_an_engine_reaches_nothing_by_the_network(tmp_path):
    spec = run_probe(tmp_path, "call")
    assert (spec.folder / "work/outputs/call.txt").read_text().startswith("OSError: ")
