"""What a form offers beside its fields: changes and resets, search, code, the service's verdict, batches."""

import json
import re

import ipywidgets as widgets
import pandas as pd
import pytest
from form_builders import label_of, make_form, make_tool
from page import Page, classes_of

from foldnote import catalog
from foldnote.client.inputs.table_text import read_text
from foldnote.errors import FoldnoteError
from foldnote.forms import Form, SchemaForm, variable
from foldnote.forms.batch.column_mapping import map_columns
from foldnote.forms.batch.draft_batch import DraftBatch
from foldnote.forms.batch.rows_html import ColumnHead, RowLine, RowsPage, write_page

TOOL = {
    "heavy": {"type": "string", "title": "Heavy chain"},
    "count": {"type": "integer", "default": 2, "maximum": 9},
    "fast": {"type": "boolean", "default": False},
    "mode": {"enum": ["a", "b"], "default": "a"},
    "regions": {"type": "array", "items": {"type": "string"}},
}


def test_what_was_changed_is_listed_and_each_default_can_be_put_back():
    form = make_form(TOOL, heavy="EVQ")
    assert "foldnote-hidden" in classes_of(form.frame.changes.button)
    form.fields["count"].widget.value = "5"
    form.fields["mode"].widget.index = 1
    assert form.frame.changes.button.description == "2 changed"
    form.frame.changes.button.click()
    first, _second, everything = form.frame.changes.panel.children
    assert first.description == "Reset Count"
    first.click()
    assert form.value["count"] == 2
    assert form.value["mode"] == "b"
    form.fields["count"].widget.value = "5"
    form.frame.changes.panel.children[-1].click()
    assert form.value == {"heavy": "EVQ", "count": 2, "fast": False, "mode": "a"}
    assert everything.comm is None


def test_a_long_form_can_be_searched_and_a_short_one_has_no_search():
    assert make_form(TOOL).frame.search is None
    form = make_form({f"setting{number}": {"type": "string"} for number in range(20)})
    form.frame.search.value = "setting1"
    shown = [
        name for name, field in form.fields.items() if "foldnote-unsought" not in classes_of(field.widget)
    ]
    assert len(shown) == 11
    assert "Settings" in Page(form.widget).text
    form.frame.search.value = "no such setting"
    (heading,) = (part for part in Page(form.widget).shown if ">Settings<" in str(getattr(part, "value", "")))
    assert "foldnote-unsought" in classes_of(heading)
    form.frame.search.value = ""
    assert not any("foldnote-unsought" in classes_of(field.widget) for field in form.fields.values())


def test_json_is_what_would_be_sent_without_secrets():
    form = make_form(
        {"n": {"type": "number"}, "key": {"type": "string", "format": "password"}}, n=3, key="s3cret"
    )
    body = json.loads(form.json())
    assert body["type"] == "trial"
    assert body["settings"] == {"n": 3}
    assert body["jobName"] == form.job_name
    assert json.loads(SchemaForm({"type": "object", "properties": {"a": {"default": 1}}}).json()) == {"a": 1}


def test_the_code_of_a_schema_is_its_value():
    form = SchemaForm({"type": "object", "properties": {"a": {"default": [1, None]}, "b": {"default": "x"}}})
    scope = {}
    exec(form.code(), scope)
    assert scope["settings"] == form.value


def test_files_are_written_as_what_they_are(tmp_path):
    path = tmp_path / "target.pdb"
    path.write_text("ATOM\n")
    form = make_form({"pdb": {"type": "string", "format": "binary"}}, pdb=str(path))
    assert f"pdb=fn.upload({str(path)!r})" in form.code()
    form.offer_uploads(("old.pdb",))
    form.set(pdb="old.pdb")
    assert "pdb=fn.uploaded('old.pdb')" in form.code()


def test_a_bound_field_follows_its_variable_until_a_person_takes_it_over(shell):
    shell.user_ns["my_sequence"] = "EVQ"
    form = make_form(TOOL, heavy=variable("my_sequence"))
    assert form.value["heavy"] == "EVQ"
    assert "follows the variable <code>my_sequence</code>" in label_of(form, "heavy")
    assert "heavy=my_sequence" in form.code()
    shell.run_cell("my_sequence = 'DIQ'")
    assert form.value["heavy"] == "DIQ"
    form.fields["heavy"].widget.value = "AAA"
    shell.run_cell("my_sequence = 'CCC'")
    assert form.value["heavy"] == "AAA"
    assert "follows" not in label_of(form, "heavy")
    assert shell.user_ns["my_sequence"] == "CCC"


def test_a_table_bound_to_a_file_field_is_followed_when_it_is_changed_in_place(shell):
    table = {"type": "string", "x-foldnote": {"role": "file", "extensions": ["csv"]}}
    shell.user_ns["binding"] = pd.DataFrame({"name": ["a"], "Kd": [1.0]})
    form = make_form({"table": table, "other": {"type": "string"}}, table=variable("binding"))
    assert form.value == {"table": "name,Kd\na,1.0\n"}
    form.bindings.follow()
    assert form.value == {"table": "name,Kd\na,1.0\n"}
    shell.user_ns["binding"].loc[0, "Kd"] = 2.5
    form.bindings.follow()
    assert form.value == {"table": "name,Kd\na,2.5\n"}


