"""The job card in real JupyterLab, with the embedded service and the probe engine."""

import fcntl
import json
import os
import re
import signal
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from lab_page import find_place
from patience import PATIENCE_S
from playwright.sync_api import expect
from probe_engine import release

VH = "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVARIYPTNGYTRYADSVKGRFTISADTSKNTAYLQMNSLRAEDTAVYYCSRWGGDGFYAMDYWGQGTLVTVSS"
VL = "DIQMTQSPSSLSASVGDRVTITCRASQDVNTAVAWYQQKPGKAPKLLIYSASFLYSGVPSRFSGSRSGTDFTLTISSLQPEDFATYYCQQHYTTPPTFGQGTKVEIK"
_SUBMIT = f"""
import os
os.environ["FOLDNOTE_SERVICE_START_TIMEOUT_S"] = "2"
import foldnote as fn

fn.submit("abodybuilder", heavy="{VH}", light="{VL}", job_name="NAME")
"""
_TEXT_AND_FRAME = """
node => {
  const range = document.createRange();
  range.selectNodeContents(node);
  return [range, node].map(each => each.getBoundingClientRect().toJSON());
}
"""
_IS_AT_TOP = """
node => {
  const range = document.createRange();
  range.selectNodeContents(node);
  return range.getBoundingClientRect().top >= node.getBoundingClientRect().top;
}
"""
SHARES_SERVER = True


@pytest.fixture(scope="module")
def notebook(notebook_page):
    """Open one notebook with its kernel for all tests of this module."""
    return notebook_page


@pytest.fixture
def submit(notebook):
    """Submit a job to the probe, which behaves as the job's name says, and return the job's card."""

    def submit(name: str):
        notebook.run_code(_SUBMIT.replace("NAME", name))
        card = notebook.page.locator(".foldnote-card")
        expect(card).to_contain_text(name)
        return card

    return submit


def output(notebook):
    return notebook.page.locator(".jp-Cell-outputArea").first


def service_pid(server) -> int:
    return int(json.loads((server.home / "run" / "service.json").read_text())["pid"])


def processes_with(words: str) -> list[str]:
    found = []
    for environment in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if words.encode() in environment.read_bytes():
                found.append(environment.parent.name)
    return found


@contextmanager
def service_that_cannot_start(server):
    """Hold the lock of the service, so that a new one cannot start."""
    with (server.home / "data" / "service" / "service.lock").open("r+") as lock:
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            with suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            time.sleep(0.02)
        yield


def test_a_card_follows_its_job_and_shows_the_result_below(submit, notebook):
    card = submit("followed.chatter-9.hold")
    expect(card.get_by_role("progressbar")).to_be_visible()
    expect(card).to_contain_text("Held by its test")
    card.get_by_role("button", name="Log").click()
    expect(card.get_by_label("Log", exact=True)).to_contain_text("line 8")
    notebook.picture("card-running", output(notebook))
    for theme in ("light", "dark"):
        notebook.set_theme(theme)
        assert notebook.accessibility_faults(".foldnote-card") == []
    notebook.picture("card-dark", output(notebook))
    notebook.set_theme("light")
    release("followed.chatter-9.hold")
    expect(card).to_contain_text("Complete")
    expect(output(notebook)).to_contain_text("Probe of the tests")
    expect(card.get_by_role("button", name="Stop")).to_be_hidden()
    expect(card.get_by_role("button", name="Show result")).to_be_hidden()
    notebook.picture("card-complete", output(notebook))


def test_screen_readers_hear_changes_of_state_in_one_region_that_stays(submit, notebook):
    card = submit("spoken.hold")
    region = card.get_by_role("status")
    expect(region).to_have_count(1)
    expect(region).to_have_text(re.compile(r"spoken\.hold: (In Queue|Running)"))
    region.evaluate(
        "region => { window.spokenRegion = region; window.ended = [];"
        " document.addEventListener('fn-job-ended', event => window.ended.push(event.detail.job)); }"
    )
    release("spoken.hold")
    expect(region).to_have_text("spoken.hold: Complete")
    assert region.evaluate("region => region === window.spokenRegion")
    assert region.evaluate("() => window.ended") == ["spoken.hold"]  # the list of jobs need not wait


