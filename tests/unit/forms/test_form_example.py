"""The example of a tool, or of a schema, fills in its form on request."""

import pytest
from page import Page

from foldnote import catalog
from foldnote.forms import Form, SchemaForm

FV = catalog.tool("abodybuilder")
PARTS = {"type": "object", "required": ["a"], "properties": {"a": {"type": "string", "examples": ["x"]}}}


@pytest.mark.parametrize("name", ["abodybuilder", "abmpnn", "vina", "alphafold", "anarci", "ablang"])
def test_the_example_of_a_tool_is_valid(name):
    tool = catalog.tool(name)
    form = Form(tool)
    Page(form.widget).press("Load example")
    assert form.problems == ()
    assert tool.example_job["settings"].items() <= form.value.items()
    assert "Nothing was submitted" in Page(form.widget).text


def test_settings_of_a_person_are_replaced_only_on_a_second_press():
    form = Form(FV)
    form.fields["heavy"].widget.value = "EVQLVESGG"
    Page(form.widget).press("Load example")
    assert form.value["heavy"] == "EVQLVESGG"
    form.fields["heavy"].widget.value = "EVQLVESG"
    Page(form.widget).press("Load example")
    Page(form.widget).press("Replace your settings with the example")
    assert form.value["heavy"] == FV.example_job["settings"]["heavy"]
    Page(form.widget).press("Load example")
    assert form.problems == ()


@pytest.mark.parametrize(
    ("schema", "wanted"),
    [
        (PARTS, {"a": "x"}),
        ({**PARTS, "examples": [{"a": "y"}]}, {"a": "y"}),
        ({"type": "string", "examples": ["z"]}, {"value": "z"}),
    ],
    ids=["of properties", "of the whole", "of a text"],
)
def test_a_schema_has_its_own(schema, wanted):
    form = SchemaForm(schema)
    Page(form.widget).press("Load example")
    assert form.value == wanted


def test_none_is_offered_without_one():
    form = SchemaForm({"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}})
    assert "Load example" not in Page(form.widget).text
