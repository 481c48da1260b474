"""One service for all users of a JupyterHub: a real hub identifies them, and no user has a key of the service."""

import json
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest
from hub_process import SCOPE, HubProcess
from service_process import SETTINGS, ServiceProcess
from test_auth_matrix import run_admin

from foldnote.client import Client
from foldnote.errors import ConfigurationError, ServiceFaultError, UnauthorizedError
from foldnote.service.domain.access.hub_options import HubOptions

PATH = "/jupyterhub/key"
DAY_S = 86_400


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    hub = HubProcess(tmp_path_factory.mktemp("hub")).start()
    for name in ("ann", "bob", "dora"):
        hub.add_user(name)
    yield hub
    hub.close()


@pytest.fixture(scope="module")
def begin(tmp_path_factory):
    """Return a function that starts services with a section ``[jupyterhub]``."""
    made = []

    def begin(api_url, *arguments, **options):
        folder = tmp_path_factory.mktemp("hub-service")
        options = {"api_url": api_url, "email": "{name}@hub.lab", "key_lifetime_s": DAY_S} | options
        config = folder / "home" / "config" / "config.toml"
        config.parent.mkdir(parents=True)
        rows = [f"{name} = {json.dumps(value)}" for name, value in options.items() if name != "organizations"]
        rows += [
            "[jupyterhub.organizations]",
            *(f"{k} = {json.dumps(v)}" for k, v in options.get("organizations", {}).items()),
        ]
        config.write_text("\n".join(["[jupyterhub]", *rows]))
        made.append(ServiceProcess(folder, "--no-rate-limit", *arguments).start())
        return made[-1]

    yield begin
    for each in made:
        each.kill()


@pytest.fixture(scope="module")
def service(hub, begin):
    return begin(
        hub.url, admin_groups=["operators"], organizations={"structures": "Structures", "design": "Design"}
    )


def exchange(service, token):
    return httpx.post(f"{service.url}{PATH}", headers={"x-api-key": token}, timeout=60)


def key_of(service, token):
    answer = exchange(service, token)
    assert answer.status_code == 200, answer.text
    return answer.json()["apiKey"]


def client_of(service, key):
    return httpx.Client(base_url=service.url, headers={"x-api-key": key}, timeout=60)


def refusal_of(answer):
    return answer.status_code, answer.json()["code"]


def test_a_users_token_becomes_a_key_for_the_users_own_account(hub, service):
    with client_of(service, key_of(service, hub.issue("ann"))) as ann:
        body = {"jobName": "mine", "type": "anarci", "settings": SETTINGS}
        assert ann.post("/submit-job", json=body).status_code == 200
        assert ann.get("/jobs", params={"jobName": "mine"}).json()["email"] == "ann@hub.lab"
    with client_of(service, key_of(service, hub.issue("bob"))) as bob:
        assert bob.get("/jobs").json()["jobs"] == []
        assert bob.get("/jobs", params={"jobName": "mine"}).status_code == 404


def test_all_programs_of_a_server_have_one_key(hub, service):
    token = hub.issue("ann")
    assert key_of(service, token) == key_of(service, token) != key_of(service, hub.issue("ann"))


def test_a_token_is_not_a_key_and_a_key_is_not_a_token(hub, service):
    token = hub.issue("ann")
    with client_of(service, token) as wrong:
        assert refusal_of(wrong.get("/tools")) == (401, "invalid_api_key")
    assert refusal_of(exchange(service, key_of(service, token))) == (401, "invalid_hub_token")


@pytest.mark.parametrize("token", ["0" * 32, "x", "fn_" + "a" * 43, "ü" * 20, "a" * 8000])
def test_what_the_hub_did_not_issue_is_refused(service, token):
    assert refusal_of(exchange(service, token.encode())) == (401, "invalid_hub_token")


def test_without_a_token(service):
    assert refusal_of(httpx.post(f"{service.url}{PATH}")) == (401, "missing_api_key")


def test_a_token_without_the_scope_is_refused_with_its_name(hub, service):
    answer = exchange(service, hub.issue("ann", "users:activity!user"))
    assert refusal_of(answer) == (403, "hub_scope_missing")
    assert SCOPE in answer.json()["error"]


