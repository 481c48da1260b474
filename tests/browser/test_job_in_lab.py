"""A job from its form to the sidebar and back into a cell, on the embedded service that the page starts."""

import json

import pytest
from playwright.sync_api import expect

HEAVY = "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVARIYPTNGYTRYADSVKGRFTISADTSKNTAYLQMNSLRAEDTAVYYCSRWGGDGFYAMDYWGQGTLVTVSS"
LIGHT = "DIQMTQSPSSLSASVGDRVTITCRASQDVNTAVAWYQQKPGKAPKLLIYSASFLYSGVPSRFSGSRSGTDFTLTISSLQPEDFATYYCQQHYTTPPTFGQGTKVEIK"


@pytest.fixture
def form(lab):
    """The form of AbodyBuilder in a new notebook, made by its card in the launcher."""
    lab.open()
    lab.page.locator(".jp-LauncherCard", has_text="AbodyBuilder").click(timeout=60_000)
    form = lab.page.locator(".jp-OutputArea").first
    expect(form.get_by_text("Heavy chain").first).to_be_visible(timeout=60_000)
    return form


@pytest.fixture
def without_notifications(server):
    """Settings of the user that switch notifications off."""
    file = server.folder / "settings" / "foldnote" / "plugin.jupyterlab-settings"
    file.parent.mkdir(parents=True)
    file.write_text('{"notifications": false}')
    yield
    file.unlink()


def _submit(form, name):
    boxes = form.locator("textarea")
    boxes.nth(0).fill(HEAVY)
    boxes.nth(1).fill(LIGHT)
    form.locator("input[type=text]").last.fill(name)
    form.get_by_role("button", name="Submit").click()


def test_a_job_of_a_form_is_in_the_sidebar_until_it_is_complete(lab, form):
    _submit(form, "from-a-form.sleep-9")
    sidebar = lab.show_sidebar("jobs", 300)
    row = sidebar.get_by_role("row", name="from-a-form.sleep-9")
    expect(row).to_contain_text("Running", timeout=30_000)
    expect(row.get_by_role("progressbar")).to_be_visible()
    lab.picture("job-running")
    expect(row).to_contain_text("Complete", timeout=60_000)
    row.get_by_role("button", name="Show the log").click()
    expect(sidebar.get_by_label("Log of from-a-form.sleep-9", exact=True)).not_to_contain_text("Reading")
    lab.picture("job-complete")
    assert lab.outside == []


def test_a_job_is_stopped_from_the_sidebar(lab, form):
    _submit(form, "to-be-stopped.sleep-60")
    row = lab.show_sidebar("jobs", 300).get_by_role("row", name="to-be-stopped.sleep-60")
    row.get_by_role("button", name="Stop to-be-stopped.sleep-60").click(timeout=30_000)
    lab.page.locator(".jp-Dialog").get_by_role("button", name="Stop").click()
    expect(row).to_contain_text("Stopped", timeout=30_000)


def test_a_job_is_deleted_from_the_sidebar_after_asking(lab, form):
    _submit(form, "to-be-deleted")
    row = lab.show_sidebar("jobs", 300).get_by_role("row", name="to-be-deleted")
    expect(row).to_contain_text("Complete", timeout=60_000)
    row.focus()
    lab.page.keyboard.press("Delete")
    dialog = lab.page.get_by_role("dialog")
    expect(dialog).to_contain_text("Delete the job to-be-deleted?")
    for theme in ("light", "dark"):
        lab.set_theme(theme)
        lab.picture(f"delete-dialog-{theme}")
    lab.page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(row).to_be_focused()
    row.get_by_role("button", name="Delete to-be-deleted").click()
    dialog.get_by_role("button", name="Delete").click()
    expect(row).to_have_count(0)


def test_the_end_of_a_job_is_told_with_the_sidebar_closed(lab, form):
    lab.execute("filebrowser:activate")
    _submit(form, "to-be-told.sleep-5")
    toast = lab.page.get_by_role("alert").filter(has_text="to-be-told.sleep-5")
    expect(toast).to_contain_text("Complete: to-be-told.sleep-5 (AbodyBuilder).", timeout=60_000)
    toast.hover()  # it stays while the mouse is on it
    for theme in ("light", "dark"):
        lab.set_theme(theme)
        lab.picture(f"notification-{theme}")
    toast.get_by_role("button", name="Load result").click()
    expect(toast).to_have_count(0)
    lab.page.locator(".jp-Notebook .jp-InputPrompt", has_text="[2]:").wait_for(timeout=60_000)
    assert lab.cells()[1] == 'import foldnote as fn\n\nfn.job("to-be-told.sleep-5")'
    lab.page.wait_for_timeout(4000)
    expect(toast).to_have_count(0)  # the page has looked again, and the job is old news


def test_notifications_are_off_when_the_settings_say_so(without_notifications, lab, form):
    row = lab.show_sidebar("jobs", 300).get_by_role("row", name="untold.sleep-4")
    _submit(form, "untold.sleep-4")
    expect(row).to_contain_text("Running", timeout=30_000)
    expect(row).to_contain_text("Complete", timeout=60_000)
    lab.page.wait_for_timeout(500)
    expect(lab.page.get_by_text("Complete: untold")).to_have_count(0)


def test_a_failed_job_says_why_in_its_row(lab, form):
    _submit(form, "bound-to.fail")
    row = lab.show_sidebar("jobs", 300).get_by_role("row", name="bound-to.fail")
    expect(row).to_contain_text("The probe was asked to fail.", timeout=30_000)


def test_a_saved_form_stays_readable_without_its_kernel(lab, server):
    server.write_notebook("form.ipynb", 'import foldnote as fn\n\nfn.form("abodybuilder")')
    lab.open("form.ipynb")
    lab.run_all()
    expect(lab.page.locator(".jp-OutputArea textarea").first).to_be_visible(timeout=60_000)
    lab.save()
    lab.execute("kernelmenu:shutdown")
    lab.open("form.ipynb", workspace="reopened")
    saved = lab.page.locator(".fn-WidgetOutput-saved")
    expect(saved).to_contain_text("AbodyBuilder", timeout=30_000)
    assert "Error displaying widget" not in "".join(lab.outputs())
    lab.picture("form-saved")


def test_the_key_is_in_no_answer_to_the_page(lab, server, form):
    key = _key(server)
    answers = [
        server.request(f"foldnote/api/{path}")[1].decode() for path in ("jobs", "tools", "jobs/none/log")
    ]
    assert len(key) > 20
    assert all(key not in text for text in answers)
    assert key not in lab.page.content()


def _key(server):
    return json.loads((server.home / "run" / "service.json").read_text())["key"]
