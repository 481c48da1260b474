"""Results of jobs in no list: other services, other members' batches, shared links; and uploads across a restart of
Jupyter.
"""

import json
import re
import subprocess
import sys
from urllib.parse import urlsplit

import httpx
import pytest
from lab_server import ROOT
from playwright.sync_api import expect

SEQUENCE = "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVARIYPTNGYTRYADSVKGRFTISADTSKNTAYLQMNSLRAEDTAVYYCSRWGGDGFYAMDYWGQGTLVTVSS"
SETTINGS = {"sequence": SEQUENCE, "scheme": "imgt"}
MEMBER, OWN = "bob@lab.org", "local@foldnote.invalid"


class Hosted:
    """A service beside the one that JupyterLab starts."""

    def __init__(self, folder, environment):
        self._environment = environment | {"FOLDNOTE_HOME": str(folder / "home")}
        self.data = str(folder / "data")
        self.start()

    def start(self, port="0"):
        command = (*("serve", "--json", "--no-rate-limit"), *("--port", port, "--data-dir", self.data))
        self._process = subprocess.Popen(
            [sys.executable, "-m", "foldnote", *command], stdout=subprocess.PIPE, env=self._environment
        )
        said = json.loads(self._process.stdout.readline())
        self.url, self.key = said["url"], said["key"]

    def kill(self):
        self._process.kill()
        self._end()

    def start_again(self):
        self.start(str(urlsplit(self.url).port))

    def stop(self):
        self._process.terminate()
        self._end()

    def _end(self):
        self._process.wait()
        self._process.stdout.close()

    def manage(self, *arguments):
        command = [sys.executable, "-m", "foldnote", "admin", "--data-dir", self.data, "--json", *arguments]
        said = subprocess.run(command, capture_output=True, check=True, env=self._environment)
        return json.loads(said.stdout)

    def ask(self, method, route, body, key=None):
        headers = {"x-api-key": key or self.key}
        answer = httpx.request(method, f"{self.url}{route}", json=body, headers=headers, timeout=60)
        assert answer.status_code == 200, answer.text

    def submit(self, name, key=None):
        self.ask("POST", "/submit-job", {"jobName": name, "type": "anarci", "settings": SETTINGS}, key)


@pytest.fixture(scope="module")
def hosted(server, tmp_path_factory):
    """Start the service “lab”, a profile of this JupyterLab, with its own jobs."""
    environment = server.environment() | {"FOLDNOTE_ENGINE_PATH": str(ROOT / "tests" / "engines")}
    service = Hosted(tmp_path_factory.mktemp("hosted"), environment)
    profile = {"name": "lab", "url": service.url, "key": service.key}
    headers = {"Authorization": f"token {server.token}"}
    kept = httpx.post(f"{server.url}foldnote/api/profiles", json=profile, headers=headers, timeout=60)
    assert kept.json()["isGood"], kept.text
    for name in ("theirs.output-2", "kept.output-2"):
        service.submit(name)
    yield service
    service.stop()


@pytest.fixture(scope="module")
def lab(shared_lab, hosted):
    """Open the page, with this computer's service started and shown in the sidebar."""
    shared_lab.open()
    expect(shared_lab.show_sidebar("jobs", 300).get_by_text("No jobs yet")).to_be_visible()
    return shared_lab


def panel_of(lab, name):
    """Return the tab of a job, once it is in front."""
    panel = lab.page.locator(".fn-ResultPanel:visible")
    expect(panel.get_by_role("heading", name=name)).to_be_visible()
    return panel


def look(lab, picture, *themes):
    """Save screenshots in these themes, and assert that axe-core finds nothing."""
    for theme in themes:
        lab.set_theme(theme)
        lab.picture(f"{picture}-{theme}")
    lab.picture(picture)
    assert lab.accessibility_faults(".fn-ResultPanel:not(.lm-mod-hidden)") == []


def test_an_unknown_job_is_reported_with_the_services_that_may_have_it(lab):
    lab.execute("foldnote:open-job", job="<i>no such</i> job")
    panel = panel_of(lab, "<i>no such</i> job")
    notice = panel.get_by_role("status").filter(has_text="No such job")
    expect(notice).to_contain_text("The service on this computer had no job with this name at")
    look(lab, "result-unknown", "dark", "light")
    expect(panel.get_by_role("button", name="Insert cell")).to_be_disabled()
    panel.get_by_role("button", name="Close").click()
    expect(lab.page.locator(".fn-ResultPanel")).to_have_count(0)


