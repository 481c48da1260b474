"""Batches in a cell: previewed before submission, followed with a progress bar, joined with their results."""

from lab_page import find_place
from playwright.sync_api import expect
from probe_engine import release

SHARES_SERVER = True
_LOOK = """
import pandas as pd, foldnote as fn
VH = "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVARIYPTNGYTRYADSVKGRFTISADTSKNTAYLQMNSLRAEDTAVYYCSRWGGDGFYAMDYWGQGTLVTVSS"
table = pd.DataFrame({"id": [f"panel-{n}.sleep-2.score" for n in range(7)], "VH": [VH[: 121 - n] for n in range(7)]})
preview = fn.submit_batch("anarci", table, columns={"sequence": "VH"}, names="id", scheme="imgt", batch_name="panel",
                          preview=True)
preview
"""
_WAIT = """
batch = preview.submit()
done = fn.connect().jobs.wait(table["id"], progress=True)
"""
_RESULTS = """
batch.wait().results()[["id", "status", "score.probe"]]
"""

_CARD = """
more = table[["VH"]] + "S"
fn.submit_batch("anarci", more, columns={"sequence": "VH"}, scheme="imgt",
                batch_name="a-series-of-clones-shown-in-one-table")
"""
_SHOWS_END = """button => {
  let end = button;
  while (end.lastChild) end = end.lastChild;
  const range = document.createRange();
  range.setStart(end, end.length - 2);
  range.setEnd(end, end.length);
  return range.getBoundingClientRect().right <= button.getBoundingClientRect().right + 1;
}"""


_GAP = """whole => {
  const [start, end] = whole.children;
  const probe = document.createElement('span');
  probe.style.cssText = 'position: absolute; visibility: hidden; white-space: pre';
  start.parentElement.append(probe);
  const width = text => { probe.textContent = text; return probe.getBoundingClientRect().width; };
  const place = start.getBoundingClientRect();
  let letters = start.textContent.length;
  while (letters > 0 && width(`${start.textContent.slice(0, letters)}…`) > place.width + 0.5) letters -= 1;
  const shown = width(`${start.textContent.slice(0, letters)}…`);
  probe.remove();
  return end.getBoundingClientRect().left - place.left - shown;
}"""
"""The gap in pixels between the ellipsis of a name shortened in its middle and the text after it."""


_LINES = """table => {
  const tools = [...table.querySelectorAll('.fnt-top :is(input, button):not([hidden])')];
  const found = new Set();
  for (let width = 400; width < 900; width += 20) {
    table.style.width = `${width}px`;
    found.add(new Set(tools.map(tool => Math.round(tool.getBoundingClientRect().top))).size);
  }
  table.style.width = '';
  return [...found];
}"""
"""Count the lines of the toolbar above a table, at each width."""


def test_the_card_of_a_batch_follows_it_and_shows_its_table(notebook_page):
    notebook_page.run_code(_LOOK, _CARD)
    card = notebook_page.page.locator(".foldnote-card", has_text="series-of-clones")
    expect(card).to_contain_text("7 of 7 jobs complete")
    expect(notebook_page.page.locator(".jp-OutputArea table").last).to_contain_text("table-7")
    names = notebook_page.page.locator(".fnt-rows").last.locator(".fnt-open")
    expect(names.last).to_have_accessible_name("a-series-of-clones-shown-in-one-table-7")
    assert [name.evaluate(_SHOWS_END) for name in names.all()] == [True] * 7
    card.scroll_into_view_if_needed()
    notebook_page.picture("batch-card")
    notebook_page.resize(1000, 900)
    edges = [find_place(each) for each in (card, notebook_page.page.locator(".fnt-rows").last)]
    assert len({(round(edge["x"]), round(edge["x"] + edge["width"])) for edge in edges}) == 1
    table = notebook_page.page.locator(".fnt-rows").last
    assert table.evaluate(_LINES) == [1]
    cut = table.locator(".fnt-long").first
    assert cut.evaluate("name => name.firstChild.scrollWidth > name.firstChild.clientWidth")
    assert abs(cut.evaluate(_GAP)) < 1.5
    notebook_page.resize(1600, 1000)


