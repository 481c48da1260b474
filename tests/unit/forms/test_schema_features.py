"""Features of JSON Schema in forms: one claim per feature, tested through the widgets."""

import pytest
from form_builders import label_of, make_form
from page import Page, classes_of

from foldnote.forms import SchemaForm


def form_of(properties, required=(), **more):
    return SchemaForm({"type": "object", "properties": properties, "required": list(required), **more})


def is_shown(form, name):
    return "foldnote-hidden" not in classes_of(form.fields[name].widget)


def messages(form):
    return {problem.field: problem.message for problem in form.problems}


def inner(form, *path):
    """Return the field at a path of names and row numbers."""
    field = form.fields[path[0]]
    for step in path[1:]:
        found = {inside.spec.name: inside for inside in field.inside()}
        field = field.inside()[step] if isinstance(step, int) else found[step]
    return field


@pytest.mark.parametrize(
    ("schema", "typed", "value"),
    [
        ({"type": "string"}, "a b", "a b"),
        ({"type": "number"}, "2.5", 2.5),
        ({"type": "integer"}, "3", 3),
        ({"type": "boolean"}, True, True),
    ],
)
def test_text_numbers_and_switches_are_read_as_their_type(schema, typed, value):
    form = form_of({"x": schema})
    field = form.fields["x"]
    field.control.value = typed
    assert form.value == {"x": value}
    assert type(form.value["x"]) is type(value)


def test_null_is_the_only_value_of_its_type():
    assert form_of({"x": {"type": "null"}}, ["x"]).value == {"x": None}
    assert form_of({"x": {"type": "null"}}).value == {}


def test_an_enum_is_a_choice_and_says_what_is_allowed():
    form = form_of({"x": {"enum": ["a", 2, None]}})
    assert [label for label, _ in form.fields["x"].widget.options][:3] == ["not set", "a", "2"]
    form.fields["x"].widget.index = 2
    assert form.value == {"x": 2}


def test_a_required_constant_is_shown_and_sent_and_an_optional_one_chosen():
    form = form_of({"x": {"const": 7}, "y": {"const": 8}}, ["x"])
    assert form.fields["x"].widget.disabled
    assert form.value == {"x": 7}
    form.fields["y"].widget.index = 1
    assert form.value == {"x": 7, "y": 8}


def test_constants_with_titles_are_chosen_by_their_titles():
    form = form_of({"x": {"oneOf": [{"const": "h", "title": "Heavy"}, {"const": "l", "title": "Light"}]}})
    assert [label for label, _ in form.fields["x"].widget.options] == ["not set", "Heavy", "Light"]
    form.fields["x"].widget.index = 2
    assert form.value == {"x": "l"}


@pytest.mark.parametrize(
    "schema", [{"type": ["number", "null"]}, {"anyOf": [{"type": "number"}, {"type": "null"}]}]
)
def test_a_nullable_field_is_null_where_it_must_be_there_and_is_empty(schema):
    form = form_of({"x": schema}, ["x"])
    assert form.value == {"x": None}
    form.fields["x"].widget.value = "4"
    assert form.value == {"x": 4}
    assert form_of({"x": schema}).value == {}


def test_a_nested_object_has_its_own_fields_with_errors_at_them():
    box = {"type": "object", "properties": {"size": {"type": "number", "minimum": 1}}, "required": ["size"]}
    form = form_of({"box": box}, ["box"])
    assert messages(form) == {"box.size": "Required."}
    inner(form, "box", "size").widget.value = "0"
    assert "too small" in inner(form, "box", "size").widget.description
    inner(form, "box", "size").widget.value = "5"
    assert form.value == {"box": {"size": 5}}
    assert form.problems == ()


def test_an_optional_object_is_folded_and_sent_once_something_in_it_is_given():
    box = {
        "type": "object",
        "properties": {"size": {"type": "number"}, "unit": {"type": "string", "default": "nm"}},
    }
    form = form_of({"box": box})
    assert form.value == {}
    form.fields["box"].fold.click()
    assert form.value == {}
    inner(form, "box", "size").widget.value = "5"
    assert form.value == {"box": {"size": 5, "unit": "nm"}}


