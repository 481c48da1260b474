"""Biological assemblies in views, and scripts that reproduce a view, run in PyMOL."""

import ast
import json
import subprocess
import sys
import types
from importlib.util import find_spec
from pathlib import Path

import gemmi
import numpy as np
import pytest
from assembly_files import SHIFTS, TURN, write_trimer
from lab_page import find_place
from patience import PATIENCE_MS
from playwright.sync_api import expect

from foldnote.results import Structure
from foldnote.viewers import write_page
from foldnote.viewers.scene.compose import compose

SHARES_SERVER = True
VIEWPORT = (1300, 1000)
DATA = Path(__file__).parents[1] / "unit" / "results" / "data"
LYSOZYME = Path(__file__).parents[1] / "engines" / "data" / "t4-lysozyme-l99a.pdb"
_ATOMS = """id => window['viewer_' + id].selectedAtoms({}).map(
  atom => [atom.chain, atom.resi, atom.atom, atom.x, atom.y, atom.z, Object.keys(atom.style).sort().join()])"""
_COLORS = """id => window['viewer_' + id].selectedAtoms({ atom: 'CA' }).filter(atom => atom.style.cartoon).map(atom => {
  const { r, g, b } = $3Dmol.getColorFromStyle(atom, atom.style.cartoon);
  return [atom.chain, String(atom.resi), [r, g, b]];
})"""
_CODED = """id => window['viewer_' + id].selectedAtoms({ atom: 'CA' }).filter(atom => atom.style.cartoon).map(atom => {
  const { r, g, b } = $3Dmol.getColorFromStyle(atom, atom.style.cartoon);
  return [atom.resi + (atom.icode || '').trim(), [r, g, b].join()];
})"""
_PLACE = """([id, who]) => {
  const viewer = window['viewer_' + id], canvas = document.getElementById(id).querySelector('canvas').getBoundingClientRect();
  const place = viewer.modelToScreen(viewer.selectedAtoms(who)[0]);
  return [place.x - scrollX - canvas.left, place.y - scrollY - canvas.top, canvas.width, canvas.height];
}"""


@pytest.fixture(scope="module")
def notebook(notebook_page):
    """Open one notebook with its kernel for all tests of this module."""
    return notebook_page


def show(notebook, code):
    notebook.run_code(code)
    view = notebook.page.locator(".fnv-view[data-fn-state=drawn]").first
    view.wait_for()
    return view


