"""Modules that a process has imported when its first forms are shown."""

import json
import os
import re
import subprocess
import sys
from types import SimpleNamespace

import ipywidgets as widgets
import pytest
from page import Page

from foldnote import catalog
from foldnote.catalog.bundle import describe, list_types
from foldnote.client import Client
from foldnote.models import Tool
from foldnote.notebook.forms import NotebookForm

SLOW = [
    "anywidget",
    "httpx",
    "pandas",
    "pydantic",
    "foldnote.client.core",
    "foldnote.results",
    "foldnote.viewers",
]
SHOW = f"""
import json, sys
import foldnote as fn
shown = {{}}
for tool in {list_types()!r}:
    form = fn.form(tool)
    shown[tool] = [sorted(form.fields), [name for name in {SLOW!r} if name in sys.modules]]
print(json.dumps(shown))
"""


def run(code: str, home) -> str:
    environment = {**os.environ, "FOLDNOTE_HOME": str(home)}
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    ).stdout


def test_the_forms_of_all_tools_are_shown_without_the_libraries_that_are_slow_to_import(tmp_path):
    shown = json.loads(run(SHOW, tmp_path))
    assert {tool: slow for tool, (_, slow) in shown.items() if slow} == {}
    for tool, (fields, _) in shown.items():
        assert set(fields) == set(catalog.tool(tool).settings_schema["properties"]), tool
    assert not list(tmp_path.rglob("service*")), "a service was started"


@pytest.mark.parametrize("tool", list_types())
def test_a_form_that_trusts_the_defaults_of_a_tool_finds_what_a_check_of_everything_finds(tool):
    described = describe(tool)
    defaults = catalog.default_settings(described)
    assert catalog.check(described, defaults, trusts_defaults=True) == catalog.check(described, defaults)


def unanswered(tool_type, schema, extensions=("alignment", "label")):
    """Return a form whose service will describe the settings by ``schema``, and its record."""
    client = Client()
    tool = Tool(type=tool_type, settings_schema=schema, available=True, extensions=extensions)
    client.tools = SimpleNamespace(get=lambda _type: tool)
    return NotebookForm(describe(tool_type), client, {}, None), tool


def answered(tool_type, schema):
    """Return a form whose service has described the settings by ``schema``."""
    form, tool = unanswered(tool_type, schema)
    assert "Checking whether the service" in Page(form.widget).text
    form.set({next(iter(form.fields)): "EVQLVESGG"})
    assert form.tool is tool
    return form


def test_the_answer_of_the_service_adds_what_it_takes_beside_the_settings_and_keeps_the_values():
    form = answered("anarci", describe("anarci").settings_schema | {"x-foldnote": {"citation": "someone"}})
    assert "Runs at the connected service." in Page(form.widget).text
    assert "Alignment" in Page(form.widget).text
    assert "another version" not in Page(form.widget).text
    assert form.value["sequence"] == "EVQLVESGG"


def test_the_fields_beside_the_settings_take_the_room_that_was_kept_for_them():
    schema = describe("alphafold").settings_schema
    form, _ = unanswered("alphafold", schema, ("alignment", "external:msa-server"))
    assert "Asking the service where alignments may come from" in Page(form.widget).text
    before = len(form.widget.children)
    form.take_tool(form.client.tools.get("alphafold"))
    shown = Page(form.widget).text
    assert "Asking the service" not in shown
    assert shown.count("Beside the settings") == 1
    assert len(form.widget.children) == before + 1, "heading and fields in place of one widget"
    assert "Asking the service" not in Page(unanswered("anarci", schema)[0].widget).text


def test_a_batch_that_was_open_before_the_answer_gets_what_the_service_offers_after_a_failure():
    form, tool = unanswered("anarci", describe("anarci").settings_schema, ("retries",))
    form.batch_table.add_text("sequence\nEVQLVESGG\n")
    assert not re.search("A job that fails|runs every row once", Page(form.widget).text)
    assert form.tool is tool
    choice = Page(form.widget).find(widgets.Dropdown, "A job that fails")
    choice.label = "retry 2×"
    form.refresh()
    form.batch_table.show_policy()
    assert form.batch_table.policy == {"retries": 2}


def test_a_service_that_describes_the_settings_differently_is_a_reason_to_run_the_cell_again():
    form = answered("abmap", {"type": "object", "properties": {"heavy": {"type": "string"}}})
    assert "Run the cell again" in Page(form.widget).text