@pytest.mark.parametrize(
    ("items", "text", "value"),
    [
        ({"type": "string"}, "a\nb", ["a", "b"]),
        ({"type": "number"}, "1, 2.5", [1, 2.5]),
        ({"type": "integer"}, "1 2", [1, 2]),
    ],
)
def test_a_list_of_scalars_begins_with_its_default(items, text, value):
    form = form_of({"x": {"type": "array", "items": items, "default": value[:1]}})
    assert form.value == {"x": value[:1]}
    form.fields["x"].widget.value = text
    assert form.value == {"x": value}
    assert "fn-changed" in label_of(form, "x")


def test_a_list_of_an_enum_is_ticked():
    form = form_of({"x": {"type": "array", "items": {"enum": ["H1", "H2", "H3"]}, "uniqueItems": True}})
    for box in form.fields["x"].boxes[1:]:
        box.value = True
    assert form.value == {"x": ["H2", "H3"]}


def test_rows_of_objects_are_added_moved_and_removed():
    row = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    form = form_of({"rows": {"type": "array", "items": row}})
    rows = form.fields["rows"]
    for name in ("a", "b", "c"):
        rows.control.click()
        inner(form, "rows", -1, "name").widget.value = name
    rows.rows[2].up.click()
    assert [item["name"] for item in form.value["rows"]] == ["a", "c", "b"]
    rows.rows[0].remove.click()
    assert form.value == {"rows": [{"name": "c"}, {"name": "b"}]}
    inner(form, "rows", 1, "name").widget.value = ""
    assert list(messages(form)) == ["rows.1.name"]
    assert "required" in inner(form, "rows", 1, "name").widget.description


def test_a_map_of_scalars_is_written_line_by_line_and_one_of_objects_in_rows():
    chain = {"type": "object", "properties": {"length": {"type": "integer"}}}
    form = form_of(
        {
            "residues": {"type": "object", "additionalProperties": {"type": "string"}},
            "chains": {"type": "object", "additionalProperties": chain},
        }
    )
    form.fields["residues"].widget.value = "H: 26 27\nL: 50"
    form.fields["chains"].control.click()
    form.fields["chains"].rows[0].key.value = "H"
    inner(form, "chains", 0, "length").widget.value = "120"
    assert form.value == {"residues": {"H": "26 27", "L": "50"}, "chains": {"H": {"length": 120}}}


def test_keywords_beside_a_reference_win_over_its_target():
    form = form_of(
        {"x": {"$ref": "#/$defs/size", "default": 5, "title": "Width"}},
        **{"$defs": {"size": {"type": "number", "default": 1, "maximum": 9}}},
    )
    assert form.value == {"x": 5}
    assert "Width" in label_of(form, "x")
    form.fields["x"].widget.value = "10"
    assert "too large" in label_of(form, "x")


def test_defaults_of_every_level_are_there_from_the_start():
    row = {"type": "object", "properties": {"n": {"type": "integer", "default": 2}}}
    box = {
        "type": "object",
        "default": {"a": 1},
        "properties": {"a": {"type": "integer"}, "b": {"type": "string", "default": "z"}},
    }
    form = form_of({"box": box, "rows": {"type": "array", "items": row, "default": [{"n": 7}]}})
    assert form.value == {"box": {"a": 1, "b": "z"}, "rows": [{"n": 7}]}
    form.fields["rows"].control.click()
    assert form.value["rows"] == [{"n": 7}, {"n": 2}]


def test_the_default_of_an_object_may_hold_an_object_that_begins_with_nothing_itself():
    size = {"type": "object", "properties": {"n": {"type": "integer"}}}
    box = {"type": "object", "properties": {"size": size}, "default": {"size": {"n": 2}}}
    pair = {"type": "array", "prefixItems": [size, size], "default": [{"n": 3}]}
    form = form_of({"box": box, "pair": pair})
    assert form.value == {"box": {"size": {"n": 2}}, "pair": [{"n": 3}]}


