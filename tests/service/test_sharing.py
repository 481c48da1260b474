"""Links with which a colleague opens a job with a separate key until they expire, and nothing else of its owner."""

import contextlib
import io
import json
import re
import sqlite3
import time
import zipfile
from pathlib import Path

import httpx
import pytest
from chosen_store import IS_POSTGRESQL, store_environment
from pydantic import SecretStr
from service_process import SETTINGS, ServiceProcess

from foldnote import settings
from foldnote.cli import main as run_command
from foldnote.client import Client
from foldnote.errors import ConfigurationError, FoldnoteError, NotFoundError, UnauthorizedError
from foldnote.models.job import read_job


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    """Start a service with two members of a lab, one of another lab, one without, and a trial key."""
    running = ServiceProcess(tmp_path_factory.mktemp("house"), "--no-rate-limit").start()
    running.keys = {}
    for lab in ("lab", "other lab"):
        admin(running, "add-organization", lab)
    for who, lab in (("owner", "lab"), ("colleague", "lab"), ("stranger", "other lab")):
        running.keys[who] = admin(running, "issue-key", f"{who}@lab.org")["key"]
        admin(running, "add-member", lab, f"{who}@lab.org")
    for who in ("alone", "anybody"):
        running.keys[who] = admin(running, "issue-key", f"{who}@example.org")["key"]
    running.keys["trial"] = httpx.post(f"{running.url}/agent/provision").json()["apiKey"]
    yield running
    running.end()


def admin(service, *arguments):
    command = ["admin", "--data-dir", str(service.folder / "data"), "--json", *arguments]
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()) as told:
        for name, value in store_environment(service.folder / "data").items():
            patch.setenv(name, value)
        assert run_command(command) == 0, told.getvalue()
    return json.loads(told.getvalue())


def ask(service, who, method, path, **more):
    headers = {} if who is None else {"x-api-key": service.keys[who]}
    return httpx.request(method, f"{service.url}{path}", headers=headers, timeout=120, **more)


def finish(service, who, name):
    body = {"jobName": name, "type": "anarci", "settings": SETTINGS}
    assert ask(service, who, "POST", "/submit-job", json=body).status_code == 200
    until = time.monotonic() + 60
    while ask(service, who, "GET", "/jobs", params={"jobName": name}).json()["status"] != "Complete":
        assert time.monotonic() < until
        time.sleep(0.05)


def make(service, who, name, **more):
    answer = ask(service, who, "POST", "/shares", json={"jobName": name} | more)
    assert answer.status_code == 200, answer.text
    return answer.json()


def open_link(service, who, made):
    return ask(service, who, "POST", "/shared", json={"token": made["url"].partition("#")[2]})


def result_of(service, who, made):
    return ask(service, who, "POST", "/shared/result", json={"token": made["url"].partition("#")[2]})


def test_a_colleague_opens_the_record_and_the_result_with_a_key_of_their_own(house, name):
    finish(house, "owner", name)
    made = make(house, "owner", name)
    opened = open_link(house, "colleague", made)
    assert opened.status_code == 200
    assert (opened.json()["jobName"], opened.json()["settings"]) == (name, SETTINGS)
    assert "owner@lab.org" not in opened.text
    assert house.keys["owner"] not in opened.text + made["url"]
    archive = httpx.get(result_of(house, "colleague", made).json()).content
    own = httpx.get(ask(house, "owner", "POST", "/result", json={"jobName": name}).json()).content
    assert archive == own
    assert zipfile.is_zipfile(io.BytesIO(archive))


def test_a_link_is_nothing_without_a_key(house, name):
    finish(house, "owner", name)
    made = make(house, "owner", name)
    assert open_link(house, None, made).status_code == 401
    assert result_of(house, None, made).status_code == 401
    page = httpx.get(made["url"])  # as a browser requests it, without the part after the #
    assert page.status_code == 401
    assert name not in page.text
    assert "fn.open_shared" in page.text


def test_without_the_link_nothing_of_the_job_is_seen(house, name):
    finish(house, "alone", name)
    make(house, "alone", name)
    for who in ("anybody", "stranger", "trial"):
        assert ask(house, who, "GET", "/jobs", params={"jobName": name}).status_code == 404
        assert ask(house, who, "POST", "/result", json={"jobName": name}).status_code == 404
        assert ask(house, who, "GET", "/shares").json() == {"shares": []}


