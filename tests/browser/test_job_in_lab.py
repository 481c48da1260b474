"""Jobs from their form to the sidebar, the result and back into a cell, on the service that the page starts.

The tests share one page, and later ones use the jobs of earlier ones.
"""

import json
import subprocess
import sys
from contextlib import suppress

import httpx
import pytest
from lab_page import find_place
from playwright.sync_api import Error, expect
from probe_engine import release

HEAVY = "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVARIYPTNGYTRYADSVKGRFTISADTSKNTAYLQMNSLRAEDTAVYYCSRWGGDGFYAMDYWGQGTLVTVSS"
LIGHT = "DIQMTQSPSSLSASVGDRVTITCRASQDVNTAVAWYQQKPGKAPKLLIYSASFLYSGVPSRFSGSRSGTDFTLTISSLQPEDFATYYCQQHYTTPPTFGQGTKVEIK"
MEMBER, OWN = "bob@lab.org", "local@foldnote.invalid"
START = f'import foldnote as fn\n\nfor name in NAMES:\n    fn.submit("abodybuilder", heavy="{HEAVY}", light="{LIGHT}", job_name=name)'


@pytest.fixture(scope="module")
def heard():
    """Collect everything that the page receives from its server: URL, headers and text."""
    return []


def listen(page, heard):
    """Record every response of the server except scripts, and every message of its web sockets."""

    def note(response):
        if "/static/" in response.url or "/extensions/" in response.url:
            return
        heard.append((response.url, str(response.headers)))
        # a redirect has no text, and the page may have navigated away before it was read
        with suppress(Error):
            heard.append((response.url, response.text()))

    def note_frame(socket, frame):
        text = frame if isinstance(frame, str) else frame.decode("latin-1")
        heard.append((socket.url, text))

    page.on("response", note)
    page.on(
        "websocket",
        lambda socket: socket.on("framereceived", lambda frame: note_frame(socket, frame)),
    )


@pytest.fixture(scope="module")
def lab(shared_lab, server, heard):
    """Open the module's page on a notebook with the form of AbodyBuilder in its first cell."""
    server.write_notebook("work.ipynb", 'import foldnote as fn\n\nfn.form("abodybuilder")')
    server.write_settings("foldnote:plugin", {"undoSeconds": 60})
    listen(shared_lab.page, heard)
    shared_lab.open("work.ipynb")
    shared_lab.run_all()
    expect(shared_lab.page.locator(".jp-OutputArea textarea").first).to_be_visible()
    return shared_lab


def submit(lab, *names):
    """Submit jobs from a cell of the notebook."""
    lab.page.evaluate(
        """([id, code]) => {
             const app = window.jupyterapp;
             for (const widget of app.shell.widgets('main')) {
               if (widget.context?.path === 'work.ipynb') { app.shell.activateById(widget.id); }
             }
             const notebook = app.shell.currentWidget.content;
             notebook.model.sharedModel.insertCell(notebook.widgets.length, { cell_type: 'code', source: code });
             notebook.activeCellIndex = notebook.widgets.length - 1;
           }""",
        ["", START.replace("NAMES", repr(names))],
    )
    lab.execute("notebook:run-cell")


def show_notebook(lab):
    """Bring the notebook to the front."""
    lab.page.evaluate(
        """() => { const app = window.jupyterapp;
          for (const widget of app.shell.widgets('main'))
            if (widget.context?.path === 'work.ipynb') app.shell.activateById(widget.id); }"""
    )


def drag(lab, source, target):
    """Drag with the mouse to the upper left of the target, whose lines may be wider than the page."""
    start, end = find_place(source), find_place(target)
    lab.page.mouse.move(start["x"] + start["width"] / 2, start["y"] + 12)
    lab.page.mouse.down()
    lab.page.mouse.move(end["x"] + min(60, end["width"] / 2), end["y"] + min(12, end["height"] / 2), steps=12)
    lab.picture("drag")
    lab.page.mouse.up()


