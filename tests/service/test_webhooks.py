"""Webhooks: called after the end of a job, at allowed addresses only, signed, at least once, and by one replica."""

import base64
import contextlib
import hashlib
import hmac
import io
import json
import re
import time
import tomllib
from pathlib import Path

import httpx
import pytest
from chosen_store import store_environment
from free_ports import free_port
from own_certificate import write_certificate
from pydantic import SecretStr
from service_process import SETTINGS, ServiceProcess
from webhook_receiver import Receiver

from foldnote.cli import main as run_command
from foldnote.client import Client, Stage
from foldnote.client.local.ledger import Ledger
from foldnote.errors import ConfigurationError, NotSentWarning
from foldnote.service.domain.webhooks.signing import sign, write_secret
from foldnote.service.domain.webhooks.webhook_options import WebhookOptions

LOCAL = 'networks = ["127.0.0.0/8", "::1/128"]'


def write_options(folder: Path, text: str) -> None:
    path = folder / "home/config/config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def allow(receiver, *more, networks=LOCAL, delays="[0.1, 0.1]"):
    entry = f'{{address = "{receiver.url}/hooks/", {networks}}}'
    return "\n".join(["[webhooks]", f"allow = [{entry}]", f"retry_after_s = {delays}", *more])


@pytest.fixture(scope="module")
def receiver():
    made = Receiver()
    yield made
    made.close()


@pytest.fixture(scope="module")
def calling(tmp_path_factory, receiver):
    """Start a service that may call the receiver below /hooks/, with an account that has a secret."""
    folder = tmp_path_factory.mktemp("calling")
    write_options(folder, allow(receiver))
    running = ServiceProcess(folder, "--no-rate-limit").start()
    running.secret = running.client.post("/webhook/secret").json()["secret"]
    yield running
    running.end()


def submit(service, name, url, **more):
    return service.submit(name, foldnote={"webhook": url}, **more)


def member(service, email):
    """Return a client of another account."""
    command = ["admin", "--data-dir", str(service.folder / "data"), "--json", "issue-key", email]
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()) as told:
        for name, value in store_environment(service.folder / "data").items():
            patch.setenv(name, value)
        assert run_command(command) == 0
    key = json.loads(told.getvalue())["key"]
    return httpx.Client(base_url=service.url, headers={"x-api-key": key}, timeout=120)


def wait_told(service, name, start, patience_s=60):
    until = time.monotonic() + patience_s
    while not (told := service.job(name)["webhook"] or "").startswith(start):
        assert time.monotonic() < until, told
        time.sleep(0.05)
    return told


