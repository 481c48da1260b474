"""The same form in Notebook 7 and in Voilà: shown, filled in, judged and read back by the kernel."""

import ast
import sys

import pytest
from form_schema import FEATURES
from lab_page import LabPage
from lab_server import ROOT, LabServer
from playwright.sync_api import expect

CELL = f"import foldnote as fn\nform = fn.form({FEATURES!r})\nform"

_IS_IDLE = "window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel?.status === 'idle'"


class Notebook7(LabServer):
    """A server that shows notebooks one a page."""

    def command(self):
        return [
            *(sys.executable, "-m", "notebook", "--no-browser", "--allow-root", "--ip=127.0.0.1"),
            *(f"--port={self.port}", "--ServerApp.port_retries=0", f"--ServerApp.base_url={self.base_url}"),
            *(f"--IdentityProvider.token={self.token}", f"--ServerApp.root_dir={self.notebooks}"),
            "--JupyterNotebookApp.expose_app_in_browser=True",
        ]


class Voila(LabServer):
    """A server that runs a notebook for each visitor and shows its outputs only."""

    def command(self):
        return [
            *(sys.executable, "-m", "jupyter_server", "--no-browser", "--allow-root", "--ip=127.0.0.1"),
            *(f"--port={self.port}", "--ServerApp.port_retries=0", f"--ServerApp.base_url={self.base_url}"),
            *(f"--IdentityProvider.token={self.token}", f"--ServerApp.root_dir={self.notebooks}"),
            "--ServerApp.jpserver_extensions={'voila.server_extension': True}",
        ]


@pytest.fixture
def opened(request, chromium, tmp_path):
    """The page of a front end on a notebook with one form, which it has run."""
    server = request.param[0](tmp_path / "server", engine_path=ROOT / "tests" / "engines")
    server.write_notebook("forms.ipynb", CELL)
    server.start()
    context = chromium.new_context(viewport={"width": 1200, "height": 1000})
    context.set_default_timeout(60_000)
    page = LabPage(context, server)
    page.page.goto(f"{server.url}{request.param[1]}?token={server.token}")
    if request.param[0] is Notebook7:
        page.page.wait_for_selector(".jp-Notebook .jp-Cell")
        page.page.wait_for_function(_IS_IDLE)
        page.execute("notebook:run-all-cells")
    yield page
    context.close()
    server.stop()


@pytest.mark.parametrize(
    "opened",
    [
        pytest.param((Notebook7, "notebooks/forms.ipynb"), id="notebook 7"),
        pytest.param((Voila, "voila/render/forms.ipynb"), id="voila"),
    ],
    indirect=True,
)
def test_a_form_works_as_in_jupyterlab(request, opened):
    form = opened.page.locator(".foldnote-form")
    form.wait_for(timeout=60_000)
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
    form.get_by_role("button", name="Copy as Python").click()
    expect(form.locator(".fn-code pre")).to_contain_text("'letter': 'H'")
    value = ast.literal_eval(form.locator(".fn-code pre").inner_text().partition("=")[2].strip())
    assert (value["name"], value["range"], value["chains"]) == ("run-1", "3-9", [{"letter": "H"}])
    opened.picture(f"form-in-{request.node.callspec.id}".replace(" ", "-"))
    assert opened.accessibility_faults(".foldnote-form") == []
    # Notebook 7.6.5 trips over its own settings while it starts, also in an environment without our extension
    assert [fault for fault in opened.faults if "reading 'schema'" not in fault] == []