def submit_as_member(server, url, name):
    """Create an organization with the service's own account and another one, and submit a job as the other."""

    def manage(*arguments):
        folder = str(server.home / "data" / "service")
        said = subprocess.run(
            [sys.executable, "-m", "foldnote", "admin", "--data-dir", folder, "--json", *arguments],
            capture_output=True,
            check=True,
            env=server.environment(),
        )
        return json.loads(said.stdout)

    key = manage("issue-key", MEMBER)["key"]
    manage("add-organization", "lab")
    for address in (MEMBER, OWN):
        manage("add-member", "lab", address)
    body = {"jobName": name, "type": "anarci", "settings": {"sequence": HEAVY, "scheme": "kabat"}}
    assert (
        httpx.post(f"{url}/submit-job", headers={"x-api-key": key}, json=body, timeout=60).status_code == 200
    )


def row_of(lab, name):
    return lab.show_sidebar("jobs", 300).locator(f"[data-job='{name}']")


def test_a_job_of_a_form_is_seen_in_the_sidebar_until_it_is_complete(lab):
    form = lab.page.locator(".jp-OutputArea").first
    boxes = form.locator("textarea")
    boxes.nth(0).fill(HEAVY)
    boxes.nth(1).fill(LIGHT)
    form.get_by_label("Job name").fill("from-a-form.structure.score.hold")
    lab.show_sidebar("jobs", 300)
    form.get_by_role("button", name="Submit").click()
    row = row_of(lab, "from-a-form.structure.score.hold")
    expect(row).to_contain_text("Running")
    expect(row.get_by_role("progressbar")).to_be_visible()
    expect(lab.page.locator(".fn-StatusItem", has_text="1 running")).to_be_visible()
    release("from-a-form.structure.score.hold")
    expect(row).to_contain_text("Complete")
    expect(row).not_to_contain_text("0.5")  # nothing is known of the probe's figure


def test_its_result_opens_in_a_tab_without_a_kernel(lab):
    row_of(lab, "from-a-form.structure.score.hold").dblclick()
    panel = lab.page.locator(".fn-ResultPanel")
    stage = panel.locator(".fnv-stage canvas").first
    assert lab.wait_until_drawn(stage)["drawn"] > 500
    for theme in ("light", "dark"):
        lab.set_theme(theme)
        lab.picture(f"result-{theme}")
    lab.set_theme("light")
    for tab, text in (("Files", "model.pdb"), ("Settings", HEAVY), ("Provenance", "Probe of the tests")):
        panel.get_by_role("tab", name=tab).click()
        expect(panel.get_by_role("tabpanel")).to_contain_text(text)
        lab.picture(f"result-{tab.split()[0].lower()}", panel)
    panel.get_by_role("tab", name="Log").click()
    expect(panel.get_by_role("tabpanel")).not_to_contain_text("Reading")
    assert lab.accessibility_faults(".fn-Result") == []


def test_a_long_title_of_a_narrow_result_is_above_the_buttons(lab):
    head = lab.page.locator(".fn-Result-head")
    expect(head.get_by_role("heading")).to_have_text("from-a-form.structure.score.hold")
    lab.resize(1060, 900)
    title, actions = (find_place(head.locator(f".fn-Result-{part}")) for part in ("title", "actions"))
    lab.picture("result-narrow")
    assert title["y"] + title["height"] <= actions["y"]
    lab.resize(1600, 1000)
    title, actions = (find_place(head.locator(f".fn-Result-{part}")) for part in ("title", "actions"))
    assert title["x"] + title["width"] <= actions["x"]


def test_a_result_is_downloaded_whole_and_file_by_file(lab):
    panel = lab.page.locator(".fn-ResultPanel")
    with lab.page.expect_download() as whole:
        panel.get_by_role("button", name="Download").click()
    assert whole.value.suggested_filename == "from-a-form.structure.score.hold.zip"
    panel.get_by_role("tab", name="Files").click()
    with lab.page.expect_download() as single:
        panel.locator(".fn-File-name", has_text="model.pdb").click()
    assert single.value.suggested_filename == "model.pdb"
    assert single.value.path().read_text().count("ATOM") == 227


