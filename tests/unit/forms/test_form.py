"""The form as a whole: plain data in and out, conditions, counts, code, fallback."""

import pytest
from form_builders import label_of, make_form, make_tool
from page import classes_of

from foldnote import catalog
from foldnote.errors import SettingsError
from foldnote.forms import Form
from foldnote.models.tool import ToolEngine

TASK = {
    "task": {"type": "string", "enum": ["scan", "mask"], "default": "scan"},
    "mask": {"type": "string", "x-foldnote": {"appliesWhen": {"task": ["mask"]}}},
    "depth": {"type": "number", "default": 3, "x-foldnote": {"group": "advanced"}},
}
ABB = {"heavy": "EVQLVESGG", "light": "DIQMTQSPS"}


def test_a_field_that_does_not_apply_is_hidden_unsent_and_comes_back_as_typed():
    form = make_form(TASK, task="mask")
    form.fields["mask"].widget.value = "3-9"
    assert form.value["mask"] == "3-9"
    form.set(task="scan")
    assert "mask" not in form.value
    assert "foldnote-hidden" in classes_of(form.fields["mask"].widget)
    form.set(task="mask")
    assert form.value["mask"] == "3-9"


def test_an_unknown_setting_is_refused_with_the_nearest_name_and_nothing_changes():
    form = Form(catalog.tool("abodybuilder"), values=ABB)
    with pytest.raises(SettingsError, match="heavy"):
        form.set(light="AAA", heavi="CCC")
    assert form.value == ABB


def test_none_puts_the_default_back():
    form = make_form(TASK, depth=9)
    form.set(depth=None)
    assert form.value["depth"] == 3


def test_null_is_a_value_where_the_schema_allows_it():
    form = make_form({"n": {"type": ["number", "null"]}})
    form.set(n=None)
    assert form.value == {"n": None}


def test_reset_one_and_all():
    form = make_form(TASK, depth=9, task="mask")
    form.reset("depth")
    assert form.value == {"task": "mask", "depth": 3}
    form.reset()
    assert form.value == {"task": "scan", "depth": 3}


def test_empty_required_fields_are_counted_calmly_until_someone_insists():
    form = Form(catalog.tool("abodybuilder"))
    assert form.frame.attention.description == "2 required fields to fill in"
    assert "fn-error" not in label_of(form, "heavy")
    form.submit()
    assert form.frame.attention.description == "2 fields need attention"
    assert "required" in label_of(form, "heavy")


def test_a_changed_value_is_marked_and_counted_on_the_fold():
    form = make_form(TASK)
    assert form.frame.fold.description == "1 more setting"
    form.fields["depth"].widget.value = "5"
    assert "fn-changed" in label_of(form, "depth")
    assert "The default is 3" in label_of(form, "depth")
    assert form.frame.fold.description == "1 more setting · 1 changed"


def test_the_advanced_group_opens_by_click_and_when_a_field_in_it_is_at_fault():
    form = make_form(TASK)
    assert form.frame.is_folded
    form.frame.fold.click()
    assert not form.frame.is_folded
    form.frame.fold.click()
    form.fields["depth"].widget.value = "x"
    form.frame.attention.click()
    assert not form.frame.is_folded


def test_a_value_set_by_code_is_kept_exactly_until_a_person_changes_it():
    form = make_form(
        {"n": {"type": "number"}, "l": {"type": "array", "items": {"type": "string"}}}, n=5.0, l=[]
    )
    assert form.value == {"n": 5.0, "l": []}
    assert type(form.value["n"]) is float
    form.fields["n"].widget.value = "6"
    assert form.value["n"] == 6


def test_the_job_name_is_proposed_from_the_settings_and_checked_as_typed():
    form = Form(catalog.tool("abodybuilder"), values=ABB)
    first = form.job_name
    assert first.startswith("abodybuilder-")
    form.set(heavy="EVQLVESG")
    assert form.job_name != first
    form.frame.job_name.value = "my job"
    assert "&#x27; &#x27;" in form.frame.job_name.description
    assert [problem.field for problem in form.problems] == ["jobName"]
    form.frame.job_name.value = "my-job"
    assert form.problems == ()
    assert form.job_name == "my-job"


def test_the_code_does_the_same_and_leaves_defaults_out():
    form = make_form(TASK, depth=5)
    form.frame.job_name.value = "deep"
    calls = []

    class Recorder:
        @staticmethod
        def submit(*args, **more):
            calls.append((args, more))

    exec(form.code().replace("import foldnote as fn", ""), {"fn": Recorder})
    assert calls == [(("trial",), {"depth": 5, "job_name": "deep"})]


def test_names_that_are_not_python_identifiers_still_make_code_that_runs():
    form = make_form(
        {"max-len": {"type": "number"}, "class": {"type": "string"}}, **{"max-len": 3, "class": "x"}
    )
    compile(form.code(), "form", "exec")
    assert "**{'max-len': 3, 'class': 'x'}" in form.code()


def test_copy_shows_the_code_and_keeps_it_up_to_date():
    form = make_form(TASK)
    form.frame.copy.click()
    assert "fn.submit(" in form.frame.message.value
    form.fields["depth"].widget.value = "8"
    assert "depth=8" in form.frame.message.value
    form.frame.copy.click()
    assert form.frame.message.value == ""
    form.frame.copy_json.click()
    assert "&quot;depth&quot;: 8" in form.frame.message.value


def test_the_saved_rendering_reads_without_a_kernel_and_escapes_what_was_typed():
    form = Form(catalog.tool("abodybuilder"), values=ABB)
    form.frame.job_name.value = ""
    bundle = form._repr_mimebundle_()
    assert bundle["application/vnd.jupyter.widget-view+json"]["model_id"] == form.widget.model_id
    assert "Heavy chain" in bundle["text/html"]
    assert ABB["heavy"] in bundle["text/html"]
    assert "script" not in bundle["text/html"]
    form = make_form({"t": {"type": "string", "title": "<b>T</b>"}}, t="<img src=x>")
    assert "<img" not in form._repr_mimebundle_()["text/html"]
    assert "<b>T" not in form._repr_mimebundle_()["text/html"] + label_of(form, "t")


def test_the_header_says_what_runs_here_or_why_nothing_does():
    tool = catalog.tool("abodybuilder")
    assert "Not connected" in Form(tool).frame.header.value
    probe = ToolEngine(name="probe", method="Probe", kind="substitute", note="It computes nothing.")
    substituted = tool.model_copy(update={"available": True, "engine": probe})
    form = Form(substituted)
    assert ">Runs Probe, in place of AbodyBuilder.<" in form.frame.header.value
    assert "It computes nothing." in form.frame.message.value
    assert "It computes nothing." not in form.frame.header.value
    cannot = tool.model_copy(update={"unavailable_reason": "No engine here. Install one."})
    form = Form(cannot)
    assert ">No engine here.<" in form.frame.header.value
    assert "Install one." in form.frame.message.value


def test_a_required_field_with_a_default_may_be_omitted():
    form = Form(make_tool({"n": {"type": "number", "default": 2}}, ("n",)))
    assert form.problems == ()
    assert form.value == {"n": 2}