def test_a_job_of_another_service_is_found_from_its_tab_and_stays_of_that_service(lab):
    lab.execute("foldnote:open-job", job="theirs.output-2")
    panel_of(lab, "theirs.output-2").get_by_role("button", name="Look for it at lab").click()
    panel = panel_of(lab, "theirs.output-2")
    panel.get_by_role("tab", name="Files").click()
    expect(panel).to_contain_text("file-1.txt")
    expect(panel).to_contain_text("at lab")
    expect(lab.page.locator(".fn-ResultPanel")).to_have_count(1)
    look(lab, "result-of-another-service")


def test_tabs_of_two_services_are_there_after_a_reload_whichever_is_chosen(lab, server):
    sidebar = lab.show_sidebar("jobs", 300)
    sidebar.get_by_label("Service", exact=True).select_option("lab")
    expect(sidebar.locator("[data-job='kept.output-2']")).to_contain_text("Complete")
    lab.execute("foldnote:open-job", job="not-here", profile="embedded")
    panel_of(lab, "not-here")
    lab.reopen(
        lambda saved: (
            len([name for name in saved if name.startswith("foldnote-results:")]) == 2
            and "not-here" in json.dumps(saved.get("layout-restorer:data", {}))
        )
    )
    for name, words in (
        ("theirs.output-2", "Complete"),
        ("not-here", "The service on this computer had no job"),
    ):
        lab.page.locator(".lm-DockPanel-tabBar .lm-TabBar-tab", has_text=name).click()
        expect(panel_of(lab, name)).to_contain_text(words)


def test_a_job_deleted_while_its_tab_is_open_is_reported_and_its_result_stays(lab, hosted):
    lab.execute("foldnote:open-job", job="kept.output-2")
    panel = panel_of(lab, "kept.output-2")
    panel.get_by_role("tab", name="Files").click()
    expect(panel).to_contain_text("file-1.txt")
    hosted.ask("DELETE", "/delete-job", {"jobName": "kept.output-2"})
    expect(panel).to_contain_text("This job no longer exists")
    expect(panel).to_contain_text("The service “lab” had this job at")
    expect(panel).to_contain_text("file-1.txt")
    expect(panel.get_by_role("button", name="Download", exact=True)).to_be_disabled()
    look(lab, "result-deleted")


def test_a_job_that_runs_shows_how_far_it_is_and_becomes_its_result(lab, hosted):
    hosted.submit("runs.sleep-5.output-3")
    lab.execute("foldnote:open-job", job="runs.sleep-5.output-3")
    panel = panel_of(lab, "runs.sleep-5.output-3")
    seen = panel.get_by_role("progressbar").or_(panel.get_by_text("Complete"))
    expect(seen.first).to_be_visible()
    look(lab, "result-running")
    panel.get_by_role("tab", name="Files").click()
    expect(panel).to_contain_text("file-2.txt")


def test_a_tab_reports_an_unreachable_service_and_continues_when_it_is_back(lab, hosted):
    hosted.submit("late.output-4")
    sidebar = lab.show_sidebar("jobs", 300)
    expect(sidebar.locator("[data-job='late.output-4']")).to_contain_text("Complete")
    sidebar.get_by_label("Service", exact=True).select_option("embedded")
    expect(sidebar.get_by_text("No jobs yet")).to_be_visible()
    hosted.kill()
    lab.execute("foldnote:open-job", job="late.output-4", profile="lab")
    panel = panel_of(lab, "late.output-4")
    expect(panel).to_contain_text("The service does not answer")
    expect(panel).to_contain_text("Retrying automatically.")
    look(lab, "result-service-gone")
    hosted.start_again()
    expect(panel).to_contain_text("Complete")
    panel.get_by_role("tab", name="Files").click()
    expect(panel).to_contain_text("file-3.txt")


