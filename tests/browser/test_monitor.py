"""Finished jobs, actions on several jobs, two pages at once, and a key that is revoked.

The tests share one page with a real service, and submit jobs directly to the service.
"""

import json
import re
import subprocess
import sys
import time

import httpx
import pytest
from lab_page import LabPage
from lab_server import service_of
from patience import PATIENCE_S
from playwright.sync_api import expect

SETTINGS = {
    "sequence": "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVARIYPTNGYTRYADSVKG",
    "scheme": "imgt",
}
MEMBER = "ann@lab.org"


@pytest.fixture(scope="module")
def lab(shared_lab, server):
    """Open the page, with its service reachable; no deletion takes effect during the tests."""
    server.write_settings("foldnote:plugin", {"undoSeconds": 60})
    shared_lab.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    shared_lab.open()
    expect(shared_lab.show_sidebar("jobs", 320).get_by_text("No jobs yet")).to_be_visible()
    return shared_lab


def ask(server, route, key=None, **body):
    """Send a request directly to the service."""
    service = service_of(server)
    headers = {"x-api-key": key or service["key"]}
    with httpx.Client(base_url=service["url"], headers=headers, timeout=60) as client:
        assert client.post(route, json=body).status_code == 200


def submit(server, name, key=None):
    ask(server, "/submit-job", key, jobName=name, type="anarci", settings=SETTINGS)


def administer(server, *arguments):
    """Run ``foldnote admin`` on the folder of the page's service."""
    folder = str(server.home / "data" / "service")
    command = [sys.executable, "-m", "foldnote", "admin", "--data-dir", folder, "--json", *arguments]
    said = subprocess.run(command, capture_output=True, check=True, env=server.environment())
    return json.loads(said.stdout)


def row_of(lab, name):
    return lab.show_sidebar("jobs", 320).locator(f"[data-job='{name}']")


def follow(lab, is_there):
    """Wait for a condition while refreshing the list of jobs; by default the page polls at most twelve times a minute."""
    end = time.monotonic() + PATIENCE_S
    while not is_there():
        assert time.monotonic() < end
        lab.execute("foldnote:refresh")
        lab.page.wait_for_timeout(100)


def see(lab, name, text):
    """Wait until a job's row shows ``text``."""
    row = row_of(lab, name)
    follow(lab, lambda: row.filter(has_text=text).count() == 1)


def hear(lab, text):
    """Return the notice with ``text`` as soon as it appears."""
    notice = lab.page.get_by_role("alert").filter(has_text=text)
    follow(lab, lambda: notice.count() > 0)
    return notice


def told(lab):
    """Return the number of notifications, from JupyterLab's counter in the status bar."""
    text = lab.page.locator(".jp-Notification-Status").inner_text()
    return int(re.search(r"\d+", text)[0])


def wait_until_saved(lab, server, name, value):
    """Wait until the settings editor has saved a setting, which it does with a delay."""
    end = time.monotonic() + PATIENCE_S
    while json.loads(server.request("lab/api/settings/foldnote:plugin")[1])["settings"].get(name) != value:
        assert time.monotonic() < end, f"{name} is not saved"
        lab.page.wait_for_timeout(100)


def test_several_jobs_are_tagged_downloaded_and_named_together(lab, server):
    for name in ("first.structure", "second.structure"):
        submit(server, name)
        see(lab, name, "Complete")
    sidebar = lab.show_sidebar("jobs", 320)
    row_of(lab, "first.structure").click()
    row_of(lab, "second.structure").click(modifiers=["Shift"])
    sidebar.get_by_role("button", name="Tag the selected jobs").click()
    dialog = lab.page.get_by_role("dialog")
    expect(dialog).to_contain_text("Tags of 2 jobs")
    dialog.get_by_role("textbox").fill("together")
    dialog.get_by_role("button", name="Ok").click()
    for name in ("first.structure", "second.structure"):
        expect(row_of(lab, name).locator(".fn-Tag")).to_have_text("together")
    saved = []
    lab.page.on("download", lambda download: saved.append(download.suggested_filename))
    sidebar.get_by_role("button", name="Download the results of the selected jobs").click()
    follow(lab, lambda: len(saved) == 2)
    assert set(saved) == {"first.structure.zip", "second.structure.zip"}
    row_of(lab, "first.structure").click(button="right")
    lab.page.locator(".lm-Menu").get_by_text("Copy the Name", exact=True).click()
    for _ in range(100):
        copied = lab.page.evaluate("navigator.clipboard.readText()")
        if sorted(copied.split("\n")) == ["first.structure", "second.structure"]:
            break
        lab.page.wait_for_timeout(100)
    assert sorted(copied.split("\n")) == ["first.structure", "second.structure"]


