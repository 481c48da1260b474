"""POST /deploy-model: a registered command is a tool like any other."""

import io
import json
import sys
import zipfile

import httpx
import pytest
from service_process import PDB, ServiceProcess

from foldnote.service import admin
from foldnote.service.deployment import container_command

SCRIPT = """
import json, pathlib
job = json.load(open("job.json"))
text = pathlib.Path(job["files"]["structure"][0]).read_text()
pathlib.Path("outputs/count.json").write_text(json.dumps({"atoms": text.count("ATOM"), "by": job["settings"]["by"]}))
"""
SCHEMA = {
    "type": "object",
    "properties": {
        "structure": {"type": "string", "format": "binary"},
        "by": {"type": "integer", "minimum": 1, "default": 2},
    },
    "required": ["structure"],
}
COUNTER = {
    "type": "atom-counter",
    "displayName": "Atom counter",
    "schema": SCHEMA,
    "command": [sys.executable, "-c", SCRIPT],
}


@pytest.fixture(scope="module")
def open_service(tmp_path_factory):
    folder = tmp_path_factory.mktemp("deploy")
    service = ServiceProcess(folder, "--no-rate-limit", "--allow-deploy-model").start()
    yield service
    service.end()


def deploy(service, **more):
    return service.client.post("/deploy-model", json=COUNTER | more)


def test_a_command_becomes_a_tool(open_service):
    service = open_service
    assert deploy(service).json() == {
        "message": "atom-counter is a tool of this service.",
        "type": "atom-counter",
        "available": True,
        "unavailableReason": None,
    }
    (tool,) = [row for row in service.client.get("/tools").json() if row["type"] == "atom-counter"]
    assert (tool["displayName"], tool["engine"]["kind"]) == ("Atom counter", "registered")
    job = service.run("count", type="atom-counter", settings={"structure": PDB})
    assert job["status"] == "Complete", job
    archive = zipfile.ZipFile(io.BytesIO(httpx.get(service.result("count").json()).content))
    assert json.loads(archive.read("count.json")) == {"atoms": 5, "by": 2}
    wrong = service.submit("wrong", type="atom-counter", settings={"structure": PDB, "by": 0})
    assert (wrong.status_code, wrong.json()["field"]) == (400, "by")


def test_a_tool_outlives_a_restart(open_service):
    service = open_service
    deploy(service, type="kept")
    service.end()
    service.start()
    assert "kept" in {row["type"] for row in service.client.get("/tools").json()}
    assert service.run("again", type="kept", settings={"structure": PDB})["status"] == "Complete"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"type": "anarci"}, "type"),
        ({"type": "No Good"}, "type"),
        ({"command": None}, "command"),
        ({"image": "lab/tool:1"}, "command"),
        ({"command": []}, "command"),
        ({"schema": {"type": "nonsense"}}, "schema"),
        ({"schema": {"type": "object"}}, "schema"),
        ({"schema": {"type": "object", "properties": {"x": {"$ref": "http://x/y"}}}}, "schema"),
        ({"schema": {"type": "object", "properties": {"x": {"$ref": "#/$defs/none"}}}}, "schema"),
        ({"schema": {"type": "object", "properties": {"x": {"pattern": "("}}}}, "schema"),
        ({"cores": 0}, "cores"),
    ],
)
def test_a_wrong_definition_is_refused(open_service, change, field):
    answer = deploy(open_service, **change)
    assert (answer.status_code, answer.json()["field"]) == (400, field)


def test_it_is_off_until_it_is_turned_on(service):
    assert deploy(service).json()["code"] == "deployment_disabled"


def test_it_needs_an_admin(open_service, capsys):
    assert admin.main(["--data-dir", str(open_service.folder / "data"), "issue-key", "user@lab.org"]) == 0
    headers = {"x-api-key": capsys.readouterr().out.strip()}
    answer = httpx.post(f"{open_service.url}/deploy-model", headers=headers, content=b"not read")
    assert (answer.status_code, answer.json()["code"]) == (403, "admin_required")


def test_an_image_runs_in_its_work_folder_without_a_network():
    command = container_command("docker", "lab/tool:1")
    assert command[-2:] == ("docker", "lab/tool:1")
    assert "--network none" in command[2]
