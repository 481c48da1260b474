"""Titles, sizes and values in readable form."""

import re

import pytest
from form_builders import label_of, make_form

from foldnote import catalog
from foldnote.errors import ArgumentError
from foldnote.forms import Form, SchemaForm, variable
from foldnote.forms.wording import in_one_line, number_text, title_from_name


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("numSamples", "Number of samples"),
        ("proteinPDB", "Protein PDB"),
        ("pLDDT_min", "pLDDT min"),
        ("useMSA", "Use MSA"),
        ("KdColumn", "Kd column"),
        ("omitAAs", "Omit AAs"),
        ("a3mFile", "A3M file"),
        ("pdbFiles", "PDB files"),
        ("mpnn_weight", "Mpnn weight"),
        ("heavy", "Heavy"),
        ("_", "_"),
    ],
)
def test_titles_from_names(name, title):
    assert title_from_name(name) == title


def test_pasted_text_is_named_by_its_size_not_shown():
    assert in_one_line("ATOM\n" * 100) == "pasted text, 500 B"


def test_long_values_are_cut():
    assert in_one_line("A" * 500, 20) == "A" * 19 + "…"


def test_numbers_are_written_as_typed():
    assert [number_text(value) for value in (5, 5.0, 0.1, 1e-7)] == ["5", "5.0", "0.1", "1e-07"]


def test_two_equal_limits_of_a_length_are_one_number():
    corner = {"type": "array", "items": {"type": "number"}, "minItems": 3, "maxItems": 3}
    assert "Exactly 3 items." in label_of(make_form({"corner": corner}), "corner")


@pytest.mark.parametrize("call", [lambda: variable("not a name"), lambda: SchemaForm("absent.json")])
def test_a_wrong_argument_is_a_value_error(call):
    with pytest.raises(ArgumentError) as raised:
        call()
    assert isinstance(raised.value, ValueError)


LONG_NUMBER = re.compile(r"(?<![\w.,/-])[1-9]\d{3,}(?!\w|[-./]\d)")
YEAR = re.compile(r"(?:19|20)\d\d")


@pytest.mark.parametrize("tool", sorted(catalog.tools()))
def test_all_numbers_at_the_fields_of_a_form_have_commas_between_thousands(tool):
    form = Form(catalog.tool(tool))
    words = [re.sub(r"<[^>]*>", " ", label_of(form, name)) for name in form.fields]
    typed = {str(value) for value in form.value.values()}
    found = {number for text in words for number in LONG_NUMBER.findall(text)} - typed
    assert [number for number in found if not YEAR.fullmatch(number)] == []


def test_a_size_has_commas_in_hint_readout_and_error():
    field = {"type": "string", "maxLength": 5000, "x-foldnote": {"role": "sequence"}}
    number = {"type": "integer", "minimum": 1000, "maximum": 20000}
    form = make_form({"sequence": field, "steps": number}, sequence="A" * 6000, steps=100)
    assert "At most 5,000 characters." in label_of(form, "sequence")
    assert "6,000 residues" in label_of(form, "sequence")
    assert "This has 6,000 characters; the longest allowed is 5,000." in label_of(form, "sequence")
    assert "1,000 to 20,000." in label_of(form, "steps")
    assert "100 is too small; the least is 1,000." in label_of(form, "steps")


def test_a_limit_that_the_description_names_in_either_spelling_is_not_repeated():
    for number in ("5000", "5,000"):
        text = f"At most {number} letters."
        form = make_form({"a": {"type": "string", "maxLength": 5000, "description": text}})
        assert "characters" not in label_of(form, "a")
    form = make_form({"a": {"type": "string", "maxLength": 500, "description": "At most 5,000 letters."}})
    assert "At most 500 characters." in label_of(form, "a")


@pytest.mark.parametrize("text", ["GluValGlnLeuValGlu", "/data/heavy.fasta"])
def test_residues_of_a_text_that_is_no_sequence_are_not_counted(text):
    form = Form(catalog.tool("anarci"), values={"sequence": text})
    label = label_of(form, "sequence")
    assert "these are three-letter codes" in label or "this is the path of a file" in label
    assert "residue" not in label
