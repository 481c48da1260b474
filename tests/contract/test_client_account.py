"""The account behind a key: trial keys requested once, stored and never shown; what is left of the limits."""

import asyncio
import json
import stat
import subprocess
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from job_settings import PDB, SETTINGS
from probe_engine import write_probe_engine
from pydantic import SecretStr
from scripted_service import answers, breaks
from served import COMMAND
from starlette.testclient import TestClient

from foldnote import settings
from foldnote.client import AsyncClient, Client, inline
from foldnote.errors import (
    AllowanceExceededError,
    ConfigurationError,
    JobLimitError,
    ProtocolError,
    RateLimitedError,
    RestrictedRouteError,
    ServiceFaultError,
    TransportError,
    UnauthorizedError,
)
from foldnote.models import Account
from foldnote.service.config import ServiceConfig, TrialTerms
from foldnote.service.http.app import create_app

KEY = "trial-key-that-nobody-sees"
URL = "http://testserver"
CREDENTIAL = {
    "apiKey": KEY,
    "email": "agent@x.invalid",
    "tier": "agent-trial",
    "expiresAt": "2999-12-20T00:00:00Z",
    "limits": {"jobs": 10, "allowedTools": "all", "maxRuntimeSeconds": None, "expiresInDays": 30},
    "claimUrl": "/claim?token=secret-token",
}