def test_another_members_batch_unfolds_into_its_jobs_whose_results_open(lab, hosted):
    key = hosted.manage("issue-key", MEMBER)["key"]
    hosted.manage("add-organization", "lab")
    for address in (MEMBER, OWN):
        hosted.manage("add-member", "lab", address)
    names = ["row-one.output-1", "row-two.output-1"]
    batch = {"batchName": "their-screen", "type": "anarci", "settings": [SETTINGS] * 2, "jobNames": names}
    hosted.ask("POST", "/submit-batch", batch, key)
    sidebar = lab.show_sidebar("jobs", 300)
    sidebar.get_by_label("Service", exact=True).select_option("lab")
    lab.choose_member(sidebar, MEMBER)
    row = sidebar.locator("[data-job='their-screen']")
    row.get_by_role("button", name="Show the jobs of their-screen").click()
    child = sidebar.locator("[data-job='row-two.output-1']")
    expect(child).to_be_visible()
    for _ in range(300):  # this list is read on request and not polled
        if "Complete" in child.inner_text():
            break
        lab.page.wait_for_timeout(200)
        lab.execute("foldnote:refresh")
    for width, theme in ((300, "light"), (500, "dark")):
        lab.set_theme(theme)
        lab.picture(f"members-batch-{width}", lab.show_sidebar("jobs", width))
    lab.set_theme("light")
    assert lab.accessibility_faults("#foldnote-sidebar") == []
    child.dblclick()
    panel = panel_of(lab, "row-two.output-1")
    expect(panel).to_contain_text(f"Owner: {MEMBER}")
    panel.get_by_role("tab", name="Files").click()
    expect(panel).to_contain_text("file-0.txt")
    row.click()
    lab.page.keyboard.press("ArrowLeft")
    expect(child).to_have_count(0)
    lab.page.keyboard.press("ArrowRight")
    expect(child).to_be_visible()


def test_a_job_is_shared_from_its_tab_and_the_link_is_revoked(lab, hosted):
    lab.execute("foldnote:open-job", job="theirs.output-2", profile="lab")
    panel = panel_of(lab, "theirs.output-2")
    expect(panel).to_contain_text("Complete")
    said = []
    lab.page.on("response", lambda answer: said.append(answer) if "/shares" in answer.url else None)
    panel.get_by_role("button", name="Share …").click()
    dialog = lab.page.get_by_role("dialog")
    dialog.get_by_label("Valid for").select_option("7 days")
    dialog.get_by_role("button", name="Create link").click()
    link = dialog.get_by_label("New link")
    expect(link).to_have_value(re.compile(rf"^{re.escape(hosted.url)}/shared#\S{{40,}}$"))
    expect(dialog).to_contain_text("Not opened yet")
    for theme in ("dark", "light"):
        lab.set_theme(theme)
        lab.picture(f"share-{theme}")
    assert lab.accessibility_faults(".jp-Dialog-content") == []
    url = link.input_value()
    dialog.get_by_role("button", name="Copy", exact=True).click()
    expect(dialog).to_contain_text("Copied.")
    dialog.get_by_role("button", name="Revoke").click()
    expect(dialog).to_contain_text("The link no longer works.")
    expect(link).to_have_count(0)
    expect(dialog.get_by_role("listitem")).to_have_count(0)
    asked = {"json": {"token": url.partition("#")[2]}, "headers": {"x-api-key": hosted.key}, "timeout": 60}
    answer = httpx.post(f"{hosted.url}/shared", **asked)
    assert answer.status_code == 404
    dialog.get_by_role("button", name="Close").click()
    assert len(said) >= 4
    assert not any(hosted.key in json.dumps(each.request.headers) + each.text() for each in said)


def test_only_a_job_of_a_service_with_colleagues_can_be_shared(lab):
    seen = """([profile]) => window.jupyterapp.commands.isVisible('foldnote:share-job', { job: 'any', profile })"""
    assert lab.page.evaluate(seen, ["lab"])
    assert not lab.page.evaluate(seen, ["embedded"])


