"""3D views in real JupyterLab with the network cut: drawn, explained where they cannot be drawn, and safe."""

import base64
import io
import math
import re
import struct
from pathlib import Path
from xml.etree import ElementTree

import gemmi
import nbformat
import pandas as pd
import pytest
from lab_page import LabPage, find_place
from patience import PATIENCE_MS
from playwright.sync_api import Locator, expect

from foldnote.results import Structure
from foldnote.viewers import bundle, plot_scatter

SHARES_SERVER = True
VIEWPORT = (1300, 1000)

ROOT = Path(__file__).parents[2]
LYSOZYME = Path(__file__).parents[1] / "engines" / "data" / "t4-lysozyme-l99a.pdb"
DATA = ROOT / "tests" / "unit" / "results" / "data"
FV = (DATA / "trastuzumab_fv_ca.pdb").read_text()
HOSTILE = "<script>window.hacked=1</script><img src=x onerror=window.hacked=1>"
_RESULT = f"""
import sys, pathlib
sys.path.insert(0, {str(DATA.parent)!r})
from result_archives import write_fv_result
import foldnote as fn
result = fn.open_result(write_fv_result(pathlib.Path("fv.zip")))
"""
VH = "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVARIYPTNGYTRYADSVKGRFTISADTSKNTAYLQMNSLRAEDTAVYYCSRWGGDGFYAMDYWGQGTLVTVSS"
_SHOW_RESULT = _RESULT + "result"
_SHOW_PREDICTION = f"""
import sys, pathlib
sys.path.insert(0, {str(DATA.parent)!r})
import foreign_archives, result_archives
import foldnote as fn
fn.open_result(result_archives.write_zip(pathlib.Path("prediction.zip"), foreign_archives.boltz()))
"""
_COMPARE = f"""
import sys, pathlib
sys.path.insert(0, {str(DATA.parent)!r})
from result_archives import write_fold_result
import foldnote as fn
jobs = [("fv-1", "6y1l_imgt", {{"seed": 1}}), ("fv-variant-with-a-long-name", "c143_imgt", {{"seed": 2}})]
fn.compare([
    fn.open_result(write_fold_result(pathlib.Path("."), name, fold, settings, {{"ptm": 0.8}}))
    for name, fold, settings in jobs
], align="framework")
"""
_SHOW_ENSEMBLE = f"""
import sys
sys.path.insert(0, {str(DATA.parent)!r})
from result_archives import write_ensemble
from foldnote.results import Structure

Structure("nmr.pdb", "pdb", write_ensemble())
"""
_NO_LIBRARY = """
Object.defineProperty(window, '$3Dmolpromise', { get: () => undefined, set: () => {} });
Object.defineProperty(window, '$3Dmol', { get: () => undefined, set: () => {} });
"""

_CDR_PLACES = """
id => {
  const viewer = window['viewer_' + id];
  const atoms = viewer.selectedAtoms({ chain: 'H' }).filter((_, index) => index % 12 === 3);
  return atoms.map(atom => viewer.modelToScreen(atom)).map(place => [place.x - scrollX, place.y - scrollY]);
}
"""


_FADES = """
box => new Promise(requestAnimationFrame).then(() => new Promise(requestAnimationFrame))
  .then(() => getComputedStyle(box).maskImage !== 'none')
"""


@pytest.fixture(scope="module")
def notebook(notebook_page):
    """Open one notebook with its kernel for all tests of this module."""
    return notebook_page


def open_notebook(browser, server, name, *, init_script="") -> LabPage:
    context = browser.new_context(viewport={"width": 1300, "height": 1000})
    context.set_default_timeout(PATIENCE_MS)
    if init_script:
        context.add_init_script(init_script)
    page = LabPage(context, server)
    server.write_notebook(name, "1")
    page.open(name)
    page.page.keyboard.press("Control+b")
    return page


def show(notebook: LabPage, *cells: str) -> Locator:
    """Run ``cells`` and return the first view, once it is drawn or has failed."""
    notebook.run_code(*cells)
    view = notebook.page.locator(".fnv-view[data-fn-state]").first
    view.wait_for()
    return view


def state(view: Locator) -> str:
    return view.get_attribute("data-fn-state") or ""


_LINES = """size => {
  const legend = size.closest('.fnv-legend'), found = new Set();
  for (let width = 60; width < 400; width += 4) {
    legend.style.width = `${width}px`;
    found.add(size.getClientRects().length);
  }
  legend.style.width = '';
  return [...found];
}"""
"""Count the lines of the residue count, at each width of the legend."""


def test_a_result_is_drawn_with_its_legend_and_tables(notebook):
    view = show(notebook, _SHOW_RESULT)
    assert state(view) == "drawn"
    counted = notebook.wait_until_drawn(view.locator("canvas").first)
    assert counted["drawn"] > 2000
    assert counted["colours"] > 6
    expect(view.locator(".fnv-legend")).to_contain_text("SRWGGDGFYAMDY")
    expect(notebook.page.locator(".fnv-table").first).to_contain_text("FR1")
    assert view.locator(".fnv-legend .fnv-size").first.evaluate(_LINES) == [1]
    notebook.picture("view-light", view)
    assert notebook.accessibility_faults(".jp-OutputArea .fnv-view") == []


