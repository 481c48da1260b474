"""Each kind of field, used as a user would: type, choose, tick, click."""

import json

import ipywidgets as widgets
import pytest
from form_builders import label_of, make_form
from page import Page

from foldnote.forms import FieldKind, kind_for, kinds, read_specs, register_kind
from foldnote.forms.fields.kinds.text import TextField
from foldnote.forms.fields.registry import forget_kind

SEQUENCE = {"type": "string", "x-foldnote": {"role": "sequence", "alphabet": "amino-acid"}}
CHAINS = {"type": "string", "x-foldnote": {"role": "sequences", "chains": {"separator": ":", "min": 1}}}
FILE = {"type": "string", "format": "binary", "x-foldnote": {"role": "file", "extensions": ["pdb"]}}


def test_every_kind_has_a_summary_and_a_unique_name():
    names = [kind.name for kind in kinds()]
    assert len(names) == len(set(names))
    assert all(kind.summary.endswith(".") for kind in kinds())


@pytest.mark.parametrize(
    ("schema", "name"),
    [
        (FILE, "file"),
        ({"type": "array", "items": {"type": "string", "format": "binary"}}, "files"),
        ({"enum": [1, 2]}, "choice"),
        (SEQUENCE, "sequence"),
        ({"type": "array", "items": {"enum": ["a"]}}, "choices"),
        ({"type": "boolean"}, "switch"),
        ({"type": ["integer", "null"]}, "number"),
        ({"type": "array", "items": {"type": "string"}}, "lines"),
        ({"type": "array", "items": {"type": "string"}, "x-foldnote": {"role": "chains"}}, "chains"),
        ({"type": "array", "items": {"type": "number"}}, "words"),
        ({"type": "object", "additionalProperties": {"type": "string"}}, "map"),
        ({"type": "string", "format": "password"}, "secret"),
        ({"type": "string"}, "text"),
        ({"type": "object", "properties": {"a": {}}}, "object"),
        ({}, "json"),
    ],
)
def test_schemas_find_their_kind(schema, name):
    assert kind_for(read_specs({"properties": {"x": schema}})[0]).name == name


def test_a_kind_of_a_user_goes_before_ours_and_can_be_taken_back():
    class Shouting(TextField):
        def describe(self, value):
            return super().describe(str(value).upper())

    register_kind(FieldKind("loud", "Capitals only.", lambda spec: spec.role == "loud", Shouting))
    try:
        form = make_form({"x": {"type": "string", "x-foldnote": {"role": "loud"}}}, x="abc")
        assert form.value == {"x": "ABC"}
    finally:
        forget_kind("loud")
    assert "loud" not in [kind.name for kind in kinds()]


@pytest.mark.parametrize(("text", "value"), [("5", 5), ("5.0", 5.0), (" 1e-6 ", 1e-6), ("−3", -3), ("+2", 2)])
def test_a_number_is_read_as_typed(text, value):
    form = make_form({"n": {"type": "number"}})
    form.fields["n"].widget.value = text
    assert form.value == {"n": value}
    assert type(form.value["n"]) is type(value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("abc", "&#x27;abc&#x27; is not a number"),
        ("0,5", "0.5"),
        ("20 ps", "Leave the unit out: the number is in ps"),
        ("nan", "not a number"),
        ("5", "the most is 4 ps"),
    ],
)
def test_a_wrong_number_is_explained_at_the_field_as_typed(text, said):
    form = make_form({"n": {"type": "number", "maximum": 4, "x-foldnote": {"unit": "ps"}}})
    form.fields["n"].widget.value = text
    assert said in label_of(form, "n")
    assert len(form.problems) == 1


def test_an_emptied_number_falls_back_to_the_default_that_the_box_names():
    form = make_form({"n": {"type": "number", "default": 7}})
    assert form.value == {"n": 7}
    form.fields["n"].widget.value = ""
    assert form.value == {}
    assert form.fields["n"].widget.placeholder == "default 7"


def test_an_integer_field_takes_a_whole_float_and_refuses_a_fraction():
    form = make_form({"n": {"type": "integer"}})
    form.fields["n"].widget.value = "1e3"
    assert form.value == {"n": 1000}
    form.fields["n"].widget.value = "1.5"
    assert "whole number" in label_of(form, "n")