def test_its_settings_become_a_form_again(lab):
    panel = lab.page.locator(".fn-ResultPanel")
    show_notebook(lab)
    lab.execute("foldnote:again-job", job="from-a-form.structure.score.hold")
    expect(lab.page.locator(".jp-OutputArea textarea").nth(2)).to_have_value(HEAVY)
    assert 'fn.form(fn.job("from-a-form.structure.score.hold"))' in lab.cells()[-1]
    expect(panel).to_be_hidden()


def test_several_jobs_are_stopped_and_deleted_together_after_asking(lab):
    submit(lab, "one.hold", "two.hold", "three.hold")
    sidebar = lab.show_sidebar("jobs", 300)
    expect(row_of(lab, "three.hold")).to_be_visible()
    row_of(lab, "three.hold").click()
    row_of(lab, "one.hold").click(modifiers=["Shift"])
    sidebar.get_by_role("button", name="Stop the selected jobs").click()
    dialog = lab.page.get_by_role("dialog")
    expect(dialog).to_contain_text("Stop 3 jobs?")
    dialog.get_by_role("button", name="Stop").click()
    expect(row_of(lab, "one.hold")).to_contain_text("Stopped")
    expect(row_of(lab, "three.hold")).to_contain_text("Stopped")
    row_of(lab, "one.hold").focus()
    sidebar.get_by_role("treegrid").focus()
    lab.page.keyboard.press("Delete")
    expect(dialog).to_contain_text("Delete 3 jobs?")
    dialog.get_by_role("button", name="Delete").click()
    expect(row_of(lab, "one.hold")).to_contain_text("Deletion pending.")
    notice = lab.page.get_by_role("alert").filter(has_text="3 jobs will be deleted in 60 s.")
    lab.picture("deletion-undo")
    notice.get_by_role("button", name="Undo").click()
    expect(row_of(lab, "one.hold")).not_to_contain_text("Will be deleted")
    expect(row_of(lab, "three.hold")).to_contain_text("Stopped")


def test_a_time_to_undo_of_zero_in_the_settings_editor_deletes_at_once(lab):
    lab.execute("settingeditor:open", query="Protein analysis")
    box = lab.page.locator(".jp-SettingsPanel input[id$=undoSeconds]")
    expect(box).to_have_value("60")
    lab.picture("settings")
    box.fill("0")
    sidebar = lab.show_sidebar("jobs", 300)
    row_of(lab, "three.hold").click()
    row_of(lab, "one.hold").click(modifiers=["Shift"])
    sidebar.get_by_role("treegrid").focus()
    lab.page.keyboard.press("Delete")
    lab.page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(row_of(lab, "one.hold")).to_have_count(0)
    expect(sidebar.get_by_role("treegrid")).to_be_focused()
    show_notebook(lab)


def test_a_job_is_tagged_from_the_palette(lab):
    row_of(lab, "from-a-form.structure.score.hold").click()
    lab.page.evaluate("void window.jupyterapp.commands.execute('foldnote:tag-job')")
    dialog = lab.page.get_by_role("dialog")
    expect(dialog).to_contain_text("not at the service")
    dialog.get_by_role("textbox").fill("lead series,  panel")
    lab.picture("tags-dialog")
    dialog.get_by_role("button", name="Ok").click()
    expect(row_of(lab, "from-a-form.structure.score.hold").locator(".fn-Tag")).to_have_text(
        ["lead series", "panel"]
    )


def test_jobs_are_grouped_by_the_notebook_that_submitted_them(lab):
    sidebar = lab.show_sidebar("jobs", 300)
    sidebar.get_by_label("Groups").select_option("notebook")
    expect(sidebar.locator(".fn-mod-group").first).to_contain_text("notebooks/work.ipynb")
    sidebar.get_by_label("Groups").select_option("none")


def test_a_row_is_dragged_into_an_editor_and_beside_the_cells(lab):
    show_notebook(lab)
    row = row_of(lab, "from-a-form.structure.score.hold")
    line = 'job = fn.job("from-a-form.structure.score.hold")'
    editor = lab.page.locator(".jp-Notebook .jp-Cell .cm-content").last
    editor.scroll_into_view_if_needed()
    drag(lab, row, editor)
    expect(editor).to_contain_text(line)
    count = len(lab.cells())
    drag(lab, row, lab.page.locator(".jp-Notebook .jp-InputPrompt").last)
    expect(lab.page.locator(".jp-Notebook .jp-Cell")).to_have_count(count + 1)
    assert f"import foldnote as fn\n\n{line}\njob" in lab.cells()


