"""Each of the seven checks of a foreign ``conditionals`` list: when the parameter applies, and is required."""

import pytest
from jsonschema import Draft202012Validator

from foldnote import catalog
from foldnote.catalog.foreign import read_foreign_tool

# check, value in the row, the other setting's value, whether the parameter applies
ROWS = [
    ("equals", "mask", "mask", True),
    ("equals", "mask", "scan", False),
    ("equals", 5, 5, True),
    ("equals", "5", 5, True),
    ("equals", 5, "5", True),
    ("equals", "true", True, True),
    ("equals", True, False, False),
    ("equals", True, 1, False),
    ("equals", ["a"], ["a"], True),
    ("equals", None, "x", False),
    ("not-equals", "mask", "scan", True),
    ("not-equals", "mask", "mask", False),
    ("not-equals", "5", 5, False),
    ("not-equals", None, "x", True),
    ("includes", "b", ["a", "b"], True),
    ("includes", "b", ["a"], False),
    ("includes", "b", "abc", True),
    ("includes", "b.", "abc", False),
    ("includes", 2, [1, 2], True),
    ("includes", 2, 2, True),
    ("includes", ["score", "hum_vhh"], "score", True),
    ("includes", ["score", "hum_vhh"], "paired", False),
    ("includes", ["score"], ["x", "score"], True),
    ("greaterThan", 3, 4, True),
    ("greaterThan", 3, 3, False),
    ("greaterThan", "3", 3.5, True),
    ("greaterThan", 3, "many", False),
    ("lessThan", 3, 2, True),
    ("lessThan", 3, 3, False),
    ("lessThan", 3, [1], False),
    ("exists", None, "x", True),
    ("exists", None, False, True),
    ("exists", None, None, False),
    ("exists", False, "x", False),
    ("notEmpty", None, "x", True),
    ("notEmpty", None, "", False),
    ("notEmpty", None, [], False),
    ("notEmpty", None, 0, True),
    ("notEmpty", False, [], True),
]
# check, value in the row, whether the parameter applies without the other setting
ABSENT = [
    ("equals", "mask", False),
    ("equals", None, True),
    ("not-equals", "mask", True),
    ("not-equals", None, False),
    ("includes", "b", False),
    ("greaterThan", 3, False),
    ("lessThan", 3, False),
    ("exists", None, False),
    ("exists", False, True),
    ("notEmpty", None, False),
    ("notEmpty", False, True),
]


def tool_with(*conditionals, other=None, required=True):
    rows = [
        {"name": "other"} | (other or {}),
        {"name": "own", "required": required, "conditionals": list(conditionals)},
    ]
    return read_foreign_tool({"name": "newtool", "parameters": rows})


def check_row(check, value):
    return {"otherSettingName": "other", "checkType": check, "otherSettingValue": value}


def assert_applies(tool, settings, applies):
    """Assert that our validator and another one agree: the parameter is missing exactly when it applies."""
    assert catalog.applies(tool, "own", settings) is applies
    found = catalog.check(tool, settings)
    assert [(problem.field, problem.code) for problem in found.problems] == [
        ("own", "missing_field")
    ] * applies
    assert Draft202012Validator(tool.settings_schema).is_valid(settings) is not applies
    assert catalog.check(tool, settings | {"own": "x"}).is_valid
    assert ("own" in catalog.check(tool, settings | {"own": "x"}).normalized) is applies


@pytest.mark.parametrize(("check", "value", "given", "applies"), ROWS)
def test_a_check_on_a_setting_that_is_given(check, value, given, applies):
    assert_applies(tool_with(check_row(check, value)), {"other": given}, applies)


@pytest.mark.parametrize(("check", "value", "applies"), ABSENT)
def test_a_check_on_a_setting_that_is_left_out(check, value, applies):
    assert_applies(tool_with(check_row(check, value)), {}, applies)


@pytest.mark.parametrize("default", ["mask", "scan"])
@pytest.mark.parametrize("check", ["equals", "not-equals", "includes"])
def test_a_setting_that_is_left_out_counts_with_its_default(check, default):
    tool = tool_with(check_row(check, "mask"), other={"type": "string", "default": default})
    assert_applies(tool, {}, (default == "mask") is (check != "not-equals"))


@pytest.mark.parametrize("spelling", ["not-equals", "notEquals", "NOT_EQUALS", "not equals"])
def test_a_check_in_each_spelling(spelling):
    assert_applies(tool_with(check_row(spelling, "a")), {"other": "a"}, False)


def test_all_checks_must_hold():
    tool = tool_with(check_row("greaterThan", 1), check_row("lessThan", 3))
    for given, applies in ((1, False), (2, True), (3, False)):
        assert_applies(tool, {"other": given}, applies)


def test_options_that_are_numbers_in_text_are_compared_as_numbers():
    options = {"type": "select", "options": ["1", "2", "10"]}
    for given, applies in (("1", False), ("2", False), ("10", True)):
        assert_applies(tool_with(check_row("greaterThan", 2), other=options), {"other": given}, applies)


def test_a_parameter_that_is_not_required_is_never_missing():
    tool = tool_with(check_row("equals", "a"), required=False)
    assert catalog.check(tool, {"other": "a"}).is_valid
    assert catalog.applies(tool, "own", {"other": "a"})
    assert not catalog.applies(tool, "own", {"other": "b"})


@pytest.mark.parametrize(
    "row",
    [check_row("resembles", 1), check_row("greaterThan", "many"), check_row("includes", None), "equals", {},
     {"checkType": "equals", "otherSettingValue": 1}],
)  # fmt: skip
def test_a_check_that_is_not_understood_is_kept_and_refuses_nothing(row):
    tool = tool_with(row)
    assert tool.origin.untranslated == {"own.conditionals": [row]}
    assert "own.conditionals" in str(tool.origin)
    assert tool.settings_schema["x-foldnote"]["untranslated"] == {"own.conditionals": [row]}
    assert catalog.check(tool, {}).is_valid
    assert catalog.applies(tool, "own", {})
