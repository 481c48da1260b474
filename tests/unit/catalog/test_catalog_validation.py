"""For any wrong field of any tool, the verdict names that field and says what would be right."""

import copy
import json
import math

import hypothesis
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foldnote import catalog
from foldnote.errors import UnknownToolError
from foldnote.models import Tool

TOOLS = catalog.tools()
AMINO_ACIDS = "ACDEFGHIKLMNPQRSTVWY"


def example(tool):
    """Return the example's settings, with values that make every field of the tool apply if possible."""
    return copy.deepcopy(TOOLS[tool].example_job["settings"])


def field(tool, name):
    return TOOLS[tool].settings_schema["properties"][name]


def fields_with(keyword):
    return [
        (tool, name)
        for tool, found in TOOLS.items()
        for name, schema in found.settings_schema["properties"].items()
        if keyword in schema
    ]


def settings_where(tool, name, value):
    """Return the example with one value, and the conditions of that field met."""
    given_settings = example(tool)
    for other, values in field(tool, name)["x-foldnote"].get("appliesWhen", {}).items():
        given_settings[other] = values[0]
    return given_settings | {name: value}


def problems_of(tool, name, value):
    given_settings = settings_where(tool, name, value)
    found = catalog.check(TOOLS[tool], given_settings)
    alone = catalog.check_field(TOOLS[tool], name, value, given_settings)
    assert [problem for problem in found.problems if problem.field.split(".")[0] == name] == list(alone)
    return found.problems


def assert_only(problems, name, code):
    assert [problem.field.split(".")[0] for problem in problems] == [name]
    assert problems[0].code == code
    assert problems[0].message[-1] in ".?"


def every_field_with(keyword):
    return pytest.mark.parametrize(("tool", "name"), fields_with(keyword))


every_field = every_field_with("type")
STEPS = [1, 0.001, 1e6]


@every_field_with("minimum")
@pytest.mark.parametrize("step", STEPS)
def test_below_the_minimum_is_refused_and_the_minimum_itself_is_good(tool, name, step):
    least = field(tool, name)["minimum"]
    assert problems_of(tool, name, least) == ()
    code = "wrong_type" if field(tool, name)["type"] == "integer" and step < 1 else "below_minimum"
    assert_only(problems_of(tool, name, least - step), name, code)


@every_field_with("maximum")
@pytest.mark.parametrize("step", STEPS)
def test_above_the_maximum_is_refused_and_the_maximum_itself_is_good(tool, name, step):
    most = field(tool, name)["maximum"]
    assert problems_of(tool, name, most) == ()
    problems = problems_of(tool, name, most + step)
    code = "wrong_type" if field(tool, name)["type"] == "integer" and step < 1 else "above_maximum"
    assert_only(problems, name, code)


@every_field_with("maxLength")
def test_a_sequence_too_long_by_one_is_refused(tool, name):
    longest = field(tool, name)["maxLength"]
    body = "A" * (longest - 3) + ":GG" if "chains" in field(tool, name)["x-foldnote"] else "A" * longest
    problems = problems_of(tool, name, body + "A")
    assert (problems[0].field, problems[0].code) == (name, "too_long")
    found = catalog.check_field(TOOLS[tool], name, body, example(tool))
    is_sequence = "contig" not in field(tool, name)["x-foldnote"].get("check", ())
    assert [p for p in found if p.field == name and (is_sequence or p.code == "too_long")] == []


@every_field_with("enum")
@given(word=st.text(max_size=30))
@settings(max_examples=20)
def test_an_unknown_option_is_refused_and_the_options_are_listed(tool, name, word):
    options = field(tool, name)["enum"]
    if word in options:
        return
    problems = problems_of(tool, name, word)
    assert (problems[0].field, problems[0].code) == (name, "not_an_option")
    assert all(option in problems[0].message for option in options)


