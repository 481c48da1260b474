"""`foldnote serve`: ready line, signals, and the embedded kind, which is one per user and stops by itself."""

import asyncio
import json
import os
import re
import shlex
import signal
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import httpx
import uvicorn
from fastapi import FastAPI
from free_ports import free_port
from service_process import SETTINGS, ServiceProcess

from foldnote.cli import main as run_command
from foldnote.models.runtime_file import read_runtime
from foldnote.service.http.connections import ConnectionLimits
from foldnote.service.serve import Announcer, Server
from foldnote.service.store.database import StorageFaultError


def serve(home: Path, *arguments: str, **variables: str) -> subprocess.Popen:
    environment = os.environ | {"FOLDNOTE_HOME": str(home)} | variables
    command = [sys.executable, "-m", "foldnote.service.serve", "--json", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)


def end(process: subprocess.Popen) -> None:
    process.terminate()
    process.communicate(timeout=120)


def test_the_key_is_created_once_and_private(make_service):
    service = make_service()
    first = service.key
    path = service.folder / "data" / "key"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    service.end(signal.SIGINT)
    service.start()
    assert service.key == first
    assert first.encode() not in (service.folder / "data" / "service.sqlite3").read_bytes()


def test_what_a_service_prints_says_where_its_key_is_and_not_the_key(tmp_path, capfd):
    environment = os.environ | {"FOLDNOTE_HOME": str(tmp_path / "home")}
    folder = tmp_path / "a lab's data"
    command = [sys.executable, "-m", "foldnote", "serve", "--data-dir", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as process:
        said = "".join(process.stdout.readline() for _ in range(3))
        end(process)
    place, advised = re.search(r"stored in (.+); this command prints it: foldnote (.+)\n", said).groups()
    assert Path(place) == folder / "key"
    assert run_command(shlex.split(advised)) == 0
    out, log = capfd.readouterr()
    assert out == (folder / "key").read_text()
    assert out.strip() not in said + log


def test_a_folder_without_a_key_is_said_to_have_none(tmp_path, capsys):
    assert run_command(["admin", "--data-dir", str(tmp_path), "service-key"]) == 2
    assert f"{tmp_path}/key cannot be read: No such file" in capsys.readouterr().err


def test_a_service_does_not_stop_while_it_sends_a_response():
    """A download may take longer than the idle time after which a service stops."""
    service = SimpleNamespace(config=SimpleNamespace(idle_stop_s=0.0), is_idle=lambda: True)

    async def watch() -> None:
        app = FastAPI()
        announce = Announcer("http://127.0.0.1:1", as_json=True)
        server = Server(uvicorn.Config(app), app, announce, ConnectionLimits(connections=9, backlog=9))
        download = asyncio.get_running_loop().create_future()
        server.server_state.tasks.add(download)
        watching = asyncio.create_task(server.stop_when_idle(service))
        await asyncio.sleep(0.7)
        assert not server.should_exit
        server.server_state.tasks.discard(download)
        await asyncio.wait_for(watching, 30)
        assert server.should_exit

    asyncio.run(watch())


def test_a_service_stops_when_idle_also_after_a_fault_of_its_storage():
    looks = [StorageFaultError("the disk is full"), False, StorageFaultError("the disk is full"), True]

    def is_idle() -> bool:
        found = looks.pop(0)
        if isinstance(found, Exception):
            raise found
        return found

    async def watch() -> None:
        app = FastAPI()
        announce = Announcer("http://127.0.0.1:1", as_json=True)
        server = Server(uvicorn.Config(app), app, announce, ConnectionLimits(connections=9, backlog=9))
        service = SimpleNamespace(config=SimpleNamespace(idle_stop_s=0.0), is_idle=is_idle)
        await asyncio.wait_for(server.stop_when_idle(service), 30)
        assert server.should_exit

    asyncio.run(watch())


def test_an_embedded_service_publishes_its_address(tmp_path):
    process = serve(tmp_path, "--embedded")
    try:
        ready = json.loads(process.stdout.readline())
        runtime = read_runtime(tmp_path / "run")
        key = ready["key"]
        assert key == Path(ready["keyFile"]).read_text().strip()
        assert (runtime.url, runtime.key.get_secret_value(), runtime.pid) == (ready["url"], key, process.pid)
        assert stat.S_IMODE((tmp_path / "run" / "service.json").stat().st_mode) == 0o600
        assert ready["url"].startswith("http://127.0.0.1:")
        assert httpx.get(f"{ready['url']}/jobs", headers={"x-api-key": key}).status_code == 200
        second = serve(tmp_path, "--embedded")
        output, _ = second.communicate(timeout=120)
        assert (second.returncode, json.loads(output)) == (0, ready)
    finally:
        end(process)
    assert not (tmp_path / "run" / "service.json").exists()


def test_an_idle_embedded_service_stops(tmp_path):
    process = serve(tmp_path, "--embedded", FOLDNOTE_SERVICE_IDLE_STOP_S="0.5")
    assert json.loads(process.stdout.readline())
    assert process.wait(120) == 0
    process.communicate()
    assert read_runtime(tmp_path / "run") is None


def test_a_port_in_use_is_reported(make_service, tmp_path):
    service = make_service()
    process = serve(tmp_path, "--port", service.url.rpartition(":")[2])
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 2
    assert b"cannot listen" in errors


def test_a_port_that_a_killed_service_still_holds_is_waited_for(tmp_path):
    """A program that it was starting when it was killed holds the port until its own code is loaded."""
    with socket.create_server(("127.0.0.1", free_port())) as holder:
        port = holder.getsockname()[1]
        service = ServiceProcess(tmp_path, "--port", str(port))
        service.process = service.spawn()
        time.sleep(0.6)  # on a machine that is not too busy, it has found the port in use
    try:
        assert json.loads(service.process.stdout.readline())["url"] == f"http://127.0.0.1:{port}"
    finally:
        service.kill()


def test_health_says_the_version(make_service):
    service = make_service()
    time.sleep(0)
    assert httpx.get(f"{service.url}/healthz").json()["status"] == "ok"


def test_the_log_is_a_json_object_a_line_without_queries(make_service):
    service = make_service("--no-rate-limit", "--log-level", "debug")
    service.client.get("/jobs", params={"jobName": "secret-name"})
    service.client.post("/submit-job", content=b"no json")
    assert service.end() == 0
    lines = (service.folder / "service.log").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    assert all({"time", "level", "logger", "message"} <= set(row) for row in rows)
    told = [row["message"].rsplit(" ", 2)[0] for row in rows if row["logger"].endswith(".traffic")]
    assert told == ["GET /jobs 404", "POST /submit-job 400"]
    assert "secret-name" not in "".join(lines)


def test_the_log_has_changes_downloads_and_refusals_but_no_polls(make_service):
    service = make_service("--no-rate-limit")
    service.run("logged.output-1")
    for path in ("/jobs", "/tools", "/jobs/logged.output-1/log"):
        assert service.client.get(path).status_code == 200
    body = {"type": "anarci", "settings": SETTINGS}
    assert service.client.post("/validate-job", json=body).status_code == 200
    assert service.client.get("/jobs", headers={"x-api-key": "wrong"}).status_code == 401
    assert httpx.get(service.result("logged.output-1").json()).status_code == 200
    assert service.end() == 0
    rows = [json.loads(line) for line in (service.folder / "service.log").read_text().splitlines()]
    told = [row["message"].split()[:3] for row in rows if row["logger"].endswith(".traffic")]
    assert [[method, path[:9], status] for method, path, status in told] == [
        ["POST", "/submit-j", "200"],
        ["GET", "/jobs", "401"],
        ["POST", "/result", "200"],
        ["GET", "/download", "200"],
    ]


def test_nothing_heavy_is_imported():
    heavy = {"pandas", "numpy", "gemmi", "jupyterlab", "httpx", "ipywidgets", "jsonschema", "lark"}
    code = f"import sys, foldnote.service.serve; print(sorted({heavy} & set(sys.modules)))"
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.strip()
        == "[]"
    )


def test_the_document_is_printed():
    command = [sys.executable, "-m", "foldnote.service.http.openapi"]
    document = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    assert document["info"]["version"] == "1.0.0"
    assert "422" not in str(
        {r for item in document["paths"].values() for o in item.values() for r in o["responses"]}
    )


def test_a_command_line_needs_no_private_module():
    """Any parser can get the options of `foldnote serve`."""
    import argparse

    from foldnote.service.serve import add_arguments, config_of

    parser = argparse.ArgumentParser()
    add_arguments(parser)
    config = config_of(parser.parse_args(["--port", "7", "--data-dir", "/x", "--no-rate-limit"]))
    assert (config.port, config.data_dir, config.rate_limit, config.embedded) == (7, Path("/x"), False, False)