@pytest.mark.parametrize(
    ("schema", "wrong", "right", "said"),
    [
        ({"type": "number", "minimum": 1}, "0", "1", "the least is 1"),
        ({"type": "number", "exclusiveMinimum": 1}, "1", "1.1", "more than 1"),
        ({"type": "number", "maximum": 5}, "6", "5", "the most is 5"),
        ({"type": "number", "exclusiveMaximum": 5}, "5", "4.9", "less than 5"),
        ({"type": "integer", "multipleOf": 5}, "7", "10", "not a multiple of 5"),
        ({"type": "string", "minLength": 3}, "ab", "abc", "the shortest allowed is 3"),
        ({"type": "string", "maxLength": 2}, "abc", "ab", "the longest allowed is 2"),
        ({"type": "string", "pattern": "^[A-Z]+$"}, "a", "A", "does not have the form"),
        ({"type": "string", "format": "date"}, "21.11.2026", "2026-11-21", "2026-11-21"),
        ({"type": "string", "format": "email"}, "me", "me@example.org", "e-mail"),
        (
            {"type": "array", "items": {"type": "string"}, "minItems": 2},
            "a",
            "a\nb",
            "the fewest allowed is 2",
        ),
    ],
)
def test_bounds_patterns_and_formats_are_checked_as_typed_and_reported_before(schema, wrong, right, said):
    form = form_of({"x": schema})
    form.fields["x"].widget.value = wrong
    assert said in label_of(form, "x")
    assert "fn-error" in label_of(form, "x")
    form.fields["x"].widget.value = right
    assert "fn-error" not in label_of(form, "x")


def test_if_then_else_shows_the_fields_that_are_meant_and_keeps_what_was_typed():
    form = SchemaForm(
        {
            "type": "object",
            "properties": {"task": {"enum": ["scan", "mask"], "default": "scan"}},
            "if": {"properties": {"task": {"const": "mask"}}, "required": ["task"]},
            "then": {"properties": {"mask": {"type": "string"}}, "required": ["mask"]},
            "else": {"properties": {"depth": {"type": "integer", "default": 3}}},
        }
    )
    assert form.value == {"task": "scan", "depth": 3}
    assert not is_shown(form, "mask")
    form.fields["task"].widget.index = 1
    assert messages(form) == {"mask": "Required."}
    form.fields["mask"].widget.value = "3-9"
    form.fields["task"].widget.index = 0
    assert form.value == {"task": "scan", "depth": 3}
    form.fields["task"].widget.index = 1
    assert form.value == {"task": "mask", "mask": "3-9"}


def test_conditions_in_all_of_are_combined():
    def when(name, more):
        return {
            "if": {"properties": {name: {"const": True}}, "required": [name]},
            "then": {"properties": {more: {"type": "string"}}, "required": [more]},
        }

    form = form_of(
        {"a": {"type": "boolean"}, "b": {"type": "boolean"}}, allOf=[when("a", "x"), when("b", "y")]
    )
    assert not is_shown(form, "x")
    form.fields["a"].control.value = True
    assert is_shown(form, "x")
    assert not is_shown(form, "y")
    form.fields["b"].control.value = True
    assert set(messages(form)) == {"x", "y"}


def test_the_same_name_may_be_another_field_under_another_condition():
    form = form_of(
        {"kind": {"enum": ["count", "name"], "default": "count"}},
        **{
            "if": {"properties": {"kind": {"const": "count"}}},
            "then": {"properties": {"of": {"type": "integer"}}},
            "else": {"properties": {"of": {"enum": ["all", "none"]}}},
        },
    )
    form.fields["of"].widget.value = "3"
    assert form.value == {"kind": "count", "of": 3}
    form.fields["kind"].widget.index = 1
    form.fields["of"].widget.index = 1
    assert form.value == {"kind": "name", "of": "all"}
    form.fields["kind"].widget.index = 0
    assert form.value == {"kind": "count", "of": 3}


def test_a_field_that_a_condition_forbids_is_hidden_and_not_sent():
    form = form_of(
        {"fast": {"type": "boolean", "default": False}, "steps": {"type": "integer", "default": 9}},
        **{"if": {"properties": {"fast": {"const": True}}}, "then": {"properties": {"steps": False}}},
    )
    assert form.value == {"fast": False, "steps": 9}
    form.fields["fast"].control.value = True
    assert form.value == {"fast": True}
    assert not is_shown(form, "steps")