@every_field_with("enum")
def test_every_option_is_good(tool, name):
    for option in field(tool, name)["enum"]:
        assert catalog.check_field(TOOLS[tool], name, option, example(tool)) == ()


WRONG = {
    "string": [5, True, None, [], {}, 1.5],
    "number": ["5", True, False, None, [], {}],
    "integer": ["1", True, None, [], 1.5],
    "boolean": ["true", 0, 1, None, []],
    "array": ["A", 1, {}, None, True],
    "object": ["A", 1, [], None, True],
}


@every_field
def test_a_value_of_the_wrong_type_is_refused_and_never_coerced(tool, name):
    for value in WRONG[field(tool, name)["type"]]:
        problems = [item for item in problems_of(tool, name, value) if item.field == name]
        assert [problem.code for problem in problems] == ["wrong_type"]


@every_field
def test_nan_and_infinity_are_refused(tool, name):
    for value in (math.nan, math.inf, -math.inf, 10**5000, [math.nan], {"a": math.inf}):
        problems = [item for item in problems_of(tool, name, value) if item.field == name]
        assert [problem.code for problem in problems] == ["not_finite"]


@pytest.mark.parametrize("tool", list(TOOLS))
def test_an_unknown_key_is_refused_by_its_name_except_where_the_reference_is_partial(tool):
    found = catalog.check(TOOLS[tool], example(tool) | {"noSuchSetting": 1})
    if tool == "antifold":
        assert found.is_valid
        assert found.normalized["noSuchSetting"] == 1
    else:
        assert_only(found.problems, "noSuchSetting", "unknown_field")
        assert "noSuchSetting" in found.problems[0].message


@pytest.mark.parametrize(
    ("tool", "written", "meant"),
    [
        ("abodybuilder", "Heavy", "heavy"),
        ("abodybuilder", "hevy", "heavy"),
        ("abb4", "num_samples", "numSamples"),
        ("ablang-mpnn", "numSequences", "num_sequences"),
        ("alphafold", "num_recycle", "numRecycles"),
    ],
)
def test_an_unknown_key_brings_the_nearest_valid_one(tool, written, meant):
    found = catalog.check(TOOLS[tool], example(tool) | {written: 1})
    assert f"Did you mean {meant}?" in found.problems[-1].message


@given(key=st.text(alphabet=st.characters(), max_size=200))
def test_any_key_gives_a_problem_that_can_be_sent(key):
    found = catalog.check(TOOLS["amplify"], {"sequence": "GIGK", key: 1})
    for problem in found.problems:
        sent = json.dumps(problem.to_wire(), ensure_ascii=False).encode()
        assert json.loads(sent)["message"]


def test_a_key_with_half_a_character_gives_a_problem_that_can_be_sent():
    found = catalog.check(TOOLS["amplify"], {"sequence": "GIGK\ud800", "\ud800": 1})
    assert [problem.code for problem in found.problems] == ["wrong_letter", "unknown_field"]
    assert all(problem.field.encode() and problem.message.encode() for problem in found.problems)


@every_field
def test_a_required_field_may_be_left_out_only_if_it_has_a_default(tool, name):
    given_settings = example(tool)
    given_settings.pop(name, None)
    found = catalog.check(TOOLS[tool], given_settings)
    needed = name in TOOLS[tool].settings_schema["required"] and "default" not in field(tool, name)
    assert found.missing_fields == ((name,) if needed else ())
    missing = [problem.field for problem in found.problems if problem.code == "missing_field"]
    assert missing == ([name] if needed else [])


@pytest.mark.parametrize("tool", list(TOOLS))
def test_nothing_given_names_every_field_that_is_missing_in_order(tool):
    found = catalog.check(TOOLS[tool], {})
    schema = TOOLS[tool].settings_schema
    needed = [name for name in schema["required"] if "default" not in schema["properties"][name]]
    assert list(found.missing_fields) == needed
    fields = [*needed, *([""] if "anyOf" in schema else [])]  # one of several settings is needed
    assert [problem.field for problem in found.problems] == fields


