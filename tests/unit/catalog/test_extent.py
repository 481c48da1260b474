"""The size of a schema with its references followed, and how the parts that use schemas handle large ones."""

import json
import os
import resource
import time

import pytest
from forked_python import run_forked
from hypothesis import given
from hypothesis import strategies as st

from foldnote import catalog
from foldnote.catalog.extent import (
    MAX_OPTIONS,
    MAX_PARTS,
    MAX_PATTERN_LENGTH,
    MAX_PATTERNS,
    find_excess,
    measure,
)
from foldnote.catalog.foreign import read_catalog, read_foreign_tool
from foldnote.catalog.foreign.settings_lists import MAX_ROWS
from foldnote.models.tool import Tool

HERE = "#/$defs/"


def pairs(count, keyword="allOf"):
    """Return a schema whose field is a pair of references to a pair of references, and so on."""
    defs = {
        f"a{i}": {keyword: [{"$ref": f"{HERE}a{i + 1}"}, {"$ref": f"{HERE}a{i + 1}"}]} for i in range(count)
    }
    return of_field({"$ref": f"{HERE}a0"}, **defs, **{f"a{count}": {"type": "string"}})


def chain(count):
    """Return a field that is reached through this many references."""
    defs = {f"a{i}": {"allOf": [{"$ref": f"{HERE}a{i + 1}"}]} for i in range(count)}
    return of_field({"$ref": f"{HERE}a0"}, **defs, **{f"a{count}": {"type": "string"}})


def nest(keyword, count):
    schema = {"type": "string"}
    for _ in range(count):
        schema = {keyword: [schema]} if keyword.endswith("Of") else {keyword: schema}
    return of_field(schema)


def of_field(field, **defs):
    return {"type": "object", "$defs": defs, "properties": {"x": field}}


def make_tool(schema):
    return Tool.model_validate({"type": "given", "name": "given", "schema": schema})


TOO_LARGE = {
    "pairs of allOf": (pairs(27), "parts when every $ref"),
    "pairs of anyOf": (pairs(14, "anyOf"), "parts when every $ref"),
    "a chain of references": (chain(2000), "nested references"),
    "anyOf in anyOf": (nest("anyOf", 80), "nested references"),
    "dependencies": (of_field({"dependencies": {str(i): {"$ref": f"{HERE}a"} for i in range(3000)}},
                              a={"allOf": [{}] * 4}), "parts when every $ref"),
    "not in not": (nest("not", 80), "nested references"),
    "itself": ({"$ref": "#", "properties": {}}, "leads back to itself"),
    "itself by name": (of_field({"$ref": "#a"}, a={"$anchor": "a", "not": {"$ref": "#a"}}), "leads back to itself"),
    "two trees": ({"allOf": [{"items": {"$ref": "#"}}, {"items": {"$ref": "#"}}]}, "twice"),
    "members twice": ({"properties": {"a": {"$ref": "#"}}, "patternProperties": {"a": {"$ref": "#"}}}, "twice"),
    "others twice": ({"allOf": [{"properties": {"a": {"$ref": "#"}}}, {"additionalProperties": {"$ref": "#"}}]}, "twice"),
    "an enum": (of_field({"enum": list(range(MAX_OPTIONS + 1))}), "enum of 5,001 values"),
    "values": (of_field({"examples": [0] * MAX_PARTS}), "50,000 values"),
    "patterns": ({"patternProperties": {f"p{i}": {} for i in range(MAX_PATTERNS + 1)}}, "41 different patterns"),
    "a pattern": (of_field({"pattern": "a" * (MAX_PATTERN_LENGTH + 1)}), "pattern of more than 5,000 characters"),
    "an inner $id": (of_field({"$id": "http://other.example/", "type": "string"}), "$id below the top level"),
}  # fmt: skip


@pytest.mark.parametrize(("schema", "words"), TOO_LARGE.values(), ids=TOO_LARGE)
def test_a_schema_that_is_too_large_is_reported_and_checks_nothing(schema, words):
    began = time.process_time()
    assert words in find_excess(schema)
    assert catalog.check(make_tool(schema), {"x": "A"}).is_valid
    assert time.process_time() - began < 2


