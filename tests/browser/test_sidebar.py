"""Every state of the sidebar in real JupyterLab: narrow and wide, light and dark, by mouse and by keyboard."""

import json
import re
from datetime import UTC, datetime

import pytest
from playwright.sync_api import expect
from service_records import JOBS, LONG_NAME, TOOLS, jobs_body, make_job, tools_body

from foldnote.lab.local_notes import Notes
from foldnote.lab.responses import AccountResponse, ServiceState, write_older
from foldnote.models.job import JobPage
from foldnote.models.status import BatchStatus, JobStatus

FILES = (
    b'{"files": [{"fileId": "1", "fileName": "target-with-a-long-name-that-ends-late.pdb", "fileSize": 271400,\
 "uploadTime": "2026-11-20T10:00:00Z"}, {"fileId": "2", "fileName": "<img src=x>.csv", "fileSize": 12,\
 "uploadTime": "2026-11-19T10:00:00Z"}], "total": 2, "hasMore": false}'
)


ACCOUNT = (
    AccountResponse(
        email="agent-0123456789abcdef@trial.example.org",
        tier="agent-trial",
        is_claimed=False,
        expires_at=datetime(2026, 12, 21, 10, tzinfo=UTC),
        can_claim=True,
        jobs_allowed=10,
        jobs_left=2,
        weighted_hours=1.23456,
    )
    .model_dump_json(by_alias=True)
    .encode()
)


@pytest.fixture(scope="module")
def opened(shared_lab):
    """Open a page whose responses come from routes of the test."""
    shared_lab.answer("jobs", jobs_body(*JOBS))
    shared_lab.answer("refresh", b"{}")
    shared_lab.answer("tools", tools_body(*TOOLS))
    shared_lab.answer("tools/[^/]+", b'{"type": "a", "inputs": [], "citation": null}')
    shared_lab.answer("files", FILES)
    shared_lab.answer("jobs/[^/]+/log", b'{"log": "first line\\nlast line"}')
    shared_lab.open()
    return shared_lab


@pytest.fixture
def filled(opened):
    """Open the page with jobs in every state, none selected or filtered."""
    sidebar = opened.show_sidebar("jobs", 300)
    sidebar.get_by_role("button", name="All, 9 jobs").click()
    sidebar.get_by_role("treegrid").focus()
    opened.page.keyboard.press("Home")
    opened.page.keyboard.press("Escape")
    return opened


@pytest.mark.parametrize("view", ["jobs", "tools", "files"])
def test_it_is_readable_in_every_width_and_theme(opened, view):
    for theme, width in (("light", 300), ("light", 500), ("dark", 300), ("dark", 500), ("light", 1100)):
        opened.set_theme(theme)
        sidebar = opened.show_sidebar(view, width)
        opened.picture(f"sidebar-{view}-{width}-{theme}", sidebar)
        assert opened.fits(sidebar)
        assert opened.accessibility_faults("#foldnote-sidebar") == []


def test_rows_show_text_beside_their_icons(filled):
    sidebar = filled.show_sidebar("jobs", 300)
    row = sidebar.get_by_role("row", name="trastuzumab-fv, AbodyBuilder, Running")
    expect(row).to_contain_text("Running")
    expect(row).to_contain_text("42 % · Refining with OpenMM")
    expect(sidebar.get_by_role("row", name="cetuximab-fv")).to_contain_text("found no heavy chain")
    expect(sidebar.get_by_role("row", name="screen-of-the-panel")).to_contain_text(
        "37 of 100, 2 failed, 1 stopped"
    )
    expect(sidebar.get_by_role("row", name="adalimumab")).to_contain_text("pTM 0.871")


def test_a_job_takes_two_lines_in_a_narrow_list_and_one_in_a_wide_one(filled):
    for width, most_px, least in ((300, 46, 14), (500, 32, 20)):
        sidebar = filled.show_sidebar("jobs", width)
        rows, page_px = sidebar.get_by_role("row"), sidebar.get_by_role("treegrid").bounding_box()["height"]
        heights = [row.bounding_box()["height"] for row in rows.all()]
        assert max(heights) <= most_px
        assert page_px / max(heights) >= least


_PASSES_END = """
node => node.getBoundingClientRect().right - node.closest('.fn-JobRow-note').getBoundingClientRect().right
"""