_MIXED = """
mixed = table.assign(id=["mixed-of-a-long-name-1.fail", *[f"mixed-of-a-long-name-{n}" for n in range(6)]])
fn.submit_batch("anarci", mixed, columns={"sequence": "VH"}, names="id", scheme="kabat", batch_name="a-batch-of-which-one-job-fails")
"""


def test_a_batch_with_a_failed_job_says_so_on_its_card_in_its_row_and_in_its_tab(notebook_page):
    notebook_page.run_code(_LOOK, _MIXED)
    card = notebook_page.page.locator(".foldnote-card", has_text="which-one-job-fails")
    expect(card.locator(".fnc-state")).to_have_text("Complete, 1 failed")
    expect(card.locator(".fnc-tool")).to_have_text("ANARCI")
    panel = notebook_page.show_sidebar("jobs", 300)
    row = panel.locator("[data-job='a-batch-of-which-one-job-fails']")
    expect(row).to_contain_text("Complete, 1 failed")
    expect(row.locator(".fn-StateIcon")).to_have_class("fn-StateIcon fn-mod-mixed")
    row.click()
    row.hover()
    cut = row.locator(".fn-Middle")
    expect(row.get_by_role("button", name="More actions for a-batch")).to_be_visible()
    assert cut.evaluate("name => name.firstChild.scrollWidth > name.firstChild.clientWidth")
    notebook_page.page.wait_for_function(f"name => Math.abs(({_GAP})(name)) < 1.5", arg=cut.element_handle())
    notebook_page.picture("batch-mixed")
    notebook_page.show_sidebar("jobs", 215)
    row.hover()
    expect(row.get_by_role("button", name="Insert a cell")).to_be_hidden()
    expect(row.get_by_role("button", name="More actions for a-batch")).to_be_visible()
    assert cut.evaluate("name => name.firstChild.scrollWidth > name.firstChild.clientWidth")
    notebook_page.page.wait_for_function(f"name => Math.abs(({_GAP})(name)) < 1.5", arg=cut.element_handle())
    notebook_page.picture("batch-mixed-narrow", panel)
    row.dblclick()
    tab = notebook_page.page.locator(".fn-ResultPanel:visible")
    expect(tab.locator(".fn-Result-facts").first).to_contain_text("ANARCI · Complete, 1 failed · 6 of 7")
    tab.get_by_role("tab", name="Log").click()
    expect(tab.get_by_role("status")).to_contain_text("each of its jobs has its own")
    notebook_page.picture("batch-mixed-tab")
    notebook_page.execute("application:close")
    notebook_page.execute("application:toggle-left-area")


_STOPPED = """
risky = table.assign(id=["first.fail", *[f"next-{n}.sleep-2" for n in range(6)]])
fn.submit_batch("anarci", risky, columns={"sequence": "VH"}, names="id", scheme="aho", batch_name="stopping",
                on_failure="stop", retries=1)
"""


def test_a_batch_that_stops_at_a_failure_says_so_on_its_card_in_its_table_and_in_the_panel(notebook_page):
    notebook_page.run_code(_LOOK, _STOPPED)
    card = notebook_page.page.locator(".foldnote-card", has_text="stopping")
    expect(card).to_contain_text("The job first.fail failed, so ")
    table = notebook_page.page.locator(".jp-OutputArea table").last
    expect(table).to_contain_text("Not run: the job first.fail failed")
    panel = notebook_page.show_sidebar()
    expect(panel.get_by_role("row", name="stopping").first).to_contain_text("did not run")
    card.scroll_into_view_if_needed()
    notebook_page.picture("batch-stopped-light")
    notebook_page.set_theme("dark")
    notebook_page.picture("batch-stopped-dark")


def test_a_batch_is_inspected_awaited_and_joined(notebook_page):
    notebook_page.run_code(_LOOK, _WAIT, _RESULTS)
    outputs = notebook_page.page.locator(".jp-OutputArea")
    looked, waited, joined = (outputs.nth(number).inner_text() for number in range(3))
    assert "panel: 7 jobs of ANARCI" in looked
    assert "It counts as 7 jobs." in looked
    assert "… and 2 more" in looked
    expect(notebook_page.page.locator(".jp-OutputArea progress")).to_have_count(0)
    assert "7 jobs · 7 complete" in waited
    assert joined.count("Complete") >= 7
    notebook_page.page.locator(".jp-Cell").first.scroll_into_view_if_needed()
    notebook_page.picture("batch-light")
    notebook_page.set_theme("dark")
    notebook_page.picture("batch-dark")


