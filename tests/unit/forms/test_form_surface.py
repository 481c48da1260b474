"""Messages from a form's page to the kernel: sliders, defaults, dropped or sent files, tables."""

from importlib.resources import files

import ipywidgets as widgets
import pytest
from form_builders import label_of, make_form, make_tool
from page import Page, send

from foldnote.forms import Form, SchemaForm
from foldnote.forms.fields.field import Field
from foldnote.forms.fields.kinds.text import find_slider_range
from foldnote.forms.jobs.job_files import ListedFile, write_members
from foldnote.forms.schema.spec import read_spec
from foldnote.forms.view.page_events import locate, pack_script, read_script

FILE = {"type": "string", "x-foldnote": {"role": "file", "extensions": ["pdb"]}}
FILES = {"type": "array", "items": {"type": "string", "format": "binary"}}
STRUCTURE = files("foldnote.catalog").joinpath("examples/trastuzumab-fv.pdb").read_bytes()
CHAIN = {"type": "string", "x-foldnote": {"role": "chain", "of": "target"}}


def ask(
    form: Form, kind: str, field: Field | str = "", buffers: tuple[bytes, ...] = (), **more: object
) -> None:
    """Send a message of the page."""
    mark = field.mark if isinstance(field, Field) else field
    send(form, {"kind": kind, "field": mark, **more}, [memoryview(data) for data in buffers])


def span_of(**schema):
    return find_slider_range(read_spec(("x",), schema, schema, required=False))


@pytest.mark.parametrize(
    ("schema", "span"),
    [
        ({"type": "integer", "minimum": 1, "maximum": 20}, "1 20 1 1"),
        ({"type": "integer", "minimum": 0, "exclusiveMaximum": 5, "default": 2}, "0 4 1 2"),
        ({"type": "number", "minimum": 0, "maximum": 1, "default": 0.5}, "0 1 0.01 0.5"),
        ({"type": "number", "exclusiveMinimum": 0, "maximum": 2, "multipleOf": 0.5}, "0.5 2 0.5 0.5"),
        ({"type": "integer", "minimum": 3, "maximum": 21, "multipleOf": 4}, "4 20 4 4"),
        ({"type": "number", "minimum": -1, "exclusiveMaximum": 1, "default": 0}, "-1 0.99 0.01 0"),
    ],
)
def test_a_number_of_a_short_range_gets_a_slider(schema, span):
    assert str(span_of(**schema)) == span


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "number"},
        {"type": "integer", "minimum": 0},
        {"type": "integer", "minimum": 0, "maximum": 100_000},
        {"type": "integer", "minimum": 0, "maximum": 1},
        {"type": "number", "minimum": 1e-9, "maximum": 1},
        {"type": "number", "minimum": 0, "maximum": 1, "default": 1e-6},
        {"type": "integer", "minimum": 5, "maximum": 1},
    ],
)
def test_a_number_of_a_wide_or_open_range_gets_none(schema):
    assert span_of(**schema) is None


def test_the_slider_follows_the_value_in_the_box():
    form = make_form({"n": {"type": "integer", "minimum": 1, "maximum": 20, "default": 4}}, n=7)
    assert '<span class="fn-span" title="1 20 1 4 7"></span>' in label_of(form, "n")
    form.fields["n"].widget.value = ""
    assert '<span class="fn-span" title="1 20 1 4 "></span>' in label_of(form, "n")


def test_a_default_is_put_back_at_the_field():
    form = make_form({"cut": {"type": "number", "default": 0.5}, "other": {"type": "number", "default": 1}})
    form.fields["cut"].widget.value = "0.7"
    form.fields["other"].widget.value = "2"
    assert f'class="fn-changed {form.fields["cut"].mark}"' in label_of(form, "cut")
    ask(form, "reset", form.fields["cut"])
    assert form.value == {"cut": 0.5, "other": 2}
    assert "fn-changed" not in label_of(form, "cut")


def test_a_default_inside_an_object_is_put_back_at_its_field():
    inner = {"type": "object", "properties": {"a": {"type": "number", "default": 1}}}
    form = SchemaForm({"type": "object", "required": ["o"], "properties": {"o": inner}}, {"o": {"a": 5}})
    ask(form, "reset", form.fields["o"].inside()[0])
    assert form.value == {"o": {"a": 1}}


def test_a_locked_field_is_not_reset_from_the_page():
    form = make_form({"a": {"type": "number", "default": 1, "readOnly": True}}, a=2)
    ask(form, "reset", form.fields["a"])
    assert form.value == {"a": 2}


