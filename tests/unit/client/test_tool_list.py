"""The list of tools can be searched by each property, and is shown as a table with everything escaped."""

import pytest

from foldnote import catalog
from foldnote.catalog.search_words import SYNONYMS
from foldnote.client.tables.tool_list import ToolList
from foldnote.models import Tool

ENGINE = {"name": "e", "method": "ABodyBuilder2 (model 1 of 4)"}
TOOLS = ToolList(
    [
        Tool.model_validate(row)
        for row in (
            {"type": "abodybuilder", "displayName": "AbodyBuilder", "description": "Antibody structures.",
             "family": "structure-prediction", "modalities": ["antibody"], "functions": ["structure-prediction"],
             "available": True, "engine": ENGINE},
            {"type": "vina", "family": "docking", "modalities": ["protein", "small-molecule"],
             "functions": ["docking"], "unavailableReason": "Install it."},
            {"type": "evil", "displayName": "<script>alert(1)</script>", "description": "a & b", "available": True},
        )
    ]
)  # fmt: skip


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({}, ["abodybuilder", "evil", "vina"]),  # tools that run here first
        ({"words": "antibody STRUCTURES"}, ["abodybuilder"]),
        ({"words": "model 1 of 4"}, ["abodybuilder"]),
        ({"words": "nothing"}, []),
        ({"family": "Docking"}, ["vina"]),
        ({"family": "dock"}, []),
        ({"modality": "small molecule"}, ["vina"]),
        ({"function": "structure_prediction"}, ["abodybuilder"]),
        ({"runs_here": True}, ["abodybuilder", "evil"]),
        ({"words": "a", "runs_here": True, "modality": "antibody"}, ["abodybuilder"]),
    ],
)
def test_tools_are_found_by_word_family_modality_function_and_what_runs_here(given, found):
    assert [tool.type for tool in TOOLS.search(**given)] == found


def test_a_part_of_the_list_is_such_a_list():
    assert TOOLS[:2].to_frame().index.tolist() == [tool.type for tool in TOOLS][:2]
    assert TOOLS[0] is next(iter(TOOLS))


def test_the_table_of_a_cell_escapes_what_a_service_says():
    html = TOOLS._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "a &amp; b" in html


def test_the_text_of_a_terminal_is_a_table_in_columns():
    lines = repr(TOOLS).splitlines()
    assert lines[0] == "3 tools, 2 of them run here"
    assert lines[2].split("  ")[0] == "abodybuilder"
    assert lines[2].endswith("ABodyBuilder2 (model 1 of 4)")
    assert lines[3].rstrip().endswith("elsewhere")
    assert (
        len({line.index(word) for line, word in zip(lines[1:3], ("name", "AbodyBuilder"), strict=True)}) == 1
    )


def test_an_empty_list_says_where_to_look():
    assert repr(TOOLS.search("nothing")) == "No matching tools. fn.tools() lists all of them."


def test_the_frame_has_the_documented_columns():
    frame = TOOLS.to_frame()
    assert list(frame.columns) == [
        "name", "family", "modalities", "functions", "runs", "status", "method", "reason", "description"
    ]  # fmt: skip
    assert frame.index.name == "type"
    assert frame["runs"].dtype == "bool"
    assert set(frame["status"]) == {"runs", "elsewhere"}
    assert frame.loc["vina", "modalities"] == "protein, small-molecule"
    assert frame.loc["vina", "reason"] == "Install it."
    assert frame["method"].isna().tolist() == [False, True, True]
    assert ToolList().to_frame().empty


def test_every_bundled_tool_is_found_by_its_own_words():
    tools = ToolList(catalog.tools().values())
    for tool in tools:
        assert tool in tools.search(tool.type, family=tool.family, function=tool.functions[0])


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("CDR", "anarci"),
        ("kabat number", "anarci"),
        ("dock ligand", "vina"),
        ("superpose RMSD", "align-pdbs"),
    ],
)
def test_a_tool_is_found_by_common_words_for_its_task_in_any_order(words, found):
    tools = ToolList(catalog.tools().values())
    turned = " ".join(reversed(words.split()))
    assert found in [tool.type for tool in tools.search(words)]
    assert tools.search(turned) == tools.search(words)


def test_every_function_of_the_catalog_has_common_words():
    assert {name for tool in catalog.tools().values() for name in tool.functions} == set(SYNONYMS)


def test_one_tool_is_reported_as_one():
    assert repr(TOOLS.search("vina")).startswith("1 tool, which does not run here\n")
    assert repr(TOOLS.search("antibody")).startswith("1 tool, which runs here\n")
