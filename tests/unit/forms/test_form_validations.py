"""A form validates its settings once when a value changes, and not again on a click."""

import copy

import pytest
from engine_folder import write_probe_engine
from form_builders import make_form
from page import Page
from starlette.testclient import TestClient

from foldnote import catalog
from foldnote.client import Client
from foldnote.forms import Form
from foldnote.service.config import ServiceConfig
from foldnote.service.http.app import create_app

URL = "http://service.test"
ABB = {"heavy": "EVQLVESGGGLVQPGG", "light": "DIQMTQSPSSLSASVG"}


@pytest.fixture
def validated(monkeypatch):
    """Record the value of each validation of a heavy chain, by counting in the tool's own rule for it."""
    values = []
    (name,) = catalog.tool("abodybuilder").settings_schema["properties"]["heavy"]["x-foldnote"]["check"][:1]
    row = catalog.CHECKS[name]

    def count(value, place):
        if place.name == "heavy":
            values.append(value)
        return row.rule(value, place)

    monkeypatch.setitem(catalog.CHECKS, name, row._replace(rule=count))
    return values


def test_a_changed_value_is_validated_once(validated):
    form = Form(catalog.tool("abodybuilder"), None, values=ABB)
    validated.clear()
    form.fields["heavy"].widget.value = "EVQLVE"
    assert validated == ["EVQLVE"]


def test_reading_a_form_does_not_validate_again(validated):
    form = Form(catalog.tool("abodybuilder"), None, values=ABB)
    validated.clear()
    assert (form.value, form.problems) == (ABB, ())
    assert form.job_name
    form.frame.copy.click()
    assert validated == []


def test_submit_validates_once_before_it_sends(validated, tmp_path):
    engines = write_probe_engine(tmp_path / "engines", ("abodybuilder",))
    config = ServiceConfig(
        tmp_path / "data", rate_limit=False, engine_paths=(engines,), has_dispatcher=False, public_url=URL
    )
    app = create_app(config)
    with TestClient(app, base_url=URL) as http_client:
        key = app.state.service.local_key
        with Client(base_url=URL, api_key=key, http_client=http_client) as client:
            form = Form(catalog.tool("abodybuilder"), client, values=ABB)
            validated.clear()
            form.frame.submit.click()
            assert form.submission.job is not None
    assert validated == [ABB["heavy"]] * 2  # the client before sending, and the service


@pytest.mark.parametrize("change", [lambda held: held.append("X1"), lambda held: held.__setitem__(0, 7)])
def test_a_list_changed_in_place_is_validated_again(change):
    from form_builders import make_form

    given = ["one"]
    form = make_form({"names": {"type": "array", "items": {"type": "string", "maxLength": 1}}}, names=given)
    before = copy.deepcopy(form.problems)
    change(given)
    assert form.value["names"] == given
    assert form.problems != before


@pytest.mark.parametrize("typed", ["0.5", "x"], ids=["another value", "no number"])
def test_a_verdict_goes_when_a_field_is_edited(typed):
    form = make_form({"chain": {"type": "string"}, "cutoff": {"type": "number"}}, chain="H")
    Page(form.widget).press("Validate")
    assert "No problems found" in Page(form.widget).text
    form.fields["cutoff"].widget.value = typed
    assert "No problems found" not in Page(form.widget).text
