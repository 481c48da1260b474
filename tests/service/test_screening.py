"""POST /virtual-screening: a batch of a docking tool, ranked by a score."""

import csv
import io
import sys
import zipfile

import httpx
import pytest
from service_process import PDB

from foldnote.service.aggregation import make_ranking
from foldnote.service.store.batches import Subjob

SCRIPT = """
import json, pathlib
job = json.load(open("job.json"))
text = pathlib.Path(job["files"]["ligandFile"][0]).read_text()
pathlib.Path("outputs/pose.txt").write_text(text)
pathlib.Path("score.json").write_text(json.dumps({"affinity": -float(text.count("C"))}))
"""
FILE = {"type": "string", "format": "binary"}
DOCKER = {
    "type": "test-dock",
    "schema": {
        "type": "object",
        "properties": {"receptorFile": FILE, "ligandFile": FILE, "boxSize": {"type": "number", "minimum": 1}},
        "required": ["receptorFile", "ligandFile"],
    },
    "command": [sys.executable, "-c", SCRIPT],
}


@pytest.fixture(scope="module")
def docking(tmp_path_factory):
    from service_process import ServiceProcess

    folder = tmp_path_factory.mktemp("screen")
    service = ServiceProcess(folder, "--no-rate-limit", "--allow-deploy-model").start()
    yield service
    service.end()


def screen(service, name, **more):
    body = {"batchName": name, "receptor": PDB, "ligands": ["C\n", "CCC\n", "CC\n"]} | more
    return service.client.post("/virtual-screening", json=body)


def test_ligands_are_docked_and_ranked(docking, name):
    refused = screen(docking, name)
    assert (refused.status_code, refused.json()["code"]) == (400, "tool_unavailable")
    assert "af2dock" in refused.json()["error"]
    docking.client.post("/deploy-model", json=DOCKER)
    answer = screen(docking, name, settings={"boxSize": 20})
    assert answer.status_code == 200, answer.text
    names = [f"{name}-{number}" for number in (1, 2, 3)]
    assert (answer.json()["type"], answer.json()["jobNames"]) == ("test-dock", names)
    parent = docking.wait(name)
    archive = zipfile.ZipFile(io.BytesIO(httpx.get(parent["resultUrl"]).content))
    rows = list(csv.reader(io.StringIO(archive.read("ranking.csv").decode())))
    assert rows == [
        ["rank", "jobName", "affinity"],
        ["1", names[1], "-3.0"],
        ["2", names[2], "-2.0"],
        ["3", names[0], "-1.0"],
    ]


@pytest.mark.parametrize(
    ("change", "field", "row"),
    [
        ({"ligands": []}, "ligands", None),
        ({"ligands": ["C\n", "nowhere.sdf"]}, "ligandFile", 1),
        ({"receptor": "nowhere.pdb"}, "receptorFile", 0),
        ({"settings": {"colour": 1}}, "colour", 0),
        ({"tool": "anarci"}, "tool", None),
        ({"tool": "nope"}, "tool", None),
        ({"batchName": "a/b"}, "batchName", None),
    ],
)
def test_a_wrong_screening_keeps_nothing(docking, name, change, field, row):
    docking.client.post("/deploy-model", json=DOCKER)
    answer = screen(docking, name, **change)
    assert (answer.status_code, answer.json()["field"], answer.json().get("row")) == (400, field, row)


def test_jobs_without_the_score_are_not_ranked():
    rows = [
        Subjob(name, "Complete", None, "{}", score, "x") for name, score in (("a", None), ("b", '{"e": 1}'))
    ]
    assert make_ranking(rows, "e") == "rank,jobName,e\n1,b,1\n"