def verify(secret, headers, body):
    """Verify a signature as a receiver does, by the definition of Standard Webhooks."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    content = b".".join([headers["webhook-id"].encode(), headers["webhook-timestamp"].encode(), body])
    mark = base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()
    assert headers["webhook-signature"] == f"v1,{mark}"
    assert abs(time.time() - int(headers["webhook-timestamp"])) < 300


def test_the_end_of_a_job_is_reported_signed_and_without_its_contents(calling, receiver, name):
    assert submit(calling, name, f"{receiver.url}/hooks/{name}?to=me").status_code == 200
    ended = calling.wait(name)
    ((headers, body),) = receiver.wait_for(f"/hooks/{name}?to=me")
    verify(calling.secret, headers, body)
    content = json.loads(body)
    assert content["data"] == {
        "jobName": name,
        "type": "anarci",
        "tool": "anarci",
        "status": "Complete",
        "failed": False,
        "created": ended["created"],
        "started": ended["started"],
        "completed": ended["completed"],
    }
    sent = json.dumps(headers).encode() + body
    assert SETTINGS["sequence"].encode() not in sent
    assert calling.key.encode() not in sent
    assert wait_told(calling, name, "Delivered to localhost at ")


def test_the_example_of_the_docs_works(calling, receiver, monkeypatch):
    import foldnote as fn

    page = (Path(__file__).parents[2] / "docs" / "client.md").read_text("utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.S | re.M)
    (block,) = [each for each in blocks if "client.webhook.renew_secret()" in each]
    here = block.replace("https://hooks.example.org/foldnote/me", f"{receiver.url}/hooks/docs")
    monkeypatch.setenv("FOLDNOTE_BASE_URL", calling.url)
    monkeypatch.setenv("FOLDNOTE_API_KEY", calling.key)
    names = {"fn": fn}
    try:
        exec(here.replace("EVQLVESGG…", SETTINGS["sequence"]), names)
        calling.secret = names["secret"].get_secret_value()
        assert names["client"].webhook.get().url == f"{receiver.url}/hooks/docs"
        names["job"].wait()
        ((headers, body),) = receiver.wait_for("/hooks/docs")
        verify(calling.secret, headers, body)
        wait_told(calling, names["job"].job_name, "Delivered to localhost at ")
        assert names["job"].refresh().webhook.startswith("Delivered to localhost at ")
    finally:
        calling.client.post("/webhook", json={"url": None})


def test_the_signature_is_what_a_library_for_standard_webhooks_computes():
    """Computed by standardwebhooks 1.1.0 from PyPI: Webhook(secret).sign("msg_1", moment, body)."""
    secret = bytes(range(32))
    assert write_secret(secret) == "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
    headers = sign(secret, "msg_1", 1_700_000_000, b'{"type":"job.ended"}')
    assert headers["webhook-signature"] == "v1,SPaIzYAfOxgg3ppcB+5JaURsU6WQBZMbnZwCU9WMDwA="


def test_a_batch_is_reported_once_as_a_whole_with_its_failures(calling, receiver, name):
    body = {
        "batchName": name,
        "type": "anarci",
        "settings": [SETTINGS] * 2,
        "jobNames": [f"{name}a.fail", f"{name}b"],
        "foldnote": {"webhook": f"{receiver.url}/hooks/{name}"},
    }
    assert calling.client.post("/submit-batch", json=body).status_code == 200
    ((_, content),) = receiver.wait_for(f"/hooks/{name}")
    told = json.loads(content)["data"]
    assert (told["jobName"], told["type"], told["tool"]) == (name, "batch", "anarci")
    assert (told["status"], told["failed"], told["failedJobs"]) == ("Complete", True, 1)
    wait_told(calling, name, "Delivered")
    assert calling.job(f"{name}a.fail")["webhook"] is None
    assert len(receiver.of(f"/hooks/{name}")) == 1


def test_a_retry_of_a_batch_is_reported_where_the_batch_was(calling, receiver, name):
    url = f"{receiver.url}/hooks/{name}"
    with Client(base_url=calling.url, api_key=SecretStr(calling.key)) as client:
        client.batches.submit("anarci", [SETTINGS], name, [f"{name}.fail"], webhook=url).wait()
        wait_told(calling, name, "Delivered")
        again = client.batches.get(name).retry()
        again.wait()
        wait_told(calling, again.job_name, "Delivered")
        assert receiver.names().count(name) == receiver.names().count(again.job_name) == 1
        silent = again.retry(webhook="")
        silent.wait()
        assert silent.refresh().webhook is None
        assert silent.retry().sheet.webhook == ""
        lost = client.batches.submit("anarci", [SETTINGS], f"{name}b", [f"{name}b.fail"], webhook=url)
        lost.wait()
        wait_told(calling, f"{name}b", "Delivered")
        Ledger(service=client.service).remember_sheet(f"{name}b", "lost")
        with pytest.warns(NotSentWarning, match=f"a webhook was called, and none is at the end of {name}b-"):
            client.batches.get(f"{name}b").retry()


def test_what_runs_again_is_reported_where_an_address_is_given_and_says_so_where_none_is(
    calling, receiver, name
):
    url = f"{receiver.url}/hooks/{name}"
    with Client(base_url=calling.url, api_key=SecretStr(calling.key)) as client:
        saved = client.pipelines.submit(name, [Stage("only", "anarci", SETTINGS)])
        for run in (
            client.jobs.submit("anarci", SETTINGS, job_name=f"{name}a", webhook=url),
            client.pipelines.run(saved, job_name=f"{name}b", webhook=url),
        ):
            run.wait()
            wait_told(calling, run.job_name, "Delivered")
            with pytest.warns(NotSentWarning, match=r"a webhook was called, and none .* webhook=… gives one"):
                run.refresh().run_again().wait()
            again = run.refresh().run_again(webhook=url)
            again.wait()
            wait_told(calling, again.job_name, "Delivered")
            assert receiver.names().count(again.job_name) == 1


def test_the_run_of_a_pipeline_is_reported_once_as_a_whole(calling, receiver, name):
    stages = [{"name": each, "type": "anarci", "settings": SETTINGS} for each in ("first", "second")]
    saved = calling.client.post("/submit-pipeline", json={"pipelineName": name, "stages": stages})
    assert saved.status_code == 200, saved.text
    body = {"pipelineName": name, "jobName": name, "foldnote": {"webhook": f"{receiver.url}/hooks/{name}"}}
    assert calling.client.post("/run-pipeline", json=body).status_code == 200
    ((headers, body),) = receiver.wait_for(f"/hooks/{name}")
    verify(calling.secret, headers, body)
    content = json.loads(body)["data"]
    assert (content["jobName"], content["tool"], content["failedJobs"]) == (name, "pipeline", 0)
    assert wait_told(calling, name, "Delivered to localhost at ")
    assert len(receiver.of(f"/hooks/{name}")) == 1


def test_a_job_stopped_in_the_queue_is_also_reported(calling, receiver, name):
    submit(calling, f"{name}.sleep-60", f"{receiver.url}/hooks/{name}")
    calling.client.post("/stop-job", json={"jobName": f"{name}.sleep-60"})
    ((_, content),) = receiver.wait_for(f"/hooks/{name}")
    assert json.loads(content)["data"]["status"] == "Stopped"


def test_attempts_are_repeated_with_the_same_identity_and_then_given_up(calling, receiver, name):
    receiver.answers[:] = [500, 503, 404]
    submit(calling, name, f"{receiver.url}/hooks/{name}")
    told = wait_told(calling, name, "Not delivered")
    assert told == "Not delivered to localhost: it answered 404."
    found = receiver.of(f"/hooks/{name}")
    assert len(found) == 3
    assert len({headers["webhook-id"] for headers, _ in found}) == 1
    assert len({body for _, body in found}) == 1


def test_a_failed_attempt_is_followed_by_one_that_succeeds(calling, receiver, name):
    receiver.answers[:] = [500]
    submit(calling, name, f"{receiver.url}/hooks/{name}")
    wait_told(calling, name, "Delivered")
    assert len(receiver.of(f"/hooks/{name}")) == 2


def test_no_redirect_is_followed(calling, receiver, name):
    receiver.answers[:] = [302, 307, 308]
    receiver.location = f"{receiver.url}/elsewhere"
    try:
        submit(calling, name, f"{receiver.url}/hooks/{name}")
        told = wait_told(calling, name, "Not delivered")
    finally:
        receiver.location = ""
    assert told.endswith("it answered 308, and redirects are not followed.")
    assert "/elsewhere" not in receiver.paths()


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("{url}/other/x", "is not allowed"),
        ("{url}/hooksandmore", "is not allowed"),
        ("{url}/hooks/../other", "path has . or .."),
        ("{url}/hooks/%2e%2e/other", "encoded separator"),
        ("https://localhost/hooks/x", "is not allowed"),
        ("http://localhost.example.org/hooks/x", "is not allowed"),
        ("http://me:secret@localhost/hooks/x", "user name or password"),
        ("http://localhost\\@example.org/hooks/x", "cannot be used"),
        ("{url}/hooks/x#y", "part after #"),
        ("{url}/hooks/ x", "has a space"),
        ("file:///etc/passwd", "is not like https://"),
        ("localhost", "is not like https://"),
    ],
)
def test_an_address_that_is_not_allowed_is_refused_with_the_rule(calling, receiver, name, url, reason):
    given = url.format(url=receiver.url)
    body = {"jobName": name, "type": "anarci", "settings": SETTINGS, "foldnote": {"webhook": given}}
    refused = calling.client.post("/submit-job", json=body)
    told = refused.json()
    assert (refused.status_code, told["code"], told["field"]) == (
        400,
        "webhook_not_allowed",
        "foldnote.webhook",
    )
    assert reason in told["error"]
    assert f"addresses that begin with {receiver.url}/hooks/." in told["error"]
    verdict = calling.client.post("/validate-job", json=body).json()
    assert (verdict["valid"], verdict["error"]) == (False, told["error"])
    account = calling.client.post("/webhook", json={"url": given})
    assert (account.status_code, account.json()["field"]) == (400, "url")


def test_a_host_that_is_not_public_is_called_only_where_the_entry_names_its_network(
    make_service, receiver, name
):
    service = make_service("--no-rate-limit", is_started=False)
    write_options(service.folder, allow(receiver, networks='networks = ["10.0.0.0/8"]'))
    service.start()
    service.client.post("/webhook/secret")
    submit(service, name, f"{receiver.url}/hooks/{name}")
    told = wait_told(service, name, "Not delivered")
    assert "in a network that is not public" in told
    assert receiver.of(f"/hooks/{name}") == []


def test_an_address_is_validated_again_when_it_is_called(make_service, receiver, name):
    service = make_service("--no-rate-limit", is_started=False)
    write_options(service.folder, allow(receiver))
    service.start()
    service.client.post("/webhook/secret")
    submit(service, f"{name}.sleep-60", f"{receiver.url}/hooks/{name}")
    service.end()
    other = '[webhooks]\nallow = ["https://hooks.example.org/"]\n'
    write_options(service.folder, other)
    service.start()
    service.client.post("/stop-job", json={"jobName": f"{name}.sleep-60"})
    assert "does not allow this address any more" in wait_told(service, f"{name}.sleep-60", "Not delivered")
    assert receiver.of(f"/hooks/{name}") == []


def test_certificates_are_verified(make_service, name, tmp_path):
    chain, key, _ = write_certificate(tmp_path)
    secure = Receiver(chain, key)
    try:
        service = make_service("--no-rate-limit", is_started=False)
        write_options(service.folder, allow(secure))
        service.start()
        service.client.post("/webhook/secret")
        submit(service, name, f"{secure.url}/hooks/{name}")
        assert "its certificate is not valid" in wait_told(service, name, "Not delivered")
        assert secure.requests == []
        service.end()
        write_options(service.folder, allow(secure, f'certificates = "{chain}"'))
        service.start()
        submit(service, f"{name}b", f"{secure.url}/hooks/{name}b")
        wait_told(service, f"{name}b", "Delivered")
    finally:
        secure.close()


def test_a_webhook_survives_a_kill_while_nothing_listens(make_service, name):
    port = free_port()
    address = f"http://localhost:{port}/hooks/"
    service = make_service("--no-rate-limit", is_started=False)
    entry = f'{{address = "{address}", {LOCAL}}}'
    write_options(service.folder, f"[webhooks]\nallow = [{entry}]\nretry_after_s = [0.5, 0.5, 9, 9, 9]\n")
    service.start()
    secret = service.client.post("/webhook/secret").json()["secret"]
    submit(service, name, f"{address}{name}")
    told = wait_told(service, name, "Attempt ")
    assert "to call localhost failed: nothing listens there." in told
    service.kill()
    late = Receiver(port=port)
    try:
        service.start()
        ((headers, body),) = late.wait_for(f"/hooks/{name}")
        verify(secret, headers, body)
        wait_told(service, name, "Delivered")
    finally:
        late.close()


def test_a_kill_before_the_delivery_is_recorded_repeats_it_with_its_identity(make_service, receiver, name):
    service = make_service("--no-rate-limit", is_started=False)
    write_options(service.folder, allow(receiver, "timeout_s = 1"))
    service.start()
    service.client.post("/webhook/secret")
    receiver.held.clear()
    try:
        submit(service, name, f"{receiver.url}/hooks/{name}")
        receiver.wait_for(f"/hooks/{name}")
        service.kill()
    finally:
        receiver.held.set()
    service.start()
    wait_told(service, name, "Delivered")
    found = receiver.of(f"/hooks/{name}")
    assert len(found) == 2
    assert len({headers["webhook-id"] for headers, _ in found}) == 1


def test_a_receiver_that_does_not_answer_delays_neither_jobs_nor_other_accounts(make_service, receiver, name):
    service = make_service("--no-rate-limit", is_started=False)
    write_options(service.folder, allow(receiver, "timeout_s = 60"))
    service.start()
    service.client.post("/webhook/secret")
    slow = Receiver()
    try:
        service.end()
        both = ", ".join(f'{{address = "{each.url}/hooks/", {LOCAL}}}' for each in (slow, receiver))
        write_options(service.folder, f"[webhooks]\nallow = [{both}]\ntimeout_s = 60\n")
        service.start()
        other = member(service, f"{name}@lab.example")
        assert other.post("/webhook/secret").status_code == 200
        slow.held.clear()
        submit(service, name, f"{slow.url}/hooks/{name}")
        slow.wait_for(f"/hooks/{name}")
        body = {"jobName": name, "type": "anarci", "settings": SETTINGS}
        body["foldnote"] = {"webhook": f"{receiver.url}/hooks/other-{name}"}
        assert other.post("/submit-job", json=body).status_code == 200
        receiver.wait_for(f"/hooks/other-{name}")
        assert service.run(f"{name}b")["status"] == "Complete"
        assert len(slow.requests) == 1
        other.close()
    finally:
        slow.close()


def test_an_account_has_its_own_address_for_all_jobs_and_a_job_may_have_none(calling, receiver, name):
    own = member(calling, f"{name}@lab.example")
    asked = {"url": f"{receiver.url}/hooks/all-{name}"}
    refused = own.post("/webhook", json=asked)
    assert (refused.status_code, refused.json()["code"]) == (400, "webhook_secret_missing")
    first, second = (own.post("/webhook/secret").json()["secret"] for _ in range(2))
    assert first != second
    shown = own.post("/webhook", json=asked).json()
    assert (shown["url"], shown["hasSecret"]) == (asked["url"], True)
    assert shown["allowed"] == [f"{receiver.url}/hooks/"]
    assert second not in own.get("/webhook").text
    body = {"jobName": name, "type": "anarci", "settings": SETTINGS}
    own.post("/submit-job", json=body | {"jobName": f"{name}none", "foldnote": {"webhook": ""}})
    own.post("/submit-job", json=body)
    ((headers, content),) = receiver.wait_for(f"/hooks/all-{name}")
    verify(second, headers, content)
    assert json.loads(content)["data"]["jobName"] == name
    none = own.get("/jobs", params={"jobName": f"{name}none"}).json()
    assert none["webhook"] is None
    assert own.post("/webhook", json={"url": None}).json()["url"] is None
    assert own.post("/submit-job", json=body | {"jobName": f"{name}c"}).status_code == 200
    assert own.get("/jobs", params={"jobName": f"{name}c"}).json()["webhook"] is None
    own.close()


def test_the_webhooks_of_an_account_that_wait_are_limited(make_service, receiver, name):
    service = make_service("--no-rate-limit", is_started=False)
    write_options(service.folder, allow(receiver, "per_account = 1"))
    service.start()
    service.client.post("/webhook/secret")
    service.client.post("/webhook", json={"url": f"{receiver.url}/hooks/all"})
    url = f"{receiver.url}/hooks/{name}"
    assert submit(service, f"{name}a.sleep-60", url).status_code == 200
    refused = submit(service, f"{name}b", url)
    assert (refused.status_code, refused.json()["code"]) == (400, "too_many_webhooks")
    assert service.submit(f"{name}c").status_code == 200
    assert service.job(f"{name}c")["webhook"].startswith("Not delivered: 1 webhooks of the account were")
    assert service.client.request("DELETE", "/delete-job", json={"jobName": f"{name}a.sleep-60"}).is_success
    assert submit(service, f"{name}b", url).status_code == 200
    receiver.wait_for(f"/hooks/{name}")
    assert f"{name}a.sleep-60" not in receiver.names()


def test_an_address_is_neither_in_records_nor_among_what_the_engine_gets(calling, receiver, name):
    submit(calling, name, f"{receiver.url}/hooks/{name}?token=t0ps3cret")
    wait_told(calling, name, "Delivered")
    assert "t0ps3cret" not in json.dumps(calling.job(name))
    log = (calling.folder / "service.log").read_text()
    assert "t0ps3cret" not in log
    assert calling.secret not in log
    kept = [path for path in (calling.folder / "data/jobs").rglob("*") if path.is_file()]
    assert kept
    assert not any(b"t0ps3cret" in path.read_bytes() for path in kept)


def test_of_two_replicas_one_delivers(make_replicas, receiver, name, tmp_path):
    replicas = make_replicas(2, is_started=False)
    config = tmp_path / "home/config/config.toml"
    config.write_text(config.read_text() + allow(receiver))
    first, second = (each.start() for each in replicas)
    first.client.post("/webhook/secret")
    names = [f"{name}-{number}" for number in range(8)]
    for number, each in enumerate(names):
        answer = submit((first, second)[number % 2], each, f"{receiver.url}/hooks/{each}")
        assert answer.status_code == 200
    for each in names:
        wait_told(second, each, "Delivered")
    assert sorted(told for told in receiver.names() if told in names) == names


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('allow = ["hooks.example.org"]', "is not like https://"),
        ('allow = ["https://hooks.example.org/?x=1"]', "part after ?"),
        ('allow = [{address = "https://a.example/", networks = ["10.0.0.1/8"]}]', "has host bits set"),
        ("allow = [7]", "for an address that is not public"),
        ('allow = "https://hooks.example.org/"', "it must be a list"),
        ('alow = ["https://hooks.example.org/"]', "unknown option 'alow'"),
        ('allow = ["https://a.example/"]\nper_account = 0', "whole number from 1"),
        ('allow = ["https://a.example/"]\nretry_after_s = [0]', "numbers of seconds"),
        ('allow = ["https://a.example/"]\ntimeout_s = 600', "seconds up to 60"),
        ('allow = ["https://a.example/"]\ncertificates = "/nowhere"', "it must be a file"),
    ],
)
def test_a_wrong_section_is_explained_before_the_service_starts(text, fault):
    with pytest.raises(ConfigurationError, match="webhooks") as told:
        WebhookOptions.read(tomllib.loads(text))
    assert fault in str(told.value)


@pytest.mark.parametrize(
    "number",
    ["10.1.2.3", "127.0.0.1", "169.254.169.254", "192.168.0.1", "172.16.0.1", "100.64.0.1", "0.0.0.0",
     "224.0.0.1", "::1", "fe80::1", "fd00::1", "::ffff:10.0.0.1", "64:ff9b::a00:1", "2002:a00:1::1",
     "::10.0.0.1", "::ffff:0:10.0.0.1", "fec0::1"],
)  # fmt: skip
def test_no_address_that_is_not_public_is_called_by_name(number):
    (entry,) = WebhookOptions.read({"allow": ["https://hooks.example.org/"]}).allow
    assert not entry.permits(number)
    assert entry.permits("93.184.215.14")
    assert entry.permits("2606:2800:220:1::1")


def test_an_entry_with_an_ip_address_names_it_and_no_other():
    (entry,) = WebhookOptions.read({"allow": ["http://10.0.3.7:8080/"]}).allow
    assert entry.permits("10.0.3.7")
    assert not entry.permits("10.0.3.8")


def test_a_service_without_allowed_addresses_calls_none_and_has_no_routes(service, client, name):
    refused = submit(service, name, "https://hooks.example.org/x")
    assert (refused.status_code, refused.json()["code"]) == (400, "not_taken")
    assert "calls no webhooks" in refused.json()["error"]
    assert client.get("/webhook").status_code == 404
    assert client.post("/webhook/secret").status_code == 404
    assert all("webhook" not in tool["extensions"] for tool in client.get("/tools").json())
    assert service.run(name)["webhook"] is None


def test_the_routes_need_a_key_and_a_secret_is_shown_once(calling):
    for method, path in (("GET", "/webhook"), ("POST", "/webhook"), ("POST", "/webhook/secret")):
        answer = httpx.request(method, f"{calling.url}{path}", json={"url": None})
        assert answer.status_code == 401, (method, path)
    shown = calling.client.get("/webhook")
    assert shown.json()["hasSecret"] is True
    assert "whsec_" not in shown.text


def test_a_merged_account_keeps_what_waits_and_its_own_secret(calling, receiver, name):
    trial = httpx.post(f"{calling.url}/agent/provision").json()
    own = httpx.Client(base_url=calling.url, headers={"x-api-key": trial["apiKey"]}, timeout=120)
    target = member(calling, f"{name}@lab.example")
    assert own.post("/webhook/secret").status_code == 200
    kept = target.post("/webhook/secret").json()["secret"]
    body = {"jobName": f"{name}.sleep-60", "type": "anarci", "settings": SETTINGS}
    body["foldnote"] = {"webhook": f"{receiver.url}/hooks/{name}"}
    assert own.post("/submit-job", json=body).status_code == 200
    claim = {"email": f"{name}@lab.example", "apiKey": target.headers["x-api-key"]}
    assert httpx.post(trial["claimUrl"], json=claim).status_code == 200
    target.post("/stop-job", json={"jobName": f"{name}.sleep-60"})
    ((headers, content),) = receiver.wait_for(f"/hooks/{name}")
    verify(kept, headers, content)
    own.close()
    target.close()
