"""Every tool of the catalog has a form that keeps its example and its defaults unchanged."""

import pytest
from form_builders import label_of

from foldnote import catalog
from foldnote.forms import Form

TOOLS = sorted(catalog.tools())


@pytest.mark.parametrize("name", TOOLS)
def test_the_example_passes_through_the_form_unchanged(name):
    tool = catalog.tool(name)
    settings = tool.example_job["settings"]
    form = Form(tool, values=settings)
    assert form.problems == ()
    assert form.value == {**form.value, **settings}
    assert catalog.check(tool, form.value).normalized == catalog.check(tool, settings).normalized


@pytest.mark.parametrize("name", TOOLS)
def test_setting_a_form_to_its_own_value_changes_nothing(name):
    tool = catalog.tool(name)
    for form in (Form(tool), Form(tool, values=tool.example_job["settings"])):
        before = form.value
        form.set(form.value)
        assert form.value == before


@pytest.mark.parametrize("name", TOOLS)
def test_what_the_controls_show_reads_back_as_the_same_values(name):
    """Also when a user touches every control without changing it."""
    tool = catalog.tool(name)
    form = Form(tool, values=tool.example_job["settings"])
    before = form.value
    for field in form.fields.values():
        field.changed()
    assert form.value == before


@pytest.mark.parametrize("name", TOOLS)
def test_an_untouched_form_has_no_errors_and_every_field_its_words(name):
    form = Form(catalog.tool(name))
    for field in form.fields.values():
        label = label_of(form, field.spec.name)
        assert "fn-error" not in label
        assert "fn-help" in label
    assert catalog.check(form.tool, form.value).normalized == catalog.default_settings(form.tool)


@pytest.mark.parametrize("name", TOOLS)
def test_no_tool_needs_the_json_field(name):
    from foldnote.forms import kind_for, read_specs

    kinds = {kind_for(spec).name for spec in read_specs(catalog.tool(name).settings_schema)}
    assert "json" not in kinds
