"""Requests of public clients of deployed services: the catalog in parts, folders, logs, extra slashes."""

import itertools

import httpx
import pytest
from served import SETTINGS

_numbers = itertools.count()
PARAMETER = {"name", "displayName", "type", "required", "description"}
KINDS = {"string", "number", "integer", "boolean", "array", "object", "file", "files"}


@pytest.fixture
def http(served):
    return served.http


@pytest.fixture
def name():
    return f"public{next(_numbers)}"


def found(http, **params):
    answer = http.get("/catalog/tools", params=params)
    assert answer.status_code == 200, answer.text
    body = answer.json()
    assert body["totalTools"] == len(body["tools"])
    return {row["name"]: row for row in body["tools"]}


def test_the_catalog_in_parts_has_the_tools_of_the_catalog(http):
    tools = {row["type"]: row for row in http.get("/tools").json()}
    rows = found(http)
    assert set(rows) == set(tools)
    for name, row in rows.items():
        assert (row["displayName"], row["available"]) == (
            tools[name]["displayName"],
            tools[name]["available"],
        )
        assert (row["categories"], row["functions"]) == (tools[name]["modalities"], tools[name]["functions"])


@pytest.mark.parametrize(
    ("path", "words", "param"),
    [("modalities", "modalities", "modality"), ("functions", "functions", "function")],
)
def test_each_word_finds_as_many_tools_as_it_says(http, path, words, param):
    rows = http.get(f"/catalog/{path}").json()[words]
    assert rows
    assert {row["value"]: row["toolCount"] for row in rows} == {
        row["value"]: len(found(http, **{param: row["value"]})) for row in rows
    }


def test_tools_are_found_by_a_text_and_by_all_that_is_given(http):
    assert {"abb4", "abodybuilder", "anarci"} <= set(found(http, search="ANTIBODY"))
    assert set(found(http, search="anarci", modality="small-molecule")) == set()
    assert set(found(http, custom="true")) == set()
    assert http.get("/catalog/tools", params={"custom": "no"}).json()["field"] == "custom"


def test_the_parameters_of_every_tool_are_its_settings(http):
    for tool in http.get("/tools").json():
        sheet = http.get(f"/catalog/tools/{tool['type']}/schema").json()
        fields = tool["schema"]["properties"]
        assert [row["name"] for row in sheet["parameters"]] == list(fields)
        assert sheet["exampleJob"] == tool["exampleJob"]
        for row in sheet["parameters"]:
            assert set(row) >= PARAMETER
            assert row["type"] in KINDS
            field = fields[row["name"]]
            assert row.get("default") == field.get("default")
            assert row.get("options") == field.get("enum")


def test_a_conditional_parameter_says_when_it_applies(http):
    rows = http.get("/catalog/tools/ablang/schema").json()["parameters"]
    mask = next(row for row in rows if row["name"] == "heavyMask")
    assert mask["conditionals"] == [
        {"otherSettingName": "task", "checkType": "includes", "otherSettingValue": ["mask"]}
    ]
    files = http.get("/catalog/tools/alphalink2/schema").json()["parameters"]
    links = next(row for row in files if row["name"] == "crosslinksFile")
    assert (links["type"], links["extensions"], links["required"]) == ("file", ["csv", "txt"], True)


def test_a_tool_that_is_not_there_is_404(http):
    answer = http.get("/catalog/tools/nothing/schema")
    assert (answer.status_code, answer.json()["code"]) == (404, "unknown_tool")


def test_the_log_has_two_addresses(served, name):
    served.submit(f"{name}.chatter-3")
    served.wait(f"{name}.chatter-3")
    one = served.http.get(f"/jobs/{name}.chatter-3/log").json()
    assert "line 2" in one["log"]
    assert served.http.get(f"/catalog/jobs/{name}.chatter-3/logs").json() == one
    assert served.http.get("/catalog/jobs/never-made/logs").status_code == 404


def test_folders_are_listed_with_those_inside(http, name):
    for folder in (name, f"{name}/inner/most"):
        http.put("/upload/a.pdb", content=b"x", params={"folder": folder})
    whole = http.get("/getFolders", params={"loadAll": "true"}).json()
    mine = [each for each in whole["folders"] if each.startswith(name)]
    assert mine == [name, f"{name}/inner", f"{name}/inner/most"]
    assert (whole["total"], whole["hasMore"]) == (len(whole["folders"]), False)
    page = http.get("/getFolders", params={"limit": 1, "offset": whole["folders"].index(name)}).json()
    assert (page["folders"], page["hasMore"]) == ([name], True)
    assert http.get("/getFolders", params={"limit": 0}).json()["field"] == "limit"


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/cancelJob", {"jobName": "never-made"}),
        ("POST", "/cancelBatch", {"batchName": "never-made"}),
        ("DELETE", "/delete-job", {"jobName": "never-made"}),
        ("POST", "/result", {"jobName": "never-made"}),
    ],
)
def test_messages_for_what_does_not_exist(http, method, path, body):
    """Clients distinguish a missing job from a wrong request by the message, since both may be 400."""
    assert "does not exist" in http.request(method, path, json=body).json()["error"]


def test_clients_may_identify_themselves(served, name):
    headers = {"user-agent": "some-client/1", "accept": "application/json", "accept-encoding": "identity"}
    body = {"jobName": name, "type": "anarci", "settings": SETTINGS, "jobSource": "cli", "project": "p"}
    answer = served.http.post("/api/submit-job", json=body, headers=headers)
    assert answer.status_code == 200


@pytest.mark.parametrize("path", ["/jobs/", "//jobs", "/api//jobs", "/v1//jobs/", "/api/jobs//"])
def test_a_slash_too_many_around_a_route_is_forgiven(served, path):
    answer = httpx.get(served.url + path, headers={"x-api-key": served.key})
    assert (answer.status_code, set(answer.json()) >= {"jobs", "statuses"}) == (200, True)
    assert httpx.get(served.url + path).json() == {"message": "Forbidden"}


def test_a_slash_too_many_is_forgiven_of_bodies_and_links(served, name):
    served.submit(name)
    served.wait(name)
    keyed = {"x-api-key": served.key}
    refused = httpx.post(f"{served.url}/api//submit-job/", json={}, headers=keyed)
    assert (refused.status_code, refused.json()["field"]) == (400, "jobName")
    connection = httpx.post(f"{served.url}/api//result", json={"jobName": name}, headers=keyed).json()
    assert httpx.get(connection).status_code == 200
