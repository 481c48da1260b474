"""Only FOLDNOTE_BASE_URL and FOLDNOTE_API_KEY: every notebook function and the command line, with a real service."""

import subprocess

import pandas as pd
import pytest
from job_settings import PDB
from served import COMMAND, SETTINGS

import foldnote as fn
from foldnote import settings
from foldnote.cell_outputs import ResultSlot
from foldnote.errors import ConfigurationError
from foldnote.notebook import connection


@pytest.fixture
def here(served, monkeypatch):
    """Set only the two variables that lead to the service."""
    monkeypatch.setenv("FOLDNOTE_BASE_URL", served.url)
    monkeypatch.setenv("FOLDNOTE_API_KEY", served.key)
    connection.make_client.cache_clear()
    yield served
    connection.make_client.cache_clear()


def unique(letters):
    return SETTINGS | {"sequence": SETTINGS["sequence"] + "SSS" + letters}


CALLS = {
    "account": lambda: fn.account(),
    "batches": lambda: fn.batches(),
    "form": lambda: fn.form("anarci", **unique("AA")).submit(),
    "form of a job": lambda: fn.form(fn.submit("anarci", **unique("AC"))),
    "jobs": lambda: fn.jobs(),
    "pipeline": lambda: fn.pipeline("fromenv", [fn.stage("number", "anarci", **unique("AD"))]),
    "recommend": lambda: fn.recommend("Number an antibody heavy chain"),
    "result": lambda: fn.submit("anarci", **unique("AE")).wait(60, progress=False).result(progress=False),
    "submit_batch": lambda: fn.submit_batch("anarci", pd.DataFrame([unique("AF"), unique("AG")])),
    "tool": lambda: fn.tool("anarci"),
    "tools": lambda: fn.tools(runs_here=True),
    "upload": lambda: fn.upload(PDB.encode(), "from-env.pdb"),
    "validate": lambda: fn.validate("anarci", **SETTINGS),
}


@pytest.mark.parametrize("name", CALLS)
def test_every_function_reaches_the_service_of_the_environment(here, name, capsys):
    found = CALLS[name]()
    assert found is not None
    assert here.key not in f"{found!r}{found}{''.join(capsys.readouterr())}"


async def test_a_card_of_the_environment_follows_its_job(here):
    from foldnote.notebook.live_outputs import make_card

    job = fn.submit("anarci", **unique("AH"))
    card = make_card(job, ResultSlot())
    followed = await card.source.get(job.job_name)
    assert followed.job_name == job.job_name
    assert here.key not in f"{card.get_state()!r}{job!r}"
    card.close()


async def test_a_card_keeps_to_its_service_when_another_becomes_active(here, monkeypatch):
    from foldnote.notebook.live_outputs import make_card

    job = fn.submit("anarci", **unique("AI"))
    monkeypatch.delenv("FOLDNOTE_BASE_URL")
    card = make_card(job, ResultSlot())
    assert (await card.source.get(job.job_name)).job_name == job.job_name
    card.close()


async def test_both_apis_accept_the_environments_profile_by_name(here):
    with fn.Client("environment") as client:
        assert client.jobs.list(limit=1) is not None
    async with fn.AsyncClient(client.profile.name) as again:
        assert await again.jobs.list(limit=1) is not None


@pytest.mark.parametrize("command", [["tools"], ["jobs"], ["files"], ["profile", "list"], ["account"]])
def test_the_command_line_reaches_it_and_shows_no_key(here, command):
    done = subprocess.run([COMMAND, *command], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert here.key not in done.stdout


def test_a_call_after_a_change_of_the_environment_goes_to_the_new_service(here, monkeypatch):
    assert fn.connect() is fn.connect()
    assert fn.connect().profile.base_url == here.url
    monkeypatch.setenv("FOLDNOTE_BASE_URL", "http://127.0.0.1:9/v1/")
    assert fn.connect().profile.base_url == "http://127.0.0.1:9/v1"
    monkeypatch.delenv("FOLDNOTE_BASE_URL")
    assert fn.connect().profile.is_embedded


NO_ADDRESSES = [
    "ftp://x.example",
    "service.example",
    "https://",
    "http://exa mple",
    "https://me:sentinel@x.example",
]


@pytest.mark.parametrize("address", [*NO_ADDRESSES, ""])
def test_an_invalid_address_is_refused_when_the_client_is_created(address):
    with pytest.raises(ConfigurationError, match="base_url is .* begins with https://") as refusal:
        fn.Client(base_url=address)
    assert "sentinel" not in str(refusal.value)


@pytest.mark.parametrize("address", NO_ADDRESSES)
def test_an_invalid_address_is_refused_in_a_profile_as_in_a_program(monkeypatch, address):
    monkeypatch.setenv("FOLDNOTE_BASE_URL", address)
    with pytest.raises(
        ConfigurationError, match="FOLDNOTE_BASE_URL needs a base_url that begins with https://"
    ) as refusal:
        fn.Client()
    assert "sentinel" not in str(refusal.value)


def test_an_invalid_option_is_refused_when_the_client_is_made(monkeypatch):
    monkeypatch.setenv("FOLDNOTE_REQUEST_TIMEOUT_S", "soon")
    with pytest.raises(ConfigurationError, match="FOLDNOTE_REQUEST_TIMEOUT_S is 'soon'"):
        fn.Client()
    monkeypatch.setenv("FOLDNOTE_REQUEST_TIMEOUT_S", "-1")
    with pytest.raises(ConfigurationError, match="request_timeout_s is -1; it must be greater than 0"):
        fn.AsyncClient()


@pytest.mark.parametrize("command", ["add", "use", "remove", "key"])
def test_its_name_cannot_be_that_of_a_stored_profile(here, command):
    acts = {
        "add": lambda: settings.save_profile("environment", "https://x.example"),
        "use": lambda: settings.use_profile("environment"),
        "remove": lambda: settings.remove_profile("environment"),
        "key": lambda: settings.store_api_key("environment", settings.api_key(settings.active_profile())),
    }
    with pytest.raises(ConfigurationError, match="FOLDNOTE_BASE_URL and FOLDNOTE_API_KEY"):
        acts[command]()


def test_a_profile_of_the_file_with_its_name_never_gets_the_environments_key(monkeypatch):
    path = settings.config_dir() / "config.toml"
    path.write_text('[profiles.environment]\nbase_url = "https://elsewhere.example"\n')
    monkeypatch.setenv("FOLDNOTE_API_KEY", "sentinel")
    with pytest.raises(ConfigurationError, match="FOLDNOTE_BASE_URL"):
        settings.active_profile("environment")
    assert [profile.name for profile in settings.profiles()] == ["embedded"]