FITTING = {
    "pairs": pairs(9),
    "a chain": chain(20),
    "a tree of children": {"properties": {"children": {"items": {"$ref": "#"}}}},
    "left and right": {"properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}},
    "any JSON": {"anyOf": [{"type": "string"}, {"items": {"$ref": "#"}}, {"additionalProperties": {"$ref": "#"}}]},
    "a name and others": {"properties": {"a": {"$ref": "#"}}, "additionalProperties": {"$ref": "#"}},
    "names apart": {"allOf": [{"properties": {"a": {"$ref": "#"}}}, {"properties": {"b": {"$ref": "#"}}}]},
    "a dynamic reference": {"$dynamicAnchor": "node", "items": {"$dynamicRef": "#node"}},
    "options": of_field({"enum": list(range(MAX_OPTIONS))}),
}  # fmt: skip


@pytest.mark.parametrize("schema", FITTING.values(), ids=FITTING)
def test_what_people_write_is_not_too_large(schema):
    assert find_excess(schema) is None


@pytest.mark.parametrize(
    "reference",
    ["http://[bad", "::no address %", "#/%zz", "#/allOf/" + "9" * 5000, "#/allOf/00000000001", "x"],
)
@pytest.mark.parametrize("identity", [{}, {"$id": "http://a.example/b"}], ids=["bare", "named"])
def test_a_reference_to_nothing_is_one_subschema(reference, identity):
    schema = {"allOf": [{"$ref": reference}]} | identity
    assert (find_excess(schema), measure(schema).subschemas) == (None, 2)


@pytest.mark.parametrize("name", catalog.tools())
def test_no_bundled_tool_comes_near_the_limits(name):
    found = measure(catalog.tool(name).settings_schema)
    assert (found.subschemas < 100, found.steps < 10) == (True, True)


@given(st.lists(st.lists(st.integers(1, 4), max_size=3), min_size=1, max_size=8))
def test_the_count_is_that_of_following_every_reference(rows):
    """Definition number i refers to later definitions; a row's steps say how much later."""
    last = len(rows)
    defs = {
        f"a{i}": {"allOf": [{"$ref": f"{HERE}a{min(last, i + step)}"} for step in row]}
        for i, row in enumerate(rows)
    }
    schema = {"$defs": defs | {f"a{last}": {}}, "$ref": f"{HERE}a0"}

    def count(part):
        inner = (
            [schema["$defs"][part["$ref"].removeprefix(HERE)]] if "$ref" in part else part.get("allOf", [])
        )
        return 1 + sum(map(count, inner))

    assert measure(schema).subschemas == count(schema)


def test_a_field_that_is_too_large_leaves_the_others_of_a_foreign_tool():
    schema = pairs(27)
    schema["properties"] |= {"scheme": {"enum": ["imgt", "kabat"]}}
    tool = read_foreign_tool({"name": "mean", "schema": schema})
    found = catalog.check(tool, {"x": 1, "scheme": "other"})
    assert [problem.field for problem in found.problems] == ["scheme"]
    assert "x" in tool.origin.untranslated


MODULES = ("foldnote.catalog.foreign", "foldnote.forms.form")
FOREIGN = """
import json, resource, sys, time
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
from foldnote.catalog.foreign import read_catalog
from foldnote.forms import Form
schema = json.load(sys.stdin)
began = time.process_time()
(tool,), _ = read_catalog([{"name": "mean", "schema": schema}])
form = Form(tool)
form.problems
print(time.process_time() - began)
"""


@pytest.mark.parametrize(("schema", "_"), TOO_LARGE.values(), ids=TOO_LARGE)
def test_the_form_of_a_mean_catalog_takes_seconds_and_little_memory(schema, _):
    done = run_forked(FOREIGN, environment=dict(os.environ), said=json.dumps(schema), modules=MODULES)
    assert done.returncode == 0, done.stderr[-2000:]
    assert float(done.stdout) < 5


def test_a_tool_of_too_many_rows_is_read_as_far_as_there_is_room():
    rows = [{"name": f"s{i}", "type": "string"} for i in range(MAX_ROWS + 3000)]
    began = time.process_time()
    (tool,), _ = read_catalog([{"name": "mean", "settings": rows}])
    assert time.process_time() - began < 10
    assert len(tool.settings_schema["properties"]) == MAX_ROWS
    assert len(tool.origin.untranslated) == 3000


BUDGET = {
    "many parts": ({"items": {"allOf": [{"type": "string", "minLength": i} for i in range(200)]}}, ["A" * 200] * 150_000),
    "many letters": ({"allOf": [{"pattern": f"[a-z]{i}$"} for i in range(40)]}, "a" * 20_000_000),
    "a pattern that looks around": ({"pattern": "(?=a)(a+)+$"}, "a" * 90_000 + "b"),
}  # fmt: skip


@pytest.mark.parametrize(("field", "value"), BUDGET.values(), ids=BUDGET)
def test_a_value_that_is_too_large_for_its_schema_is_reported(field, value):
    began = time.process_time()
    found = catalog.check(make_tool(of_field(field)), {"x": value})
    assert [(problem.field, problem.code) for problem in found.problems] == [("x", "too_large")]
    assert time.process_time() - began < 3


def test_many_faults_of_a_large_schema_take_little_memory():
    field = {"items": {"allOf": [{"type": "string", "minLength": i} for i in range(1000)]}}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.process_time()
    assert not catalog.check(make_tool(of_field(field)), {"x": [1] * 1900}).is_valid
    assert time.process_time() - began < 3
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024 < 100
