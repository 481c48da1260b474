"""A profile that signs in with JupyterHub: which service gets the token, and what users cannot change."""

import logging

import pytest
from scripted_service import ScriptedService, answers, breaks
from test_client_secrecy import seen_of

from foldnote import settings
from foldnote.cli import main
from foldnote.client import AsyncClient, Client
from foldnote.errors import ConfigurationError, FoldnoteError, UnauthorizedError

TOKEN = "hub-SENTINEL-0815"
KEY = "fn-SENTINEL-4711"
PATH = "/jupyterhub/key"
NO_JOBS = answers({"jobs": [], "statuses": {}})
ISSUED = answers({"apiKey": KEY, "expiresInSeconds": 900})


@pytest.fixture
def site(tmp_path, monkeypatch, scripted):
    """Write the administrator's file for a service that takes the token."""
    file = tmp_path / "site.toml"
    file.write_text(f'profile = "lab"\n[profiles.lab]\nbase_url = "{scripted.url}"\nsign_in = "jupyterhub"\n')
    monkeypatch.setenv("FOLDNOTE_SITE_CONFIG", str(file))
    monkeypatch.setenv("JUPYTERHUB_API_TOKEN", TOKEN)
    scripted.on("POST", PATH, ISSUED)
    scripted.on("GET", "/jobs", NO_JOBS)
    return file


@pytest.fixture
def elsewhere():
    service = ScriptedService()
    service.on("GET", "/jobs", NO_JOBS)
    service.on("POST", PATH, ISSUED)
    yield service
    service.close()


def told(service):
    """Return everything that a service received."""
    return "".join(f"{asked.path} {asked.headers} {asked.body}" for asked in service.asked)


def write_config(text):
    (settings.config_dir() / "config.toml").write_text(text)


def test_the_token_is_sent_once_and_the_key_from_then_on(site, scripted):
    with Client() as client:
        client.jobs.list()
        client.jobs.list()
    assert [(asked.path.split("?")[0], asked.headers["x-api-key"]) for asked in scripted.asked] == [
        (PATH, TOKEN),
        ("/jobs", KEY),
        ("/jobs", KEY),
    ]


async def test_the_same_awaited(site, scripted):
    async with AsyncClient() as client:
        await client.jobs.list()
    assert [asked.headers["x-api-key"] for asked in scripted.asked] == [TOKEN, KEY]


def test_a_key_that_is_no_longer_valid_is_replaced_once(site, scripted):
    scripted.on("GET", "/jobs", answers({"error": "no"}, 401), NO_JOBS)
    with Client() as client:
        client.jobs.list()
    assert scripted.count("POST", PATH) == 2
    scripted.on("GET", "/jobs", answers({"error": "no"}, 401))
    with Client() as client, pytest.raises(UnauthorizedError):
        client.jobs.list()
    assert scripted.count("POST", PATH) == 4


def test_a_key_is_replaced_before_it_expires(site, scripted):
    scripted.on("POST", PATH, answers({"apiKey": KEY, "expiresInSeconds": 0}), ISSUED)
    with Client() as client:
        client.jobs.list()
        client.jobs.list()
    assert scripted.count("POST", PATH) == 2


def test_a_key_that_cannot_be_replaced_is_used_until_it_expires(site, scripted, monkeypatch):
    monkeypatch.setattr("foldnote.client.core.hub_key.retry_delays", lambda: iter(()))
    monkeypatch.setattr("foldnote.client.core.hub_key._RENEWED_AFTER", 0.0)
    scripted.on("POST", PATH, ISSUED, answers({"error": "The hub is away."}, 503))
    with Client() as client:
        client.jobs.list()
        client.jobs.list()
    assert [asked.headers["x-api-key"] for asked in scripted.asked] == [TOKEN, KEY, TOKEN, KEY]


@pytest.mark.parametrize("how", ["profile", "environment", "given"])
def test_another_service_never_gets_the_token(site, elsewhere, monkeypatch, how):
    if how == "environment":
        monkeypatch.setenv("FOLDNOTE_BASE_URL", elsewhere.url)
    settings.save_profile("other", elsewhere.url)
    client = {
        "profile": lambda: Client("other"),
        "environment": Client,
        "given": lambda: Client(base_url=elsewhere.url),
    }[how]()
    with client:
        client.jobs.list()
    assert elsewhere.count("GET", "/jobs") == 1
    assert TOKEN not in told(elsewhere)


