"""Fields for a docking box: around a ligand or residues, by numbers or blind, and reported before submission."""

import math
import re
from html import unescape
from pathlib import Path

import gemmi
import pytest
from form_builders import make_form

from foldnote import catalog
from foldnote.forms import Form

LYSOZYME = Path(__file__).parents[2] / "engines" / "data" / "t4-lysozyme-l99a.pdb"
SETTINGS = {"receptorFile": LYSOZYME, "ligandFile": "Cc1ccc(C)cc1"}


@pytest.fixture
def form():
    return Form(catalog.tool("vina"), values=SETTINGS)


def said(form, name):
    texts = [form.fields[name].widget]
    for widget in texts:
        texts += getattr(widget, "children", ())
    return re.sub(
        r"<[^>]*>",
        " ",
        unescape(" ".join(f"{getattr(one, 'description', '')} {getattr(one, 'value', '')}" for one in texts)),
    )


def choose(form, start):
    field = form.fields["boxCenter"]
    field.places.index = next(i for i, text in enumerate(field.places.options) if text.startswith(start))


def test_without_a_choice_the_form_says_that_the_docking_is_blind_how_large_the_box_is_and_what_is_better(
    form,
):
    words = said(form, "boxCenter")
    places = [
        [float(line[start : start + 8]) for start in (30, 38, 46)]
        for line in LYSOZYME.read_text().splitlines()
        if line.startswith("ATOM") and line[76:78].strip() != "H"
    ]
    edges = [max(axis) - min(axis) + 10 for axis in zip(*places, strict=True)]
    extent = " × ".join(f"{edge:.1f}" for edge in edges)
    assert f"Searched: {extent} Å around the whole receptor, {math.prod(edges):,.0f} Å³, 162 of" in words
    assert "Blind docking: no site was chosen" in words
    assert "the advised maximum of 27,000 Å³; better: the ligand TMP A 163 or residues of the site" in words
    assert "boxCenter" not in form.value
    assert form.problems == ()


def test_a_ligand_of_the_file_gives_centre_and_size(form):
    choose(form, "Around TMP A 163 · 8 heavy atoms")
    assert form.value["boxCenter"] == pytest.approx([42.4, 45.6, 17.9], abs=1)
    assert form.value["boxSize"] == [20, 20, 20]
    words = said(form, "boxCenter")
    assert "Searched: 20.0 × 20.0 × 20.0 Å around TMP A 163, 8,000 Å³" in words
    assert "Blind" not in words
    assert "8,000 Å³" in said(form, "boxSize")
    choose(form, "The whole receptor")
    assert not {"boxCenter", "boxSize"} & form.value.keys()


def test_a_large_ligand_gets_five_angstroms_on_each_side():
    ligand = [
        f"HETATM {9000 + i} C{i:<3} BIG A 900    {40 + 2 * i:8.3f}  45.000  18.000  1.00  0.00           C  \n"
        for i in range(8)
    ]
    text = LYSOZYME.read_text().replace("END", "".join(ligand) + "END", 1)
    form = Form(catalog.tool("vina"), values={"receptorFile": text})
    choose(form, "Around BIG A 900")
    assert form.value["boxCenter"] == [47.0, 45.0, 18.0]
    assert form.value["boxSize"] == [24.0, 20.0, 20.0]


def test_residues_of_the_site_give_the_box_that_spans_them(form):
    choose(form, "Around residues")
    assert "Write the residues of the site." in [problem.message for problem in form.problems]
    field = form.fields["boxCenter"]
    field.residues.value = "99 102-103 A:153"
    assert form.problems == ()
    assert "around the selected residues" in said(form, "boxCenter")
    center, size = form.value["boxCenter"], form.value["boxSize"]
    for number in ("99", "102", "103", "153"):
        for line in LYSOZYME.read_text().splitlines():
            if line.startswith("ATOM") and line[22:26].strip() == number and line[76:78].strip() != "H":
                place = [float(line[start : start + 8]) for start in (30, 38, 46)]
                assert all(abs(x - c) <= s / 2 + 0.06 for x, c, s in zip(place, center, size, strict=True))
    field.residues.value = "999"
    assert "has no residue 999" in said(form, "boxCenter")
    assert "boxCenter" not in form.value
    field.residues.value = "B:99"
    assert "write chain and residues, as in A:315-320" in said(form, "boxCenter")


def test_numbers_are_typed_one_by_one_or_pasted_at_once(form):
    choose(form, "By coordinates")
    assert "Give the centre of the box." in said(form, "boxCenter")
    field = form.fields["boxCenter"]
    field.boxes[0].value = "42.3, 45.4 18.2"
    assert form.value["boxCenter"] == [42.3, 45.4, 18.2]
    assert [box.value for box in field.boxes] == ["42.3", "45.4", "18.2"]
    assert "around the given centre, 8,000 Å³" in said(form, "boxCenter")
    field.boxes[1].value = ""
    assert "Centre y is missing: give all three numbers." in said(form, "boxCenter")
    field.boxes[1].value = "45,4"
    assert "Write the decimals with a point: 45.4" in said(form, "boxCenter")