def test_a_deletion_is_undone_by_keyboard_and_from_the_palette(lab):
    sidebar = lab.show_sidebar("jobs", 320)
    leaving = sidebar.get_by_text("Deletion pending.")
    for undo in ("ControlOrMeta+z", "palette"):
        row_of(lab, "first.structure").click()
        sidebar.get_by_role("treegrid").focus()
        lab.page.keyboard.press("Delete")
        lab.page.get_by_role("dialog").get_by_role("button", name="Delete").click()
        expect(leaving).to_have_count(1)
        if undo == "palette":
            lab.execute("foldnote:keep-job")
        else:
            sidebar.get_by_role("treegrid").focus()
            lab.page.keyboard.press(undo)
        expect(leaving).to_have_count(0)
    expect(row_of(lab, "first.structure")).to_contain_text("Complete")


def test_a_job_that_ends_in_the_list_one_looks_at_is_reported_without_a_pop_up(lab, server):
    submit(server, "looked-at.hold")
    see(lab, "looked-at.hold", "Running")
    before = told(lab)
    ask(server, "/stop-job", jobName="looked-at.hold")
    follow(lab, lambda: told(lab) > before)
    expect(lab.page.get_by_role("alert").filter(has_text="looked-at.hold")).to_have_count(0)
    assert told(lab) == before + 1


def test_a_batch_is_reported_once(lab, server):
    names = [f"row-{number}.hold" for number in range(3)]
    ask(server, "/submit-batch", batchName="panel", type="anarci", settings=[SETTINGS] * 3, jobNames=names)
    see(lab, "panel", "0 of 3")
    before = told(lab)
    lab.execute("filebrowser:activate")
    ask(server, "/stop-job", jobName="panel")
    expect(hear(lab, "panel")).to_contain_text("Stopped: panel (ANARCI")
    submit(server, "after-the-batch.hold")  # a notice about its rows would come before this one
    lab.show_sidebar("jobs", 320)
    see(lab, "after-the-batch.hold", "Running")
    lab.execute("filebrowser:activate")
    ask(server, "/stop-job", jobName="after-the-batch.hold")
    hear(lab, "after-the-batch")
    assert told(lab) == before + 2


def test_the_title_of_the_tab_counts_jobs_that_ended_while_it_was_hidden(lab, server):
    lab.page.evaluate("document.hasFocus = () => false")
    names = [f"counted-{number}.hold" for number in range(2)]
    ask(server, "/submit-batch", batchName="counted", type="anarci", settings=[SETTINGS] * 2, jobNames=names)
    submit(server, "counted-too.hold")
    for name in ("counted", "counted-too.hold"):
        see(lab, name, "Running")
        ask(server, "/stop-job", jobName=name)
        see(lab, name, "Stopped")
    expect(lab.page).to_have_title(re.compile(r"^\(2\) [^(]"))
    lab.page.evaluate("document.title = 'another - JupyterLab'")
    expect(lab.page).to_have_title("(2) another - JupyterLab")
    lab.page.evaluate("document.hasFocus = () => true; window.dispatchEvent(new Event('focus'))")
    expect(lab.page).to_have_title("another - JupyterLab")


def test_nothing_is_reported_when_the_settings_editor_says_so(lab, server):
    lab.execute("settingeditor:open", query="Protein analysis")
    box = lab.page.locator(".jp-SettingsPanel input[id$=_notifications]")
    box.uncheck()
    wait_until_saved(lab, server, "notifications", False)
    submit(server, "untold.hold")
    see(lab, "untold.hold", "Running")
    before = told(lab)
    ask(server, "/stop-job", jobName="untold.hold")
    see(lab, "untold.hold", "Stopped")
    assert told(lab) == before
    box.check()


def test_the_colours_of_the_settings_editor_are_those_that_results_begin_with(lab, server):
    box = lab.page.locator(".jp-SettingsPanel select[id$=_colors]")
    box.select_option(label="Rainbow along each chain")
    wait_until_saved(lab, server, "colors", "rainbow")
    colours = lab.page.locator(".fn-ResultPanel:visible").get_by_label("Colour by")

    def is_taken():  # saved settings reach the page with a delay
        row_of(lab, "second.structure").dblclick()
        expect(colours).to_be_visible()
        chosen = colours.input_value()
        lab.execute("application:close")
        return chosen == "rainbow"

    follow(lab, is_taken)


