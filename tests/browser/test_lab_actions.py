"""Actions of the panel other than those on jobs: menus, launcher, palette, choices, settings, folders, uploads, notices.

The tests share one page with a real service, and submit jobs directly to the service.
"""

import os
import re
import signal
import time

import httpx
import pytest
from lab_page import find_place
from lab_server import service_of
from patience import PATIENCE_S
from playwright.sync_api import expect

SEQUENCE = "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVARIYPTNGYTRYADSVKGRFTISADTSKNTAYLQMNSLRAEDTAVYYCSRWGGDGFYAMDYWGQGTLVTVSS"
OF_JOBS = (
    *(
        "Open the Result",
        "Insert a Cell That Loads the Job",
        "Open the Job's Settings as a Form",
        "Stop",
        "Delete",
    ),
    *("Compare in a Cell", "Download the Result", "Copy the Name", "Tag …"),
)
COMMANDS = {
    *(f"{label} (Selected Jobs)" for label in OF_JOBS),
    *("Refresh Jobs, Tools and Files", "Connect to a Service …", "Notify in the Browser When Jobs End"),
    *("Show Jobs", "Show Tools", "Show Files", "Show Engines on This Computer", "New cell: AbodyBuilder"),
}
RECORDER = """
() => {
  const Real = window.Notification;
  window.shown = [];
  window.Notification = class {
    constructor(text, options) { window.shown.push(text); }
    close() {}
    static get permission() { return Real.permission; }
    static requestPermission() { return Real.requestPermission(); }
  };
  document.hasFocus = () => false;
}
"""
LIFE = """
() => {
  window.life = [];
  new MutationObserver(() => document.querySelectorAll('.fn-Upload').forEach(row => window.life.push(row.innerText)))
    .observe(document.querySelector('#foldnote-sidebar'), { subtree: true, childList: true, characterData: true });
}
"""


LOADED = """
() => performance.getEntriesByType('resource').filter(each => each.name.includes('/extensions/foldnote/static/'))
  .map(each => each.initiatorType)
"""


@pytest.fixture(scope="module")
def lab(shared_lab, server):
    """Open the page, with its service started and reachable."""
    server.write_settings("foldnote:plugin", {"browserNotifications": True})
    shared_lab.open()
    sidebar = shared_lab.show_sidebar("jobs", 300)
    expect(sidebar.get_by_text("No jobs yet")).to_be_visible()
    return shared_lab


def ask(server, route, **body):
    """Send a request directly to the service."""
    service = service_of(server)
    with httpx.Client(base_url=service["url"], headers={"x-api-key": service["key"]}, timeout=60) as client:
        assert client.post(route, json=body).status_code == 200


def submit(server, name):
    """Submit a job directly to the service."""
    ask(server, "/submit-job", jobName=name, type="anarci", settings={"sequence": SEQUENCE, "scheme": "imgt"})


def end_unseen(lab, server, name):
    """Submit a job that the page sees running, and stop it while another view is in front."""
    submit(server, name)
    expect(row_of(lab, name)).to_contain_text("Running")
    lab.execute("filebrowser:activate")
    ask(server, "/stop-job", jobName=name)


def row_of(lab, name):
    return lab.show_sidebar("jobs", 300).locator(f"[data-job='{name}']")


def test_a_card_of_the_launcher_makes_a_notebook_with_the_form(lab):
    lab.execute("launcher:create")
    lab.page.locator(".jp-LauncherCard[title^='Predicts the structure']:visible").first.click()
    lab.page.locator(".jp-Notebook .jp-InputPrompt", has_text="[1]:").wait_for()
    assert lab.cells()[0] == 'import foldnote as fn\n\nfn.form("abodybuilder")'


