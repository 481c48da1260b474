"""Scientific fields in real JupyterLab: files, chains, residues, columns, masks, molecules, all on one page."""

import re
from collections.abc import Iterator
from importlib.resources import files
from itertools import product

import pytest
from lab_page import LabPage, find_place
from playwright.sync_api import Locator, expect

SHARES_SERVER = True
VIEWPORT = (1400, 1300)

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
    "affinity": {"type": "boolean", "title": "Affinity", "description": "Whether to predict how strongly the ligands bind."},
}})
form
"""


@pytest.fixture(scope="module")
def notebook(server, notebook_page):
    """Open one notebook whose folder holds a structure and a table."""
    (server.notebooks / "fv.pdb").write_text(FV)
    (server.notebooks / "binding.csv").write_text("sequence,Kd\nEVQL,3.5\n")
    notebook_page.run_code(SETUP)
    notebook_page.page.locator(".foldnote-form").wait_for()
    return notebook_page


@pytest.fixture
def form(notebook) -> Locator:
    return notebook.page.locator(".foldnote-form")


def field(form: Locator, name: str) -> Locator:
    has_name = form.page.locator(".fn-name", has_text=re.compile(rf"^{re.escape(name)}\*?$"))
    return form.locator(".foldnote-field").filter(has=has_name).first


def control(form: Locator, name: str) -> Locator:
    return field(form, name).locator("input, textarea, select").first


def test_a_switch_that_is_alone_in_its_row_has_all_of_it(form):
    switch, ligands = form.locator(".foldnote-switch").bounding_box(), field(form, "Ligands").bounding_box()
    assert switch["width"] == ligands["width"]


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


def test_marked_residues_are_seen_in_forced_colours(form, notebook):
    """Forced colours remove backgrounds and shadows from marked residues."""
    control(form, "Heavy chain").fill(VH)
    control(form, "Mask").fill("97-105")
    notebook.page.emulate_media(forced_colors="active")
    try:
        for mark in (".fn-strip mark", ".fn-shade"):
            expect(form.locator(mark).first).to_have_css("text-decoration-line", "underline")
        notebook.picture("form-in-forced-colours", form)
    finally:
        notebook.page.emulate_media(forced_colors="none")


def test_a_local_file_is_uploaded_and_described(form, server):
    field(form, "Table").get_by_role("button", name="choose…").click()
    with form.page.expect_file_chooser() as chosen:
        field(form, "Table").get_by_role("button", name="Upload from your computer").click()
    content = b"name,Kd,note\na,1,x\n"
    chosen.value.set_files({"name": "mine.csv", "mimeType": "text/csv", "buffer": content})
    expect(control(form, "Table")).to_have_value("uploads/mine.csv")
    expect(field(form, "Table").locator(".fn-readout")).to_contain_text("3 columns: name, Kd, note")
    assert (server.notebooks / "uploads" / "mine.csv").read_bytes() == content


def test_a_file_is_dragged_from_the_file_browser_onto_its_field(form, notebook):
    control(form, "Target").fill("")
    notebook.execute("filebrowser:activate")
    _drag_file(notebook, "fv.pdb", field(form, "Target"))
    expect(control(form, "Target")).to_have_value("fv.pdb")
    expect(field(form, "Target").locator(".fn-readout")).to_contain_text("2 chains")
    _drag_file(notebook, "fv.pdb", field(form, "Table"))
    expect(field(form, "Table").locator(".fn-error")).to_contain_text("This field needs a .csv file")
    control(form, "Table").fill("")
    notebook.execute("application:toggle-left-area")


@pytest.fixture
def editor(form) -> Iterator[Locator]:
    """Open the structure editor on the empty ligand field, and discard its content after the test."""
    control(form, "Ligands").fill("")
    expect(field(form, "Ligands").locator(".fn-readout")).to_have_count(0)
    form.get_by_role("button", name="Draw Ligands").click()
    dialog = form.page.get_by_role("dialog", name="Draw: Ligands")
    expect(dialog.get_by_label("Drawing of the molecule")).to_be_focused()
    yield dialog
    if dialog.count():
        dialog.get_by_role("button", name="Cancel").click()


def paste(form: Locator, name: str, text: str) -> None:
    """Paste text from the clipboard in place of the field's content."""
    source = control(form, "Heavy chain")
    source.fill(text)
    for keys in ("Control+a", "Control+x"):
        source.press(keys)
    for keys in ("Control+a", "Control+v"):
        control(form, name).press(keys)


