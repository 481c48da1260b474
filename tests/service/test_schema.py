"""schemathesis against the served OpenAPI document: all checks, generated and mutated requests, stateful runs.

`FOLDNOTE_TEST_REQUESTS` is the number of requests generated per operation (default: 5).
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
REQUESTS = int(os.environ.get("FOLDNOTE_TEST_REQUESTS", "5"))
PATIENCE_S = 200 + 20 * REQUESTS


@pytest.mark.timeout(PATIENCE_S + 60)
def test_the_service_keeps_its_document(make_service, tmp_path):
    pytest.importorskip("schemathesis", reason="schemathesis is part of the dev extra")
    service = make_service("--no-rate-limit")
    command = [
        *(sys.executable, "-m", "schemathesis.cli", "--config-file", str(FOLDER / "schemathesis.toml")),
        *(
            "run",
            f"{service.url}/openapi.json",
            "--url",
            service.url,
            "--header",
            f"x-api-key: {service.key}",
        ),
        *(
            "--checks",
            "all",
            "--phases",
            "examples,coverage,fuzzing,stateful",
            "--max-examples",
            str(REQUESTS),
        ),
        *("--generation-deterministic", "--continue-on-failure", "--no-color"),
    ]
    environment = os.environ | {
        "SCHEMATHESIS_HOOKS": "schema_hooks",
        "PYTHONPATH": os.pathsep.join([str(FOLDER), str(FOLDER.parent / "engines")]),
    }
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    report = done.stdout[done.stdout.find("FAILURES") :] if done.returncode else ""
    assert done.returncode == 0, f"{report[-8000:]}\n{done.stderr[-2000:]}"
    assert "internal fault" not in (service.folder / "service.log").read_text()


def test_every_operation_declares_its_answers(client):
    document = client.get("/openapi.json").json()
    operations = [
        (path, method, each) for path, item in document["paths"].items() for method, each in item.items()
    ]
    for path, method, operation in operations:
        statuses = set(operation["responses"])
        assert {"500", "503"} <= statuses, (method, path)
        assert statuses & {"200", "201"}, (method, path)
        if operation.get("security"):
            assert {"401", "429"} <= statuses, (method, path)
        if "application/json" in operation.get("requestBody", {}).get("content", {}):
            assert {"400", "413"} <= statuses, (method, path)


@pytest.mark.parametrize("prefix", ["/v1", "/api"])
def test_the_document_is_the_same_under_each_prefix(client, prefix):
    assert client.get(f"{prefix}/openapi.json").json()["paths"] == client.get("/openapi.json").json()["paths"]