def test_a_failed_job_says_why_in_its_row(lab):
    submit(lab, "bound-to.fail")
    expect(row_of(lab, "bound-to.fail")).to_contain_text("The probe was asked to fail.")


def test_the_end_of_a_job_is_reported_with_the_sidebar_closed(lab):
    submit(lab, "to-be-told.hold")
    expect(row_of(lab, "to-be-told.hold")).to_be_visible()
    lab.execute("filebrowser:activate")
    release("to-be-told.hold")
    toast = lab.page.get_by_role("alert").filter(has_text="to-be-told.hold")
    expect(toast).to_contain_text("Complete: to-be-told.hold (AbodyBuilder).")
    toast.hover()  # the notice stays while the pointer is on it
    lab.picture("notification")
    toast.get_by_role("button", name="Open result").click()
    expect(lab.page.locator(".fn-ResultPanel").last.get_by_role("heading")).to_have_text("to-be-told.hold")


def test_a_file_is_uploaded_put_into_a_cell_and_deleted(lab):
    sidebar = lab.show_sidebar("files", 300)
    expect(sidebar.get_by_text("No files yet")).to_be_visible()
    lab.picture("files-empty", sidebar)
    name = "target & one.pdb"
    sidebar.get_by_label("Files to upload").set_input_files({"name": name, "mimeType": "", "buffer": b"ATOM"})
    expect(sidebar.get_by_role("listitem").filter(has_text=name)).to_contain_text("4 B")
    sidebar.get_by_role("listitem").first.hover()
    sidebar.get_by_role("button", name=f"Insert {name}").click()
    expect(lab.page.locator(".jp-CodeCell").last).to_contain_text("fn.uploaded")
    sidebar.get_by_role("listitem").first.hover()
    sidebar.get_by_role("button", name=f"Delete {name}").click()
    lab.page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(sidebar.get_by_text("No files yet")).to_be_visible()


def test_the_router_ranks_tools_for_a_described_task(lab):
    sidebar = lab.show_sidebar("tools", 500)
    sidebar.get_by_label("Describe your task").fill("Predict the structure of an antibody Fv")
    sidebar.get_by_role("button", name="Ask", exact=True).click()
    expect(sidebar.locator(".fn-Advice li").first).to_be_visible()
    lab.picture("tools-advice", sidebar)
    sidebar.locator(".fn-Advice .fn-Link").first.click()
    expect(sidebar.get_by_text("Inputs", exact=True)).to_be_visible()
    lab.picture("tools-open", sidebar)
    sidebar.get_by_role("button", name="Not available on this computer").click()
    sidebar.locator("#fn-tool-abmap").get_by_role("button", name="AbMAP", exact=True).click()
    why = sidebar.locator("#fn-tool-abmap").get_by_text("AbMAP's package has no weights")
    why.scroll_into_view_if_needed()
    lab.picture("tools-elsewhere", sidebar)
    sidebar.get_by_role("tab", name="Engines").click()
    expect(sidebar.locator(".fn-Engine", has_text="Probe of the tests")).to_be_visible()
    assert lab.accessibility_faults("#foldnote-sidebar") == []


def test_a_wrong_key_is_refused_in_the_dialog_and_kept_nowhere(lab, server):
    url = json.loads((server.home / "run" / "service.json").read_text())["url"]
    lab.show_sidebar("jobs", 300).get_by_label("Service", exact=True).select_option(
        label="Connect to a service …"
    )
    dialog = lab.page.get_by_role("dialog")
    for label, text in (
        ("Profile name", "lab"),
        ("Service address", url),
        ("API key", "wrong-key"),
    ):
        dialog.get_by_label(label).fill(text)
    lab.picture("connect")
    dialog.get_by_role("button", name="Test and store").click()
    expect(dialog.get_by_role("alert")).to_contain_text("refuses the key")
    lab.picture("connect-refused")
    expect(dialog.get_by_label("API key")).to_have_value("")
    dialog.get_by_role("button", name="Cancel").click()
    assert not (server.home / "config" / "keys.json").exists()