def test_dependent_required_asks_for_the_other_field_once_the_first_is_given():
    form = form_of({"a": {"type": "string"}, "b": {"type": "string"}}, dependentRequired={"a": ["b"]})
    assert form.problems == ()
    assert "fn-required" not in label_of(form, "b")
    form.fields["a"].widget.value = "x"
    assert list(messages(form)) == ["b"]
    assert "fn-required" in label_of(form, "b")


def test_dependent_schemas_bring_fields_with_them():
    form = form_of(
        {"card": {"type": "string"}},
        dependentSchemas={"card": {"properties": {"address": {"type": "string"}}, "required": ["address"]}},
    )
    assert not is_shown(form, "address")
    form.fields["card"].widget.value = "1"
    assert is_shown(form, "address")
    assert list(messages(form)) == ["address"]


UNION = {
    "oneOf": [
        {
            "title": "By distance",
            "type": "object",
            "properties": {"kind": {"const": "distance"}, "nm": {"type": "number", "maximum": 2}},
            "required": ["kind", "nm"],
        },
        {
            "title": "By name",
            "type": "object",
            "properties": {"kind": {"const": "name"}, "chain": {"type": "string"}},
            "required": ["kind"],
        },
    ]
}


def test_a_union_of_objects_is_chosen_by_what_tells_them_apart():
    form = form_of({"site": UNION}, ["site"])
    kind = inner(form, "site", "kind")
    assert messages(form) == {"site.kind": "Required."}
    assert "fn-error" not in kind.widget.description
    assert [label for label, _ in kind.widget.options] == ["choose…", "By distance", "By name"]
    kind.widget.index = 1
    inner(form, "site", "nm").widget.value = "5"
    assert "the most is 2" in inner(form, "site", "nm").widget.description
    inner(form, "site", "nm").widget.value = "1"
    assert form.value == {"site": {"kind": "distance", "nm": 1}}
    kind.widget.index = 2
    assert form.value == {"site": {"kind": "name"}}
    kind.widget.index = 1
    assert form.value == {"site": {"kind": "distance", "nm": 1}}
    assert form.problems == ()


def test_a_union_can_be_the_whole_schema():
    form = SchemaForm(UNION)
    form.fields["kind"].widget.index = 1
    assert list(messages(form)) == ["nm"]
    form.fields["nm"].widget.value = "0.5"
    assert form.value == {"kind": "distance", "nm": 0.5}


def test_a_union_without_a_mark_is_chosen_by_its_kind():
    form = form_of(
        {"x": {"anyOf": [{"type": "number", "minimum": 0}, {"type": "array", "items": {"type": "string"}}]}}
    )
    field = form.fields["x"]
    assert [label for label, _ in field.control.options] == ["not set", "number", "list"]
    field.control.index = 1
    field.inside()[0].widget.value = "-1"
    assert "too small" in field.inside()[0].widget.description
    field.control.index = 2
    field.inside()[0].widget.value = "a\nb"
    assert form.value == {"x": ["a", "b"]}
    form.set(x=3)
    assert field.control.index == 1
    assert form.value == {"x": 3}


def test_one_of_several_types_can_be_selected():
    form = form_of({"x": {"type": ["string", "integer"]}}, ["x"])
    form.fields["x"].control.index = 1
    form.fields["x"].inside()[0].widget.value = "5"
    assert form.value == {"x": 5}


def test_a_read_only_value_is_shown_sent_and_locked():
    form = form_of({"x": {"type": "string", "readOnly": True, "default": "v1"}})
    assert form.fields["x"].widget.disabled
    assert "read-only" in label_of(form, "x")
    assert form.value == {"x": "v1"}


def test_a_deprecated_setting_is_marked_and_folded_away():
    form = form_of({"x": {"type": "string", "deprecated": True}, "y": {"type": "string"}})
    assert "deprecated" in label_of(form, "x")
    assert form.fields["x"].spec.group == "advanced"


def test_title_description_and_examples_are_read_before_typing():
    form = form_of({"x": {"type": "string", "title": "Name", "description": "Whose.", "examples": ["1hzh"]}})
    assert "Name" in label_of(form, "x")
    assert "Whose." in label_of(form, "x")
    assert form.fields["x"].widget.placeholder == "e.g. 1hzh"