@pytest.mark.parametrize(
    "message", [None, "reset", {}, {"kind": "what"}, {"kind": "reset", "field": "fn-r0"}]
)
def test_foreign_messages_change_nothing(message):
    form = make_form({"a": {"type": "number", "default": 1}}, a=2)
    send(form, message)
    assert form.value == {"a": 2}


def test_an_upload_is_held_with_its_size_and_looked_into():
    form = make_form({"target": FILE, "chain": CHAIN})
    ask(
        form, "upload", form.fields["target"], (STRUCTURE,), name="foldnote-0123456789ab/fv.pdb", size=204_000
    )
    assert form.value["target"] == "foldnote-0123456789ab/fv.pdb"
    assert "upload fv.pdb, 204 kB; 2 chains" in label_of(form, "target")
    assert [label for label, _ in form.fields["chain"].widget.children[0].options][1].startswith("H")
    assert STRUCTURE.decode()[:60] not in str(form.surface.widget.get_state())


def test_a_file_of_an_earlier_job_is_held_by_its_name():
    form = make_form({"target": FILE})
    ask(form, "jobFile", form.fields["target"], job="made.structure", path="outputs/model.pdb")
    assert form.value == {"target": "made.structure/outputs/model.pdb"}


def test_a_job_dropped_without_a_service_is_reported_to_have_no_files():
    form = make_form({"target": FILE})
    ask(form, "job", form.fields["target"], job="made.structure")
    assert "The files of made.structure cannot be listed" in Page(form.fields["target"].chooser.widget).text
    assert form.value == {}


def test_the_uploads_are_offered_under_a_line_that_asks_to_choose():
    form = make_form({"target": FILE})
    form.offer_uploads(("known.pdb",))
    form.fields["target"].open_chooser()
    offered = Page(form.widget).find(widgets.Dropdown, "Uploads at the service")
    assert offered.index == 0
    assert offered.options[0][0] == "choose one of 1 upload…"
    offered.index = 1
    assert form.value == {"target": "known.pdb"}


def test_files_are_added_to_a_list_one_after_another():
    form = make_form({"files": FILES})
    for name in ("a.pdb", "b.pdb", "a.pdb"):
        ask(form, "upload", form.fields["files"], name=name, size=3)
    assert form.value == {"files": ["a.pdb", "b.pdb"]}


def test_a_file_of_the_file_browser_is_found_from_the_kernels_folder(tmp_path, monkeypatch):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "x.pdb").write_text("")
    (tmp_path / "y.pdb").write_text("")
    monkeypatch.chdir(tmp_path / "sub")
    assert locate("sub/x.pdb", str(tmp_path)) == "x.pdb"
    assert locate("sub/x.pdb") == "x.pdb"
    assert locate("y.pdb", str(tmp_path)) == str(tmp_path / "y.pdb")
    assert locate("RTC:sub/x.pdb", str(tmp_path)) == "x.pdb"
    assert locate("gone.pdb", str(tmp_path)) == "gone.pdb"


def test_a_small_file_comes_through_the_kernel_where_http_does_not(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    form = make_form({"target": FILE})
    ask(form, "content", form.fields["target"], (b"ATOM\n",), name="../../evil.pdb")
    assert form.value == {"target": "uploads/evil.pdb"}
    assert (tmp_path / "uploads" / "evil.pdb").read_bytes() == b"ATOM\n"


def test_a_table_that_was_dropped_becomes_rows_of_the_batch(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "more.csv").write_text("a\n7\n")
    form = Form(make_tool({"a": {"type": "number"}}))
    ask(form, "rows", "", ("a\n5\n6\n".encode("utf-16"),), name="x.csv")
    ask(form, "path", path="more.csv", root=str(tmp_path))
    assert form.batch_table.settings() == [{"a": 5}, {"a": 6}, {"a": 7}]


def test_files_of_a_job_are_listed_folder_by_folder_and_others_counted():
    members = [
        ListedFile("outputs/a/model.pdb", 2048),
        ListedFile("score.json", 3),
        ListedFile("outputs/<b>.pdb", 1),
    ]
    html = write_members("job.1", members, ("pdb",))
    assert html.index("<summary>outputs</summary>") < html.index("&lt;b&gt;.pdb") < html.index("model.pdb")
    assert 'data-path="outputs/a/model.pdb"' in html
    assert "1 other file of this job cannot be used here" in html
    assert "has no file" in write_members("job.1", [], ("pdb",))


def test_the_script_travels_packed_and_without_comments():
    assert "//" not in read_script().replace("https://", "")
    assert len(pack_script()) < len(read_script()) * 0.6
