"""Display of records in a cell and in a terminal: everything escaped, no empty values."""

from datetime import UTC, datetime

import pytest

from foldnote import catalog
from foldnote.models import Tool
from foldnote.models.html_repr import show_grid, show_pairs, write_grid
from foldnote.models.settings_table import list_settings

EVIL = "<img src=x onerror=alert(1)>"


def test_what_a_record_says_is_escaped():
    assert EVIL not in show_pairs(EVIL, {EVIL: EVIL}) + show_grid(EVIL, [EVIL], [[EVIL]])


def test_what_is_not_there_is_left_out():
    assert "nothing" not in show_pairs("x", {"nothing": None, "empty": ""})
    assert show_grid("None.", ["a"], []).count("<table") == 0
    assert write_grid("None.", ["a"], []) == "None."


def test_times_lists_and_flags_are_words():
    html = show_pairs("x", {"at": datetime(2026, 11, 1, 9, tzinfo=UTC), "of": ("a", "b"), "is": True})
    assert "2026-11-01 09:00:00 UTC" in html
    assert "a, b" in html
    assert "yes" in html


def test_a_long_cell_of_a_terminal_is_shortened():
    lines = write_grid("x", ["a", "b"], [["y" * 80, "z\nz"]]).splitlines()
    assert len(lines[2]) < 60
    assert lines[2].endswith("…  z z")


@pytest.mark.parametrize("tool", catalog.tools().values(), ids=lambda tool: tool.type)
def test_every_tool_says_what_it_takes(tool):
    rows = list(list_settings(tool.settings_schema))
    assert len(rows) == len(tool.settings_schema["properties"])
    assert all(takes for _, takes, _, _ in rows)
    assert repr(tool).startswith(f"<tool {tool.type}: {tool.label}; cannot run")
    assert len(repr(tool)) < 700


def test_a_schema_of_any_kind_is_a_sheet():
    odd = {
        "properties": {EVIL: True, "a": {"enum": [None]}, "b": {"type": ["string", "null"], "x-foldnote": 3}}
    }
    tool = Tool.model_validate({"type": "t", "schema": odd, "available": True})
    assert EVIL not in tool._repr_html_()
    assert [row[1] for row in list_settings(odd)] == ["anything", "None", "text or nothing"]
    assert list(list_settings({"properties": 3, "required": 4})) == []


def test_a_tool_says_what_its_method_gives_with_unit_and_direction():
    html = catalog.tool("aggrescan3d")._repr_html_()
    assert "Outputs of the method" in html
    assert "A3D score" in html
    assert "lower" in html
    evil = Tool.model_validate({"type": "x", "outputs": [{"name": EVIL, "description": EVIL, "unit": EVIL}]})
    assert EVIL not in evil._repr_html_()