def test_a_service_of_the_hub_is_not_a_user(hub, service):
    answer = exchange(service, hub.operator_token)
    assert refusal_of(answer) == (403, "hub_user_refused")


def test_members_of_a_group_are_members_of_its_organization(hub, service):
    for name in ("eva", "finn"):
        hub.add_user(name, "structures")
    hub.add_user("gus")
    keys = {name: key_of(service, hub.issue(name)) for name in ("eva", "finn", "gus")}
    with client_of(service, keys["eva"]) as eva:
        eva.post("/submit-job", json={"jobName": "shared", "type": "anarci", "settings": SETTINGS})
    seen = {}
    for name in ("finn", "gus"):
        with client_of(service, keys[name]) as client:
            seen[name] = [
                job["jobName"] for job in client.get("/jobs", params={"organization": "true"}).json()["jobs"]
            ]
    assert seen == {"finn": ["shared"], "gus": []}


def test_who_leaves_the_group_leaves_the_organization_with_the_next_key(hub, service):
    hub.add_user("hal", "design")
    key_of(service, hub.issue("hal"))
    hub.leave("hal", "design")
    key_of(service, hub.issue("hal"))
    rows = {row["name"]: row["members"] for row in run_admin(service, "organizations")["organizations"]}
    assert "hal@hub.lab" not in rows["Design"]


def test_only_members_of_an_admin_group_administer_the_service(hub, service):
    hub.add_user("ida", "operators")
    status = {}
    for name in ("ida", "bob"):
        with client_of(service, key_of(service, hub.issue(name))) as client:
            status[name] = client.get("/deployed-models").status_code
    assert status["bob"] == 403 != status["ida"]


def test_a_revoked_key_is_not_replaced_before_it_would_have_expired(hub, service):
    hub.add_user("jan")
    token = hub.issue("jan")
    key = key_of(service, token)
    run_admin(service, "revoke-keys", key)
    assert refusal_of(exchange(service, token)) == (403, "key_revoked")


def test_a_name_with_capital_letters_is_refused(begin, false_hub):
    false_hub.body = model_of("Ann")
    answer = exchange(begin(false_hub.url), "t" * 32)
    assert refusal_of(answer) == (403, "hub_user_refused")
    assert "capital letters" in answer.json()["error"]


@pytest.mark.parametrize(
    "name",
    [
        "local@foldnote.invalid",
        "agent-1@agents.foldnote.invalid",
        "no address",
        "a\nb@lab.org",
        "<b>@lab.org",
    ],
)
def test_a_name_that_can_be_no_account_is_refused(whole_names, false_hub, name):
    false_hub.body = model_of(name)
    assert refusal_of(exchange(whole_names, f"{hash(name):032d}")) == (403, "hub_user_refused")


def test_a_trial_account_is_opened_by_its_own_key_only(whole_names, false_hub):
    trial = httpx.post(f"{whole_names.url}/agent/provision").json()
    false_hub.body = model_of(trial["email"])
    assert refusal_of(exchange(whole_names, "r" * 32)) == (403, "hub_user_refused")


def test_an_account_is_used_and_none_created_where_that_is_off(hub, begin):
    strict = begin(hub.url, creates_accounts=False)
    run_admin(strict, "issue-key", "ann@hub.lab")
    assert exchange(strict, hub.issue("ann")).status_code == 200
    answer = exchange(strict, hub.issue("bob"))
    assert refusal_of(answer) == (403, "hub_user_refused")
    assert "bob@hub.lab" in answer.json()["error"]


def test_no_token_and_no_key_is_in_the_log_or_the_data(hub, service):
    token = hub.issue("dora")
    key = key_of(service, token)
    exchange(service, hub.issue("dora", "users:activity!user"))
    told = (service.folder / "service.log").read_bytes() + hub.log.encode()
    kept = b"".join(each.read_bytes() for each in (service.folder / "data").rglob("*") if each.is_file())
    assert f"POST {PATH} 200".encode() in told
    assert not any(secret.encode() in told + kept for secret in (token, key))


def test_a_service_without_a_hub_has_no_such_route(make_service):
    assert exchange(make_service(), "t" * 32).status_code == 404


# ---- the hub down, wrong or hostile