@pytest.mark.parametrize("tool", list(TOOLS))
def test_normalized_fills_in_every_default_that_applies_and_checks_again_as_itself(tool):
    found = catalog.check(TOOLS[tool], example(tool))
    defaults = catalog.default_settings(TOOLS[tool])
    assert set(found.normalized) >= {
        name for name in defaults if catalog.applies(TOOLS[tool], name, example(tool))
    }
    again = catalog.check(TOOLS[tool], found.normalized)
    assert (again.problems, again.normalized) == ((), found.normalized)


def conditional_cases():
    for tool, name in fields_with("x-foldnote"):
        for other, values in field(tool, name)["x-foldnote"].get("appliesWhen", {}).items():
            for option in field(tool, other)["enum"]:
                yield tool, name, other, option, option in values


@pytest.mark.parametrize(("tool", "name", "other", "option", "is_used"), list(conditional_cases()))
def test_a_field_that_does_not_apply_is_dropped_whatever_it_holds(tool, name, other, option, is_used):
    given_settings = {key: value for key, value in example(tool).items() if not key.endswith("Mask")}
    found = catalog.check(TOOLS[tool], given_settings | {other: option, name: {"wrong": "type"}})
    assert catalog.applies(TOOLS[tool], name, {other: option}) is is_used
    assert (name in found.normalized) is is_used
    assert (name in [problem.field for problem in found.problems]) is is_used


def test_a_condition_looks_at_the_default_of_a_setting_that_was_left_out():
    assert catalog.applies(TOOLS["alphaflow"], "msaFile", {})
    assert not catalog.applies(TOOLS["ablang"], "heavyMask", {})
    assert not catalog.applies(TOOLS["ablang"], "noSuchSetting", {})


def test_problems_come_in_the_order_of_the_fields_and_unknown_keys_last():
    given_settings = {"junk": 1, "numTimesteps": 4, "numSamples": 0, "light": "B", "heavy": "A"}
    found = catalog.check(TOOLS["abb4"], given_settings)
    assert [problem.field for problem in found.problems] == ["light", "numSamples", "numTimesteps", "junk"]


def test_checking_changes_nothing_that_was_given():
    given_settings = {"smilesStrings": []}
    found = catalog.check(TOOLS["admet"], {})
    found.normalized["smilesStrings"].append("C")
    assert catalog.check(TOOLS["admet"], {}).normalized == given_settings


@pytest.mark.parametrize("answer", [None, 1, "text", []])
def test_settings_that_are_not_an_object_are_refused(answer):
    assert [problem.code for problem in catalog.check(TOOLS["amplify"], answer).problems] == ["wrong_type"]


@given(
    given_settings=st.dictionaries(
        st.sampled_from(["sequence", "numModels", "templateMode", "numRecycles", "maxMsa", "initialGuess"]),
        st.recursive(
            st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=20),
            lambda inner: (
                st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
            ),
            max_leaves=5,
        ),
    ),
    tool=st.sampled_from(sorted(TOOLS)),
)
@hypothesis.example(given_settings={}, tool="openfold3")  # one of several settings is needed
def test_no_settings_make_the_check_fall_over(given_settings, tool):
    """A problem belongs to a setting, or to several, which its message names."""
    names = list(TOOLS[tool].settings_schema["properties"])
    renamed = {names[number % len(names)]: value for number, value in enumerate(given_settings.values())}
    for problem in catalog.check(TOOLS[tool], renamed).problems:
        if problem.field:
            assert problem.field.split(".")[0] in names
        else:
            assert any(name in problem.message for name in names)
        assert problem.message.encode()


@given(text=st.text(max_size=60))
def test_no_text_makes_a_check_fall_over(text):
    for tool, found in TOOLS.items():
        strings = {
            name: text
            for name, schema in found.settings_schema["properties"].items()
            if schema["type"] == "string" and "enum" not in schema
        }
        lists = {
            name: [text]
            for name, schema in found.settings_schema["properties"].items()
            if schema["type"] == "array"
        }
        for problem in catalog.check(found, {**example(tool), **strings, **lists}).problems:
            assert problem.message.encode()


