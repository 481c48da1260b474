"""Forms in real JupyterLab, used by mouse and by keyboard. All tests share one notebook; each has its own cell."""

import json
import re
from itertools import pairwise, product

import nbformat
import pytest
from lab_page import LabPage, find_place
from playwright.sync_api import Locator, expect

SHARES_SERVER = True

VH = "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVARIYPTNGYTRYADSVKGRFTISADTSKNTAYLQMNSLRAEDTAVYYCSRWGGDGFYAMDYWGQGTLVTVSS"
VL = "DIQMTQSPSSLSASVGDRVTITCRASQDVNTAVAWYQQKPGKAPKLLIYSASFLYSGVPSRFSGSRSGTDFTLTISSLQPEDFATYYCQQHYTTPPTFGQGTKVEIK"
TOOLS = ("abodybuilder", "ablang", "abmpnn", "anarci")
_ACTIVE_LABEL = """
() => {
  const node = document.activeElement;
  const label = node.labels && node.labels[0];
  return (label && label.querySelector('.fn-name') || label || node).innerText.replace(/[*\\n]/g, '').trim();
}
"""


_WATCH_PLACES = """
() => {
  const seen = window.seenPlaces = [];
  const look = () => {
    const form = document.querySelector('.foldnote-form');
    const method = form?.querySelector('.fn-method');
    if (method && form.querySelector('.foldnote-submit')?.offsetParent) {
      const top = form.getBoundingClientRect().top;
      const controls = [...form.querySelectorAll('input, textarea, select, button')].filter(node => node.offsetParent);
      const places = controls.map(node => [node.textContent, Math.round(node.getBoundingClientRect().top - top)]);
      seen.push({ said: method.textContent, places });
    }
    requestAnimationFrame(look);
  };
  look();
}
"""


_NOTE_BUTTONS = """
form => {
  form.noted = new Set();
  const note = () => form.querySelectorAll('button').forEach(button => form.noted.add(button.textContent.trim()));
  new MutationObserver(note).observe(form, { subtree: true, childList: true, characterData: true });
}
"""
"""Records a button's labels, since polling misses those that are shown for a moment."""


_DROP = """
(node, text) => {
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([text], 'chain.fasta'));
  node.dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer }));
}
"""


@pytest.fixture(scope="module")
def notebook(notebook_page):
    """Open one notebook with its kernel for all tests of this module."""
    return notebook_page


@pytest.fixture
def show(notebook):
    """Show a tool's form in a new cell and return it."""

    def show(tool: str, arguments: str = "") -> Locator:
        notebook.run_code(f'import foldnote as fn\nform = fn.form("{tool}"{arguments})\nform')
        form = notebook.page.locator(".foldnote-form")
        form.wait_for()
        return form

    return show


def field(form: Locator, name: str) -> Locator:
    """Return all elements of the field with this name: control, marks, help and errors."""
    has_name = form.page.locator(".fn-name", has_text=re.compile(rf"^{re.escape(name)}\*?$"))
    return form.locator(".foldnote-field").filter(has=has_name).first


def control(form: Locator, name: str) -> Locator:
    return field(form, name).locator("input, textarea, select").first


def code_of(form: Locator) -> Locator:
    """Return the equivalent Python call that the form shows."""
    if not form.locator(".fn-code").count():
        form.get_by_role("button", name="Copy as Python").click()
    return form.locator(".fn-code pre")


def jobs_named(notebook: LabPage, name: str) -> list[dict]:
    """Return the jobs with this name, after a refresh of the server extension."""
    for _ in range(50):
        status, body = notebook.server.request("foldnote/api/jobs")
        assert status == 200
        found = [job for job in json.loads(body)["jobs"] if job["jobName"] == name]
        if found:
            break
        notebook.page.wait_for_timeout(200)
    return found


def test_a_wrong_letter_is_pointed_at_while_it_is_typed(show):
    form = show("abodybuilder")
    control(form, "Heavy chain").click()
    form.page.keyboard.type(VH[:16] + "j")
    heavy = field(form, "Heavy chain")
    expect(heavy.locator(".fn-error")).to_contain_text("Position 17")
    expect(heavy.locator(".fn-excerpt strong")).to_have_text("J")
    form.page.keyboard.press("Backspace")
    expect(heavy.locator(".fn-error")).to_have_count(0)
    expect(heavy.locator(".fn-readout")).to_contain_text("16 residues")


