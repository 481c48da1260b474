"""SMILES in fields for molecules: accepted where the tool takes them, otherwise refused with what is needed."""

from html import unescape
from pathlib import Path

import pytest
from form_builders import label_of, make_form

from foldnote import catalog
from foldnote.client.inputs.file_values import Contents
from foldnote.forms import Form

DATA = Path(__file__).parents[1] / "results" / "data"
ASPIRIN = "CC(=O)Oc1ccccc1C(=O)O"


def file_field(*extensions):
    return {"type": "string", "x-foldnote": {"role": "file", "extensions": list(extensions)}}


@pytest.mark.parametrize("smiles", [ASPIRIN, "C/C=C/C", "CCO"])
def test_a_tool_that_takes_smiles_gets_them_as_contents(smiles):
    form = Form(catalog.tool("vina"))
    form.fields["ligandFile"].control.value = smiles
    assert form.value["ligandFile"] == f"{smiles}\n"
    assert isinstance(form.value["ligandFile"], Contents)
    assert f"the molecule of the SMILES {smiles}" in label_of(form, "ligandFile")
    assert form.fields["ligandFile"].control.value == smiles
    assert f"fn.inline({smiles + chr(10)!r})" in form.code()
    assert not [problem for problem in form.problems if problem.field == "ligandFile"]


def test_smiles_given_by_code_are_also_accepted():
    form = Form(catalog.tool("vina"), values={"ligandFile": ASPIRIN})
    assert form.value["ligandFile"] == f"{ASPIRIN}\n"


def test_a_tool_that_needs_a_structure_says_so_and_how_it_is_made():
    form = make_form({"f": file_field("sdf", "mol2")}, f=ASPIRIN)
    said = unescape(label_of(form, "f"))
    assert (
        "This is a SMILES, and the tool needs a 3D structure of the molecule as a file (.sdf or .mol2)."
        in said
    )
    assert "RDKit can generate one" in said
    assert "taken as an upload" not in said


@pytest.mark.parametrize("name", ["ligand.sdf", "CCO.sdf", "set/CCO.mol2"])
def test_a_name_with_an_ending_is_a_name(name):
    assert make_form({"f": file_field("sdf", "mol2", "smi")}, f=name).value["f"] == name


def test_the_molecule_is_drawn_and_described():
    form = Form(catalog.tool("vina"), values={"ligandFile": ASPIRIN})
    said = unescape(label_of(form, "ligandFile"))
    assert "C9H8O4, 13 heavy atoms" in said
    assert f'alt="2D drawing: {ASPIRIN}"' in said
    form.set(ligandFile=DATA / "imatinib.sdf")
    said = unescape(label_of(form, "ligandFile"))
    assert "C29H32N7O+, 37 heavy atoms, charge +1, 3D coordinates" in said
    assert said.count("<img ") == 1
    form.set(ligandFile="other.sdf")
    assert "<img" not in label_of(form, "ligandFile")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("CC(N)C(=O)O", "1 of 1 stereocentre has no configuration"),
        ("C[C@H](N)C(=O)O", "C3H7NO2, 6 heavy atoms"),
        ("[Na+].CC(=O)[O-]", "2 parts that are not bonded, as of a salt"),
        ("CC(=O)[O-]", "charge −1"),
        (f"{ASPIRIN} aspirin", "C9H8O4"),
        ("CCO\nCCC\n", "2 molecules"),
    ],
    ids=["no configuration", "configuration", "salt", "charge", "named", "several"],
)
def test_unspecified_features_of_a_molecule_are_reported(text, words):
    assert words in unescape(label_of(Form(catalog.tool("vina"), values={"ligandFile": text}), "ligandFile"))


def test_where_a_job_takes_one_molecule_several_are_an_error(tmp_path):
    path = tmp_path / "two.sdf"
    path.write_text((DATA / "imatinib.sdf").read_text() * 2)
    for value in ("CCO\nCCN\n", path):
        form = Form(catalog.tool("vina"), values={"ligandFile": value})
        assert "These are 2 molecules, and a job takes one." in label_of(form, "ligandFile")
        assert [problem.field for problem in form.problems].count("ligandFile") == 1
    many = Form(catalog.tool("hydration-free-energy"), values={"ligandsSDF": "CCO\nCCN\n"})
    assert "2 molecules" in label_of(many, "ligandsSDF")
    assert many.problems == ()


@pytest.mark.parametrize(
    ("typed", "sentence", "letter"),
    [
        ("CC(=O", "has an unmatched parenthesis at position 3.", "("),
        ("c1ccccc", "opens ring 1 at position 2 without closing it.", "1"),
        ("CC(=O)Xc1ccccc1", "Position 7 of 'CC(=O)Xc1ccccc1': 'X' is not SMILES.", "X"),
        ("CCC(C)(C)(C)C", "Position 3 of CCC(C)(C)(C)C: C with the valence 5, which is too high.", "C"),
        ("CC[Xx]C", "Position 3 of 'CC[Xx]C': '[Xx]' is not an atom.", "["),
        ("CC*", "Position 3 of 'CC*': '*' is an atom of no element. Give a whole molecule.", "*"),
        ("C[C,N]", "Position 2 of 'C[C,N]': '[C,N]' is a query of SMARTS, not a part of a molecule.", "["),
        ("c1ccnc1", "the aromatic atoms from position 1 on have no alternating", "c"),
    ],
    ids=["parenthesis", "ring", "letter", "valence", "element", "dummy", "query", "aromatic"],
)
def test_a_wrong_smiles_is_reported_with_its_place(typed, sentence, letter):
    form = Form(catalog.tool("vina"))
    form.fields["ligandFile"].control.value = typed
    said = unescape(label_of(form, "ligandFile"))
    assert sentence in said
    assert f"<strong>{letter}</strong>" in said
    assert "<img" not in said
    assert [problem.field for problem in form.problems if problem.field == "ligandFile"]


@pytest.mark.parametrize("name", ["set/CCO", "P01308", "ligand", "compound-7", "ethanol"])
def test_a_name_without_an_extension_is_not_a_smiles(name):
    form = Form(catalog.tool("vina"))
    form.fields["ligandFile"].control.value = name
    said = label_of(form, "ligandFile")
    assert (
        "file, or a SMILES; this is a name without extension, and names of molecules are not looked up."
        in said
    )
    assert "taken as an upload" not in said


@pytest.mark.parametrize("rest", ["ethanol", "|$;;OH$|", "C.1"])
def test_what_follows_a_smiles_is_named(rest):
    form = Form(catalog.tool("vina"))
    form.fields["ligandFile"].control.value = f"CCO {rest}"
    said = unescape(label_of(form, "ligandFile"))
    assert f"'CCO' is a SMILES, and '{rest}' is not part of it. Leave it out." in said


@pytest.mark.parametrize("text", ["InChI=1S/H2O/h1H2", "BSYNRYMUTXBXSQ-UHFFFAOYSA-N"])
def test_an_inchi_is_named_as_such(text):
    form = Form(catalog.tool("vina"))
    form.fields["ligandFile"].control.value = text
    assert "is an InChI or its key, not SMILES. Give the SMILES" in unescape(label_of(form, "ligandFile"))


def test_other_fields_know_no_smiles():
    assert "SMILES" not in label_of(make_form({"f": file_field("pdb")}, f="CCO"), "f")
