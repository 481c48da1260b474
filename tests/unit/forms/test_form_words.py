"""Titles, sizes and values as people read them."""

import pytest
from form_builders import label_of, make_form

from foldnote.errors import ArgumentError
from foldnote.forms import SchemaForm, variable
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
