"""Every route of the served document with every kind of key and every name that a caller can send.

The tables below say what each route needs and where it takes a name. A route that is in neither fails the tests.
"""

import io
import json
import sqlite3
import time
from contextlib import closing, redirect_stdout

import httpx
import pytest
from service_process import PDB, SETTINGS, ServiceProcess

from foldnote.service import admin
from foldnote.service.domain.access.keys import hash_key
from foldnote.service.http.app import ROUTERS
from foldnote.service.http.routes.beyond import hub

OPEN, LINK, KEYED, GATEWAY, CLAIMED, ADMIN = (
    "open",
    "signed link",
    "key",
    "key at gateway",
    "claimed",
    "admin",
)
NEEDS = {
    ("POST", "/submit-job"): KEYED,
    ("POST", "/submit-batch"): KEYED,
    ("POST", "/validate-job"): KEYED,
    ("GET", "/jobs"): GATEWAY,
    ("GET", "/jobs/{jobName}/log"): KEYED,
    ("POST", "/stop-job"): KEYED,
    ("POST", "/cancelJob"): KEYED,
    ("POST", "/cancelBatch"): KEYED,
    ("DELETE", "/delete-job"): KEYED,
    ("POST", "/result"): KEYED,
    ("GET", "/download/{holder}/{holderId}/{sha256}/{name}"): LINK,
    ("PUT", "/upload/{filename}"): KEYED,
    ("GET", "/files"): KEYED,
    ("GET", "/files/{filePath}"): KEYED,
    ("DELETE", "/delete-file"): KEYED,
    ("POST", "/getPresignedUploadUrl"): KEYED,
    ("PUT", "/presigned/{filePath}"): LINK,
    ("HEAD", "/presigned/{filePath}"): LINK,
    ("POST", "/submit-pipeline"): CLAIMED,
    ("POST", "/run-pipeline"): CLAIMED,
    ("GET", "/tools"): KEYED,
    ("GET", "/tools.json"): OPEN,
    ("GET", "/finetuned-models"): KEYED,
    ("GET", "/catalog/tools"): KEYED,
    ("GET", "/catalog/modalities"): KEYED,
    ("GET", "/catalog/functions"): KEYED,
    ("GET", "/catalog/tools/{jobType}/schema"): KEYED,
    ("GET", "/catalog/jobs/{jobName}/logs"): KEYED,
    ("GET", "/getFolders"): KEYED,
    ("POST", "/model-router"): KEYED,
    ("POST", "/deploy-model"): ADMIN,
    ("GET", "/deployed-models"): ADMIN,
    ("DELETE", "/delete-model"): ADMIN,
    ("POST", "/virtual-screening"): CLAIMED,
    ("POST", "/agent/provision"): OPEN,
    ("GET", "/claim"): OPEN,
    ("POST", "/claim"): OPEN,
    ("GET", "/healthz"): OPEN,
}
HIDDEN = {
    ("HEAD", "/download/{holder}/{holderId}/{sha256}/{name}"): LINK,
    ("HEAD", "/files/{filePath}"): KEYED,
    ("GET", "/readyz"): OPEN,
    ("GET", "/metrics"): OPEN,  # open to this machine; test_operation.py sends requests from elsewhere
}
"""Routes that the document omits."""
OF_A_HUB = {("POST", "/jupyterhub/key"): "token of a JupyterHub"}
"""Routes of a service with a section ``[jupyterhub]``, covered by test_jupyterhub.py."""
KEY_NEEDED = [route for route, need in NEEDS.items() if need not in (OPEN, LINK)]
REAL = {
    "JOB": "private", "BATCH": "privates", "SUBJOB": "privates-1", "FILE": "private.pdb", "FOLDER": "closet",
    "PIPELINE": "plans", "EMAIL": "owner@lab.org",
}  # fmt: skip
UNKNOWN = {word: f"q{name[1:]}" for word, name in REAL.items()}
FILE_FIELD = {"jobName": "mine", "type": "af2bind", "settings": {"pdbFile": "FILE", "chain": "A"}}
MEMBER_FIELD = FILE_FIELD | {"settings": {"pdbFile": "JOB/settings.json", "chain": "A"}}
BATCH_FIELD = {"batchName": "mine", "type": "af2bind", "settings": [FILE_FIELD["settings"]]}
NAMED = {
    ("POST", "/submit-job"): [{"json": FILE_FIELD}, {"json": MEMBER_FIELD}],
    ("POST", "/submit-batch"): [{"json": BATCH_FIELD}],
    ("POST", "/validate-job"): [{"json": FILE_FIELD}, {"json": MEMBER_FIELD}],
    ("GET", "/jobs"): [
        {"params": {"jobName": "JOB"}},
        {"params": {"jobName": "SUBJOB"}},
        {"params": {"batch": "BATCH"}},
        {"params": {"jobEmail": "EMAIL"}},
        {"params": {"jobName": "JOB", "jobEmail": "EMAIL"}},
        {"params": {"jobName": "JOB", "organization": "true"}},
    ],
    ("GET", "/jobs/{jobName}/log"): [{"jobName": "JOB"}],
    ("GET", "/catalog/jobs/{jobName}/logs"): [{"jobName": "JOB"}],
    ("POST", "/stop-job"): [{"json": {"jobName": "JOB"}}, {"json": {"jobName": "BATCH"}}],
    ("POST", "/cancelJob"): [{"json": {"jobName": "JOB"}}],
    ("POST", "/cancelBatch"): [{"json": {"batchName": "BATCH"}}],
    ("DELETE", "/delete-job"): [{"json": {"jobName": "JOB"}}, {"json": {"jobName": "BATCH"}}],
    ("POST", "/result"): [
        {"json": {"jobName": "JOB"}},
        {"json": {"jobName": "BATCH"}},
        {"json": {"jobName": "JOB", "jobEmail": "EMAIL"}},
        {"json": {"jobName": "JOB", "fileName": "settings.json"}},
    ],
    ("GET", "/files"): [{"params": {"folder": "FOLDER"}}],
    ("GET", "/files/{filePath}"): [{"filePath": "FILE"}, {"filePath": "FOLDER/a.pdb"}],
    ("DELETE", "/delete-file"): [{"params": {"filePath": "FILE"}}, {"params": {"folder": "FOLDER"}}],
    ("POST", "/submit-pipeline"): [
        {"json": {"pipelineName": "mine", "stages": [{"name": "a", **FILE_FIELD}]}},
    ],
    ("POST", "/run-pipeline"): [{"json": {"pipelineName": "PIPELINE", "jobName": "mine"}}],
    ("POST", "/virtual-screening"): [
        {"json": {"batchName": "mine", "receptor": "FILE", "ligands": ["FILE"], "tool": "af2bind"}},
    ],
}  # fmt: skip
NAMELESS = {
    ("PUT", "/upload/{filename}"), ("POST", "/getPresignedUploadUrl"), ("GET", "/tools"), ("GET", "/finetuned-models"),
    ("GET", "/catalog/tools"), ("GET", "/catalog/modalities"), ("GET", "/catalog/functions"),
    ("GET", "/catalog/tools/{jobType}/schema"), ("GET", "/getFolders"), ("POST", "/model-router"), ("POST", "/deploy-model"), ("GET", "/deployed-models"), ("DELETE", "/delete-model"),
}  # fmt: skip
"""Routes that take no name of existing data: upload routes create the caller's own."""


