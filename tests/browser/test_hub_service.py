"""One foldnote service for all users of a JupyterHub, used from two users' JupyterLabs without a key.

The steps build on each other, so they share one hub and run in order.
"""

from pathlib import Path

import httpx
import pytest
from hub_server import HubServer, HubUser
from lab_page import LabPage
from lab_server import find_free_port
from patience import PATIENCE_MS
from playwright.sync_api import expect
from service_process import ServiceProcess
from test_job_in_lab import HEAVY, LIGHT

pytestmark = pytest.mark.cluster  # starting a hub and two JupyterLabs takes a minute
JOB = "from-the-hub"


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    """Reserve the service's address for the hub's users, before the service is configured with the hub's address."""
    service = ServiceProcess(tmp_path_factory.mktemp("service"), "--port", str(find_free_port()))
    yield service
    service.kill()


@pytest.fixture(scope="module")
def hub(tmp_path_factory, service):
    port = service.arguments[1]
    hub = HubServer(tmp_path_factory.mktemp("jupyterhub"), f"http://127.0.0.1:{port}")
    config = service.folder / "home" / "config" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f'[jupyterhub]\napi_url = "{hub.api_url}"\nemail = "{{name}}@hub.lab"\n')
    service.start()
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
        context = chromium.new_context(viewport={"width": 1400, "height": 900})
        context.set_default_timeout(PATIENCE_MS)
        contexts.append(context)
        visitor = LabPage(context, HubUser(hub, name))
        visitor.server.log_in(visitor.page)
        visitor.open()
        return visitor

    yield enter
    for context in contexts:
        context.close()


@pytest.fixture(scope="module")
def ann(enter):
    return enter("ann")


@pytest.fixture(scope="module")
def bob(enter):
    return enter("bob")


def token_of(hub, name):
    """Return the token of a user's server, from its process's environment. Other hubs may have users of this name."""
    for file in Path("/proc").glob("[0-9]*/environ"):
        try:
            variables = dict(
                row.split("=", 1) for row in file.read_text(errors="replace").split("\0") if "=" in row
            )
        except OSError:
            continue
        at = variables.get("JUPYTERHUB_API_URL"), variables.get("JUPYTERHUB_USER")
        if at == (hub.api_url, name) and "JUPYTERHUB_API_TOKEN" in variables:
            return variables["JUPYTERHUB_API_TOKEN"]
    raise LookupError(name)


def test_a_job_of_a_form_runs_at_the_shared_service(ann, hub, service):
    ann.page.locator(".jp-LauncherCard", has_text="AbodyBuilder").first.click()
    form = ann.page.locator(".foldnote-form")
    form.locator("textarea").nth(0).fill(HEAVY)
    form.locator("textarea").nth(1).fill(LIGHT)
    form.get_by_label("Job name").fill(JOB)
    sidebar = ann.show_sidebar("jobs", 300)
    form.get_by_role("button", name="Submit", exact=True).click()
    expect(sidebar.locator(f"[data-job='{JOB}']")).to_contain_text("Complete")
    ann.picture("hub-service")
    jobs = httpx.get(f"{service.url}/jobs", headers={"x-api-key": key_of(service, hub, "ann")}).json()["jobs"]
    assert [(job["jobName"], job["email"]) for job in jobs] == [(JOB, "ann@hub.lab")]


def key_of(service, hub, name):
    answer = httpx.post(f"{service.url}/jupyterhub/key", headers={"x-api-key": token_of(hub, name)})
    return answer.json()["apiKey"]


def test_another_user_sees_none_of_it(ann, bob):
    sidebar = bob.show_sidebar("jobs", 300)
    expect(sidebar.locator(".fn-ServiceBar-word")).to_have_text("Connected")
    expect(sidebar.get_by_text("No jobs yet")).to_be_visible()
    bob.picture("hub-service-other-user")


def test_no_home_page_or_log_has_a_key_or_a_token(ann, bob, hub, service):
    secrets = [text for name in ("ann", "bob") for text in (token_of(hub, name), key_of(service, hub, name))]
    secrets.append(service.key)
    files = [file for file in hub.homes.rglob("*") if file.is_file()]
    own = [
        file for file in files if file.parts[-3:-1] == ("jupyter", "runtime")
    ]  # where Jupyter stores the token
    told = {str(file): file.read_bytes() for file in files if file not in own}
    told |= {"hub.log": hub.log.encode(), "service.log": (service.folder / "service.log").read_bytes()}
    for visitor in (ann, bob):
        stored = "JSON.stringify([document.cookie, {...localStorage}, {...sessionStorage}])"
        told[f"page of {visitor.server.name}"] = visitor.page.content().encode()
        told[f"storage of {visitor.server.name}"] = visitor.page.evaluate(stored).encode()
        assert (visitor.outside, visitor.faults) == ([], [])
    assert [place for place, text in told.items() if any(secret.encode() in text for secret in secrets)] == []
    assert list(hub.homes.glob("*/.local/share/foldnote/run/service.json")) == []
    assert hub.refused == []
