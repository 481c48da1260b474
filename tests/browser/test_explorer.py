"""The explorer in real JupyterLab: a selection made in any part is shown in all parts, and available in Python."""

import itertools
import struct
from pathlib import Path

import pytest
from assembly_files import write_trimer
from lab_page import find_place
from playwright.sync_api import expect

SHARES_SERVER = True
VIEWPORT = (1400, 1000)

DATA = Path(__file__).parents[1] / "unit" / "results" / "data"
_SHOW = f"""
import foldnote as fn

lines = [line for line in open({str(DATA / "trastuzumab_fv_ca.pdb")!r}) if line.startswith("ATOM")]
lines = [f"{{line[:60]}}{{40 + i % 60:6.2f}}{{line[66:]}}" for i, line in enumerate(lines)]
open("fv.pdb", "w").writelines(["REMARK   1 PLDDT IN THE B-FACTOR COLUMN\\n", *lines])
explorer = fn.explore("fv.pdb")
explorer
"""
_FILL = """
role = {"role": "residues", "of": "structure"}
designed = {"type": "object", "additionalProperties": {"type": "string"}, "x-foldnote": role}
form = fn.form({"type": "object", "properties": {"designed": designed}})
explorer.fill(form, "designed")
form
"""
_SAVE = """
png = await explorer.picture("fv.png", width_px=420, height_px=300, dpi=300, background="transparent")
print("saved", len(png), "bytes")
"""
_IS_MARKED = """
() => {
  const canvas = document.querySelector('.fne-explorer canvas'), flat = document.createElement('canvas');
  flat.width = canvas.width; flat.height = canvas.height;
  const pen = flat.getContext('2d');
  pen.drawImage(canvas, 0, 0);
  const data = pen.getImageData(0, 0, flat.width, flat.height).data;
  let count = 0;
  for (let i = 0; i < data.length; i += 4) if (data[i] > 130 && data[i + 1] < 50 && data[i + 2] > 40 && data[i + 2] < 140) count += 1;
  return count > 100;
}
"""
_PLACES = """
() => {
  const [name] = Object.keys(window).filter(key => /^viewer_/.test(key) && window[key]);
  const box = document.querySelector('.fne-explorer canvas').getBoundingClientRect();
  const inside = place => place.x > box.left + 20 && place.x < box.right - 20 && place.y > box.top + 60 && place.y < box.bottom - 40;
  const viewer = window[name];
  return viewer.selectedAtoms({ chain: 'L' }).map(atom => viewer.modelToScreen(atom))
    .map(place => ({ x: place.x - scrollX, y: place.y - scrollY })).filter(inside).slice(0, 60);
}
"""


@pytest.fixture(scope="module")
def explorer(notebook_page):
    notebook_page.run_code(_SHOW, _SAVE, _FILL, 'explorer.select("L", [1, 2])')
    shown = notebook_page.page.locator(".fne-explorer")
    shown.locator(".fnv-view[data-fn-state=drawn]").wait_for()
    return notebook_page, shown


_IS_BELOW = """side => new Promise((resolve, reject) => {
  const stage = side.closest(".fne-explorer").querySelector(".fne-stage");
  const deadline = Date.now() + 30_000;
  const look = () => {
    if (stage.offsetLeft === side.offsetLeft) resolve();
    else if (Date.now() > deadline) reject(new Error("still beside the picture"));
    else requestAnimationFrame(look);
  };
  look();
})"""


def test_what_python_chooses_is_marked(explorer):
    page, shown = explorer
    expect(shown.locator(".fne-bar")).to_contain_text("2 residues selected")
    assert shown.locator(".fne-cell[aria-selected=true]").count() == 2
    expect(shown.locator(".fne-table tbody tr")).to_have_count(2)
    page.page.wait_for_function(_IS_MARKED)
    page.picture("explorer", shown)


def test_a_choice_in_the_sequence_and_in_the_plot_reaches_the_others(explorer):
    page, shown = explorer
    cells = shown.locator(".fne-cell")
    first, last = find_place(cells.nth(10)), find_place(cells.nth(14))
    page.page.mouse.move(first["x"] + 3, first["y"] + 5)
    page.page.mouse.down()
    page.page.mouse.move(last["x"] + 3, last["y"] + 5)
    page.page.mouse.up()
    expect(shown.locator(".fne-bar")).to_contain_text("5 residues selected")
    plot = shown.locator(".fne-plot svg").first
    plot.click(position={"x": plot.bounding_box()["width"] - 3, "y": 40})
    expect(shown.locator(".fne-bar")).to_contain_text("1 residue selected")
    expect(shown.locator(".fne-table tbody")).to_contain_text("127")