def test_every_invalid_link_gives_the_same_response(house, name):
    finish(house, "owner", name)
    revoked, foreign, expired = (make(house, "owner", name) for _ in range(3))
    assert ask(house, "owner", "DELETE", f"/shares/{revoked['name']}").status_code == 200
    short = make(house, "owner", name, expiresInDays=1e-9)
    finish(house, "owner", f"{name}b")
    gone = make(house, "owner", f"{name}b")
    ask(house, "owner", "DELETE", "/delete-job", json={"jobName": f"{name}b"})
    unknown = {"url": f"{expired['url']}x"}
    answers = [
        open_link(house, "colleague", revoked),
        open_link(house, "stranger", foreign),
        open_link(house, "anybody", foreign),
        open_link(house, "trial", foreign),
        open_link(house, "colleague", short),
        open_link(house, "colleague", gone),
        open_link(house, "colleague", unknown),
        open_link(house, "colleague", {"url": "#\udc80".encode("utf-8", "replace").decode()}),
        result_of(house, "colleague", revoked),
        result_of(house, "stranger", foreign),
    ]
    assert {answer.status_code for answer in answers} == {404}
    assert len({answer.text for answer in answers}) == 1
    assert "its job may have been deleted" in answers[0].json()["error"]
    assert open_link(house, "colleague", foreign).status_code == 200


def test_the_link_of_an_owner_without_an_organization_is_for_accounts_but_not_for_trial_keys(house, name):
    finish(house, "alone", name)
    made = make(house, "alone", name)
    assert open_link(house, "anybody", made).status_code == 200
    assert open_link(house, "trial", made).status_code == 404


def test_a_link_says_whose_members_open_it(house, name):
    for who, organization in (("owner", "lab"), ("alone", None)):
        finish(house, who, f"{name}{who}")
        assert make(house, who, f"{name}{who}")["organization"] == organization
        (listed,) = ask(house, who, "GET", "/shares", params={"jobName": f"{name}{who}"}).json()["shares"]
        assert listed["organization"] == organization


def test_a_download_ends_with_its_link(house, name):
    finish(house, "alone", name)
    made = make(house, "alone", name)
    download = result_of(house, "anybody", made).json()
    assert httpx.get(download).status_code == 200
    assert httpx.get(download.replace("owner=", "owner=1")).status_code == 403
    ask(house, "alone", "DELETE", f"/shares/{made['name']}")
    assert httpx.get(download).status_code == 404


def test_the_owner_sees_who_has_opened_a_link_and_how_often(house, name):
    finish(house, "owner", name)
    made = make(house, "owner", name)
    assert made["openings"] == []
    for _ in range(2):
        open_link(house, "colleague", made)
    open_link(house, "stranger", made)
    (listed,) = ask(house, "owner", "GET", "/shares", params={"jobName": name}).json()["shares"]
    assert [(each["email"], each["count"]) for each in listed["openings"]] == [("colleague@lab.org", 2)]
    assert made["url"].partition("#")[2] not in json.dumps(listed)
    token = made["url"].partition("#")[2]
    assert token not in (house.folder / "service.log").read_text()


def test_a_download_without_the_record_is_an_opening_and_a_later_one_none(house, name):
    finish(house, "owner", name)
    made = make(house, "owner", name)
    for _ in range(2):
        assert result_of(house, "colleague", made).status_code == 200
    (listed,) = ask(house, "owner", "GET", "/shares", params={"jobName": name}).json()["shares"]
    assert [(each["email"], each["count"]) for each in listed["openings"]] == [("colleague@lab.org", 1)]


@pytest.mark.skipif(IS_POSTGRESQL, reason="it reads SQLite's file")
def test_no_token_is_stored(house, name):
    finish(house, "owner", name)
    token = make(house, "owner", name)["url"].partition("#")[2]
    with contextlib.closing(sqlite3.connect(house.folder / "data/service.sqlite3")) as database:
        assert token not in "\n".join(database.iterdump())


@pytest.mark.parametrize("days", [0, -1, 367, "soon"])
def test_an_invalid_time_is_refused(house, name, days):
    body = json.dumps({"jobName": name, "expiresInDays": days})
    answer = ask(
        house,
        "owner",
        "POST",
        "/shares",
        content=body,
    )
    assert (answer.status_code, answer.json()["field"]) == (400, "expiresInDays")


def test_only_the_owner_makes_and_ends_links(house, name):
    finish(house, "owner", name)
    made = make(house, "owner", name)
    assert ask(house, "colleague", "POST", "/shares", json={"jobName": name}).status_code == 404
    assert ask(house, "colleague", "DELETE", f"/shares/{made['name']}").status_code == 404
    assert open_link(house, "colleague", made).status_code == 200


