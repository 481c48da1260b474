"""The structure editor's kernel side: its messages, its checks of drawings, and how fields use drawings."""

import zlib

import pytest
from form_builders import label_of, make_form
from page import send

from foldnote import catalog
from foldnote.forms import Form
from foldnote.forms.files.molfile import is_same_molecule, read_molfile, write_molfile

ONE = {"type": "string", "x-foldnote": {"role": "smiles"}}
MANY = {"type": "array", "items": {"type": "string"}, "x-foldnote": {"role": "smiles"}}
ASPIRIN = "CC(=O)Oc1ccccc1C(=O)O"
PENTAVALENT = """
  drawn

  6  5  0  0  0  0            999 V2000
    0.0000    0.0000    0.0000 C   0  0
    1.0000    0.0000    0.0000 C   0  0
   -1.0000    0.0000    0.0000 C   0  0
    0.0000    1.0000    0.0000 C   0  0
    0.0000   -1.0000    0.0000 C   0  0
    0.7000    0.7000    0.0000 C   0  0
  1  2  1  0
  1  3  1  0
  1  4  1  0
  1  5  1  0
  1  6  1  0
M  END
"""


@pytest.fixture
def answers(monkeypatch):
    """Send the page's requests to the kernel; return the replies and their buffers."""
    heard = []

    def ask(form, kind, name, **more):
        monkeypatch.setattr(
            form.surface.widget, "send", lambda content, buffers=None: heard.append((content, buffers))
        )
        send(form, {"kind": kind, "field": form.fields[name].mark, **more})
        return heard[-1] if heard else None

    return ask


def test_the_editor_travels_once_a_page_and_the_library_packed(answers):
    form = make_form({"m": ONE}, m=ASPIRIN)
    first, (library,) = answers(form, "draw", "m", has="")
    assert b"CanvasEditor" in zlib.decompress(library)
    assert len(library) < 400_000
    again, buffers = answers(form, "draw", "m", has=first["version"])
    assert ("script" in first, "script" in again, buffers) == (True, False, [])


@pytest.mark.parametrize("smiles", [ASPIRIN, "C[C@H](N)C(=O)O", r"F/C=C\F", "[Na+].CC(=O)[O-]", "[13CH4]"])
def test_the_molecule_of_the_field_is_drawn_whole(answers, smiles):
    message, _ = answers(make_form({"m": ONE}, m=smiles), "draw", "m")
    assert message["smiles"] == smiles
    assert is_same_molecule(read_molfile(message["molfile"]).smiles, smiles)


def test_an_invalid_smiles_is_opened_as_text_with_what_is_wrong(answers):
    message, _ = answers(make_form({"m": ONE}, m="C1CC"), "draw", "m")
    assert (message["smiles"], message["molfile"]) == ("C1CC", "")
    assert "ring" in message["fault"]


def test_a_drawing_is_described_as_a_typed_smiles(answers):
    message, _ = answers(make_form({"m": ONE}), "drawing", "m", turn=4, molfile=write_molfile("OCC"))
    assert (message["turn"], message["smiles"]) == (4, "CCO")
    assert message["words"] == "C2H6O, 3 heavy atoms"


def test_a_carbon_of_five_bonds_is_refused(answers):
    form = make_form({"m": ONE})
    message, _ = answers(form, "drawing", "m", turn=1, molfile=PENTAVALENT)
    assert message["smiles"] == ""
    assert message["fault"] == "C with 5 bonds is too many: remove a bond, or give the atom a charge."


def test_features_that_the_editor_cannot_show_are_reported(answers):
    form = make_form({"m": ONE})
    drawn = write_molfile("CC(N)C(=O)O")
    message, _ = answers(form, "drawing", "m", turn=1, molfile=drawn, original="C[C@H](N)C(=O)O")
    assert "cannot show all features" in message["caution"]
    message, _ = answers(form, "drawing", "m", turn=2, molfile=drawn, original="OC(=O)C(C)N")
    assert message["caution"] == ""


def test_a_drawn_molecule_is_the_ligand_of_a_docking(answers):
    form = Form(catalog.tool("vina"))
    answers(form, "useDrawing", "ligandFile", smiles=ASPIRIN)
    assert form.value["ligandFile"] == f"{ASPIRIN}\n"
    assert "C9H8O4, 13 heavy atoms" in label_of(form, "ligandFile")


def test_drawn_molecules_are_added_to_a_list_or_replace_one_of_it(answers):
    form = make_form({"m": MANY}, m=["CCO", "CCN"])
    answers(form, "useDrawing", "m", place=None, smiles="CCC")
    answers(form, "useDrawing", "m", place=1, smiles=ASPIRIN)
    assert form.value == {"m": ["CCO", ASPIRIN, "CCC"]}
    assert answers(form, "draw", "m", place=2)[0]["choices"] == ["1: CCO", f"2: {ASPIRIN}", "3: CCC"]


@pytest.mark.parametrize("smiles", ["C1CC", "", None, "C(C)(C)(C)(C)C"])
def test_nothing_but_a_valid_smiles_is_taken(answers, smiles):
    form = make_form({"m": ONE}, m="CCO")
    answers(form, "useDrawing", "m", smiles=smiles)
    assert form.value == {"m": "CCO"}


def test_a_locked_field_is_neither_drawn_nor_changed(answers):
    form = make_form({"m": {**ONE, "readOnly": True}}, m="CCO")
    assert answers(form, "draw", "m") is None
    answers(form, "useDrawing", "m", smiles="CCC")
    assert form.value == {"m": "CCO"}


def test_the_only_molecule_of_a_file_is_drawn(answers, tmp_path):
    (tmp_path / "one.smi").write_text("CCO ethanol\n")
    form = Form(catalog.tool("vina"), values={"ligandFile": tmp_path / "one.smi"})
    assert answers(form, "draw", "ligandFile")[0]["smiles"] == "CCO"
