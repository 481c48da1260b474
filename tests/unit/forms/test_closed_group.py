"""Fields below a form's closed heading are built when needed, and no value is lost."""

import ipywidgets as widgets
import pytest
from form_builders import make_form
from page import Page, model_ids

from foldnote import catalog
from foldnote.forms import Form

CLOSED = {"x-foldnote": {"group": "advanced"}}
PROPERTIES = {
    "name": {"type": "string"},
    "seed": {"type": "integer", "default": 1, "minimum": 0, **CLOSED},
    "mode": {"type": "string", "enum": ["fast", "slow"], "default": "fast", **CLOSED},
    "words": {"type": "array", "items": {"type": "string"}, "default": ["a"], **CLOSED},
    "box": {"type": "object", "properties": {"edge": {"type": "number", "default": 2}}, **CLOSED},
}


def shown_names(form):
    return {field.spec.name for field in form.section.shown}


def test_a_closed_group_is_built_when_it_is_opened_by_its_heading():
    form = make_form(PROPERTIES)
    assert shown_names(form) == {"name", "box"}
    assert form.frame.fold.description == "4 more settings"
    before = model_ids()
    form.frame.fold.click()
    assert shown_names(form) == set(PROPERTIES)
    assert len(model_ids() - before) >= 3
    Page(form.widget).find(widgets.Text, "Seed").value = "7"
    assert form.value["seed"] == 7
    assert form.frame.fold.description == "4 more settings · 1 changed"


def test_asking_for_the_fields_builds_them():
    form = make_form(PROPERTIES)
    form.fields["seed"].widget.value = "3"
    assert form.value["seed"] == 3


def test_a_search_finds_what_is_closed():
    form = make_form(PROPERTIES | {f"other{number}": {"type": "string"} for number in range(14)})
    form.frame.search.value = "seed"
    assert not form.frame.is_folded
    assert "Seed" in Page(form.widget).text


def test_what_code_gives_is_shown_with_its_mistake_and_the_rest_stays_unbuilt():
    form = make_form(PROPERTIES, seed=-4)
    assert shown_names(form) == {"name", "box", "seed"}
    assert form.frame.fold.description == "4 more settings · 1 changed"
    assert [problem.field for problem in form.problems] == ["seed"]
    assert not form.show_errors()
    assert not form.frame.is_folded
    assert "too small" in Page(form.widget).text
    form.reset()
    assert form.value["seed"] == 1


def test_a_required_setting_is_built_at_once():
    assert "seed" in shown_names(make_form(PROPERTIES, ("seed",)))


def test_the_saved_table_has_what_is_not_built():
    form = make_form(PROPERTIES)
    text = form._repr_mimebundle_()["text/html"]
    assert ">fast</td>" in text
    assert "mode" not in shown_names(form)


@pytest.mark.parametrize("tool", list(catalog.tools()))
def test_the_settings_are_the_same_before_and_after_the_group_is_opened(tool):
    form = Form(catalog.tool(tool))
    closed = form.value, form.problems, form.code(), form.json()
    form.frame.unfold()
    assert (form.value, form.problems, form.code(), form.json()) == closed
    assert shown_names(form) == set(form.section.names)


def test_a_widget_that_waits_is_opened_by_one_that_refers_to_it_and_not_after_it_was_closed():
    from foldnote.forms.ui.compact_widgets import Box, Text, delay_opening

    before = model_ids()
    with delay_opening():
        text, gone = Text("a"), Text("b")
        text.value = "c"
        gone.close()
        assert model_ids() == before
        outer = widgets.VBox([Box([text])])  # ipywidgets' own, which sends its message at once
        assert text.model_id in model_ids()
        late = Text("d")
    assert gone.comm is None
    assert late.model_id in model_ids()
    assert len(model_ids() - before) >= 4
    assert outer.get_state("children")["children"] == [f"IPY_MODEL_{outer.children[0].model_id}"]
