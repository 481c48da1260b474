"""No secret is written anywhere, however deeply nested in the schema."""

import pytest
from form_builders import make_form

from foldnote.forms import SchemaForm

_KEY = {"type": "string", "format": "password"}
_ACCOUNT = {"type": "object", "properties": {"user": {"type": "string"}, "key": _KEY}}
_ONE = {"user": "ada", "key": "hunter2"}
_PLACES = [
    pytest.param(_KEY, "hunter2", None, id="itself"),
    pytest.param(_ACCOUNT, _ONE, {"user": "ada"}, id="in an object"),
    pytest.param({"type": "array", "items": _ACCOUNT}, [_ONE], [{"user": "ada"}], id="in a row"),
    pytest.param({"type": "object", "additionalProperties": _KEY}, {"a": "hunter2"}, {}, id="in a map"),
    pytest.param({"anyOf": [_ACCOUNT, {"type": "null"}]}, _ONE, {"user": "ada"}, id="in a nullable object"),
    pytest.param({"anyOf": [{"type": "integer"}, _ACCOUNT]}, _ONE, {"user": "ada"}, id="in a union"),
    pytest.param({"writeOnly": True, "type": "object"}, _ONE, None, id="all of an object"),
    pytest.param(
        {"type": "array", "items": [{}, _KEY]}, ["a", "hunter2"], ["a", None], id="in a draft 7 tuple"
    ),
    pytest.param(
        {"type": "array", "items": [{}], "additionalItems": _KEY},
        ["a", "hunter2"],
        ["a", None],
        id="after one",
    ),
    pytest.param(
        {"type": "object", "patternProperties": {"^key": _KEY}}, {"key_1": "hunter2"}, {}, id="by a pattern"
    ),
    pytest.param(
        {"type": "object", "dependencies": {"user": {"properties": {"key": _KEY}}}},
        _ONE,
        {"user": "ada"},
        id="in a dependency",
    ),
]


@pytest.mark.parametrize(("schema", "value", "shown"), _PLACES)
def test_a_secret_is_in_no_code_json_or_static_rendering(schema, value, shown):
    form = SchemaForm({"type": "object", "properties": {"x": schema}}, {"x": value})
    assert form.value == {"x": value}
    rendering = form._repr_mimebundle_()
    for text in (form.code(), form.json(), rendering["text/html"], rendering["text/plain"]):
        assert "hunter2" not in text
    names = {}
    exec(form.code(), names)
    assert names["settings"] == ({} if shown is None else {"x": shown})
    assert "secrets are left out" in form.code()


@pytest.mark.parametrize(("schema", "value", "shown"), _PLACES)
def test_a_tools_form_shows_none_either(schema, value, shown):
    form = make_form({"x": schema}, x=value)
    assert "hunter2" not in form.code()
    assert "hunter2" not in form.json()


def test_a_form_of_one_secret_writes_nothing():
    form = SchemaForm(_KEY, "hunter2")
    assert form.data == "hunter2"
    assert form.json() == "null"
    assert "hunter2" not in form.code()
