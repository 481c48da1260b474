"""On a machine with GPUs, an engine is loaded once for many jobs, and each job holds a GPU only while it runs."""

import json
import os
import signal
import sys
import time
from pathlib import Path

import pytest
from gpu_machine import make_gpu_machine

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="workers need a system that adopts orphans")
MANIFEST = """
name = "loaded"
method = "Loaded user of GPUs"
kind = "genuine"
version = "1"
tools = ["anarci"]
[environment]
kind = "host"
[resources]
memory_mb = 100
may_use_gpu = true
"""
RUN = """
import json, os, time
from pathlib import Path

STATE = {{}}

def main():
    name = json.loads(Path("job.json").read_text())["jobName"]
    seen = Path({seen!r})
    state = STATE | {{"pid": os.getpid(), "gpu": os.environ["CUDA_VISIBLE_DEVICES"]}}
    (seen / f"{{name}}.new").write_text(json.dumps(state))
    (seen / f"{{name}}.new").rename(seen / name)
    while not (seen / f"{{name}}.end").exists():
        time.sleep(0.05)
    Path("outputs/done.txt").write_text("done")
"""
SERVE = """
import os
import run

RUNS_MANY = True

def load():
    run.STATE["loaded by"] = os.getpid()
    run.STATE["gpu at loading"] = os.environ["CUDA_VISIBLE_DEVICES"]

def use_gpu():
    run.STATE["gpu of the model"] = os.environ["CUDA_VISIBLE_DEVICES"]
"""


@pytest.fixture
def service(make_service, tmp_path):
    (tmp_path / "seen").mkdir()
    engine = tmp_path / "engines" / "loaded"
    engine.mkdir(parents=True)
    (engine / "engine.toml").write_text(MANIFEST)
    (engine / "run.py").write_text(RUN.format(seen=str(tmp_path / "seen")))
    (engine / "serve.py").write_text(SERVE)
    process = make_service("--no-rate-limit", is_started=False)
    process.environment = {
        "FOLDNOTE_ENGINE_PATH": str(tmp_path / "engines"),
        "PATH": f"{make_gpu_machine(tmp_path / 'machine')}{os.pathsep}{os.environ['PATH']}",
    }
    return process.start()


@pytest.fixture
def state_of(tmp_path):
    """Return what a job saw; None if it does not start in time."""

    def read(name: str, patience_s: float = 30) -> dict | None:
        path, deadline = tmp_path / "seen" / name, time.monotonic() + patience_s
        while not path.exists():
            if time.monotonic() > deadline:
                return None
            time.sleep(0.05)
        return json.loads(path.read_text())

    return read


@pytest.fixture
def end(tmp_path, service):
    def let_end(name: str) -> dict:
        (tmp_path / "seen" / f"{name}.end").touch()
        return service.wait(name)

    return let_end


def test_a_gpu_is_free_when_the_job_has_ended_however_it_ended(service, state_of, end):
    for name in ("one", "two", "three"):
        assert service.submit(name).status_code == 200
    states = {name: state_of(name) for name in ("one", "two")}
    assert {state["gpu"] for state in states.values()} == {"0", "1"}
    assert state_of("three", patience_s=2) is None
    os.kill(states["one"]["pid"], signal.SIGKILL)
    assert "was killed by the system" in service.wait("one")["error"]
    states["three"] = state_of("three")
    assert states["three"]["gpu"] == states["one"]["gpu"]
    assert end("two")["status"] == "Complete"
    assert service.submit("four").status_code == 200
    states["four"] = state_of("four")
    assert states["four"]["gpu"] == states["two"]["gpu"]
    assert service.client.post("/stop-job", json={"jobName": "four"}).status_code == 200
    assert service.submit("five").status_code == 200
    states["five"] = state_of("five")
    for name in ("three", "five"):
        assert end(name)["status"] == "Complete"
    assert len({state["loaded by"] for state in states.values()}) == 2  # two runners
    assert len({state["pid"] for state in states.values()}) == 5
    for state in states.values():
        assert state["gpu at loading"] == ""
        assert state["gpu of the model"] == state["gpu"]
        assert not Path(f"/proc/{state['pid']}").exists()