def test_the_launcher_has_its_cards_before_the_service_has_answered(lab, server):
    held = []
    lab.page.route("**/foldnote/api/tools", lambda route: held.append(route))
    lab.open()
    cards = lab.page.locator(".jp-LauncherCard:visible")
    for label in (
        "Browse All Tools",
        "Example Notebook",
        "AbodyBuilder",
    ):  # the last one is the tool used most recently
        expect(cards.filter(has_text=label)).to_have_count(1)
    # the entry preloads the plugins, and the styles follow after the start; views are loaded when they are first shown
    lab.page.wait_for_function(f"({LOADED.strip()})().length === 3")
    assert lab.page.evaluate(LOADED) == ["script", "link", "script"]
    lab.page.unroute("**/foldnote/api/tools")
    for route in held:
        route.continue_()


def test_the_main_menu_has_the_tools_by_family_the_views_and_the_service(lab):
    sidebar = lab.show_sidebar("tools", 300)
    expect(sidebar.get_by_role("button", name="New cell with the form of AbodyBuilder")).to_be_visible()
    bar = lab.page.locator("#jp-MainMenu")
    bar.get_by_text("Protein Analysis").click()
    menu = lab.page.locator(".lm-Menu")
    for label in ("Show Jobs", "Show Tools", "Show Files", "Show Engines on This Computer", "Refresh"):
        expect(menu.get_by_text(label, exact=True)).to_be_visible()
    expect(menu.get_by_text("Connect to a Service …")).to_be_visible()
    active = menu.locator(".lm-Menu-item.lm-mod-active")
    lab.page.keyboard.press("ArrowDown")
    expect(active).to_have_count(1)  # the first entry
    lab.page.keyboard.press("ArrowRight")  # into its submenu
    expect(menu.get_by_text("All Tools …")).to_be_visible()
    expect(active).to_have_count(2)
    lab.page.keyboard.press("ArrowRight")  # into the first family, which depends on the installed engines
    expect(menu).to_have_count(3)
    expect(active).to_have_count(3)
    members = menu.last.locator(".lm-Menu-itemLabel").all_inner_texts()
    for member in members:
        expect(
            sidebar.get_by_role("button", name=f"New cell with the form of {member}", exact=True)
        ).to_be_visible()
    assert members
    lab.picture("main-menu")
    while menu.count() > 0:
        lab.page.keyboard.press("Escape")
    bar.get_by_text("Protein Analysis").click()
    menu.get_by_text("Show Files", exact=True).click()
    expect(lab.page.get_by_role("tab", name="Files", exact=True, selected=True)).to_be_visible()


def test_every_action_is_in_the_command_palette(lab, server):
    submit(server, "in-the-palette")
    row_of(lab, "in-the-palette").click()
    lab.execute("apputils:activate-command-palette")
    lab.page.locator(".lm-CommandPalette-input").fill("protein analysis")
    items = lab.page.locator(".lm-CommandPalette-itemLabel")
    for late in ("New cell: AbodyBuilder", "Delete (Selected Jobs)"):  # known when the service has answered
        expect(items.filter(has_text=late)).to_be_visible()
    assert set(items.all_inner_texts()) >= COMMANDS
    lab.picture("palette")
    lab.page.keyboard.press("Escape")


def test_keys_select_all_and_delete_after_asking(lab, server):
    submit(server, "second")
    expect(row_of(lab, "second")).to_be_visible()
    sidebar = lab.show_sidebar("jobs", 300)
    sidebar.get_by_role("treegrid").focus()
    lab.page.keyboard.press("ControlOrMeta+a")
    expect(sidebar.get_by_role("row", selected=True)).to_have_count(2)
    lab.page.keyboard.press("Delete")
    dialog = lab.page.get_by_role("dialog")
    expect(dialog).to_contain_text("Delete 2 jobs?")
    dialog.get_by_role("button", name="Cancel").click()
    sidebar.get_by_role("treegrid").focus()
    lab.page.keyboard.press("Home")
    lab.page.keyboard.press("Shift+F10")
    expect(lab.page.locator(".lm-Menu").get_by_text("Copy the Name")).to_be_visible()
    lab.page.keyboard.press("Escape")


_NOTE_FIRST_GAP = """
new MutationObserver(() => {
  const tab = document.querySelector('#foldnote-sidebar [role=tab]');
  if (tab && window.firstGap === undefined) {
    window.firstGap = getComputedStyle(tab).getPropertyValue('--fn-gap');
  }
}).observe(document, { childList: true, subtree: true });
"""
"""Record whether the style sheets apply when the first tab is added to the document: one of their lengths, or an
empty text.
"""