@pytest.mark.parametrize("pasted", ["[42.3, 45.4, 18.2]", "(42.3,45.4,18.2)", "[42.3  45.4 18.2]"])
def test_numbers_can_also_be_pasted_as_a_python_or_numpy_list(form, pasted):
    choose(form, "By coordinates")
    form.fields["boxCenter"].boxes[0].value = pasted
    assert form.value["boxCenter"] == [42.3, 45.4, 18.2]


def test_invalid_numbers_are_reported_before_missing_ones(form):
    choose(form, "By coordinates")
    form.fields["boxCenter"].boxes[0].value = "42,3"
    assert "Write the decimals with a point: 42.3" in said(form, "boxCenter")


@pytest.mark.parametrize("size", [[0, 20, 20], [-5, 20, 20], [-5, -4, 20]])
def test_an_impossible_size_is_an_error_of_the_size_alone(form, size):
    for center in ({}, {"boxCenter": [42, 45, 18]}, {"flexibleResidues": {"A": "102"}}):
        form.set(boxSize=size, **center)
        assert {problem.field.partition(".")[0] for problem in form.problems} == {"boxSize"}
        assert "Å³" not in said(form, "boxSize") + said(form, "boxCenter")
        assert "is too small; the least is 4 Å" in said(form, "boxSize")


def test_a_box_that_does_not_touch_the_receptor_is_an_error(form):
    form.set(boxCenter=[200, 0, 0])
    assert "The box does not touch the receptor, which extends from (" in said(form, "boxCenter")
    assert [problem.field for problem in form.problems] == ["boxCenter"]


def test_values_that_code_gives_are_recognized_as_a_ligands_box(form):
    choose(form, "Around TMP")
    again = Form(
        catalog.tool("vina"), values=SETTINGS | {"boxCenter": form.value["boxCenter"], "boxSize": [20] * 3}
    )
    assert "around TMP A 163" in said(again, "boxCenter")
    again.set(boxSize=[22, 20, 20])
    assert "22.0 × 20.0 × 20.0 Å around the given centre" in said(again, "boxCenter")
    again.reset("boxCenter", "boxSize")
    assert "Blind docking" in said(again, "boxCenter")


def test_with_flexible_residues_and_no_site_the_box_is_described_as_around_them(form):
    form.set(flexibleResidues={"A": "102 118"})
    words = said(form, "boxCenter")
    assert "Searched: a box around the flexible residues, 20 Å or more along each edge." in words
    assert "lind docking" not in words
    places = form.fields["boxCenter"].places
    assert places.options[places.index] == "Around the flexible residues"
    form.set(boxSize=[12, 14, 16])
    assert "Searched: 12.0 × 14.0 × 16.0 Å around the flexible residues, 2,688 Å³." in said(form, "boxCenter")
    choose(form, "Around TMP")
    assert "around TMP A 163" in said(form, "boxCenter")
    choose(form, "Around the flexible residues")
    assert not {"boxCenter", "boxSize"} & form.value.keys()
    form.reset("flexibleResidues")
    assert "Blind docking: no site was chosen" in said(form, "boxCenter")
    assert places.options[places.index] == "The whole receptor (blind docking)"


def test_a_side_chain_without_a_bond_that_turns_is_an_error_before_submitting(form):
    form.set(flexibleResidues={"A": "99 118"})
    assert "ALA A:99 cannot be flexible: it has no side chain that can turn" in said(form, "flexibleResidues")
    assert "flexibleResidues" in {problem.field for problem in form.problems}


def test_the_bonds_that_turn_are_counted(form):
    form.set(flexibleResidues={"A": "102 118"})
    assert "A: 2 residues, ML; 5 bonds of the side chains can rotate, at most 32" in said(
        form, "flexibleResidues"
    )
    form.set(flexibleResidues={"A": "8 14 16 19 35 43 48 52"})
    assert "Choose fewer residues" in said(form, "flexibleResidues")


def test_the_3d_view_and_the_numbers_move_the_same_box(form):
    field = form.fields["boxCenter"]
    choose(form, "Around TMP")
    field.opener.click()
    assert field.editor.box == [*form.value["boxCenter"], 20, 20, 20]
    form.fields["boxSize"].boxes[2].value = "24"
    assert field.editor.box[5] == 24
    field.editor.box = [40, 45, 18, 10, 12, 14]
    assert (form.value["boxCenter"], form.value["boxSize"]) == ([40, 45, 18], [10, 12, 14])
    assert "around the given centre" in said(form, "boxCenter")
    field.opener.click()
    assert field.editor is None


def test_nothing_is_assumed_about_a_receptor_that_is_not_available():
    form = Form(catalog.tool("vina"), values={"receptorFile": "JobName/model.pdb"})
    assert "its extent is not known" in said(form, "boxCenter")
    assert len(form.fields["boxCenter"].places.options) == 2