class FalseHub:
    """A program in place of a hub.

    Attributes:
        status, headers, body: its response.
        delay_s: seconds before the response.
        tokens: the tokens that it received.
    """

    def __init__(self):
        self.status, self.headers, self.body, self.tokens = 200, {}, b"", []
        self.delay_s = 0.0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                outer.tokens.append(self.headers.get("Authorization", ""))
                time.sleep(outer.delay_s)
                self.send_response(outer.status)
                for name, value in outer.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(outer.body)))
                self.end_headers()
                self.wfile.write(outer.body)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hub/api"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def model_of(name, **more):
    model = {"kind": "user", "name": name, "groups": [], "scopes": [SCOPE]} | more
    return json.dumps(model).encode()


@pytest.fixture(scope="module")
def false_hub():
    hub = FalseHub()
    yield hub
    hub.close()


@pytest.fixture(scope="module")
def whole_names(begin, false_hub):
    """Start a service whose accounts have the hub users' full names."""
    return begin(false_hub.url, email="{name}")


@pytest.mark.parametrize(
    "answer",
    [
        (200, b"<html>sign in</html>"),
        (200, b"[]"),
        (200, model_of("kim", scopes=None)),
        (200, model_of("kim", groups=[1])),
        (200, model_of(["kim"])),
        (200, b"[" * 100_000),
        (200, b"x" * (2 << 20)),
        (500, b"oops"),
        (404, b"{}"),
    ],
    ids=lambda answer: f"{answer[0]} {answer[1][:24]!r}",
)
def test_a_response_not_from_a_hub_admits_no_user(whole_names, false_hub, answer):
    false_hub.status, false_hub.body = answer
    try:
        assert refusal_of(exchange(whole_names, "k" * 32)) == (503, "hub_unreachable")
    finally:
        false_hub.status = 200


def test_a_hub_that_answers_after_a_key_has_expired_revokes_no_user(begin):
    slow = FalseHub()
    slow.body, slow.delay_s = model_of("kim"), 4.5
    try:
        service = begin(slow.url, key_lifetime_s=4)
        with client_of(service, key_of(service, "s" * 32)) as client:
            assert client.get("/jobs").status_code == 200
    finally:
        slow.close()


def test_a_token_does_not_follow_a_redirect(whole_names, false_hub):
    other = FalseHub()
    false_hub.status, false_hub.headers = 302, {"Location": other.url}
    try:
        assert refusal_of(exchange(whole_names, "l" * 32)) == (503, "hub_unreachable")
    finally:
        false_hub.status, false_hub.headers = 200, {}
        other.close()
    assert (false_hub.tokens[-1], other.tokens) == ("token " + "l" * 32, [])


def test_a_proxy_of_the_environment_gets_no_token(make_service, false_hub):
    proxy = FalseHub()
    service = make_service(is_started=False)
    config = service.folder / "home" / "config" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f'[jupyterhub]\napi_url = "{false_hub.url}"\nemail = "{{name}}@hub.lab"\n')
    service.environment = {"HTTP_PROXY": proxy.url, "ALL_PROXY": proxy.url, "NO_PROXY": ""}
    false_hub.body = model_of("lea")
    assert exchange(service.start(), "m" * 32).status_code == 200
    proxy.close()
    assert proxy.tokens == []


def test_while_the_hub_is_down_known_users_continue_and_others_must_wait(begin, false_hub):
    service = begin(false_hub.url)
    false_hub.body = model_of("mia")
    key = key_of(service, "n" * 32)
    false_hub.status = 502
    try:
        with client_of(service, key) as mia:
            assert mia.get("/jobs").status_code == 200
        assert key_of(service, "n" * 32) == key
        refused = exchange(service, "o" * 32)
    finally:
        false_hub.status = 200
    assert refusal_of(refused) == (503, "hub_unreachable")
    assert int(refused.headers["Retry-After"]) > 0


@pytest.mark.exhaustive  # starting a second hub takes seconds
def test_a_hub_that_was_stopped_and_started_knows_its_users_again(tmp_path, begin):
    hub = HubProcess(tmp_path).start()
    try:
        hub.add_user("ann")
        service, known, other = begin(hub.url), hub.issue("ann"), hub.issue("ann")
        key = key_of(service, known)
        hub.stop()
        assert key_of(service, known) == key
        assert refusal_of(exchange(service, other)) == (503, "hub_unreachable")
        hub.start()
        assert exchange(service, other).status_code == 200
    finally:
        hub.close()


