"""Signed links work for one content and one account, for an hour, and are never logged or stored."""

import sqlite3
import time
from contextlib import closing

import httpx
import pytest
from service_process import PDB, SETTINGS, ServiceProcess
from test_auth_matrix import issue_key, run_admin


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    """Start a service with a complete job, a complete batch and a file, all of its own account."""
    service = ServiceProcess(tmp_path_factory.mktemp("links"), "--no-rate-limit").start()
    service.run("job.output-1")
    service.run("other.output-2")
    batch = {"batchName": "batch", "type": "anarci", "settings": [SETTINGS]}
    assert service.client.post("/submit-batch", json=batch).status_code == 200
    service.wait("batch")
    yield service
    service.kill()


def links_of(service, client, *, is_mine=True):
    """Return every link that a client can get: method and address."""
    upload = client.put("/upload/a.pdb", content=PDB.encode()).json()
    promised = client.post("/getPresignedUploadUrl", json={"filename": "b.pdb"}).json()
    found = {
        "file": ("GET", upload["signedUrl"]),
        "upload": ("PUT", promised["uploadUrl"]),
        "look": ("HEAD", promised["headUrl"]),
    }
    if is_mine:
        found |= {
            "result": ("GET", service.result("job.output-1").json()),
            "member": ("GET", service.result("job.output-1", fileName="file-0.txt").json()),
            "archive": ("GET", service.job("batch")["resultUrl"]),
        }
    return found


def use(link, **changed):
    """Request the link with parts of its query changed; return the status."""
    method, address = link
    url = httpx.URL(address)
    return httpx.request(method, url.copy_merge_params(changed), content=b"x" if method == "PUT" else None)


NAMES = ["file", "upload", "look", "result", "member", "archive"]


def flips(signature):
    """Return the signature with each of its bits flipped in turn."""
    for place, letter in enumerate(signature):
        for bit in range(4):
            yield f"{signature[:place]}{int(letter, 16) ^ 1 << bit:x}{signature[place + 1 :]}"


@pytest.fixture(scope="module")
def links(house):
    found = links_of(house, house.client)
    for name in ("upload", "result", "file", "member", "archive", "look"):
        assert use(found[name]).status_code == 200, name
    return found


@pytest.mark.parametrize("name", NAMES)
def test_each_bit_of_the_signature_counts(house, links, name):
    method, address = links[name]
    url = httpx.URL(address)
    changed = list(flips(url.params["signature"]))
    assert len(changed) == 256
    with httpx.Client(timeout=60) as client:
        answers = {
            client.request(method, url.copy_set_param("signature", each)).status_code for each in changed
        }
    assert answers == {403}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "changed",
    [
        {"expires": str(int(time.time()) + 10**6)},
        {"expires": "0"},
        {"expires": "-1"},
        {"expires": "x"},
        {"owner": "2"},
        {"owner": "0"},
        {"owner": "x"},
        {"keyId": "00000000"},
        {"keyId": ""},
        {"signature": ""},
        {"signature": "ü"},
    ],
)
def test_each_part_of_the_query_counts(links, name, changed):
    assert use(links[name], **changed).status_code == 403


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_part_is_a_changed_one(links, name):
    method, address = links[name]
    url = httpx.URL(address)
    for part in ("owner", "expires", "keyId", "signature"):
        assert httpx.request(method, url.copy_remove_param(part)).status_code == 403


@pytest.mark.parametrize("name", NAMES)
def test_a_link_fetches_nothing_else(house, links, name):
    """The query of one link with the path of every other one."""
    method, address = links[name]
    url = httpx.URL(address)
    for other, (other_method, other_address) in links.items():
        target = httpx.URL(other_address)
        if other != name and (target.path, other_method) != (url.path, method):
            answer = httpx.request(other_method, target.copy_with(params=url.params))
            assert answer.status_code == 403, (name, other)


def test_a_link_of_one_job_does_not_fetch_another(house, links):
    url = httpx.URL(links["result"][1])
    other = httpx.URL(house.result("other.output-2").json())
    for path in (
        other.path,
        url.path.replace("/job/1/", "/job/2/"),
        url.path + "x",
        url.path.replace("job", "file", 1),
    ):
        assert httpx.get(url.copy_with(path=path)).status_code == 403