def test_two_jobs_are_compared(notebook):
    view = show(notebook, _COMPARE)
    canvas = view.locator("canvas").first
    notebook.wait_until_drawn(canvas)
    both = canvas.evaluate(_COLOURS)
    view.get_by_role("checkbox", name="fv-variant-with-a-long-name").uncheck()
    notebook.page.wait_for_timeout(300)
    one = canvas.evaluate(_COLOURS)
    view.get_by_role("checkbox", name="fv-variant-with-a-long-name").check()
    area = notebook.page.locator(".jp-OutputArea").first
    notebook.picture("comparison-light", area)
    view.get_by_label("Colour by").select_option("deviation")
    expect(view.locator(".fnv-legend")).to_contain_text("6 Å or more")
    notebook.set_theme("dark")
    notebook.resize(560, 1600)
    notebook.picture("comparison-dark-narrow", area)
    fits = notebook.fits(view)
    faults = notebook.accessibility_faults(".jp-OutputArea .fnv-view")
    sequences = area.locator(".fnv-align").first
    goes_on = sequences.evaluate(_FADES)
    sequences.evaluate("box => { box.scrollLeft = box.scrollWidth; }")
    at_end = sequences.evaluate(_FADES)
    notebook.set_theme("light")
    notebook.resize(1300, 1000)
    assert (goes_on, at_end, sequences.evaluate(_FADES)) == (True, False, False)
    assert both["orange"] > 500
    assert one["orange"] < 0.05 * both["orange"]
    assert fits
    assert faults == []
    expect(area).to_contain_text("CDR-H3")
    expect(area.locator(".fnv-align mark").first).to_be_visible()


def test_models_are_stepped_superposed_and_played(notebook):
    view = show(notebook, _SHOW_ENSEMBLE)
    canvas, step = view.locator("canvas").first, view.locator(".fnv-step")
    notebook.wait_until_drawn(canvas)
    one = canvas.evaluate(_COLOURS)
    view.get_by_role("button", name="The next model").press("ArrowRight")
    expect(step).to_have_text("2 of 5")
    slider = view.get_by_label("Go to a model")
    expect(slider).to_have_value("1")
    slider.fill("4")
    expect(step).to_have_text("5 of 5")
    slider.press("ArrowLeft")
    expect(step).to_have_text("4 of 5")
    expect(view.get_by_label("Which model is shown")).to_have_value("3")
    view.get_by_label("Which model is shown").select_option("All superposed")
    expect(step).to_have_text("5 superposed")
    notebook.page.wait_for_timeout(300)
    everything = canvas.evaluate(_COLOURS)
    notebook.picture("ensemble", notebook.page.locator(".jp-OutputArea").first)
    view.get_by_role("button", name="Play").click()
    expect(step).to_have_text("3 of 5")
    expect(slider).to_have_value("2")
    view.get_by_role("button", name="Pause").click()
    assert everything["count"] > 1.3 * one["count"]
    expect(notebook.page.locator(".jp-OutputArea")).to_contain_text("RMSF over 5 models")
    assert notebook.accessibility_faults(".jp-OutputArea .fnv-view") == []


def test_plots_are_as_wide_as_they_are_drawn(notebook):
    view = show(notebook, _SHOW_PREDICTION)
    plots = notebook.page.locator(".fnv-plots .fnv-plot img")
    expect(plots).to_have_count(2)
    sizes = [plots.nth(place).bounding_box() for place in range(2)]
    heads = notebook.page.locator(".fnv-plots .fnv-head").all()
    assert min(size["width"] for size in sizes) > 250
    assert max(head.bounding_box()["height"] for head in heads) < 60
    assert state(view) == "drawn"


def test_long_terms_of_a_summary_leave_space_for_their_descriptions(notebook):
    """The scores of each model stood one word a line beside its name and rank, where the window is narrow."""
    notebook.resize(800, 900)
    show(notebook, _SHOW_PREDICTION)
    summary = notebook.page.locator(".fnv-words").filter(has_text="TM-score").locator("dl").first
    summary.evaluate("list => { list.parentElement.open = true; }")
    widths = summary.locator("dd").evaluate_all("all => all.map(each => each.offsetWidth)")
    room = summary.evaluate("list => list.offsetWidth")
    notebook.picture("narrow-summary", summary)
    notebook.resize(*VIEWPORT)
    assert min(widths) > 0.4 * room


def test_a_plot_is_saved_as_drawing_picture_and_data(notebook):
    show(notebook, _SHOW_PREDICTION)
    notebook.set_theme("dark")
    plot = notebook.page.locator(".fnv-plot").first
    saved = {}
    for kind in ("SVG", "PNG", "CSV"):
        with notebook.page.expect_download() as download:
            plot.get_by_role("button", name=kind).click()
        name = download.value.suggested_filename
        assert name.startswith("Confidence-along-the-chain")
        assert name.endswith(f".{kind.lower()}")
        saved[kind] = Path(download.value.path()).read_bytes()
    svg = ElementTree.fromstring(saved["SVG"])
    assert "@media" not in saved["SVG"].decode(), "saved images are dark on white in every theme"
    assert struct.unpack(">II", saved["PNG"][16:24]) == tuple(
        3 * int(svg.get(name)) for name in ("width", "height")
    )
    table = pd.read_csv(io.BytesIO(saved["CSV"]))
    assert {"residue", "plddt"} <= {*table.columns}
    assert table["plddt"].between(0, 100).all()
    assert notebook.accessibility_faults(".jp-OutputArea .fnv-plots") == []
    notebook.picture("plot-saving-dark", plot)
    notebook.set_theme("light")
    notebook.picture("plot-saving-light", notebook.page.locator(".fnv-plots").first)


def test_a_view_follows_the_theme(notebook):
    view = show(notebook, _SHOW_RESULT)
    notebook.set_theme("dark")
    notebook.page.wait_for_timeout(500)
    notebook.picture("view-dark", view)
    corner = view.locator("canvas").first.evaluate(
        """canvas => {
             const flat = document.createElement('canvas');
             flat.width = canvas.width; flat.height = canvas.height;
             const pen = flat.getContext('2d');
             pen.drawImage(canvas, 0, 0);
             return Math.max(...pen.getImageData(2, 2, 1, 1).data.slice(0, 3));
           }"""
    )
    faults = notebook.accessibility_faults(".jp-OutputArea .fnv-view")
    notebook.set_theme("light")
    assert corner < 90
    assert faults == []