def test_the_link_of_a_colleague_opens_in_a_tab_and_is_read_only(lab, hosted):
    key = hosted.manage("issue-key", "cat@lab.org")["key"]
    hosted.submit("cats.output-2", key)
    headers = {"x-api-key": key}
    asked = {"headers": headers, "timeout": 60}
    for _ in range(600):
        if (
            httpx.get(f"{hosted.url}/jobs", params={"jobName": "cats.output-2"}, **asked).json()["status"]
            == "Complete"
        ):
            break
        lab.page.wait_for_timeout(100)
    made = httpx.post(f"{hosted.url}/shares", json={"jobName": "cats.output-2"}, **asked).json()
    paste_link(lab, made["url"])
    panel = panel_of(lab, "cats.output-2")
    expect(panel).to_contain_text("Shared with you, read-only · ")
    expect(panel.get_by_role("button", name="Change and run again")).to_have_count(0)
    expect(panel.get_by_role("tab")).to_have_text(["Result", "Files", "Settings", "Provenance"])
    look(lab, "shared", "dark", "light")
    panel.get_by_role("tab", name="Settings").click()
    expect(panel).to_contain_text(SEQUENCE[:20])
    panel.get_by_role("tab", name="Files").click()
    with lab.page.expect_download() as saved:
        panel.get_by_role("button", name="file-1.txt", exact=True).click()
    assert saved.value.suggested_filename == "file-1.txt"
    assert saved.value.path().stat().st_size > 0
    httpx.delete(f"{hosted.url}/shares/{made['name']}", **asked)
    paste_link(lab, made["url"])
    told = lab.page.get_by_role("dialog", name="The shared link cannot be opened")
    expect(told).to_contain_text("There is nothing to open by this link for you")
    told.get_by_role("button").last.click()
    paste_link(lab, "http://127.0.0.1:9/elsewhere")
    expect(told).to_contain_text(
        "which looks like https://lab.example.org/shared#…, with all that is after the #."
    )
    told.get_by_role("button").last.click()


def share_batch(lab, hosted, name, jobs):
    """Share a finished batch of another account; return its link and a function that sends requests with that
    account's key.
    """
    asked = {"headers": {"x-api-key": hosted.manage("issue-key", f"{name}@lab.org")["key"]}, "timeout": 60}
    body = {"batchName": name, "type": "anarci", "settings": [SETTINGS] * len(jobs), "jobNames": jobs}
    answer = httpx.post(f"{hosted.url}/submit-batch", json=body, **asked)
    assert answer.status_code == 200, answer.text
    for _ in range(600):
        record = httpx.get(f"{hosted.url}/jobs", params={"jobName": name}, **asked).json()
        if record["status"] == "Complete":
            break
        lab.page.wait_for_timeout(100)
    return httpx.post(f"{hosted.url}/shares", json={"jobName": name}, **asked).json(), asked


def open_row(lab, panel, job):
    """Click on a job's row in the filtered table; return the server's response."""
    panel.get_by_label("Filter rows").fill(job)
    is_asked = re.compile(r"/foldnote/api/shared(\?|$)")
    with lab.page.expect_response(lambda answer: bool(is_asked.search(answer.url))) as answered:
        panel.get_by_role("button", name=job, exact=True).click()
    return answered.value


def test_a_row_of_a_colleagues_batch_opens_its_result_in_the_tab_until_the_link_ends(lab, hosted):
    made, asked = share_batch(lab, hosted, "lions", [f"lion-{each}.structure" for each in range(24)])
    paste_link(lab, made["url"])
    panel = panel_of(lab, "lions")
    answer = open_row(lab, panel, "lion-23.structure")
    assert (answer.status, answer.json()["title"]) == (200, "lion-23.structure")
    assert hosted.key not in json.dumps(answer.request.all_headers()) + answer.text()
    row = panel.get_by_role("region", name="Result of lion-23.structure")
    lab.wait_until_drawn(row.locator("canvas").first)
    expect(row).not_to_contain_text("Loading the result")
    row.scroll_into_view_if_needed()
    look(lab, "shared-row", "dark", "light")
    httpx.delete(f"{hosted.url}/shares/{made['name']}", **asked)
    assert open_row(lab, panel, "lion-22.structure").status == 404
    row = panel.get_by_role("region", name="Result of lion-22.structure")
    expect(row).to_contain_text("The result cannot be shown: There is nothing to open by this link for you")
    expect(row).not_to_contain_text("fn.job(")
    assert panel.locator("thead th").first.evaluate(
        """th => {
             th.closest('.fnt-box').scrollTop = 60;
             const { x, y, width, height } = th.getBoundingClientRect();
             return th.contains(document.elementFromPoint(x + width / 2, y + height / 2));
           }"""
    ), "a row covers the heading of its column"
    lab.picture("shared-row-ended")