def issue_key(service, email, *options):
    """Issue a key for the address with the admin command."""
    return run_admin(service, "issue-key", email, *options)["key"]


def run_admin(service, *arguments):
    said = io.StringIO()
    with redirect_stdout(said):
        assert admin.main(["--data-dir", str(service.folder / "data"), "--json", *arguments]) == 0
    return json.loads(said.getvalue())


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    """Start a service with a key of every kind, and an owner who has one item of every kind."""
    service = ServiceProcess(
        tmp_path_factory.mktemp("house"), "--no-rate-limit", "--allow-deploy-model"
    ).start()
    service.anybody = httpx.Client(base_url=service.url, timeout=120)
    service.keys = {"admin": service.key, "member": issue_key(service, "member@lab.org")}
    service.keys["owner"] = issue_key(service, "owner@lab.org")
    service.keys["revoked"] = issue_key(service, "gone@lab.org")
    run_admin(service, "revoke-keys", service.keys["revoked"])
    for kind in ("trial", "expired trial"):
        service.keys[kind] = httpx.post(f"{service.url}/agent/provision").json()["apiKey"]
    expire(service)
    furnish(service)
    yield service
    service.anybody.close()
    service.kill()


def expire(service):
    """Let thirty days pass for one of the trial keys."""
    with closing(sqlite3.connect(service.folder / "data" / "service.sqlite3", timeout=30)) as connection:
        connection.execute(
            "UPDATE keys SET expires = '2020-01-01T00:00:00.000Z' WHERE sha256 = ?",
            [hash_key(service.keys["expired trial"])],
        )
        connection.commit()