def test_fasta_is_read_as_it_is_pasted(show, notebook):
    form = show("abodybuilder")
    wrapped = f">1N8Z_B trastuzumab heavy\n{VH[:60].lower()}\n{VH[60:]}\n"
    control(form, "Heavy chain").click()
    form.page.keyboard.insert_text(wrapped)
    control(form, "Light chain").click()
    form.page.keyboard.insert_text(f">a\n{VL}\n>b\n{VL}")
    expect(field(form, "Heavy chain").locator(".fn-readout")).to_contain_text("120 residues; FASTA header")
    expect(field(form, "Light chain").locator(".fn-error")).to_contain_text("These are 2 FASTA records")
    notebook.picture("form-fasta", form)
    expect(code_of(form)).to_contain_text(VH)


def test_two_records_fill_both_fields_and_swapped_chains_are_swapped_by_keyboard(show):
    form = show("abodybuilder")
    heavy, light = field(form, "Heavy chain"), field(form, "Light chain")
    control(form, "Light chain").click()
    form.page.keyboard.insert_text(f">heavy\n{VH}\n>light\n{VL}")
    light.get_by_role("button", name="Fill in both fields").click()
    expect(heavy.locator(".fn-shade[title^='CDR-H3']").first).to_have_attribute(
        "title", "CDR-H3, residues 97 to 109"
    )
    expect(light.locator(".fn-readout")).to_contain_text("kappa light-chain domain")
    assert control(form, "Heavy chain").input_value() == VH
    control(form, "Heavy chain").evaluate(_DROP, f">only\n{VH[:100]}")
    expect(heavy.locator(".fn-readout")).to_contain_text("100 residues")
    control(form, "Heavy chain").fill(VL)
    control(form, "Light chain").fill(VH)
    swap = heavy.get_by_role("button", name="Swap heavy and light")
    expect(swap).to_be_visible()
    swap.focus()
    form.page.keyboard.press("Enter")
    expect(form.locator(".fn-caution")).to_have_count(0)
    assert [control(form, name).input_value() for name in ("Heavy chain", "Light chain")] == [VH, VL]


def test_fields_appear_with_the_task_they_belong_to_and_keep_their_contents(show):
    form = show("ablang")
    mask = field(form, "Heavy mask")
    expect(mask).to_be_hidden()
    control(form, "Task").select_option("mask")
    control(form, "Heavy chain").fill(VH)
    control(form, "Heavy mask").fill("97-105")
    expect(form.locator(".fn-error")).to_have_count(0)
    expect(code_of(form)).to_contain_text("heavyMask='97-105'")
    control(form, "Task").select_option("embeddings")
    expect(mask).to_be_hidden()
    expect(form.locator(".fn-code pre")).not_to_contain_text("heavyMask")
    control(form, "Task").select_option("mask")
    expect(control(form, "Heavy mask")).to_have_value("97-105")
    expect(form.locator(".fn-code pre")).to_contain_text("heavyMask='97-105'")


def test_every_kind_of_control_ends_in_the_settings(show, notebook):
    form = show("abmpnn")
    control(form, "Designed chains").fill("H, L")
    control(form, "Designed residues").fill("H: 105 106 107\nL 50")
    expect(field(form, "Designed residues").locator(".fn-error")).to_contain_text("Line 2")
    control(form, "Designed residues").fill("H: 105 106 107\nL: 50")
    control(form, "Sampling temperature").fill("2")
    expect(field(form, "Sampling temperature").locator(".fn-error")).to_contain_text("the most is 1")
    control(form, "Sampling temperature").fill("0.25")
    form.locator(".foldnote-fold").click()
    control(form, "Noise level").select_option("0.3")
    form.locator(".foldnote-ticks").get_by_label("CDRH3").check()
    form.get_by_role("button", name="paste text").click()
    form.get_by_placeholder("Paste the contents").fill(_PDB)
    form.get_by_role("button", name="Use this text").click()
    expect(form.locator(".fn-readout", has_text="pasted text")).to_be_visible()
    expect(form.locator(".fn-error")).to_have_count(0)
    written = code_of(form)
    expect(written).to_contain_text("designedChains=['H', 'L']")
    expect(written).to_contain_text("{'H': '105 106 107', 'L': '50'}")
    expect(written).to_contain_text("temperature=0.25")
    expect(written).to_contain_text("noiseLevel='0.3'")
    expect(written).to_contain_text("regions=['CDRH3']")
    notebook.picture("form-abmpnn", form)