@pytest.mark.parametrize("method", ["PUT", "POST", "DELETE", "PATCH"])
def test_a_link_to_read_does_not_write(links, method):
    assert httpx.request(method, links["file"][1], content=b"x").status_code == 405


def test_a_link_to_look_does_not_upload(links):
    assert httpx.put(links["look"][1], content=b"x").status_code == 403
    assert httpx.head(links["upload"][1]).status_code == 403


def test_links_of_a_revoked_account_are_dead(house):
    key = issue_key(house, "leaver@lab.org")
    with httpx.Client(base_url=house.url, headers={"x-api-key": key}, timeout=60) as client:
        found = links_of(house, client, is_mine=False)
    assert {use(link).status_code for link in (found["upload"], found["file"], found["look"])} == {200}
    run_admin(house, "revoke-keys", "leaver@lab.org")
    for name, link in found.items():
        answer = use(link)
        assert answer.status_code == 403, name
        assert link[0] == "HEAD" or answer.json()["code"] == "link_revoked"


def test_who_leaves_an_organization_loses_its_links(house):
    keys = {each: issue_key(house, f"{each}@lab.org") for each in ("ada", "bob")}
    run_admin(house, "add-organization", "lab")
    for each in keys:
        run_admin(house, "add-member", "lab", f"{each}@lab.org")
    ada, bob = (
        httpx.Client(base_url=house.url, headers={"x-api-key": key}, timeout=60) for key in keys.values()
    )
    with ada, bob:
        body = {"jobName": "adas.output-1", "type": "anarci", "settings": SETTINGS}
        assert ada.post("/submit-job", json=body).status_code == 200
        until = time.monotonic() + 30
        while ada.get("/jobs", params={"jobName": "adas.output-1"}).json()["status"] != "Complete":
            assert time.monotonic() < until
            time.sleep(0.05)
        link = bob.post("/result", json={"jobName": "adas.output-1", "jobEmail": "ada@lab.org"}).json()
    assert httpx.get(link).status_code == 200
    run_admin(house, "revoke-keys", "ada@lab.org")
    assert httpx.get(link).status_code == 200
    run_admin(house, "remove-member", "bob@lab.org")
    assert httpx.get(link).status_code == 404


def test_what_was_deleted_is_not_found(house, links):
    assert house.client.delete("/delete-file", params={"filePath": "a.pdb"}).status_code == 200
    assert use(links["file"]).status_code == 404


def test_neither_log_nor_database_has_a_secret(house, links):
    """Runs after all other tests: no key or signature in any form that they used."""
    house.submit("bad key", settings={"sequence": house.key})
    keys = [house.key, issue_key(house, "busy@lab.org")]
    with httpx.Client(base_url=house.url, headers={"x-api-key": keys[1]}, timeout=60) as client:
        for path in (f"/jobs?apiKey={keys[1]}", f"/nothing?x-api-key={keys[1]}", "/files"):
            client.get(path)
        found = links_of(house, client, is_mine=False)
        trial = client.post("/agent/provision").json()
        client.get(trial["claimUrl"])
    keys.append(trial["apiKey"])
    token = httpx.URL(trial["claimUrl"]).params["token"]
    signatures = [httpx.URL(address).params["signature"] for _, address in (*links.values(), *found.values())]
    written = (house.folder / "service.log").read_bytes() + dump(house)
    for secret in (*keys, *signatures, token):
        assert secret.encode() not in written


def dump(service):
    """Return all text in the data folder: the database with its log, and the jobs' files."""
    data = service.folder / "data"
    with closing(sqlite3.connect(data / "service.sqlite3", timeout=30)) as connection:
        text = "\n".join(connection.iterdump()).encode()
    files = [path for path in (*data.glob("service.sqlite3*"), *(data / "jobs").rglob("*")) if path.is_file()]
    return text + b"".join(path.read_bytes() for path in files)
