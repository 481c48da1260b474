"""The sidebar in real JupyterLab: every state of it, narrow and wide, light and dark, by mouse and by keyboard."""

import pytest
from playwright.sync_api import expect
from service_records import JOBS, TOOLS, jobs_body, tools_body

from foldnote.lab.answers import ServiceState


@pytest.fixture
def filled(lab):
    """A page whose sidebar shows jobs in every state, and two tools."""
    lab.answer("jobs", jobs_body(*JOBS))
    lab.answer("tools", tools_body(*TOOLS))
    lab.answer("jobs/[^/]+/log", b'{"log": "first line\\nlast line"}')
    lab.open()
    return lab


@pytest.mark.parametrize("view", ["jobs", "tools"])
def test_it_is_readable_in_every_width_and_theme(filled, view):
    for theme in ("light", "dark"):
        filled.set_theme(theme)
        for width in (300, 1200):
            sidebar = filled.show_sidebar(view, width)
            filled.picture(f"sidebar-{view}-{width}-{theme}", sidebar)
            assert sidebar.evaluate("node => node.scrollWidth <= node.clientWidth")
            assert filled.accessibility_faults("#foldnote-sidebar") == []


def test_words_stand_beside_the_icons_of_a_row(filled):
    sidebar = filled.show_sidebar("jobs", 300)
    row = sidebar.get_by_role("row", name="trastuzumab-fv, AbodyBuilder, Running")
    expect(row).to_contain_text("Running")
    expect(row).to_contain_text("AbodyBuilder")
    expect(row).to_contain_text("42 % · Refining with OpenMM")
    expect(sidebar.get_by_role("row", name="cetuximab-fv")).to_contain_text("found no heavy chain")


def test_counts_are_filters(filled):
    sidebar = filled.show_sidebar("jobs", 300)
    sidebar.get_by_role("button", name="Running, 2 jobs").click()
    expect(sidebar.get_by_role("row")).to_have_count(2)
    sidebar.get_by_role("button", name="All, 8 jobs").click()
    expect(sidebar.get_by_role("row")).to_have_count(8)


def test_the_list_is_used_with_the_keyboard(filled):
    sidebar = filled.show_sidebar("jobs", 300)
    sidebar.get_by_role("row").first.focus()
    filled.page.keyboard.press("ArrowDown")
    expect(sidebar.get_by_role("row", name="trastuzumab-fv")).to_be_focused()
    filled.page.keyboard.press("Enter")
    expect(sidebar.get_by_label("Log of trastuzumab-fv", exact=True)).to_contain_text("last line")


def test_stopping_asks_first(filled):
    asked = []
    filled.page.on("request", lambda request: asked.append(request.url) if request.method == "POST" else None)
    sidebar = filled.show_sidebar("jobs", 300)
    sidebar.get_by_role("button", name="Stop trastuzumab-fv").click()
    filled.page.get_by_role("button", name="Cancel").click()
    assert [url for url in asked if "foldnote" in url] == []


def test_hostile_names_are_text(filled):
    sidebar = filled.show_sidebar("jobs", 1200)
    expect(sidebar.get_by_text("<img src=x onerror=window.hacked=1>")).to_be_visible()
    assert sidebar.locator("img").count() == 0
    assert filled.page.evaluate("window.hacked") is None
    assert filled.faults == []


_STATES = (
    (ServiceState.STARTING, {"url": None}, "Starting the service of this computer"),
    (ServiceState.UNREACHABLE, {"error": "Refused."}, "The service of this computer does not answer"),
    (
        ServiceState.UNAUTHORIZED,
        {"profile": "lab", "is_embedded": False},
        "The service “lab” refuses the key",
    ),
    (ServiceState.OK, {}, "No jobs yet"),
)


def test_each_state_says_what_to_do(lab):
    lab.answer("tools", tools_body(*TOOLS))
    lab.answer("jobs", jobs_body(state=ServiceState.STARTING, url=None))
    lab.open()
    sidebar = lab.show_sidebar("jobs", 300)
    for state, report, title in _STATES:
        lab.answer("jobs", jobs_body(state=state, **report))
        lab.execute("foldnote:refresh")
        expect(sidebar.get_by_text(title)).to_be_visible()
        lab.picture(f"sidebar-state-{state}", sidebar)
        assert lab.accessibility_faults("#foldnote-sidebar") == []


def test_it_asks_nothing_while_it_is_hidden_and_no_job_can_end(filled):
    filled.answer("jobs", jobs_body(*(job for job in JOBS if job.is_final)))
    filled.execute("foldnote:refresh")
    asked = []
    filled.page.on("request", lambda request: asked.append(request.url))
    filled.execute("filebrowser:activate")
    filled.page.wait_for_timeout(300)
    asked.clear()
    filled.page.wait_for_timeout(4000)
    assert [url for url in asked if "foldnote/api" in url] == []


def test_a_tool_of_the_list_becomes_a_cell_of_a_new_notebook(filled):
    sidebar = filled.show_sidebar("tools", 300)
    sidebar.get_by_role("button", name="New cell with the form of AbodyBuilder").click()
    filled.page.locator(".jp-Notebook .jp-InputPrompt", has_text="[1]:").wait_for(timeout=60_000)
    assert filled.cells()[0] == 'import foldnote as fn\n\nfn.form("abodybuilder")'


def test_a_card_of_the_launcher_becomes_a_cell_of_a_new_notebook(filled):
    card = filled.page.locator(".jp-LauncherCard", has_text="AbodyBuilder")
    expect(card).to_have_count(1)
    filled.picture("launcher")
    card.click()
    filled.page.locator(".jp-Notebook .jp-InputPrompt", has_text="[1]:").wait_for(timeout=60_000)
    assert filled.cells()[0].endswith('fn.form("abodybuilder")')
    expect(filled.page.locator(".jp-LauncherCard")).to_have_count(0)


def test_a_job_is_loaded_below_the_active_cell(filled, server):
    server.write_notebook("work.ipynb", "1 + 1")
    filled.open("work.ipynb", workspace="work")
    filled.wait_for_kernel()
    sidebar = filled.show_sidebar("jobs", 300)
    sidebar.get_by_role("button", name="Insert a cell that loads rituximab-fv").click()
    filled.page.locator(".jp-Notebook .jp-InputPrompt", has_text="[1]:").wait_for(timeout=60_000)
    assert filled.cells() == ["1 + 1", 'import foldnote as fn\n\nfn.job("rituximab-fv")']


def test_nothing_outside_this_computer_was_wanted(filled, server):
    filled.show_sidebar("jobs", 300)
    assert filled.outside == []
    assert server.refused == []