def test_the_counts_of_a_stopped_batch_are_cut_with_an_ellipsis_after_its_reason(filled):
    batch = make_job(
        "stopped-screen",
        JobStatus.STOPPED,
        type="batch",
        tool="abodybuilder",
        batch_status=BatchStatus.STOPPED,
        batch_size=1234,
        statuses={"Complete": 1100, "Stopped": 134},
        failed=31,
        message="No more jobs were started, since one of them failed.",
    )
    filled.answer("jobs", jobs_body(batch))
    filled.execute("foldnote:refresh")
    for width in (300, 230):
        sidebar = filled.show_sidebar("jobs", width)
        row = sidebar.get_by_role("row", name="stopped-screen")
        expect(row).to_contain_text("1,100 of 1,234, 31 failed, 103 stopped")
        counts = row.locator(".fn-JobRow-message")
        assert counts.evaluate(_PASSES_END) < 1
        filled.picture(f"sidebar-stopped-batch-{width}", row)
    filled.answer("jobs", jobs_body(*JOBS))
    filled.execute("foldnote:refresh")
    expect(filled.show_sidebar("jobs", 300).get_by_role("row", name="cetuximab-fv")).to_be_visible()


def test_the_end_of_a_long_name_stays_in_sight_beside_the_buttons(filled):
    sidebar = filled.show_sidebar("jobs", 300)
    row = sidebar.get_by_role("row", name=LONG_NAME)
    name, end = row.locator("bdi").first, row.get_by_text(LONG_NAME[-10:], exact=True)
    assert name.text_content() == LONG_NAME
    row.hover()
    box, buttons = end.bounding_box(), row.get_by_role("button").first.bounding_box()
    assert box["x"] + box["width"] <= buttons["x"]
    assert box["x"] - name.bounding_box()["x"] > 20  # part of its start is visible, too


def test_the_end_of_a_long_file_name_stays_in_sight(opened):
    sidebar = opened.show_sidebar("files", 300)
    row = sidebar.get_by_role("listitem").filter(has_text="target-with")
    end, facts = row.get_by_text("-late.pdb").bounding_box(), row.get_by_text("271 kB").bounding_box()
    assert row.bounding_box()["x"] < end["x"]
    assert end["x"] + end["width"] <= facts["x"]
    assert row.locator("bdi").text_content() == "target-with-a-long-name-that-ends-late.pdb"


_IS_WHOLE = """node => {
  const copy = node.cloneNode(true);
  copy.value = node.value;
  copy.style.cssText = 'position: absolute; max-width: none; width: auto';
  node.parentNode.append(copy);
  const needed = copy.offsetWidth;
  copy.remove();
  return node.offsetWidth >= needed && needed > 40;
}"""


def test_the_words_of_the_order_and_the_groups_are_not_cut(filled):
    sidebar = filled.show_sidebar("jobs", 260)
    for label in ("Order", "Groups"):
        select = sidebar.get_by_label(label)
        for value in select.locator("option").evaluate_all("options => options.map(each => each.value)"):
            select.select_option(value)
            assert select.evaluate(_IS_WHOLE), value
    for label, value in (("Order", "newest"), ("Groups", "none")):
        sidebar.get_by_label(label).select_option(value)


def test_what_is_chosen_is_seen_in_forced_colours(filled):
    """Forced colours remove backgrounds and shadows, and draw elements that are transparent otherwise."""
    sidebar, page = filled.show_sidebar("jobs", 300), filled.page
    row = sidebar.get_by_role("row", name="cetuximab-fv")
    row.click()
    page.emulate_media(forced_colors="active")
    try:
        lines = sidebar.get_by_role("tab").evaluate_all(
            "tabs => tabs.map(tab => getComputedStyle(tab).borderBottomColor)"
        )
        expect(sidebar.get_by_role("tab").first).to_have_attribute("aria-selected", "true")
        assert lines[0] not in lines[1:]
        expect(row).not_to_have_css("outline-style", "none")  # dashed after keyboard use
        chosen = row.evaluate("row => getComputedStyle(row).outlineColor")
        page.keyboard.press("ArrowDown")
        current = sidebar.get_by_role("row", selected=True)
        expect(current).not_to_have_attribute("data-job", "cetuximab-fv")
        expect(current).to_have_css("outline-style", "dashed")
        expect(current).to_have_css("outline-color", chosen)
        expect(row).to_have_css("outline-style", "none")
        expect(sidebar.get_by_role("button", name="All, 9 jobs")).to_have_css("outline-style", "solid")
        expect(sidebar.get_by_role("button", name=re.compile("^Complete, "))).to_have_css(
            "outline-style", "none"
        )
        filled.picture("sidebar-in-forced-colours", sidebar)
    finally:
        page.emulate_media(forced_colors="none")