_NUMBERS = """axis => [...axis.children].map(each => {
  const box = each.getBoundingClientRect(), all = axis.getBoundingClientRect();
  return [each.textContent, parseFloat(each.style.left) / 100, box.left - all.left, box.right - all.left, all.width];
})"""


def test_the_plot_names_residues_by_chain_and_number(explorer):
    page, shown = explorer
    cells = shown.locator(".fne-cell").evaluate_all("cells => cells.map(cell => cell.title)")
    numbers = shown.locator(".fne-axis").evaluate(_NUMBERS)
    assert len(numbers) > 5
    for text, place, left, right, width in numbers:
        assert 0 <= left < right <= width
        chain, _, number = text.rpartition(" ")
        assert f" {number} · " in cells[int(place * len(cells))]
        assert f"Chain {chain}" in cells[int(place * len(cells))]
    ends = sorted(each[2:4] for each in numbers)
    assert all(right < left for (_, right), (left, _) in itertools.pairwise(ends))
    path = shown.locator(".fne-plot svg").first.locator("path").first.get_attribute("d")
    assert path.count("M") == len({title.split(" · ")[0] for title in cells}) == 2
    plot = shown.locator(".fne-plot svg").first
    plot.hover(position={"x": plot.bounding_box()["width"] - 3, "y": 40})
    expect(plot.locator("title")).to_have_text(cells[-1])
    page.picture("explorer-numbers", shown)


def test_the_keyboard_chooses(explorer):
    page, shown = explorer
    shown.get_by_role("button", name="Clear").click()
    expect(shown.locator(".fne-bar")).to_contain_text("0 residues selected")
    shown.locator(".fne-sequence").focus()
    for key in ("ArrowRight", "Space", "ArrowRight", "Space"):
        page.page.keyboard.press(key)
    expect(shown.locator(".fne-bar")).to_contain_text("2 residues selected")
    assert page.accessibility_faults(".fne-explorer") == []


def test_a_narrow_explorer_puts_its_parts_below_each_other(explorer):
    page, shown = explorer
    stage, side = shown.locator(".fne-stage"), shown.locator(".fne-side")
    assert side.bounding_box()["x"] > stage.bounding_box()["x"] + 400
    page.resize(700, 1000)
    side.evaluate(_IS_BELOW)
    page.picture("explorer-narrow", shown)
    boxes = stage.bounding_box(), side.bounding_box()
    page.resize(1400, 1000)
    assert boxes[1]["y"] >= boxes[0]["y"] + boxes[0]["height"]
    assert boxes[0]["width"] == pytest.approx(boxes[1]["width"], abs=1)


def test_python_gets_the_picture_that_is_seen_in_the_size_that_it_asks_for(explorer, server):
    page, _ = explorer
    expect(page.page.locator(".jp-OutputArea").nth(1)).to_contain_text("saved")
    png = (server.notebooks / "fv.png").read_bytes()
    assert png.startswith(b"\x89PNG")
    assert struct.unpack(">II", png[16:24]) == (420, 300)


def test_residues_picked_in_the_picture_fill_a_forms_field_and_typed_ones_are_picked(explorer):
    page, shown = explorer
    field = page.page.locator(".foldnote-field textarea")
    shown.get_by_role("button", name="Clear").click()
    expect(field).to_have_value("")
    shown.locator(".fnv-stage").scroll_into_view_if_needed()
    for place in page.page.evaluate(_PLACES):
        page.page.mouse.click(place["x"], place["y"])
        if shown.locator(".fne-cell[aria-selected=true]").count():
            break
    expect(shown.locator(".fne-bar")).to_contain_text("1 residue selected")
    picked = shown.locator(".fne-table tbody tr td").all_inner_texts()[:2]
    expect(field).to_have_value(f"{picked[0]}: {picked[1]}")
    field.fill("L: 1-3")
    expect(shown.locator(".fne-bar")).to_contain_text("3 residues selected")
    page.picture("explorer-form", page.page.locator(".jp-Notebook"))


