"""Forms of tools of other services' catalogs have the same kinds of fields, hidden by the same rules."""

import pytest
from page import classes_of

from foldnote.catalog.foreign import read_catalog, read_foreign_tool
from foldnote.forms import Form

PARAMETERS = [
    {"name": "mode", "type": "select", "options": [{"value": "fast", "label": "Fast"}, {"value": "full"}],
     "default": "fast"},
    {"name": "steps", "type": "integer", "min": 1, "max": 9, "default": 3, "displayName": "Steps"},
    {"name": "structure", "type": "pdb", "required": True, "conditionals": [
        {"otherSettingName": "mode", "checkType": "equals", "otherSettingValue": "full"},
        {"otherSettingName": "steps", "checkType": "greaterThan", "otherSettingValue": 5}]},
    {"name": "sequence", "type": "sequence", "required": True},
]  # fmt: skip


@pytest.fixture
def form():
    return Form(read_foreign_tool({"name": "newfold", "parameters": PARAMETERS}))


def is_hidden(form, name):
    return "foldnote-hidden" in classes_of(form.fields[name].widget)


def test_a_parameter_is_shown_when_all_its_conditionals_hold(form):
    assert is_hidden(form, "structure")
    form.set(mode="full")
    assert is_hidden(form, "structure")
    form.set(steps=6)
    assert not is_hidden(form, "structure")
    assert "structure" in {problem.field for problem in form.problems}
    form.set(mode="fast")
    assert is_hidden(form, "structure")
    assert "structure" not in {problem.field for problem in form.problems}


def test_options_bounds_and_files_are_the_fields_that_ours_have(form):
    form.set(steps=20, sequence="EVQL")
    assert [problem.code for problem in form.problems] == ["above_maximum"]
    form.set(steps=9, mode="full", structure="a.sdf")
    assert [problem.field for problem in form.problems] == ["structure"]
    assert "pdb" in form.problems[0].message


def test_every_component_of_an_openapi_document_has_a_form():
    components = {
        "Fold": {"type": "object", "required": ["sequence"], "properties": {
            "sequence": {"type": "string"}, "pdbFile": {"type": "string", "format": "binary"},
            "seed": {"type": "integer", "nullable": True}, "kind": {"$ref": "#/components/schemas/Kind"}}},
        "Kind": {"type": "string", "enum": ["a", "b"]},
    }  # fmt: skip
    tools, _ = read_catalog({"components": {"schemas": components}})
    form = Form(next(tool for tool in tools if tool.type == "fold"))
    form.set(sequence="AA", kind="b", seed=None)
    assert form.value == {"sequence": "AA", "kind": "b", "seed": None}
    assert form.problems == ()
