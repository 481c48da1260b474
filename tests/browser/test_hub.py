"""foldnote on a real JupyterHub with two users at once: neither sees the other's jobs, files or key.

The steps build on each other, so they share one hub and run in order.
"""

import pytest
from hub_server import HubServer, HubUser, status_of
from lab_page import LabPage
from lab_server import service_of
from patience import PATIENCE_MS
from playwright.sync_api import Error, expect
from test_job_in_lab import HEAVY, LIGHT

pytestmark = pytest.mark.cluster  # starting a hub and three JupyterLabs takes a minute
JOB = "on-a-hub.structure.score"


class Visitor(LabPage):
    """A user's page.

    Attributes:
        heard: every response of the server extension to the page: URL and text.
    """

    def __init__(self, context, user):
        super().__init__(context, user)
        self.heard = []
        self.page.on("response", self._note)

    def _note(self, response):
        if "/foldnote/api/" in response.url and "static" not in response.url and response.status == 200:
            try:
                self.heard.append((response.url, response.text()))
            except Error as fault:  # the page navigated away before the text was read
                self.heard.append((response.url, str(fault)))


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    hub = HubServer(tmp_path_factory.mktemp("jupyterhub"))
    try:
        hub.start()
        yield hub
    finally:
        hub.stop()


@pytest.fixture(scope="module")
def enter(chromium, hub):
    """Log a user in, in the user's own browser, and open JupyterLab."""
    contexts = []

    def enter(name):
        context = chromium.new_context(viewport={"width": 1400, "height": 900}, accept_downloads=True)
        context.set_default_timeout(PATIENCE_MS)
        contexts.append(context)
        visitor = Visitor(context, HubUser(hub, name))
        visitor.server.log_in(visitor.page)
        visitor.open()
        return visitor

    yield enter
    for context in contexts:
        context.close()


@pytest.fixture(scope="module")
def ann(enter):
    return enter("ann@lab")


@pytest.fixture(scope="module")
def bob(enter):
    return enter("bob")


def test_a_job_of_a_form_is_seen_in_the_sidebar_and_drawn_in_the_cell(ann):
    ann.page.locator(".jp-LauncherCard", has_text="AbodyBuilder").first.click()
    form = ann.page.locator(".foldnote-form")
    form.locator("textarea").nth(0).fill(HEAVY)
    form.locator("textarea").nth(1).fill(LIGHT)
    form.get_by_label("Job name").fill(JOB)
    sidebar = ann.show_sidebar("jobs", 300)
    form.get_by_role("button", name="Submit", exact=True).click()
    expect(sidebar.locator(f"[data-job='{JOB}']")).to_contain_text("Complete")
    ann.page.locator(
        ".jp-OutputArea-output .fnv-stage"
    ).first.scroll_into_view_if_needed()  # views are drawn when they become visible
    assert ann.wait_until_drawn(ann.page.locator(".jp-OutputArea-output canvas").first)["drawn"] > 300
    ann.picture("hub-job")


def test_its_result_opens_in_a_tab(ann):
    ann.show_sidebar("jobs", 300).locator(f"[data-job='{JOB}']").dblclick()
    panel = ann.page.locator(".fn-ResultPanel:visible")
    assert ann.wait_until_drawn(panel.locator(".fnv-stage canvas").first)["drawn"] > 300
    ann.picture("hub-result")


def test_a_file_is_uploaded_through_the_hubs_proxy(ann):
    sidebar = ann.show_sidebar("files", 300)
    sent = {"name": "target.pdb", "mimeType": "", "buffer": b"ATOM\n" * 500_000}
    sidebar.get_by_label("Files to upload").set_input_files(sent)
    expect(sidebar.get_by_role("listitem").filter(has_text="target.pdb")).to_contain_text("2.5 MB")


def test_another_user_has_a_separate_service_and_list(ann, bob):
    sidebar = bob.show_sidebar("jobs", 300)
    expect(sidebar.locator(".fn-ServiceBar-word")).to_have_text("Connected")
    expect(sidebar.get_by_text("No jobs yet")).to_be_visible()
    expect(bob.show_sidebar("files", 300).get_by_text("No files yet")).to_be_visible()
    bob.picture("hub-other-user")
    hers, his = service_of(ann.server), service_of(bob.server)
    assert hers["pid"] != his["pid"]
    assert status_of(f"{hers['url']}/jobs", hers["key"]) == 200
    assert status_of(f"{his['url']}/jobs", hers["key"]) == 401


@pytest.mark.parametrize("route", ["jobs", "files", f"jobs/{JOB}/view", f"jobs/{JOB}/log", "profiles"])
def test_the_hub_keeps_another_users_routes_shut(ann, bob, route):
    path = f"foldnote/api/{route}"
    assert ann.page.request.get(ann.server.url + path).status == 200
    assert bob.page.request.get(ann.server.url + path).status == 403


def test_no_page_holds_a_key_or_wanted_anything_outside(ann, bob, hub):
    keys = [service_of(visitor.server)["key"] for visitor in (ann, bob)]
    for visitor in (ann, bob):
        assert {url.split("/api/")[1].split("?")[0].split("/")[0] for url, _ in visitor.heard} >= {
            "jobs",
            "files",
        }
        told = [*(text for _, text in visitor.heard), visitor.page.content(), hub.log]
        kept = visitor.page.evaluate(
            "JSON.stringify([document.cookie, {...localStorage}, {...sessionStorage}])"
        )
        for key in keys:
            assert not any(key in text for text in [*told, kept])
        assert "signature=" not in " ".join(told[:-1]).lower()
        assert (visitor.outside, visitor.faults) == ([], [])
    assert hub.refused == []


def test_a_server_that_was_stopped_is_reported_and_the_way_back(bob, hub):
    sidebar = bob.show_sidebar("jobs", 300)
    home = bob.page.context.new_page()
    home.goto(f"{hub.url}hub/home")
    stop = home.locator("#stop")
    home.wait_for_function("window.jQuery?._data?.(document.querySelector('#stop'), 'events')?.click")
    stop.click()  # the hub's page handles clicks only once its scripts have loaded
    expect(stop).to_be_hidden()
    bob.page.bring_to_front()
    told = sidebar.get_by_text("Reload the page to let the hub restart it")
    expect(told).to_be_visible()
