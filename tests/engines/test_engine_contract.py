"""Every bundled engine has a test that keeps the contract, and its method is named without its version."""

from pathlib import Path

import pytest

from foldnote.service.engines import load_engines


@pytest.mark.parametrize("name", sorted(load_engines()))
def test_every_engine_keeps_the_contract(name):
    text = (Path(__file__).parent / f"test_{name}.py").read_text("utf-8")
    assert "(EngineContract):" in text
    assert f'engine = "{name}"' in text


@pytest.mark.parametrize("engine", load_engines().values(), ids=lambda engine: engine.name)
def test_the_name_of_a_method_leaves_its_version_to_the_version(engine):
    assert engine.version not in engine.method
