"""Notebook 7 and Voilà: forms work with the kernel as in JupyterLab; Notebook 7 also has the panels for which it has
room.
"""

import ast
import shutil
import sys

import pytest
from form_schema import FEATURES
from lab_page import LabPage
from lab_server import ROOT, LabServer
from playwright.sync_api import expect

VH = "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVARIYPTNGYTRYADSVKGRFTISADTSKNTAYLQMNSLRAEDTAVYYCSRWGGDGFYAMDYWGQGTLVTVSS"
JOB = f"import foldnote as fn\nfn.submit('anarci', sequence='{VH}', job_name='made.structure').wait()"
UNRUN = f"def unrun():\n    return fn.submit('anarci', sequence='{VH}', scheme='imgt', job_name='not-yet')"
LIGAND = {"type": "string", "title": "Ligand", "x-foldnote": {"role": "smiles"}}
SCHEMA = FEATURES | {"properties": FEATURES["properties"] | {"ligand": LIGAND}}
CELL = f"import foldnote as fn\nform = fn.form({SCHEMA!r})\nform"

_IS_IDLE = "window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel?.status === 'idle'"


class Notebook7(LabServer):
    """A Notebook 7 server, with one notebook per page."""

    def command(self):
        return [
            *(sys.executable, "-m", "notebook", "--no-browser", "--allow-root", "--ip=127.0.0.1"),
            *(f"--port={self.port}", "--ServerApp.port_retries=0", f"--ServerApp.base_url={self.base_url}"),
            *(f"--IdentityProvider.token={self.token}", f"--ServerApp.root_dir={self.notebooks}"),
            "--JupyterNotebookApp.expose_app_in_browser=True",
        ]


class Voila(LabServer):
    """A Voilà server, which runs a notebook for each visitor and shows only its outputs."""

    def command(self):
        return [
            *(sys.executable, "-m", "jupyter_server", "--no-browser", "--allow-root", "--ip=127.0.0.1"),
            *(f"--port={self.port}", "--ServerApp.port_retries=0", f"--ServerApp.base_url={self.base_url}"),
            *(f"--IdentityProvider.token={self.token}", f"--ServerApp.root_dir={self.notebooks}"),
            "--ServerApp.jpserver_extensions={'voila.server_extension': True}",
        ]


@pytest.fixture(scope="module")
def notebook_7(tmp_path_factory):
    """Start a server with a notebook of forms, one of a job, and a structure."""
    server = Notebook7(tmp_path_factory.mktemp("notebook-7"), engine_path=ROOT / "tests" / "engines")
    server.write_notebook("forms.ipynb", CELL)
    server.write_notebook("work.ipynb", JOB)
    server.write_notebook("unrun.ipynb", "import foldnote as fn", UNRUN)
    shutil.copy(ROOT / "tests/unit/results/data/trastuzumab_fv_ca.pdb", server.notebooks / "fv.pdb")
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def voila(tmp_path_factory):
    """Start a server with a notebook of forms."""
    server = Voila(tmp_path_factory.mktemp("voila"), engine_path=ROOT / "tests" / "engines")
    server.write_notebook("forms.ipynb", CELL)
    server.start()
    yield server
    server.stop()


@pytest.fixture
def opened(request, window):
    """Open a notebook that the front end has run; the parameter names the server's fixture and the path."""
    server = request.getfixturevalue(request.param[0])
    lab = LabPage(window, server)
    lab.page.set_viewport_size({"width": 1200, "height": 1000})
    lab.page.goto(f"{server.url}{request.param[1]}?token={server.token}")
    if isinstance(server, Notebook7):
        lab.page.wait_for_selector(".jp-Notebook .jp-Cell")
        lab.page.wait_for_function(_IS_IDLE, polling=100)
        lab.execute("notebook:run-all-cells")
    yield lab
    lab.close()


