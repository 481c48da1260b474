"""SMILES in fields for molecules: taken where the tool takes them, else answered with what is needed."""

from html import unescape

import pytest
from form_builders import label_of, make_form

from foldnote import catalog
from foldnote.client.inputs.file_values import Contents
from foldnote.forms import Form

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


def test_smiles_given_by_code_are_taken_too():
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


def test_other_fields_know_no_smiles():
    assert "SMILES" not in label_of(make_form({"f": file_field("pdb")}, f="CCO"), "f")