def test_order_groups_filter_and_what_rows_show_are_kept_after_a_reload(lab, server):
    sidebar = lab.show_sidebar("jobs", 300)
    sidebar.get_by_label("Order").select_option("name")
    sidebar.get_by_label("Groups").select_option("tool")
    sidebar.get_by_role("button", name="Complete, 2 jobs").click()
    sidebar.get_by_role("button", name="Choose the details shown in rows").click()
    sidebar.get_by_role("menuitemcheckbox", name="Age").click()
    lab.page.keyboard.press("Escape")
    details = "tool score duration progress tags reason"
    kept = {"state": "complete", "sort": "name", "grouping": "tool", "whose": "mine", "details": details}
    lab.page.add_init_script(_NOTE_FIRST_GAP)
    lab.reopen(lambda saved: saved.get("foldnote:choices") == kept)
    # the sidebar opens again, and never without its style sheets, which JupyterLab starts without
    lab.page.wait_for_function("window.firstGap !== undefined")
    assert lab.page.evaluate("window.firstGap") == "8px"
    sidebar = lab.show_sidebar("jobs", 300)
    expect(sidebar.get_by_label("Order")).to_have_value("name")
    expect(sidebar.get_by_label("Groups")).to_have_value("tool")
    expect(sidebar.get_by_role("button", name="Complete, 2 jobs")).to_have_attribute("aria-pressed", "true")
    sidebar.get_by_role("button", name="All, 2 jobs").click()
    sidebar.get_by_label("Order").select_option("newest")
    sidebar.get_by_label("Groups").select_option("none")
    expect(sidebar.locator(".fn-JobRow-tool")).to_have_count(2)
    expect(sidebar.locator(".fn-JobRow-age")).to_have_count(0)
    sidebar.get_by_role("button", name="Choose the details shown in rows").click()
    sidebar.get_by_role("menuitemcheckbox", name="Age").click()
    expect(sidebar.locator(".fn-JobRow-age")).to_have_count(2)
    lab.page.keyboard.press("Escape")


def test_a_folder_is_created_opened_filled_and_deleted(lab):
    sidebar = lab.show_sidebar("files", 300)
    sidebar.get_by_role("button", name="New folder").click()
    name_box = sidebar.get_by_label("Folder name")
    name_box.fill("targets & more")
    name_box.press("Enter")  # focuses it again: JupyterLab, which was just opened, may have taken the focus
    expect(sidebar.get_by_text("No files in this folder")).to_be_visible()
    for name in ("one.pdb", "two.pdb"):
        file = {"name": name, "mimeType": "", "buffer": b"ATOM"}
        sidebar.get_by_label("Files to upload").set_input_files(file)
        expect(sidebar.get_by_role("listitem").filter(has_text=name)).to_contain_text("4 B")
    lab.picture("files-folder", sidebar)
    sidebar.get_by_role("button", name="All files").click()
    folder = sidebar.get_by_role("listitem").filter(has_text="targets & more")
    expect(folder).to_be_visible()
    folder.get_by_role("button", name="targets & more", exact=True).click()
    expect(sidebar.get_by_role("listitem")).to_have_count(2)
    sidebar.get_by_role("button", name="All files").click()
    folder.hover()
    sidebar.get_by_role("button", name="Delete the folder targets & more").click()
    dialog = lab.page.get_by_role("dialog")
    expect(dialog).to_contain_text("Every file in it and in its folders is deleted.")
    dialog.get_by_role("button", name="Delete").click()
    expect(sidebar.get_by_text("No files yet")).to_be_visible()