def test_lines_that_are_pasted_into_one_line_are_contents_items_or_words(form):
    paste(form, "Target", "\n".join(FV.splitlines()[:9]))
    expect(control(form, "Target")).to_have_value(re.compile(r"^\(pasted text, \d+ B\)$"))
    expect(field(form, "Target").locator(".fn-readout")).to_contain_text("1 chain: H 2 residues")
    control(form, "Target").fill("fv.pdb")
    paste(form, "Designed chains", "H\r\nL\n")
    expect(control(form, "Designed chains")).to_have_value("H, L")
    expect(field(form, "Designed chains").locator(".fn-readout")).to_contain_text("2 chains, 227 residues")
    control(form, "Designed chains").press("Control+z")
    expect(control(form, "Designed chains")).not_to_have_value("H, L")
    control(form, "Table").fill("")
    paste(form, "Column", "one\ntwo")
    expect(control(form, "Column")).to_have_value("one two")
    for name, value in (
        ("Designed chains", "L"),
        ("Column", ""),
        ("Table", "binding.csv"),
    ):  # a menu once there is a table
        control(form, name).fill(value)


_ENDS_AT_ITS_RIGHT = """
sentence => {
  const walker = document.createTreeWalker(sentence, NodeFilter.SHOW_TEXT);
  const text = walker.nextNode();
  const place = at => {
    const range = document.createRange();
    range.setStart(text, at);
    range.setEnd(text, at + 1);
    return range.getBoundingClientRect();
  };
  const end = text.data.trimEnd().length - 1;
  return place(end).left > place(end - 1).left;
}
"""


def test_sentences_end_with_their_full_stop_in_a_page_from_right_to_left(form, notebook):
    control(form, "Table").fill("binding")
    error = field(form, "Table").locator(".fn-error")
    expect(error).to_contain_text(re.compile(r"\.$"))
    notebook.page.evaluate("document.documentElement.dir = 'rtl'")
    try:
        assert error.evaluate(_ENDS_AT_ITS_RIGHT)
        assert form.get_by_role("button", name="choose…").first.evaluate(_ENDS_AT_ITS_RIGHT)
        notebook.picture("fields-right-to-left", form)
    finally:
        notebook.page.evaluate("document.documentElement.dir = ''")
        control(form, "Table").fill("binding.csv")


def test_a_molecule_is_drawn_with_the_mouse_and_is_the_fields_smiles(editor, form):
    tools, sheet = editor.get_by_label("Drawing tools"), editor.get_by_label("Drawing of the molecule")
    tools.hover(position={"x": 32, "y": 201})
    expect(tools).to_have_attribute("title", "Benzene")
    tools.click(position={"x": 32, "y": 201})
    sheet.click(position={"x": 300, "y": 200})
    expect(editor.get_by_role("status")).to_have_text("C6H6, 6 heavy atoms")
    expect(editor.get_by_label("SMILES")).to_have_value("c1ccccc1")
    editor.get_by_role("button", name="Use molecule").click()
    expect(control(form, "Ligands")).to_have_value("c1ccccc1")
    expect(form.get_by_role("button", name="Draw Ligands")).to_be_focused()


def test_a_molecule_is_typed_in_the_editor_and_used_by_keyboard(editor, form):
    keyboard = form.page.keyboard
    keyboard.press("Tab")
    keyboard.type("C1CC")
    expect(editor.get_by_role("status")).to_contain_text("ring")
    expect(editor.get_by_role("button", name="Use molecule")).to_be_disabled()
    keyboard.type("1=O")
    expect(editor.get_by_role("status")).to_have_text("C3H4O, 4 heavy atoms")
    keyboard.press("Enter")
    expect(control(form, "Ligands")).to_have_value("C1CC1=O")
    expect(editor).to_have_count(0)


def test_letters_in_the_editor_are_not_shortcuts_and_pressing_escape_twice_discards(editor, form, notebook):
    cells = notebook.cells()
    editor.get_by_label("Drawing of the molecule").hover(position={"x": 200, "y": 150})
    for key in "ddab":
        form.page.keyboard.press(key)
    assert notebook.cells() == cells
    editor.get_by_label("SMILES").fill("CCO")
    expect(editor.get_by_role("button", name="Use molecule")).to_be_enabled()
    form.page.keyboard.press("Escape")
    expect(editor.get_by_role("status")).to_have_text("Press Escape again to discard the drawing.")
    form.page.keyboard.press("Escape")
    expect(editor).to_have_count(0)
    expect(control(form, "Ligands")).to_have_value("")
    expect(form.get_by_role("button", name="Draw Ligands")).to_be_focused()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_editor_is_readable_and_faultless(form, notebook, theme):
    notebook.set_theme(theme)
    control(form, "Ligands").fill("CCO\nCC(=O)Oc1ccccc1C(=O)O")
    expect(field(form, "Ligands").locator(".fn-readout")).to_contain_text("2 molecules")
    try:
        form.get_by_role("button", name="Draw Ligands").click()
        editor = form.page.get_by_role("dialog", name="Draw: Ligands")
        editor.get_by_label("Molecule", exact=True).select_option(label="2: CC(=O)Oc1ccccc1C(=O)O")
        expect(editor.get_by_role("status")).to_have_text("C9H8O4, 13 heavy atoms")
        notebook.picture(f"molecule-editor-{theme}")
        assert notebook.accessibility_faults("dialog.fn-editor") == []
        form.page.keyboard.press("Escape")
        expect(editor).to_have_count(0)
    finally:
        notebook.set_theme("light")


