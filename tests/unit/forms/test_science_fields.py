"""Fields for columns of the form's table, for masks on its sequence, and for molecules."""

import re
from html import unescape

import pandas as pd
import pytest
from form_builders import label_of, make_form

from foldnote import catalog
from foldnote.forms import Form
from foldnote.forms.fields.kinds.mask import draw_mask
from foldnote.forms.fields.kinds.molecule import draw_svg, write_drawings
from foldnote.forms.files.table_head import find_table

TABLE = {"type": "string", "x-foldnote": {"role": "file", "extensions": ["csv", "tsv"]}}
COLUMN = {"type": "string", "x-foldnote": {"role": "column", "of": "table"}}
SEQUENCE = {"type": "string", "x-foldnote": {"role": "sequence"}}
MASK = {"type": "string", "x-foldnote": {"role": "mask", "of": "heavy", "check": ["residue-range"]}}
MOLECULES = {
    "type": "array",
    "items": {"type": "string"},
    "x-foldnote": {"role": "smiles", "check": ["smiles"]},
}
VH = "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGK"


def said(form, name):
    return unescape(label_of(form, name))


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "binding.csv"
    path.write_text("sequence,Kd (nM)\nEVQL,3.5\n")
    return str(path)


def test_columns_are_offered_with_what_their_first_cell_holds(table):
    form = make_form({"table": TABLE, "column": COLUMN}, table=table)
    (box,) = form.fields["column"].widget.children
    assert [text for text, _ in box.options] == ["not set", "sequence · EVQL", "Kd (nM) · 3.5"]
    box.index = 2
    assert form.value["column"] == "Kd (nM)"
    assert "first cell: 3.5" in said(form, "column")


def test_a_column_that_the_table_lacks_is_reported(table):
    form = make_form({"table": TABLE, "column": COLUMN}, table=table, column="Kd")
    assert "binding.csv has no column 'Kd'. It has: sequence, Kd (nM)." in said(form, "column")
    form.set(table="Kd\tx\n1\t2\n")
    assert form.problems == ()


