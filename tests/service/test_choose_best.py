"""Pipelines whose stages make several models: the next stage gets the best one or, with `chooseBest` false, all of them."""

import csv
import io
import sys
import zipfile

import httpx
import pytest
from service_process import SETTINGS, ServiceProcess

MODELS = """
import json, pathlib
for rank in (2, 1, 3):
    pathlib.Path(f"outputs/model_rank_{rank}.pdb").write_text("ATOM\\n" * rank)
"""
COUNT = """
import json, pathlib, sys
job = json.load(open("job.json"))
atoms = sum(pathlib.Path(path).read_text().count("ATOM") for path in job["files"]["structure"])
if atoms == job["settings"].get("refuse"):
    print("FOLDNOTE_ERROR This one was refused.", file=sys.stderr)
    sys.exit(2)
pathlib.Path(f"outputs/copy.pdb").write_text("ATOM\\n" * atoms)
pathlib.Path("score.json").write_text(json.dumps({"atoms": atoms}))
"""
FILE = {"type": "string", "format": "binary", "x-foldnote": {"extensions": ["pdb"]}}
TOOLS = {
    "modeller": ({"chooseBest": {"type": "boolean", "default": True}}, [], MODELS),
    "counter": ({"structure": FILE, "refuse": {"type": "integer"}}, ["structure"], COUNT),
    "gatherer": (
        {
            "structure": {
                "type": "array",
                "items": FILE,
                "x-foldnote": {"role": "files", "extensions": ["pdb"]},
            }
        },
        ["structure"],
        COUNT,
    ),
}


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    service = ServiceProcess(
        tmp_path_factory.mktemp("best"), "--no-rate-limit", "--allow-deploy-model"
    ).start()
    for name, (properties, required, script) in TOOLS.items():
        schema = {"type": "object", "properties": properties, "required": required}
        tool = {"type": name, "schema": schema, "command": [sys.executable, "-c", script]}
        assert service.client.post("/deploy-model", json=tool).status_code == 200
    yield service
    service.end()


def run(service, name, *stages):
    """Save and run a pipeline; return its parent job once it has ended."""
    rows = [{"name": stage, "type": tool, "settings": settings} for stage, tool, settings in stages]
    saved = service.client.post("/submit-pipeline", json={"pipelineName": name, "stages": rows})
    assert saved.status_code == 200, saved.text
    started = service.client.post("/run-pipeline", json={"pipelineName": name, "jobName": name})
    assert started.status_code == 200, started.text
    return service.wait(name)


def atoms(service, name, stage):
    """Return the atoms that each job of a stage counted, ordered by job name."""
    jobs = service.client.get("/jobs", params={"batch": name}).json()["jobs"]
    own = {job["jobName"]: job for job in jobs if job["jobName"].startswith(f"{name}-{stage}")}
    return [own[each]["score"]["atoms"] for each in sorted(own)]


def test_only_the_best_model_is_passed_on_by_default(lab, name):
    parent = run(lab, name, ("fold", "modeller", {}), ("count", "counter", {"structure": "fold/"}))
    assert (parent["status"], parent["batchSize"]) == ("Complete", 2)
    assert atoms(lab, name, "count") == [1]


def test_without_choosing_a_stage_becomes_a_job_for_each_model(lab, name):
    parent = run(
        lab, name,
        ("fold", "modeller", {"chooseBest": False}),
        ("count", "counter", {"structure": "fold/*.pdb"}),
        ("again", "counter", {"structure": "count/copy.pdb"}),
    )  # fmt: skip
    assert (parent["status"], parent["batchSize"]) == ("Complete", 7), parent
    assert sum(parent["statuses"].values()) == 7
    assert atoms(lab, name, "count") == [1, 2, 3]
    assert atoms(lab, name, "again") == [1, 2, 3]
    second = lab.job(f"{name}-count-2")
    assert second["settings"]["structure"] == "fold/model_rank_2.pdb"
    assert lab.job(f"{name}-count")["settings"]["structure"] == "fold/model_rank_1.pdb"
    archive = zipfile.ZipFile(io.BytesIO(httpx.get(parent["resultUrl"]).content))
    rows = list(csv.DictReader(io.StringIO(archive.read("results.csv").decode())))
    assert len(rows) == 7
    assert rows[0]["jobName"] == f"{name}-fold"


def test_a_field_of_many_takes_all_of_them_in_one_job(lab, name):
    parent = run(
        lab, name,
        ("fold", "modeller", {"chooseBest": False}),
        ("all", "gatherer", {"structure": ["fold/"]}),
    )  # fmt: skip
    assert (parent["status"], parent["batchSize"]) == ("Complete", 2), parent
    assert atoms(lab, name, "all") == [6]


def test_one_model_that_fails_stops_what_follows_and_is_named(lab, name):
    parent = run(
        lab, name,
        ("fold", "modeller", {"chooseBest": False}),
        ("count", "counter", {"structure": "fold/", "refuse": 2}),
        ("again", "counter", {"structure": "count/copy.pdb"}),
    )  # fmt: skip
    assert parent["status"] == "Stopped"
    assert parent["error"] == "The stage count-2 failed: This one was refused."
    assert [lab.job(f"{name}-count{end}")["status"] for end in ("", "-2", "-3")] == [
        "Complete",
        "Stopped",
        "Complete",
    ]
    last = lab.job(f"{name}-again")
    assert (last["status"], last["started"]) == ("Stopped", None)
    assert last["error"] == "The stage count failed: This one was refused."


def test_names_that_are_taken_are_passed_over(lab, name):
    lab.submit(f"{name}-count-2")
    run(lab, name, ("fold", "modeller", {"chooseBest": False}), ("count", "counter", {"structure": "fold/"}))
    jobs = lab.client.get("/jobs", params={"batch": name}).json()["jobs"]
    assert {job["jobName"] for job in jobs} == {
        f"{name}-{end}" for end in ("fold", "count", "count-3", "count-4")
    }


def test_a_hundred_names_that_are_taken_are_passed_over(lab, name):
    names = [f"{name}-count-{number}" for number in range(2, 110)]
    batch = {
        "batchName": f"{name}-b",
        "type": "anarci",
        "settings": [SETTINGS] * len(names),
        "jobNames": names,
    }
    assert lab.client.post("/submit-batch", json=batch).status_code == 200
    lab.client.post("/stop-job", json={"jobName": f"{name}-b"})
    count = ("count", "counter", {"structure": "model/"})
    parent = run(lab, name, ("model", "modeller", {"chooseBest": False}), count)
    assert (parent["status"], parent["batchSize"]) == ("Complete", 4)
    assert [lab.job(f"{name}-count{end}")["status"] for end in ("", "-110", "-111")] == ["Complete"] * 3
