"""POST /deploy-model makes a registered command a tool like any other."""

import io
import itertools
import json
import os
import resource
import sqlite3
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import httpx
import pytest
from service_process import PDB, ServiceProcess

from foldnote.cli import main
from foldnote.service.containers import make_command

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
        "message": "atom-counter was registered.",
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


USING = """
import json, pathlib, shutil
shutil.copy("job.json", "outputs/job.json")
used = {"seed": 42, "settings": {"by": 3}, "ignored": {"structure": "It is not read."}}
pathlib.Path("used.json").write_text(json.dumps(used))
"""


def test_the_manifest_has_the_seed_and_settings_that_a_command_reports(open_service):
    deploy(open_service, type="using", command=[sys.executable, "-c", USING])
    assert open_service.run("uses", type="using", settings={"structure": PDB})["status"] == "Complete"
    archive = zipfile.ZipFile(io.BytesIO(httpx.get(open_service.result("uses").json()).content))
    manifest, received = json.loads(archive.read("manifest.json")), json.loads(archive.read("job.json"))
    assert (manifest["job"]["seed"], manifest["job"]["seedOffered"]) == (42, received["seed"])
    assert manifest["settings"]["by"] == 3
    assert manifest["settingsChanged"] == {"by": {"given": received["settings"]["by"], "used": 3}}
    assert manifest["settingsIgnored"] == {"structure": "It is not read."}


def test_a_tool_registered_again_runs_its_new_command_at_once(open_service):
    service = open_service
    for word in ("first", "second"):
        script = f"open('outputs/said.txt', 'w').write('{word}')"
        answer = deploy(service, type="changing", command=[sys.executable, "-c", script])
        assert answer.status_code == 200, answer.text
        job = service.run(f"says-{word}", type="changing", settings={"structure": PDB})
        assert job["status"] == "Complete", job
        archive = httpx.get(service.result(f"says-{word}").json()).content
        assert zipfile.ZipFile(io.BytesIO(archive)).read("said.txt") == word.encode()


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
    assert main(["admin", "--data-dir", str(open_service.folder / "data"), "issue-key", "user@lab.org"]) == 0
    headers = {"x-api-key": capsys.readouterr().out.strip()}
    answer = httpx.post(f"{open_service.url}/deploy-model", headers=headers, content=b"not read")
    assert (answer.status_code, answer.json()["code"]) == (403, "admin_required")


def registered(service):
    return [row["type"] for row in service.client.get("/deployed-models").json()["models"]]


def remove(service, tool_type):
    return service.client.request("DELETE", "/delete-model", json={"type": tool_type})


def test_a_removed_tool_takes_no_new_jobs_and_running_ones_continue(make_service, tmp_path):
    mark = tmp_path / "continue"
    wait = f"import pathlib, time\nwhile not pathlib.Path({str(mark)!r}).exists(): time.sleep(0.1)\n"
    service = make_service("--no-rate-limit", "--allow-deploy-model", "--workers", "1")
    deploy(service, type="sleeper", command=[sys.executable, "-c", wait + SCRIPT])
    for job in ("runs", "waits"):
        service.submit(job, type="sleeper", settings={"structure": PDB})
    service.wait("runs", ("Running",))
    assert registered(service) == ["sleeper"]
    assert remove(service, "sleeper").json() == {
        "message": "sleeper was removed. Its jobs and results are kept."
    }
    assert registered(service) == []
    assert "sleeper" not in {row["type"] for row in service.client.get("/tools").json()}
    refused = service.submit("late", type="sleeper", settings={"structure": PDB})
    assert (refused.status_code, refused.json()["code"]) == (400, "unknown_tool")
    mark.touch()
    assert service.wait("runs")["status"] == "Complete"
    assert service.result("runs").status_code == 200
    told = service.wait("waits")
    assert (told["status"], told["error"]) == ("Stopped", "The service no longer has an engine for sleeper.")
    again = remove(service, "sleeper")
    assert (again.status_code, again.json()["field"]) == (400, "type")


