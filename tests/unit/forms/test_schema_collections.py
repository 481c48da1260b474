"""Schemas of other authors: every one has a form, and setting a form to its own value changes nothing.

JSON-Schema-Test-Suite (``data/``, with origin and licence), the settings schemas that JupyterLab installs, and schemas
of its dependencies: notebook formats, JSON Schema's own schemas, settings of language servers.
``benchmarks/form_collection.py`` tries a folder of any size, such as the 951 schemas of SchemaStore.
"""

import json
import sys
from pathlib import Path

import nbformat
import pytest
from form_builders import label_of
from page import classes_of

from foldnote.forms import SchemaForm
from foldnote.forms.fields.field import is_same

_SUITE = json.loads((Path(__file__).parent / "data" / "json_schema_test_suite.json").read_text())
_NAMED = [pytest.param(row, id=f"{row['of']}: {row['description']}") for row in _SUITE]
_LAB = sorted((Path(sys.prefix) / "share" / "jupyter" / "lab" / "schemas").rglob("*.json"))
_PACKAGES = ("nbformat/v4", "jsonschema_specifications/schemas", "jupyter_lsp/specs/config")
_SITE = Path(nbformat.__file__).parents[1]
_INSTALLED = sorted(path for name in _PACKAGES for path in (_SITE / name).rglob("*.json"))
_NOT_JUDGED = ("format", "default", "vocabulary")
"""A form checks formats and fills in defaults, including invalid ones; other vocabularies are unknown to it."""


def changes_nothing(form):
    before = form.value
    form.set(form.value)
    return is_same(form.value, before)


def fits(form, value):
    return isinstance(value, dict) or not form.is_of_object


def without_hidden(form, value):
    """Return the value as the form sends it, without names that only another condition defines."""
    if not form.is_of_object:
        return value
    hidden = {name for name, field in form.fields.items() if "foldnote-hidden" in classes_of(field.widget)}
    return {name: item for name, item in value.items() if name not in hidden}


@pytest.mark.parametrize("row", _NAMED)
def test_every_schema_of_the_test_suite_has_a_form_that_holds_the_valid_values_exactly(row):
    form = SchemaForm(row["schema"])
    assert changes_nothing(form)
    for value in row["valid"]:
        if fits(form, value):
            form = SchemaForm(row["schema"])
            form.set_value(value)
            assert is_same(form.data, without_hidden(form, value))
            assert changes_nothing(form)
            assert row["of"] in _NOT_JUDGED or form.problems == (), value


@pytest.mark.parametrize("path", _LAB, ids=lambda path: path.stem)
def test_every_settings_schema_of_jupyterlab_has_a_form_with_its_defaults(path):
    schema = json.loads(path.read_text())
    form = SchemaForm(path)
    assert changes_nothing(form)
    for name, child in schema.get("properties", {}).items():
        if "default" in child and name in form.value and not isinstance(child["default"], dict):
            assert is_same(form.value[name], child["default"])
        assert child.get("title", "") in label_of(form, name) or "&" in label_of(form, name)
    again = SchemaForm(path, form.data)
    assert is_same(again.data, form.data)


@pytest.mark.parametrize("path", _INSTALLED, ids=lambda path: path.relative_to(_SITE).as_posix())
def test_every_installed_schema_has_a_form_whose_value_copy_and_code_agree(path):
    form = SchemaForm(path)
    assert changes_nothing(form)
    assert is_same(SchemaForm(path, form.data).data, form.data)
    names = {}
    exec(form.code(), names)
    assert is_same(names["settings"], form.data)


def test_the_collections_are_large():
    assert len(_SUITE) > 350
    assert len(_LAB) > 50
    assert len(_INSTALLED) > 20
