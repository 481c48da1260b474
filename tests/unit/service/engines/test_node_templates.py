"""A node checks an engine once for successive runs, and again when its options change."""

import pytest

from foldnote import settings
from foldnote.errors import EngineError, UnknownEngineError
from foldnote.service.node.agent_resources import EngineCache

ENGINE = """
name = "tiny"
method = "Tiny"
kind = "genuine"
version = "1"
tools = ["anarci"]
[[options]]
name = "limit"
kind = "number"
least = 1
most = 10
help = "of the search"
[environment]
kind = "host"
[resources]
cores = 4
"""


@pytest.fixture
def engine_cache(tmp_path, monkeypatch):
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / "engine.toml").write_text(ENGINE)
    monkeypatch.setenv("FOLDNOTE_ENGINE_PATH", str(tmp_path / "tiny"))
    return EngineCache()


def configure(limit):
    (settings.config_dir() / "config.toml").write_text(f"[engines.tiny]\nlimit = {limit}\n")


def test_runs_of_a_tool_share_a_template_until_the_options_change(engine_cache):
    configure(3)
    first = engine_cache.find_template("tiny", "anarci", 2, assigns_gpus=False)
    assert (first.cores, first.tool, first.is_kept) == (2, "anarci", True)
    assert engine_cache.find_template("tiny", "anarci", 2, assigns_gpus=False) is first
    assert engine_cache.find_template("tiny", "anarci", 3, assigns_gpus=False).cores == 3
    configure(5)
    changed = engine_cache.find_template("tiny", "anarci", 2, assigns_gpus=False)
    assert changed.environment != first.environment


def test_an_engine_that_lacks_an_option_is_refused_each_time(engine_cache):
    for _ in range(2):
        with pytest.raises(EngineError, match="set limit"):
            engine_cache.find_template("tiny", "anarci", 2, assigns_gpus=False)


def test_an_engine_that_the_node_does_not_have_is_unknown(engine_cache):
    with pytest.raises(UnknownEngineError):
        engine_cache.find_template("gone", "anarci", 2, assigns_gpus=False)