def test_a_narrow_view_loses_nothing(notebook):
    view = show(notebook, _SHOW_RESULT)
    notebook.resize(560, 1200)
    notebook.picture("view-400", view)
    fits = notebook.fits(view)
    stage = view.locator(".fnv-stage").bounding_box()
    notebook.resize(1300, 1000)
    assert fits
    assert stage["width"] < 460


_GAPS = """() => Array.from(document.querySelectorAll('.jp-OutputArea-output :is(.fnv-head, .foldnote-form)'), head => {
  const bar = head.closest('.jp-Cell').querySelector('.jp-OutputCollapser').getBoundingClientRect();
  const output = head.closest('.jp-OutputArea-output').getBoundingClientRect(), box = head.getBoundingClientRect();
  return [box.left - bar.right, output.right - box.right];
})"""


def test_headings_do_not_touch_the_bar_of_the_cell_in_a_narrow_window(notebook):
    """A window of 1,280 px at a zoom of 200 %."""
    notebook.run_code(_SHOW_RESULT, "fn.grid([result, result])", "fn.form('anarci')")
    expect(notebook.page.locator(".foldnote-form")).to_be_visible()
    notebook.resize(640, 800)
    gaps = notebook.page.evaluate(_GAPS)
    notebook.picture("view-narrow-window")
    notebook.resize(1300, 1000)
    assert len(gaps) == 4
    assert all(left >= 5 and right >= 0 for left, right in gaps), gaps


_TOOL_LINES = """tools => {
  const tops = Array.from(tools.querySelectorAll('button, select')).filter(each => each.offsetWidth).map(each => Math.round(each.getBoundingClientRect().bottom));
  return [...new Set(tops)].map(top => tops.filter(other => other === top).length);
}"""
"""Count the buttons and lists in each line of the toolbar."""


def test_no_button_is_alone_in_the_last_line(notebook):
    view, lines = show(notebook, _SHOW_RESULT), {}
    for width in range(230, 800, 10):
        view.evaluate("(view, width) => { view.style.width = `${width}px`; }", width)
        lines[width] = view.locator(".fnv-tools").evaluate(_TOOL_LINES)
    assert {width: found for width, found in lines.items() if found[-1] == 1} == {}


def test_sequences_run_from_left_to_right_in_a_page_that_does_not(notebook):
    read = "node => getComputedStyle(node).direction"
    show(notebook, _COMPARE)
    notebook.page.evaluate("document.documentElement.dir = 'rtl'")
    found = [notebook.page.locator(".fnv-align pre").first.evaluate(read)]
    notebook.picture("compare-rtl", notebook.page.locator(".jp-OutputArea").first)
    notebook.run_code("import foldnote as fn\nfn.form('anarci')")
    sequence = notebook.page.locator(".foldnote-sequence textarea").first
    sequence.fill(VH)
    letters = notebook.page.locator(".fn-letters").first
    letters.wait_for()
    found += [sequence.evaluate(read), letters.evaluate(read)]
    notebook.picture("form-rtl", notebook.page.locator(".foldnote-form").first)
    notebook.page.evaluate("document.documentElement.removeAttribute('dir')")
    assert found == ["ltr", "ltr", "ltr"]


def test_a_pointer_over_a_residue_names_it(notebook):
    box = find_place(show(notebook, _SHOW_RESULT).locator(".fnv-stage"))
    notebook.page.mouse.move(
        box["x"] + 300, box["y"] + 200
    )  # the next view is drawn below the resting pointer
    view = show(notebook, _SHOW_RESULT)
    view.locator(".fnv-stage").scroll_into_view_if_needed()
    named = view.locator(".fnv-hover")
    for x, y in notebook.page.evaluate(_CDR_PLACES, view.get_attribute("id")):
        notebook.page.mouse.move(x, y)
        notebook.page.wait_for_timeout(250)
        if named.inner_text():
            break
    expect(named).to_have_text(re.compile(r"Chain [HL] · [A-Z]{3} \d+[A-Z]?( · CDR-[HL]\d)?"))
    notebook.page.mouse.move(5, 5)
    expect(named).to_have_text("")


_COMPLEX = f"""
import foldnote as fn
fn.view({str(DATA / "complexes" / "5zng.pdb.gz")!r}).model_copy(update={{'height_px': 300}})
"""
_PLACES = """
([id, wanted]) => {
  const viewer = window['viewer_' + id], box = document.querySelector('.fnv-stage').getBoundingClientRect();
  return viewer.selectedAtoms(wanted === 'sticks' ? {} : wanted).filter(atom => wanted !== 'sticks' || atom.style.stick?.radius > 0.2)
    .map(atom => viewer.modelToScreen(atom)).map(place => [place.x - scrollX, place.y - scrollY])
    .filter(([x, y]) => x > box.left + 15 && x < box.right - 15 && y > box.top + 15 && y < box.bottom - 15);
}
"""


def click_atoms(view: Locator, wanted: object, is_enough) -> None:
    """Click on drawn atoms until enough are picked; a click on a hidden atom picks the one in front."""
    page = view.page
    for place in page.evaluate(_PLACES, [view.get_attribute("id"), wanted])[:60]:
        page.mouse.click(*place)
        page.wait_for_timeout(60)
        if is_enough():
            return