def cover(one: dict[str, float], other: dict[str, float]) -> bool:
    """Return whether two boxes overlap."""
    return all(
        one[at] < other[at] + other[size] and other[at] < one[at] + one[size]
        for at, size in (("x", "width"), ("y", "height"))
    )


@pytest.mark.parametrize("name", ["Target", "Ligands"])
def test_links_do_not_cover_the_name_of_a_field_in_a_very_narrow_form(form, notebook, name):
    notebook.resize(370, 1300)
    try:
        notebook.picture("fields-very-narrow", form)
        title = find_place(field(form, name).locator(".fn-name").first)
        links = field(form, name).locator(".foldnote-links button").all()
        assert links
        assert not [link for link in links if cover(find_place(link), title)]
    finally:
        notebook.resize(*VIEWPORT)


@pytest.mark.parametrize(("theme", "width"), list(product(("light", "dark"), (400, 1200))))
def test_the_fields_are_readable_and_faultless(form, notebook, theme, width):
    notebook.set_theme(theme)
    notebook.resize(width + 170, 1900)
    try:
        if field(form, "Table").locator(".foldnote-chooser").count() == 0:
            field(form, "Table").get_by_role("button", name="choose…").click()
        expect(field(form, "Table").locator(".foldnote-chooser")).to_be_visible()
        notebook.page.wait_for_timeout(300)
        notebook.picture(f"field-kinds-{width}-{theme}", form)
        assert notebook.fits(form)
        assert notebook.accessibility_faults(".foldnote-form") == []
    finally:
        notebook.resize(1400, 1300)
        notebook.set_theme("light")


def test_chains_of_an_earlier_jobs_structure_are_offered(notebook):
    sent = f'fn.submit("abodybuilder", heavy="{VH}", light="{VL}", job_name="made.structure").wait()'
    notebook.run_code(f'import foldnote as fn\n\n{sent}\nform = fn.form("af2bind")\nform')
    form = notebook.page.locator(".foldnote-form.fn-live")
    form.wait_for()
    target = field(form, "Protein")
    target.get_by_role("button", name="choose…").click()
    job = target.locator(".fn-tree summary", has_text="made.structure")
    job.focus()
    notebook.page.keyboard.press("Enter")
    file = target.locator(".fn-tree button", has_text="model.pdb")
    file.wait_for()
    notebook.page.keyboard.press("ArrowDown")
    expect(target.locator(".fn-tree button").first).to_be_focused()
    notebook.picture("field-kinds-job-file", form)
    assert notebook.accessibility_faults(".foldnote-form") == []
    file.click()
    expect(control(form, "Protein")).to_have_value("made.structure/model.pdb")
    expect(control(form, "Chain id").locator("option")).to_have_text(
        ["choose…", "H · protein, 120 residues", "L · protein, 107 residues"]
    )


def test_a_file_of_ones_own_computer_goes_to_the_service_by_http(notebook):
    form = notebook.page.locator(".foldnote-form.fn-live")
    target = field(form, "Protein")
    target.get_by_role("button", name="choose…").click()
    with notebook.page.expect_file_chooser() as chosen:
        target.get_by_role("button", name="Upload from your computer").click()
    with notebook.page.expect_request(re.compile(r"/foldnote/api/files/uploads\?")):
        chosen.value.set_files({"name": "mine.pdb", "mimeType": "chemical/x-pdb", "buffer": FV.encode()})
    expect(target.locator(".fn-readout")).to_contain_text("upload mine.pdb, 60.9 kB; 2 chains")
    expect(target.locator(".fn-sending")).to_have_count(0)


def test_a_refusal_of_the_service_is_shown_at_the_field(notebook):
    refusal = b'{"error": "The account has no room left."}'
    let_server_answer = notebook.answer("files/uploads", refusal, status=413)
    form = notebook.page.locator(".foldnote-form.fn-live")
    target = field(form, "Protein")
    _drop(target, {"files": [["full.pdb", "ATOM"]]})
    expect(target.locator(".fn-sending")).to_contain_text("The account has no room left.")
    notebook.picture("field-kinds-refused", form)
    let_server_answer()
    assert notebook.accessibility_faults(".foldnote-form") == []
    target.get_by_role("button", name="Close").click()
    expect(target.locator(".fn-sending")).to_have_count(0)