def test_a_redirect_does_not_take_the_token_along(site, scripted, elsewhere):
    scripted.on("POST", PATH, answers("", 307, location=f"{elsewhere.url}{PATH}"))
    with Client() as client, pytest.raises(FoldnoteError, match="redirects"):
        client.jobs.list()
    assert elsewhere.asked == []


def test_a_user_cannot_direct_the_token_elsewhere(site, elsewhere):
    write_config(f'[profiles.mine]\nbase_url = "{elsewhere.url}"\nsign_in = "jupyterhub"\n')
    with pytest.raises(ConfigurationError, match="only an administrator's configuration"):
        Client("mine")
    write_config(f'[profiles.lab]\nbase_url = "{elsewhere.url}"\n')
    with Client("lab") as client:
        client.jobs.list()
    assert elsewhere.asked == []


FAULTS = {
    "reset": breaks(),
    "refused": answers({"error": f"{TOKEN} is no token", "seen": [TOKEN]}, 401),
    "forbidden": answers({"error": "no", "code": "hub_scope_missing"}, 403),
    "unknown route": answers({"error": "no"}, 404),
    "fault": answers(f"<html>{TOKEN}</html>", 500),
    "no key": answers({"expiresInSeconds": 900}),
    "no time": answers({"apiKey": KEY}),
    "a page": answers(f"<html>{TOKEN}</html>"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_no_error_shows_the_token(site, scripted, caplog, monkeypatch, fault):
    caplog.set_level(logging.INFO)
    monkeypatch.setattr("foldnote.client.core.hub_key.retry_delays", lambda: iter(()))
    scripted.on("POST", PATH, FAULTS[fault])
    with Client() as client, pytest.raises(FoldnoteError) as caught:
        client.jobs.list()
    seen = seen_of(caught.value) + caplog.text + repr(vars(client))
    assert TOKEN not in seen
    assert KEY not in seen
    assert scripted.asked[-1].headers["x-api-key"] == TOKEN


def test_outside_of_a_hub_the_profile_says_what_is_missing(site, scripted, monkeypatch):
    monkeypatch.delenv("JUPYTERHUB_API_TOKEN")
    with Client() as client, pytest.raises(ConfigurationError, match="JUPYTERHUB_API_TOKEN"):
        client.jobs.list()
    assert scripted.asked == []


def test_a_token_that_no_header_can_hold_is_not_shown(site, scripted, monkeypatch):
    monkeypatch.setenv("JUPYTERHUB_API_TOKEN", f"{TOKEN}\r\nx: 1")
    with Client() as client, pytest.raises(ConfigurationError, match="no token of JupyterHub has") as caught:
        client.jobs.list()
    assert TOKEN not in seen_of(caught.value)


def test_a_variable_of_the_spawner_is_enough(scripted, monkeypatch):
    monkeypatch.setenv("FOLDNOTE_JUPYTERHUB_SERVICE", f"{scripted.url}/")
    assert settings.active_profile() == settings.Profile(
        "jupyterhub", scripted.url, is_of_hub=True, is_own=False
    )


def test_a_user_may_choose_another_profile(site):
    settings.use_profile("embedded")
    assert settings.active_profile().is_embedded
    settings.use_profile("lab")
    assert settings.active_profile().is_of_hub


@pytest.mark.parametrize("change", [
    lambda url: settings.save_profile("lab", url),
    lambda url: settings.remove_profile("lab"),
    lambda url: settings.save_profile("jupyterhub", url),
])  # fmt: skip
def test_a_user_cannot_change_the_administrators_profile(site, change):
    with pytest.raises(ConfigurationError, match="administrator"):
        change("https://elsewhere.example.org")


def test_no_key_can_be_stored_for_it(site, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin.readline", lambda: "fn_x\n", raising=False)
    assert main(["profile", "key", "lab"]) != 0
    assert "gets its key from JupyterHub" in capsys.readouterr().err


def test_options_of_the_administrator_are_defaults(site, monkeypatch):
    site.write_text(site.read_text() + "[options]\nask_from_jobs = 7\nrequest_timeout_s = 11\n")
    write_config("[options]\nrequest_timeout_s = 12\n")
    assert (settings.option("ask_from_jobs"), settings.option("request_timeout_s")) == (7, 12.0)


def test_child_processes_do_not_get_the_token(site, monkeypatch):
    monkeypatch.setenv("JPY_API_TOKEN", TOKEN)
    assert TOKEN not in str(settings.process_environment())
