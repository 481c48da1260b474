"""The card of a failed pipeline says what is reused, resumes it, and writes its code as a cell."""

from playwright.sync_api import expect

_FAILING = """
import foldnote as fn
VH = "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVARIYPTNGYTRYADSVKGRFTISADTSKNTAYLQMNSLRAEDTAVYYCSRWGGDGFYAMDYWGQGTLVTVSS"
VL = "DIQMTQSPSSLSASVGDRVTITCRASQDVNTAVAWYQQKPGKAPKLLIYSASFLYSGVPSRFSGSRSGTDFTLTISSLQPEDFATYYCQQHYTTPPTFGQGTKVEIK"
fold = fn.stage("fold.structure", "abodybuilder", heavy=VH, light=VL)
align = fn.stage("align.fail", "align-pdbs", pdbFiles=[fold.file("model.pdb"), fold.file("model.pdb")])
last = fn.stage("last.structure", "align-pdbs", pdbFiles=[fold.file("model.pdb"), align.file("model.pdb")])
fn.pipeline("goes-on", [fold, align, last], job_name="goes-on", label="Fold and align")
"""
_STATE = "Run again continues from align.fail: fold.structure is reused, align.fail and last.structure run."


def test_a_failed_pipeline_continues_from_its_failed_stage(notebook_page):
    notebook_page.run_code(_FAILING)
    card = notebook_page.page.locator(".foldnote-card").first
    expect(card).to_contain_text(_STATE)
    expect(card).to_contain_text("1 of 3 stages complete, 1 failed, 1 not run.")
    card.scroll_into_view_if_needed()
    assert notebook_page.accessibility_faults(".foldnote-card") == []
    notebook_page.picture("goes-on-light")
    card.get_by_role("button", name="Run again").click()
    again = card.locator(".foldnote-card")
    expect(again).to_contain_text("Fold and align")
    reused = again.get_by_role("button", name="fold.structure: AbodyBuilder, Reused from goes-on-fold")
    expect(reused).to_be_visible()
    expect(again.get_by_role("button", name="align.fail: Align PDBs, Failed")).to_be_visible()
    expect(again).to_contain_text(_STATE)
    notebook_page.picture("goes-on-again-light")
    notebook_page.set_theme("dark")
    assert notebook_page.accessibility_faults(".foldnote-card") == []
    notebook_page.picture("goes-on-again-dark")


def test_the_code_of_a_failed_pipeline_is_a_cell_where_its_stage_is_changed(notebook_page):
    notebook_page.set_theme("light")
    notebook_page.run_code(_FAILING)
    card = notebook_page.page.locator(".foldnote-card").first
    expect(card.get_by_role("button", name="Edit settings")).to_be_visible()
    card.get_by_role("button", name="Edit settings").click()
    expect(card.locator(".fnc-next")).to_contain_text("Change the settings of align.fail")
    for name in ("Run again", "Copy the code"):  # all buttons of a card look the same
        expect(card.get_by_role("button", name=name)).to_have_css("border-top-width", "1px")
        expect(card.get_by_role("button", name=name)).to_have_css("height", "28px")
    expect(notebook_page.page.locator(".jp-CodeCell")).to_have_count(2)
    _, code = notebook_page.cells()
    assert "# align.fail failed: The probe was asked to fail." in code
    assert "pdbFiles=[fold_structure.file('model.pdb'), fold_structure.file('model.pdb')]," in code
    card.scroll_into_view_if_needed()
    assert notebook_page.accessibility_faults(".foldnote-card") == []
    notebook_page.picture("goes-on-edit-light")
    notebook_page.set_theme("dark")
    notebook_page.picture("goes-on-edit-dark")
    notebook_page.resize(760, 1100)
    card.scroll_into_view_if_needed()
    notebook_page.picture("goes-on-edit-narrow")
    notebook_page.resize(1600, 1000)
    notebook_page.run_code(code.replace("'align.fail'", "'align.structure'"))
    graph = notebook_page.page.locator(".foldnote-card .fnc-graph")
    fold = graph.get_by_role("button", name="fold.structure: AbodyBuilder, Reused from goes-on")
    expect(fold).to_be_visible()
    expect(
        graph.get_by_role("button", name="last.structure: Align PDBs, Reused from goes-on")
    ).to_be_visible()
    notebook_page.picture("goes-on-changed")


def test_the_panel_writes_the_code_of_a_pipeline(notebook_page):
    notebook_page.set_theme("light")
    notebook_page.run_code(_FAILING)
    panel = notebook_page.show_sidebar()
    row = panel.get_by_role("row", name="Fold and align").last
    row.click(button="right")
    notebook_page.page.get_by_role("menuitem", name="Open the Job's Settings").click()
    expect(notebook_page.page.locator(".jp-CodeCell")).to_have_count(3)
    assert notebook_page.cells()[-1].startswith("import foldnote as fn\n\nfold_structure = fn.stage(\n")
