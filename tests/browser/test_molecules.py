"""Molecules and docked poses in real JupyterLab: switched, drawn in 2D, with their contacts."""

import re
from pathlib import Path

import pytest
from lab_page import LabPage, find_place
from playwright.sync_api import Locator, expect

SHARES_SERVER = True
VIEWPORT = (1300, 1100)

DATA = Path(__file__).parents[1] / "unit" / "results" / "data"
LYSOZYME = Path(__file__).parents[1] / "engines" / "data" / "t4-lysozyme-l99a.pdb"
_POSES = f"""
import pathlib, zipfile
import foldnote as fn
data = pathlib.Path({str(DATA)!r})
with zipfile.ZipFile("docking.zip", "w") as archive:
    archive.write(data / "abl_pocket.pdb", "receptor.pdb")
    archive.write(data / "vina_poses.pdbqt", "imatinib_out.pdbqt")
fn.open_result("docking.zip")
"""
_LIBRARY = f"""
import pathlib
import foldnote as fn

data = pathlib.Path({str(DATA)!r})
records = [data / name for name in ("imatinib.sdf", "tyr.sdf", "hwb_charged.sdf")]
pathlib.Path("library.sdf").write_text("".join(one.read_text() for one in records))
fn.view("library.sdf")
"""

_COUNT_GREEN = """
canvas => {
  const flat = document.createElement('canvas');
  flat.width = canvas.width; flat.height = canvas.height;
  const pen = flat.getContext('2d');
  pen.drawImage(canvas, 0, 0);
  const data = pen.getImageData(0, 0, flat.width, flat.height).data;
  let count = 0;
  for (let i = 0; i < data.length; i += 4) {
    if (data[i + 3] && data[i + 1] > data[i] * 1.5 && data[i + 1] > data[i + 2] * 1.2) count += 1;
  }
  return count;
}
"""
"""Count the pixels in the green of a molecule's carbons."""


@pytest.fixture(scope="module")
def notebook(notebook_page):
    """Open one notebook with its kernel for all tests of this module."""
    return notebook_page


def show(notebook: LabPage, code: str) -> Locator:
    """Run ``code`` and return its first view, once it is drawn."""
    notebook.run_code(code)
    view = notebook.page.locator(".fnv-view[data-fn-state=drawn]").first
    view.wait_for()
    notebook.wait_until_drawn(view.locator("canvas").first)
    return view


def test_a_pose_is_shown_with_its_diagram_and_its_hydrogen_bonds(notebook):
    view = show(notebook, _POSES)
    expect(view.locator(".fnv-panel")).to_contain_text(re.compile(r"MET A 318 N → N24, 3\.0 Å, \d+°"))
    drawing = view.get_by_role("img", name=re.compile("Interaction diagram.*MET A 318 3.0 Å"))
    notebook.page.wait_for_function(
        "image => image.complete && image.naturalWidth > 100", arg=drawing.element_handle()
    )
    drawing_words = drawing.get_attribute("alt")
    expect(view.locator(".fnv-legend")).to_contain_text("Hydrogen bonds, dashed")
    notebook.picture("poses-light", view)
    canvas, contacts = view.locator("canvas").first, view.get_by_label("Hydrophobic contacts")
    expect(contacts).not_to_be_checked()
    drawn = notebook.pixels(canvas)["drawn"]
    contacts.check()
    assert notebook.wait_until_drawn(canvas, least=drawn + 30)["drawn"] > drawn, "ten more thin dashed lines"
    notebook.picture("poses-hydrophobic", view)
    contacts.uncheck()
    assert notebook.accessibility_faults(".jp-OutputArea .fnv-view") == []
    view.get_by_role("button", name="The next pose").click()
    expect(view.locator(".fnv-step")).to_contain_text("2 of 3")
    expect(view.locator(".fnv-panel")).to_contain_text("-11.29 kcal/mol")
    expect(view.get_by_role("img", name=re.compile("Interaction diagram"))).not_to_have_attribute(
        "alt", drawing_words
    )
    notebook.set_theme("dark")
    notebook.picture("poses-dark", view)
    faults = notebook.accessibility_faults(".jp-OutputArea .fnv-view")
    notebook.set_theme("light")
    assert faults == []