def test_submit_goes_to_the_first_field_that_needs_something(show, notebook):
    form = show("abodybuilder")
    control(form, "Light chain").fill(VL)
    form.get_by_role("button", name="Submit", exact=True).click()
    expect(control(form, "Heavy chain")).to_be_focused()
    expect(field(form, "Heavy chain").locator(".fn-error")).to_be_visible()
    expect(form.get_by_role("button", name="1 field needs attention")).to_be_visible()
    expect(notebook.page.locator(".foldnote-card")).to_have_count(0)
    notebook.picture("form-attention", form)


def test_a_double_click_submits_one_job(show, notebook):
    form = show("abodybuilder", f', job_name="twice", heavy="{VH}", light="{VL}"')
    form.get_by_role("button", name="Submit", exact=True).dblclick()
    expect(notebook.page.locator(".foldnote-card")).to_contain_text("Complete")
    expect(notebook.page.locator(".foldnote-card")).to_have_count(1)
    assert len(jobs_named(notebook, "twice")) == 1


def test_the_card_in_a_form_has_the_buttons_of_a_card(show, notebook):
    form = show("abodybuilder", f', job_name="in-a-form", heavy="{VH}", light="{VL}"')
    form.get_by_role("button", name="Submit", exact=True).click()
    card = form.locator(".foldnote-card")
    expect(card).to_contain_text("Complete")
    names = ("Continue with…", "Open in tab", "Log")
    buttons = [card.get_by_role("button", name=name) for name in names]
    for button in buttons:
        expect(button).to_have_css("border-top-width", "1px")
        expect(button).to_have_css("height", "28px")
    expect(card.get_by_role("button", name="Show result")).to_be_hidden()  # the result is below
    places = [find_place(button) for button in buttons]
    for first, second in pairwise(places):
        assert first["x"] + first["width"] + 8 == pytest.approx(second["x"], abs=0.5)
    notebook.picture("form-card", card)


def test_a_job_that_failed_is_run_again_when_it_is_submitted_again(show, notebook):
    form = show("abodybuilder", f', job_name="again.fail", heavy="{VH}", light="{VL}"')
    card = notebook.page.locator(".foldnote-card")
    form.get_by_role("button", name="Submit", exact=True).click()
    expect(card).to_contain_text("Failed")
    form.get_by_role("button", name="Submit", exact=True).click()
    expect(form).to_contain_text("Submitted as again.fail-2")
    expect(card).to_have_count(1)
    expect(card).to_contain_text("again.fail-2")


def test_a_form_is_filled_in_and_submitted_with_the_keyboard_alone(show, notebook):
    form, keyboard = show("anarci"), notebook.page.keyboard
    control(form, "Sequence").focus()
    keyboard.type(VH[:40])
    keyboard.insert_text(VH[40:])
    for label in ("Scheme", "Job name"):
        for _ in range(12):
            if label in notebook.page.evaluate(_ACTIVE_LABEL):
                break
            keyboard.press("Tab")
        assert label in notebook.page.evaluate(_ACTIVE_LABEL)
        keyboard.press({"Scheme": "ArrowDown", "Job name": "Control+a"}[label])
    keyboard.type("by-keyboard")
    keyboard.press("Tab")
    keyboard.type("VH, by keyboard")
    keyboard.press("Tab")
    assert notebook.page.evaluate(_ACTIVE_LABEL) == "Submit"
    keyboard.press("Enter")
    card = notebook.page.locator(".foldnote-card")
    expect(card.locator(".fnc-name")).to_have_text("VH, by keyboard")
    expect(card).to_contain_text("by-keyboard")
    expect(form.get_by_role("button", name="Submit", exact=True)).to_be_focused()
    assert len(jobs_named(notebook, "by-keyboard")) == 1
    expect(code_of(form)).to_contain_text(f"sequence='{VH}'")
    expect(code_of(form)).to_contain_text("scheme='chothia'")


def test_keys_of_a_control_are_not_shortcuts_of_the_notebook(show, notebook):
    form, keyboard = show("ablang"), notebook.page.keyboard
    control(form, "Task").focus()
    for key in ("ArrowDown", "ArrowDown", "a", "b", "d", "d", "s", "m"):
        keyboard.press(key)
    expect(control(form, "Task")).to_have_value("mask")
    expect(control(form, "Task")).to_be_focused()
    form.get_by_role("button", name="Copy as Python").focus()
    keyboard.press("Space")
    expect(form.locator(".fn-code")).to_be_visible()
    assert len(notebook.cells()) == 1
    assert notebook.page.locator(".jp-MarkdownCell").count() == 0