@pytest.mark.parametrize(("method", "path"), [("GET", "/deployed-models"), ("DELETE", "/delete-model")])
def test_registered_tools_are_for_admins(open_service, capsys, method, path):
    assert main(["admin", "--data-dir", str(open_service.folder / "data"), "issue-key", "u@lab.org"]) == 0
    headers = {"x-api-key": capsys.readouterr().out.strip()}
    answer = httpx.request(method, open_service.url + path, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (403, "admin_required")


def test_the_admin_command_lists_and_removes_beside_a_running_service(open_service, capsys):
    service = open_service
    deploy(service, type="by-command")
    arguments = ["admin", "--data-dir", str(service.folder / "data")]
    assert main([*arguments, "tools"]) == 0
    assert "by-command: " in capsys.readouterr().out
    assert main([*arguments, "remove-tool", "by-command"]) == 0
    assert main([*arguments, "remove-tool", "by-command"]) == 2
    assert "foldnote admin tools" in capsys.readouterr().err
    until = time.monotonic() + 15
    while (answer := service.submit("x", type="by-command", settings={"structure": PDB})).status_code == 200:
        assert time.monotonic() < until
        service.wait("x")
        service.client.request("DELETE", "/delete-job", json={"jobName": "x"})
        time.sleep(0.3)
    assert answer.json()["code"] == "unknown_tool"


PODMAN = """#!{python}
import os, subprocess, sys, time
arguments = sys.argv[1:]
folder = __file__ + ".d"
os.makedirs(folder, exist_ok=True)
with open(__file__ + ".calls", "a") as calls:
    print(*arguments, file=calls)
if arguments[0] == "kill":
    os.kill(int(open(os.path.join(folder, arguments[1])).read()), 15)
if arguments[0] != "run":
    sys.exit()
if arguments[-1] == "lab/missing:1":
    sys.exit(125)
place = arguments[arguments.index("--volume") + 1].removesuffix(":/work")
assert arguments[arguments.index("--network") + 1] == "none"
given = {{b: os.environ[b] for a, b in zip(arguments, arguments[1:]) if a == "--env" and "=" not in b}}
program = subprocess.Popen([{python!r}, "-c", {script!r}], cwd=place, start_new_session=True, env=given)
open(os.path.join(folder, arguments[arguments.index("--name") + 1]), "w").write(str(program.pid))
sys.exit(program.wait())
"""
"""A podman that runs the program of its single image in the mounted folder, in processes that the service does not see."""


@pytest.fixture
def lab(make_service, tmp_path, monkeypatch):
    """Return a function that starts services with this script as the only podman."""

    def start(script):
        folder = tmp_path / "bin"
        folder.mkdir()
        program = folder / "podman"
        program.write_text(PODMAN.format(python=sys.executable, script=script))
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
        return make_service("--no-rate-limit", "--allow-deploy-model")

    return start


def test_an_image_runs_in_its_work_folder_without_a_network(lab):
    service = lab(SCRIPT)
    assert deploy(service, type="boxed", command=None, image="lab/counter:1").json()["available"]
    job = service.run("count", type="boxed", settings={"structure": PDB})
    assert job["status"] == "Complete", job
    archive = zipfile.ZipFile(io.BytesIO(httpx.get(service.result("count").json()).content))
    assert json.loads(archive.read("count.json")) == {"atoms": 5, "by": 2}


def test_stopping_a_job_stops_its_container(lab, tmp_path):
    mark = tmp_path / "pid"
    script = f"import os, time; open({str(mark)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    service = lab(script)
    deploy(service, type="boxed", command=None, image="lab/counter:1")
    service.submit("long", type="boxed", settings={"structure": PDB})
    until = time.monotonic() + 30
    while not (mark.exists() and mark.read_text()):
        assert time.monotonic() < until
        time.sleep(0.05)
    service.client.post("/stop-job", json={"jobName": "long"})
    assert service.wait("long")["status"] == "Stopped"
    assert not Path(f"/proc/{mark.read_text()}").exists()
    name = run_of(tmp_path).split("--name ")[1].split()[0]
    assert f"rm --force {name}" in (tmp_path / "bin" / "podman.calls").read_text().splitlines()


def run_of(tmp_path):
    """Return the arguments with which podman was told to run an image."""
    calls = (tmp_path / "bin" / "podman.calls").read_text().splitlines()
    (run,) = (call for call in calls if call.startswith("run "))
    return run


def test_a_container_gets_its_number_of_cores_and_no_other_variables(lab):
    service = lab("import json, os; json.dump(dict(os.environ), open('outputs/told.json', 'w'))")
    deploy(service, type="boxed", command=None, image="lab/counter:1")
    assert service.run("told", type="boxed", settings={"structure": PDB})["status"] == "Complete"
    archive = zipfile.ZipFile(io.BytesIO(httpx.get(service.result("told").json()).content))
    told = json.loads(archive.read("told.json"))
    assert told["OMP_NUM_THREADS"] == "1"
    assert {"HOME", "PATH", "USER", "FOLDNOTE_HOME"}.isdisjoint(told)


@pytest.mark.parametrize(("user", "is_kept"), [("0", False), ("1000", True)])
def test_podman_without_root_keeps_the_user_and_gives_a_home(lab, tmp_path, user, is_kept):
    service = lab(SCRIPT)
    program = tmp_path / "bin" / "id"
    program.write_text(f"#!/bin/sh\necho {user}\n")
    program.chmod(0o755)
    deploy(service, type="boxed", command=None, image="lab/counter:1")
    assert service.run("count", type="boxed", settings={"structure": PDB})["status"] == "Complete"
    run = run_of(tmp_path)
    assert f"--user {user}:{user} --cap-drop ALL --security-opt no-new-privileges " in run
    assert ("--env HOME=/tmp --userns keep-id" in run) is is_kept


@pytest.mark.parametrize(("name", "is_limited"), [("docker", True), ("podman", False)])
def test_docker_gets_the_limit_of_processes_that_podman_has_by_default(tmp_path, name, is_limited):
    program = tmp_path / name
    program.write_text('#!/bin/sh\necho "$@"\n')
    program.chmod(0o755)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "FOLDNOTE_ATTEMPT": "n"}
    command = make_command(name, "lab/counter:1")
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert ("--pids-limit 2048" in done.stdout) is is_limited
    assert "--network none" in done.stdout