def test_a_job_is_dragged_from_the_sidebar_onto_a_field_which_offers_its_files(notebook):
    form = notebook.page.locator(".foldnote-form.fn-live")
    target = field(form, "Protein")
    control(form, "Protein").fill("")
    row = notebook.show_sidebar("jobs", 300).locator("[data-job='made.structure']")
    _drag(row, target)
    file = target.locator(".fn-tree button", has_text="model.pdb")
    expect(file).to_be_visible()
    expect(target.locator(".foldnote-chooser")).to_contain_text("Files of made.structure")
    notebook.picture("field-kinds-job-dropped", form)
    assert notebook.accessibility_faults(".foldnote-form") == []
    file.click()
    expect(control(form, "Protein")).to_have_value("made.structure/model.pdb")
    expect(target.locator(".foldnote-chooser")).to_have_count(0)


def test_an_upload_is_dragged_from_the_sidebar_onto_a_field(notebook):
    form = notebook.page.locator(".foldnote-form.fn-live")
    target = field(form, "Protein")
    sidebar = notebook.show_sidebar("files", 300)
    sent = {"name": "dragged.pdb", "mimeType": "", "buffer": FV.encode()}
    sidebar.get_by_label("Files to upload").set_input_files(sent)
    row = sidebar.get_by_role("listitem").filter(has_text="dragged.pdb")
    expect(row).to_contain_text("kB")
    _drag(row, target)
    expect(control(form, "Protein")).to_have_value("dragged.pdb")
    expect(target.locator(".fn-readout")).to_contain_text("upload dragged.pdb")


def test_a_file_is_dragged_from_a_result_beside_the_notebook_onto_a_field(notebook):
    form = notebook.page.locator(".foldnote-form.fn-live")
    notebook.show_sidebar("jobs", 300).locator("[data-job='made.structure']").dblclick()
    panel = notebook.page.locator(".fn-ResultPanel")
    panel.locator(".fn-Result").wait_for()
    notebook.page.evaluate(
        """() => {
             const { shell } = window.jupyterapp;
             const result = [...shell.widgets('main')].find(one => one.node.querySelector('.fn-Result'));
             shell.add(result, 'main', { mode: 'split-right' });
           }"""
    )
    panel.get_by_role("tab", name="Files").click()
    _drag(panel.locator(".fn-File-name", has_text="model.pdb"), field(form, "Protein"))
    expect(control(form, "Protein")).to_have_value("made.structure/model.pdb")
    notebook.picture("field-kinds-result-beside")
    notebook.execute("application:close")


def test_a_table_is_dropped_on_the_batch(notebook):
    form = notebook.page.locator(".foldnote-form.fn-live")
    form.get_by_role("button", name="Add to batch").click()
    batch = form.locator(".foldnote-batch")
    batch.wait_for()
    _drop(batch, {"files": [["rows.csv", "chain\nA\nB\n"]]})
    expect(batch.locator("tbody tr")).to_have_count(2)


def _drag(source: Locator, target: Locator) -> None:
    """Press, move and release the mouse in the steps that Lumino needs to recognize a drag."""
    _begin_drag(source, target)
    source.page.mouse.up()


def _drag_file(notebook: LabPage, name: str, target: Locator) -> None:
    """Drag a file from JupyterLab's file browser, whose list moves whenever it is reloaded."""
    row = notebook.page.locator(".jp-DirListing-item", has_text=name)
    for _ in range(5):
        _begin_drag(row, target)
        if name in notebook.page.locator(".lm-mod-drag-image").inner_text():
            notebook.page.mouse.up()
            return
        notebook.page.keyboard.press("Escape")
        notebook.page.mouse.up()
    raise AssertionError(f"The mouse was over another file than {name} each time")


def _begin_drag(source: Locator, target: Locator) -> None:
    mouse = source.page.mouse
    target.scroll_into_view_if_needed()
    start, end = find_place(source), find_place(target)
    mouse.move(start["x"] + min(60, start["width"] / 2), start["y"] + min(12, start["height"] / 2))
    mouse.down()
    mouse.move(end["x"] + end["width"] / 2, end["y"] + min(30, end["height"] / 2), steps=12)
    expect(target).to_have_class(re.compile("fn-over"))


def _drop(place: Locator, what: dict[str, object]) -> None:
    """Dispatch the events of a browser when files of the computer are dropped over ``place``."""
    place.evaluate(
        """(node, { files }) => {
             const data = new DataTransfer();
             files.forEach(([name, text]) => data.items.add(new File([text], name)));
             for (const type of ['dragenter', 'dragover', 'drop']) {
               node.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer: data }));
             }
           }""",
        what,
    )


def test_no_request_leaves_this_computer(notebook):
    assert notebook.outside == []
    assert notebook.faults == []