def calculate(names: str) -> float:
    """Calculate a distance (Å), angle or torsion (°) with gemmi, from names such as ``A LEU 993 N – A LEU 993 CA``."""
    model = gemmi.read_structure(str(DATA / "complexes" / "5zng.pdb.gz"))[0]
    places = []
    for name in names.split(" – "):
        chain, residue, number, atom = name.split()
        places.append(model[chain][number][residue].find_atom(atom, "*").pos)
    if len(places) == 2:
        return places[0].dist(places[1])
    return math.degrees(
        gemmi.calculate_angle(*places) if len(places) == 3 else gemmi.calculate_dihedral(*places)
    )


def test_a_reader_looks_closely_and_measures(notebook):
    view = show(notebook, _COMPLEX)
    page, stage = notebook.page, view.locator(".fnv-stage")
    notebook.wait_until_drawn(view.locator("canvas").first)
    tools, box = view.locator(".fnv-tools").bounding_box(), stage.bounding_box()
    assert tools["y"] + tools["height"] <= box["y"], "nothing covers the molecule"
    expect(view.locator(".fnv-interfaces tbody tr")).to_have_text(["A – C15 + 113380990 Å²"])

    where = f"() => viewer_{view.get_attribute('id')}.getView().join()"
    before = page.evaluate(where)
    view.get_by_role("button", name="A – C").click()
    expect(view.locator(".fnv-focus")).to_contain_text("8 hydrogen bonds, 0 salt bridges, 990 Å² buried")
    page.wait_for_function(f"view => ({where})() !== view", arg=before)
    page.wait_for_timeout(450)
    notebook.picture("view-interface", view)
    page.keyboard.press("Escape")
    expect(view.locator(".fnv-focus")).to_have_count(0)

    click_atoms(view, {"chain": "C", "atom": "CA"}, view.locator(".fnv-focus").count)
    expect(view.locator(".fnv-focus")).to_have_text(
        re.compile(r"[A-Z]{3} \d+ of chain [AC]: \d+ residues within 5 Å")
    )
    page.wait_for_timeout(450)
    view.get_by_role("button", name="Measure").click()
    measured = view.locator(".fnv-measured li")
    for number, kind in enumerate(("distance", "angle", "torsion"), 1):
        view.get_by_label("Quantity to measure").select_option(kind)
        click_atoms(view, "sticks", lambda number=number: measured.count() == number)
        value, names = re.fullmatch(
            r"\w+\s+(\S+?)(?: Å|°)\s+(.+?)\s+Remove", measured.nth(number - 1).inner_text().replace("\n", " ")
        ).groups()
        assert float(value.replace("−", "-")) == pytest.approx(calculate(names), abs=0.06), (kind, names)
    notebook.set_theme("dark")
    notebook.picture("view-measured-dark", view)
    assert notebook.accessibility_faults(".jp-OutputArea .fnv-view") == []
    notebook.set_theme("light")
    view.get_by_role("button", name="Clear").click()
    expect(measured).to_have_count(0)
    page.keyboard.press("Escape")
    expect(view.locator(".fnv-measure")).to_have_count(0)
    page.keyboard.press("Escape")
    expect(view.locator(".fnv-focus")).to_have_count(0)


_LOOK = """
([id, chain, number]) => {
  const viewer = window['viewer_' + id], letters = document.querySelectorAll('.fnv-letter');
  [...letters].find(letter => letter.title.match(`Chain ${chain} · . ${number}$`)).click();
}
"""

_COUNT_DRAWINGS = """
async ([id, act]) => {
  const scene = Object.getPrototypeOf(window['viewer_' + id]), { show } = scene;
  let drawings = 0;
  scene.show = function (...given) { drawings += 1; return show.apply(this, given); };
  document.querySelector(act).click();
  await new Promise(requestAnimationFrame);
  scene.show = show;
  return drawings;
}
"""
"""Return how often 3Dmol.js draws the whole scene after a click."""


def test_a_click_in_the_sequence_selects_a_residue_with_the_contacts_of_python(notebook):
    """Compared for the residues at the interface with the tables of ``Structure``, which other tests compare with
    other programs.
    """
    view = show(notebook, _COMPLEX)
    page = notebook.page
    structure = Structure.open(DATA / "complexes" / "5zng.pdb.gz")
    bonds = structure.interface_bonds
    where = f"() => viewer_{view.get_attribute('id')}.getView().join()"
    before = page.evaluate(where)
    view.get_by_role("button", name="Sequence").click()
    expect(view.locator(".fnv-letter")).to_have_count(sum(len(chain) for chain in structure.chains))
    for (chain, number), own in bonds.groupby(["chain", "number"]):
        page.evaluate(_LOOK, [view.get_attribute("id"), chain, number])
        expect(view.locator(".fnv-focus")).to_contain_text(f" {number} of chain {chain}: ")
        listed = [item for item in view.locator(".fnv-bonds li").all_inner_texts() if " – C " in item]
        assert sorted(listed) == sorted(
            f"{chain} {one.residue} {number} {one.atom} – {one.other_chain} {one.other_residue}"
            f" {one.other_number} {one.other_atom} {one.distance:.1f} Å, {one.kind}"
            for one in own.itertuples()
        )
    chosen = view.locator(".fnv-letter[aria-selected=true]")
    expect(chosen).to_have_count(1)
    page.wait_for_function(f"view => ({where})() !== view", arg=before)
    page.emulate_media(reduced_motion="reduce")
    other = ".fnv-letter:not([aria-selected=true])"
    drawings = page.evaluate(_COUNT_DRAWINGS, [view.get_attribute("id"), other])
    page.emulate_media(reduced_motion="no-preference")
    assert 1 <= drawings <= 2  # one for the chosen residue and one for the camera; not one per label
    page.evaluate(_LOOK, [view.get_attribute("id"), chain, number])
    assert view.locator(".fnv-around").count() > 2
    notebook.picture("view-sequence", view)
    chosen.evaluate("letter => letter.parentElement.parentElement.parentElement.focus()")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(view.locator(".fnv-focus")).to_contain_text(f" {int(number) + 1} of chain {chain}: ")
    page.keyboard.press("Escape")
    expect(chosen).to_have_count(0)
    click_atoms(view, {"chain": "C", "atom": "CA"}, view.locator(".fnv-focus").count)
    expect(chosen).to_have_count(1)
    told = re.search(r" (\d+) of chain", view.locator(".fnv-focus .fnv-told").inner_text())[1]
    assert chosen.get_attribute("title").endswith(f" {told}")
    assert notebook.accessibility_faults(".jp-OutputArea .fnv-view") == []