_FORM = """
import foldnote as fn
form = fn.form("abodybuilder")
form
"""
_VH = "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVARIYPTNGYTRYADSVKGRFTISADTSKNTAYLQMNSLRAEDTAVYYCSRWGGDGFYAMDYWGQGTLVTVSS"
_VL = "DIQMTQSPSSLSASVGDRVTITCRASQDVNTAVAWYQQKPGKAPKLLIYSASFLYSGVPSRFSGSRSGTDFTLTISSLQPEDFATYYCQQHYTTPPTFGQGTKVEIK"


def test_a_table_with_other_columns_is_mapped_corrected_and_submitted(notebook_page, tmp_path):
    csv = tmp_path / "plate.csv"
    csv.write_text(f"Seq1;Seq2;Lot;KD_nM\n{_VH};{_VL};Größe 7;0.5\n{_VH[1:]};{_VL[1:]}1;8;12\n", "utf-16")
    notebook_page.set_theme("light")
    notebook_page.run_code(_FORM)
    form = notebook_page.page.locator(".foldnote-form")
    form.get_by_role("button", name="Add to batch").click()
    with notebook_page.page.expect_file_chooser() as chooser:
        form.get_by_text("Choose a table or FASTA file").click()
    chooser.value.set_files(csv)
    expect(form.get_by_label("Seq1", exact=True)).to_have_value("Heavy chain")
    expect(form.get_by_label("Seq2", exact=True)).to_have_value("Light chain")
    form.get_by_label("Lot", exact=True).select_option("the job's name")
    expect(form.locator(".fn-scroll")).to_contain_text("Grosse-7")
    mark = form.get_by_role("img", name="Row 2: light: ")
    mark.focus()
    expect(mark.locator(".fn-tip")).to_be_visible()
    batch = form.locator(".foldnote-batch")
    notebook_page.picture("batch-form-light", batch)
    rows = form.locator(".fn-scroll")
    expect(rows).not_to_have_class("fn-scroll fn-more")
    notebook_page.resize(900, 1000)
    expect(rows).to_have_class("fn-scroll fn-more")
    rows.evaluate("box => box.scrollTo(box.scrollWidth, 0)")
    expect(rows).not_to_have_class("fn-scroll fn-more")
    rows.focus()
    notebook_page.page.keyboard.press("Shift+Tab")
    notebook_page.page.keyboard.press("Tab")
    for _ in range(2):  # the table, then its first button
        ring = "node => { const { outlineStyle, outlineWidth } = getComputedStyle(node); return outlineStyle + outlineWidth; }"
        assert notebook_page.page.locator("*:focus").evaluate(ring) == "solid2px"
        notebook_page.page.keyboard.press("Tab")
    notebook_page.resize(1600, 1000)
    form.get_by_role("button", name="Edit row 2").press("Enter")
    form.locator(".foldnote-row-editor").get_by_label("Light chain").fill(_VL[1:])
    form.get_by_role("button", name="Save row").click()
    expect(form.locator(".fn-scroll tbody tr").nth(1).get_by_role("img", name="valid")).to_be_visible()
    duplicate = form.get_by_role("button", name="Duplicate row 2")
    duplicate.hover()
    notebook_page.page.mouse.down()
    duplicate.evaluate("button => { const cell = button.parentElement; cell.innerHTML = cell.innerHTML; }")
    notebook_page.page.mouse.up()  # a click during which the table is redrawn counts once
    caution = form.get_by_role("img", name="Row 3: The same settings as row 2")
    assert caution.evaluate("node => [node.scrollWidth, node.offsetWidth]") == [18, 18]  # a round icon
    expect(form.locator(".fn-scroll tbody tr")).to_have_count(3)
    expect(duplicate).to_be_focused()
    assert notebook_page.accessibility_faults(".foldnote-batch") == []
    notebook_page.set_theme("dark")
    notebook_page.picture("batch-form-dark", batch)
    notebook_page.resize(760, 900)
    notebook_page.picture("batch-form-narrow", batch)
    form.get_by_role("button", name="Validate 3 jobs").click()
    form.get_by_role("button", name="Submit 3 jobs").click()
    expect(form).to_contain_text("Submitted as the batch")  # a card of the same class comes beside it
    notebook_page.run_code("form.batch.wait().results()[['Lot', 'KD_nM', 'job_name', 'status']]")
    table = notebook_page.page.locator(".jp-OutputArea table").last
    expect(table).to_contain_text("Größe 7")
    expect(table.locator("tbody tr")).to_have_count(3)
    notebook_page.run_code("print('batch:', form.batch.job_name)")
    name = next(text for text in notebook_page.outputs() if text.startswith("batch:")).split()[1]
    notebook_page.show_sidebar("jobs").locator(f"[data-job='{name}']").dblclick()
    shown = notebook_page.page.locator(".fn-ResultPanel:visible .fnt-rows").first
    expect(shown).to_contain_text("Größe 7")  # the same columns in the tab
    notebook_page.execute("application:close")
    notebook_page.execute("application:toggle-left-area")
    notebook_page.resize(1600, 1000)