def furnish(service):
    with client_of(service, "owner") as client:
        job = {"jobName": REAL["JOB"], "type": "anarci", "settings": SETTINGS}
        batch = {
            "batchName": REAL["BATCH"],
            "type": "anarci",
            "settings": [SETTINGS],
            "jobNames": [REAL["SUBJOB"]],
        }
        stage = {"name": "a", "type": "anarci", "settings": SETTINGS}
        asked = [
            client.post("/submit-job", json=job),
            client.post("/submit-batch", json=batch),
            client.put(f"/upload/{REAL['FILE']}", content=PDB.encode()),
            client.put("/upload/a.pdb", params={"folder": REAL["FOLDER"]}, content=PDB.encode()),
            client.post("/submit-pipeline", json={"pipelineName": REAL["PIPELINE"], "stages": [stage]}),
        ]
        assert [answer.status_code for answer in asked] == [200] * len(asked), [each.text for each in asked]
        until = time.monotonic() + 60
        while client.get("/jobs").json()["statuses"]["Complete"] < 2:
            assert time.monotonic() < until
            time.sleep(0.1)


def client_of(service, who):
    return httpx.Client(base_url=service.url, headers={"x-api-key": service.keys[who]}, timeout=120)


def fill(path, **names):
    for word in ("jobName", "filePath", "filename", "holder", "holderId", "sha256", "name"):
        path = path.replace(f"{{{word}}}", names.get(word, "x"))
    return path


def ask(service, route, **more):
    method, path = route
    return service.anybody.request(method, fill(path), content=b"not even json", **more)


def test_every_route_of_the_document_is_classified(house):
    paths = httpx.get(f"{house.url}/openapi.json").json()["paths"]
    documented = {(method.upper(), path) for path, item in paths.items() for method in item}
    assert documented == set(NEEDS), (
        "add what a new route needs to NEEDS, and the names that it takes to NAMED"
    )
    declared = {route for route in documented if paths[route[1]][route[0].lower()].get("security")}
    assert declared == set(KEY_NEEDED)


def test_every_route_of_the_code_is_classified():
    coded = {
        (method, route.path_format)
        for router in ROUTERS
        for route in router.routes
        for method in route.methods
    }
    assert coded == set(NEEDS) | set(HIDDEN)


def test_every_route_of_a_hub_is_classified(house):
    coded = {(method, route.path_format) for route in hub.router.routes for method in route.methods}
    assert coded == set(OF_A_HUB)
    for method, path in OF_A_HUB:  # and absent from other machines
        answer = house.anybody.request(method, path, headers={"x-api-key": house.keys["admin"]})
        assert answer.status_code == 404


def test_every_route_with_a_key_says_what_names_it_takes():
    assert set(NAMED) | NAMELESS == set(KEY_NEEDED)
    assert not set(NAMED) & NAMELESS


@pytest.mark.parametrize("prefix", ["", "/v1", "/api"])
@pytest.mark.parametrize("route", KEY_NEEDED, ids=" ".join)
def test_without_a_key(house, route, prefix):
    answer = ask(house, (route[0], prefix + route[1]))
    if NEEDS[route] == GATEWAY:
        assert (answer.status_code, answer.json()) == (403, {"message": "Forbidden"})
    else:
        assert (answer.status_code, answer.json()["code"]) == (401, "missing_api_key")
        assert "POST /agent/provision" in answer.json()["error"]


@pytest.mark.parametrize("kind", ["wrong", "revoked", "expired trial"])
@pytest.mark.parametrize("route", KEY_NEEDED, ids=" ".join)
def test_with_a_key_that_is_none(house, route, kind):
    key = house.keys.get(kind, "fn_" + "a" * 43)
    answer = ask(house, route, headers={"x-api-key": key})
    assert (answer.status_code, answer.json()["code"]) == (401, "invalid_api_key")


@pytest.mark.parametrize("key", ["", "fn_", "ü" * 40, "a" * 8000])
@pytest.mark.parametrize(
    "route", [("GET", "/tools"), ("GET", "/jobs"), ("POST", "/submit-job")], ids=" ".join
)
def test_with_a_malformed_key(house, route, key):
    answer = ask(house, route, headers={"x-api-key": key.encode()})
    assert answer.status_code in (401, 403)


@pytest.mark.parametrize("route", KEY_NEEDED, ids=" ".join)
def test_a_key_outside_of_its_header_is_not_accepted(house, route):
    key = house.keys["admin"]
    elsewhere = {"authorization": f"Bearer {key}", "cookie": f"x-api-key={key}", "api-key": key}
    answer = ask(house, route, headers=elsewhere, params={"x-api-key": key, "apiKey": key})
    assert answer.status_code == (403 if NEEDS[route] == GATEWAY else 401)