def test_the_client_opens_a_link_and_sends_its_key_to_no_other_service(house, name):
    finish(house, "owner", name)
    with Client(base_url=house.url, api_key=house.keys["owner"]) as owner:
        made = owner.shares.make(name, days=2)
        with Client(base_url=f"{house.url}/v1", api_key=house.keys["colleague"]) as colleague:
            job, path = colleague.shares.open(made.url)
            assert (job.job_name, job.settings) == (name, SETTINGS)
            assert zipfile.is_zipfile(path)
            elsewhere = made.url.replace("127.0.0.1", "localhost")
            with pytest.raises(ConfigurationError, match="link of localhost"):
                colleague.shares.open(elsewhere)
            (listed,) = owner.shares.list(name)
            assert (listed.opened, listed.openings[0].email) == (1, "colleague@lab.org")
            assert "colleague@lab.org" in repr(owner.shares.list(name))
            owner.shares.revoke(listed)
            with pytest.raises(NotFoundError, match="nothing to open"):
                colleague.shares.open(made.url)


@pytest.mark.parametrize(
    ("key", "wrong"),
    [
        (None, "The link opens with your own key for PLACE, and the profile 'lab' has none."),
        ("no-such-key", "PLACE refuses the key of the profile 'lab': it is wrong, expired or revoked."),
    ],
    ids=["no key", "a wrong key"],
)
def test_a_reader_without_a_valid_key_learns_what_is_wrong_and_what_to_do(house, name, key, wrong):
    finish(house, "owner", name)
    made = make(house, "owner", name)
    settings.save_profile("lab", house.url)
    if key is not None:
        settings.store_api_key("lab", SecretStr(key))
    sentence = (
        f"{wrong.replace('PLACE', house.url.removeprefix('http://'))} Store a valid key: choose Connect to a"
        " service … in foldnote's sidebar, or run: foldnote profile key lab"
    )
    with Client(profile="lab") as reader:
        job = read_job(open_link(house, "colleague", made).json())
        for read in (lambda: reader.shares.open(made["url"]), lambda: reader.shares.fetch(made["url"], job)):
            with pytest.raises(UnauthorizedError) as told:
                read()
            assert told.value.message == sentence


def test_a_batch_is_shared_as_a_whole(house, name):
    body = {
        "batchName": name,
        "type": "anarci",
        "settings": [SETTINGS] * 2,
        "jobNames": [f"{name}a", f"{name}b"],
    }
    assert ask(house, "owner", "POST", "/submit-batch", json=body).status_code == 200
    made = make(house, "owner", name)
    unfinished = result_of(house, "colleague", made)
    assert unfinished.status_code in (200, 202, 400)
    until = time.monotonic() + 60
    while (answer := result_of(house, "colleague", made)).status_code != 200:
        assert time.monotonic() < until, answer.text
        time.sleep(0.1)
    archive = zipfile.ZipFile(io.BytesIO(httpx.get(answer.json()).content))
    assert {each.partition("/")[0] for each in archive.namelist()} >= {f"{name}a", f"{name}b", "results.csv"}
    opened = open_link(house, "colleague", made).json()
    assert opened["statuses"] == {"In Queue": 0, "Running": 0, "Complete": 2, "Stopped": 0}
    assert opened["failed"] == 0


def test_the_examples_of_the_docs_work(house, monkeypatch):
    import foldnote as fn
    from foldnote.notebook.connection import make_client

    page = (Path(__file__).parents[2] / "docs" / "results.md").read_text("utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.S | re.M)
    (sharing,) = [each for each in blocks if "fn.share(" in each]
    (opening,) = [each for each in blocks if "fn.open_shared(" in each]
    monkeypatch.setenv("FOLDNOTE_BASE_URL", house.url)
    monkeypatch.setenv("FOLDNOTE_API_KEY", house.keys["owner"])
    make_client.cache_clear()
    rows = [{"id": each, **SETTINGS} for each in ("first", "second")]
    fn.submit_batch("anarci", rows, batch_name="panel", names="id").wait()
    names = {"fn": fn}
    exec(sharing, names)
    assert not fn.connect().shares.list("panel")
    link = fn.share("panel")
    monkeypatch.setenv("FOLDNOTE_API_KEY", house.keys["colleague"])
    make_client.cache_clear()
    with pytest.raises(FoldnoteError, match="nothing to open"):
        fn.open_shared(names["link"].url)
    here = opening.replace("https://lab.example.org/shared#…", link.url).replace("fv-2", "second")
    exec(here, names)
    assert {"job.log", "manifest.json"} <= {each.name for each in names["panel"].result.jobs["second"].files}


def test_an_embedded_service_makes_no_links(make_service, name):
    service = make_service("--embedded")
    assert service.client.post("/shares", json={"jobName": name}).status_code == 404
    own = Client(base_url=service.url, api_key=service.key)
    with own, pytest.raises(FoldnoteError, match=r"fn\.export writes one file"):
        own.shares.make(name)