def test_counts_are_filters(filled):
    sidebar = filled.show_sidebar("jobs", 300)
    sidebar.get_by_role("button", name="Running, 3 jobs").click()
    expect(sidebar.get_by_role("row")).to_have_count(3)
    sidebar.get_by_label("Search jobs").fill("nothing is called so")
    expect(sidebar.get_by_text("No matching jobs")).to_be_visible()
    sidebar.get_by_role("button", name="Show all jobs").click()
    expect(sidebar.get_by_role("row")).to_have_count(9)


def test_the_list_is_used_with_the_keyboard(filled):
    sidebar = filled.show_sidebar("jobs", 300)
    grid = sidebar.get_by_role("treegrid", name="Jobs")
    grid.focus()
    filled.page.keyboard.press("ArrowDown")
    expect(sidebar.get_by_role("row", selected=True)).to_have_attribute("data-job", "trastuzumab-fv")
    filled.page.keyboard.press("Enter")
    expect(sidebar.get_by_label("Log of trastuzumab-fv", exact=True)).to_contain_text("last line")
    filled.page.keyboard.press("Shift+ArrowDown")
    filled.page.keyboard.press("Shift+ArrowDown")
    expect(sidebar.get_by_role("toolbar", name="Selected jobs")).to_contain_text("3 selected")
    filled.picture("sidebar-many", sidebar)
    assert filled.accessibility_faults("#foldnote-sidebar") == []
    filled.page.keyboard.press("Escape")
    expect(sidebar.get_by_role("row", selected=True)).to_have_count(0)


def test_the_shortcut_moves_the_focus_into_the_list_and_a_closed_menu_gives_it_back(filled):
    filled.show_sidebar("files")
    filled.execute("filebrowser:activate")
    filled.page.keyboard.press("Alt+Shift+J")
    grid = filled.page.get_by_role("treegrid", name="Jobs")
    expect(grid).to_be_focused()
    filled.page.keyboard.press("ArrowDown")
    filled.page.keyboard.press("Shift+F10")
    expect(filled.page.locator(".lm-Menu").first).to_be_visible()
    filled.page.keyboard.press("Escape")
    expect(grid).to_be_focused()


ENDS_OF_ORDERS = {
    "newest": ("pertuzumab-fv", "\u202egnp.evil"),
    "oldest": ("\u202egnp.evil", "pertuzumab-fv"),
    "ended": (LONG_NAME, "screen-of-the-panel"),
    "name": ("<img src=x onerror=window.hacked=1>", "trastuzumab-fv"),
    "status": ("pertuzumab-fv", "cetuximab-fv"),
    "duration": ("\u202egnp.evil", "pertuzumab-fv"),
    "queue": ("pertuzumab-fv", "\u202egnp.evil"),
    "score": (LONG_NAME, "\u202egnp.evil"),
}


def test_every_order_puts_other_jobs_at_the_ends(filled):
    sidebar = filled.show_sidebar("jobs", 500)
    rows, order = sidebar.get_by_role("row"), sidebar.get_by_label("Order")
    values = order.locator("option").evaluate_all("options => options.map(each => each.value)")
    assert set(values) == set(ENDS_OF_ORDERS)
    for value, (first, last) in ENDS_OF_ORDERS.items():
        order.select_option(value)
        expect(rows.first).to_have_attribute("data-job", first)
        expect(rows.last).to_have_attribute("data-job", last)
    order.select_option("newest")


def test_jobs_are_grouped_by_day_and_a_group_folds(filled):
    sidebar = filled.show_sidebar("jobs", 500)
    sidebar.get_by_label("Groups").select_option("day")
    groups = sidebar.locator(".fn-mod-group")
    expect(groups.first).to_contain_text(re.compile("Today|Yesterday"))
    count = groups.count()
    assert count >= 3
    for number in range(count):
        groups.nth(number).click()
    expect(sidebar.locator("[data-job]")).to_have_count(0)
    for number in range(count):
        groups.nth(number).click()
    expect(sidebar.locator("[data-job]")).to_have_count(9)
    sidebar.get_by_label("Groups").select_option("none")


