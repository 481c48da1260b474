"""Outputs of cells and saved notebooks, in a real kernel where only FOLDNOTE_BASE_URL and _API_KEY lead to a service."""

import json
import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from served import SETTINGS
from traitlets.config import Config

COMPLEX = Path(__file__).parents[1] / "unit/results/data/complexes/5zng.pdb.gz"
IPC = Config({"KernelManager": {"transport": "ipc"}})
COMPLETE = """
from IPython.core.completer import provisionalcompleter
with provisionalcompleter():
    for text in ("fn.tools.abody", "fn.tools.anarci(sch"):
        print([one.text for one in get_ipython().Completer.completions(text, len(text))])
"""
INTERRUPT = """
import os, signal, threading
threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()
"""
CELLS = [
    "import foldnote as fn",
    "x = 1\nfn.submit('anarci', sequence='EVQ1', scheme='imgt')",
    "%tb",
    "import sys\nprint(type(sys.last_value).__name__, sys.last_value.__traceback__ is not None)",
    f"job = fn.submit('anarci', sequence={SETTINGS['sequence'] + 'SSSKR'!r}, scheme='imgt')",
    "import asyncio\ndisplay(job)\nwhile not job.is_final:\n    await asyncio.sleep(0.1)",
    "fn.submit('anarci', job_name='kernel.chatter-3.fail', **job.settings).wait(60, progress=False)",
    "fn.form('anarci', **job.settings)",
    COMPLETE + "fn.tools.anarcy",
    "batch = fn.submit_batch('anarci', [job.settings] * 2, batch_name='kernel-batch')\nbatch",
    "done = batch.wait(60, progress=False)",
    "fn.submit('anarci', job_name='kernel.waited', **job.settings).wait(60)",
    "once = fn.submit('anarci', job_name='kernel.once', **job.settings).wait(60)",
    "early = fn.submit_batch('anarci', [job.settings] * 2, batch_name='kernel-early')\nearly",
    "while not early.is_final:\n    await asyncio.sleep(0.1)",
    "done = early.wait(60, progress=False)",
    "slow = fn.submit('anarci', job_name='kernel.sleep-5', **job.settings)\n" + INTERRUPT + "slow.wait(60)",
    "fn.submit('anarci', job_name='kernel.sleep-5', **job.settings).wait(60)",
    (
        "rows = [{**job.settings, 'id': f'kernel-lazy-{n}.sleep-9'} for n in (1, 2)]\n"
        "lazy = fn.submit_batch('anarci', rows, batch_name='kernel-lazy')\n"
        "while fn.job('kernel-lazy-1.sleep-9').status != 'Running':\n    await asyncio.sleep(0.1)\nlazy"
    ),
    f"from foldnote.results import Structure\nfn.explore(Structure.open({str(COMPLEX)!r}))",
    "gone = fn.submit('anarci', job_name='kernel.gone', **job.settings).wait(60, progress=False)\ngone.delete()\ngone",
    "late = fn.submit('anarci', job_name='kernel.late', **job.settings).wait(60, progress=False)\nlate",
    "late.delete()",
]


@pytest.fixture(scope="module")
def book(served, tmp_path_factory):
    """A notebook after its execution."""
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in CELLS])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FOLDNOTE_HOME", str(tmp_path_factory.mktemp("kernel")))
        patch.setenv("FOLDNOTE_BASE_URL", served.url)
        patch.setenv("FOLDNOTE_API_KEY", served.key)
        NotebookClient(book, timeout=120, kernel_name="python3", allow_errors=True, config=IPC).execute()
    assert served.key not in nbformat.writes(book)
    return book


@pytest.fixture(scope="module")
def cells(book):
    """Its cells."""
    return book.cells


def shown(cell):
    """Return the output of a cell as text without colours."""
    parts = [
        text
        for output in cell.outputs
        for text in (output.get("traceback"), output.get("text"), output.get("data", {}).get("text/plain"))
        if text
    ]
    lines = "\n".join("\n".join(part) if isinstance(part, list) else part for part in parts)
    return re.sub(r"\x1b\[[0-9;]*m", "", lines)


def test_an_exported_notebook_page_shows_forms_and_cards_without_kernel_and_network(book):
    """The notebook has the state of widgets, whose display in nbconvert's pages needs a script from the network."""
    from nbconvert import HTMLExporter

    assert len(book.metadata.widgets["application/vnd.jupyter.widget-state+json"]["state"]) > 10
    page, _ = HTMLExporter().from_notebook_node(book)
    text = re.sub(r"<[^>]+>", " ", page)
    assert "ANARCI: settings" in text
    assert "kernel.waited" in text
    assert '<script type="application/vnd.jupyter.widget-view+json">' not in page


