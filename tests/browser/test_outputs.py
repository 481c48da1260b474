"""Outputs of notebooks: plain py3Dmol draws offline, and our widgets leave readable text behind."""

import nbformat
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


def test_py3dmol_draws_without_a_network(lab, server):
    server.write_notebook("view.ipynb", _VIEW)
    lab.open("view.ipynb")
    lab.run_all()
    counted = lab.wait_until_drawn(lab.page.locator(".jp-OutputArea canvas").first)
    assert counted["drawn"] > 500
    assert server.refused == []


def test_3dmol_is_loaded_by_the_first_view_only(lab, server):
    server.write_notebook("plain.ipynb", "1 + 1")
    lab.open("plain.ipynb")
    lab.run_all()
    assert lab.page.evaluate("typeof window.$3Dmolpromise.then") == "function"
    assert lab.page.evaluate("typeof window.$3Dmol") == "undefined"


def test_a_live_widget_is_shown_and_works(lab, server):
    server.write_notebook("live.ipynb", _WIDGET, "slider.value")
    lab.open("live.ipynb")
    lab.run_all()
    handle = lab.page.locator(".jp-OutputArea .noUi-handle, .jp-OutputArea .slider-container").first
    handle.wait_for()
    lab.page.wait_for_timeout(500)
    assert lab.page.locator(".fn-WidgetOutput-saved").count() == 0


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
    expect(output).to_contain_text("foldnote was updated since this page was opened. Reload this page")
    expect(output).to_contain_text("The saved text")
    lab.picture("page-older-than-foldnote", output)
    lab.save()
    lab.page.unroute("**/extensions/foldnote/package.json*")
    with lab.page.expect_event("load"):
        output.get_by_role("link", name="Reload this page").click()
    lab.page.locator(".jp-OutputArea", has_text="The saved text").wait_for()
    lab.page.wait_for_timeout(500)
    assert lab.page.locator(".fn-WidgetOutput-updated").count() == 0


def test_a_widget_without_its_kernel_shows_what_was_saved(lab, server):
    server.write_notebook("saved.ipynb", _WIDGET)
    lab.open("saved.ipynb")
    lab.run_all()
    lab.page.locator(".jp-OutputArea .widget-slider").wait_for()
    lab.save()
    lab.execute("kernelmenu:shutdown")
    lab.open("saved.ipynb", workspace="later")
    lab.page.locator(".jp-OutputArea").get_by_text("The saved text", exact=True).wait_for()
    lab.page.wait_for_timeout(500)
    assert "Error displaying widget" not in "".join(lab.outputs())
    assert lab.page.evaluate("window.hacked") is None
    card = lab.page.locator(".fn-WidgetOutput-saved .fnc")
    assert card.evaluate("card => getComputedStyle(card).borderLeftWidth") == "4px", "it keeps its styles"


def test_an_untrusted_notebook_shows_the_saved_text_sanitised(lab, server):
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
    lab.open("stranger.ipynb")
    lab.page.get_by_text("The saved text").wait_for()
    assert lab.page.evaluate("window.hacked") is None