def toggle_details(lab, sidebar, *names):
    """Switch a detail of the rows on or off."""
    sidebar.get_by_role("button", name="Choose the details shown in rows").click()
    for name in names:
        item = sidebar.get_by_role("menuitemcheckbox", name=name, exact=True)
        was = item.get_attribute("aria-checked")
        item.click()
        expect(item).to_have_attribute("aria-checked", "false" if was == "true" else "true")
    lab.page.keyboard.press("Escape")
    expect(sidebar.get_by_role("menu")).to_have_count(0)


def test_a_person_chooses_what_rows_show(filled):
    changed = {"weighted_hours": 0.01234, "project_tag": "panel-7"}
    filled.answer("jobs", jobs_body(*(job.model_copy(update=changed) for job in JOBS)))
    filled.execute("foldnote:refresh")
    sidebar = filled.show_sidebar("jobs", 300)
    expect(sidebar.locator(".fn-Tag")).to_have_count(9)
    height = sidebar.locator("[data-job=rituximab-fv] .fn-JobRow-facts").bounding_box()["height"]
    for theme in ("light", "dark", "dark high contrast"):
        filled.set_theme(theme)
        sidebar.get_by_role("button", name="Choose the details shown in rows").click()
        expect(sidebar.get_by_role("menuitemcheckbox", name="Tool")).to_be_focused()
        filled.picture(f"sidebar-details-{theme.replace(' ', '-')}", sidebar)
        assert filled.accessibility_faults("#foldnote-sidebar") == []
        filled.page.keyboard.press("Escape")
    filled.set_theme("light")
    toggle_details(
        filled, sidebar, "Weighted hours", "Progress", "Project and tags", "Reason for failure", "Tool"
    )
    row = sidebar.locator("[data-job=cetuximab-fv]")
    expect(row).to_contain_text("0.0123 weighted h")
    expect(row).not_to_contain_text("AbodyBuilder")
    expect(row).not_to_contain_text("heavy chain")
    expect(sidebar.locator(".fn-Tag, .fn-Bar")).to_have_count(0)
    assert row.locator(".fn-JobRow-facts").bounding_box()["height"] == height
    for width in (300, 380, 500, 1100):
        filled.picture(f"sidebar-chosen-{width}", filled.show_sidebar("jobs", width))
        assert filled.fits(sidebar)
    sidebar = filled.show_sidebar("jobs", 300)
    toggle_details(
        filled, sidebar, "Weighted hours", "Progress", "Project and tags", "Reason for failure", "Tool"
    )
    expect(sidebar.locator("[data-job=cetuximab-fv]")).to_contain_text("heavy chain")
    filled.answer("jobs", jobs_body(*JOBS))
    filled.execute("foldnote:refresh")
    expect(sidebar.locator(".fn-Tag")).to_have_count(0)


def test_a_log_is_one_click_away_and_is_followed(filled):
    sidebar = filled.show_sidebar("jobs", 300)
    sidebar.locator("[data-job=trastuzumab-fv]").hover()
    sidebar.get_by_role("button", name="Show the log of trastuzumab-fv").click()
    log = sidebar.get_by_label("Log of trastuzumab-fv", exact=True)
    expect(log).to_contain_text("last line")
    take_back = filled.answer("jobs/trastuzumab-fv/log", b'{"log": "last line\\nwritten since"}')
    expect(log).to_contain_text("written since")
    take_back()
    sidebar.get_by_role("button", name="Hide the log of trastuzumab-fv").click()
    expect(log).to_have_count(0)