def test_the_call_of_a_form_becomes_a_cell_below_it(show, notebook):
    form = show("anarci", f', sequence="{VH}"')
    code = code_of(form)
    expect(code).to_contain_text(VH)
    form.evaluate(_NOTE_BUTTONS)
    form.get_by_role("button", name="Insert as a cell below").press("Enter")
    notebook.page.wait_for_function(
        "form => form.noted.has('Inserted')", arg=form.element_handle(), polling=100
    )
    expect(notebook.page.locator(".jp-CodeCell")).to_have_count(2)
    assert notebook.cells()[1] == code.text_content()


def test_the_notebook_keeps_what_was_submitted_and_the_form_stays_in_place(show, notebook, server):
    form = show("abodybuilder", ', job_name="kept.sleep-2"')
    control(form, "Heavy chain").fill(VH)
    control(form, "Light chain").fill(VL)
    form.evaluate("node => { node.isFirst = true; }")
    form.get_by_role("button", name="Submit", exact=True).click()
    expect(notebook.page.locator(".foldnote-card")).to_contain_text("Running")
    control(form, "Light chain").focus()
    expect(notebook.page.locator(".foldnote-card")).to_contain_text("Complete")
    notebook.page.wait_for_timeout(300)
    assert form.evaluate("node => node.isFirst === true")
    expect(control(form, "Light chain")).to_be_focused()

    def save():
        notebook.save()
        (cell,) = nbformat.read(server.notebooks / "forms.ipynb", 4).cells
        return cell.outputs[0].data

    saved = next((kept for _ in range(20) if "Complete" in (kept := save())["text/plain"]), None) or save()
    assert VH in saved["text/html"].replace("<wbr>", "")  # the elements in which long sequences wrap
    assert "kept.sleep-2 (AbodyBuilder): Complete" in saved["text/plain"]


@pytest.mark.parametrize("tool", TOOLS)
def test_a_form_has_no_fault_that_axe_finds(show, notebook, tool):
    form = show(tool)
    form.get_by_role("button", name="Submit", exact=True).click()
    expect(form.locator(".fn-error, .fn-bad").first).to_be_visible()
    for fold in form.locator(".foldnote-fold").all():
        fold.click()
    for theme in ("light", "dark"):
        notebook.set_theme(theme)
        assert notebook.accessibility_faults(".foldnote-form") == []
    notebook.set_theme("light")


@pytest.mark.parametrize(("tool", "theme"), list(product(("abodybuilder", "abmpnn"), ("light", "dark"))))
def test_a_form_is_readable_in_every_width(show, notebook, tool, theme):
    form = show(tool)
    notebook.set_theme(theme)
    try:
        for width in (400, 1600):
            notebook.resize(width + 170, 1600)
            notebook.picture(f"form-{tool}-{width}-{theme}", form)
            assert notebook.fits(form)
            assert form.locator("input:visible, textarea:visible, select:visible").evaluate_all(
                "nodes => nodes.every(node => node.getBoundingClientRect().width >= 14)"
            )
    finally:
        notebook.resize(1600, 1000)
        notebook.set_theme("light")


@pytest.mark.parametrize("width", [420, 1600])
def test_fields_and_buttons_stay_where_they_are_when_the_service_answers(notebook, width):
    notebook.resize(width + 170, 1400)
    try:
        notebook.page.evaluate(_WATCH_PLACES)
        # The kernel receives the answer only after the cell has ended, so the state before it is visible.
        notebook.run_code(
            "import time\nimport foldnote as fn\nform = fn.form('anarci')\ndisplay(form)\ntime.sleep(3)"
        )
        form = notebook.page.locator(".foldnote-form")
        expect(form.locator(".fn-method")).to_contain_text("Runs")
        notebook.page.wait_for_timeout(500)
        seen = notebook.page.evaluate("window.seenPlaces")
        before = [each for each in seen if "Checking whether the service" in each["said"]]
        after = [each for each in seen if "Runs" in each["said"]]
        assert before
        assert before[-1]["places"] == after[-1]["places"]
        assert len(after[-1]["places"]) > 8
        notebook.picture(f"form-answered-{width}", form)
    finally:
        notebook.resize(1600, 1000)


def test_no_request_leaves_this_computer(notebook, server):
    assert notebook.outside == []
    assert notebook.faults == []
    assert server.refused == []


_PDB = "\n".join(
    f"ATOM  {i:5d}  CA  ALA {chain}{number:4d}    {3.8 * i:8.3f}   0.000   0.000  1.00  0.00           C"
    for i, (chain, number) in enumerate([("H", 105), ("H", 106), ("H", 107), ("L", 50)], start=1)
)