def test_a_good_key_is_stored_and_the_other_service_is_shown(lab, server):
    running = json.loads((server.home / "run" / "service.json").read_text())
    sidebar = lab.show_sidebar("jobs", 300)
    lab.page.evaluate("void window.jupyterapp.commands.execute('foldnote:connect')")
    dialog = lab.page.get_by_role("dialog")
    given = {
        "Profile name": "lab",
        "Service address": running["url"],
        "API key": running["key"],
    }
    for label, text in given.items():
        dialog.get_by_label(label).fill(text)
    dialog.get_by_role("button", name="Test and store").click()
    expect(sidebar.get_by_label("Service", exact=True)).to_have_value("lab")
    expect(row_of(lab, "bound-to.fail")).to_be_visible()
    assert running["key"] in (server.home / "config" / "keys.json").read_text()


def test_a_members_result_is_opened_saved_and_loaded_from_its_row(lab, server):
    running = json.loads((server.home / "run" / "service.json").read_text())
    submit_as_member(server, running["url"], "theirs.structure")
    sidebar = lab.show_sidebar("jobs", 300)
    lab.choose_member(sidebar, MEMBER)
    row = sidebar.get_by_role("row", name="theirs.structure")
    for _ in range(60):  # this list is read on request and not polled
        if "Complete" in row.inner_text():
            break
        lab.page.wait_for_timeout(500)
        lab.execute("foldnote:refresh")
    row.dblclick()
    panel = lab.page.locator(".fn-ResultPanel:visible")
    assert lab.wait_until_drawn(panel.locator(".fnv-stage canvas").first)["drawn"] > 500
    expect(panel).to_contain_text(f"Owner: {MEMBER}")
    lab.picture("member-result")
    for tab, text in (("Settings", "kabat"), ("Log", "Only the owner of a job"), ("Files", "model.pdb")):
        panel.get_by_role("tab", name=tab).click()
        expect(panel.get_by_role("tabpanel")).to_contain_text(text)
    with lab.page.expect_download() as saved:
        panel.locator(".fn-File-name", has_text="model.pdb").click()
    assert saved.value.path().read_text().count("ATOM") == 227
    show_notebook(lab)
    row.hover()
    row.get_by_role("button", name="Insert a cell").click()
    loaded = lab.page.locator(".jp-CodeCell").last
    expect(loaded).to_contain_text(f'jobs.download("theirs.structure", job_email="{MEMBER}")')
    expect(loaded.locator(".fnv-stage").first).to_be_visible()
    assert lab.accessibility_faults("#foldnote-sidebar") == []
    sidebar.get_by_label("Owner of the jobs").select_option("mine")


def test_back_at_the_service_of_this_computer_its_jobs_are_shown(lab):
    sidebar = lab.show_sidebar("jobs", 300)
    sidebar.get_by_label("Service", exact=True).select_option("embedded")
    expect(row_of(lab, "bound-to.fail")).to_be_visible()


def test_nothing_that_the_page_heard_or_the_notebook_keeps_holds_a_key_or_a_signed_link(lab, server, heard):
    keys = {json.loads((server.home / "run" / "service.json").read_text())["key"]}
    keys |= set(json.loads((server.home / "config" / "keys.json").read_text()).values())
    assert all(len(key) > 20 for key in keys)
    show_notebook(lab)
    lab.save()
    notebook = (server.notebooks / "work.ipynb").read_text()
    assert "application/vnd.foldnote.widget+json" in notebook
    addresses = " ".join(address for address, _ in heard)
    for part in (
        "foldnote/api/jobs",
        "foldnote/api/tools",
        "foldnote/api/files",
        "api/kernels",
        "api/settings",
    ):
        assert part in addresses
    assert any(address.startswith("ws") and "comm_open" in text for address, text in heard)
    for where, text in (*heard, ("the page", lab.page.content()), ("the notebook", notebook)):
        assert not [key for key in keys if key in text], where
        assert "signature=" not in text.lower(), where
    assert not [key for key in keys if key in server.log]