def test_a_file_without_a_receptor_is_refused_before_submitting(tmp_path):
    ligand = [
        f"HETATM {i:4d}  C{i}  LIG A   1    {i:8.3f}   5.000   5.000  1.00  0.00           C"
        for i in range(1, 9)
    ]
    path = tmp_path / "ligand.pdb"
    path.write_text("\n".join([*ligand, "END\n"]))
    form = Form(catalog.tool("vina"), values={"receptorFile": path, "ligandFile": "CCO"})
    assert [problem.message for problem in form.problems] == [
        "ligand.pdb has no protein or nucleic acid to dock to."
    ]
    assert "No protein or nucleic acid to dock to was found in ligand.pdb." in said(form, "boxCenter")


def test_a_receptor_of_mmcif_is_read_after_the_comment_that_pymol_begins_with():
    structure = gemmi.read_structure(str(LYSOZYME))
    structure.setup_entities()
    text = "# generated by PyMOL 3.1\n#\n" + structure.make_mmcif_document().as_string()
    form = Form(catalog.tool("vina"), values={"receptorFile": text})
    assert "docked to 162 of 163 residues without waters" in said(form, "receptorFile")
    choose(form, "Around TMP A 163")


def list_atoms(residue=""):
    lines = LYSOZYME.read_text().splitlines()
    return [line for line in lines if line.startswith("ATOM") and residue in line[17:20]]


def test_the_chain_of_a_receptor_may_have_no_name():
    text = "\n".join([*(f"{line[:21]} {line[22:]}" for line in list_atoms()), "END\n"])
    form = Form(catalog.tool("vina"), values={"receptorFile": text})
    assert (
        "1 chain without a name, 1 ligand; docked to 162 of 163 residues without waters; left out: TMP 163"
        in said(form, "receptorFile")
    )
    choose(form, "Around TMP 163 · ")
    assert form.value["boxSize"] == [20, 20, 20]
    choose(form, "Around residues")
    form.fields["boxCenter"].residues.value = "A:99"
    assert "the chain of the pasted structure has no name; write residues alone" in said(form, "boxCenter")
    form.fields["boxCenter"].residues.value = "99; 102"
    assert "boxCenter" in form.value


def test_each_of_two_ligands_of_one_name_can_be_chosen():
    ligand = list_atoms("TMP")
    between = f"{ligand[0][:21]}B{ligand[0][22:]}"
    moved = [f"{line[:30]}{float(line[30:38]) + 30:8.3f}{line[38:]}" for line in ligand]
    text = "\n".join([*list_atoms(), between, *moved, "END\n"])
    form = Form(catalog.tool("vina"), values={"receptorFile": text})
    choose(form, "Around TMP A 163 · ")
    first = form.value["boxCenter"]
    choose(form, "Around TMP A 163 (2) · ")
    assert form.value["boxCenter"][0] - first[0] == pytest.approx(30, abs=0.01)


def test_before_a_receptor_is_chosen_the_box_invites_to_choose_one():
    form = Form(catalog.tool("vina"))
    assert "Choose the receptor to see what is searched" in said(form, "boxCenter")
    assert "not" not in said(form, "boxCenter").partition("Choose the receptor")[2].partition("<")[0]


def test_a_schema_of_ones_own_may_have_the_fields():
    point = {"type": "array", "items": {"type": "number"}, "minItems": 3, "maxItems": 3}
    form = make_form({"size": point | {"x-foldnote": {"role": "box-size"}}}, size=[1, 2.5, 3])
    assert form.value == {"size": [1, 2.5, 3]}
    assert [box.value for box in form.fields["size"].boxes] == ["1", "2.5", "3"]


def test_omitted_parts_of_the_receptor_are_reported_at_its_file(form):
    words = said(form, "receptorFile")
    assert "docked to 162 of 163 residues without waters; left out: TMP A 163" in words


def test_waters_hydrogens_and_alternate_locations_are_counted_and_metal_ions_stay():
    water = "HETATM 9001  O   HOH A 801      40.000  45.000  18.000  1.00  0.00           O  \n"
    zinc = "HETATM 9002 ZN    ZN A 802      30.000  45.000  18.000  1.00  0.00          ZN  \n"
    lines = LYSOZYME.read_text().splitlines(keepends=True)
    first = next(line for line in lines if line.startswith("ATOM"))
    hydrogen = first.replace(" N   ", " H1  ", 1)[:76] + " H  \n"
    other = [first[:16] + letter + first[17:] for letter in "AB"]
    place = lines.index(first)
    text = "".join([*lines[:place], *other, hydrogen, *lines[place + 1 : -1], water, zinc])
    words = said(Form(catalog.tool("vina"), values={"receptorFile": text}), "receptorFile")
    assert "docked to 163 of 164 residues without waters" in words
    assert "left out: TMP A 163, 1 water" in words
    assert "most occupied of the alternate locations" in words
    assert "1 hydrogen replaced" in words
