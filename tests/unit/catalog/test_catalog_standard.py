"""Standard keywords have exactly JSON Schema's meaning, by comparison with a second validator, for any Python value."""

import math
import subprocess
import sys
from datetime import date
from decimal import Decimal
from enum import StrEnum
from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from foldnote import catalog
from foldnote.catalog.json_values import MAX_LEVELS, parse_value
from foldnote.catalog.keywords import Document
from foldnote.models import Tool

TOOLS = catalog.tools()
FIELDS = [(tool, name) for tool, row in TOOLS.items() for name in row.settings_schema["properties"]]
every_field = pytest.mark.parametrize(("tool", "name"), FIELDS)

NUMBERS = (
    st.integers()
    | st.integers(-(2**900), 2**900)
    | st.integers(-5, 200).map(float)
    | st.floats(allow_nan=False, allow_infinity=False)
)
CHARACTERS = st.characters(codec=None)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(CHARACTERS, max_size=12),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(CHARACTERS, max_size=6), inner, max_size=4)
    ),
    max_leaves=8,
)


def near(schema):
    """Generate values of the right type near the bounds of the schema."""
    kind = schema.get("type")
    if kind in ("number", "integer"):
        bounds = [schema[key] for key in ("minimum", "maximum") if key in schema]
        steps = st.sampled_from([-1, 0, 1, 0.0, 1e-9, -1e-9, 0.5])
        return st.builds(lambda bound, step: bound + step, st.sampled_from([*bounds, 1]), steps)
    if kind == "array":
        return st.lists(near(schema.get("items", {})) | JSON, max_size=5)
    if kind == "object":
        return st.dictionaries(st.text(max_size=3), st.text(max_size=3) | JSON, max_size=4)
    options = schema.get("enum", ["A"])
    longest = schema.get("maxLength", 20)
    long = st.integers(-2, 2).map(lambda more: "\U0001f9ec" * (longest + more))
    return st.sampled_from(options) | long | st.text(CHARACTERS, max_size=12)


def expected(schema, value):
    """Return the second validator's findings in the order of ours."""
    errors = sorted(
        Draft202012Validator(schema).iter_errors(value), key=lambda error: error.validator != "type"
    )
    return [(str(e.validator), e.validator_value, tuple(e.absolute_path), e.instance) for e in errors]


def found(schema, value):
    faults = (
        Document({"properties": {"x": schema}}).compile("properties", "x").find_faults(parse_value(value))
    )
    return [(fault.keyword, fault.expected, fault.path, fault.instance) for fault in faults]