def test_the_tab_of_a_shared_job_comes_back_after_a_reload_and_says_why_where_it_cannot(lab, hosted, server):
    made, asked = share_batch(lab, hosted, "tigers", ["tiger-1", "tiger-2"])
    paste_link(lab, made["url"])
    expect(panel_of(lab, "tigers")).to_contain_text("tiger-2")
    first = reload(lab, made["url"])
    panel = panel_of(lab, "tigers")
    expect(panel).to_contain_text("Shared with you, read-only · ")
    panel.get_by_role("button", name="tiger-2").click()
    expect(panel.get_by_role("region", name="Result of tiger-2")).to_contain_text("Probe of the tests")
    with lab.page.expect_download():
        panel.get_by_role("button", name="Download").click()
    lab.picture("shared-restored")
    server.kill()
    server.start()
    reload(lab, made["url"])
    panel = panel_of(lab, "tigers")
    notice = panel.get_by_role("status").filter(has_text="The shared job cannot be opened")
    expect(notice).to_contain_text("keeps links to shared jobs in its memory only")
    look(lab, "shared-forgotten", "dark", "light")
    notice.get_by_role("button", name="Open a shared link …").click()
    paste_link(lab, made["url"], is_asked=True)
    expect(panel_of(lab, "tigers")).to_contain_text("tiger-2")
    expect(lab.page.locator(".lm-DockPanel-tabBar .lm-TabBar-tab", has_text="tigers")).to_have_count(1)
    httpx.delete(f"{hosted.url}/shares/{made['name']}", **asked)
    reload(lab, made["url"], before=first)
    panel = panel_of(lab, "tigers")
    expect(panel).to_contain_text("There is nothing to open by this link for you")
    lab.picture("shared-ended")
    panel.get_by_role("button", name="Close").click()
    expect(lab.page.locator(".lm-DockPanel-tabBar .lm-TabBar-tab", has_text="tigers")).to_have_count(0)


def reload(lab, link, before=()):
    """Reload the page with its layout once it is saved with a tab other than ``before``; return the names of the
    saved tabs.

    The saved layout contains no link.
    """
    kept = set()

    def is_saved(saved):
        kept.clear()
        kept.update(name for name in saved if name.startswith("foldnote-results:") and "tigers" in name)
        layout = json.dumps(saved.get("layout-restorer:data", {}))
        if not kept or kept & set(before) or not all(name in layout for name in kept):
            return False
        assert '"share"' in json.dumps(saved)
        assert link.partition("#")[2] not in json.dumps(saved)
        return True

    lab.reopen(is_saved)
    return kept


def paste_link(lab, url, *, is_asked=False):
    """Type a link into the dialog, opening it by its command if needed."""
    if not is_asked:
        lab.page.evaluate("() => void window.jupyterapp.commands.execute('foldnote:open-shared')")
    dialog = lab.page.get_by_role("dialog")
    dialog.get_by_role("textbox").fill(url)
    dialog.get_by_role("button", name="Open").click()


def test_an_upload_resumes_after_the_jupyter_server_was_killed(lab, server, tmp_path):
    (tmp_path / "long.pdb").write_bytes(b"ATOM\n" * 2_400_000)
    sidebar = lab.show_sidebar("files", 300)
    offsets = []

    def kill_at_the_second_piece(route):
        if route.request.method == "PUT":
            offsets.append(int(re.search(r"offset=(\d+)", route.request.url)[1]))
            if len(offsets) == 2:
                server.kill()
        route.continue_()

    lab.page.route("**/foldnote/api/files/uploads/*", kill_at_the_second_piece)
    sidebar.get_by_label("Files to upload").set_input_files(tmp_path / "long.pdb")
    expect(sidebar.locator(".fn-Upload")).to_contain_text("The connection was lost. The upload will resume")
    lab.picture("upload-jupyter-gone", sidebar)
    server.start()
    listed = sidebar.get_by_role("listitem").filter(has_text="long.pdb")
    expect(listed).to_contain_text("12 MB")
    lab.page.unroute("**/foldnote/api/files/uploads/*")
    assert offsets == [0, 4 * 1024**2, 4 * 1024**2, 8 * 1024**2]


def test_no_request_leaves_this_computer(server):
    assert server.refused == []