@pytest.mark.parametrize(
    ("tool", "name", "value", "advice"),
    [
        ("abb4", "numSamples", "5", "Write 5 without quotation marks."),
        ("abb4", "renumber", "True", "Write true without quotation marks."),
        ("afsample", "numSamples", 5, 'Write "5" in quotation marks.'),
        ("afcycdesign", "numDesigns", 1.5, "1.5 has a fraction."),
        ("abb4", "light", None, "Leave the setting out instead."),
    ],
)
def test_a_value_of_a_near_type_is_refused_with_advice(tool, name, value, advice):
    problems = catalog.check_field(TOOLS[tool], name, value, example(tool))
    assert problems[0].message.endswith(advice)


def test_an_unknown_tool_brings_near_ones():
    with pytest.raises(UnknownToolError) as caught:
        catalog.tool("abody_builder")
    assert caught.value.near == ("abodybuilder",)
    with pytest.raises(UnknownToolError) as caught:
        catalog.tool("zzz")
    assert caught.value.near == ()


FOREIGN = {
    "type": "object",
    "properties": {
        "mode": {"enum": ["a", "b"]},
        "depth": {"$ref": "#/$defs/depth"},
        "label": {"type": ["string", "null"], "pattern": "^[a-z]+$"},
        "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1, "uniqueItems": True},
        "any": True,
        "one": {"oneOf": [{"const": 1, "title": "One"}, {"const": 2, "title": "Two"}]},
    },
    "if": {"properties": {"mode": {"const": "b"}}, "required": ["mode"]},
    "then": {"required": ["depth"]},
    "dependentRequired": {"tags": ["label"]},
    "$defs": {"depth": {"type": "integer", "exclusiveMinimum": 0}},
}


@pytest.mark.parametrize(
    ("given_settings", "fields"),
    [
        ({"mode": "a"}, []),
        ({"mode": "b"}, ["depth"]),
        ({"mode": "b", "depth": 0}, ["depth"]),
        ({"mode": "c"}, ["mode"]),
        ({"label": None, "any": {"x": [1]}, "other": 1}, []),
        ({"label": "A1"}, ["label"]),
        ({"label": "a", "tags": []}, ["tags"]),
        ({"label": "a", "tags": ["x", "x"]}, ["tags"]),
        ({"label": "a", "tags": ["x", 1]}, ["tags.1"]),
        ({"tags": ["x"]}, ["label"]),
        ({"one": 3}, ["one"]),
    ],
)
def test_a_foreign_schema_is_checked_by_all_of_its_keywords(given_settings, fields):
    tool = Tool(type="foreign", settings_schema=FOREIGN)
    assert [problem.field for problem in catalog.check(tool, given_settings).problems] == fields


def test_a_tool_without_a_schema_takes_anything():
    tool = Tool(type="bare")
    assert catalog.check(tool, {"x": 1}).is_valid
    assert catalog.default_settings(tool) == {}


def test_a_value_that_a_schema_excludes_is_reported_in_plain_words():
    tool = Tool(type="t", schema={"type": "object", "properties": {"chain": {"not": {"const": "X"}}}})
    (problem,) = catalog.check(tool, {"chain": "X"}).problems
    assert (problem.field, problem.message) == ("chain", "The value 'X' is not allowed here.")


def test_settings_of_which_one_is_needed_are_named():
    ways = [{"required": ["dna"]}, {"required": ["x", "y"]}]
    (problem,) = catalog.check(Tool(type="t", schema={"type": "object", "anyOf": ways}), {"z": 1}).problems
    assert problem.message == "None of dna, x with y is given, and at least one is needed."
    assert (problem.field, problem.code) == ("", "invalid")