def test_buttons_are_separate_from_the_text(submit, notebook):
    card = submit("apart")
    expect(card).to_contain_text("Complete")
    words, button = card.locator(".fnc").bounding_box(), card.get_by_role("button", name="Log").bounding_box()
    assert button["y"] - words["y"] - words["height"] >= 4
    assert button["y"] + button["height"] + 4 <= card.bounding_box()["y"] + card.bounding_box()["height"]


def test_a_complete_job_is_continued_below_its_card(submit, notebook):
    notebook.run_code(
        "fn.job('apart').tag('lead series', '2026-11')\nfn.job('apart').note('Repeat with AHo.\\nAsk Ada.')"
    )
    card = submit("apart")
    expect(card).to_contain_text("lead series")
    expect(card).to_contain_text("Ask Ada.")
    card.get_by_role("button", name="Continue with…").click()
    tools = card.get_by_label("Continue with", exact=True)
    tools.select_option(label=tools.locator("option", has_text="ABB4").first.inner_text())
    expect(card.get_by_role("button", name="Submit", exact=True)).to_be_visible()
    expect(card.get_by_label("Heavy chain").first).to_have_value(VH)
    for theme in ("dark", "light"):
        notebook.set_theme(theme)
        notebook.picture(f"card-continued-{theme}", output(notebook))
    assert notebook.accessibility_faults(".foldnote-card .widget-dropdown") == []


def test_the_result_of_a_complete_job_opens_in_a_tab_beside_the_notebook(submit, notebook):
    card = submit("in-a-tab")
    expect(card).to_contain_text("Complete")
    button = card.get_by_role("button", name="Open in tab")
    button.focus()
    notebook.page.keyboard.press("Enter")
    tab = notebook.page.locator(".lm-DockPanel-tabBar .lm-TabBar-tab", has_text="in-a-tab")
    expect(tab).to_be_visible()
    expect(notebook.page.get_by_role("heading", name="in-a-tab").first).to_be_visible()
    tab.locator(".lm-TabBar-tabCloseIcon").click()
    expect(button).to_be_visible()


def test_stopping_asks_first_and_leaves_no_process(submit, notebook, server):
    card = submit("stopped.child.hold")
    expect(card).to_contain_text("Held by its test")
    attempts = (server.home / "data" / "service" / "jobs").rglob("spec.json")
    attempt = max(attempts, key=lambda path: path.stat().st_mtime)
    nonce = json.loads(attempt.read_text())["nonce"]
    assert processes_with(nonce)
    card.get_by_role("button", name="Stop").click()
    card.get_by_role("button", name="Stop it now?").click()
    expect(card).to_contain_text("Stopped")
    expect(card.get_by_role("button", name="Run again")).to_be_visible()
    card.get_by_role("button", name="Edit settings").click()
    expect(card).to_contain_text("These are the settings of stopped.child.hold.")
    expect(card.get_by_role("button", name="Submit")).to_be_visible()
    notebook.picture("card-stopped", output(notebook))
    assert processes_with(nonce) == []


def test_a_failure_says_why_and_shows_its_log(submit, notebook):
    card = submit("bound-to.chatter-3.fail")
    expect(card).to_contain_text("Failed")
    expect(card).to_contain_text("The probe was asked to fail.")
    card.get_by_role("button", name="Log").click()
    expect(card.get_by_label("Log", exact=True)).to_contain_text("line 2")
    notebook.picture("card-failed", output(notebook))
    assert notebook.accessibility_faults(".foldnote-card") == []