@pytest.mark.parametrize("text", ["a;b\n1;2\n", "a,b\n1,2\n", "\ufeffa\tb\n1\t2\n", "\n a, b\n1,2\n"])
def test_heads_of_tables_are_read_whatever_separates_their_cells(text, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(text, encoding="utf-8")
    assert find_table(str(path)).columns == ("a", "b")


def test_no_table_is_read_of_what_is_elsewhere_or_no_table(tmp_path):
    path = tmp_path / "structure.pdb"
    path.write_text("a,b\n1,2\n")
    assert find_table("elsewhere.csv") is None
    assert find_table(str(path)) is None


def test_a_mask_is_shown_on_its_sequence():
    form = make_form({"heavy": SEQUENCE, "mask": MASK}, heavy=VH)
    form.fields["mask"].control.value = "26 to 33"
    assert form.value["mask"] == "26-33"
    assert "8 residues of 43 masked: GFNIKDTY" in said(form, "mask")
    strip = form.fields["mask"].widget.children[1].value
    assert "of which 26 to 33 are masked" in strip
    assert "<mark>GFNIK</mark>" in strip
    assert "<mark>DTY</mark>" in strip


def test_a_mask_beyond_its_sequence_is_reported_and_without_one_nothing_is_shown():
    form = make_form({"heavy": SEQUENCE, "mask": MASK}, heavy=VH, mask="40-50")
    assert "reaches beyond heavy, which has 43 residues" in said(form, "mask")
    form.set(heavy=None)
    assert len(form.fields["mask"].widget.children) == 1


def test_a_sequence_without_a_mask_is_shown_unmarked():
    assert "<mark>" not in draw_mask(VH, "")
    assert "<mark>" not in draw_mask(VH, "9-3")


def test_molecules_are_checked_line_by_line():
    form = make_form({"m": MOLECULES})
    form.fields["m"].control.value = "CCO\nC1CC\nbenzene"
    assert "Line 2:" in said(form, "m")
    assert "Line 3:" in said(form, "m")
    form.fields["m"].control.value = "CCO\nc1ccccc1"
    assert form.value == {"m": ["CCO", "c1ccccc1"]}
    assert "2 molecules" in said(form, "m")
    assert form.problems == ()


def test_molecules_come_from_a_column_of_a_dataframe():
    form = make_form({"m": MOLECULES})
    form.set(m=pd.DataFrame({"smiles": ["CCO", None, "CC"]})["smiles"])
    assert form.value == {"m": ["CCO", "CC"]}
    assert form.fields["m"].control.value == "CCO\nCC"


def test_one_molecule_is_checked_as_typed():
    form = make_form({"m": {"type": "string", "x-foldnote": {"role": "smiles"}}})
    form.fields["m"].control.value = "CC(C"
    assert "has an unmatched parenthesis" in said(form, "m")
    form.fields["m"].control.value = "CC(C)O"
    assert form.value == {"m": "CC(C)O"}


@pytest.mark.parametrize("tool", ["boltz2", "openfold3"])
def test_a_salt_or_mixture_among_ligands_gets_a_caution_and_stays_valid(tool):
    form = Form(catalog.tool(tool), values={"ligands": ["CCO", "CC(=O)[O-].[Na+]"]})
    assert (
        "Line 2 has parts that are not bonded: leave out a salt, and give each molecule of a mixture its own"
        " line, unless this is intended." in said(form, "ligands")
    )
    assert form.value["ligands"] == ["CCO", "CC(=O)[O-].[Na+]"]
    form.set(ligands=["CCO", "CC(=O)[O-]"])
    assert "not bonded" not in said(form, "ligands")


def test_a_caution_on_many_salts_names_the_first_six_lines():
    form = make_form({"m": MOLECULES}, m=["C.C"] * 8)
    assert "Lines 1, 2, 3, 4, 5, 6 and 2 more have parts that are not bonded" in said(form, "m")


def test_rings_that_join_parts_and_invalid_molecules_get_no_caution():
    form = make_form({"m": MOLECULES}, m=["C1.C1", "C.C(", "CCO."])
    assert "not bonded" not in said(form, "m")


def test_one_salt_gets_a_caution():
    form = make_form({"m": {"type": "string", "x-foldnote": {"role": "smiles"}}}, m="CC(=O)[O-].[Na+]")
    assert "2 parts that are not bonded: leave out the salt, unless it is intended." in said(form, "m")


def test_molecules_are_drawn_without_anything_from_outside():
    drawn = write_drawings(["CCO", "C1CC", "c1ccccc1"])
    assert drawn.count("<img ") == 2
    assert 'src="data:image/svg+xml;base64,' in drawn
    assert "http" not in drawn


def test_drawings_have_no_ground_of_their_own():
    svg = draw_svg("CC(=O)Oc1ccccc1C(=O)S")
    assert "<rect" not in svg, "a dark theme would show a white box"


def test_bonds_of_drawings_have_the_colour_of_text():
    svg = draw_svg("OCCS")
    assert "stroke:currentColor" in svg
    assert "#000000" not in svg
    assert {ink.lower() for ink in re.findall("#[0-9A-Fa-f]{6}", svg)} == {"#e0493a", "#9a8500", "#e4e4e4"}


def test_an_impossible_valence_is_reported():
    form = make_form({"m": MOLECULES}, m=["C(C)(C)(C)(C)C"])
    assert "valence" in said(form, "m")


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("2.5e-7", "= 2.5 × 10⁻⁷ M"),
        ("1000000", "= 1 × 10⁶ M"),
        ("-0.0001", "= −1 × 10⁻⁴ M"),
        ("0.5", ""),
        ("0", ""),
    ],
)
def test_very_large_and_small_numbers_are_read_out_as_powers_of_ten(typed, told):
    form = make_form({"n": {"type": "number", "x-foldnote": {"unit": "M"}}})
    form.fields["n"].widget.value = typed
    assert (told in said(form, "n")) if told else ("× 10" not in said(form, "n"))
    assert form.value == {"n": float(typed)}


@pytest.mark.parametrize("digits", [400, 5000])
def test_a_number_with_very_many_digits_does_not_break_the_form(digits):
    form = make_form({"n": {"type": "integer", "maximum": 10}, "m": {"type": "integer"}})
    form.fields["n"].widget.value = "9" * digits
    assert [problem.field for problem in form.problems] == ["n"]
    form.fields["m"].widget.value = "2"
    assert form.value["m"] == 2
