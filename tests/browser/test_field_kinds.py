"""Fields for this science in real JupyterLab: files, chains, residues, columns, masks, molecules, on one page."""

import re
from importlib.resources import files
from itertools import product

import pytest
from lab_page import LabPage
from playwright.sync_api import Locator, expect

FV = files("foldnote.catalog").joinpath("examples/trastuzumab-fv.pdb").read_text()
VH = "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVARIYPTNGYTRYADSVKGRFTISADTSKNTAYLQMNSLRAEDTAVYYCSRWGGDGFYAMDYWGQGTLVTVSS"
VL = "DIQMTQSPSSLSASVGDRVTITCRASQDVNTAVAWYQQKPGKAPKLLIYSASFLYSGVPSRFSGSRSGTDFTLTISSLQPEDFATYYCQQHYTTPPTFGQGTKVEIK"
SETUP = """
import foldnote as fn

def note(role, **more):
    return {"x-foldnote": {"role": role, **more}}

text = {"type": "string"}
form = fn.form({"title": "Fields of a science", "type": "object", "properties": {
    "target": text | note("file", extensions=["pdb"]) | {"title": "Target"},
    "chain": text | note("chain", of="target") | {"title": "Chain"},
    "chains": {"type": "array", "items": text, "title": "Designed chains"} | note("chains", of="target"),
    "residues": {"type": "object", "additionalProperties": text, "title": "Residues"} | note("residues", of="target"),
    "table": text | note("file", extensions=["csv"]) | {"title": "Table"},
    "column": text | note("column", of="table") | {"title": "Column"},
    "heavy": text | note("sequence") | {"title": "Heavy chain"},
    "mask": text | note("mask", of="heavy") | {"title": "Mask"},
    "ligands": {"type": "array", "items": text, "title": "Ligands"} | note("smiles"),
}})
form
"""


@pytest.fixture(scope="module")
def notebook(chromium, server):
    """A page with one notebook whose folder holds a structure and a table."""
    context = chromium.new_context(viewport={"width": 1400, "height": 1300})
    context.set_default_timeout(60_000)
    page = LabPage(context, server)
    (server.notebooks / "fv.pdb").write_text(FV)
    (server.notebooks / "binding.csv").write_text("sequence,Kd\nEVQL,3.5\n")
    server.write_notebook("kinds.ipynb", "1")
    page.open("kinds.ipynb")
    page.page.keyboard.press("Control+b")
    page.run_code(SETUP)
    page.page.locator(".foldnote-form").wait_for()
    yield page
    context.close()


@pytest.fixture
def form(notebook) -> Locator:
    return notebook.page.locator(".foldnote-form")


def field(form: Locator, name: str) -> Locator:
    has_name = form.page.locator(".fn-name", has_text=re.compile(rf"^{re.escape(name)}\*?$"))
    return form.locator(".foldnote-field").filter(has=has_name).first


def control(form: Locator, name: str) -> Locator:
    return field(form, name).locator("input, textarea, select").first


def test_a_structure_is_typed_by_keyboard_and_its_chains_are_chosen_by_keyboard(form, notebook):
    keyboard = notebook.page.keyboard
    control(form, "Target").focus()
    keyboard.type("fv.pdb")
    expect(field(form, "Target").locator(".fn-readout")).to_contain_text("2 chains: H 120, L 107 residues")
    expect(control(form, "Chain").locator("option")).to_have_text(
        ["not set", "H · protein, 120 residues", "L · protein, 107 residues"]
    )
    control(form, "Chain").focus()
    keyboard.press("ArrowDown")
    expect(field(form, "Chain").locator(".fn-readout")).to_contain_text("begins EVQLVESGG")
    expect(control(form, "Chain")).to_be_focused()
    ticks = field(form, "Designed chains").get_by_role("checkbox")
    ticks.nth(1).focus()
    keyboard.press("Space")
    expect(control(form, "Designed chains")).to_have_value("L")
    expect(ticks.nth(1)).to_be_focused()