def test_a_log_is_shown_from_its_end(submit, notebook):
    card = submit("end-first.chatter-60.fail")
    expect(card).to_contain_text("Failed")
    card.get_by_role("button", name="Log").click()
    log = card.get_by_label("Log", exact=True)
    expect(log).to_contain_text("The probe was asked to fail.")
    text, frame = log.evaluate(_TEXT_AND_FRAME)
    assert text["top"] < frame["top"] - 200
    assert abs(frame["bottom"] - text["bottom"]) < 20
    log.press("Home")
    notebook.page.wait_for_function(_IS_AT_TOP, arg=log.element_handle())


def test_a_card_outlives_its_service(submit, notebook, server):
    card = submit("survivor.hold")
    expect(card).to_contain_text("Held by its test")
    killed = service_pid(server)
    os.kill(killed, signal.SIGKILL)
    with service_that_cannot_start(server):
        expect(card).to_contain_text("No update")
        expect(card).to_contain_text("It last answered at")
        notebook.picture("card-outage", output(notebook))
    release("survivor.hold")
    expect(card).not_to_contain_text("No update")
    expect(card).to_contain_text("Complete")
    assert service_pid(server) != killed


def test_a_page_that_was_loaded_again_can_show_the_result(submit, notebook):
    card = submit("reloaded.hold")
    notebook.save()
    notebook.open("job_cards.ipynb")
    release("reloaded.hold")
    expect(card).to_contain_text("Complete")
    offer = card.get_by_role("button", name="Show result")
    expect(offer).to_be_visible()
    notebook.picture("card-reloaded", output(notebook))
    offer.click()
    expect(card).to_contain_text("Probe of the tests")
    expect(offer).to_be_hidden()
    notebook.picture("card-reloaded-shown", output(notebook))


def test_no_request_leaves_this_computer(notebook, server):
    assert notebook.outside == []
    assert notebook.faults == []
    assert server.refused == []


_BATCH = f"""
import foldnote as fn, pandas as pd
names = ["rows-a.hold", "rows-b.fail", "rows-c.score"]
table = pd.DataFrame({{"id": names, "heavy": "{VH}", "light": ["{VL}"[: 107 - n] for n in range(3)]}})
fn.submit_batch("abodybuilder", table, batch_name="rows")
"""


def test_the_table_of_a_batch_is_live_and_its_rows_open_their_results(notebook):
    notebook.run_code(_BATCH)
    card, table = output(notebook).locator(".foldnote-card"), output(notebook).locator(".fnv-table").first
    expect(table).to_contain_text("Running")
    table.get_by_role("button", name="name").click()
    table.get_by_role("button", name="name").click()
    table.get_by_role("button", name="rows-a.hold").click()
    expect(table).to_contain_text("its result appears here")
    release("rows-a.hold")
    expect(card).to_contain_text("2 of 3 jobs complete, 1 failed")
    expect(card).to_contain_text(".retry()")
    pane = table.get_by_role("region", name="Result of rows-a.hold")
    expect(pane).to_contain_text("Probe of the tests")  # sort order and open row are kept
    assert [text.split(".")[0] for text in table.locator(".fnt-open").all_inner_texts()] == [
        "rows-c",
        "rows-b",
        "rows-a",
    ]
    table.locator(".fnt-open").nth(2).press("ArrowUp")
    expect(table.locator(".fnt-open").nth(1)).to_be_focused()
    notebook.page.keyboard.press("Enter")
    expect(table.get_by_role("region", name="Result of rows-b.fail")).to_contain_text("asked to fail")
    assert notebook.accessibility_faults(".fnv-table") == []
    notebook.picture("batch-rows", output(notebook))
    place = find_place(table.locator(".fnt-open").nth(2))
    notebook.page.mouse.move(place["x"] + 9, place["y"] + 9)
    notebook.page.mouse.down()
    table.locator(".fnt-box").evaluate("box => box.dispatchEvent(new Event('scroll'))")
    notebook.page.mouse.up()
    expect(pane).to_contain_text("Probe of the tests")  # works even if the row was redrawn during the click