_LOCATIONS = f"""
import pathlib
import gemmi
import foldnote as fn

lines = []
for line in pathlib.Path({str(LYSOZYME)!r}).read_text().splitlines():
    number = int(line[22:26]) if line.startswith(("ATOM", "HETATM")) else 0
    lines.append(f"{{line[:16]}}{{'B' if number in (50, 163) else 'A' if number == 60 else ' '}}{{line[17:]}}" if number else line)
    if number == 60:
        lines.append(f"{{line[:16]}}B{{line[17:30]}}{{float(line[30:38]) + 0.6:8.3f}}{{line[38:]}}")
pathlib.Path("locations.pdb").write_text("\\n".join(lines))
gemmi.read_structure("locations.pdb").make_mmcif_document().write_file("locations.cif")
"""


@pytest.mark.parametrize("form", ["pdb", "cif"])
def test_of_alternate_locations_the_first_is_drawn_whatever_its_letter(notebook, form):
    view = show(notebook, f"{_LOCATIONS}fn.view('locations.{form}')")
    count = """id => [50, 60, 163].map(resi => {
      const names = window['viewer_' + id].selectedAtoms({ resi }).map(atom => atom.atom);
      return [names.length, new Set(names).size];
    })"""
    whole = gemmi.read_structure(str(LYSOZYME))[0]["A"]
    atoms = [len(whole[number][0]) for number in ("50", "60", "163")]
    assert notebook.page.evaluate(count, view.get_attribute("id")) == [[each, each] for each in atoms]


def test_a_residue_alone_is_seen_in_every_colouring(notebook):
    lone = f"""
import pathlib
import foldnote as fn

lines = pathlib.Path({str(LYSOZYME)!r}).read_text().splitlines()
pathlib.Path("lone.pdb").write_text("\\n".join(line for line in lines if line[22:26] == "  61"))
fn.view("lone.pdb")
"""
    view = show(notebook, lone)
    canvas = view.locator("canvas").first
    assert notebook.wait_until_drawn(canvas)["drawn"] > 1000
    view.get_by_label("Colour by").select_option("hydrophobicity")
    expect(view.locator(".fnv-legend")).to_contain_text("Hydro")
    assert notebook.wait_until_drawn(canvas)["drawn"] > 1000


def test_what_is_looked_at_is_followed_from_model_to_model(notebook):
    view = show(notebook, _SHOW_ENSEMBLE)
    view.get_by_role("button", name="Sequence").click()
    view.locator(".fnv-letter").nth(3).click()
    told = view.locator(".fnv-focus .fnv-told")
    name = told.inner_text().partition(":")[0]
    models = set()
    for number in ("2 of", "3 of"):
        view.get_by_role("button", name="The next model").click()
        expect(view.locator(".fnv-step")).to_contain_text(number)
        expect(told).to_contain_text(name)
        expect(view.locator(".fnv-letter[aria-selected=true]")).to_have_count(1)
        models |= set(notebook.page.evaluate(_FOCUSED, view.get_attribute("id")))
    assert len(models) == 2


_FOCUSED = """id => [...new Set(window['viewer_' + id].selectedAtoms({})
  .filter(atom => atom.style.stick?.radius > 0.2 && !window['viewer_' + id].getModel(atom.model).hidden).map(atom => atom.model))]"""


def test_in_a_structure_drawn_with_one_atom_per_residue_no_contacts_are_counted(notebook):
    grown = f"""
import gemmi
import foldnote as fn

whole = gemmi.read_structure({str(LYSOZYME)!r})
first = whole[0]["A"].clone()
for number in range(50):
    for residue in first:
        for atom in residue:
            atom.pos += gemmi.Position(40, 40 if number % 7 == 0 else 0, 0)
    first.name = f"B{{number}}"
    whole[0].add_chain(first)
whole.make_mmcif_document().write_file("grown.cif")
fn.view("grown.cif")
"""
    view = show(notebook, grown)
    view.get_by_role("button", name="Sequence").click()
    expect(view.locator(".fnv-letter")).to_have_count(162)
    view.get_by_label("Chain", exact=True).select_option("Chain B7")
    view.locator(".fnv-letter").nth(30).click()
    expect(view.locator(".fnv-focus .fnv-told")).to_contain_text("of chain B7. One atom of each residue")
    expect(view.locator(".fnv-letter[aria-selected=true]")).to_have_count(1)


_WATER = f"""
import pathlib
import foldnote as fn

lines = pathlib.Path({str(LYSOZYME)!r}).read_text().splitlines()
atom = next(line for line in lines if line[22:26] == " 163")
water = f"HETATM 9001  O   HOH A 900    {{float(atom[30:38]) + 4:8.3f}}{{atom[38:54]}}  1.00 20.00           O"
pathlib.Path("water.pdb").write_text("\\n".join([*[one for one in lines if one.startswith(("ATOM", "HETATM"))], water]))
fn.view("water.pdb")
"""
_STYLED = """([id, resn]) => window['viewer_' + id].selectedAtoms({ resn }).filter(atom => Object.keys(atom.style).length).length"""