def test_residues_are_typed_as_ranges_and_cdrs_are_ticked(form):
    control(form, "Residues").fill("H: 27-38")
    expect(field(form, "Residues").locator(".fn-readout")).to_contain_text("H: 8 residues, GFNIKDTY")
    field(form, "Residues").get_by_label("H CDR-3").check()
    expect(field(form, "Residues").locator(".fn-readout")).to_contain_text("21 residues")
    control(form, "Residues").fill("H: 27-38\nL: 400")
    expect(field(form, "Residues").locator(".fn-error")).to_contain_text(
        "Chain L of fv.pdb has no residue 400"
    )


def test_columns_masks_and_molecules_say_what_they_hold(form):
    control(form, "Table").fill("binding.csv")
    expect(control(form, "Column").locator("option")).to_have_text(["not set", "sequence · EVQL", "Kd · 3.5"])
    control(form, "Column").select_option(label="Kd · 3.5")
    control(form, "Heavy chain").fill(VH)
    control(form, "Mask").fill("97-105")
    expect(field(form, "Mask").locator("mark")).to_have_text(["SRWG", "GDGFY"])
    control(form, "Ligands").fill("CCO\nC1CC")
    expect(field(form, "Ligands").locator(".fn-error")).to_contain_text("Line 2:")
    control(form, "Ligands").fill("CCO\nCC(=O)Oc1ccccc1C(=O)O")
    expect(field(form, "Ligands").locator(".fn-readout")).to_contain_text("2 molecules")


def test_a_file_of_ones_own_computer_is_uploaded_and_said(form, server):
    field(form, "Table").get_by_role("button", name="choose…").click()
    with form.page.expect_file_chooser() as chosen:
        field(form, "Table").get_by_role("button", name="Upload from your computer").click()
    content = b"name,Kd,note\na,1,x\n"
    chosen.value.set_files({"name": "mine.csv", "mimeType": "text/csv", "buffer": content})
    expect(control(form, "Table")).to_have_value("uploads/mine.csv")
    expect(field(form, "Table").locator(".fn-readout")).to_contain_text("3 columns: name, Kd, note")
    assert (server.notebooks / "uploads" / "mine.csv").read_bytes() == content


@pytest.mark.parametrize(("theme", "width"), list(product(("light", "dark"), (400, 1200))))
def test_the_fields_are_readable_and_faultless(form, notebook, theme, width):
    notebook.set_theme(theme)
    notebook.page.set_viewport_size({"width": width + 170, "height": 1900})
    try:
        if field(form, "Table").locator(".foldnote-chooser").count() == 0:
            field(form, "Table").get_by_role("button", name="choose…").click()
        expect(field(form, "Table").locator(".foldnote-chooser")).to_be_visible()
        notebook.page.wait_for_timeout(300)
        notebook.picture(f"field-kinds-{width}-{theme}", form)
        assert form.evaluate("node => node.scrollWidth <= node.clientWidth")
        assert notebook.accessibility_faults(".foldnote-form") == []
    finally:
        notebook.page.set_viewport_size({"width": 1400, "height": 1300})
        notebook.set_theme("light")


def test_chains_of_an_earlier_jobs_structure_are_offered(notebook):
    sent = f'fn.submit("abodybuilder", heavy="{VH}", light="{VL}", job_name="made.structure").wait()'
    notebook.run_code(f'import foldnote as fn\n\n{sent}\nform = fn.form("af2bind")\nform')
    form = notebook.page.locator(".foldnote-form")
    target = field(form, "Protein")
    target.get_by_role("button", name="choose…").click()
    target.get_by_label("Jobs").select_option(label="made.structure · abodybuilder")
    target.get_by_label("Files of the job").select_option(index=1)
    expect(control(form, "Protein")).to_have_value("made.structure/model.pdb")
    expect(control(form, "Chain id").locator("option")).to_have_text(
        ["choose…", "H · protein, 120 residues", "L · protein, 107 residues"]
    )
    assert notebook.accessibility_faults(".foldnote-form") == []
    notebook.picture("field-kinds-job-file", form)


def test_nothing_outside_this_computer_was_wanted(notebook):
    assert notebook.outside == []
    assert notebook.faults == []
