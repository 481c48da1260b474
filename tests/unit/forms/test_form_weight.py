"""The size of a form's messages: defaults of the front end's classes are not sent."""

import json

import ipywidgets as widgets
from form_builders import make_form
from page import model_ids

from foldnote.forms.ui import choice_widgets, compact_widgets, rare_widgets

FORTY = {f"f{number}": {"type": "number", "minimum": 0, "maximum": 10, "default": 1} for number in range(40)}


def states_of(build):
    before = model_ids()
    form = build()
    assert form.widget
    states = widgets.Widget.get_manager_state()["state"]
    return [state["state"] for key, state in states.items() if key not in before]


def test_a_form_of_forty_fields_stays_small():
    states = states_of(lambda: make_form(FORTY))
    assert len(states) <= 150
    assert sum(len(json.dumps(state, default=str)) for state in states) <= 60_000


def test_a_state_names_its_model_and_leaves_out_what_is_assumed():
    state = make_form({"name": {"type": "string", "default": "x"}}).fields["name"].widget.get_state()
    assert state["_model_name"] == "TextModel"
    assert state["value"] == "x"
    assert not {"_view_module", "tabbable", "tooltip", "disabled"} & set(state)


def test_state_that_differs_from_the_defaults_is_sent():
    widget = make_form({"name": {"const": "x"}}, ("name",)).fields["name"].widget
    assert widget.get_state()["disabled"] is True


def test_a_later_message_is_whole():
    widget = make_form({"name": {"type": "string"}}).fields["name"].widget
    assert widget.get_state("disabled") == {"disabled": False}


def test_what_is_assumed_are_the_defaults_of_ipywidgets():
    for name in ("Text", "Textarea", "Dropdown", "Checkbox", "HTML", "Box", "Button"):
        module = {"Dropdown": choice_widgets, "Checkbox": rare_widgets}.get(name, compact_widgets)
        plain, ours = getattr(widgets, name)().get_state(), getattr(module, name)().get_state()
        left_out = {key: value for key, value in plain.items() if key not in ours}
        assert {"_view_name", "_view_count", "tabbable"} <= set(left_out)
        assert left_out == {key: getattr(widgets, name)().trait_defaults(key) for key in left_out}