def test_pages_of_history_come_as_one_scrolls(opened):
    newest = [make_job(f"new-{number:02}", age_s=number) for number in range(60)]
    pages = [
        [make_job(f"old-{page}-{number:02}", age_s=9000 * page + number) for number in range(60)]
        for page in (1, 2)
    ]
    sidebar = opened.show_sidebar("jobs", 300)
    opened.answer("jobs", jobs_body())
    opened.execute("foldnote:refresh")
    # the response is complete, so no older job is kept
    expect(sidebar.get_by_text("No jobs yet")).to_be_visible()
    opened.answer("jobs", jobs_body(*newest, older_key="k1"))
    asked = []

    def history(route):
        key = re.search(r"key=(\w+)", route.request.url)[1]
        asked.append(key)
        page = JobPage(jobs=pages[0], start_key="k2") if key == "k1" else JobPage(jobs=pages[1])
        route.fulfill(body=write_older(page, Notes()).body, content_type="application/json")

    opened.page.route("**/foldnote/api/jobs/older?*", history)
    opened.execute("foldnote:refresh")
    expect(sidebar.get_by_role("button", name="All, 60")).to_be_visible()
    assert asked == []
    sidebar.get_by_role("treegrid").focus()
    for _ in range(300):  # a page of history may arrive late on a busy machine
        opened.page.keyboard.press("End")
        if sidebar.locator("[data-job=old-2-59]").is_visible():
            break
        opened.page.wait_for_timeout(100)
    expect(sidebar.get_by_role("button", name="All, 180")).to_be_visible()
    expect(sidebar.locator("[data-job=old-2-59]")).to_be_visible()
    assert asked == ["k1", "k2"]
    opened.page.keyboard.press("Home")
    opened.page.unroute("**/foldnote/api/jobs/older?*")
    opened.answer("jobs", jobs_body(*JOBS))
    opened.execute("foldnote:refresh")
    expect(sidebar.get_by_role("button", name="All, 9 jobs")).to_be_visible()


def test_every_act_is_in_the_context_menu_and_asks_before_it_destroys(filled):
    sidebar = filled.show_sidebar("jobs", 300)
    asked = []
    filled.page.on("request", lambda request: asked.append(request.url) if request.method == "POST" else None)
    sidebar.locator("[data-job=panel-numbering]").click()
    sidebar.locator("[data-job=rituximab-fv]").click(modifiers=["ControlOrMeta"])
    sidebar.locator("[data-job=rituximab-fv]").click(button="right")
    menu = filled.page.locator(".lm-Menu")
    for label in (
        "Open the Result",
        "Insert a Cell That Loads the Job",
        "Download the Result",
        "Copy the Name",
    ):
        expect(menu.get_by_text(label, exact=True)).to_be_visible()
    filled.picture("sidebar-menu")
    menu.get_by_text("Delete", exact=True).last.click()
    dialog = filled.page.get_by_role("dialog")
    expect(dialog).to_contain_text("Delete 2 jobs?")
    dialog.get_by_role("button", name="Cancel").click()
    sidebar.locator("[data-job=trastuzumab-fv]").hover()
    sidebar.get_by_role("button", name="Stop trastuzumab-fv").click()
    expect(dialog).to_contain_text("Stop the job trastuzumab-fv?")
    dialog.get_by_role("button", name="Cancel").click()
    assert [url for url in asked if "/stop" in url or "/delete" in url] == []


def test_the_button_of_a_row_opens_the_same_menu(filled):
    sidebar = filled.show_sidebar("jobs", 300)
    sidebar.locator("[data-job=rituximab-fv]").hover()
    sidebar.get_by_role("button", name="More actions for rituximab-fv").click()
    menu = filled.page.locator(".lm-Menu")
    expect(menu.get_by_text("Copy the Name")).to_be_visible()
    filled.page.keyboard.press("Escape")
    expect(menu).to_have_count(0)