def test_the_rows_of_the_poses_table_and_the_view_show_the_same_pose(notebook):
    view = show(notebook, _POSES)
    table = notebook.page.locator(".fnv-table[data-fn-state=drawn]", has_text="Poses")
    rows = table.locator("tr.fnt-step")
    expect(rows).to_have_count(3)
    current = table.locator("tr[aria-current=true]")
    expect(current).to_contain_text("-13.23")
    rows.nth(2).click()
    expect(view.locator(".fnv-step")).to_contain_text("3 of 3")
    expect(view.locator(".fnv-panel")).to_contain_text("-11.28 kcal/mol")
    notebook.page.keyboard.press("ArrowUp")
    expect(view.locator(".fnv-step")).to_contain_text("2 of 3")
    expect(current).to_contain_text("-11.29")
    expect(current).to_be_focused()
    view.get_by_role("button", name="The pose before").click()
    expect(current).to_contain_text("-13.23")
    table.get_by_role("button", name="affinity").click()
    table.get_by_role("button", name="affinity").click()
    expect(rows.first).to_contain_text("-11.28")
    rows.first.press("Enter")
    expect(view.locator(".fnv-step")).to_contain_text("3 of 3")
    notebook.picture("poses-table", notebook.page.locator(".jp-OutputArea").first)
    assert notebook.accessibility_faults(".fnv-table") == []


def test_each_pose_is_seen_when_it_is_chosen(notebook):
    view = show(notebook, _POSES)
    canvas = view.locator("canvas").first
    assert canvas.evaluate(_COUNT_GREEN) > 500
    for place in ("2 of 3", "3 of 3", "1 of 3"):
        view.get_by_role("button", name="The next pose").click()
        expect(view.locator(".fnv-step")).to_contain_text(place)
        assert canvas.evaluate(_COUNT_GREEN) > 500


_OUTSIDE = """
id => {
  const viewer = window['viewer_' + id], box = document.querySelector('.fnv-stage').getBoundingClientRect();
  return viewer.selectedAtoms({}).filter(atom => !viewer.getModel(atom.model).hidden).map(atom => viewer.modelToScreen(atom))
    .filter(at => at.x - scrollX < box.left || at.x - scrollX > box.right || at.y - scrollY < box.top || at.y - scrollY > box.bottom).length;
}
"""


def test_a_reset_shows_the_whole_receptor_and_a_button_shows_the_pose(notebook):
    view = show(notebook, _POSES)
    outside = f"() => ({_OUTSIDE})('{view.get_attribute('id')}')"
    view.locator(".fnv-stage").focus()
    for _ in range(6):
        notebook.page.keyboard.press("+")
    assert notebook.page.evaluate(outside) > 50
    view.get_by_role("button", name="Reset view").click()
    notebook.page.wait_for_function(f"() => ({outside})() === 0")
    whole = notebook.pixels(view.locator("canvas").first)["drawn"]
    view.get_by_role("button", name="Zoom to pose").click()
    assert notebook.wait_until_drawn(view.locator("canvas").first, least=whole + 1)["drawn"] > whole


@pytest.mark.parametrize(("form", "start"), [("SVG", b"<svg"), ("PNG", b"\x89PNG")])
def test_the_diagram_of_a_pose_is_saved(notebook, form, start):
    view = show(notebook, _POSES)
    with notebook.page.expect_download() as saved:
        view.get_by_role("button", name=form, exact=True).click()
    assert saved.value.suggested_filename.startswith("interactions-imatinib")
    assert Path(saved.value.path()).read_bytes().startswith(start)


def test_molecules_without_a_receptor_are_seen_in_turn(notebook):
    view = show(notebook, _LIBRARY)
    expect(view.locator(".fnv-step")).to_contain_text("1 of 3 · STI")
    notebook.picture("molecules", view)
    view.get_by_role("button", name="The next molecule").click()
    expect(view.locator(".fnv-panel")).to_contain_text("C9H11NO3")
    expect(view.get_by_role("img", name="2D drawing of TYR")).to_be_visible()
    expect(view.get_by_label("Style")).to_have_count(0)
    notebook.wait_until_drawn(view.locator("canvas").first)
    notebook.picture("molecules-2", view)
    assert notebook.accessibility_faults(".jp-OutputArea .fnv-view") == []