def test_an_emptied_text_with_a_default_is_sent_as_empty():
    form = make_form({"t": {"type": "string", "default": "C"}})
    form.fields["t"].widget.value = " "
    assert form.value == {"t": ""}


def test_a_choice_without_default_starts_unchosen():
    form = make_form({"c": {"type": "string", "enum": ["a", "b"]}})
    assert form.value == {}
    form.fields["c"].widget.index = 2
    assert form.value == {"c": "b"}


def test_a_value_outside_the_choices_is_kept_and_named():
    form = make_form({"c": {"type": "string", "enum": ["a", "b"], "default": "a"}}, c="old")
    assert form.value == {"c": "old"}
    assert "old (not allowed)" in [label for label, _ in form.fields["c"].widget.options]
    assert "not one of the options" in label_of(form, "c")


def test_number_and_truth_are_different_choices():
    form = make_form({"c": {"enum": [True, 1, "1"]}}, c=1)
    assert form.value["c"] is 1 or (form.value["c"] == 1 and form.value["c"] is not True)  # noqa: F632
    form.fields["c"].widget.index = 1
    assert form.value["c"] is True


def test_ticked_boxes_give_the_values_in_the_order_of_the_schema():
    form = make_form({"r": {"type": "array", "items": {"enum": ["H1", "H2", "H3"]}}})
    boxes = form.fields["r"].boxes
    boxes[2].value = True
    boxes[0].value = True
    assert form.value == {"r": ["H1", "H3"]}


def test_very_many_choices_become_a_list():
    form = make_form({"r": {"type": "array", "items": {"enum": [f"v{n}" for n in range(40)]}}}, r=["v3"])
    assert form.fields["r"].control.index == (3,)
    form.fields["r"].control.index = (1, 39)
    assert form.value == {"r": ["v1", "v39"]}


def test_a_switch_without_default_is_sent_only_when_on():
    form = make_form({"s": {"type": "boolean"}})
    assert form.value == {}
    form.fields["s"].control.value = True
    assert form.value == {"s": True}


def test_lists_on_lines():
    form = make_form({"l": {"type": "array", "items": {"type": "string"}, "x-foldnote": {"role": "smiles"}}})
    form.fields["l"].control.value = "CCO\n\n c1ccccc1 "
    assert form.value == {"l": ["CCO", "c1ccccc1"]}
    assert "2 molecules" in label_of(form, "l")


def test_words_are_separated_by_commas_and_may_contain_spaces():
    form = make_form({"c": {"type": "array", "items": {"type": "string"}, "x-foldnote": {"role": "chains"}}})
    form.fields["c"].control.value = "H L, A"
    assert form.value == {"c": ["H L", "A"]}
    assert "2 entries: “H L”, “A”" in label_of(form, "c")


def test_a_map_is_written_one_name_a_line():
    form = make_form({"m": {"type": "object", "additionalProperties": {"type": "string"}}})
    form.fields["m"].widget.value = "H: 26 27\nL = 50"
    assert form.value == {"m": {"H": "26 27", "L": "50"}}
    form.fields["m"].widget.value = "H: 26\nH 27"
    assert "Line 2" in label_of(form, "m")
    form.fields["m"].widget.value = "H: 26\nH: 27"
    assert "H is given twice" in label_of(form, "m")


def test_what_no_kind_can_show_is_json():
    form = make_form({"o": {"type": "object"}}, o={"a": 1})
    assert json.loads(form.fields["o"].widget.value) == {"a": 1}
    form.fields["o"].widget.value = '{"a": }'
    assert "look at line 1, column 7" in label_of(form, "o")


def test_a_sequence_is_cleaned_counted_and_its_first_wrong_letter_pointed_at():
    form = make_form({"heavy": SEQUENCE}, ("heavy",))
    form.fields["heavy"].widget.value = ">x\nevqlvesgggLVQPGGJLRLSCAAS\n"
    assert form.value == {"heavy": "EVQLVESGGGLVQPGGJLRLSCAAS"}
    label = label_of(form, "heavy")
    assert "Position 17: &#x27;J&#x27; stands for" in label
    assert "LVQPGG<strong>J</strong>LRLSC" in label
    assert "25 residues" in label