def test_tags_projects_and_what_is_about_to_go_are_seen(filled):
    notes = Notes()
    notes.change_tags(["rituximab-fv"], ["lead series", "<b>x</b>"], [])
    notes.change_tags(["adalimumab-fv"], ["x" * 40], [])
    notes.set_pending_deletions(["panel-numbering"])
    jobs = [job.model_copy(update={"project_tag": "panel-7"} if job.is_batch else {}) for job in JOBS]
    filled.answer("jobs", jobs_body(*jobs, notes=notes))
    filled.execute("foldnote:refresh")
    sidebar = filled.show_sidebar("jobs", 300)
    leaving = sidebar.locator("[data-job=panel-numbering]")
    expect(leaving).to_contain_text("Deletion pending.")
    expect(sidebar.locator("[data-job=rituximab-fv]")).to_contain_text("<b>x</b>lead series")
    for theme, width in (("light", 300), ("dark", 500), ("dark high contrast", 300)):
        filled.set_theme(theme)
        filled.picture(f"sidebar-tags-{width}-{theme.replace(' ', '-')}", filled.show_sidebar("jobs", width))
        assert filled.accessibility_faults("#foldnote-sidebar") == []
    filled.set_theme("light")
    for grouping, title in (("project", "panel-7"), ("tags", "<b>x</b>, lead series")):
        sidebar.get_by_label("Groups").select_option(grouping)
        expect(sidebar.locator(".fn-mod-group").filter(has_text=title)).to_be_visible()
    sidebar.get_by_label("Groups").select_option("none")
    sidebar.get_by_label("Search jobs").fill("lead")
    expect(sidebar.get_by_role("row")).to_have_count(1)
    sidebar.get_by_label("Search jobs").fill("")
    filled.answer("jobs/keep", b'{"kept": ["panel-numbering"]}')
    with filled.page.expect_request(re.compile("/jobs/keep")):
        leaving.get_by_role("button", name="Undo").click()
    filled.answer("jobs", jobs_body(*JOBS))
    filled.execute("foldnote:refresh")
    expect(leaving).not_to_contain_text("Deletion pending.")


def test_the_remaining_allowance_is_shown_at_the_bottom(opened):
    sidebar = opened.show_sidebar("jobs", 300)
    expect(sidebar.locator(".fn-Account")).to_have_count(0)
    opened.answer("account", ACCOUNT)
    opened.execute("foldnote:refresh")
    expect(sidebar.get_by_role("button", name="Jobs left: at most 2 of 10")).to_be_visible()
    link = sidebar.get_by_role("link", name="Claim …")
    assert link.get_attribute("href").endswith("/foldnote/api/account/claim")
    sidebar.get_by_role("button", name="Jobs left").click()
    expect(sidebar.locator(".fn-Account")).to_contain_text("not claimed; works until")
    for theme in ("light", "dark"):
        opened.set_theme(theme)
        opened.picture(f"sidebar-account-{theme}", sidebar)
        assert opened.accessibility_faults("#foldnote-sidebar") == []
    opened.set_theme("light")
    opened.answer("account", AccountResponse(is_own_service=True).model_dump_json(by_alias=True).encode())
    opened.execute("foldnote:refresh")
    expect(sidebar.locator(".fn-Account")).to_have_count(0)


def test_the_organizations_jobs_are_looked_at_and_narrowed_to_a_member(opened):
    hosted = {"profile": "lab", "is_embedded": False, "url": "https://jobs.example.org"}
    members = [
        job.model_copy(update={"email": ("ada@example.org", "<b>bob</b>@example.org")[number % 2]})
        for number, job in enumerate(JOBS)
    ]
    opened.answer("jobs", jobs_body(*JOBS, **hosted))
    opened.answer("jobs/members", write_older(JobPage(jobs=members), Notes()).body)
    opened.execute("foldnote:refresh")
    sidebar = opened.show_sidebar("jobs", 300)
    opened.picture("sidebar-whose", sidebar)
    sidebar.get_by_label("Owner of the jobs").select_option("organization")
    rows = sidebar.get_by_role("treegrid").get_by_role("row")
    expect(rows).to_have_count(9)
    for theme, width in (("light", 300), ("dark", 500)):
        opened.set_theme(theme)
        opened.picture(f"sidebar-members-{width}-{theme}", opened.show_sidebar("jobs", width))
        assert opened.accessibility_faults("#foldnote-sidebar") == []
    opened.set_theme("light")
    sidebar.get_by_label("Member").select_option("<b>bob</b>@example.org")
    expect(rows).to_have_count(4)
    sidebar.get_by_label("Search jobs").fill("trastuzumab")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("<b>bob</b>@example.org")
    sidebar.get_by_label("Search jobs").fill("")