@pytest.fixture(autouse=True)
def _own_home(monkeypatch, tmp_path):
    """Keep the keys of each test apart, and do not use the machine's keyring."""
    monkeypatch.setenv("FOLDNOTE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(settings, "_keyring_get", lambda name: None)
    monkeypatch.setattr(settings, "_keyring_set", lambda name, key: False)


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """Start a service that issues trial keys and runs nothing."""
    folder = tmp_path_factory.mktemp("trials")
    engines = write_probe_engine(folder / "engines", tools=("anarci", "abfe"))
    config = ServiceConfig(
        folder / "data", rate_limit=False, has_dispatcher=False, engine_paths=(engines,),
        trials=TrialTerms(hourly_per_source=1000, hourly=1000),
    )  # fmt: skip
    with TestClient(create_app(config)) as http:
        yield http


@pytest.fixture
def newcomer(lab):
    return Client(base_url=URL, http_client=lab)


async def test_a_key_is_issued_once_and_stored_for_both_apis(lab, newcomer):
    account = newcomer.account.provision()
    assert (account.tier, account.is_claimed, account.jobs_left) == ("agent-trial", False, 10)
    again = Client(base_url=URL, http_client=lab).account.provision()
    assert again.email == account.email
    async with httpx.AsyncClient(transport=httpx.ASGITransport(lab.app)) as pool:
        third = await AsyncClient(base_url=URL, http_client=pool).account.provision()
    assert third == again


def test_the_key_is_in_a_private_file_and_in_no_repr(lab, newcomer):
    account = newcomer.account.provision()
    folder = settings.config_dir()
    assert stat.S_IMODE((folder / "keys.json").stat().st_mode) == 0o600
    assert stat.S_IMODE((folder / "trials.json").stat().st_mode) == 0o600
    key = json.loads((folder / "keys.json").read_text())[f"trial:{URL}"]
    shown = repr(account) + account._repr_html_() + repr(newcomer) + repr(newcomer.account)
    assert key not in shown
    assert key not in (folder / "trials.json").read_text()
    assert account.claim_url.startswith(f"{URL}/claim?token=")
    assert account.claim_url not in shown


def test_jobs_left_go_down_and_the_last_refusal_has_the_figure(newcomer):
    newcomer.account.provision()
    newcomer.batches.submit(
        "anarci", [dict(SETTINGS, sequence=SETTINGS["sequence"] + "S" * n) for n in range(9)]
    )
    assert newcomer.account.get().jobs_left == 1
    assert "at most 1 of 10" in repr(newcomer.account.get())
    with pytest.raises(JobLimitError) as caught:
        newcomer.batches.submit("anarci", [SETTINGS, dict(SETTINGS, scheme="kabat")])
    assert (caught.value.jobs_allowed, caught.value.jobs_used) == (10, 9)


def test_a_claimed_account_says_so_and_counts_by_month(lab, newcomer):
    account = newcomer.account.provision()
    lab.post(account.claim_url.removeprefix(URL), json={"email": "me@lab.org"})
    claimed = newcomer.account.get()
    assert claimed.is_claimed
    assert claimed.next_action is None
    assert "key expires" not in repr(claimed)
    assert claimed.jobs_left == 10


def test_a_route_that_is_restricted_and_a_run_above_the_allowance(newcomer):
    newcomer.account.provision()
    with pytest.raises(RestrictedRouteError):
        newcomer.screenings.submit(inline(PDB), [inline("C")])
    ligand = "x\n  x\n\n  0  0  0     0  0            999 V2000\nM  END\n$$$$\n"
    with pytest.raises(AllowanceExceededError) as caught:
        newcomer.jobs.submit("abfe", {"proteinPDB": PDB, "ligandsSDF": ligand})
    account = newcomer.account.get()
    assert account.allowance_weighted_hours == caught.value.allowance_weighted_hours > 0
    assert account.estimated_weighted_hours == caught.value.estimated_weighted_hours
    assert "the refused run was at" in account._repr_html_()


async def test_a_full_key_has_no_known_limits(api, settle):
    account = await settle(api.account.get())
    assert (account.tier, account.jobs_left, account.claim_url) == (None, None, None)
    assert account.has_key


def test_a_profile_with_its_own_key_is_not_given_another(client):
    with pytest.raises(ConfigurationError, match="already has a key"):
        client.account.provision()


def test_the_embedded_service_needs_no_trial_key():
    with pytest.raises(ConfigurationError, match="needs no trial key"):
        Client("embedded").account.provision()


def test_without_a_key_the_account_says_what_to_do(scripted):
    with Client(base_url=scripted.url) as client:
        account = client.account.get()
    assert not account.has_key
    assert "fn.provision()" in repr(account)
    assert scripted.asked == []


def provisioned(scripted, said=CREDENTIAL, **more):
    scripted.on("POST", "/agent/provision", answers(said, 201))
    scripted.on("GET", "/jobs", answers({"jobs": []}))
    scripted.on("POST", "/run-pipeline", answers({"error": "Not open."}, 403))
    with Client(base_url=scripted.url) as client:
        return client.account.provision()


@pytest.mark.parametrize(
    "said",
    [
        CREDENTIAL,
        {key[:1].upper() + key[1:]: value for key, value in CREDENTIAL.items()},
        json.dumps(CREDENTIAL),
        CREDENTIAL | {"limits": json.dumps(CREDENTIAL["limits"])},
        CREDENTIAL | {"tierColour": "blue", "limits": {"jobs": 10, "extra": [1]}},
    ],
)
def test_a_credential_in_each_shape(scripted, said):
    account = provisioned(scripted, said)
    assert (account.jobs_left, account.claim_url) == (10, f"{scripted.url}/claim?token=secret-token")
    asked = next(asked for asked in scripted.asked if asked.path == "/agent/provision")
    assert (asked.body, "x-api-key" in asked.headers) == (b"", False)
    assert scripted.asked[-1].headers["x-api-key"] == KEY


@pytest.mark.parametrize(
    "odd", [{"expiresAt": "soon"}, {"limits": [1]}, {"limits": {"jobs": "ten"}}, {"email": 5}]
)
def test_a_key_is_not_lost_for_an_odd_field_beside_it(scripted, odd):
    assert provisioned(scripted, CREDENTIAL | odd).claim_url.endswith("secret-token")


@pytest.mark.parametrize("said", ["text", {}, {"apiKey": ""}, {"apiKey": 5}, [CREDENTIAL["apiKey"]], None])
def test_an_answer_without_a_key_is_a_protocol_error_that_repeats_nothing(scripted, said):
    with pytest.raises(ProtocolError) as caught:
        provisioned(scripted, said)
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(("status", "kind"), [(429, RateLimitedError), (503, ServiceFaultError)])
def test_a_cap_or_a_closed_door_is_an_error_that_says_when(scripted, status, kind):
    body = {"error": "Later.", "retryAfterSeconds": 3600}
    scripted.on("POST", "/agent/provision", answers(body, status))
    with Client(base_url=scripted.url) as client, pytest.raises(kind) as caught:
        client.account.provision()
    assert caught.value.retry_after_s == 3600
    assert scripted.count("POST", "/agent/provision") == 1


def test_a_lost_answer_is_not_repeated(scripted):
    """The service may have created an account, and a retry would create another one."""
    scripted.on("POST", "/agent/provision", breaks())
    with Client(base_url=scripted.url) as client, pytest.raises(TransportError):
        client.account.provision()
    assert scripted.count("POST", "/agent/provision") == 1


def test_an_expired_key_is_requested_again(scripted):
    past = (datetime.now(UTC) - timedelta(days=1)).isoformat()
    provisioned(scripted, CREDENTIAL | {"expiresAt": past})
    scripted.on("GET", "/jobs", answers({"error": "expired"}, 401), answers({"jobs": []}))
    scripted.on("POST", "/agent/provision", answers(CREDENTIAL | {"apiKey": "second"}, 201))
    with Client(base_url=scripted.url) as client:
        client.account.provision()
    assert scripted.count("POST", "/agent/provision") == 2
    assert scripted.asked[-1].headers["x-api-key"] == "second"


def test_a_named_profile_has_the_key_from_then_on(scripted):
    settings.save_profile("hosted", scripted.url)
    scripted.on("POST", "/agent/provision", answers(CREDENTIAL, 201))
    scripted.on("GET", "/jobs", answers({"jobs": []}))
    with Client("hosted") as client:
        client.account.provision()
    assert settings.api_key(settings.active_profile("hosted")).get_secret_value() == KEY


def administer(served, *arguments):
    command = [COMMAND, "admin", "--data-dir", served.folder / "data", "--json", *arguments]
    return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)


