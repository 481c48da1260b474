"""Large and infinite schemas: parts that are not opened stay data and are not built."""

import pytest
from page import classes_of, model_ids

from foldnote.forms import SchemaForm
from foldnote.forms.fields.field import is_same

_MAX_MODELS = 1200


def endless(names=60):
    """Return a schema whose every name contains the whole again, with a default, like settings of large programs."""
    managers = {
        f"manager{number}": {"$ref": "#", "default": {"files": [f"{number}.toml"], "label": "dependency"}}
        for number in range(names)
    }
    own = {
        "files": {"type": "array", "items": {"type": "string"}},
        "label": {"type": "string", "default": "none"},
        "limit": {"type": "integer", "minimum": 0, "default": 3},
    }
    return {"type": "object", "properties": own | managers}


def long(names=700):
    return {
        "type": "object",
        "properties": {
            f"rule{number}": {
                "type": "integer",
                "minimum": 0,
                "default": number,
                "description": f"Rule {number}.",
            }
            for number in range(names)
        },
    }


def models_of(build):
    before = model_ids()
    form = build()
    return form, len(model_ids() - before)


@pytest.mark.parametrize("schema", [endless(), long()], ids=["endless", "long"])
def test_a_form_has_few_models_however_large_its_schema_is(schema):
    form, models = models_of(lambda: SchemaForm(schema))
    assert models <= _MAX_MODELS
    value = form.value
    assert len(value) == len([child for child in schema["properties"].values() if "default" in child])
    form.set(form.value)
    assert is_same(form.value, value)
    again, models = models_of(lambda: SchemaForm(schema, value))
    assert is_same(again.data, value)
    assert models <= _MAX_MODELS


def test_an_object_that_is_not_built_holds_its_default_and_gets_its_fields_when_it_is_opened():
    form = SchemaForm(endless())
    last = form.fields["manager59"]
    assert last.inside() == ()
    assert form.value["manager59"] == {"files": ["59.toml"], "label": "dependency"}
    last.fold.click()
    inside = {field.spec.name: field for field in last.inside()}
    assert inside["files"].widget.value == "59.toml"
    opened = form.value["manager59"]
    assert opened["files"] == ["59.toml"]
    assert opened["limit"] == 3
    inside["files"].widget.value = "a.toml\nb.toml"
    assert form.value["manager59"]["files"] == ["a.toml", "b.toml"]


def test_what_code_sets_in_an_object_that_is_not_built_is_held_exactly_and_judged():
    form = SchemaForm(endless())
    form.set(manager59={"limit": -1})
    last = form.fields["manager59"]
    assert last.inside() == ()
    assert form.value["manager59"] == {"limit": -1}
    assert [problem.field for problem in form.problems] == ["manager59.limit"]
    assert "1 field needs attention" in last.fold.description
    assert not form.show_errors()
    inside = {field.spec.name: field for field in last.inside()}
    assert "too small" in inside["limit"].widget.description
    assert form.value["manager59"] == {"limit": -1}
    inside["limit"].widget.value = "1"
    assert form.problems == ()


def test_a_list_with_places_waits_as_well():
    place = {"type": "object", "properties": {"n": {"type": "integer", "default": 1}}}
    schema = endless(200)
    schema["properties"]["pair"] = {"type": "array", "prefixItems": [place, place], "default": [{"n": 2}]}
    schema["properties"]["whole"] = {
        "type": "array",
        "prefixItems": [{"$ref": "#"}],
        "default": [{"limit": 5}],
    }
    form = SchemaForm(schema)
    assert form.value["pair"] == [{"n": 2}]
    assert form.value["whole"] == [{"limit": 5}]
    form.set(form.value)
    assert form.value["whole"] == [{"limit": 5}]
    form.go_to("pair.0")
    assert form.value["pair"] == [{"n": 2}]


def test_a_long_section_shows_more_of_its_settings_on_a_click():
    form = SchemaForm(long())
    section = form.section
    assert len(section.shown) == 200
    assert section.pager.description == "Show 200 of 500 more settings"
    for left in (300, 100, 0):
        section.pager.click()
        assert len(section.waiting) == left
    assert len(section.shown) == 700
    assert section.pager not in section.widgets
    assert form.value["rule699"] == 699


def test_a_search_finds_settings_that_are_not_shown_yet():
    form = SchemaForm(long())
    form.frame.search.value = "rule 655"
    field = form.fields["rule655"]
    assert field in form.section.shown
    assert "foldnote-unsought" not in classes_of(field.widget)
    field.widget.value = "3"
    assert form.value["rule655"] == 3


def test_a_search_finds_an_object_by_the_names_inside_it():
    box = {"type": "object", "properties": {"padding": {"type": "number", "description": "Free space."}}}
    others = {f"f{number}": {"type": "string"} for number in range(20)}
    form = SchemaForm({"type": "object", "properties": others | {"box": box}})
    form.frame.search.value = "padding"
    shown = [
        name for name, field in form.fields.items() if "foldnote-unsought" not in classes_of(field.widget)
    ]
    assert shown == ["box"]


def test_a_setting_that_code_gives_is_shown_with_its_mistake():
    form = SchemaForm(long())
    form.set(rule600=-4, rule601=601)
    shown = {field.spec.name for field in form.section.shown}
    assert "rule600" in shown
    assert "rule601" not in shown
    assert "too small" in form.fields["rule600"].widget.description
    form.reset("rule600")
    assert form.value["rule600"] == 600


def test_unbuilt_fields_are_in_the_static_rendering_and_in_the_code():
    form = SchemaForm(long())
    assert ">650</td>" in form._repr_mimebundle_()["text/html"]
    names = {}
    exec(form.code(), names)
    assert is_same(names["settings"], form.value)