def test_a_key_ends_within_its_lifetime_after_the_token_was_revoked(hub, begin):
    service = begin(hub.url, key_lifetime_s=4)
    row = hub.issue_row("ann")
    key = key_of(service, row["token"])
    hub.revoke("ann", row["id"])
    with client_of(service, key) as ann:
        until = time.monotonic() + 60
        while ann.get("/tools").status_code != 401:
            assert time.monotonic() < until
            time.sleep(0.2)
    assert refusal_of(exchange(service, row["token"])) == (401, "invalid_hub_token")


# ---- the client


@pytest.fixture
def profile(service, tmp_path, monkeypatch):
    """Write the profile that an administrator provides for all users."""
    site = tmp_path / "site.toml"
    site.write_text(f'profile = "lab"\n[profiles.lab]\nbase_url = "{service.url}"\nsign_in = "jupyterhub"\n')
    monkeypatch.setenv("FOLDNOTE_SITE_CONFIG", str(site))
    return site


def test_a_client_in_a_users_server_needs_no_key(hub, service, profile, monkeypatch):
    token = hub.issue("dora")
    monkeypatch.setenv("JUPYTERHUB_API_TOKEN", token)
    with Client() as client:
        job = client.jobs.submit("anarci", SETTINGS, job_name="from-a-hub")
        assert client.jobs.record("from-a-hub").email == "dora@hub.lab"
        assert token not in repr(client) + repr(job) + repr(vars(client))


def test_a_client_replaces_its_key_before_it_expires(hub, begin, monkeypatch):
    brief = begin(hub.url, key_lifetime_s=2)
    monkeypatch.setenv("FOLDNOTE_JUPYTERHUB_SERVICE", brief.url)
    monkeypatch.setenv("JUPYTERHUB_API_TOKEN", hub.issue("dora"))
    log = brief.folder / "service.log"
    with Client() as client:
        until = time.monotonic() + 60
        while log.read_text().count(f"POST {PATH} 200") < 3:
            client.jobs.list()
            assert time.monotonic() < until
            time.sleep(0.1)
    assert " 401 " not in log.read_text()


def test_a_client_with_a_revoked_token_says_what_to_do(hub, profile, monkeypatch):
    monkeypatch.setenv("JUPYTERHUB_API_TOKEN", "0" * 32)
    with Client() as client, pytest.raises(UnauthorizedError, match="Stop My Server"):
        client.jobs.list()


def test_a_client_says_that_the_hub_is_away(begin, monkeypatch):
    monkeypatch.setattr("foldnote.client.core.hub_key.retry_delays", lambda: iter(()))
    monkeypatch.setenv("FOLDNOTE_JUPYTERHUB_SERVICE", begin("http://127.0.0.1:9/hub/api").url)
    monkeypatch.setenv("JUPYTERHUB_API_TOKEN", "0" * 32)
    with Client() as client, pytest.raises(ServiceFaultError, match="cannot ask JupyterHub who you are"):
        client.jobs.list()


def test_the_command_line_knows_the_profile(hub, service, profile, monkeypatch):
    monkeypatch.setenv("JUPYTERHUB_API_TOKEN", hub.issue("dora"))
    command = [sys.executable, "-m", "foldnote", "profile", "test", "lab"]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "lab answers and accepts the key" in said.stdout, said.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"email": "{name}@lab.org"}, "api_url"),
        ({"api_url": "hub", "email": "{name}@lab.org"}, "api_url"),
        ({"api_url": "https://hub/api"}, "email"),
        ({"api_url": "https://hub/api", "email": "all@lab.org"}, "email"),
        ({"api_url": "https://hub/api", "email": "{name}@lab.org", "token": "x"}, "unknown option 'token'"),
        ({"api_url": "https://hub/api", "email": "{name}@lab.org", "key_lifetime_s": True}, "key_lifetime_s"),
        ({"api_url": "https://hub/api", "email": "{name}@lab.org", "organizations": ["a"]}, "organizations"),
        ({"api_url": "https://hub/api", "email": "{name}@lab.org", "admin_groups": "a"}, "admin_groups"),
    ],
)
def test_a_wrong_section_is_refused_with_the_option(options, words):
    with pytest.raises(ConfigurationError, match=words):
        HubOptions.read(options)
