"""Widgets whose code loads after anywidget's time limit, as on a slow or busy computer, still receive messages from
their kernel.
"""

from pathlib import Path

import pytest
from lab_page import LabPage
from playwright.sync_api import expect

SHARES_SERVER = True

DATA = Path(__file__).parents[1] / "unit" / "results" / "data"
_PLAIN = """
import anywidget, traitlets


class Plain(anywidget.AnyWidget):
    _esm = '''
      function render({ model, el }) {
        const show = () => { el.textContent = `The count is ${model.get('count')}`; };
        show();
        model.on('change:count', show);
      }
      export default { render };
    '''
    count = traitlets.Int(0).tag(sync=True)


plain = Plain()
plain
"""
_EXPLORER = f"""
import foldnote as fn

explorer = fn.explore({str(DATA / "trastuzumab_fv_ca.pdb")!r})
explorer
"""
_BOX = f"""
from foldnote.viewers import edit_box

editor = edit_box(open({str(DATA / "abl_pocket.pdb")!r}).read(), [15, 53, 16, 20, 20, 20], [4, 60])
editor
"""
_GRAPH = """
from foldnote.viewers.card.stage_graph import StageGraph, StageNode

graph = StageGraph()
graph
"""
_TABLE = """
from foldnote.viewers.card.batch_card import LiveTable
from foldnote.viewers.display.batch_rows import BatchRow

table = LiveTable("panel", "", [BatchRow("panel.first", "Running")])
table
"""
_FORM = """
ligands = {"type": "array", "items": {"type": "string"}, "title": "Ligands", "x-foldnote": {"role": "smiles"}}
form = fn.form({"title": "Molecules", "type": "object", "properties": {"ligands": ligands}})
form
"""


@pytest.fixture(scope="module")
def notebook(window, server):
    """Open a page where the time limit for widgets is zero, with one cell for each widget that has its own JavaScript."""
    server.write_notebook("late_widgets.ipynb", "1")
    page = LabPage(window, server, slowness=0)
    page.open("late_widgets.ipynb")
    page.run_code(_PLAIN, _EXPLORER, _BOX, _GRAPH, _TABLE, _FORM)
    yield page
    page.close()


def _execute(notebook: LabPage, code: str) -> None:
    """Execute code in the notebook's kernel, outside the cells."""
    notebook.page.evaluate(
        """code => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel
             .requestExecute({ code, store_history: false }).done.then(() => null)""",
        code,
    )


def _evaluate(notebook: LabPage, code: str) -> str:
    """Evaluate an expression in the notebook's kernel."""
    found: str = notebook.page.evaluate(
        """code => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel
             .requestExecute({ code: '', store_history: false, user_expressions: { code } }).done
             .then(({ content }) => content.user_expressions.code.data['text/plain'])""",
        code,
    )
    return found


def test_anywidget_itself_does_not_hear_its_kernel(notebook):
    """When this fails, anywidget has fixed the fault, and `foldnote.live_widget` is no longer needed."""
    expect(notebook.page.get_by_text("The count is 0")).to_be_visible()
    _execute(notebook, "plain.count = 7")
    notebook.catch_up()
    expect(notebook.page.get_by_text("The count is 0")).to_be_visible()
    assert any("Failed to initialize model" in fault for fault in notebook.faults)


def test_the_explorer_marks_what_python_selects(notebook):
    bar = notebook.page.locator(".fne-bar")
    expect(bar).to_contain_text("0 residues selected")
    _execute(notebook, 'explorer.select("L", [1, 2, 3])')
    expect(bar).to_contain_text("3 residues selected")


def test_python_still_hears_the_explorer(notebook):
    bar = notebook.page.locator(".fne-bar")
    _execute(notebook, 'explorer.select("H", [1, 2])')
    expect(bar).to_contain_text("2 residues selected")
    bar.get_by_role("button", name="Clear").click()
    notebook.catch_up()
    assert _evaluate(notebook, "len(explorer.selection)") == "0"


def test_the_graph_of_a_pipeline_shows_its_stages(notebook):
    _execute(
        notebook, 'graph.show([StageNode(name, "", "anarci", (None,), ()) for name in ("first", "second")])'
    )
    expect(notebook.page.get_by_role("button", name="second: ANARCI")).to_be_visible()


def test_the_table_of_a_batch_shows_what_comes_later(notebook):
    _execute(notebook, 'table.show([BatchRow("panel.late", "Running")])')
    expect(notebook.page.locator(".fnv-table").get_by_text("panel.late")).to_be_visible()


def test_the_box_follows_its_numbers(notebook):
    said = notebook.page.locator(".fnv-box output")
    expect(said).to_contain_text("20")
    _execute(notebook, "editor.box = [15, 53, 16, 33, 20, 20]")
    expect(said).to_contain_text("33")


def test_the_form_opens_the_editor_that_the_kernel_sends(notebook):
    form = notebook.page.locator(".foldnote-form")
    form.get_by_role("button", name="Draw Ligands").click()
    dialog = notebook.page.get_by_role("dialog", name="Draw: Ligands")
    expect(dialog.get_by_label("Drawing of the molecule")).to_be_visible()
    notebook.page.keyboard.press("Escape")


def test_a_widget_hears_what_was_sent_before_it_was_loaded(notebook):
    notebook.run_code(
        """
table = LiveTable("panel", "", [])
display(table)
table.show([BatchRow("panel.early", "Running")])
"""
    )
    expect(notebook.page.locator(".fnv-table").get_by_text("panel.early")).to_be_visible()
