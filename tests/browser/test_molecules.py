"""Molecules and docked poses in real JupyterLab: seen in turn, drawn in 2D, with what they touch."""

import re
from pathlib import Path

import pytest
from lab_page import LabPage
from playwright.sync_api import Locator, expect

DATA = Path(__file__).parents[1] / "unit" / "results" / "data"
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


@pytest.fixture(scope="module")
def notebook(chromium, server):
    """A page with one notebook and its kernel, for all tests of this module."""
    context = chromium.new_context(viewport={"width": 1300, "height": 1100})
    context.set_default_timeout(30_000)
    page = LabPage(context, server)
    server.write_notebook("molecules.ipynb", "1")
    page.open("molecules.ipynb")
    page.page.keyboard.press("Control+b")
    yield page
    context.close()


def show(notebook: LabPage, code: str) -> Locator:
    """Run ``code`` and return its first view, once it is drawn."""
    notebook.run_code(code)
    view = notebook.page.locator(".fnv-view[data-fn-state=drawn]").first
    view.wait_for(timeout=60_000)
    notebook.wait_until_drawn(view.locator("canvas").first)
    return view


def test_a_pose_is_shown_with_its_drawing_and_its_hydrogen_bonds(notebook):
    view = show(notebook, _POSES)
    expect(view.locator(".fnv-panel")).to_contain_text(re.compile(r"MET A 318 N → N24, 3\.0 Å, \d+°"))
    drawing = view.get_by_role("img", name="2D drawing of imatinib")
    notebook.page.wait_for_function(
        "image => image.complete && image.naturalWidth > 100", arg=drawing.element_handle()
    )
    expect(view.locator(".fnv-legend")).to_contain_text("Hydrogen bonds, dashed")
    notebook.picture("poses-light", view)
    assert notebook.accessibility_faults(".jp-OutputArea .fnv-view") == []
    view.get_by_role("button", name="The next pose").click()
    expect(view.locator(".fnv-step")).to_contain_text("2 of 3")
    expect(view.locator(".fnv-panel")).to_contain_text("-11.29 kcal/mol")
    notebook.set_theme("dark")
    notebook.picture("poses-dark", view)
    faults = notebook.accessibility_faults(".jp-OutputArea .fnv-view")
    notebook.set_theme("light")
    assert faults == []


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


def test_no_request_leaves_this_computer(notebook, server):
    assert notebook.outside == []
    assert notebook.faults == []
    assert server.refused == []