def test_the_box_of_a_docking_is_moved_in_3d_and_by_numbers(notebook):
    notebook.run_code(
        f"fn.form('vina', receptorFile=pathlib.Path({str(LYSOZYME)!r}), ligandFile='Cc1ccc(C)cc1')"
    )
    page = notebook.page
    form = page.locator(".foldnote-form")
    form.get_by_label("Where to search").select_option(label="Around TMP A 163 · 8 heavy atoms")
    expect(form.get_by_label("Size x")).to_have_value("20.0")
    form.get_by_role("button", name="Show the box in 3D").click()
    form.locator(".fnv-stage[data-fn-state=drawn]").wait_for()
    expect(form.locator(".fnv-box output")).to_have_text("20.0 × 20.0 × 20.0 Å · 8,000 Å³")
    handle = form.get_by_role("button", name="Face of the box towards +x", exact=True)
    handle.scroll_into_view_if_needed()
    spot = find_place(handle)
    page.mouse.move(spot["x"] + 9, spot["y"] + 9)
    page.mouse.down()
    page.mouse.move(spot["x"] + 49, spot["y"] + 9, steps=4)
    page.mouse.up()
    expect(form.get_by_label("Where to search")).to_have_value("By coordinates")
    assert float(form.get_by_label("Size x").input_value()) > 22
    assert form.get_by_label("Size y").input_value() in ("20", "20.0")
    form.get_by_role("button", name="Face of the box towards −z", exact=True).press("ArrowRight")
    expect(form.get_by_label("Size z")).to_have_value("20.5")
    form.get_by_label("Size y").fill("12")
    expect(form.locator(".fnv-box output")).to_contain_text("× 12.0 × 20.5 Å")
    notebook.picture("docking-box", form)
    assert notebook.accessibility_faults(".foldnote-form") == []


def test_no_request_leaves_this_computer(notebook, server):
    assert notebook.outside == []
    assert notebook.faults == []
    assert server.refused == []


_ADMET = f"""
import pathlib, zipfile
import foldnote as fn
with zipfile.ZipFile("admet.zip", "w") as archive:
    for path in pathlib.Path({str(DATA / "admet_ai")!r}).glob("*.csv"):
        archive.write(path, path.name)
    archive.writestr("manifest.json", '{{"job": {{"type": "admet"}}}}')
fn.open_result("admet.zip")
"""


@pytest.mark.parametrize(("theme", "width"), [("light", 1000), ("dark", 420), ("dark", 300)])
def test_the_cards_of_predicted_properties_fit_and_are_legible(notebook, theme, width):
    notebook.run_code(_ADMET)
    cards = notebook.page.locator(".fnv-molecules")
    expect(cards.get_by_role("img", name="2D drawing of molecule 1")).to_be_visible()
    notebook.set_theme(theme)
    notebook.page.set_viewport_size({"width": width + 130, "height": 1100})
    try:
        expect(cards.locator("li")).to_have_count(3)
        notebook.page.wait_for_function(
            "width => document.querySelector('.fnv-molecules').clientWidth <= width", arg=width
        )
        notebook.picture(f"admet-{width}-{theme}", cards)
        parts = cards.locator("ul, li, dl, dl div")
        assert (
            parts.evaluate_all(
                "nodes => nodes.filter(node => node.scrollWidth > node.clientWidth + 1).length"
            )
            == 0
        )
        assert cards.locator("img").evaluate_all("nodes => nodes.every(node => node.naturalWidth > 0)")
        assert notebook.accessibility_faults(".fnv-molecules") == []
    finally:
        notebook.page.set_viewport_size({"width": 1300, "height": 1100})
        notebook.set_theme("light")


def test_a_card_has_the_figures_of_its_molecule(notebook):
    notebook.run_code(_ADMET)
    caffeine = notebook.page.locator(".fnv-molecules li").nth(1)
    expect(caffeine).to_contain_text("Molecular weight194.2 Da")
    expect(caffeine.locator("dt")).to_have_count(12)
    expect(notebook.page.locator(".fnv-table[data-fn-state=drawn]").first).to_contain_text(
        "Topological Polar Surface Area"
    )