@every_field
@given(data=st.data())
@settings(max_examples=settings.default.max_examples // 4)
def test_a_second_validator_finds_the_same_in_the_same_order(tool, name, data):
    schema = TOOLS[tool].settings_schema["properties"][name]
    value = data.draw(JSON | near(schema))
    ours, theirs = found(schema, value), expected(schema, value)
    if isinstance(value, dict):  # the second validator visits names in any order
        ours, theirs = sorted(ours, key=repr), sorted(theirs, key=repr)
    assert ours == theirs


@given(values=st.dictionaries(st.integers(0, 30), JSON, max_size=6), tool=st.sampled_from(sorted(TOOLS)))
def test_what_the_check_accepts_a_second_validator_accepts(values, tool):
    schema = TOOLS[tool].settings_schema
    names = list(schema["properties"])
    settings_given = {names[number % len(names)]: value for number, value in values.items()}
    checked = catalog.check(TOOLS[tool], settings_given)
    refused = {
        error.path[0] for error in Draft202012Validator(schema).iter_errors(checked.normalized) if error.path
    }
    assert refused <= {problem.field.split(".")[0] for problem in checked.problems}


FOREIGN = [
    {"type": ["integer", "null"], "minimum": 1, "multipleOf": 2},
    {"minimum": 3, "exclusiveMaximum": 3, "type": "integer"},
    {"anyOf": [{"type": "string", "maxLength": 2}, {"type": "array", "items": {"type": "integer"}}]},
    {"oneOf": [{"type": "number"}, {"type": "integer"}, {"const": None}]},
    {"allOf": [{"type": "object"}, {"required": ["a"]}], "not": {"required": ["b"]}},
    {"type": "array", "items": {"minLength": 2, "pattern": "^[a-c]*$"}, "uniqueItems": True, "maxItems": 3},
    {"prefixItems": [{"type": "string"}, {"minimum": 2}], "minItems": 1, "contains": {"type": "number"}},
    {"properties": {"b": {"type": "string"}, "a": {"enum": [1, "1", None, False]}}, "required": ["a", "b"]},
    {"patternProperties": {"^a": {"type": "integer"}}, "additionalProperties": {"maxLength": 1}},
    {"additionalProperties": False, "properties": {"a": True, "b": {"not": {}}}},
    {"propertyNames": {"maxLength": 1, "pattern": "^[a-z]"}, "minProperties": 1, "maxProperties": 2},
    {"if": {"type": "string"}, "then": {"minLength": 2}, "else": {"type": "integer"}},
    {"dependentRequired": {"a": ["b", "c"]}, "dependentSchemas": {"b": {"required": ["a"]}}},
    {"format": "email"},
    {"const": {"a": [1, True]}},
    True,
    False,
    {},
]
KEYS = st.dictionaries(st.sampled_from(["a", "b", "c", "aa", "A"]), JSON, max_size=4)
SMALL = (
    st.sampled_from([1, 1.0, 0, 2, 3, True, False, None, "", "a", "1", "ab", "abc", [], {}])
    | st.lists(st.sampled_from([1, 1.0, True, "a", "ab", "zz", "z", None, 2]), max_size=5)
    | st.dictionaries(
        st.sampled_from(["a", "b", "c", "aa", "Ab"]), st.sampled_from([1, "1", "x", "xyz", None])
    )
)


@pytest.mark.parametrize("schema", FOREIGN, ids=str)
@given(value=SMALL | KEYS | JSON)
def test_a_foreign_schema_gives_the_verdict_of_a_second_validator(schema, value):
    assert bool(found(schema, value)) is bool(expected(schema, value))


UNORDERED = {"propertyNames", "patternProperties"}
TOLD_ALIKE = [schema for schema in FOREIGN if isinstance(schema, dict) and UNORDERED.isdisjoint(schema)]


@pytest.mark.parametrize("schema", TOLD_ALIKE, ids=str)
@given(value=SMALL)
def test_keywords_of_a_foreign_schema_are_met_in_its_own_order(schema, value):
    ours, theirs = (list(dict.fromkeys((key, path) for key, _, path, _ in side)) for side in (
        found(schema, value), expected(schema, value)))  # fmt: skip
    assert ours == theirs


REFERRING = {
    "properties": {
        "a/b~c %": {"maximum": 9, "$ref": "#/$defs/whole", "minimum": 3},
        "tree": {"$ref": "#/$defs/tree"},
        "far": {"$ref": "https://example.org/never-fetched"},
        "part": {"$ref": "https://example.org/never-fetched#/$defs/part"},
        "beside": {"$ref": "other#part"},
        "wrong": {"type": "no such type"},
        "regex": {"pattern": "("},
        "loop": {"$ref": "#/$defs/loop"},
        "type": {"enum": ["a", "b"]},
        "slow": {"pattern": r"^(a|a)*(?=x)\1$"},
    },
    "$defs": {
        "whole": {"type": "integer"},
        "tree": {"type": "array", "items": {"$ref": "#/$defs/tree"}},
        "loop": {"$ref": "#/$defs/loop"},
    },
}


@pytest.mark.parametrize(
    "key", ["", "0", "00", "+7", "-1", "a/b", "~", "%20", "\ud800", "٣", "$ref", "9" * 5000]
)
def test_any_key_of_an_object_is_named_in_the_path(key):
    schema = {"additionalProperties": {"properties": {key: {"type": "string"}}}}
    value = {key: {key: 1, "other": 1}, "other": {key: "text"}}
    assert [fault[2:] for fault in found(schema, value)] == [((key, key), 1)]
    assert [fault[2:] for fault in expected(schema, value)] == [((key, key), 1)]


@pytest.mark.parametrize("identity", [{}, {"$id": "https://example.org/tool"}], ids=["bare", "named"])
@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("a/b~c %", 5, []),
        ("a/b~c %", 1, [("minimum", 3, ())]),
        ("a/b~c %", 9.5, [("type", "integer", ()), ("maximum", 9, ())]),
        ("tree", [[], [[1]]], [("type", "array", (1, 0, 0))]),
        ("type", "c", [("enum", ["a", "b"], ())]),
    ],
)
def test_references_beside_other_keywords_are_followed_within_the_schema(identity, name, value, wanted):
    rules = Document(REFERRING | identity).compile("properties", name)
    assert [fault[:3] for fault in rules.find_faults(parse_value(value))] == wanted


@pytest.mark.parametrize("name", ["far", "part", "beside", "wrong", "regex", "loop", "slow"])
def test_a_rule_that_cannot_be_followed_is_left_to_the_service_and_the_others_hold(name):
    tool = Tool(type="foreign", settings_schema=REFERRING)
    checked = catalog.check(tool, {name: "a" * 40, "type": "c", "a/b~c %": 1})
    assert [problem.field for problem in checked.problems] == ["a/b~c %", "type"]


def test_an_address_that_is_none_leaves_the_fields_without_references():
    properties = {"bad": {"$ref": "::no address %"}, "type": {"enum": ["a"]}}
    checked = catalog.check(
        Tool(type="foreign", settings_schema={"properties": properties}), {"bad": 1, "type": 1}
    )
    assert [problem.field for problem in checked.problems] == ["type"]


class Weekday(StrEnum):
    MONDAY = "monday"


class Silent:
    """An object that cannot be converted to text."""

    def __repr__(self):
        raise RuntimeError("no text")

    def __eq__(self, other):
        raise RuntimeError("no equality")

    __hash__ = object.__hash__


def nested(levels, value=1):
    for _ in range(levels):
        value = [value]
    return value