def test_waters_and_ligands_are_shown_and_hidden_and_count_only_where_they_are_seen(notebook):
    view = show(notebook, _WATER)
    page = notebook.page

    def drawn(name: str) -> int:
        return page.evaluate(_STYLED, [view.get_attribute("id"), name])

    def around() -> int:
        return int(re.search(r": (\d+) residues?", view.locator(".fnv-focus .fnv-told").inner_text())[1])

    ligand = drawn("TMP")
    assert (ligand > 0, drawn("HOH")) == (True, 0)
    view.get_by_role("button", name="Sequence").click()
    view.locator(".fnv-letter").nth(101).click()
    dry = around()
    view.get_by_role("button", name="Show", exact=True).click()
    view.get_by_role("checkbox", name="Water").check()
    page.wait_for_function(f"args => ({_STYLED})(args) === 1", arg=[view.get_attribute("id"), "HOH"])
    assert around() in (dry, dry + 1)
    view.get_by_role("checkbox", name="Ligands").uncheck()
    page.wait_for_function(f"args => ({_STYLED})(args) === 0", arg=[view.get_attribute("id"), "TMP"])
    view.get_by_role("checkbox", name="Ligands").check()
    view.get_by_role("checkbox", name="Water").uncheck()
    view.get_by_role("button", name="Close").click()
    page.wait_for_function(f"args => ({_STYLED})(args) === 0", arg=[view.get_attribute("id"), "HOH"])
    assert drawn("TMP") == ligand


def test_names_of_what_is_looked_at_are_hidden_and_come_back(notebook):
    view = show(notebook, _COMPLEX)
    notebook.wait_until_drawn(view.locator("canvas").first)
    count = f"() => viewer_{view.get_attribute('id')}.labels.length"
    view.get_by_role("button", name="Sequence").click()
    view.locator(".fnv-letter").nth(30).click()
    notebook.page.wait_for_function(f"() => ({count})() > 3")
    names = view.get_by_role("checkbox", name="Names")
    shown = notebook.page.evaluate(count)
    names.uncheck()
    notebook.page.wait_for_function(f"shown => ({count})() < shown", arg=shown)
    names.check()
    notebook.page.wait_for_function(f"shown => ({count})() === shown", arg=shown)
    view.get_by_role("button", name="Close").click()
    notebook.page.wait_for_function(f"() => ({count})() === 0")


def test_a_reader_hides_chains_and_returns_to_a_view(notebook):
    view = show(notebook, _COMPLEX)
    page, canvas = notebook.page, view.locator("canvas").first
    notebook.wait_until_drawn(canvas)
    where = f"() => viewer_{view.get_attribute('id')}.getView().map(value => value.toFixed(3)).join()"
    view.get_by_role("button", name="Views").click()
    view.get_by_label("Name").fill("From above")
    page.keyboard.press("Enter")
    kept, both = page.evaluate(where), canvas.evaluate(_COLOURS)
    view.get_by_role("button", name="Show", exact=True).click()
    view.get_by_role("checkbox", name="Chain A").uncheck()
    page.wait_for_timeout(300)
    one = canvas.evaluate(_COLOURS)
    assert one["blue"] < 0.1 * both["blue"]
    assert one["orange"] > 0.5 * both["orange"]
    view.locator(".fnv-stage").focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate(where) != kept
    view.get_by_role("button", name="From above", exact=True).click()
    page.wait_for_function(f"view => ({where})() === view", arg=kept)
    notebook.resize(560, 1200)
    notebook.picture("view-tools-400", view)
    assert notebook.fits(view)
    notebook.resize(1300, 1000)
    view.get_by_role("button", name="Full screen").click()
    page.wait_for_function("() => document.fullscreenElement?.querySelector('.fnv-stage').clientHeight > 500")
    notebook.picture("view-full-screen")
    view.get_by_role("button", name="Leave full screen").click()
    page.wait_for_function("() => !document.fullscreenElement")
    assert notebook.faults == []


def test_a_view_is_used_with_the_keyboard(notebook):
    view = show(notebook, _SHOW_RESULT)
    stage, keyboard = view.locator(".fnv-stage"), notebook.page.keyboard
    where = f"() => viewer_{view.get_attribute('id')}.getView().join()"
    seen = [notebook.page.evaluate(where)]
    stage.focus()
    for key in ("ArrowRight", "ArrowUp", "+", "Home"):
        keyboard.press(key)
        seen.append(notebook.page.evaluate(where))
    assert len(set(seen[:4])) == 4
    assert seen[4] == seen[0]
    view.get_by_role("button", name="SRWGGDGFYAMDY").focus()
    keyboard.press("Enter")
    notebook.page.wait_for_function(f"view => ({where})() !== view", arg=seen[0])
    view.get_by_role("button", name="Reset view").focus()
    keyboard.press("Enter")
    notebook.page.wait_for_timeout(500)
    assert notebook.page.evaluate(where) == seen[0]
    assert notebook.page.evaluate("window.jupyterapp.shell.currentWidget.content.mode") == "command"


def test_a_scene_gives_a_genuine_py3dmol_view(notebook):
    change = """
view = fn.view(result).py3dmol()
import py3Dmol
assert isinstance(view, py3Dmol.view)
view.setStyle({"chain": "L"}, {"sphere": {"color": "#ff00ff"}})
view.show()
"""
    view = show(notebook, _RESULT + change)
    canvas = view.locator("canvas").first
    notebook.wait_until_drawn(canvas)
    magenta = """
canvas => {
  const flat = document.createElement('canvas');
  flat.width = canvas.width; flat.height = canvas.height;
  const pen = flat.getContext('2d');
  pen.drawImage(canvas, 0, 0);
  const data = pen.getImageData(0, 0, flat.width, flat.height).data;
  let count = 0;
  for (let i = 0; i < data.length; i += 4) {
    if (data[i] > 120 && data[i + 1] < 60 && data[i + 2] > 120) count += 1;
  }
  return count;
}
"""
    notebook.picture("view-changed", view)
    assert canvas.evaluate(magenta) > 500