def test_unknown_keywords_are_left_alone():
    form = form_of({"x": {"type": "string", "x-vendor": {"a": 1}, "contentMediaType": "text/plain"}})
    form.fields["x"].widget.value = "a"
    assert form.value == {"x": "a"}
    assert form.fields["x"].spec.schema["x-vendor"] == {"a": 1}
    assert form.problems == ()


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"type": "object"}, "does not say which names"),
        ({"$ref": "https://example.org/other.json"}, "https://example.org/other.json"),
        ({"not": {"type": "string"}}, "there is no form for this not"),
        ({}, "any value"),
    ],
)
def test_a_part_without_a_form_says_which_and_takes_json(schema, why):
    form = form_of({"x": schema, "y": {"type": "number"}})
    assert why in label_of(form, "x")
    form.fields["x"].widget.value = '{"a": [1, null]}'
    assert form.value == {"x": {"a": [1, None]}}


def test_a_schema_without_end_is_opened_level_by_level():
    tree = {"type": "object", "properties": {"name": {"type": "string"}, "next": {"$ref": "#/$defs/tree"}}}
    form = form_of({"root": {"$ref": "#/$defs/tree"}}, ["root"], **{"$defs": {"tree": tree}})
    inner(form, "root", "next").fold.click()
    inner(form, "root", "next", "name").widget.value = "leaf"
    assert form.value == {"root": {"next": {"name": "leaf"}}}


def test_a_schema_of_a_list_is_a_form_of_one_field():
    form = SchemaForm({"type": "array", "items": {"type": "integer"}}, [1, 2])
    assert form.data == [1, 2]
    form.fields["value"].widget.value = "3"
    assert form.data == [3]


def test_additional_properties_are_kept_and_can_be_edited_if_described():
    form = SchemaForm({"type": "object", "properties": {"a": {"type": "string"}}}, {"a": "x", "other": [1]})
    assert form.value == {"a": "x", "other": [1]}
    form = form_of({"a": {"type": "string"}}, additionalProperties={"type": "number"})
    form.section.more.widget.value = "b: 2"
    assert form.value == {"b": 2}


PLACES = {"type": "array", "prefixItems": [{"type": "number"}, {"type": "string", "title": "Unit"}]}


@pytest.mark.parametrize("schema", [PLACES, {"type": "array", "items": PLACES["prefixItems"]}])
def test_each_described_position_of_a_list_has_a_field(schema):
    form = form_of({"x": schema}, ["x"])
    assert form.value == {"x": []}
    place, unit = form.fields["x"].inside()
    assert (place.spec.title, unit.spec.title) == ("Item 1", "Unit")
    place.widget.value = "2.5"
    assert form.value == {"x": [2.5]}
    unit.widget.value = "nm"
    assert form.value == {"x": [2.5, "nm"]}


def test_an_empty_position_before_a_filled_one_and_an_error_in_one_are_shown_there():
    form = form_of({"x": {**PLACES, "minItems": 2}}, ["x"])
    place, unit = form.fields["x"].inside()
    unit.widget.value = "nm"
    assert [problem.field for problem in form.problems] == ["x.0"]
    place.widget.value = "long"
    assert "is not a number" in place.widget.description


def test_items_beyond_the_described_positions_are_kept_unchanged():
    form = form_of({"x": PLACES})
    form.set(x=[1, "nm", {"a": None}, 4])
    assert form.value == {"x": [1, "nm", {"a": None}, 4]}
    assert "and 2 more items, kept unchanged" in label_of(form, "x")
    form.set(form.value)
    assert form.value == {"x": [1, "nm", {"a": None}, 4]}


def test_defaults_of_positions_do_not_create_a_list():
    schema = {"type": "array", "prefixItems": [{"type": "number", "default": 1}]}
    assert form_of({"x": schema}).value == {}
    assert form_of({"x": {**schema, "default": [3]}}).value == {"x": [3]}


def twice_described(**then):
    return form_of(
        {
            "mode": {"enum": ["fast", "exact"], "default": "fast"},
            "steps": {"type": "integer", "title": "Steps", "default": 10, "minimum": 1, "maximum": 100},
        },
        **{"if": {"properties": {"mode": {"const": "exact"}}}, "then": {"properties": {"steps": then}}},
    )