@pytest.mark.parametrize(
    "opened",
    [
        pytest.param(("notebook_7", "notebooks/forms.ipynb"), id="notebook 7"),
        pytest.param(("voila", "voila/render/forms.ipynb"), id="voila"),
    ],
    indirect=True,
)
def test_a_form_works_as_in_jupyterlab(request, opened):
    form = opened.page.locator(".foldnote-form")
    form.wait_for()
    opened.page.locator(".foldnote-form.fn-live").wait_for()
    slider, box = form.get_by_label("Cycles on a slider"), form.locator(".fn-slides input[type=text]")
    slider.fill("4")
    expect(box).to_have_value("4")
    form.get_by_role("button", name="Reset Cycles. The default is 3").click()
    expect(box).to_have_value("3")
    form.get_by_label("Name", exact=False).first.fill("A")
    expect(form.locator(".fn-error").first).to_contain_text("the shortest allowed is 2")
    form.get_by_label("Name", exact=False).first.fill("run-1")
    expect(form.locator(".fn-error")).to_have_count(0)
    form.get_by_label("Task").select_option("mask")
    form.get_by_label("Range").fill("3-9")
    form.get_by_role("button", name="Add chain").click()
    form.locator(".foldnote-row input").first.fill("H")
    form.get_by_role("button", name="Draw Ligand").click()
    editor = opened.page.get_by_role("dialog", name="Draw: Ligand")
    editor.get_by_label("Drawing tools").click(position={"x": 32, "y": 201})
    editor.get_by_label("Drawing of the molecule").click(position={"x": 300, "y": 200})
    editor.get_by_role("button", name="Use molecule").click()
    expect(form.get_by_label("Ligand", exact=True)).to_have_value("c1ccccc1")
    form.get_by_role("button", name="Copy as Python").click()
    expect(form.locator(".fn-code pre")).to_contain_text("'letter': 'H'")
    value = ast.literal_eval(form.locator(".fn-code pre").inner_text().partition("=")[2].strip())
    assert (value["name"], value["range"], value["chains"]) == ("run-1", "3-9", [{"letter": "H"}])
    opened.picture(f"form-in-{request.node.callspec.id}".replace(" ", "-"))
    assert opened.accessibility_faults(".foldnote-form") == []
    # Notebook 7.6.5 throws over its own settings while it starts, also in an environment without our
    # extension
    assert [fault for fault in opened.faults if "reading 'schema'" not in fault] == []


@pytest.mark.parametrize("opened", [("notebook_7", "notebooks/work.ipynb")], ids=["work"], indirect=True)
def test_sidebar_results_and_structure_files_work_in_notebook_7(opened):
    page = opened.page
    page.get_by_role("menuitem", name="Protein Analysis").click()
    page.get_by_role("menuitem", name="Show Tools").click()
    sidebar = page.locator("#foldnote-sidebar")
    sidebar.get_by_role("button", name="New cell with the form of ANARCI").click()
    expect(page.locator(".foldnote-form.fn-live")).to_contain_text("ANARCI")
    sidebar.get_by_role("tab", name="Jobs").click()
    sidebar.locator("[data-job='made.structure']").dblclick()
    result = page.locator(".fn-ResultPanel")
    expect(result.locator("h2", has_text="made.structure")).to_be_visible()
    expect(result.locator("canvas").first).to_be_visible()
    assert result.bounding_box()["height"] > 300
    opened.picture("result-in-notebook-7")
    assert opened.accessibility_faults("#foldnote-sidebar") == []
    page.goto(f"{opened.server.url}edit/fv.pdb")
    expect(page.locator("canvas").first).to_be_visible()
    expect(page.locator("body")).to_contain_text("Chain H")


@pytest.mark.parametrize("opened", [("notebook_7", "notebooks/unrun.ipynb")], ids=["unrun"], indirect=True)
def test_the_settings_of_a_cell_open_as_a_form_in_notebook_7(opened):
    page = opened.page
    page.locator(".jp-CodeCell").nth(1).click()
    page.get_by_role("menuitem", name="Protein Analysis").click()
    page.get_by_role("menuitem", name="Open the Settings of This Cell as a Form").click()
    form = page.locator(".foldnote-form.fn-live")
    expect(form.get_by_label("Job name")).to_have_value("not-yet")
    expect(form.locator("textarea").first).to_have_value(VH)
    page.locator(".jp-CodeCell").nth(1).click(button="right")
    expect(
        page.locator(".lm-Menu-content").get_by_text("Open the Settings of This Cell as a Form")
    ).to_be_visible()
    opened.picture("form-of-cell-in-notebook-7")
    page.keyboard.press("Escape")
    assert len(opened.cells()) == 3
