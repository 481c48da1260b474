"""Outputs of notebooks: plain py3Dmol draws offline, and our widgets leave readable text in the saved notebook."""

import nbformat
import pytest
from playwright.sync_api import expect

_VIEW = """
import py3Dmol
view = py3Dmol.view(width=300, height=200)
view.addModel("ATOM      1  CA  ALA A   1       0.000   0.000   0.000  1.00  0.00           C\\n"
              "ATOM      2  CA  ALA A   2       3.800   0.000   0.000  1.00  0.00           C\\n", "pdb")
view.setStyle({"sphere": {"color": "spectrum"}})
view.zoomTo()
view.show()
"""
_WIDGET = """
import ipywidgets
from IPython.display import display
slider = ipywidgets.IntSlider(description="alive")
bundle = slider._repr_mimebundle_()
bundle["application/vnd.foldnote.widget+json"] = {"version": 1}
bundle["text/html"] = (
    "<style>.fnc { border-left: 4px solid red }</style>"
    "<p class='fnc'>The saved text<img src=x onerror='window.hacked = 1'></p>"
)
display(bundle, raw=True)
"""


SHARES_SERVER = True


@pytest.fixture(scope="module")
def notebook(shared_lab):
    """Open this module's page, which has no 3D view yet."""
    shared_lab.server.write_notebook("plain.ipynb", "1 + 1")
    shared_lab.open("plain.ipynb")
    return shared_lab


def test_3dmol_is_loaded_by_the_first_view_only(notebook):
    notebook.run_all()
    assert notebook.page.evaluate("typeof window.$3Dmolpromise.then") == "function"
    assert notebook.page.evaluate("typeof window.$3Dmol") == "undefined"


def test_py3dmol_draws_without_a_network(notebook, server):
    server.write_notebook("view.ipynb", _VIEW)
    notebook.turn_to("view.ipynb")
    notebook.run_all()
    counted = notebook.wait_until_drawn(notebook.page.locator(".jp-OutputArea canvas").first)
    assert counted["drawn"] > 500
    assert server.refused == []


def test_a_live_widget_is_shown_and_works(notebook, server):
    server.write_notebook("live.ipynb", _WIDGET, "slider.value")
    notebook.turn_to("live.ipynb")
    notebook.run_all()
    handle = notebook.page.locator(".jp-OutputArea .noUi-handle, .jp-OutputArea .slider-container").first
    handle.wait_for()
    notebook.page.wait_for_timeout(500)
    assert notebook.page.locator(".fn-WidgetOutput-saved").count() == 0


def test_a_widget_without_its_kernel_shows_what_was_saved(notebook, server):
    server.write_notebook("saved.ipynb", _WIDGET)
    notebook.turn_to("saved.ipynb")
    notebook.run_all()
    notebook.page.locator(".jp-OutputArea .widget-slider").wait_for()
    notebook.save()
    notebook.execute("kernelmenu:shutdown")
    notebook.open("saved.ipynb")
    notebook.page.locator(".jp-OutputArea").get_by_text("The saved text", exact=True).wait_for()
    notebook.page.wait_for_timeout(500)
    assert "Error displaying widget" not in "".join(notebook.outputs())
    assert notebook.page.evaluate("window.hacked") is None
    card = notebook.page.locator(".fn-WidgetOutput-saved .fnc")
    assert card.evaluate("card => getComputedStyle(card).borderLeftWidth") == "4px", "it keeps its styles"


def test_an_untrusted_notebook_shows_the_saved_text_sanitised(notebook, server):
    data = {
        "application/vnd.foldnote.widget+json": {"version": 1},
        "application/vnd.jupyter.widget-view+json": {
            "model_id": "gone",
            "version_major": 2,
            "version_minor": 0,
        },
        "text/html": "<p>The saved text<script>window.hacked = 1</script></p>",
    }
    cell = nbformat.v4.new_code_cell("form", outputs=[nbformat.v4.new_output("display_data", data=data)])
    server.write_notebook("stranger.ipynb", cell)
    notebook.turn_to("stranger.ipynb")
    notebook.page.get_by_text("The saved text").wait_for()
    assert notebook.page.evaluate("window.hacked") is None


def test_an_error_is_a_sentence_and_the_debugger_opens_behind_it(notebook, server):
    server.write_notebook("debugged.ipynb", "import foldnote as fn\nfn.open_result('missing.zip')")
    notebook.turn_to("debugged.ipynb")
    notebook.run_all()
    output = notebook.page.locator(".jp-OutputArea-output").first
    expect(output).to_contain_text("Line 2 of the cell. %tb shows the traceback.")
    assert len(output.inner_text().strip().splitlines()) <= 3
    notebook.page.evaluate(
        """() => { const notebook = window.jupyterapp.shell.currentWidget.content;
                   notebook.model.sharedModel.insertCell(1, { cell_type: 'code', source: '%debug' });
                   notebook.activeCellIndex = 1;
                   void window.jupyterapp.commands.execute('notebook:run-cell'); }"""
    )
    prompt = notebook.page.locator(".jp-Stdin-input:visible")
    expect(prompt).to_have_count(1)
    prompt.fill("p type(__import__('sys').last_value).__name__")
    prompt.press("Enter")
    expect(notebook.page.locator(".jp-Cell").nth(1)).to_contain_text("Error'")
    expect(prompt.last).to_have_value("")
    prompt.last.fill("q")
    prompt.last.press("Enter")
    notebook.wait_for_kernel()


def test_a_page_that_is_older_than_foldnote_offers_to_be_reloaded(lab, server):
    later = _WIDGET.replace('{"version": 1}', '{"version": 2}').replace(
        "display(bundle", 'bundle.pop("application/vnd.jupyter.widget-view+json")\ndisplay(bundle'
    )
    server.write_notebook("later.ipynb", later)
    packed = {"jupyterlab": {"_build": {"load": "static/remoteEntry.of-another-build.js"}}}
    lab.page.route("**/extensions/foldnote/package.json*", lambda route: route.fulfill(json=packed))
    lab.open("later.ipynb")
    lab.run_all()
    output = lab.page.locator(".fn-WidgetOutput-saved")
    expect(output).to_contain_text("foldnote has been updated since this page was opened. Reload this page")
    expect(output).to_contain_text("The saved text")
    lab.picture("page-older-than-foldnote", output)
    lab.save()
    lab.page.unroute("**/extensions/foldnote/package.json*")
    with lab.page.expect_event("load"):
        output.get_by_role("link", name="Reload this page").click()
    lab.page.locator(".jp-OutputArea", has_text="The saved text").wait_for()
    lab.page.wait_for_timeout(500)
    assert lab.page.locator(".fn-WidgetOutput-updated").count() == 0