def endless():
    value = []
    value.extend([value, {"a": value}])
    return value


def wide():
    value = []
    for _ in range(90):
        value = [value, value]
    return value


ODD = {
    "tuple": (1, "a"),
    "set": {1},
    "bytes": b"A",
    "object": Silent(),
    "class": int,
    "decimal": Decimal("1.5"),
    "complex": 1j,
    "date": date(2026, 1, 1),
    "array": np.array([1, 2]),
    "series": pd.Series(["a"]),
    "numpy integer": np.int64(4),
    "proxy": MappingProxyType({"a": "b"}),
    "keys": {1: "a"},
    "key and text": {"a": "b", (1,): "c"},
    "deep": nested(MAX_LEVELS + 1),
    "very deep": nested(100_000),
    "endless": endless(),
    "huge": 10**5000,
    "nan": math.nan,
    "nan inside": [{"a": [math.inf]}],
    "inside": {"a": [Silent()]},
    "inside a list": ["a", (Silent(),)],
}


@pytest.mark.parametrize("odd", ODD)
def test_a_value_that_json_cannot_carry_is_refused_in_words_by_every_field(odd):
    for tool, name in FIELDS:
        others = TOOLS[tool].example_job["settings"]
        given_settings = {**others, name: ODD[odd]}
        checked = catalog.check(TOOLS[tool], given_settings)
        for problem in (*checked.problems, *catalog.check_field(TOOLS[tool], name, ODD[odd], given_settings)):
            assert problem.field.encode()
            assert 10 < len(problem.message) < 1500
        if name in checked.normalized:
            assert name in [problem.field.split(".")[0] for problem in checked.problems]


@pytest.mark.parametrize("odd", ODD)
def test_odd_values_do_not_make_foreign_rules_fall_over(odd):
    for schema in (*FOREIGN, *REFERRING["properties"].values()):
        document = {"properties": {"x": schema}, "$defs": REFERRING["$defs"]}
        tool = Tool(type="foreign", settings_schema=document | {"dependentRequired": {"x": ["y"]}})
        checked = catalog.check(tool, {"x": ODD[odd], "junk": ODD[odd]})
        assert {problem.field.split(".")[0] for problem in checked.problems} >= {"x", "junk"}


@pytest.mark.parametrize("odd", ODD)
def test_a_setting_on_which_others_depend_may_be_odd(odd):
    found_problems = catalog.check(TOOLS["ablang"], {"task": ODD[odd]}).problems
    assert "task" in [problem.field for problem in found_problems]


def test_a_value_of_more_parts_than_can_be_counted_is_refused():
    problems = catalog.check(TOOLS["antifold"], {"junk": wide()}).problems
    assert ("junk", "too_deep") in [(problem.field, problem.code) for problem in problems]


def test_odd_keys_are_refused():
    for key in (10**5000, Silent(), (1,), None, 1.5, "\ud800"):
        for tool in ("amplify", "antifold"):
            problems = catalog.check(TOOLS[tool], {key: 1}).problems
            assert all(problem.field.encode() and problem.message.encode() for problem in problems)
            assert len(problems) > len(catalog.check(TOOLS[tool], {}).problems) or key == "\ud800"


@pytest.mark.parametrize(
    ("value", "path", "message"),
    [
        ({"A": ("1",)}, "designedResidues.A", "This must be text, not a Python tuple."),
        ({1: "A"}, "designedResidues", "The names in an object must be text. Put them in quotation marks."),
        ((1,), "designedResidues", "This must be an object of names and values, not a Python tuple."),
    ],
)
def test_an_odd_part_is_reported_at_its_position(value, path, message):
    tool = next(row for row in TOOLS.values() if "designedResidues" in row.settings_schema["properties"])
    given_settings = {**tool.example_job["settings"], "designedResidues": value}
    problems = catalog.check_field(tool, "designedResidues", value, given_settings)
    assert [(problem.field, problem.message, problem.code) for problem in problems] == [
        (path, message, "wrong_type")
    ]


def test_text_and_numbers_of_other_classes_are_what_json_makes_of_them():
    assert parse_value([Weekday.MONDAY, np.float64(1.5), True, 1.0, "\ud800"]).invalid == ()
    assert [type(item) for item in parse_value([Weekday.MONDAY, np.float64(1.5), True]).value] == [
        str,
        float,
        bool,
    ]


@given(value=JSON)
@example(value=nested(MAX_LEVELS))
def test_plain_json_stays_as_it_is(value):
    plain = parse_value(value)
    assert (plain.invalid, plain.original) == ((), value)
    if "\\ud" not in repr(value):
        assert plain.value == value


def test_the_first_check_of_an_interpreter_loads_no_grammar():
    code = (
        "import sys\n"
        "from foldnote import catalog\n"
        "for tool in catalog.tools().values():\n"
        "    assert catalog.check(tool, tool.example_job['settings']).is_valid\n"
        "print(sorted({'jsonschema', 'rfc3987_syntax', 'lark', 'jsonschema_rs'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['jsonschema_rs']"