_CLEAR_AND_DRAWN = """
async png => {
  const image = new Image();
  image.src = 'data:image/png;base64,' + png;
  await image.decode();
  const flat = document.createElement('canvas');
  flat.width = image.width; flat.height = image.height;
  const pen = flat.getContext('2d');
  pen.drawImage(image, 0, 0);
  const data = pen.getImageData(0, 0, flat.width, flat.height).data;
  let solid = 0;
  for (let i = 3; i < data.length; i += 4) if (data[i] === 255) solid += 1;
  return { corner: data[3], solid };
}
"""
_COLOURS = """
canvas => {
  const flat = document.createElement('canvas');
  flat.width = canvas.width; flat.height = canvas.height;
  const pen = flat.getContext('2d');
  pen.drawImage(canvas, 0, 0);
  const data = pen.getImageData(0, 0, flat.width, flat.height).data;
  const ground = [data[0], data[1], data[2]];
  let count = 0, blue = 0, orange = 0;
  for (let i = 0; i < data.length; i += 4) {
    if (Math.abs(data[i] - ground[0]) + Math.abs(data[i + 1] - ground[1]) + Math.abs(data[i + 2] - ground[2]) < 30) continue;
    count += 1;
    if (data[i + 2] > data[i] + 60) blue += 1;
    if (data[i] > data[i + 2] + 60) orange += 1;
  }
  return { count, blue, orange };
}
"""


def test_a_reader_chooses_colours_and_styles(notebook):
    view = show(notebook, _SHOW_RESULT)
    canvas = view.locator("canvas").first
    notebook.wait_until_drawn(canvas)
    by_chain = canvas.evaluate(_COLOURS)
    view.get_by_label("Colour by").select_option("secondary")
    notebook.page.wait_for_timeout(300)
    by_secondary = canvas.evaluate(_COLOURS)
    expect(view.locator(".fnv-legend")).to_contain_text("Strand")
    expect(view.locator(".fnv-legend")).not_to_contain_text("SRWGGDGFYAMDY")
    notebook.picture("view-secondary", view)
    view.get_by_label("Style").select_option("spheres")
    notebook.page.wait_for_timeout(300)
    spheres = canvas.evaluate(_COLOURS)
    notebook.picture("view-spheres", view)
    assert by_chain["blue"] > 1000
    assert by_secondary["blue"] < 0.2 * by_chain["blue"]
    assert by_secondary["orange"] > by_chain["orange"]
    assert spheres["count"] > 1.3 * by_secondary["count"]
    assert notebook.accessibility_faults(".jp-OutputArea .fnv-view") == []


def test_a_picture_is_saved_at_the_size_resolution_and_ground_of_ones_choice(notebook):
    view = show(notebook, _SHOW_RESULT)
    seen = view.locator("canvas").first.evaluate("canvas => [canvas.width, canvas.height]")
    view.get_by_role("button", name="Save", exact=True).click()
    for label, value in (("Width", "900"), ("Height", "700"), ("Resolution", "300")):
        view.get_by_label(label).fill(value)
    view.get_by_label("Background").select_option("transparent")
    expect(view.locator(".fnv-save")).to_contain_text("76 × 59 mm in print")
    notebook.picture("view-save", view)
    assert notebook.accessibility_faults(".jp-OutputArea .fnv-view") == []
    with notebook.page.expect_download() as download:
        view.get_by_role("button", name="Save PNG").click()
    png = Path(download.value.path()).read_bytes()
    assert png.startswith(b"\x89PNG")
    assert struct.unpack(">II", png[16:24]) == (900, 700)
    assert png[37:41] == b"pHYs"
    assert struct.unpack(">II", png[41:49]) == (round(300 / 0.0254),) * 2
    assert download.value.suggested_filename.endswith(".png")
    drawn = notebook.page.evaluate(_CLEAR_AND_DRAWN, base64.b64encode(png).decode("ascii"))
    assert drawn["corner"] == 0
    assert drawn["solid"] > 5000
    assert view.locator("canvas").first.evaluate("canvas => [canvas.width, canvas.height]") == seen


_MANY = (
    _RESULT
    + """
scene = fn.view(result).model_copy(update={"height_px": 130})
for _ in range(10):
    display(scene)
"""
)


def test_eight_views_live_and_the_others_rest(notebook):
    show(notebook, _MANY)
    views = notebook.page.locator(".fnv-view")
    expect(views).to_have_count(10)
    for place in range(10):
        views.nth(place).locator(".fnv-stage").scroll_into_view_if_needed()
        notebook.page.wait_for_function(
            "place => document.querySelectorAll('.fnv-view')[place].dataset.fnState !== undefined", arg=place
        )
    states = views.evaluate_all("nodes => nodes.map(node => node.dataset.fnState)")
    assert states.count("drawn") <= 8
    assert set(states) == {"drawn", "asleep"}
    place = states.index("asleep")
    views.nth(place).locator(".fnv-stage").scroll_into_view_if_needed()
    # A view may resume by itself when another one leaves the screen; then it has no button.
    views.nth(place).evaluate("view => view.querySelector('.fnv-note:not([hidden]) button')?.click()")
    notebook.page.wait_for_function(
        "place => document.querySelectorAll('.fnv-view')[place].dataset.fnState === 'drawn'", arg=place
    )
    assert 1 <= notebook.page.evaluate("window.foldnoteLive.length") <= 8