_MANY = f"""
import gemmi
import foldnote as fn

structure, many = gemmi.read_structure({str(DATA / "trastuzumab_fv_ca.pdb")!r}), gemmi.Structure()
many.add_model(gemmi.Model(1))
for number in range(24):
    chain = structure[0][0].clone()
    chain.name = f"{{number}}" if number % 2 else f"heavy-chain-of-antibody-{{number}}"
    for atom in (atom for residue in chain for atom in residue):
        atom.pos += gemmi.Position(45 * (number % 6), 45 * (number // 6), 0)
    many[0].add_chain(chain)
many.setup_entities()
many.make_mmcif_document().write_file("many.cif")
fn.explore("many.cif")
"""


def test_long_names_of_many_chains_neither_cover_letters_nor_fill_the_page(notebook_page):
    notebook_page.run_code(_MANY)
    shown = notebook_page.page.locator(".fne-explorer")
    expect(shown.locator(".fne-chain")).to_have_count(24)
    name, letter = shown.locator(".fne-name").first, shown.locator(".fne-cell").first
    assert find_place(name)["y"] + find_place(name)["height"] <= find_place(letter)["y"] + 1
    assert find_place(shown.locator(".fne-chain").first)["x"] < find_place(letter)["x"]
    legend = shown.locator(".fnv-legend li")
    expect(legend).to_have_count(24)
    first, last = find_place(legend.first), find_place(legend.last)
    assert last["x"] > first["x"] + first["width"] - 1
    assert last["y"] - first["y"] < 15 * first["height"]


_COPIES = """id => {
  const viewer = window[`viewer_${id}`], atoms = viewer.selectedAtoms({ atom: 'CA' });
  const canvas = document.getElementById(id).querySelector('canvas').getBoundingClientRect();
  return {
    chains: [...new Set(atoms.map(atom => atom.chain))].sort(),
    marked: atoms.filter(atom => atom.style.sphere).map(atom => `${atom.chain} ${atom.resi}`).sort(),
    places: atoms.filter(atom => atom.chain === 'A-2').map(atom => viewer.modelToScreen(atom))
      .map(place => ({ x: place.x - scrollX, y: place.y - scrollY }))
      .filter(place => place.x > canvas.left && place.x < canvas.right && place.y > canvas.top && place.y < canvas.bottom)
  };
}"""


def test_the_explorer_shows_an_assembly_whose_copies_are_marked_and_picked_like_their_originals(
    notebook_page, server
):
    (server.notebooks / "trimer.pdb").write_text(write_trimer("A"))
    notebook_page.run_code(
        "import foldnote as fn\nexplorer = fn.explore('trimer.pdb')\nexplorer", "explorer.select('A', [1000])"
    )
    page, shown = notebook_page.page, notebook_page.page.locator(".fne-explorer")
    view = shown.locator(".fnv-view[data-fn-state=drawn]")
    view.wait_for()
    menu = view.get_by_label("Biological assembly")
    assert menu.locator("option").all_inner_texts() == ["As in the file", "Assembly 1: trimeric (author)"]
    menu.select_option(index=1)
    expect(view.locator(".fnv-assembly")).to_contain_text("Assembly 1: trimeric (author), 1,")
    view.locator(".fnv-stage").scroll_into_view_if_needed()
    expect(shown.locator(".fne-bar")).to_contain_text("1 residue selected")
    seen = page.evaluate(_COPIES, view.get_attribute("id"))
    assert seen["chains"] == ["A", "A-2", "A-3"]
    assert seen["marked"] == ["A 1000", "A-2 1000", "A-3 1000"]
    notebook_page.picture("explorer-assembly", shown)

    shown.get_by_role("button", name="Clear").click()
    expect(shown.locator(".fne-bar")).to_contain_text("0 residues selected")
    for place in seen["places"][:40]:
        page.mouse.click(place["x"], place["y"])
        if shown.locator(".fne-cell[aria-selected=true]").count():
            break
    expect(shown.locator(".fne-bar")).to_contain_text("1 residue selected")
    chain, number = shown.locator(".fne-table tbody tr td").all_inner_texts()[:2]
    assert chain == "A"
    page.wait_for_function(
        "([id, number]) => window[`viewer_${id}`].selectedAtoms({ atom: 'CA' })"
        ".filter(atom => atom.style.sphere && String(atom.resi) === number).length === 3",
        arg=[view.get_attribute("id"), number],
    )