def choose(form, name, index):
    form.fields[name].widget.index = index


def test_a_second_title_description_and_bounds_are_shown_while_their_condition_holds():
    form = twice_described(title="Refinement steps", description="Each costs a minute.", minimum=20)
    choose(form, "mode", 1)
    told = label_of(form, "steps")
    assert "Refinement steps" in told
    assert "Each costs a minute." in told
    assert "20 to 100" in told
    assert "too small" in told
    assert [problem.field for problem in form.problems] == ["steps"]
    choose(form, "mode", 0)
    assert "Refinement" not in label_of(form, "steps")
    assert form.problems == ()


def test_a_conditional_default_holds_while_its_condition_does_unless_the_user_set_a_value():
    form = twice_described(default=50)
    assert form.value["steps"] == 10
    choose(form, "mode", 1)
    assert form.value["steps"] == 50
    assert "fn-changed" not in label_of(form, "steps")
    choose(form, "mode", 0)
    assert form.value["steps"] == 10


def test_a_value_stays_when_the_description_of_its_field_changes():
    form = twice_described(default=50, title="Refinement steps")
    form.fields["steps"].widget.value = "12"
    choose(form, "mode", 1)
    assert form.value["steps"] == 12
    assert "fn-changed" in label_of(form, "steps")
    form.fields["steps"].widget.value = "twelve"
    choose(form, "mode", 0)
    assert form.fields["steps"].widget.value == "twelve"
    assert "fn-error" in label_of(form, "steps")
    again = SchemaForm(form.schema, {"mode": "exact", "steps": 10})
    assert again.value == {"mode": "exact", "steps": 10}


def test_a_second_enum_leaves_the_common_values_to_choose_from():
    form = form_of(
        {
            "mode": {"enum": ["fast", "exact"], "default": "fast"},
            "model": {"type": "string", "enum": ["s", "m", "l"], "default": "m"},
        },
        allOf=[
            {
                "if": {"properties": {"mode": {"const": "exact"}}},
                "then": {"properties": {"model": {"enum": ["l", "m"], "default": "l"}}},
            }
        ],
    )
    choose(form, "mode", 1)
    assert [label for label, _ in form.fields["model"].widget.options] == ["m", "l"]
    assert form.value["model"] == "l"
    choose(form, "mode", 0)
    choose(form, "model", 0)
    choose(form, "mode", 1)
    assert form.value["model"] == "s"
    assert messages(form).keys() == {"model"}


def test_a_dependent_schema_replaces_the_description_of_a_nested_field():
    box = {
        "type": "object",
        "properties": {"card": {"type": "string"}, "name": {"type": "string", "title": "Name"}},
        "dependentSchemas": {"card": {"properties": {"name": {"title": "Name on the card", "minLength": 2}}}},
    }
    form = form_of({"box": box}, ["box"])
    inner(form, "box", "card").widget.value = "1"
    assert "Name on the card" in inner(form, "box", "name").widget.description
    inner(form, "box", "name").widget.value = "A"
    assert messages(form).keys() == {"box.name"}
    assert inner(form, "box", "name").widget in Page(form.fields["box"].widget).shown


def test_a_default_that_only_a_condition_gives_is_written_into_the_code():
    form = make_form(
        {"mode": {"enum": ["fast", "exact"], "default": "fast"}, "steps": {"type": "integer", "default": 10}},
        more={
            "if": {"properties": {"mode": {"const": "exact"}}},
            "then": {"properties": {"steps": {"default": 50}}},
        },
        mode="exact",
    )
    assert form.value["steps"] == 50
    assert "steps=50" in form.code()


def test_a_property_that_may_be_anything_is_described_by_a_condition():
    form = form_of(
        {"kind": {"enum": ["a", "b"], "default": "a"}, "more": True},
        **{
            "if": {"properties": {"kind": {"const": "b"}}},
            "then": {"properties": {"more": {"type": "integer", "title": "How many more"}}},
        },
    )
    choose(form, "kind", 1)
    assert "How many more" in label_of(form, "more")
    form.fields["more"].widget.value = "2"
    assert form.value == {"kind": "b", "more": 2}