def run_in_pymol(script, folder, *place):
    """Run a script in PyMOL and return what it shows."""
    if find_spec("pymol2") is None:
        pytest.skip("PyMOL's package has no wheel for this system")
    command = [
        sys.executable,
        str(Path(__file__).with_name("pymol_run.py")),
        str(script),
        str(folder),
        *map(str, place),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def save_script(page, view, program, folder):
    if not view.locator(".fnv-save").count():
        view.get_by_role("button", name="Save", exact=True).click()
    with page.expect_download() as download:
        view.get_by_role("button", name=program, exact=True).click()
    place = folder / download.value.suggested_filename
    download.value.save_as(place)
    return place


def place(atoms):
    """Map chain, residue number and atom name to the position, rounded to the 0.01 Å that files and pages keep."""
    return {
        (chain, int(number), name): pytest.approx((x, y, z), abs=0.011)
        for chain, number, name, x, y, z, *_ in atoms
    }


def list_places(atoms):
    return {(chain, int(number), name): (x, y, z) for chain, number, name, x, y, z, *_ in atoms}


def list_expected(structure):
    return place(structure.to_frame()[["chain", "number", "atom", "x", "y", "z"]].itertuples(index=False))


@pytest.mark.parametrize("form", ["pdb", "cif"])
def test_an_assembly_is_seen_in_place_of_what_the_file_holds(notebook, server, form):
    structure = Structure("trimer.pdb", "pdb", write_trimer("A"))
    text = structure.text if form == "pdb" else structure.to_gemmi().make_mmcif_document().as_string()
    (server.notebooks / f"trimer.{form}").write_text(text)
    notebook.run_code("1")
    notebook.execute("docmanager:open", path=f"trimer.{form}")
    view = notebook.page.locator(".jp-MainAreaWidget:not(.lm-mod-hidden) .fnv-view[data-fn-state=drawn]").last
    view.wait_for()
    menu = view.get_by_label("Biological assembly")
    before = notebook.page.evaluate(_ATOMS, view.get_attribute("id"))
    assert menu.locator("option").all_inner_texts() == ["As in the file", "Assembly 1: trimeric (author)"]
    menu.select_option(label="Assembly 1: trimeric (author)")
    expect(view.locator(".fnv-assembly")).to_contain_text("Assembly 1: trimeric (author), 1,")
    expect(view).to_have_attribute("data-fn-state", "drawn")
    after = notebook.page.evaluate(_ATOMS, view.get_attribute("id"))
    assert list_places(after) == list_expected(structure.make_assembly("1"))
    assert {atom[6] for atom in after} == {"cartoon"}, "copies have the style of their originals"
    notebook.picture(f"assembly-{form}", view)

    view.get_by_role("button", name="Show").click()
    view.get_by_role("checkbox", name="Chain A").uncheck()
    assert {atom[6] for atom in notebook.page.evaluate(_ATOMS, view.get_attribute("id"))} == {""}
    view.get_by_role("checkbox", name="Chain A").check()
    view.get_by_label("Style").select_option("sticks")
    assert {atom[6] for atom in notebook.page.evaluate(_ATOMS, view.get_attribute("id"))} == {"stick"}
    notebook.set_theme("dark")
    notebook.picture(f"assembly-dark-{form}", view)
    assert notebook.accessibility_faults(".jp-MainAreaWidget:not(.lm-mod-hidden) .fnv-view") == []
    notebook.set_theme("light")

    menu.select_option(label="As in the file")
    expect(view.locator(".fnv-assembly")).to_be_hidden()
    assert list_places(notebook.page.evaluate(_ATOMS, view.get_attribute("id"))) == list_places(before)
    notebook.execute("application:close")


_LINES = """([tools, width]) => {
  tools.closest('.fnv-view').style.width = `${width}px`;
  const tops = Array.from(tools.querySelectorAll('button, select')).filter(each => each.offsetWidth).map(each => Math.round(each.getBoundingClientRect().bottom));
  return [...new Set(tops)].map(top => tops.filter(other => other === top).length);
}"""


def test_the_menu_of_assemblies_leaves_no_button_alone_in_a_line(notebook, server):
    (server.notebooks / "trimer.pdb").write_text(write_trimer("A"))
    view = show(notebook, "import foldnote as fn\nfn.view('trimer.pdb')")
    tools = view.locator(".fnv-tools").element_handle()
    lines = {width: notebook.page.evaluate(_LINES, [tools, width]) for width in range(230, 1100, 10)}
    assert {width: found for width, found in lines.items() if found[-1] == 1} == {}


def test_an_interface_of_the_file_is_shown_where_the_file_has_its_chains(notebook, server):
    """In the assembly, chain C has moved, and chain A has not."""
    moved = write_trimer("C", [(TURN, SHIFTS[0])])
    head, _, atoms = moved.partition("REMARK 350 APPLY THE FOLLOWING TO CHAINS: C\n")
    stays = "".join(
        f"REMARK 350   BIOMT{row} {1:3d} {row == 1:9.6f} {row == 2:9.6f} {row == 3:9.6f} {0:14.5f}\n"
        for row in (1, 2, 3)
    )
    text = f"{head}REMARK 350 APPLY THE FOLLOWING TO CHAINS: A\n{stays}REMARK 350 APPLY THE FOLLOWING TO CHAINS: C\n{atoms}"
    structure = Structure("moved.pdb", "pdb", text)
    (server.notebooks / "moved.pdb").write_text(text)
    view = show(notebook, "import foldnote as fn\nfn.view('moved.pdb')")
    menu = view.get_by_label("Biological assembly")
    menu.select_option(index=1)
    expect(view.locator(".fnv-assembly")).not_to_be_empty()
    seen = notebook.page.evaluate(_ATOMS, view.get_attribute("id"))
    assert list_places(seen) == list_expected(structure.make_assembly("1"))
    assert list_places(seen) != list_expected(structure)
    view.get_by_role("button", name="A – C").click()
    expect(view.locator(".fnv-focus")).to_contain_text("Interface of A and C")
    expect(menu).to_have_value("-1")
    seen = notebook.page.evaluate(_ATOMS, view.get_attribute("id"))
    assert list_places(seen) == list_expected(structure)


def test_a_copy_touches_its_neighbour_in_the_assembly(notebook, server):
    """The contacts of a residue include those across copies."""
    close = write_trimer("A", [(np.eye(3), (0.0, 0.0, 0.0)), (np.eye(3), (4.0, 0.0, 0.0))])
    (server.notebooks / "close.pdb").write_text(close)
    view = show(notebook, "import foldnote as fn\nfn.view('close.pdb')")
    view.get_by_label("Biological assembly").select_option(index=1)
    view.get_by_role("button", name="Sequence").click()
    view.locator(".fnv-letter").nth(10).click()
    expect(view.locator(".fnv-nearest")).to_contain_text("A-2 ")
    assert view.locator(".fnv-letter[aria-selected=true]").count() == 1


def test_atoms_near_a_covalent_bond_form_no_hydrogen_bond(notebook, server):
    """Two oxygens of the ligand are 2.2 and 2.4 Å from that of Ser 94, since they are bonded to the same carbon."""
    (server.notebooks / "acylated.pdb").write_text((DATA / "acylated_serine.pdb").read_text())
    view = show(notebook, "import foldnote as fn\nfn.view('acylated.pdb')")
    view.get_by_role("button", name="Sequence").click()
    bonds = view.locator(".fnv-bonds li")
    view.locator(".fnv-letter").nth(2).click()
    expect(view.locator(".fnv-focus")).to_contain_text("LEU 95 of chain A")
    expect(bonds).to_have_count(1)
    expect(bonds).to_contain_text("4PA 701")
    view.locator(".fnv-letter").nth(1).click()
    expect(view.locator(".fnv-focus")).to_contain_text(
        "SER 94 of chain A: 3 residues within 5 Å, 0 hydrogen bonds"
    )


def test_a_script_of_what_is_seen_shows_the_same_in_pymol(notebook, server, tmp_path):
    (server.notebooks / "trimer.pdb").write_text(write_trimer("A, C"))
    view = show(notebook, "import foldnote as fn\nfn.view('trimer.pdb', color='rainbow')")
    page, name = notebook.page, view.get_attribute("id")
    view.get_by_label("Biological assembly").select_option(index=1)
    expect(view.locator(".fnv-assembly")).not_to_be_empty()
    view.get_by_role("button", name="Show").click()
    view.get_by_role("checkbox", name="Chain C").uncheck()
    view.get_by_role("button", name="Sequence").click()
    view.locator(".fnv-letter").nth(30).click()
    expect(view.locator(".fnv-focus")).to_contain_text("SER 1021")
    page.wait_for_timeout(600)  # the camera has reached its position
    stage = view.locator(".fnv-stage")
    stage.focus()
    for key in ("ArrowLeft", "ArrowLeft", "ArrowUp", "-", "-", "-"):
        page.keyboard.press(key)
    seen, colors = page.evaluate(_ATOMS, name), page.evaluate(_COLORS, name)
    x, y, width, height = page.evaluate(_PLACE, [name, {"chain": "A", "resi": 1021, "atom": "CA"}])
    script = save_script(page, view, "PyMOL", tmp_path)
    notebook.picture("view-save-scripts", view)
    found = run_in_pymol(script, tmp_path, 'chain "A" and resi 1021 and name CA', round(width), round(height))

    shown = [atom for atom in seen if atom[6]]
    assert script.suffix == ".pml"
    assert {atom[0] for atom in shown} == {"A", "A-2", "A-3"}
    assert list_places(found["atoms"]) == place(shown)
    assert found["shown"]["cartoon"] == sum("cartoon" in atom[6] for atom in shown)
    assert found["shown"]["sticks"] == sum("stick" in atom[6] for atom in shown) > 20
    assert found["shown"]["spheres"] == found["shown"]["surface"] == 0
    assert {(chain, number): pytest.approx(color, abs=0.01) for chain, number, color in found["cartoon"]} == {
        (chain, number): tuple(color) for chain, number, color in colors
    }
    assert len(found["lines"]) == view.locator(".fnv-bonds li").count() > 0
    middle_x, middle_y, size = found["ball"]
    assert size > 10
    assert (middle_x, middle_y) == pytest.approx((x, y), abs=3)


def test_ligands_surfaces_and_spheres_are_in_the_script(notebook, server, tmp_path):
    (server.notebooks / "lysozyme.pdb").write_text(LYSOZYME.read_text())
    view = show(notebook, "import foldnote as fn\nfn.view('lysozyme.pdb')")
    page, name = notebook.page, view.get_attribute("id")
    counts = {}
    for style in ("surface", "spheres"):
        view.get_by_label("Style").select_option(style)
        found = run_in_pymol(save_script(page, view, "PyMOL", tmp_path), tmp_path)
        shown = [atom for atom in page.evaluate(_ATOMS, name) if atom[6]]
        assert list_places(found["atoms"]) == place(shown)
        counts[style] = found["shown"]
        assert found["shown"]["spheres"] == sum("sphere" in atom[6] for atom in shown)
        assert found["shown"]["sticks"] == sum("stick" in atom[6] for atom in shown)
    assert counts["surface"]["surface"] == counts["surface"]["cartoon"] > 1000
    assert counts["spheres"]["surface"] == counts["spheres"]["cartoon"] == 0


def test_residues_with_insertion_codes_are_distinguished_in_both_formats(notebook, server):
    """For example 52, 52A and 52B of antibodies in Kabat numbering; 3Dmol.js reads insertion codes only from PDB files."""
    structure = gemmi.read_structure(str(LYSOZYME))
    for place, (number, code) in enumerate([(50, " "), (50, "A"), (50, "B"), (51, " ")]):
        structure[0][0][49 + place].seqid = gemmi.SeqId(number, code)
    (server.notebooks / "codes.pdb").write_text(structure.make_pdb_string())
    (server.notebooks / "codes.cif").write_text(structure.make_mmcif_document().as_string())
    looks = []
    for name in ("codes.pdb", "codes.cif"):
        view = show(notebook, f"import foldnote as fn\nfn.view('{name}', color='rainbow')")
        view.get_by_label("Colour by").select_option("hydrophobicity")
        looks.append(notebook.page.evaluate(_CODED, view.get_attribute("id")))
    assert looks[0] == looks[1]
    assert len({number for number, _ in looks[1]}) == len(looks[1]) == 162
    view.get_by_role("button", name="Sequence").click()
    view.locator(".fnv-letter").nth(50).click()
    expect(view.locator(".fnv-focus")).to_contain_text(f"{structure[0][0][50].name} 50A of chain A")
    assert view.locator(".fnv-letter[aria-selected=true]").evaluate_all(
        "all => all.map(each => each.title)"
    ) == [f"Chain A · {gemmi.find_tabulated_residue(structure[0][0][50].name).one_letter_code} 50A"]


_MEASURE = """id => {
  const viewer = window['viewer_' + id], atoms = viewer.selectedAtoms({ atom: 'CA' });
  const across = atoms.map(atom => [viewer.modelToScreen(atom).x, atom]).sort((a, b) => a[0] - b[0]).map(each => each[1]);
  const ends = [across[0], across[across.length - 1]];
  ends.forEach(atom => atom.callback(atom, viewer, {}));
  const canvas = document.getElementById(id).querySelector('canvas').getBoundingClientRect();
  return ends.map(atom => viewer.modelToScreen(atom)).map(at => [at.x - scrollX - canvas.left, at.y - scrollY - canvas.top]);
}"""
_AMBER = """(canvas, [from, to]) => {
  const flat = document.createElement('canvas'), scale = canvas.width / canvas.getBoundingClientRect().width;
  flat.width = canvas.width; flat.height = canvas.height;
  flat.getContext('2d').drawImage(canvas, 0, 0);
  let count = 0;
  for (let share = 0.15; share < 0.4; share += 0.005) {
    const [x, y] = [0, 1].map(axis => Math.round(scale * (from[axis] + share * (to[axis] - from[axis]))));
    const data = flat.getContext('2d').getImageData(x - 2, y - 2, 5, 5).data;
    for (let i = 0; i < data.length; i += 4) if (data[i] > data[i + 2] + 60 && data[i + 1] > data[i + 2] + 20) count += 1;
  }
  return count;
}"""


def test_a_measured_distance_has_its_line_in_the_picture_and_in_the_script(notebook, server, tmp_path):
    (server.notebooks / "lysozyme.pdb").write_text(LYSOZYME.read_text())
    view = show(notebook, "import foldnote as fn\nfn.view('lysozyme.pdb')")
    view.get_by_role("button", name="Show").click()
    view.get_by_role("checkbox", name="Ligands").uncheck()
    view.get_by_role("button", name="Measure").click()
    ends = notebook.page.evaluate(_MEASURE, view.get_attribute("id"))
    expect(view.locator(".fnv-measured li")).to_have_count(1)
    view.get_by_role("checkbox", name="Chain A").uncheck()  # which would come before the line
    notebook.page.wait_for_timeout(300)
    assert view.locator("canvas").first.evaluate(_AMBER, ends) > 20
    view.get_by_role("checkbox", name="Chain A").check()
    assert run_in_pymol(save_script(notebook.page, view, "PyMOL", tmp_path), tmp_path)["lines"] == ["line_1"]


def run_for_chimerax(script, monkeypatch):
    """Return the commands that a script gives ChimeraX, and the texts of the files that it opens, without running
    ChimeraX.
    """
    commands, opened = [], []

    def run(session, command):
        if command.startswith("open "):
            opened.append(Path(command[len('open "') : -1]).read_text())
            return [types.SimpleNamespace(id_string=str(7 + len(opened)))]
        commands.append(command)
        return None

    core = types.ModuleType("chimerax.core.commands")
    core.run = run
    for module in ("chimerax", "chimerax.core"):
        monkeypatch.setitem(sys.modules, module, types.ModuleType(module))
    monkeypatch.setitem(sys.modules, "chimerax.core.commands", core)
    exec(compile(ast.parse(script.read_text()), str(script), "exec"), {"session": object()})
    return commands, opened


def test_a_script_for_chimerax_has_the_atoms_and_the_camera_of_that_for_pymol(
    notebook, server, tmp_path, monkeypatch
):
    (server.notebooks / "trimer.pdb").write_text(write_trimer("A, C"))
    view = show(notebook, "import foldnote as fn\nfn.view('trimer.pdb')")
    view.get_by_label("Biological assembly").select_option(index=1)
    expect(view.locator(".fnv-assembly")).not_to_be_empty()
    notebook.page.wait_for_timeout(300)
    pymol = run_in_pymol(save_script(notebook.page, view, "PyMOL", tmp_path), tmp_path)
    commands, (text,) = run_for_chimerax(save_script(notebook.page, view, "ChimeraX", tmp_path), monkeypatch)

    assert list_places(pymol["atoms"]) == list_expected(Structure("open.cif", "mmcif", text))
    assert "cartoon #8/A:991-1069" in commands
    assert 'cartoon #8::chain_id="A-2" & #8:991-1069' in commands
    matrix = np.array(
        next(line for line in commands if line.startswith("view matrix camera ")).split()[-1].split(","),
        float,
    ).reshape(3, 4)
    turn, (distance,), centre = (
        np.array(pymol["view"][:9]).reshape(3, 3),
        pymol["view"][11:12],
        np.array(pymol["view"][12:15]),
    )
    assert matrix[:, :3] == pytest.approx(turn, abs=1e-3), "PyMOL writes the same matrix column by column"
    assert matrix[:, 3] == pytest.approx(centre - matrix[:, 2] * distance, abs=0.05)


def test_names_of_a_file_are_only_names_in_a_script(notebook, server, tmp_path, monkeypatch):
    lines = LYSOZYME.read_text().splitlines(keepends=True)
    odd = [
        f"{line[:17]}{chr(34) * 3 if line.startswith('HETATM') else line[17:20]} {chr(34)}{line[22:]}"
        if line.startswith(("ATOM", "HETATM"))
        else line
        for line in lines
    ]
    (server.notebooks / "odd.pdb").write_text("".join(odd))
    view = show(notebook, "import foldnote as fn\nfn.view('odd.pdb')")
    found = run_in_pymol(save_script(notebook.page, view, "PyMOL", tmp_path), tmp_path)
    commands, (text,) = run_for_chimerax(save_script(notebook.page, view, "ChimeraX", tmp_path), monkeypatch)
    shown = [atom for atom in notebook.page.evaluate(_ATOMS, view.get_attribute("id")) if atom[6]]
    assert {atom[0] for atom in shown} == {'"'}
    assert len(found["atoms"]) == len(shown) == len(Structure("a.cif", "mmcif", text).to_frame())
    assert found["shown"]["sticks"] > 0
    assert any(line.startswith("cartoon #8::chain_id=") for line in commands)


def test_a_page_has_what_writes_scripts_and_a_view_of_another_version_says_so(
    chromium, notebook, server, tmp_path
):
    page_file = write_page(tmp_path / "page.html", "Lysozyme", [compose(Structure.open(LYSOZYME))])
    context = chromium.new_context()
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    page.goto(page_file.as_uri())
    view = page.locator(".fnv-view[data-fn-state=drawn]")
    view.wait_for()
    script = save_script(page, view, "PyMOL", tmp_path)
    assert script.read_text().startswith("# Written by foldnote")
    context.close()

    (server.notebooks / "lysozyme.pdb").write_text(LYSOZYME.read_text())
    view = show(
        notebook,
        "import foldnote as fn\nscene = fn.view('lysozyme.pdb')\n"
        "html = scene._repr_mimebundle_()['text/html']\n"
        "import re\nfrom IPython.display import HTML\nHTML(re.sub(r'view-script.js[?]v=\\w+', 'view-script.js?v=older', html))",
    )
    view.get_by_role("button", name="Save", exact=True).click()
    view.get_by_role("button", name="PyMOL", exact=True).click()
    expect(view.locator(".fnv-save output")).to_contain_text("the server has another version")
    expect(view.locator(".fnv-save output")).to_contain_text('save("view.pml")')
    assert find_place(view.locator(".fnv-save"))["width"] > 300
