"""Foreign catalogs in three formats become JSON Schema for our checks, and nothing is dropped."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from foldnote import catalog
from foldnote.catalog.foreign import read_catalog, read_foreign_tool
from foldnote.errors import ProtocolError
from foldnote.models import Tool

META = Draft202012Validator(Draft202012Validator.META_SCHEMA)
DEEP = [[[[["x"]]]]]


def listed(*rows, **more):
    return read_foreign_tool({"name": "newtool", "settings": list(rows)} | more)


def field(**row):
    tool = listed({"name": "x"} | row)
    return tool.settings_schema["properties"]["x"], {
        key.removeprefix("x."): value for key, value in tool.origin.untranslated.items()
    }


@pytest.mark.parametrize(
    ("word", "schema"),
    [
        ("string", {"type": "string"}),
        ("Text", {"type": "string"}),
        ("float", {"type": "number"}),
        ("int", {"type": "integer"}),
        ("checkbox", {"type": "boolean"}),
        ("string[]", {"type": "array", "items": {"type": "string"}}),
        ("array<number>", {"type": "array", "items": {"type": "number"}}),
        ("object", {"type": "object"}),
        ("sequence", {"type": "string", "x-foldnote": {"role": "sequence"}}),
        (None, {}),
    ],
)
def test_a_type_in_each_word(word, schema):
    assert field(type=word) == (schema, {})


@pytest.mark.parametrize("word", ["pdb", "PDB file", "file"])
def test_a_file_by_its_extension(word):
    schema, left = field(type=word, **({"accept": ".PDB"} if word == "file" else {}))
    notes = {"role": "file", "extensions": ["pdb"], "check": ["file"]}
    assert (schema, left) == ({"type": "string", "format": "binary", "x-foldnote": notes}, {})


def test_a_file_of_another_extension_is_refused():
    tool = listed({"name": "x", "type": "file", "extensions": ["pdb", ".cif"]})
    assert catalog.check(tool, {"x": "a.cif"}).is_valid
    assert [found.code for found in catalog.check(tool, {"x": "a.sdf"}).problems] == ["wrong_extension"]


def test_several_files():
    schema, _ = field(type="file", multiple=True, extensions="pdb, cif")
    assert schema["items"] == {"type": "string", "format": "binary"}
    assert (schema["x-foldnote"]["role"], schema["x-foldnote"]["extensions"]) == ("files", ["pdb", "cif"])


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        (["a", "b"], {"enum": ["a", "b"]}),
        (["a", "a"], {"enum": ["a"]}),
        ([{"value": "a", "label": "A"}], {"oneOf": [{"const": "a", "title": "A"}]}),
        ([{"name": "a"}], {"enum": ["a"]}),
        ({"a": "Alpha"}, {"oneOf": [{"const": "a", "title": "Alpha"}]}),
    ],
)
def test_options_in_each_shape(options, rule):
    assert field(type="select", options=options)[0] == {"type": "string"} | rule


def test_options_of_a_list_are_those_of_its_items():
    assert field(type="multiselect", options=["a"])[0] == {"type": "array", "items": {"enum": ["a"]}}


def test_options_that_are_not_of_the_type_win_over_it():
    schema, left = field(type="number", options=["1", "2"])
    assert (schema, left) == ({"enum": ["1", "2"]}, {"type": "number"})


@pytest.mark.parametrize(
    ("row", "schema", "left"),
    [
        ({"type": "number", "min": 1, "max": "2.5"}, {"type": "number", "minimum": 1, "maximum": 2.5}, {}),
        ({"type": "number", "min": 3, "max": 2}, {"type": "number"}, {"minimum": 3, "maximum": 2}),
        ({"type": "string", "maxLength": 5}, {"type": "string", "maxLength": 5}, {}),
        ({"type": "string", "max": 5}, {"type": "string"}, {"maximum": 5}),
        ({"type": "string", "pattern": "^a+$"}, {"type": "string", "pattern": "^a+$"}, {}),
        ({"type": "string", "pattern": "("}, {"type": "string"}, {"pattern": "("}),
        ({"type": "number", "default": "5"}, {"type": "number", "default": 5}, {}),
        ({"type": "boolean", "default": "True"}, {"type": "boolean", "default": True}, {}),
        ({"type": "string", "default": 5}, {"type": "string", "default": "5"}, {}),
        ({"type": "number", "default": "many"}, {"type": "number"}, {"default": "many"}),
        ({"type": "number", "max": 3, "default": 5}, {"type": "number", "maximum": 3}, {"default": 5}),
        ({"type": "string", "default": ""}, {"type": "string"}, {}),
        ({"type": "number", "unit": "ps"}, {"type": "number", "x-foldnote": {"unit": "ps"}}, {}),
        ({"type": "widget"}, {}, {"type": "widget"}),
        ({"step": 0.1, "hidden": True}, {}, {"step": 0.1, "hidden": True}),
    ],
)
def test_what_is_understood_is_a_keyword_and_what_is_not_is_kept(row, schema, left):
    assert field(**row) == (schema, left)


def test_a_whole_list_of_settings():
    tool = listed(
        {"Name": "heavy", "Required": True, "Type": "string", "maxLength": 10, "DisplayName": "Heavy chain"},
        {"name": "steps", "type": "integer", "required": "false", "default": 50, "min": 5, "max": 200},
        displayName="New tool",
    )
    assert tool.settings_schema["required"] == ["heavy"]
    assert tool.settings_schema["properties"]["heavy"]["title"] == "Heavy chain"
    assert catalog.check(tool, {"heavy": "EVQL"}).normalized == {"heavy": "EVQL", "steps": 50}
    codes = [found.code for found in catalog.check(tool, {"steps": 1, "hevy": "E"}).problems]
    assert codes == ["missing_field", "below_minimum", "unknown_field"]


@pytest.mark.parametrize("hide", [json.dumps, lambda rows: {row["name"]: row for row in rows}, list])
def test_settings_as_text_by_name_and_as_a_list(hide):
    tool = read_foreign_tool({"Name": "newtool", "Settings": hide([{"name": "x", "type": "int"}])})
    assert tool.settings_schema["properties"] == {"x": {"type": "integer"}}


def test_rows_without_a_name_and_second_rows_of_a_name_are_kept():
    rows = [{"name": "x", "type": "int"}, {"type": "int"}, 7, {"name": "x"}, "y"]
    tool = listed(*rows)
    assert list(tool.settings_schema["properties"]) == ["x", "y"]
    assert tool.origin.untranslated == {"[1]": rows[1], "[2]": 7, "[3]": {"name": "x"}}


def test_the_service_s_own_word_wins_and_ours_fills_in():
    row = {"name": "anarci", "settings": [{"name": "sequence", "required": True, "description": "Theirs."},
                                          {"name": "scheme", "options": ["imgt", "new"]}]}  # fmt: skip
    tool = read_foreign_tool(row)
    fields, ours = tool.settings_schema["properties"], catalog.tool("anarci").settings_schema["properties"]
    assert fields["sequence"]["description"] == "Theirs."
    assert fields["sequence"]["x-foldnote"]["check"] == ours["sequence"]["x-foldnote"]["check"]
    assert fields["scheme"]["enum"] == ["imgt", "new"]
    assert "default" not in fields["scheme"]  # ours is kabat, which the foreign schema lacks
    assert tool.origin.shape == "settings"
    assert "description" not in tool.origin.filled["sequence"]
    assert {"type", "role", "alphabet"} <= set(tool.origin.filled["sequence"])
    assert "sequence (title, type" in str(tool.origin)
    assert tool.description == catalog.tool("anarci").description
    assert "description" in tool.origin.filled[""]


def test_settings_that_the_service_does_not_list_are_not_added():
    tool = read_foreign_tool({"name": "anarci", "settings": [{"name": "sequence", "required": True}]})
    assert list(tool.settings_schema["properties"]) == ["sequence"]
    assert tool.example_job is None  # ours names a scheme


def test_a_field_of_another_type_gets_our_words_only():
    tool = read_foreign_tool({"name": "anarci", "settings": [{"name": "scheme", "type": "int"}]})
    scheme = tool.settings_schema["properties"]["scheme"]
    assert scheme.keys() == {"type", "title", "description"}


@pytest.mark.parametrize("tool_type", sorted(catalog.tools()))
def test_every_bundled_tool_given_by_names_alone_still_takes_its_example(tool_type):
    ours = catalog.tool(tool_type)
    required = set(ours.settings_schema.get("required", ()))
    rows = [{"name": name, "required": name in required} for name in ours.settings_schema["properties"]]
    tool = read_foreign_tool({"name": tool_type, "settings": rows})
    assert catalog.check(tool, ours.example_job["settings"]).problems == ()
    assert tool.example_job == ours.example_job


def test_a_name_alone_gets_the_bundled_tool():
    tool = read_foreign_tool("anarci")
    assert tool.settings_schema == catalog.tool("anarci").settings_schema
    assert tool.available
    assert (tool.origin.shape, "settings_schema" in tool.origin.filled[""]) == ("name", True)


COMPONENTS = {
    "openapi": "3.0.3",
    "paths": {
        "/submit-job": {"post": {"requestBody": {"content": {"application/json": {
            "schema": {"$ref": "#/components/schemas/JobSubmission"}}}}}},
    },
    "components": {"schemas": {
        "JobSubmission": {"type": "object", "properties": {"jobName": {"type": "string"}}},
        "AfMultistate": {"type": "object", "required": ["sequence"], "properties": {
            "sequence": {"type": "string", "maxLength": 50, "example": "EVQL"},
            "state": {"$ref": "#/components/schemas/State"},
            "noise": {"type": "number", "nullable": True, "minimum": 0, "exclusiveMinimum": True},
            "pdbFile": {"type": "string", "format": "binary"},
        }},
        "State": {"type": "string", "enum": ["active", "inactive"]},
        "NewFoldSettings": {"allOf": [
            {"$ref": "#/components/schemas/Common"},
            {"properties": {"steps": {"type": "integer"}}, "required": ["steps"]},
        ]},
        "Common": {"type": "object", "properties": {"seed": {"type": "integer"}}},
    }},
}  # fmt: skip


def test_components_of_an_openapi_document():
    tools, odd = read_catalog(COMPONENTS)
    found = {tool.type: tool for tool in tools}
    assert odd == ()
    assert {"af-multistate", "new-fold"} <= found.keys()
    assert "job-submission" not in found
    schema = found["af-multistate"].settings_schema
    assert schema["properties"]["sequence"]["examples"] == ["EVQL"]
    assert schema["properties"]["noise"] == {"type": ["number", "null"], "exclusiveMinimum": 0}
    assert schema["properties"]["pdbFile"]["x-foldnote"]["role"] == "file"
    assert found["new-fold"].settings_schema["required"] == ["steps"]
    assert set(found["new-fold"].settings_schema["properties"]) == {"seed", "steps"}


@pytest.mark.parametrize(
    ("settings_given", "codes"),
    [
        ({"sequence": "EVQL", "state": "active", "noise": None}, []),
        ({"sequence": "EVQL", "noise": 0}, ["below_minimum"]),
        ({"sequence": "EVQL", "state": "sleepy"}, ["not_an_option"]),
        ({"state": "active"}, ["missing_field"]),
    ],
)
def test_a_component_accepts_and_refuses_as_it_says(settings_given, codes):
    tools, _ = read_catalog(COMPONENTS)
    tool = next(tool for tool in tools if tool.type == "af-multistate")
    assert [found.code for found in catalog.check(tool, settings_given).problems] == codes


def test_the_types_that_a_discriminator_names():
    document = {
        "components": {"schemas": {
            "Submission": {"properties": {"settings": {
                "oneOf": [{"$ref": "#/components/schemas/A"}, {"$ref": "#/components/schemas/B"}],
                "discriminator": {"propertyName": "type", "mapping": {"fold-a": "#/components/schemas/A"}}}}},
            "A": {"type": "object", "properties": {}},
            "B": {"type": "object", "properties": {}},
        }},
        "paths": {"x": {"$ref": "#/components/schemas/Submission"}},
    }  # fmt: skip
    assert [tool.type for tool in read_catalog(document)[0]] == ["fold-a", "b"]


def test_an_invalid_part_of_a_component_is_kept_and_affects_no_other():
    document = {"components": {"schemas": {"Fold": {"type": "object", "properties": {
        "good": {"type": "integer"}, "bad": {"type": "whole"}}}}}}  # fmt: skip
    tool = read_catalog(document)[0][0]
    assert tool.settings_schema["properties"] == {"good": {"type": "integer"}, "bad": {}}
    assert tool.origin.untranslated == {"bad": {"type": "whole"}}


@pytest.mark.parametrize("shape", [list, lambda rows: {"tools": rows}, lambda rows: {"Tools": rows}])
def test_a_catalog_in_each_wrapping_and_its_odd_rows(shape):
    tools, odd = read_catalog(shape(["anarci", {"name": "b"}, 3, {"modalities": 5}]))
    assert [tool.type for tool in tools] == ["anarci", "b"]
    assert odd == (3, {"modalities": 5})


def test_a_catalog_by_name():
    tools, _ = read_catalog({"anarci": {"description": "Theirs."}, "b": {}})
    assert (tools[0].type, tools[0].description) == ("anarci", "Theirs.")


@pytest.mark.parametrize(
    ("key", "value"),
    [("modalities", 5), ("functions", [1]), ("description", {"en": "x"}), ("available", "yes"), ("exampleJob", 3),
     ("engine", 3)],
)  # fmt: skip
def test_words_of_another_kind_are_kept(key, value):
    tool = read_foreign_tool({"name": "newtool", key: value})
    assert tool.origin.untranslated == {key: value}


@pytest.mark.parametrize(
    "example",
    [
        {"x": 3},
        {"settings": {"x": 3}},
        {"Settings": {"x": 3}, "JobName": "n"},
        {"settings": '{"x": 3}'},
        '{"settings": {"x": 3}}',
    ],
)
def test_an_example_in_each_shape_is_a_submission(example):
    found = listed({"name": "x", "type": "int"}, exampleJob=example).example_job
    assert (found["type"], found["settings"]) == ("newtool", {"x": 3})
    assert found["jobName"]


def test_a_native_row_stays_as_it_is():
    row = catalog.tool("anarci").model_copy(update={"available": True}).to_wire()
    tool = read_foreign_tool(row)
    assert tool == Tool.model_validate(row)
    assert (tool.origin.shape, dict(tool.origin.filled), dict(tool.origin.untranslated)) == ("schema", {}, {})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
WORDS = st.sampled_from(
    [
        "string",
        "number",
        "integer",
        "boolean",
        "file",
        "pdb",
        "array",
        "object",
        "select",
        "int[]",
        "sequence",
        "x",
    ]
)
ROW = st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from(["a", "b", "sequence", "scheme"]) | JSON, "type": WORDS | JSON, "required": JSON,
        "default": JSON, "options": JSON | st.lists(JSON, max_size=3), "min": JSON, "max": JSON, "maxLength": JSON,
        "pattern": JSON, "unit": JSON, "extensions": JSON, "multiple": JSON, "description": JSON, "extra": JSON,
        "conditionals": st.lists(st.fixed_dictionaries({}, optional={
            "otherSettingName": st.sampled_from(["a", "b", "zz"]) | JSON,
            "checkType": st.sampled_from(["equals", "includes", "greaterThan", "exists", "notEmpty"]) | JSON,
            "otherSettingValue": JSON}), max_size=2) | JSON,
    },
)  # fmt: skip
SCHEMA = st.deferred(
    lambda: st.fixed_dictionaries(
        {},
        optional={
            "type": WORDS | JSON, "properties": st.dictionaries(st.sampled_from("abc"), SCHEMA, max_size=2) | JSON,
            "$ref": st.sampled_from(["#/components/schemas/A", "#/components/schemas/B", "#/x"]) | JSON,
            "allOf": st.lists(SCHEMA, max_size=2) | JSON, "required": JSON, "nullable": JSON, "enum": JSON,
            "exclusiveMinimum": JSON, "minimum": JSON, "pattern": JSON, "items": SCHEMA | JSON, "example": JSON,
            "x-foldnote": JSON, "discriminator": JSON, "if": SCHEMA, "dependentRequired": JSON,
        },
    )
)  # fmt: skip
TOOL = st.fixed_dictionaries(
    {"name": st.sampled_from(["anarci", "newtool"])},
    optional={"settings": st.lists(ROW, max_size=3) | JSON, "parameters": st.lists(ROW, max_size=3) | JSON,
              "schema": SCHEMA | JSON, "exampleJob": JSON, "engine": JSON, "modalities": JSON, "zzz": JSON},
)  # fmt: skip
DOCUMENT = st.fixed_dictionaries(
    {"components": st.fixed_dictionaries({"schemas": st.dictionaries(st.sampled_from(["A", "B", "Anarci"]), SCHEMA | JSON)})},
    optional={"paths": JSON | SCHEMA},
)  # fmt: skip


@pytest.mark.parametrize("value", [1, None, True, 0.5, {"a": 1}, [1, "a.pdb"], ["a.pdb"], "a.pdb"])
@pytest.mark.parametrize("rule", sorted(catalog.checks.CHECKS))
def test_a_rule_for_another_kind_of_value_is_passed_over(rule, value):
    schema = {"properties": {"a": {"enum": [None], "x-foldnote": {"check": [rule]}}}}
    tools, _ = read_catalog([{"name": "newtool", "schema": schema}])
    assert catalog.check(tools[0], {"a": value}) is not None


@settings(max_examples=3 * settings.default.max_examples)
@given(st.lists(TOOL, max_size=2) | DOCUMENT | JSON)
def test_any_json_is_a_catalog_of_sound_schemas_or_a_protocol_error(answer):
    try:
        tools, _ = read_catalog(answer)
    except ProtocolError:
        return
    for tool in tools:
        assert META.is_valid(tool.settings_schema)
        assert catalog.check(tool, {"a": 1, "sequence": DEEP}) is not None
        assert str(tool.origin)


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.text(min_size=1, max_size=8), JSON, max_size=4))
def test_every_unknown_word_of_a_row_is_kept(more):
    tool = listed({"name": "x"} | {f"zz{key}": value for key, value in more.items()})
    kept = json.dumps(dict(tool.origin.untranslated), sort_keys=True)
    assert all(f"zz{key}" in json.loads(kept) or f"x.zz{key}" in tool.origin.untranslated for key in more)