def test_an_image_that_cannot_be_run_is_named(lab):
    service = lab(SCRIPT)
    deploy(service, type="boxed", command=None, image="lab/missing:1")
    error = service.run("none", type="boxed", settings={"structure": PDB})["error"]
    assert error.startswith("podman could not run the image lab/missing:1;")
    assert "'podman pull lab/missing:1'" in error


def test_without_a_container_program_an_image_says_so(make_service, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    service = make_service("--no-rate-limit", "--allow-deploy-model")
    answer = deploy(service, type="boxed", command=None, image="lab/counter:1").json()
    assert not answer["available"]
    assert "podman or docker or apptainer" in answer["unavailableReason"]
    refused = service.submit("x", type="boxed", settings={"structure": PDB})
    assert (refused.status_code, refused.json()["code"]) == (400, "tool_unavailable")


WRONG = (None, 5, "x", True, [5], {"a": 5}, {"a": {}})
HINTED = (
    "appliesWhen",
    "chains",
    "check",
    "columns",
    "extensions",
    "group",
    "of",
    "order",
    "pairWhen",
    "role",
)


PAIRS = {f"a{i}": {"allOf": [{"$ref": f"#/$defs/a{i + 1}"}] * 2} for i in range(27)} | {
    "a27": {"type": "string"}
}
DOUBLING = {"type": "object", "$defs": PAIRS, "properties": {"x": {"$ref": "#/$defs/a0"}}}
"""A kilobyte that expands to 2**29 subschemas."""


def test_a_schema_that_becomes_huge_is_refused(open_service):
    answer = deploy(open_service, type="mean", schema=DOUBLING)
    assert (answer.status_code, answer.json()["code"]) == (400, "schema_too_large")
    assert answer.json()["field"] == "schema"


def test_a_tool_with_such_a_schema_from_an_earlier_version_takes_no_jobs(make_service, tmp_path):
    service = make_service("--allow-deploy-model")
    assert deploy(service).status_code == 200
    service.end()
    old = json.dumps(COUNTER | {"type": "mean", "schema": DOUBLING})
    with sqlite3.connect(service.folder / "data" / "service.sqlite3") as database:
        database.execute("INSERT INTO deployments VALUES ('mean', ?, '2026-01-01T00:00:00Z')", (old,))
    database.close()
    service.start()
    resource.prlimit(service.process.pid, resource.RLIMIT_AS, (3 << 29, 3 << 29))
    verdict = service.client.post("/validate-job", json={"type": "mean", "settings": {"x": 1}}).json()
    assert (verdict["valid"], verdict["field"]) == (False, "type")
    assert "mean" in [row["type"] for row in service.client.get("/deployed-models").json()["models"]]
    body = {"jobName": "j", "type": "atom-counter", "settings": {"structure": PDB}}
    assert service.client.post("/validate-job", json=body).json()["valid"] is True


def test_a_schema_of_anything_at_all_never_fails_the_service(open_service):
    """Fields whose schema is true or false, and hints of wrong types."""
    service = open_service
    fields = {"yes": True, "no": False, "hints": {"type": "string", "x-foldnote": "none"}}
    for number, (key, value) in enumerate(itertools.product(HINTED, WRONG)):
        hints = {"role": "file", "extensions": ["txt"]} | {key: value}
        fields[f"f{number}"] = {"type": "string", "format": "binary", "x-foldnote": hints}
        fields[f"s{number}"] = {"type": "string", "x-foldnote": {"role": "sequence"} | {key: value}}
    schema = {"type": "object", "properties": fields}
    assert deploy(service, type="anything", schema=schema).status_code == 200
    given = {name: "x\ny" for name in fields if name[0] in "fs"} | {"yes": 1, "hints": "x"}
    for settings in ({"no": 1}, {}, given):
        answer = service.client.post("/validate-job", json={"type": "anything", "settings": settings})
        assert answer.status_code == 200, (settings, answer.text)
    assert answer.json()["valid"]
    assert service.client.get("/tools").status_code == 200
    service.client.request("DELETE", "/delete-model", json={"type": "anything"})