def test_a_refused_result_of_a_member_is_reported_in_its_row_and_its_menu(opened):
    reason = "The account may not read results of <i>bob</i>."
    opened.answer("jobs/[^/]+/view", json.dumps({"error": reason}).encode(), 403)
    sidebar = opened.show_sidebar("jobs", 300)
    row = sidebar.get_by_role("row", name="adalimumab")
    sidebar.get_by_label("Member").select_option("ada@example.org")
    row.click()
    expect(row).to_have_attribute("aria-selected", "true")
    opened.page.keyboard.press("Enter")
    expect(opened.page.locator(".fn-ResultPanel:visible").get_by_role("alert")).to_contain_text(reason)
    expect(row).to_contain_text(reason)
    sidebar.get_by_role("treegrid").focus()
    opened.page.keyboard.press("Shift+F10")
    entry = opened.page.locator(".lm-Menu-item", has_text="Open the Result")
    expect(entry).to_contain_text("the service refused")
    expect(entry).to_have_class(re.compile("lm-mod-disabled"))
    menu = opened.page.locator(".lm-Menu")
    expect(menu.get_by_text("Copy the Name", exact=True)).to_be_visible()
    for own in ("Delete", "Stop", "Tag …"):
        expect(menu.get_by_text(own, exact=True).locator("visible=true")).to_have_count(0)
    opened.picture("members-refused")
    opened.page.keyboard.press("Escape")
    assert opened.accessibility_faults("#foldnote-sidebar") == []
    opened.execute("application:close")
    sidebar.get_by_label("Owner of the jobs").select_option("mine")
    opened.answer("jobs", jobs_body(*JOBS))
    opened.execute("foldnote:refresh")
    expect(sidebar.get_by_role("button", name="All, 9 jobs")).to_be_visible()
    expect(sidebar.get_by_label("Owner of the jobs")).to_have_count(0)


def test_a_result_stays_open_when_its_batch_is_folded(filled):
    layout = {"title": "row-1", "html": "<p>what came out</p>", "files": [], "manifest": ""}
    filled.answer("jobs/row-1/view", json.dumps(layout).encode())
    page = JobPage(jobs=(make_job("row-1", batch="screen-of-the-panel"),))
    filled.answer("jobs/screen-of-the-panel/subjobs", write_older(page, Notes()).body)
    sidebar = filled.show_sidebar("jobs", 300)
    batch = sidebar.locator("[data-job=screen-of-the-panel]")
    batch.get_by_role("button", name="Show the jobs").click()
    sidebar.locator("[data-job=row-1]").dblclick()
    panel = filled.page.locator(".fn-ResultPanel:visible")
    expect(panel).to_contain_text("what came out")
    batch.get_by_role("button", name="Collapse").click()
    expect(sidebar.locator("[data-job=row-1]")).to_have_count(0)
    filled.answer("jobs", jobs_body(*JOBS[:-1]))
    filled.execute("foldnote:refresh")
    expect(sidebar.get_by_role("button", name="All, 8 jobs")).to_be_visible()
    expect(panel).to_contain_text("what came out")
    filled.execute("application:close")
    filled.answer("jobs", jobs_body(*JOBS))
    filled.execute("foldnote:refresh")
    expect(sidebar.get_by_role("button", name="All, 9 jobs")).to_be_visible()


def test_hostile_names_are_text(filled):
    sidebar = filled.show_sidebar("jobs", 1100)
    expect(sidebar.get_by_text("<img src=x onerror=window.hacked=1>")).to_be_visible()
    filled.show_sidebar("files")
    expect(sidebar.get_by_text("<img src=x>.csv")).to_be_visible()
    assert sidebar.locator("img").count() == 0
    assert filled.page.evaluate("window.hacked") is None
    assert filled.faults == []


def test_the_status_bar_and_the_tab_count_unfinished_jobs(filled):
    expect(filled.page.get_by_role("button", name="3 running, 1 queued")).to_be_visible()
    tab = filled.page.locator(".lm-TabBar-tab.fn-SideTab")
    expect(tab).to_have_attribute("data-count", "4")


def test_ten_thousand_jobs_are_a_hundred_rows(opened):
    jobs = [make_job(f"job-{index:05}", age_s=index) for index in range(10_000)]
    opened.answer("jobs", jobs_body(*jobs))
    opened.execute("foldnote:refresh")
    sidebar = opened.show_sidebar("jobs", 500)
    sidebar.get_by_role("button", name="All, 10,000 jobs").click()
    grid = sidebar.get_by_role("treegrid", name="Jobs")
    grid.focus()
    opened.page.keyboard.press("End")
    expect(sidebar.get_by_role("row", name="job-09999")).to_be_visible()
    assert sidebar.get_by_role("row").count() <= 100
    opened.page.keyboard.press("Home")
    opened.answer("jobs", jobs_body(*JOBS))
    opened.execute("foldnote:refresh")
    expect(sidebar.get_by_role("button", name="All, 9 jobs")).to_be_visible()


