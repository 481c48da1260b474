"""Every tool of the catalog has an engine or a reason for having none, and one word for where it runs."""

import re
from collections import Counter
from pathlib import Path

import pytest

from foldnote import catalog
from foldnote.service.engines import load_engines
from foldnote.service.engines.unserved import WAYS_ON, explain_unserved, unserved_tools

DOCS = Path(__file__).parents[4] / "docs" / "tools.md"
SERVED = {tool for engine in load_engines().values() for tool in engine.tools}


def test_a_tool_has_an_engine_or_a_reason_and_never_both():
    assert unserved_tools().keys() == catalog.tools().keys() - SERVED


@pytest.mark.parametrize("tool", sorted(unserved_tools()))
def test_a_reason_is_one_sentence_and_followed_by_two_ways_on(tool):
    reason = unserved_tools()[tool]
    assert reason.endswith(".")
    assert len(reason) <= 120
    assert explain_unserved(tool) == f"foldnote has no engine for {tool}. {reason} {WAYS_ON}"


def test_a_tool_that_is_not_in_the_catalog_gets_the_ways_on():
    assert explain_unserved("own-tool") == f"foldnote has no engine for own-tool. {WAYS_ON}"


def test_the_docs_have_every_tool_with_its_word_and_its_reason():
    told = {}
    for line in DOCS.read_text("utf-8").splitlines():
        if line.startswith("| `"):
            tool, status, why = (cell.strip() for cell in line.strip("|").split("|"))
            told[tool.strip("`")] = (status, why)
    assert told.keys() == catalog.tools().keys()
    engines = {tool: engine.for_tool(tool) for engine in load_engines().values() for tool in engine.tools}
    for tool, found in told.items():
        if tool not in engines:
            assert found == ("elsewhere", unserved_tools()[tool]), tool
            continue
        word = "adapter" if engines[tool].kind == "adapter" else "installable"
        assert found == (word, engines[tool].method), tool


def test_the_docs_count_the_tools_as_they_are():
    counted = Counter(tell_how(engine) for engine in load_engines().values() for _ in engine.tools)
    counted["elsewhere"] = len(unserved_tools())
    assert counted.total() == len(catalog.tools())
    expected = [counted[how] for how in ("packages", "weights", "adapter", "elsewhere")]
    for page, sentence in (
        ("tools.md", r"(\d+) tools have an engine.*?, (\d+) one.*?, (\d+) an adapter, and (\d+) none"),
        (
            "alternatives.md",
            r"(\d+) run from packages alone; (\d+) also.*?, (\d+) need.*?, and (\d+) do not run",
        ),
    ):
        found = re.search(sentence, (DOCS.parent / page).read_text("utf-8"), re.S)
        assert found, page
        assert [int(each) for each in found.groups()] == expected, page


def tell_how(engine):
    """Describe the source of an engine's requirements."""
    if engine.kind == "adapter":
        return "adapter"
    return "weights" if any(not each.optional for each in engine.weights) else "packages"
