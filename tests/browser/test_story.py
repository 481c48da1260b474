"""The main task as a user performs it, in real JupyterLab with the network cut.

From the launcher's card to the structure in the cell, and what remains after the tab and the kernel are closed. The
steps build on each other, so they share one server and run in order.
"""

import json

from lab_page import LabPage, find_place
from playwright.sync_api import expect

VH = "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVARIYPTNGYTRYADSVKGRFTISADTSKNTAYLQMNSLRAEDTAVYYCSRWGGDGFYAMDYWGQGTLVTVSS"
VL = "DIQMTQSPSSLSASVGDRVTITCRASQDVNTAVAWYQQKPGKAPKLLIYSASFLYSGVPSRFSGSRSGTDFTLTISSLQPEDFATYYCQQHYTTPPTFGQGTKVEIK"
USES_REAL_ENGINES = True
NOTEBOOK = "trastuzumab.ipynb"
STRUCTURE = ".jp-OutputArea-output canvas"


def submitted_jobs(lab: LabPage) -> list[str]:
    status, body = lab.server.request("foldnote/api/jobs")
    assert status == 200
    return [job["jobName"] for job in json.loads(body)["jobs"]]


def save_as(lab: LabPage, name: str) -> None:
    """Save a new notebook and answer JupyterLab's first question for its name."""
    lab.page.keyboard.press("Control+s")
    dialog = lab.page.locator(".jp-Dialog")
    dialog.locator("input").first.fill(name)
    with lab.page.expect_response(
        lambda answer: answer.request.method == "POST" and "checkpoints" in answer.url
    ):
        dialog.locator(".jp-mod-accept").click()
    lab.page.locator(".lm-TabBar-tab", has_text=name).wait_for()
    lab.page.wait_for_timeout(200)
    # JupyterLab asks for the checkpoints while it renames the file, and its server may then not find the file
    lab.faults[:] = [fault for fault in lab.faults if "Checkpoint" not in fault]


def wait_for_structure(lab: LabPage) -> None:
    # views are drawn when they are near the visible part
    lab.page.locator(".jp-OutputArea-output .fnv-stage").first.scroll_into_view_if_needed()
    canvas = lab.page.locator(STRUCTURE).first
    counted = lab.wait_until_drawn(canvas)
    assert counted["drawn"] > 2000
    assert counted["colours"] > 6


def test_from_the_launcher_to_the_structure_in_the_cell(lab: LabPage):
    page = lab.page
    lab.open()
    page.locator(".jp-LauncherCard", has_text="AbodyBuilder").first.click()
    heavy, light = (
        page.locator(".foldnote-form textarea").nth(0),
        page.locator(".foldnote-form textarea").nth(1),
    )
    heavy.wait_for()

    heavy.fill(VH[:16] + "J" + VH[17:])
    expect(page.locator(".foldnote-form")).to_contain_text("Position 17")
    heavy.fill(VH)
    expect(page.locator(".foldnote-form")).not_to_contain_text("Position 17")
    light.fill(VL)
    lab.picture("story-form")

    page.get_by_role("button", name="Submit", exact=True).click()
    card = page.locator(".foldnote-card")
    expect(card).to_contain_text("Running")
    sidebar = lab.show_sidebar("jobs")
    expect(sidebar).to_contain_text("abodybuilder-")
    lab.picture("story-running")
    expect(card).to_contain_text("Complete")
    expect(sidebar).to_contain_text("Complete")

    wait_for_structure(lab)
    expect(page.locator(".jp-OutputArea-output table", has_text="FR1").first).to_be_visible()
    for loop in ("H1", "H2", "H3", "L1", "L2", "L3"):
        expect(page.locator(".jp-Notebook")).to_contain_text(loop)
    lab.picture("story-complete")
    parts = [page.locator(part).first for part in (".foldnote-form", ".fnv-view")]
    assert len({round(find_place(part)["width"]) for part in parts}) == 1
    assert len(submitted_jobs(lab)) == 1
    save_as(lab, NOTEBOOK)
    assert lab.server.refused == []


def test_results_are_shown_again_when_tab_and_kernel_are_gone(shared_lab: LabPage):
    lab = shared_lab
    lab.server.end_kernels()
    lab.open(NOTEBOOK)
    wait_for_structure(lab)
    expect(lab.page.locator(".jp-Notebook")).not_to_contain_text(
        "Error displaying widget",
        use_inner_text=True,  # the widget is hidden
    )
    expect(lab.page.locator(".jp-Notebook")).to_contain_text(VH[:20])
    lab.picture("story-reopened")


def test_running_all_again_submits_nothing_twice(shared_lab: LabPage):
    lab = shared_lab
    before = submitted_jobs(lab)
    lab.turn_to(NOTEBOOK)
    lab.run_all()
    card = lab.page.locator(".foldnote-card")
    expect(card).to_contain_text("Complete")
    wait_for_structure(lab)
    expect(lab.page.locator(".foldnote-form textarea").first).to_have_value(VH)
    lab.picture("story-rerun")
    assert submitted_jobs(lab) == before
    assert len(before) == 1