def test_all_wrong_letters_are_marked_with_a_single_error():
    form = make_form({"heavy": SEQUENCE}, ("heavy",))
    form.fields["heavy"].widget.value = "EVQLX1"
    label = label_of(form, "heavy")
    assert "EVQL<strong>X</strong><strong>1</strong>" in label
    assert "1 more letter to correct." in label
    assert "fn-caution" not in label


def test_a_corrected_sequence_has_no_error_left():
    form = make_form({"heavy": SEQUENCE}, ("heavy",))
    form.fields["heavy"].widget.value = "EVQJ"
    form.fields["heavy"].widget.value = "EVQ"
    assert form.problems == ()
    assert "fn-error" not in label_of(form, "heavy")


def test_several_records_become_chains_where_the_field_takes_chains():
    form = make_form({"sequence": CHAINS})
    form.fields["sequence"].widget.value = ">A\nEVQ\n>B\nDI*\n"
    assert form.value == {"sequence": "EVQ:DI*"}
    assert "2 chains, 6 residues: A 3, B 3" in label_of(form, "sequence")
    assert "Chain B, position 3: &#x27;*&#x27; is a stop codon" in label_of(form, "sequence")


def test_several_records_are_explained_where_the_field_takes_one_chain():
    form = make_form({"heavy": SEQUENCE})
    form.fields["heavy"].widget.value = ">A\nEVQ\n>B\nDIQ\n"
    assert "These are 2 FASTA records; this field takes one chain" in label_of(form, "heavy")
    assert form.value == {}


def test_a_local_file_is_described(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "target.pdb").write_text("ATOM\n" * 40)
    form = make_form({"f": FILE})
    box = form.fields["f"].control
    assert "target.pdb" in box.options
    box.value = "target.pdb"
    assert "file on this computer, 200 B; uploaded on Submit" in label_of(form, "f")
    assert form.value == {"f": "target.pdb"}


def test_type_ahead_offers_fitting_files_and_folders(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    for name in ("a.pdb", "b.csv", ".hidden.pdb", "in/c.pdb"):
        (tmp_path / name).write_text("x")
    form = make_form({"f": FILE})
    assert form.fields["f"].control.options == ("a.pdb", "in/")
    form.fields["f"].control.value = "in/"
    assert form.fields["f"].control.options == ("in/c.pdb",)


def test_a_wrong_extension_and_a_path_to_nothing_are_explained(tmp_path):
    form = make_form({"f": FILE})
    form.fields["f"].control.value = "target.cif"
    assert "This field needs a .pdb file; this is .cif." in label_of(form, "f")
    form.fields["f"].control.value = f"{tmp_path}/none.pdb"
    assert "does not exist on this computer" in label_of(form, "f")


def test_pasted_contents_reach_the_value_and_no_widget_keeps_them():
    form = make_form({"f": FILE})
    field = form.fields["f"]
    page = Page(field.widget)
    page.press("paste text")
    area = page.find(widgets.Textarea, "Contents of")
    area.value = "ATOM      1  N   GLU H   1      11.104  13.207  10.567  1.00 20.00           N\nEND\n"
    page.press("Use this text")
    assert form.value["f"].startswith("ATOM")
    assert area.value == ""
    assert field.control.value == "(pasted text, 83 B)"
    assert field.widget.children == (field.control, field.links)


def test_contents_set_by_code_stay_out_of_the_widgets():
    contents = "ATOM\nEND\n"
    form = make_form({"f": FILE, "g": {"type": "array", "items": FILE}}, f=contents, g=["a.pdb", contents])
    assert form.value == {"f": contents, "g": ["a.pdb", contents]}
    assert "ATOM" not in form.fields["f"].control.value
    assert "ATOM" not in form.fields["g"].control.value


def test_a_secret_is_dots_and_appears_in_no_rendering():
    form = make_form({"key": {"type": "string", "format": "password"}}, key="hunter2")
    assert form.value == {"key": "hunter2"}
    bundle = form._repr_mimebundle_()
    assert "hunter2" not in bundle["text/html"] + bundle["text/plain"] + form.code()