def test_a_structure_opened_as_a_file_fills_its_tab(notebook, server):
    (server.notebooks / "filled.pdb").write_text(LYSOZYME.read_text())
    show(notebook, "1", "import foldnote as fn\nfn.view('filled.pdb')")
    notebook.execute("docmanager:open", path="filled.pdb")
    stage = notebook.page.locator(
        ".jp-MainAreaWidget:not(.lm-mod-hidden) .fnv-view[data-fn-state=drawn] .fnv-stage"
    ).last
    stage.wait_for()
    for width, height in ((1300, 1000), (800, 700)):
        notebook.resize(width, height)
        panel = stage.evaluate(
            "stage => stage.closest('.jp-MainAreaWidget, .jp-Document').getBoundingClientRect().toJSON()"
        )
        box = find_place(stage)
        assert box["height"] > 0.6 * panel["height"]
        assert box["width"] > 0.9 * panel["width"]
    notebook.resize(1300, 1000)
    notebook.execute("application:close")


def test_hostile_names_are_only_words(notebook, server):
    lines = [f"TITLE     {HOSTILE[:60]}", f"COMPND    {HOSTILE[:60]}"]
    lines += [line.replace(" H ", " < ", 1) for line in FV.splitlines() if " H " in line]
    name = "<img src=x onerror=window.hacked=1>&lt;'`.pdb"
    (server.notebooks / name).write_text("\n".join(lines))
    title = "</script><script>window.hacked=1</script>"
    code = (
        f"import foldnote as fn\nscene = fn.view({name!r})\nscene.model_copy(update={{'title': {title!r}}})"
    )
    view = show(notebook, code)
    assert state(view) == "drawn"
    expect(view).to_contain_text("</script><script>window.hacked=1</script>")
    assert notebook.page.locator(".fnv-view img:not(.fnv-still)").count() == 0
    assert notebook.page.evaluate("window.hacked") is None


def test_a_reopened_notebook_draws_without_its_kernel(notebook, server):
    show(notebook, _SHOW_RESULT, _SHOW_ENSEMBLE)
    notebook.save()
    notebook.page.goto("about:blank")  # JupyterLab's widgets throw when the kernel of an open notebook ends
    server.end_kernels()
    notebook.open("views.ipynb")
    view = notebook.page.locator(".fnv-view[data-fn-state]").first
    view.wait_for()
    assert state(view) == "drawn"
    assert notebook.wait_until_drawn(view.locator("canvas").first)["drawn"] > 2000
    notebook.page.locator(".jp-Cell").nth(1).locator(".jp-OutputArea").scroll_into_view_if_needed()
    models = notebook.page.locator(".fnv-view:has(.fnv-choice)")
    models.get_by_role("button", name="The next model").click()
    expect(models.locator(".fnv-step")).to_have_text("2 of 5")
    assert notebook.outside == []


def test_an_untrusted_notebook_says_what_it_holds(notebook, server):
    saved = nbformat.read(server.notebooks / "views.ipynb", 4)
    assert saved.cells[0].outputs
    saved.cells[0].source += "\n# from somebody else"
    nbformat.write(saved, server.notebooks / "stranger.ipynb")
    notebook.turn_to("stranger.ipynb")
    output = notebook.page.locator(".jp-OutputArea").first
    expect(output).to_contain_text("Trust Notebook")
    expect(output).to_contain_text("CDR-H3")
    expect(output).to_contain_text("120 residues")
    still = output.locator("img").first
    assert still.evaluate("image => image.complete && image.naturalWidth") > 100
    notebook.picture("view-untrusted", output)
    assert notebook.page.locator(".jp-OutputArea canvas").count() == 0


def test_plots_of_an_untrusted_notebook_are_seen(notebook, server):
    plot = plot_scatter(pd.DataFrame({"ptm": [0.2, 0.5, 0.9], "iptm": [0.1, 0.4, 0.8]}), "ptm", "iptm")
    output = nbformat.v4.new_output("display_data", bundle(plot))
    cell = nbformat.v4.new_code_cell("plot", outputs=[output], execution_count=1)
    server.write_notebook("plot.ipynb", cell)  # with a kernel's name, since JupyterLab would ask for one
    notebook.turn_to("plot.ipynb")
    shown = notebook.page.locator(".jp-OutputArea-output")
    expect(shown).to_contain_text("ipTM (0 to 1) against pTM (0 to 1)")
    assert shown.locator("img").evaluate("image => image.complete && image.naturalWidth") == 460
    assert "0.20.40.6" not in shown.inner_text(), "the axis labels are only in the image"
    notebook.picture("plot-untrusted", shown)


def test_without_3dmol_the_view_says_so(chromium, server):
    page = open_notebook(chromium, server, "absent.ipynb", init_script=_NO_LIBRARY)
    page.page.route("**/foldnote/api/static/**", lambda route: route.fulfill(status=404))
    view = show(page, _SHOW_RESULT)
    assert state(view) == "failed"
    expect(view).to_contain_text("3Dmol.js, which draws it, is not on this page")
    expect(view).to_contain_text("120 residues")
    page.picture("view-absent", view)
    assert page.outside == []
    page.page.context.close()


def test_without_webgl_the_view_says_so(chromium_without_webgl, server):
    page = open_notebook(chromium_without_webgl, server, "no-webgl.ipynb")
    view = show(page, _SHOW_RESULT)
    assert state(view) == "failed"
    expect(view).to_contain_text("this browser does not provide WebGL")
    expect(view).to_contain_text("120 residues")
    page.picture("view-no-webgl", view)
    page.page.context.close()


def test_no_request_leaves_this_computer(notebook, server):
    assert notebook.outside == []
    assert notebook.faults == []
    assert server.refused == []