def test_a_file_of_the_desktop_is_dropped_into_the_files(lab):
    lab.show_sidebar("files", 320)
    held = lab.page.evaluate_handle(
        """() => {
             const data = new DataTransfer();
             data.items.add(new File(['ATOM'], 'from the desktop.pdb'));
             return data;
           }"""
    )
    view = lab.page.locator(".fn-FilesView")
    for kind in ("dragenter", "dragover"):
        view.dispatch_event(kind, {"dataTransfer": held})
    expect(view).to_have_class(re.compile("fn-mod-over"))
    view.dispatch_event("drop", {"dataTransfer": held})
    expect(view.get_by_role("listitem").filter(has_text="from the desktop.pdb")).to_contain_text("4 B")
    expect(view).not_to_have_class(re.compile("fn-mod-over"))


def test_shortcuts_lead_to_the_jobs_and_are_shown_in_menus(lab):
    lab.execute("filebrowser:activate")
    expect(lab.page.locator("#foldnote-sidebar")).to_be_hidden()
    lab.page.keyboard.press("Alt+Shift+J")
    expect(lab.page.locator("#foldnote-sidebar")).to_be_visible()
    row_of(lab, "first.structure").click(button="right")
    entry = lab.page.locator(".lm-Menu-item", has_text="Delete").last
    expect(entry.locator(".lm-Menu-itemShortcut")).to_have_text(re.compile("Del", re.IGNORECASE))
    lab.page.keyboard.press("Escape")


def test_a_second_page_sees_what_is_done_in_the_first(lab, server):
    second = LabPage(lab.page.context, server)
    second.open()
    expect(row_of(second, "second.structure").locator(".fn-Tag")).to_have_text("together")
    row_of(lab, "second.structure").click()
    lab.page.evaluate("void window.jupyterapp.commands.execute('foldnote:tag-job')")
    dialog = lab.page.get_by_role("dialog")
    dialog.get_by_role("textbox").fill("of the first page")
    dialog.get_by_role("button", name="Ok").click()
    expect(row_of(second, "second.structure").locator(".fn-Tag")).to_have_text("of the first page")
    submit(server, "seen-twice.hold")
    for page in (lab, second):
        see(page, "seen-twice.hold", "Running")
    row_of(second, "seen-twice.hold").hover()
    second.page.get_by_role("button", name="Stop seen-twice.hold").click()
    second.page.get_by_role("dialog").get_by_role("button", name="Stop").click()
    for page in (second, lab):
        expect(row_of(page, "seen-twice.hold")).to_contain_text("Stopped")
    assert second.faults == []
    second.page.close()


def connect(lab, url, key, name="hosted"):
    """Fill in and confirm the open dialog."""
    dialog = lab.page.get_by_role("dialog")
    for label, text in (("Profile name", name), ("Service address", url), ("API key", key)):
        dialog.get_by_label(label).fill(text)
    dialog.get_by_role("button", name="Test and store").click()
    expect(dialog).to_have_count(0)


def test_a_key_revoked_while_the_page_is_open_is_reported_and_replaced(lab, server):
    first = administer(server, "issue-key", MEMBER)["key"]
    submit(server, "of-the-member", first)
    lab.page.evaluate("void window.jupyterapp.commands.execute('foldnote:connect')")
    connect(lab, service_of(server)["url"], first)
    expect(row_of(lab, "of-the-member")).to_be_visible()
    administer(server, "revoke-keys", first)
    sidebar = lab.show_sidebar("jobs", 320)
    follow(lab, sidebar.get_by_text("The service “hosted” refuses the key").is_visible)
    expect(row_of(lab, "of-the-member")).to_be_visible()  # known jobs stay
    lab.picture("monitor-revoked", sidebar)
    assert lab.accessibility_faults("#foldnote-sidebar") == []
    second = administer(server, "issue-key", MEMBER)["key"]
    sidebar.get_by_role("button", name="Store a key …").click()
    connect(lab, service_of(server)["url"], second)
    expect(sidebar.get_by_text("refuses the key")).to_have_count(0)
    expect(row_of(lab, "of-the-member")).to_be_visible()


def test_the_service_of_the_settings_editor_is_the_one_that_is_shown(lab):
    lab.execute("settingeditor:open", query="Protein analysis")
    box = lab.page.locator(".jp-SettingsPanel input[id$=_profile]")
    for name, job in (("embedded", "first.structure"), ("hosted", "of-the-member")):
        box.fill(name)
        expect(lab.show_sidebar("jobs", 320).get_by_label("Service", exact=True)).to_have_value(name)
        expect(row_of(lab, job)).to_be_visible()


def test_no_request_leaves_this_computer(lab, server):
    assert lab.outside == []
    assert server.refused == []
    assert lab.faults == []
