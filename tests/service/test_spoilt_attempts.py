"""An engine that overwrites the files of its attempt: only its own job fails, and no other one waits for it."""

import json
import sys
import time

import pytest
from chaos import rows
from service_process import ServiceProcess, has_process

SPOIL = """
import json, os, pathlib, time
job = json.load(open("job.json"))
draft = pathlib.Path("../draft")
draft.write_text(job["settings"]["content"])
os.replace(draft, pathlib.Path("..") / job["settings"]["name"])
time.sleep(600)  # spoilt-engine
"""
SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "content": {"type": "string"}},
    "required": ["name", "content"],
}
SPOILT = {
    "a list": ("outcome.json", "[1]"),
    "a word": ("outcome.json", '"succeeded"'),
    "other fields": ("outcome.json", '{"condition": "well"}'),
    "no time": (
        "outcome.json",
        json.dumps({"state": "failed", "error": "x", "started": "now", "ended": "later"}),
    ),
    "no state": ("outcome.json", json.dumps({"state": "succeeded", "result_sha256": 5})),
    "no score": ("outcome.json", json.dumps({"state": "failed", "error": "x", "score": 5})),
    "no progress": ("progress.json", "[1]"),
}


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    folder = tmp_path_factory.mktemp("spoilt")
    service = ServiceProcess(folder, "--no-rate-limit", "--allow-deploy-model", "--workers", "4").start()
    tool = {"type": "spoiler", "schema": SCHEMA, "command": [sys.executable, "-c", SPOIL]}
    assert service.client.post("/deploy-model", json=tool).status_code == 200
    yield service
    service.end()


@pytest.mark.parametrize("kind", SPOILT)
def test_only_the_job_fails_whose_tool_writes_over_files_of_its_attempt(lab, kind):
    name, content = SPOILT[kind]
    spoilt = f"spoilt-{list(SPOILT).index(kind)}"
    body = {"jobName": spoilt, "type": "spoiler", "settings": {"name": name, "content": content}}
    assert lab.client.post("/submit-job", json=body).status_code == 200
    job = lab.wait(spoilt)
    assert job["status"] == "Stopped"
    assert "overwrote files of the service" in job["error"]
    lab.submit(f"after-{spoilt}.output-1")
    assert lab.wait(f"after-{spoilt}.output-1")["status"] == "Complete"
    assert rows(lab, f"SELECT losses FROM jobs WHERE name = '{spoilt}'") == [(0,)]
    deadline = time.monotonic() + 30
    while has_process("spoilt-engine") and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not has_process("spoilt-engine")