@pytest.mark.parametrize("route", KEY_NEEDED, ids=" ".join)
def test_an_unclaimed_key_is_refused_where_the_interface_says_so(house, route):
    answer = ask(house, route, headers={"x-api-key": house.keys["trial"]})
    if NEEDS[route] in (CLAIMED, ADMIN):
        assert (answer.status_code, answer.json()["code"]) == (403, "route_restricted")
    else:
        assert answer.status_code not in (401, 403)


@pytest.mark.parametrize("route", KEY_NEEDED, ids=" ".join)
def test_a_members_key_is_refused_where_an_administrators_is_needed(house, route):
    answer = ask(house, route, headers={"x-api-key": house.keys["member"]})
    assert (answer.status_code == 403) is (NEEDS[route] == ADMIN)
    assert answer.status_code not in (401, 500)


@pytest.mark.parametrize("route", [r for r, need in (NEEDS | HIDDEN).items() if need == LINK], ids=" ".join)
@pytest.mark.parametrize("who", [None, "admin", "owner"])
def test_a_link_without_its_signature_is_refused_whatever_the_key(house, route, who):
    headers = {"x-api-key": house.keys[who]} if who else {}
    answer = ask(house, route, headers=headers)
    assert answer.status_code == 403
    assert route[0] == "HEAD" or answer.json()["code"] == "invalid_signature"


@pytest.mark.parametrize("route", [route for route, need in NEEDS.items() if need == OPEN], ids=" ".join)
def test_an_open_route_asks_for_no_key(house, route):
    assert ask(house, route, params={"token": "x"}).status_code not in (401, 403)


@pytest.mark.parametrize("path", sorted({path for _, path in NEEDS}))
def test_every_other_method_is_refused(house, path):
    taken = {method for method, each in NEEDS | HIDDEN if each == path}
    taken |= {"HEAD"} if "GET" in taken else set()
    for method in {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"} - taken:
        answer = ask(house, (method, path), headers={"x-api-key": house.keys["admin"]})
        assert answer.status_code == 405, (method, path)
        assert set(answer.headers["allow"].split(", ")) == taken


def named(value, names):
    """Return the table's entry with its placeholders replaced by names."""
    text = json.dumps(value)
    for word, name in names.items():
        text = text.replace(f'"{word}', f'"{name}')
    return json.loads(text)


def answer_to(client, route, shape, names):
    """Return the parts of a response that a caller can distinguish, without the name that was sent."""
    method, path = route
    asked = named(shape, names)
    given = {key: asked.pop(key) for key in ("jobName", "filePath") if key in asked}
    answer = client.request(method, fill(path, **given), **asked)
    text = answer.text
    for name in names.values():
        text = text.replace(name, "*")
    changing = ("date", "x-request-id")
    headers = {name: value for name, value in answer.headers.items() if name not in changing}
    return answer.status_code, text, headers


@pytest.mark.parametrize("who", ["member", "admin", "trial"])
@pytest.mark.parametrize(
    ("route", "shape"), [pytest.param(r, s, id=" ".join(r)) for r, shapes in NAMED.items() for s in shapes]
)
def test_another_accounts_data_is_answered_as_if_it_did_not_exist(house, route, shape, who):
    with client_of(house, who) as client:
        foreign, unknown = (answer_to(client, route, shape, names) for names in (REAL, UNKNOWN))
    assert foreign == unknown
    assert foreign[0] < 500


def test_a_foreign_continuation_key_is_as_good_as_none(house):
    with client_of(house, "owner") as client:
        key = client.get("/jobs", params={"limit": 1}).json()["startKey"]
    with client_of(house, "member") as client:
        answers = [client.get("/jobs", params={"startKey": each}) for each in (key, "A" * len(key))]
    assert answers[0].json() == answers[1].json()
    assert [answer.status_code for answer in answers] == [400, 400]


def test_after_all_that_the_owner_has_everything(house):
    """Runs last: no request of the other tests changed anything."""
    with client_of(house, "owner") as client:
        assert client.get("/jobs", params={"includeSubjobs": "true"}).json()["statuses"]["Complete"] == 3
        assert client.get(f"/files/{REAL['FILE']}").text == PDB
        assert client.get("/files", params={"folder": REAL["FOLDER"]}).json()["total"] == 1
        assert client.post("/result", json={"jobName": REAL["JOB"]}).status_code == 200
        again = {"pipelineName": REAL["PIPELINE"], "jobName": "again"}
        assert client.post("/run-pipeline", json=again).status_code == 200