async def is_refused_soon(call):
    """Return whether the key is refused within 20 s: other processes of a service see a change after seconds."""
    for _ in range(200):
        try:
            await call()
        except UnauthorizedError:
            return True
        await asyncio.sleep(0.1)
    return False


@pytest.mark.parametrize("kind", [Client, AsyncClient])
async def test_a_key_stored_after_the_last_was_revoked_is_used_at_once(served, settle, kind):
    """Notebooks keep their clients, and a form stays open while its user stores another key."""
    settings.save_profile("hosted", served.url)
    keys = [administer(served, "issue-key", "ann@lab.example")["key"] for _ in range(2)]
    settings.store_api_key("hosted", SecretStr(keys[0]))
    client = kind("hosted")
    assert (await settle(client.account.get())).profile == "hosted"
    administer(served, "revoke-keys", keys[0])
    assert await is_refused_soon(lambda: settle(client.account.get()))
    settings.store_api_key("hosted", SecretStr(keys[1]))
    assert (await settle(client.account.get())).profile == "hosted"
    await settle(client.close())


@pytest.mark.parametrize(
    "change", [lambda: settings.save_profile("hosted", URL), lambda: settings.remove_profile("hosted")]
)
def test_the_key_of_another_address_is_not_sent_to_the_first(scripted, change):
    settings.save_profile("hosted", scripted.url)
    settings.store_api_key("hosted", SecretStr("first"))
    scripted.on("GET", "/jobs", answers({"error": "revoked"}, 401))
    with Client("hosted") as client:
        with pytest.raises(UnauthorizedError):
            client.jobs.list()
        change()
        settings.store_api_key("hosted", SecretStr("second"))
        with pytest.raises(UnauthorizedError):
            client.jobs.list()
    assert {asked.headers["x-api-key"] for asked in scripted.asked} == {"first"}


def test_a_client_without_a_request_does_not_send_the_key_of_another_address(scripted):
    settings.save_profile("hosted", scripted.url)
    with Client("hosted") as client:
        settings.save_profile("hosted", URL)
        settings.store_api_key("hosted", SecretStr("second"))
        with pytest.raises(ConfigurationError, match="another address now") as raised:
            client.jobs.list()
    assert "second" not in str(raised.value)
    assert not scripted.asked


def test_a_refused_key_is_not_sent_twice(scripted):
    settings.save_profile("hosted", scripted.url)
    settings.store_api_key("hosted", SecretStr("first"))
    scripted.on("GET", "/jobs", answers({"error": "revoked"}, 401))
    with Client("hosted") as client, pytest.raises(UnauthorizedError):
        client.jobs.list()
    assert scripted.count("GET", "/jobs") == 1


def test_what_a_service_calls_itself_is_escaped():
    account = Account(service="http://x/<b>", profile="<i>", email="<script>")
    assert "<script>" not in account._repr_html_()
    assert account._repr_html_().count("<b>") == 1
    assert "<i>" not in account._repr_html_()


def test_a_preview_tells_the_jobs_that_are_left(lab):
    client = Client(base_url=URL, http_client=lab)
    client.account.provision()
    rows = [SETTINGS | {"sequence": SETTINGS["sequence"] + "S" * number} for number in range(11)]
    preview = client.batches.preview("anarci", rows)
    assert preview.jobs_left == 10
    assert "10 jobs left, which is not enough" in str(preview)