def test_the_notebook_keeps_little_of_the_state_of_widgets_that_no_page_shows(book):
    state = book.metadata.widgets["application/vnd.jupyter.widget-state+json"]["state"]
    sizes = {widget["model_name"]: 0 for widget in state.values()}
    for widget in state.values():
        sizes[widget["model_name"]] = max(sizes[widget["model_name"]], len(json.dumps(widget)))
    assert sizes["AnyModel"] < 2_000
    assert "fnv-view" in book.cells[19].outputs[0].data["text/html"]


def test_a_mistake_is_a_sentence_with_its_line_and_not_a_traceback(cells):
    lines = shown(cells[1]).splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("SettingsError: The settings of anarci need attention. sequence: ")
    assert lines[1] == "Line 2 of the cell. %tb shows the traceback."


def test_an_interrupted_cell_says_that_the_job_continues_and_resumes_when_run_again(cells):
    kept = shown(cells[16]).splitlines()[-2:]
    assert (
        kept[0] == "Interrupted: Jobs that the service has accepted continue there; run this again to go on."
    )
    assert kept[1] == "Line 5 of the cell. %tb shows the traceback."
    assert "kernel.sleep-5 (ANARCI): Complete" in shown(cells[17])


def test_the_traceback_is_shown_on_request(cells):
    assert "Traceback (most recent call last)" in shown(cells[2])
    assert "submission.py" in shown(cells[2])
    assert shown(cells[3]).strip() == "SettingsError True"


def test_a_card_below_a_cell_is_kept_as_its_job_ended(cells):
    assert "There is no profile" not in shown(cells[5])
    assert "Complete" in shown(cells[5]).splitlines()[0]
    assert "In Queue" not in shown(cells[5])


def test_a_failed_job_is_reported_with_the_end_of_its_log(cells):
    assert shown(cells[6]).startswith("JobFailedError: ")
    assert "The end of its log:" in shown(cells[6])
    assert len(shown(cells[6]).splitlines()) < 12


def test_a_form_is_shown_with_these_variables_alone(cells):
    assert "settings" in shown(cells[7]).splitlines()[0]
    assert all(output.output_type != "error" for output in cells[7].outputs)


def test_names_and_settings_of_tools_are_completed(cells):
    tools, settings, *error = filter(None, shown(cells[8]).splitlines())  # printed at once or line by line
    assert (tools, settings) == ("['abodybuilder']", "['scheme=']")
    assert error[0] == "ToolFunctionError: There is no tool 'anarcy' here. Did you mean anarci?"


def test_the_card_and_the_table_of_a_batch_that_runs_say_the_same(cells):
    card, table = shown(cells[18]).partition("\n")[0], re.search(r"2 jobs: .*running", shown(cells[18]))
    assert card.startswith("kernel-lazy (ANARCI): Running: 0 of 2 jobs complete, ")
    assert card.rpartition("complete, ")[2].rstrip(".").split(", ") == table[0].partition(": ")[2].split(", ")


def test_a_batch_that_a_later_cell_waits_for_is_kept_with_its_table(cells):
    kept = shown(cells[9])
    assert kept.splitlines()[0] == "kernel-batch (ANARCI): Complete: 2 of 2 jobs complete."
    assert "2 jobs: 2 complete" in kept
    assert "Running" not in kept
    assert any(
        'class="fnv-table"' in output.get("data", {}).get("text/html", "") for output in cells[9].outputs
    )


def test_a_batch_that_had_ended_before_a_later_cell_waits_for_it_is_kept_as_it_ended(cells):
    """Messages that its card sends while another cell runs do not reach the notebook that a program saves."""
    kept = shown(cells[13])
    assert kept.splitlines()[0] == "kernel-early (ANARCI): Complete: 2 of 2 jobs complete."
    assert "2 jobs: 2 complete" in kept


def test_a_job_that_is_waited_for_and_shown_has_one_card(cells):
    assert shown(cells[11]).count("kernel.waited") == 1
    assert shown(cells[12]).count("kernel.once") == 1


def test_a_job_that_was_deleted_is_not_shown_as_if_it_were_there(cells):
    for cell in (cells[20], cells[21]):  # shown after the deletion, and before it in an earlier cell
        kept = "".join(output.get("data", {}).get("text/html", "") for output in cell.outputs)
        assert "The service no longer has a job of this name; it was deleted." in kept