def test_an_object_that_no_setting_can_be_is_reported_at_its_field(shell):
    shell.user_ns["name"] = "x"
    form = make_form({"name": {"type": "string", "title": "Name"}}, name=variable("name"))
    shell.user_ns["name"] = pd.DataFrame({"name": ["a"]})
    form.bindings.follow()
    assert form.value == {"name": "x"}
    assert "Name cannot be of the type DataFrame" in label_of(form, "name")
    with pytest.raises(FoldnoteError, match="Name cannot be of the type DataFrame"):
        form.set(name=shell.user_ns["name"])


def test_an_undefined_variable_is_reported_and_followed_once_it_is_defined(shell):
    form = make_form(TOOL, heavy=variable("later"))
    assert "not defined yet" in label_of(form, "heavy")
    shell.run_cell("later = 'EVQ'")
    assert form.value["heavy"] == "EVQ"


def test_an_invalid_variable_name_is_refused():
    with pytest.raises(Exception, match="name of a variable"):
        variable("not a name")


@pytest.fixture
def shell():
    """Return an interactive shell like that of a notebook's kernel."""
    from IPython.core.interactiveshell import InteractiveShell

    yield InteractiveShell.instance()
    InteractiveShell.clear_instance()


def specs():
    return [field.spec for field in make_form(TOOL).section.fields]


def read_rows(text):
    rows = DraftBatch()
    rows.add_table(read_text(text), specs())
    return rows.list_settings(specs())


@pytest.mark.parametrize("mark", ["\t", ",", ";"])
def test_a_pasted_table_is_read_by_names_or_titles_and_by_the_settings_types(mark):
    text = "\n".join(
        mark.join(row) for row in (["Heavy chain", "count", "fast", "MODE"], ["EVQ", "3", "yes", "b"])
    )
    assert read_rows(text) == [{"heavy": "EVQ", "count": 3, "fast": True, "mode": "b"}]


def test_an_empty_cell_leaves_its_setting_to_the_form():
    assert read_rows("heavy,count\nEVQ,\n,4\n") == [{"heavy": "EVQ"}, {"count": 4}]


@pytest.mark.parametrize(
    ("text", "said"),
    [("heavy\n", "one line per job"), ("heavi\nEVQ", "Did you mean heavy"), ("heavy\nA,B", "Row 1 has 2")],
)
def test_a_table_that_cannot_be_read_says_why(text, said):
    with pytest.raises(Exception, match=said):
        map_columns(read_text(text, {"heavy"}), specs())


def test_rows_are_judged_one_by_one_with_what_the_form_says_beside_them():
    form = make_form(TOOL, heavy="EVQ")
    assert form.batch_table.add_text("heavy\tcount\nDIQ\t3\nQQQ\t50\n")
    form.frame.add_row.click()
    assert [row["count"] for row in form.batch_table.settings()] == [3, 50, 2]
    assert form.batch_table.verdicts() == ["", "count: 50 is too large; the most is 9.", ""]
    assert Page(form.widget).find(widgets.Button, "1 row needs attention")
    form.fields["mode"].widget.index = 1
    assert form.batch_table.settings()[0]["mode"] == "b"
    assert form.batch_table.settings()[2]["mode"] == "a"


def test_the_table_of_rows_escapes_what_was_pasted():
    line = RowLine(1, ["<img src=x>"], "<b>")
    written = write_page(RowsPage([ColumnHead("<i>")], [line], total=1, listed=1, names=["<s>"]))
    assert "<img" not in written
    assert not {"<b>", "<i>", "<s>"} & set(re.findall(r"<\w>", written))


def test_nothing_is_added_while_the_form_needs_attention():
    form = Form(catalog.tool("abodybuilder"))
    form.frame.add_row.click()
    assert form.batch_table.rows == []
    assert "need attention" in Page(form.widget).text


def test_problems_of_the_whole_settings_are_shown_below_them():
    form = SchemaForm({"type": "object", "properties": {"a": {}, "b": {}}, "minProperties": 2}, {"a": 1})
    assert "the fewest allowed is 2" in form.frame.message.value


def test_a_tool_without_conditions_of_its_own_needs_no_second_look():
    form = Form(make_tool(TOOL))
    assert form.section.plan.options == []


def test_an_error_is_read_out_when_it_appears_also_inside_an_object():
    box = {"type": "object", "required": ["x"], "properties": {"x": {"type": "number", "minimum": 1}}}
    form = SchemaForm({"type": "object", "properties": {"box": box}, "required": ["box"]})
    inside = form.fields["box"].inside()[0].widget
    inside.value = "0"
    assert 'role="alert">X: 0 is too small' in form.frame.message.value
    inside.value = "2"
    assert "alert" not in form.frame.message.value
