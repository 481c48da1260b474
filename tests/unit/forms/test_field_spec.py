"""One field, read from the many spellings that JSON Schema allows."""

import pytest

from foldnote.forms.schema.spec import MISSING, Choice, read_item_choices, read_specs


def read_one(schema, **root):
    return read_specs({"properties": {"x": schema}, **root})[0]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": ["string", "null"]},
        {"anyOf": [{"type": "string"}, {"type": "null"}]},
        {"oneOf": [{"type": "null"}, {"type": "string"}], "title": "X"},
    ],
)
def test_null_beside_a_type_makes_a_nullable_field_of_that_type(schema):
    spec = read_one(schema)
    assert (spec.type, spec.nullable) == ("string", True)


def test_keywords_beside_a_reference_win():
    spec = read_one({"$ref": "#/$defs/k", "default": 3}, **{"$defs": {"k": {"type": "number", "default": 1}}})
    assert (spec.type, spec.default) == ("number", 3)


def test_a_reference_to_nothing_and_a_circle_end():
    assert read_one({"$ref": "#/$defs/none"}).type == ""
    assert read_one({"$ref": "#/$defs/a"}, **{"$defs": {"a": {"$ref": "#/$defs/a"}}}).type == ""


@pytest.mark.parametrize(
    ("schema", "choices"),
    [
        ({"enum": ["a", "b"]}, (Choice("a", "a"), Choice("b", "b"))),
        ({"const": 3}, (Choice(3, "3"),)),
        (
            {"oneOf": [{"const": "h", "title": "Heavy"}, {"const": "l"}]},
            (Choice("h", "Heavy"), Choice("l", "l")),
        ),
        ({"oneOf": [{"type": "string"}, {"type": "number"}]}, ()),
    ],
)
def test_choices(schema, choices):
    assert read_one(schema).choices == choices


def test_item_choices():
    spec = read_one({"type": "array", "items": {"$ref": "#/$defs/r"}}, **{"$defs": {"r": {"enum": ["a"]}}})
    assert read_item_choices(spec) == (Choice("a", "a"),)


def test_groups_come_in_order_and_a_required_field_without_default_comes_first():
    schema = {
        "required": ["c", "d"],
        "properties": {
            "a": {"x-foldnote": {"group": "advanced"}},
            "b": {"type": "string"},
            "c": {"type": "string"},
            "d": {"type": "string", "default": "x"},
            "e": {"x-foldnote": {"order": 1}},
        },
    }
    assert [spec.name for spec in read_specs(schema)] == ["c", "e", "b", "d", "a"]
    assert [spec.group for spec in read_specs(schema)] == [
        "required",
        "common",
        "common",
        "common",
        "advanced",
    ]


def test_no_default_is_not_a_default_of_null():
    assert read_one({}).default is MISSING
    assert read_one({"default": None}).default is None