def test_an_upload_is_dragged_into_a_cell(lab):
    sidebar = lab.show_sidebar("files", 300)
    file = {"name": "dragged.pdb", "mimeType": "", "buffer": b"ATOM"}
    sidebar.get_by_label("Files to upload").set_input_files(file)
    lab.execute("notebook:create-new", kernelName="python3")
    editor = lab.page.locator(".jp-Notebook:visible .jp-Cell .cm-content").last
    start, end = find_place(sidebar.locator(".fn-File", has_text="dragged.pdb")), find_place(editor)
    lab.page.mouse.move(start["x"] + 60, start["y"] + start["height"] / 2)
    lab.page.mouse.down()
    lab.page.mouse.move(end["x"] + 30, end["y"] + end["height"] / 2, steps=12)
    lab.page.mouse.up()
    expect(editor).to_contain_text('fn.uploaded("dragged.pdb")')


def test_an_upload_resumes_after_the_pages_connection_broke(lab, tmp_path):
    (tmp_path / "long.pdb").write_bytes(b"ATOM\n" * 2_400_000)
    sidebar = lab.show_sidebar("files", 300)
    lab.page.evaluate(LIFE)
    offsets = []

    def cut_once(route):
        if route.request.method == "PUT":
            offsets.append(int(re.search(r"offset=(\d+)", route.request.url)[1]))
            if len(offsets) == 2:
                route.abort()
                return
        route.continue_()

    lab.page.route("**/foldnote/api/files/uploads/*", cut_once)
    sidebar.get_by_label("Files to upload").set_input_files(tmp_path / "long.pdb")
    expect(sidebar.get_by_role("listitem").filter(has_text="long.pdb")).to_contain_text("12 MB")
    lab.page.unroute("**/foldnote/api/files/uploads/*")
    assert offsets == [0, 4 * 1024**2, 4 * 1024**2, 8 * 1024**2]
    assert any(
        "The connection was lost. The upload will resume" in text for text in lab.page.evaluate("window.life")
    )


def test_an_upload_is_passed_on_again_after_the_service_was_killed(lab, server, tmp_path):
    (tmp_path / "longer.pdb").write_bytes(b"ATOM\n" * 8_000_000)
    sidebar = lab.show_sidebar("files", 300)
    before = service_of(server)["pid"]
    offsets = []
    lab.page.on("request", lambda request: offsets.append(request.url) if request.method == "PUT" else None)
    os.kill(before, signal.SIGSTOP)  # it accepts what fits into its socket buffers
    sidebar.get_by_label("Files to upload").set_input_files(tmp_path / "longer.pdb")
    expect(sidebar.locator(".fn-Upload")).to_contain_text("Sending to the service")
    lab.picture("upload-passing", sidebar)
    os.kill(before, signal.SIGKILL)
    listed = sidebar.get_by_role("listitem").filter(has_text="longer.pdb")
    expect(listed).to_contain_text("40 MB")
    assert len(offsets) == len(set(offsets)), "a part was sent twice"
    assert service_of(server)["pid"] != before


def test_the_browser_shows_no_notification_without_permission(lab, server):
    lab.page.evaluate(RECORDER)
    end_unseen(lab, server, "untold.hold")
    expect(lab.page.get_by_role("alert").filter(has_text="untold.hold")).to_be_visible()
    assert lab.page.evaluate("window.shown") == []


def test_the_browser_notifies_of_a_job_that_ends_while_the_page_is_hidden(lab, server):
    lab.page.context.grant_permissions(["notifications"], origin=server.url.rstrip("/"))
    end_unseen(lab, server, "told.hold")
    lab.page.wait_for_function("window.shown.length > 0")
    assert any("Stopped: told.hold" in text for text in lab.page.evaluate("window.shown"))


def test_the_pace_of_the_settings_editor_is_what_the_page_asks_for(lab):
    asked = []
    lab.page.on("request", lambda request: asked.append(request.url))
    lab.execute("settingeditor:open", query="Protein analysis")
    lab.page.locator(".jp-SettingsPanel input[id$=pollSeconds]").fill("7")
    end = time.monotonic() + PATIENCE_S
    while not [url for url in asked if "pause_s=7" in url] and time.monotonic() < end:
        lab.execute("foldnote:refresh")
    assert [url for url in asked if "pause_s=7" in url]


def test_no_request_leaves_this_computer(server):
    assert server.refused == []