_STATES = (
    (ServiceState.STARTING, {"url": None}, "Starting the service on this computer"),
    (ServiceState.UNREACHABLE, {"error": "Refused."}, "The service on this computer does not answer"),
    (
        ServiceState.UNAUTHORIZED,
        {"profile": "lab", "is_embedded": False},
        "The service “lab” refuses the key",
    ),
    (ServiceState.OK, {}, "No jobs yet"),
)


def test_each_state_says_what_to_do(opened):
    sidebar = opened.show_sidebar("jobs", 300)
    for state, report, title in _STATES:
        opened.answer("jobs", jobs_body(state=state, **report))
        opened.execute("foldnote:refresh")
        expect(sidebar.get_by_text(title)).to_be_visible()
        opened.picture(f"sidebar-state-{state}", sidebar)
        assert opened.accessibility_faults("#foldnote-sidebar") == []
    opened.answer("jobs", jobs_body(*JOBS))
    opened.execute("foldnote:refresh")


def test_an_unreachable_jupyter_server_is_reported_and_recovered_from(opened):
    sidebar = opened.show_sidebar("jobs", 300)
    opened.page.route("**/foldnote/api/**", lambda route: route.abort())
    expect(sidebar.get_by_text("No connection to the Jupyter server")).to_be_visible()
    expect(sidebar.get_by_role("row", name="rituximab-fv")).to_be_visible()
    opened.picture("sidebar-offline", sidebar)
    with opened.page.expect_request("**/foldnote/api/refresh**"):
        sidebar.get_by_role("button", name="Try now").click()
    opened.page.unroute("**/foldnote/api/**")
    expect(sidebar.get_by_text("No connection to the Jupyter server")).to_have_count(0)


def test_no_request_is_sent_while_the_panel_is_hidden_and_no_job_can_end(opened):
    opened.answer("jobs", jobs_body(*(job for job in JOBS if job.is_final)))
    opened.execute("foldnote:refresh")
    asked = []
    opened.page.on("request", lambda request: asked.append(request.url))
    opened.execute("filebrowser:activate")
    opened.page.wait_for_timeout(500)
    asked.clear()
    opened.page.wait_for_timeout(2500)
    assert [url for url in asked if "foldnote/api" in url] == []
    opened.answer("jobs", jobs_body(*JOBS))


def test_a_tool_of_the_list_becomes_a_cell_of_a_new_notebook(opened):
    sidebar = opened.show_sidebar("tools", 300)
    sidebar.get_by_role("button", name="New cell with the form of AbodyBuilder").click()
    opened.page.locator(".jp-Notebook .jp-InputPrompt", has_text="[1]:").wait_for()
    assert opened.cells()[0] == 'import foldnote as fn\n\nfn.form("abodybuilder")'


def test_a_job_is_loaded_below_the_active_cell(opened):
    sidebar = opened.show_sidebar("jobs", 300)
    sidebar.locator("[data-job=rituximab-fv]").hover()
    sidebar.get_by_role("button", name="Insert a cell that loads rituximab-fv").click()
    opened.page.locator(".jp-Notebook .jp-InputPrompt", has_text="[2]:").wait_for()
    assert opened.cells()[-1] == 'import foldnote as fn\n\nfn.job("rituximab-fv")'


def test_selected_jobs_are_compared_in_a_cell(opened):
    sidebar = opened.show_sidebar("jobs", 300)
    sidebar.locator("[data-job=rituximab-fv]").click()
    sidebar.locator("[data-job=trastuzumab-fv]").click(modifiers=["ControlOrMeta"])
    compare = sidebar.get_by_role("button", name="Compare the selected jobs")
    compare.click()
    opened.page.locator(".jp-Notebook .jp-InputPrompt", has_text="[3]:").wait_for()
    assert opened.cells()[-1] == 'import foldnote as fn\n\nfn.compare("rituximab-fv", "trastuzumab-fv")'
    sidebar.get_by_role("button", name="Clear the selection").click()


def test_no_request_leaves_this_computer(opened, server):
    assert opened.outside == []
    assert server.refused == []