_PIPELINE = """
import foldnote as fn
VH = "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVARIYPTNGYTRYADSVKGRFTISADTSKNTAYLQMNSLRAEDTAVYYCSRWGGDGFYAMDYWGQGTLVTVSS"
VL = "DIQMTQSPSSLSASVGDRVTITCRASQDVNTAVAWYQQKPGKAPKLLIYSASFLYSGVPSRFSGSRSGTDFTLTISSLQPEDFATYYCQQHYTTPPTFGQGTKVEIK"
one = fn.stage("first.structure", "abodybuilder", heavy=VH, light=VL)
two = fn.stage("second.structure", "abodybuilder", heavy=VH[1:], light=VL)
both = fn.stage("both.hold.structure", "align-pdbs", pdbFiles=[one.file("model.pdb"), two.file("model.pdb")])
last = fn.stage("last.fail", "align-pdbs", pdbFiles=[each.file("model.pdb") for each in (one, two, both)])
fn.pipeline("steps", [one, two, both, last], job_name="steps")
"""


def test_a_pipeline_shows_its_graph_live_and_a_stage_opens_its_row(notebook_page):
    notebook_page.set_theme("light")
    notebook_page.run_code(_PIPELINE)
    graph = notebook_page.page.locator(".foldnote-card .fnc-graph")
    stage = graph.get_by_role("button", name="both.hold.structure: Align PDBs, Running")
    expect(stage).to_be_visible()
    expect(graph.get_by_role("button", name="last.fail: Align PDBs, Waits for")).to_be_visible()
    notebook_page.page.locator(".foldnote-card").first.scroll_into_view_if_needed()
    notebook_page.picture("pipeline-live")
    stage.focus()
    release("steps-both.hold.structure")
    failed = graph.get_by_role("button", name="last.fail: Align PDBs, Failed")
    expect(failed).to_be_visible()
    expect(graph.get_by_role("button", name="both.hold.structure: Align PDBs, Complete")).to_be_focused()
    failed.press("Enter")
    expect(notebook_page.page.locator(".fnt-pane")).to_contain_text("The probe was asked to fail.")
    assert notebook_page.accessibility_faults(".foldnote-card") == []
    notebook_page.picture("pipeline-light")
    notebook_page.set_theme("dark")
    assert notebook_page.accessibility_faults(".foldnote-card") == []
    notebook_page.picture("pipeline-dark")
    notebook_page.resize(760, 1100)
    notebook_page.page.locator(".foldnote-card").first.scroll_into_view_if_needed()
    notebook_page.picture("pipeline-narrow")
    notebook_page.resize(1600, 1000)
    notebook_page.run_code(_PIPELINE.replace('"last.fail"', '"last.sleep-1"').replace('"steps"', '"more"'))
    expect(graph.get_by_role("button", name="Reused from steps-")).to_have_count(3)
    expect(graph.get_by_role("button", name="last.sleep-1: Align PDBs, Complete")).to_be_visible()
    notebook_page.show_sidebar()
    notebook_page.picture("pipeline-reused")
    notebook_page.resize(760, 1100)
    notebook_page.save()
    notebook_page.page.reload()
    expect(notebook_page.page.locator(".fnc-graph").first).to_contain_text("last.sleep-1")
    notebook_page.picture("pipeline-reopened")
